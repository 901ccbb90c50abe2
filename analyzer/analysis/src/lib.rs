//! Analysis of recorded runs: a run's folder → one model → metrics. Reports, exports and studies are made of them in other crates.
//!
//! The modules, in the order in which to read them; each uses only those above it:
//!
//! | module | what it holds |
//! |---|---|
//! | [`codec`] | values ↔ bytes, for other processes and temporary files |
//! | `partial_result` | partial results that become one |
//! | [`read`] | a run's folder → streams of records, with the definitions that they refer to |
//! | [`model`] | plain data: ranks × regions × activities × iterations, in seconds, on one clock; loops, waits, predictions |
//! | [`structure`] | the first pass: which calls follow which, and the loops and regions found in them; symbols |
//! | [`profile`] | the second pass: records → regions × activities × ranks × iterations |
//! | [`replay`] | the third pass: all ranks on one timeline: matching, wait states, their causes, critical path, what-if clocks |
//! | [`metrics`] | pure functions from times to figures, a file for each section of docs/metrics.md |
//! | [`select`] | the part of the run that everything is computed from |
//! | [`views`] | matrices of bounded size for pages: what ranks did when and where, iterations by columns |
//! | [`analyse`] | the passes over a run, in their order |
//! | [`distributed`] | the passes on several processes, each of which reads some of the ranks |
//!
//! Reading never fails on damage that can be skipped: what is wrong arrives as [`lbprof_collector::Problem`]s beside the
//! figures.

#![forbid(unsafe_code)]

pub mod analyse;
pub mod codec;
pub mod distributed;
pub mod metrics;
pub mod model;
mod partial_result;
pub mod profile;
pub mod read;
pub mod replay;
pub mod select;
pub mod structure;
pub mod views;
