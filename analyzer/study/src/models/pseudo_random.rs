//! Normally distributed numbers that look random and are always the same, for tests.

use lbprof_analysis::metrics::pseudo_random::RandomFractions;

/// A sequence of normally distributed numbers.
pub struct NoiseGenerator(RandomFractions);

impl NoiseGenerator {
    /// A sequence of its own for each seed.
    pub fn new(seed: u64) -> NoiseGenerator {
        NoiseGenerator(RandomFractions::new(seed))
    }

    /// From the normal distribution of mean 0 and deviation 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.0.next_fraction(), self.0.next_fraction());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}
