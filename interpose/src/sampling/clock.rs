//! Converts times of the samples' clock to the rank's clock.
//!
//! Both follow from the processor's time stamp counter on most machines, by factors that do not change. So two instants that were read on both, far
//! apart, give the line through all others, with the error of reading two clocks one after the other.

use lbprof_collector::definition::ClockPair;

use crate::machine::system::clock::sample_instant;

/// The line through the first instant and the last.
#[derive(Clone, Copy, Debug)]
pub struct SampleClock {
    first: ClockPair,
    last: ClockPair,
    /// Bound of the error of reading, in ticks.
    error: u64,
    /// Length of a nanosecond in ticks, as far as it is known without the instants.
    assumed: f64,
}

/// The instants give the length of a nanosecond where they are that far apart.
const FAR_NS: u64 = 200_000_000;

impl SampleClock {
    /// Reads the first instant. `assumed`: ticks of a nanosecond, roughly.
    pub fn new(assumed: f64) -> Self {
        let (first, error) = sample_instant();
        SampleClock { first, last: first, error, assumed }
    }

    pub fn look(&mut self) {
        let (instant, error) = sample_instant();
        // Now and then the thread loses its core in between: the line goes on without that instant.
        if error <= 8 * self.error.max(1) {
            self.last = instant;
            self.error = self.error.max(error);
        }
    }

    /// Returns the ticks of a nanosecond.
    pub fn rate(&self) -> f64 {
        let ns = self.last.monotonic_ns.saturating_sub(self.first.monotonic_ns);
        if ns < FAR_NS { self.assumed } else { self.last.ticks.saturating_sub(self.first.ticks) as f64 / ns as f64 }
    }

    /// Converts a sample's time, in nanoseconds, to ticks.
    pub fn ticks(&self, ns: u64) -> u64 {
        // Distances are small, so that their product is exact to less than a tick.
        let distance = ns.wrapping_sub(self.last.monotonic_ns) as i64;
        self.last.ticks.wrapping_add_signed((distance as f64 * self.rate()).round() as i64)
    }

    /// Returns the bound of the error of reading, in nanoseconds.
    pub fn error_ns(&self) -> u64 {
        (self.error as f64 / self.rate().max(f64::MIN_POSITIVE)).ceil() as u64
    }
}
