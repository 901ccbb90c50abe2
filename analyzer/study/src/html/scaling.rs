//! Figures against the ranks and against each parameter that differs.

use serde::Serialize;

use crate::key::{self, RANKS};
use crate::phrases::format_key;
use crate::store::StoredRun;
use crate::table::grouping::find_distinguishing_params;
use crate::table::{FigureTable, FigureUnit, TableRequest, TableSection, make_tables};
use crate::text;
use lbprof_report::rows::words::escape_name;

/// Figures against the ranks or a parameter.
#[derive(Debug, Serialize, crate::JsonSchema)]
pub struct ScalingChart {
    /// `ranks`, or the name of the parameter.
    by: String,
    /// A table for each set of runs that have everything else in common.
    tables: Vec<ScalingTable>,
}

/// Runs that differ in one thing alone.
#[derive(Debug, Serialize, crate::JsonSchema)]
struct ScalingTable {
    /// Their program.
    program: String,
    /// Values that the runs have in common.
    fixed: String,
    /// What limits the speedup, or which runs are fastest; empty if all are alike.
    sentence: String,
    /// The values of `by`, ascending.
    x: Vec<f64>,
    /// For each `x` the speedup of a program that scales ideally, against the fewest ranks: `x` / its first; null if `by` is not `ranks`.
    ideal_speedup: Option<Vec<f64>>,
    /// The sections of `lb-report study show`.
    sections: Vec<SectionRow>,
    /// Remarks on them.
    remarks: Vec<String>,
}

/// Figures of one unit.
#[derive(Debug, Serialize, crate::JsonSchema)]
struct SectionRow {
    /// Name of the runs.
    name: String,
    /// Their unit.
    unit: FigureUnit,
    /// The figures.
    lines: Vec<ScalingLineRow>,
}

/// A figure in each run.
#[derive(Debug, Serialize, crate::JsonSchema)]
struct ScalingLineRow {
    /// Its name.
    name: String,
    /// Its value for each `x`; null if it is not known.
    values: Vec<Option<f64>>,
}

/// Returns a chart per key that varies between runs with all else in common; ranks first.
pub(super) fn scaling_charts(runs: &[StoredRun]) -> Vec<ScalingChart> {
    std::iter::once(RANKS.to_owned())
        .chain(find_distinguishing_params(runs))
        .filter_map(|by| scaling_chart(runs, by))
        .collect()
}

fn scaling_chart(runs: &[StoredRun], by: String) -> Option<ScalingChart> {
    let wanted = TableRequest { by: vec![by.clone()], ..TableRequest::default() };
    let tables = make_tables(runs, &wanted).unwrap_or_default();
    let tables: Vec<ScalingTable> =
        tables.iter().filter(|table| table.columns.len() > 1).filter_map(|table| scaling_table(table, &by)).collect();
    (!tables.is_empty()).then_some(ScalingChart { by, tables })
}

/// A table whose columns have a number each; `None` where fewer than two have.
fn scaling_table(table: &FigureTable, by: &str) -> Option<ScalingTable> {
    let mut columns: Vec<(usize, f64)> = Vec::new();
    for (at, column) in table.columns.iter().enumerate() {
        if let [Some(key::KeyValue::Number(x))] = column.values.as_slice() {
            columns.push((at, *x));
        }
    }
    columns.sort_by(|a, b| a.1.total_cmp(&b.1));
    let fixed = table.fixed.iter().map(|(key, value)| format_key(key, value)).collect::<Vec<_>>().join(", ");
    let first = columns.first().map(|(_, x)| *x).filter(|x| by == RANKS && *x > 0.0);
    (columns.len() > 1).then(|| ScalingTable {
        program: escape_name(&table.program),
        fixed,
        sentence: text::scaling_sentence(table),
        x: columns.iter().map(|(_, x)| *x).collect(),
        ideal_speedup: first.map(|first| columns.iter().map(|(_, x)| x / first).collect()),
        sections: table.sections.iter().map(|one| section_row(one, &columns)).collect(),
        remarks: table.remarks.iter().map(|remark| remark.text.clone()).collect(),
    })
}

fn section_row(section: &TableSection, columns: &[(usize, f64)]) -> SectionRow {
    let lines = section.lines.iter().map(|line| ScalingLineRow {
        name: line.name.to_string(),
        values: columns.iter().map(|&(at, _)| line.cell(at).map(|cell| cell.value)).collect(),
    });
    SectionRow { name: section.name.to_string(), unit: section.unit, lines: lines.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunMetrics;

    #[test]
    fn of_a_hundred_thousand_parameters_those_that_differ_have_views() {
        let params = |n: f64| {
            let same = (0..100_000).map(|at| (format!("parameter {at:06}"), 1.0));
            same.chain([("n".to_owned(), n)]).collect()
        };
        let run = |number, n| StoredRun { number, run: RunMetrics { params: params(n), ..RunMetrics::default() } };
        let runs = [run(1, 1.0), run(2, 2.0)];
        // Were it quadratic, the test would be ended as one that hangs.
        let views = scaling_charts(&runs);
        assert_eq!(views.iter().map(|view| view.by.as_str()).collect::<Vec<_>>(), ["n"]);
    }
}
