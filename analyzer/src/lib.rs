//! Analysis of recorded runs: a run's folder → one model → metrics → reports.
//!
//! The modules, in the order in which to read them:
//!
//! | module | what it holds |
//! |---|---|
//! | [`open`] | a run's folder → the logs of its ranks, checked |
//! | [`pass`] | folds over all ranks, in parallel |
//! | [`definitions`] | what a rank's records refer to by number |
//! | [`gather`] | the pass that folds a run into the model |
//! | [`sums`] | what a thread's records add up to |
//! | [`model`] | ranks × regions × activities × iterations, in seconds, on one clock |
//! | [`symbols`] | call sites → function, file and line |
//! | [`metrics`] | pure functions from times to figures, a file for each section of METRICS |
//! | [`report`] | all that a report says, as data, and one function for each kind of document |
//! | [`dump`] | every record of a run as JSON lines |
//!
//! Reading never fails on damage that can be skipped: what is wrong arrives as [`lbprof_collector::Problem`]s beside the
//! figures.

#![forbid(unsafe_code)]

pub mod definitions;
pub mod dump;
pub mod gather;
pub mod metrics;
pub mod model;
pub mod open;
pub mod pass;
pub mod report;
pub mod sums;
pub mod symbols;
