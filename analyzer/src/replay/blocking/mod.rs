//! Waits and their causes.
//!
//! ```text
//!   story.rs   what threads did and whom they waited for, in the order in which it was found out
//!      └→ explainer.rs   history.rs: kept as far back as needed; causes.rs: why they waited, by both paths.rs; tables.rs: summed up
//! ```

mod causes;
mod critical_path;
mod doings;
mod explainer;
mod history;
mod paths;
mod story;
mod tables;

pub use causes::Causer;
pub use doings::{Doing, Doings};
pub use explainer::{Explained, Explainer, MOST_STRETCHES};
pub use history::{EndedBy, History, Part};
pub use story::{Story, Wait};
