//! Formats the contents of a study for a terminal. Colours are ANSI sequences; writers to a file or pipe strip them.

mod layout;
mod list;
mod remarks;
mod scaling_sentence;
mod show;

use anstyle::{AnsiColor, Style};

pub use list::{list_runs, one_line};
pub use scaling_sentence::scaling_sentence;
pub use show::render_tables;

use super::key::{KeyValue, RANKS};
use lbprof_report::words::{escape_name, format_plural};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const NOTE: Style = AnsiColor::Yellow.on_default();

const DASH: &str = "–";

pub(super) fn format_number(value: f64) -> String {
    if value != 0.0 && !(1e-4..1e7).contains(&value.abs()) { format!("{value:e}") } else { format!("{value}") }
}

fn format_value(value: &KeyValue) -> String {
    match value {
        KeyValue::Number(value) => format_number(*value),
        KeyValue::Text(text) => escape_name(text),
    }
}

/// `4 ranks`, `n=512`.
pub(super) fn format_key(key: &str, of: &KeyValue) -> String {
    match of {
        KeyValue::Number(number) if key == RANKS => format_plural(*number as u64, "rank"),
        _ => format!("{}={}", escape_name(key), format_value(of)),
    }
}

pub(super) fn name_runs_by_number(numbers: &[u32]) -> String {
    match numbers {
        [one] => format!("run {one}"),
        _ => format!("runs {}", join_with_and(&numbers.iter().map(u32::to_string).collect::<Vec<_>>())),
    }
}

pub(super) fn join_with_and(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
