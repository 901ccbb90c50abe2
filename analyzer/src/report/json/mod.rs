//! The report as JSON, schema "lbprof-report/1". docs/report-json.md describes every key; a test compares the two.
//! Each key with a table is a file.
//!
//! Keys whose figures this version does not compute are null. Numbers have all their digits, times are in seconds.

mod activities;
mod blocking;
mod call_sites;
mod clusters;
mod counters;
mod course;
mod dispersion;
mod iterations;
mod loops;
mod losses;
mod overheads;
mod ranks;
mod regions;
mod run;
mod selection;
mod verdict;
mod write;

use serde_json::{Value, json};

use super::Report;
pub use write::write;
pub(crate) use write::{write_compact, write_pretty};

/// Name and version of what makes it.
pub(crate) const GENERATOR: &str = concat!("lb-report ", env!("CARGO_PKG_VERSION"));

/// Name and version of the schema.
pub const SCHEMA: &str = "lbprof-report/1";

/// The report as a JSON value.
pub fn document(report: &Report) -> Value {
    json!({
        "schema": SCHEMA,
        "generator": GENERATOR,
        "run": run::object(report),
        "selection": selection::object(report),
        "verdict": verdict::object(report),
        "losses": losses::rows(report),
        "efficiency": report.efficiency,
        "overheads": overheads::object(report),
        "ranks": ranks::rows(report),
        "activities": activities::rows(report),
        "regions": regions::rows(report),
        "loops": loops::rows(report),
        "iterations": iterations::object(report),
        "blocking": blocking::object(report),
        "replays": blocking::replays(report),
        "critical_path": blocking::critical_path(report),
        "dispersion": dispersion::object(report),
        "clusters": clusters::rows(report),
        "clustering": clusters::object(report),
        "callsites": call_sites::rows(report),
        "counters": counters::rows(report),
    })
}
