//! A run as a study has it, and its id in words.

use crate::RunMetrics;

/// A run in a study.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRun {
    /// Its number: 1, 2 … in the order of adding; numbers of removed runs are not used again.
    pub number: u32,
    /// Its figures.
    pub run: RunMetrics,
}

/// A run's id as the study has it, and as reports print it: 16 hexadecimal digits.
pub fn id_text(id: u64) -> String {
    format!("{id:016x}")
}
