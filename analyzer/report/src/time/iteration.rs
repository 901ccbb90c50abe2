//! An iteration of the main loop, as a row.

/// An iteration, all ranks together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IterationRow {
    /// Its number.
    pub iteration: u32,
    /// True if its computation is known: not of the first iteration of a loop that was found in the calls, of which what ranks compute
    /// before its first call is left outside. Where it is not, the three below count what is known of it alone.
    pub is_known: bool,
    /// Longest computation of a rank.
    pub max_s: f64,
    /// Mean computation of all ranks.
    pub mean_s: f64,
    /// The rank that computes longest.
    pub slowest_rank: u32,
    /// Ranks that went through it to its end.
    pub ranks: u32,
}

impl IterationRow {
    /// Returns the longest computation minus the mean: the mean waiting for the slowest rank.
    pub fn imbalance_s(&self) -> f64 {
        self.max_s - self.mean_s
    }

    /// Returns mean over longest computation, or `None` if no rank computes or the computation is unknown.
    pub fn load_balance(&self) -> Option<f64> {
        (self.is_known && self.max_s > 0.0).then(|| self.mean_s / self.max_s)
    }
}
