//! Matrices of bounded size of what ranks did, whatever the size of the run (docs/metrics.md §6).
//!
//! ```text
//!   model ─→ rows.rs         at most 1,024 rows of ranks
//!              ├→ regions.rs      regions × activities × rows
//!              ├→ iterations.rs   activities × rows × columns of iterations
//!   follow ──────┼→ timeline/        states × rows × bins of time, waits, messages
//!   samples ─────┴→ stacks.rs        functions × rows × bins of time
//! ```
//!
//! All are pure reductions: what several ranks or iterations share a place, their mean stands for, and of computation the longest
//! of a rank beside it. Reductions are reported.

mod iterations;
mod matrix;
mod pairs;
pub mod regions;
mod rows;
mod stacks;
pub mod timeline;

pub use iterations::{IterationView, SlowRanks};
pub use matrix::ValueMatrix;
pub use pairs::PairView;
pub use regions::RegionView;
pub use rows::RankRows;
pub use stacks::StackCourse;
pub use timeline::{TimelineObservations, TimelineObserver, TimelineView};
