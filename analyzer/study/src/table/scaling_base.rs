//! The runs that speedup and efficiency are against.

/// The reference of a column's runs.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalingBase {
    /// Numbers of the runs.
    pub runs: Vec<u32>,
    /// P of the base.
    pub n_ranks: u32,
    /// T of the base, in seconds; of repeated runs the median.
    pub elapsed_s: f64,
}

impl ScalingBase {
    /// S = T_base / T.
    pub fn speedup(&self, elapsed_s: f64) -> Option<f64> {
        (elapsed_s > 0.0).then(|| self.elapsed_s / elapsed_s)
    }

    /// E = S·P_base/P; of work that grows with the ranks E = T_base / T.
    pub fn efficiency(&self, elapsed_s: f64, n_ranks: u32, weak: bool) -> Option<f64> {
        let speedup = self.speedup(elapsed_s)?;
        if weak {
            return Some(speedup);
        }
        (n_ranks > 0).then(|| speedup * f64::from(self.n_ranks) / f64::from(n_ranks))
    }
}
