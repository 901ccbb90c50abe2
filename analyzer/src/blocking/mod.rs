//! Waits and their causes.

mod causes;
mod history;
mod tables;

pub use causes::{Causer, Causes};
pub use history::{EndedBy, History, Part, Piece};
pub use tables::{Blocking, WaitKey, WaitState, WaitSums};
