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

/// SplitMix64, with what scripts of chance ask it for.
pub struct Chance(pub u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u32) -> u32 {
        (self.next() % u64::from(n)) as u32
    }

    /// True once in `n` times on average.
    pub fn once_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// One of them.
    pub fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u32) as usize]
    }

    /// Milliseconds to a nanosecond, so that events of several ranks hardly ever coincide.
    pub fn ms(&mut self, most: u32) -> f64 {
        f64::from(self.below(most * 1_000_000)) / 1e6
    }

    /// The numbers below `n` in some order.
    pub fn order(&mut self, n: u32) -> Vec<u32> {
        let mut all: Vec<_> = (0..n).collect();
        for i in (1..n).rev() {
            all.swap(i as usize, self.below(i + 1) as usize);
        }
        all
    }
}
