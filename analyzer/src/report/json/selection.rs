//! The part of the run that all figures are of.

use serde_json::{Value, json};

use crate::report::Report;

pub(super) fn object(report: &Report) -> Value {
    let selected = &report.facts.selected;
    if selected.is_all() {
        return Value::Null;
    }
    json!({
        "ranks": selected.ranks,
    })
}
