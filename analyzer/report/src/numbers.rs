//! Small functions of numbers.

/// `part` as a fraction of `whole`, or 0 if the whole is nothing.
pub(crate) fn fraction(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Index of the largest value, the first of several, or `None` if all are zero.
pub(crate) fn largest(values: &[f64]) -> Option<usize> {
    let max = values.iter().copied().fold(0.0, f64::max);
    values.iter().position(|&value| value == max && max > 0.0)
}
