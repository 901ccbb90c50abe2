//! `lb-report thresholds`: the values on which it depends what reports say.

use std::fmt::Write as _;

use lbprof_report::fold::fold;
use lbprof_thresholds::{ThresholdRow, all_tables};

use crate::exit::ReportExit;
use crate::output::{ColorMode, default_columns, print};

/// Prints the thresholds whose name or reason contains `word`.
pub fn run(word: Option<&str>) -> anyhow::Result<ReportExit> {
    let mut text = String::new();
    for (part, table) in all_tables() {
        let rows: Vec<&ThresholdRow> = table.iter().filter(|row| word.is_none_or(|word| mentions(row, word))).collect();
        if !rows.is_empty() {
            let _ = writeln!(text, "{part}");
        }
        for row in rows {
            text.push_str(&as_lines(row, default_columns()));
        }
    }
    anyhow::ensure!(!text.is_empty(), "no threshold has {:?} in its name or reason", word.unwrap_or_default());
    print(&text, ColorMode::Auto)?;
    Ok(ReportExit::Good)
}

/// Returns whether a row has a word in its name or its reason, in capital or small letters.
fn mentions(row: &ThresholdRow, word: &str) -> bool {
    let word = word.to_lowercase();
    row.name.to_lowercase().contains(&word) || row.reason.to_lowercase().contains(&word)
}

/// Returns the lines of a row: its name and value, its reason, and what checks it.
fn as_lines(row: &ThresholdRow, columns: usize) -> String {
    let reason = fold(&format!("    {}", row.reason.trim()), columns);
    format!("  {} = {} {}\n{reason}\n    checked by {}\n\n", row.name, row.value, row.unit, row.validated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_found_by_its_name_and_by_its_reason() {
        let row = &lbprof_thresholds::verdict::TABLE[0];
        assert!(mentions(row, &row.name.to_lowercase()));
        assert!(mentions(row, row.reason.split_whitespace().next().unwrap()));
        assert!(!mentions(row, "no such word"));
    }
}
