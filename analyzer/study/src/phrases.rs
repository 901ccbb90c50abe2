//! Values, keys and numbers of runs in words.

use super::key::{KeyValue, RANKS};
use lbprof_report::rows::words::{escape_name, format_plural};

pub(crate) fn format_number(value: f64) -> String {
    if value != 0.0 && !(1e-4..1e7).contains(&value.abs()) { format!("{value:e}") } else { format!("{value}") }
}

pub(crate) fn format_value(value: &KeyValue) -> String {
    match value {
        KeyValue::Number(value) => format_number(*value),
        KeyValue::Text(text) => escape_name(text),
    }
}

/// `4 ranks`, `n=512`.
pub(crate) fn format_key(key: &str, of: &KeyValue) -> String {
    match of {
        KeyValue::Number(number) if key == RANKS => format_plural(*number as u64, "rank"),
        _ => format!("{}={}", escape_name(key), format_value(of)),
    }
}

pub(crate) fn name_runs_by_number(numbers: &[u32]) -> String {
    match numbers {
        [one] => format!("run {one}"),
        _ => format!("runs {}", join_with_and(&numbers.iter().map(u32::to_string).collect::<Vec<_>>())),
    }
}

pub(crate) fn join_with_and(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
