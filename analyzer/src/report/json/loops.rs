//! The loops that were found.

use serde_json::{Value, json};

use crate::model::loops::Without;
use crate::report::Report;
use crate::report::loops::{Doubt, LoopRow, Sureness};

pub(super) fn rows(report: &Report) -> Value {
    report.loops.rows.iter().map(row).collect()
}

fn row(row: &LoopRow) -> Value {
    json!({
        "name": row.name,
        "parent": row.parent,
        "main": row.main,
        "told": row.told,
        "ranks": row.ranks,
        "ends_at": row.ends_at.as_ref().map(|(operation, place)| json!({
            "operation": operation,
            "function": place.function,
            "file": place.file,
            "line": place.line,
            "run": row.ends_with_run,
        })),
        "iterations_min": row.iterations.0,
        "iterations_max": row.iterations.1,
        "possible_min": row.possible.map(|(fewest, _)| fewest),
        "possible_max": row.possible.map(|(_, most)| most),
        "for_each_main": row.for_each_main,
        "covered": row.covered,
        "alike": row.alike,
        "sureness": row.sureness.map(Sureness::name),
        "doubt": row.doubt.as_ref().map(Doubt::name),
    })
}

/// Where the iterations of the report come from.
pub(super) fn source(report: &Report) -> &'static str {
    match (&report.iterations, report.loops.without) {
        (None, _) => "none",
        (Some(_), Without::Nothing) => "found",
        (Some(_), _) => "marked",
    }
}
