//! Several runs: what is kept of each, how it is stored, compared, and what follows from many (docs/metrics.md §5; "A Refinement
//! Strategy for a User-Oriented Performance Analysis" (2004)).
//!
//! [`RunMetrics`] holds a run's figures without its logs; everything else here is made from such runs alone.

#![forbid(unsafe_code)]

pub mod compare;
pub mod extrap;
mod from_report;
pub mod html;
pub mod key;
pub mod models;
mod phrases;
pub mod run;
mod sequential_time;
pub mod store;
pub mod table;
pub mod text;

#[cfg(not(feature = "schema"))]
pub(crate) use lbprof_no_schema::JsonSchema;
#[cfg(feature = "schema")]
pub(crate) use schemars::JsonSchema;

pub use key::{NotInStudy, RunCondition, run_numbers};
pub use run::RunMetrics;
pub use store::{StoreError, StoredRun, StudyFile};
