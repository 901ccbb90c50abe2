//! Figures against the ranks and against each parameter that differs.

use serde_json::{Value, json};

use crate::report::words::clean;
use crate::study::key::{self, BUILT_IN, RANKS};
use crate::study::store::Kept;
use crate::study::table::{Section, Table, Unit, Wanted, tables};
use crate::study::text;

/// One object for each key of which some runs that have all else in common have several values; ranks first.
pub(super) fn views(runs: &[Kept]) -> Vec<Value> {
    let params = key::keys(runs).into_iter().filter(|key| !BUILT_IN.contains(&key.as_str()));
    std::iter::once(RANKS.to_owned()).chain(params).filter_map(|by| view(runs, by)).collect()
}

fn view(runs: &[Kept], by: String) -> Option<Value> {
    let wanted = Wanted { by: vec![by.clone()], ..Wanted::default() };
    let tables = tables(runs, &wanted).unwrap_or_default();
    let tables: Vec<Value> = tables.iter().filter(|table| table.columns.len() > 1).filter_map(one).collect();
    (!tables.is_empty()).then(|| json!({ "by": by, "tables": tables }))
}

/// A table whose columns have a number each; `None` where fewer than two have.
fn one(table: &Table) -> Option<Value> {
    let number = |values: &[Option<key::Value>]| match values {
        [Some(key::Value::Number(number))] => Some(*number),
        _ => None,
    };
    let mut columns: Vec<(usize, f64)> =
        table.columns.iter().enumerate().filter_map(|(at, column)| Some((at, number(&column.values)?))).collect();
    columns.sort_by(|a, b| a.1.total_cmp(&b.1));
    let fixed = table.fixed.iter().map(|(key, value)| text::named(key, value)).collect::<Vec<_>>().join(", ");
    (columns.len() > 1).then(|| {
        json!({
            "program": clean(&table.program),
            "fixed": fixed,
            "x": columns.iter().map(|(_, x)| *x).collect::<Vec<f64>>(),
            "sections": table.sections.iter().map(|one| section(one, &columns)).collect::<Value>(),
            "remarks": text::sentences(table),
        })
    })
}

fn section(section: &Section, columns: &[(usize, f64)]) -> Value {
    let unit = match section.unit {
        Unit::Seconds => "seconds",
        Unit::Share => "share",
        Unit::Ratio => "ratio",
    };
    let lines = section.lines.iter().map(|line| {
        let value = |&(at, _): &(usize, f64)| line.cells.get(at).copied().flatten().map(|cell| cell.value);
        json!({ "name": line.name, "values": columns.iter().map(value).collect::<Vec<Option<f64>>>() })
    });
    json!({ "name": section.name, "unit": unit, "lines": lines.collect::<Value>() })
}
