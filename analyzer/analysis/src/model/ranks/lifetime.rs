//! The time of a process outside of its window, which is from the return of MPI_Init to the entry of MPI_Finalize.
//!
//! ```text
//!   started      MPI_Init            recording        MPI_Finalize            ended
//!      |--before--|--init--|--recorder--|=====window=====|--finalize--|--after--|
//! ```

use bincode::{Decode, Encode};
use serde::Serialize;

/// The life of a rank's process outside of its window. Null: the log does not say, or the process was killed before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Encode, Decode)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessLifetime {
    /// From the start of the process to the entry of `MPI_Init`.
    pub before_init_s: Option<f64>,
    /// In `MPI_Init`.
    pub init_s: Option<f64>,
    /// From the return of `MPI_Init` until the recorder had started.
    pub recorder_start_s: Option<f64>,
    /// In `MPI_Finalize`.
    pub finalize_s: Option<f64>,
    /// From the return of `MPI_Finalize` to the exit of the process.
    pub after_finalize_s: Option<f64>,
}

impl ProcessLifetime {
    /// Returns the known seconds before the window.
    pub fn lead_s(&self) -> f64 {
        [self.before_init_s, self.init_s, self.recorder_start_s].into_iter().flatten().sum()
    }

    /// Returns the known seconds after the window.
    pub fn tail_s(&self) -> f64 {
        [self.finalize_s, self.after_finalize_s].into_iter().flatten().sum()
    }
}
