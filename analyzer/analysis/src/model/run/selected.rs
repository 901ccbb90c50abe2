//! The part of a run that a model is of.

use bincode::{Decode, Encode};

use super::moment::WindowBoundary;

/// The part of a run that a model and a report are of; nothing is set where it is all of it.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct SelectedPart {
    /// Ranks, ascending, those without a log among them.
    pub ranks: Option<Vec<u32>>,
    /// Begin of the window.
    pub from: Option<WindowBoundary>,
    /// End of the window.
    pub to: Option<WindowBoundary>,
    /// Path of the region.
    pub region: Option<String>,
    /// Elapsed seconds of all that the region lies in.
    pub run_s: Option<f64>,
}

impl SelectedPart {
    /// Returns whether it is all of the run.
    pub fn is_all(&self) -> bool {
        *self == SelectedPart::default()
    }
}
