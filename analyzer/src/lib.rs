//! Analysis of recorded runs: a run's folder → one model → metrics → reports.
//!
//! The modules, in the order in which to read them; each uses only those above it:
//!
//! | module | what it holds |
//! |---|---|
//! | [`transport`] | processes that analyse a run together, and how bytes get from one to another |
//! | [`read`] | a run's folder → streams of records, with the definitions that they refer to |
//! | [`model`] | plain data: ranks × regions × activities × iterations, in seconds, on one clock; loops, waits, predictions |
//! | [`structure`] | the first pass: which calls follow which, and the loops and regions found in them; symbols |
//! | [`profile`] | the second pass: records → regions × activities × ranks × iterations |
//! | [`metrics`] | pure functions from times to figures, a file for each section of METRICS |
//! | [`replay`] | the third pass: all ranks on one timeline: matching, wait states, their causes, critical path, what-if clocks |
//! | [`select`] | the part of the run that everything is computed from |
//! | [`report`] | all that a report says, as data, and one function for each kind of document |
//! | [`export`] | a run in forms that other programs read |
//! | [`study`] | several runs: the figures that are kept of each, and what follows from many |
//! | [`compare`] | what changed between runs: by reason and place, beyond noise or not, conditions for CI |
//! | [`analyse`] | the passes over a run, in their order |
//! | [`serve`] | what a process does that analyses a run for another one |
//!
//! Reading never fails on damage that can be skipped: what is wrong arrives as [`lbprof_collector::Problem`]s beside the
//! figures.

#![forbid(unsafe_code)]

pub mod analyse;
pub mod compare;
pub mod export;
pub mod metrics;
pub mod model;
pub mod profile;
pub mod read;
pub mod replay;
pub mod report;
pub mod select;
pub mod serve;
pub mod structure;
pub mod study;
pub mod transport;
