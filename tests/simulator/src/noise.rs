//! Pseudo-random numbers for logs that are generated.

/// Marsaglia's xorshift64 with the shifts 13, 7, 17; begins with a number that is not 0.
pub struct Noise(pub u64);

impl Noise {
    /// The next number below `limit`, which is not 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % limit
    }
}
