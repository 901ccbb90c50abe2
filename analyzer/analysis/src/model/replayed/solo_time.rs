//! The time in which one rank alone computes.

use bincode::{Decode, Encode};

/// The time in which one rank alone computes.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct SoloTime {
    /// Seconds of serial work by rank, the most first: the others have nothing to do.
    pub serial: Vec<(u32, f64)>,
    /// Seconds in which exactly one rank computes, for whatever reason.
    pub alone_s: f64,
    /// Two standard errors of the sum of `serial`, in seconds.
    pub error_s: f64,
    /// Seconds from one sample to the next, on average.
    pub step_s: f64,
}

impl SoloTime {
    /// Seconds of serial work of all ranks.
    pub fn serial_s(&self) -> f64 {
        self.serial.iter().fold(0.0, |sum, (_, seconds)| sum + seconds)
    }
}
