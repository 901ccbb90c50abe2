//! The part of the run that all figures are of.

use serde_json::{Value, json};

use crate::model::moment::Moment;
use crate::report::Report;

pub(super) fn object(report: &Report) -> Value {
    let selected = &report.facts.selected;
    if selected.is_all() {
        return Value::Null;
    }
    json!({
        "ranks": selected.ranks,
        "region": selected.region,
        "activities": selected.activities.as_ref().map(|all| all.iter().map(|one| one.name()).collect::<Vec<_>>()),
        "from_s": selected.from.and_then(Moment::seconds),
        "from_iteration": selected.from.and_then(Moment::iteration),
        "to_s": selected.to.and_then(Moment::seconds),
        "to_iteration": selected.to.and_then(Moment::iteration),
    })
}
