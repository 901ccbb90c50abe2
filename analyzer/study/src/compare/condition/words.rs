//! Conditions in words.

use super::{ConditionOutcome, JudgedCondition};
use lbprof_report::rows::words::escape_name;

/// A condition's values: `elapsed_s is 2, base 1.6`.
pub fn condition_values(judged: &JudgedCondition) -> String {
    let [value, base] =
        [judged.value, judged.base].map(|value| value.map_or_else(|| "not known".to_owned(), four_digits));
    let base = if judged.has_base { format!(", base {base}") } else { String::new() };
    format!("{} is {value}{base}", escape_name(&judged.metric))
}

/// A number with four digits: conditions are also on small differences.
fn four_digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if (1e-4..1e6).contains(&size) => {
            let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
            let text = format!("{value:.decimals$}");
            if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
        }
        _ => format!("{value:.3e}"),
    }
}

/// The outcome of a condition in a word. It names a reason to fail, so a condition that holds has failed.
pub fn outcome_word(outcome: ConditionOutcome) -> &'static str {
    match outcome {
        ConditionOutcome::Passes => "passes",
        ConditionOutcome::Fails => "FAILS",
        ConditionOutcome::Unknown => "FAILS (not known)",
    }
}
