//! Small numeric functions.

/// Returns `part` / `whole`, or 0 if the whole is 0.
pub(crate) fn fraction_of(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Returns the index of the first maximum, or `None` if all values are 0.
pub(crate) fn index_of_largest(values: &[f64]) -> Option<usize> {
    let max = values.iter().copied().fold(0.0, f64::max);
    values.iter().position(|&value| value == max && max > 0.0)
}
