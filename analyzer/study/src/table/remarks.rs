//! Remarks below a table.

use std::collections::BTreeSet;
use std::ops::Add;

use super::figures::{self, RunFigures};
use super::grouping::RunGroup;
use super::remark::TableRemark;
use super::scaling_base::ScalingBase;
use super::{FigureLine, FigureTable, TableRequest};
use crate::key::KeyValue;
use crate::store::StoredRun;

/// The figures of a table's columns, and the bases that they are compared with.
pub(super) struct ColumnFigures {
    /// Figures of each column's runs.
    pub(super) figures: Vec<Vec<RunFigures>>,
    /// Base of each column, or `None` if it has none.
    pub(super) bases: Vec<Option<ScalingBase>>,
}

impl ColumnFigures {
    /// The numbers of the runs that meet `condition`.
    fn numbers(&self, condition: impl Fn(&RunFigures) -> bool) -> Vec<u32> {
        self.figures.iter().flatten().filter(|run| condition(run)).map(|run| run.number).collect()
    }
}

/// Returns the remarks on `table`.
pub(super) fn remarks(
    table: &FigureTable,
    group: &RunGroup,
    columns: &ColumnFigures,
    all: &[StoredRun],
    wanted: &TableRequest,
) -> Vec<TableRemark> {
    let ColumnFigures { figures, bases } = columns;
    let mut remarks = not_shortest(table, group);
    let incomplete = columns.numbers(|run| !run.complete);
    if !incomplete.is_empty() {
        remarks.push(TableRemark::Incomplete(incomplete));
    }
    remarks.extend(params(group, all).iter().filter_map(|key| without(group, key)));
    remarks.push(TableRemark::Ideal {
        replayed: columns.numbers(|run| run.has_ideal() && run.by_replay),
        estimated: columns.numbers(|run| run.has_ideal() && !run.by_replay),
        left_out: columns.numbers(|run| run.no_ideal),
    });
    if figures.iter().flatten().any(|run| run.overheads.is_some()) {
        let assumed = columns.numbers(|run| run.overheads.as_ref().is_some_and(|overheads| !overheads.is_given));
        let given = figures.iter().flatten().filter(|run| run.overheads.as_ref().is_some_and(|one| one.is_given));
        let mut measured: Vec<u32> = given.flat_map(|run| run.on_one_rank.iter().copied()).collect();
        measured.sort_unstable();
        measured.dedup();
        remarks.push(TableRemark::Sequential { measured, assumed });
    }
    let iterations: Vec<Option<u64>> = figures.iter().map(|runs| runs.first().and_then(|run| run.iterations)).collect();
    let mut known = iterations.iter().flatten();
    let first = known.next();
    if known.any(|n| Some(n) != first) {
        remarks.push(TableRemark::Iterations(iterations));
    }
    remarks.push(against(bases, wanted));
    if table.columns.iter().any(|column| column.runs.len() > 1) {
        remarks.push(TableRemark::Repeated);
    }
    remarks
}

/// Of all columns with as many ranks and, where it was counted, as much work: the warning where the shortest is not the best balanced.
fn not_shortest(table: &FigureTable, group: &RunGroup) -> Vec<TableRemark> {
    let (Some(elapsed), Some(efficiency), Some(balance)) =
        (table.line(figures::TIME, 0), table.line(figures::EFFICIENCY, 0), table.line(figures::EFFICIENCY, 1))
    else {
        return Vec::new();
    };
    let sizes: Vec<(u32, u64)> =
        group.columns.iter().map(|runs| runs.first().map_or((0, 0), |run| size(run))).collect();
    let each: BTreeSet<(u32, u64)> = sizes.iter().copied().collect();
    let mut remarks = Vec::new();
    for size in each {
        let columns: Vec<bool> = sizes.iter().map(|other| *other == size).collect();
        let Some(shortest) = best_of(elapsed, &columns) else { continue };
        let [balance, efficiency] = [balance, efficiency].map(|line| {
            // Of repeated runs, shown one by one, chance makes one the shortest.
            best_of(line, &columns).filter(|&best| table.columns[best].values != table.columns[shortest].values)
        });
        if balance.is_some() || efficiency.is_some() {
            remarks.push(TableRemark::NotShortest { shortest, balance, efficiency });
        }
    }
    remarks
}

/// The best of the `chosen` columns in a line; `None` where nothing distinguishes them.
fn best_of(line: &FigureLine, chosen: &[bool]) -> Option<usize> {
    let cells = line.cells.iter().zip(chosen).map(|(cell, chosen)| cell.filter(|_| *chosen)).collect();
    Some(FigureLine { cells, ..line.clone() }.best_and_worst()?.0)
}

/// The size of a run: its ranks, and the bits of #op, which is 0 where nothing was counted.
fn size(run: &StoredRun) -> (u32, u64) {
    let operations = run.run.regions.iter().map(|region| region.operations).fold(0.0, f64::add);
    (run.run.n_ranks, operations.to_bits())
}

/// Parameters of any run of the program, each once.
fn params(group: &RunGroup, all: &[StoredRun]) -> Vec<String> {
    let of_program = all.iter().filter(|run| run.run.program() == group.program);
    let mut names: Vec<String> = of_program.flat_map(|run| run.run.params.keys().cloned()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Runs that do not have a parameter.
fn without(group: &RunGroup, key: &str) -> Option<TableRemark> {
    let runs = group.columns.iter().flatten().filter(|run| KeyValue::look_up(run, key).is_none());
    let runs: Vec<u32> = runs.map(|run| run.number).collect();
    (!runs.is_empty()).then(|| TableRemark::NoParam { name: key.to_owned(), runs })
}

fn against(bases: &[Option<ScalingBase>], wanted: &TableRequest) -> TableRemark {
    let mut known = bases.iter().flatten();
    match known.next() {
        None => TableRemark::NoBase,
        Some(first) => {
            let base = known.all(|base| base == first).then(|| first.clone());
            TableRemark::Against { base, weak: wanted.weak }
        }
    }
}
