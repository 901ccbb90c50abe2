//! Numbers and names as a reader wants them: three or four digits with a unit, names without surprises.

use lbprof_collector::words::{CountedNoun, GroupedNumber};
pub use lbprof_collector::words::{TimeUnit, bytes, seconds, seconds_like};
use unicode_width::UnicodeWidthStr;

use super::short_name::{short_code, without_middle, without_template_arguments};
use lbprof_analysis::structure::OTHER;

/// The start of a region's name, for the code before the first MPI call.
pub const BEFORE_FIRST_CALL: &str = "start → ";

/// A share of 0..=1 in per cent: `87.4 %`. What rounds to zero has no sign, as sums of nothing have in IEEE 754.
pub fn percent(share: f64) -> String {
    let text = format!("{:.1} %", 100.0 * share);
    if text == "-0.0 %" { "0.0 %".to_owned() } else { text }
}

/// A share in per cent, or a dash if there is none.
pub fn percent_or_dash(share: Option<f64>) -> String {
    or_dash(share, percent)
}

/// A value in words, or a dash if there is none.
pub fn or_dash<T>(value: Option<T>, in_words: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), in_words)
}

/// A difference in per cent with its sign: `+12.5 %`.
pub fn signed_percent(share: f64) -> String {
    let rounded = (1000.0 * share).round() / 10.0;
    if rounded == 0.0 { "0.0 %".to_owned() } else { format!("{rounded:+.1} %").replace('-', "−") }
}

/// A whole number with commas between thousands: `1,234,567`.
pub fn count(value: u64) -> String {
    GroupedNumber(value).to_string()
}

/// A number of any size from the user: `12.5`, `1,200`, `3.21e9`.
pub fn quantity(value: f64) -> String {
    match value.abs() {
        size if size != 0.0 && !(1e-3..1e6).contains(&size) => format!("{value:.2e}"),
        _ if value == value.trunc() && value >= 0.0 => count(value as u64),
        size if size >= 1000.0 && value > 0.0 => count(value.round() as u64),
        size if size >= 100.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

/// `1 rank`, `2 ranks`.
pub fn plural(n: u64, word: &str) -> String {
    CountedNoun(n, word).to_string()
}

/// Returns whether a terminal may obey a character instead of showing it: control characters, and those that change the direction of writing.
pub fn is_hostile(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A name from a log, with hostile characters escaped.
pub fn clean(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for char in name.chars() {
        if is_hostile(char) { text.extend(char.escape_default()) } else { text.push(char) }
    }
    text
}

/// A name from a log as a cell of a table for spreadsheets: [`clean`], and with an apostrophe before what they would compute.
pub fn cell(name: &str) -> String {
    let clean = clean(name);
    match clean.starts_with(['=', '+', '-', '@']) {
        true => format!("'{clean}"),
        false => clean,
    }
}

/// Columns that a text takes on a terminal.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Returns the name of a rank's state in some time that others waited for, or that was on the critical path.
pub fn what_was_done(state: Option<&'static str>, is_delay: bool) -> &'static str {
    match state {
        _ if is_delay => "messages in transit",
        Some(name) => name,
        None => "not recorded",
    }
}

/// A region's path without the whole program, and without the outer regions of a long one: as a place in a sentence or a table.
/// Code that has no name of its own keeps the one around it, which distinguishes it from others.
pub fn short_path(path: &str) -> &str {
    const LONG: usize = 36;
    let least = if path.ends_with(OTHER) { 2 } else { 1 };
    let mut rest = path.strip_prefix("main/").filter(|rest| depth(rest) >= least).unwrap_or(path);
    while width(rest) > LONG && depth(rest) > least {
        let Some((_, inner)) = separators(rest).next().and_then(|at| rest.split_at_checked(at + 1)) else { break };
        rest = inner;
    }
    rest
}

/// Name and version of an MPI library: what its version string begins with, without how and when it was made.
pub fn mpi_name(mpi: &str) -> &str {
    mpi.lines().next().unwrap_or_default().split(',').next().unwrap_or_default().trim()
}

/// The number of names in a path.
fn depth(path: &str) -> usize {
    separators(path).count() + 1
}

/// The positions of the separators in a path. A '/' in a name is written \/ and separates nothing.
pub fn separators(path: &str) -> impl Iterator<Item = usize> {
    let slashes = path.match_indices('/').map(|(at, _)| at);
    slashes.filter(|&at| !path.get(..at).is_some_and(|before| before.ends_with('\\')))
}

/// `text` in at most `columns`. Of names of code, `solve (cg.c:120) → halo (halo.c:7)`, files and lines stay, which distinguish them, and of each function what
/// distinguishes it; of other texts the begin, which says what it is, and the end, which says where.
pub fn shorten(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    // Names of a table may be indented.
    let name = text.trim_start_matches(' ');
    let indent = &text[..text.len() - name.len()];
    let room = columns.saturating_sub(indent.len());
    let plain = without_template_arguments(name);
    let short = match width(&plain) <= room {
        true => plain,
        false => short_code(&plain, room).unwrap_or_else(|| without_middle(&plain, room)),
    };
    format!("{indent}{short}")
}

/// `text` broken at spaces into lines of at most `columns`, the second and later ones after `indent` spaces. A number and
/// its unit stay together.
pub fn wrap(text: &str, columns: usize, indent: usize) -> String {
    let mut lines = String::new();
    let mut used = 0;
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        let mut piece = word.to_owned();
        while let Some(unit) = words.next_if(|next| is_unit(next)) {
            piece.push(' ');
            piece.push_str(unit);
        }
        // What cannot be broken gives way itself.
        let piece = shorten(&piece, columns.saturating_sub(indent));
        let needs = width(&piece);
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

/// Returns whether a word is a unit, whatever punctuation is around it.
fn is_unit(word: &str) -> bool {
    let word = word.trim_end_matches([')', ',', '.', ';', ':']);
    matches!(word, "%" | "s" | "ms" | "µs" | "B" | "kB" | "MB" | "GB" | "TB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_bytes_are_easy_to_read() {
        assert_eq!(count(1234567), "1,234,567");
        assert_eq!(count(999), "999");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_320_000), "1.32 MB");
        assert_eq!(bytes(u64::MAX), "18.4 EB");
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
            (percent(-0.0), percent(-0.0001), percent(0.874)),
            ("0.0 %".into(), "0.0 %".into(), "87.4 %".into())
        );
    }

    #[test]
    fn names_cannot_reach_the_terminal() {
        assert_eq!(clean("a\x1b[31mb\n\u{9b}c\u{202e}d"), "a\\u{1b}[31mb\\n\\u{9b}c\\u{202e}d");
        assert_eq!(clean("Größe/ßß"), "Größe/ßß");
    }

    #[test]
    fn a_long_name_keeps_its_ends() {
        assert_eq!(shorten("abcdefghij", 10), "abcdefghij");
        assert_eq!(shorten("abcdefghijk", 10), "abc…fghijk");
        assert_eq!(shorten("日本語日本語日本語", 7), "日…本語");
    }

    #[test]
    fn a_long_name_of_code_keeps_files_and_lines() {
        assert_eq!(shorten("exchange_with_all_neighbours (halo.c:120)", 24), "exc…ghbours (halo.c:120)");
        assert_eq!(
            shorten("exchange_with_all_neighbours (halo.c:120) → sum (sum.c:7)", 40),
            "exc…ghbours (halo.c:120) → sum (sum.c:7)"
        );
        assert_eq!(shorten("exchange_with_all_neighbours (halo.c:120 → 130)", 30).chars().count(), 30);
        // A call site after the calls by which the program gets there: each keeps its place.
        let path = "CalcQForElements (lulesh.cc:1981) via CommSend (lulesh-comm.cc:843)";
        assert_eq!(shorten(path, 60), "Ca…ements (lulesh.cc:1981) via CommSend (lulesh-comm.cc:843)");
        let path = "a_long_driver (driver.c:54) via split_all_blocks, comm_refine (comm_refine.c:84)";
        assert_eq!(shorten(path, 70), "a_l…driver (driver.c:54) via spl…blocks, com…refine (comm_refine.c:84)");
        // Programs without lines: code between two functions does not read like one.
        assert_eq!(shorten("pressure::norm → exchange_with_all_neighbours", 30), "pressure::norm → exch…ighbours");
    }

    #[test]
    fn long_lines_break_at_spaces() {
        assert_eq!(wrap("aa bb cc dd", 8, 2), "aa bb cc\n  dd");
        assert_eq!(wrap("lost (0.5 %); so", 10, 0), "lost\n(0.5 %);\nso");
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
