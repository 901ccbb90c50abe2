//! Numbers that look random and are always the same, for tests.

/// SplitMix64 (Steele et al., "Fast Splittable Pseudorandom Number Generators" (2014)).
pub struct NoiseGenerator(u64);

impl NoiseGenerator {
    /// A sequence of its own for each seed.
    pub fn new(seed: u64) -> NoiseGenerator {
        NoiseGenerator(seed)
    }

    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// From the normal distribution of mean 0 and deviation 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}
