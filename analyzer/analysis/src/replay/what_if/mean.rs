//! Factors that bring the computation of ranks to their mean.

/// Returns the factors that bring the time of each rank that computes to `mean`.
pub(super) fn factors_to_mean(times: &[f64], mean: f64) -> Vec<f64> {
    times.iter().map(|&time| if time > 0.0 { mean / time } else { 1.0 }).collect()
}

pub(super) fn mean_of_who_computes(times: &[f64]) -> f64 {
    let n = times.iter().filter(|&&time| time > 0.0).count();
    times.iter().sum::<f64>() / n.max(1) as f64
}

pub(super) fn mean_time(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len().max(1) as f64
}
