//! The middle of values: what a few that went astray do not move.

/// The middle value, the mean of the two of an even number; `None` of none.
pub fn median_of(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    let middle = sorted.len() / 2;
    if sorted.is_empty() {
        return None;
    }
    let (below, &mut high, _) = sorted.select_nth_unstable_by(middle, f64::total_cmp);
    Some(match values.len() % 2 {
        1 => high,
        _ => (below.iter().copied().fold(f64::NEG_INFINITY, f64::max) + high) / 2.0,
    })
}
