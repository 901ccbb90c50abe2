//! Formats numbers and names for readers.

use lbprof_collector::words::{CountedNoun, GroupedNumber};
pub use lbprof_collector::words::{TimeUnit, format_bytes, format_seconds, seconds_like};
use unicode_width::UnicodeWidthStr;

use super::short_name::{without_middle, without_template_arguments};
use lbprof_analysis::structure::OTHER;

/// Start of the name of a region before the first MPI call.
pub const BEFORE_FIRST_CALL: &str = "start → ";

/// Formats a fraction, e.g. `87.4 %`. Sums of nothing are −0.0 in IEEE 754, so zero gets no sign.
pub fn format_percent(share: f64) -> String {
    let text = format!("{:.1} %", 100.0 * share);
    if text == "-0.0 %" { "0.0 %".to_owned() } else { text }
}

/// Formats a fraction, or returns a dash.
pub fn percent_or_dash(share: Option<f64>) -> String {
    or_dash(share, format_percent)
}

/// Formats a value, or returns a dash.
pub fn or_dash<T>(value: Option<T>, in_words: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), in_words)
}

/// Formats a relative difference, e.g. `+12.5 %`.
pub fn signed_percent(share: f64) -> String {
    let rounded = (1000.0 * share).round() / 10.0;
    if rounded == 0.0 { "0.0 %".to_owned() } else { format!("{rounded:+.1} %").replace('-', "−") }
}

/// Groups thousands, e.g. `1,234,567`.
pub fn format_count(value: u64) -> String {
    GroupedNumber(value).to_string()
}

/// Formats a user's number of any size, e.g. `12.5`, `1,200`, `3.21e9`.
pub fn format_quantity(value: f64) -> String {
    match value.abs() {
        size if size != 0.0 && !(1e-3..1e6).contains(&size) => format!("{value:.2e}"),
        _ if value == value.trunc() && value >= 0.0 => format_count(value as u64),
        size if size >= 1000.0 && value > 0.0 => format_count(value.round() as u64),
        size if size >= 100.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

/// Formats a count and its noun, e.g. `1 rank`, `2 ranks`.
pub fn format_plural(n: u64, word: &str) -> String {
    CountedNoun(n, word).to_string()
}

/// Returns whether terminals may obey a character: control characters, and changes of writing direction.
pub fn is_hostile(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Escapes hostile characters in a name from a log.
pub fn escape_name(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for char in name.chars() {
        if is_hostile(char) { text.extend(char.escape_default()) } else { text.push(char) }
    }
    text
}

/// Formats a name for a spreadsheet: [`escape_name`], with an apostrophe before formulas.
pub fn spreadsheet_cell(name: &str) -> String {
    let clean = escape_name(name);
    match clean.starts_with(['=', '+', '-', '@']) {
        true => format!("'{clean}"),
        false => clean,
    }
}

/// Returns the width on a terminal.
pub fn text_width(text: &str) -> usize {
    text.width()
}

/// Names a rank's state during waiting of others or on the critical path.
pub fn what_was_done(state: Option<&'static str>, is_delay: bool) -> &'static str {
    match state {
        _ if is_delay => "messages in transit",
        Some(name) => name,
        None => "not recorded",
    }
}

/// Removes `main/`, and outer regions of long paths. Unnamed code keeps the region around it, which distinguishes it.
pub fn short_path(path: &str) -> &str {
    const LONG: usize = 36;
    let least = if path.ends_with(OTHER) { 2 } else { 1 };
    let mut rest = path.strip_prefix("main/").filter(|rest| path_depth(rest) >= least).unwrap_or(path);
    while text_width(rest) > LONG && path_depth(rest) > least {
        let Some((_, inner)) = separator_positions(rest).next().and_then(|at| rest.split_at_checked(at + 1)) else {
            break;
        };
        rest = inner;
    }
    rest
}

/// Returns name and version of an MPI library, without build details.
pub fn mpi_name(mpi: &str) -> &str {
    mpi.lines().next().unwrap_or_default().split(',').next().unwrap_or_default().trim()
}

fn path_depth(path: &str) -> usize {
    separator_positions(path).count() + 1
}

/// Returns the positions of the separators in a path. A slash in a name is written `\/`.
pub fn separator_positions(path: &str) -> impl Iterator<Item = usize> {
    let slashes = path.match_indices('/').map(|(at, _)| at);
    slashes.filter(|&at| !path.get(..at).is_some_and(|before| before.ends_with('\\')))
}

/// Shortens `text` to at most `columns`: without the arguments of templates, and if that is not enough, without its middle.
pub fn shorten_text(text: &str, columns: usize) -> String {
    if text_width(text) <= columns {
        return text.to_owned();
    }
    // Names in tables may be indented.
    let name = text.trim_start_matches(' ');
    let indent = &text[..text.len() - name.len()];
    let room = columns.saturating_sub(indent.len());
    let plain = without_template_arguments(name);
    match text_width(&plain) <= room {
        true => format!("{indent}{plain}"),
        false => format!("{indent}{}", without_middle(&plain, room)),
    }
}

/// Wraps `text` at spaces into lines of at most `columns`, later lines indented. Numbers and units stay together.
pub fn wrap_text(text: &str, columns: usize, indent: usize) -> String {
    let mut lines = String::new();
    let mut used = 0;
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        let mut piece = word.to_owned();
        while let Some(unit) = words.next_if(|next| is_unit(next)) {
            piece.push(' ');
            piece.push_str(unit);
        }
        // Words that are too long are shortened.
        let piece = shorten_text(&piece, columns.saturating_sub(indent));
        let needs = text_width(&piece);
        if used > 0 && used + 1 + needs > columns {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            used = indent;
        } else if used > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(&piece);
        used += needs;
    }
    lines
}

fn is_unit(word: &str) -> bool {
    let word = word.trim_end_matches([')', ',', '.', ';', ':']);
    matches!(word, "%" | "s" | "ms" | "µs" | "B" | "kB" | "MB" | "GB" | "TB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_bytes_are_easy_to_read() {
        assert_eq!(format_count(1234567), "1,234,567");
        assert_eq!(format_count(999), "999");
        assert_eq!(format_bytes(999), "999 B");
        assert_eq!(format_bytes(1_320_000), "1.32 MB");
        assert_eq!(format_bytes(u64::MAX), "18.4 EB");
    }

    #[test]
    fn a_difference_has_a_sign_but_zero() {
        assert_eq!(signed_percent(0.125), "+12.5 %");
        assert_eq!(signed_percent(-0.125), "−12.5 %");
        assert_eq!(signed_percent(-0.0001), "0.0 %");
    }

    #[test]
    fn nothing_has_no_sign() {
        assert_eq!(
            (format_percent(-0.0), format_percent(-0.0001), format_percent(0.874)),
            ("0.0 %".into(), "0.0 %".into(), "87.4 %".into())
        );
    }

    #[test]
    fn names_cannot_reach_the_terminal() {
        assert_eq!(escape_name("a\x1b[31mb\n\u{9b}c\u{202e}d"), "a\\u{1b}[31mb\\n\\u{9b}c\\u{202e}d");
        assert_eq!(escape_name("Größe/ßß"), "Größe/ßß");
    }

    #[test]
    fn a_long_name_keeps_its_ends() {
        assert_eq!(shorten_text("abcdefghij", 10), "abcdefghij");
        assert_eq!(shorten_text("abcdefghijk", 10), "abc…fghijk");
        assert_eq!(shorten_text("日本語日本語日本語", 7), "日…本語");
    }

    #[test]
    fn long_lines_break_at_spaces() {
        assert_eq!(wrap_text("aa bb cc dd", 8, 2), "aa bb cc\n  dd");
        assert_eq!(wrap_text("lost (0.5 %); so", 10, 0), "lost\n(0.5 %);\nso");
    }

    #[test]
    fn long_paths_lose_their_outer_regions() {
        assert_eq!(short_path("main"), "main");
        assert_eq!(short_path("main/step/force"), "step/force");
        assert_eq!(
            short_path("main/loop/loop in CommBrick::reverse_comm/CommBrick::forward_comm"),
            "CommBrick::forward_comm"
        );
        let escaped = format!("main/a{}/b\\/c", "x".repeat(40));
        assert_eq!(short_path(&escaped), "b\\/c");
        assert_eq!(short_path("main/other code between calls"), "main/other code between calls");
        assert_eq!(
            short_path("main/loop/loop in CommBrick::reverse_comm/other code between calls"),
            "loop in CommBrick::reverse_comm/other code between calls"
        );
    }
}
