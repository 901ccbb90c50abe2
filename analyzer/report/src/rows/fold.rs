//! Names of code in lines of limited length. No name is cut, so that two that differ never read the same; arguments of templates go where that leaves
//! all names of a table different.
//!
//! ```text
//!   timestep (timestep.c:44) via exchangeData, sendReceiveParallel (parallel.c:99)        in 44 columns:
//!
//!   timestep (timestep.c:44) via exchangeData,
//!     sendReceiveParallel (parallel.c:99)
//! ```

use rustc_hash::{FxHashMap, FxHashSet};
use unicode_width::UnicodeWidthChar;

use super::short_name::without_template_arguments;
use super::words::{shorten_text, text_width};

/// Longer names come from generators or are hostile, and lose their middle.
const MOST_LINES: usize = 6;

const INDENT: usize = 2;

/// A position at which a line may break, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LineBreak {
    /// Between names, or before a file and line.
    Names,
    /// Between the parts of a qualified name.
    Parts,
    /// Between the words of a name.
    Words,
    /// Anywhere.
    Anywhere,
}

/// Folds several texts. Those that do not fit lose their template arguments, unless two texts would look the same.
pub fn fold_all(texts: &[&str], columns: usize) -> Vec<String> {
    let plain: Vec<String> = texts.iter().map(|text| without_template_arguments(text)).collect();
    let mut named: FxHashMap<&str, &str> = FxHashMap::default();
    let mut ambiguous: FxHashSet<&str> = FxHashSet::default();
    for (plain, text) in plain.iter().zip(texts) {
        if *named.entry(plain).or_insert(text) != *text {
            ambiguous.insert(plain);
        }
    }
    let mut lines = Vec::with_capacity(texts.len());
    for (text, plain) in texts.iter().zip(&plain) {
        let is_plain = text_width(text) > columns && !ambiguous.contains(plain.as_str());
        lines.push(fold_text(if is_plain { plain } else { text }, columns));
    }
    lines
}

/// Breaks `text` into lines of at most `columns`. Continuation lines keep the indentation of the text and get two more spaces.
pub fn fold_text(text: &str, columns: usize) -> String {
    if text_width(text) <= columns {
        return text.to_owned();
    }
    let (begin, rest) = text.split_at(text.len() - text.trim_start_matches(' ').len());
    // Part of each line is left for the name, however deep it is.
    let around = begin.len().min(columns / 2);
    let room = columns - around;
    let whole = shorten_text(rest, MOST_LINES * room.saturating_sub(INDENT).max(1));
    let mut lines = " ".repeat(around);
    let mut left = whole.as_str();
    let mut room = room;
    while text_width(left) > room {
        let (line, others) = left.split_at(end_of_line(left, room));
        lines.push_str(line.trim_end());
        lines.push('\n');
        lines.extend(std::iter::repeat_n(' ', around + INDENT));
        left = others;
        room = (columns - around).saturating_sub(INDENT).max(1);
    }
    lines.push_str(left);
    lines
}

/// Returns the length in bytes of the first line of a `text` wider than `columns`, at least one character.
fn end_of_line(text: &str, columns: usize) -> usize {
    let mut best: Option<(LineBreak, usize)> = None;
    let mut used = 0;
    let mut before = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        used += char.width().unwrap_or(0);
        // A space at the end of a line is not shown.
        if used > columns + usize::from(char == ' ') {
            break;
        }
        let end = at + char.len_utf8();
        let next = chars.peek().map(|&(_, next)| next);
        let kind = match (before, char, next) {
            // An arrow stays with what comes before it.
            (_, ' ', Some('→')) => LineBreak::Anywhere,
            (_, ' ', _) | (_, '/', Some(_)) => LineBreak::Names,
            (Some(':'), ':', _) => LineBreak::Parts,
            (_, '_' | '<' | ',', Some(_)) | (_, _, Some('+')) => LineBreak::Words,
            _ => LineBreak::Anywhere,
        };
        best = Some(match best {
            Some((known, known_end)) if known < kind => (known, known_end),
            _ => (kind, end),
        });
        before = Some(char);
    }
    best.map_or_else(|| text.chars().next().map_or(0, char::len_utf8), |(_, end)| end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_broken_between_names() {
        let path = "timestep (timestep.c:44) via exchangeData, sendReceiveParallel (parallel.c:99)";
        assert_eq!(fold_text(path, 100), path);
        assert_eq!(
            fold_text(path, 44),
            "timestep (timestep.c:44) via exchangeData,\n  sendReceiveParallel (parallel.c:99)"
        );
        assert_eq!(
            fold_text(path, 24),
            "timestep (timestep.c:44)\n  via exchangeData,\n  sendReceiveParallel\n  (parallel.c:99)"
        );
        assert_eq!(fold_text("initSimulation/exchangeData", 16), "initSimulation/\n  exchangeData");
    }

    #[test]
    fn a_long_name_is_broken_between_its_parts() {
        assert_eq!(
            fold_text("NPairHalfBin::AtomonlyNewton::build_all", 22),
            "NPairHalfBin::\n  AtomonlyNewton::\n  build_all"
        );
        assert_eq!(fold_text("exchange_with_all_neighbours", 16), "exchange_with_\n  all_neighbours");
        assert_eq!(fold_text("abcdefghijk", 8), "abcdefgh\n  ijk");
        assert_eq!(fold_text("liblammps+0x5c4cb6", 12), "liblammps\n  +0x5c4cb6");
        assert_eq!(fold_text("日本語日本語", 7), "日本語\n  日本\n  語");
    }

    #[test]
    fn arguments_of_templates_stay_where_they_distinguish() {
        assert_eq!(fold_all(&["solve<A<double> >", "solve<A<double> >", "x"], 9), ["solve<…>", "solve<…>", "x"]);
        assert_eq!(fold_all(&["dot<float>", "dot<double>"], 9), ["dot<\n  float>", "dot<\n  double>"]);
    }

    #[test]
    fn a_tree_keeps_its_levels() {
        assert_eq!(fold_text("    solve (cg.c:120)", 16), "    solve\n      (cg.c:120)");
        assert_eq!(fold_text("          solve", 8), "    solv\n      e");
    }

    #[test]
    fn what_has_no_end_loses_its_middle() {
        let lines = fold_text(&"x".repeat(1000), 20);
        assert_eq!(lines.lines().count(), MOST_LINES);
        assert!(lines.lines().all(|line| text_width(line) <= 20) && lines.contains('…'));
    }

    #[test]
    fn no_line_is_too_long_however_little_room() {
        for columns in 1..40 {
            let lines = fold_text("  a_lot/of<names> via x::y (file.c:20) → Größe, 日本語", columns);
            // A wide character after the spaces before it.
            let most = columns.max(6);
            assert!(lines.lines().all(|line| text_width(line) <= most), "{columns}: {lines}");
        }
    }
}
