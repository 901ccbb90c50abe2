//! Factors that bring the computation of ranks to their mean.

/// By place of the rank: how many times as long its time is as it was, where each that computes is brought to `mean`.
pub(super) fn factors(times: &[f64], mean: f64) -> Vec<f64> {
    times.iter().map(|&time| if time > 0.0 { mean / time } else { 1.0 }).collect()
}

/// The mean of the times that are not 0.
pub(super) fn mean_of_who_computes(times: &[f64]) -> f64 {
    let n = times.iter().filter(|&&time| time > 0.0).count();
    times.iter().sum::<f64>() / n.max(1) as f64
}
