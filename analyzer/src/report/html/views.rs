//! The page's own data, "views", version 2. docs/page-data.md describes every key.

use std::io;

use serde_json::{Map, Value, json};

use super::packed::{numbers, whole};
use super::timeline;
use crate::model::Model;
use crate::report::views::{IterationView, RegionView, Views};
use crate::structure::symbols::Place;

/// The page's own data on a run with this model, whose call sites are at `places`, as a JSON value.
pub(super) fn document(views: &Views, model: &Model, places: &[Place]) -> io::Result<Value> {
    Ok(json!({
        "version": 2,
        "ranks": {
            "count": views.rows.ranks(),
            "rows": views.rows.len(),
            "per_row": views.rows.per_row(),
            "first": views.rows.first_numbers(),
        },
        "hosts": views.hosts,
        "host_of_row": views.host_of_row,
        "cluster_of_row": views.cluster_of_row,
        "activities": views.activities.iter().map(|activity| activity.name()).collect::<Vec<_>>(),
        "iterations": views.iterations.as_ref().map(iterations).transpose()?,
        "regions": views.regions.iter().map(region).collect::<io::Result<Vec<_>>>()?,
        "timeline": views.timeline.as_ref().map(|seen| timeline::object(seen, model, places)).transpose()?,
        "left_out": views.left_out,
    }))
}

fn iterations(view: &IterationView) -> io::Result<Value> {
    let mut activities = Map::new();
    for (activity, matrix) in &view.activities {
        activities.insert(activity.name().to_owned(), numbers(&matrix.values)?);
    }
    let computation = activities.shift_remove("computation");
    Ok(json!({
        "region": view.region,
        "count": view.columns.iterations(),
        "columns": view.columns.len(),
        "per_column": view.columns.per_column(),
        "first": view.columns.first_numbers(),
        "begin_s": numbers(&view.begin_s)?,
        "passes": whole(&view.counts, 1.0)?,
        "computation": computation,
        "blocking": view.blocking.as_ref().map(|matrix| numbers(&matrix.values)).transpose()?,
        "activities": activities,
        "elapsed": numbers(&view.elapsed)?,
        "max": numbers(&view.max)?,
        "mean": numbers(&view.mean)?,
        "micro_load_balance": numbers(&view.micro_load_balance)?,
    }))
}

fn region(view: &RegionView) -> io::Result<Value> {
    let mut seconds = Map::new();
    for (activity, values) in &view.seconds {
        seconds.insert(activity.name().to_owned(), numbers(values)?);
    }
    Ok(json!({ "path": view.path, "seconds": seconds, "calls": numbers(&view.calls)? }))
}
