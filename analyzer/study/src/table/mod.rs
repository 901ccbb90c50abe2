//! Runs side by side: the tables of `lb-report study show`, as data.
//!
//! Runs of a program are cut into tables by all parameters but those that the columns are distinguished by; repeated runs with the
//! same parameters and ranks are one column, whose figures are medians. `grouping` makes the columns, `figures` what a run
//! has, `scaling` what it has against a base, `remarks` what must be said beside. All ratios come from
//! [`Times`](lbprof_analysis::metrics::spread::load_balance::EfficiencyTimes) and [`Overheads`](lbprof_analysis::metrics::overhead::OverheadBreakdown).

mod figure_table;
pub(crate) mod figures;
pub(crate) mod grouping;
mod remark;
mod remarks;
mod scaling;
mod scaling_base;

use std::borrow::Cow;

use super::key::{self, KeyValue, NotInStudy};
use super::store::StoredRun;
pub use figure_table::{FigureLine, FigureTable, FigureUnit, RunColumn, TableCell, TableRequest, TableSection};
use figures::RunFigures;
use grouping::RunGroup;
pub use remark::TableRemark;
pub(crate) use remarks::name_column;
pub use scaling_base::ScalingBase;

/// The tables that are wanted of the runs of a study, or what of that the study does not have.
pub fn make_tables(runs: &[StoredRun], wanted: &TableRequest) -> Result<Vec<FigureTable>, NotInStudy> {
    let selected = key::select_runs(runs, &wanted.conditions)?;
    let known = key::known_keys(runs);
    if let Some(unknown) = wanted.by.iter().find(|key| !known.contains(key)) {
        return Err(NotInStudy::NoParam(unknown.clone(), known));
    }
    if let Some(path) = &wanted.region {
        figures::check_region(&selected, path)?;
    }
    let groups = grouping::group_runs(&selected, wanted);
    Ok(groups.iter().map(|group| make_table(group, runs, wanted)).collect())
}

fn make_table(group: &RunGroup, all: &[StoredRun], wanted: &TableRequest) -> FigureTable {
    let first = group.columns.iter().flatten().next();
    let comparable = first.map_or(Cow::Borrowed(all), |run| grouping::comparable_runs(run, group, all));
    let mut figures: Vec<Vec<RunFigures>> = Vec::new();
    for runs in &group.columns {
        let region = wanted.region.as_deref();
        figures.push(runs.iter().map(|run| RunFigures::from_run(run, &comparable, region)).collect());
    }
    let columns: Vec<RunColumn> = group.columns.iter().map(|runs| run_column(runs, &group.by)).collect();
    let bases = scaling::scaling_bases(group, all, wanted);
    let mut sections = figures::figure_sections(&figures);
    sections.extend(scaling::scaling_section(&bases, &columns, &figures, wanted.weak));
    let mut table = FigureTable {
        program: group.program.clone(),
        fixed: group.fixed.clone(),
        region: wanted.region.clone(),
        by: group.by.clone(),
        columns,
        sections,
        remarks: Vec::new(),
    };
    table.remarks = remarks::table_remarks(&table, group, &remarks::ColumnFigures { figures, bases }, all, wanted);
    table
}

fn run_column(runs: &[&StoredRun], by: &[String]) -> RunColumn {
    RunColumn {
        values: runs.first().map(|run| by.iter().map(|key| KeyValue::look_up(run, key)).collect()).unwrap_or_default(),
        runs: runs.iter().map(|run| run.number).collect(),
        n_ranks: runs.first().map_or(0, |run| run.run.n_ranks),
    }
}
