//! Remarks below a table.

use std::collections::BTreeSet;
use std::ops::Add;

use super::figures::{self, RunFigures};
use super::grouping::RunGroup;
use super::remark::TableRemark;
use super::scaling_base::ScalingBase;
use super::{FigureLine, FigureTable, TableRequest};
use crate::key::KeyValue;
use crate::phrases::{format_key, join_with_and, name_runs_by_number};
use crate::store::StoredRun;
use lbprof_report::rows::words::{escape_name, format_percent, format_plural, format_seconds, seconds_like};

/// The figures of a table's columns, and the bases that they are compared with.
pub(super) struct ColumnFigures {
    pub(super) figures: Vec<Vec<RunFigures>>,
    /// Base of each column, or `None` if it has none.
    pub(super) bases: Vec<Option<ScalingBase>>,
}

impl ColumnFigures {
    fn numbers(&self, condition: impl Fn(&RunFigures) -> bool) -> Vec<u32> {
        self.figures.iter().flatten().filter(|run| condition(run)).map(|run| run.number).collect()
    }
}

pub(super) fn table_remarks(
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
        remarks.push(TableRemark::warning(format!("data are incomplete: {}", name_runs_by_number(&incomplete))));
    }
    remarks.extend(program_params(group, all).iter().filter_map(|key| remark_on_missing_param(group, key)));
    let replayed = columns.numbers(|run| run.has_ideal() && run.by_replay);
    let estimated = columns.numbers(|run| run.has_ideal() && !run.by_replay);
    let left_out = columns.numbers(|run| run.no_ideal);
    remarks.extend(ideal_sentence(&replayed, &estimated, &left_out).map(TableRemark::explanation));
    if figures.iter().flatten().any(|run| run.overheads.is_some()) {
        let assumed = columns.numbers(|run| run.overheads.as_ref().is_some_and(|overheads| !overheads.is_given));
        let given = figures.iter().flatten().filter(|run| run.overheads.as_ref().is_some_and(|one| one.is_given));
        let measured: BTreeSet<u32> = given.flat_map(|run| run.on_one_rank.iter().copied()).collect();
        let measured: Vec<u32> = measured.into_iter().collect();
        remarks.push(TableRemark::explanation(sequential_sentence(&measured, &assumed)));
    }
    let iterations: Vec<Option<u64>> = figures.iter().map(|runs| runs.first().and_then(|run| run.iterations)).collect();
    let mut known = iterations.iter().flatten();
    let first = known.next();
    if known.any(|n| Some(n) != first) {
        remarks.push(TableRemark::warning(self::iterations_sentence(table, &iterations)));
    }
    remarks.extend(base_sentence(bases, table, wanted).map(TableRemark::explanation));
    if table.columns.iter().any(|column| column.runs.len() > 1) {
        remarks.push(TableRemark::explanation("of repeated runs the median; --all shows each".to_owned()));
    }
    remarks
}

/// Warns where the shortest column is not the best balanced among all with as many ranks and as much counted work.
fn not_shortest(table: &FigureTable, group: &RunGroup) -> Vec<TableRemark> {
    let (Some(elapsed), Some(efficiency), Some(balance)) = (
        table.line(figures::TIME, figures::ELAPSED),
        table.line(figures::EFFICIENCY, figures::PARALLEL),
        table.line(figures::EFFICIENCY, figures::BALANCE),
    ) else {
        return Vec::new();
    };
    let sizes: Vec<(u32, u64)> =
        group.columns.iter().map(|runs| runs.first().map_or((0, 0), |run| run_size(run))).collect();
    let each: BTreeSet<(u32, u64)> = sizes.iter().copied().collect();
    let mut remarks = Vec::new();
    for size in each {
        let columns: Vec<bool> = sizes.iter().map(|other| *other == size).collect();
        let Some(shortest) = best_of(elapsed, &columns) else { continue };
        let [balance, efficiency] = [balance, efficiency].map(|line| {
            // Chance makes one of several repeated runs the shortest.
            best_of(line, &columns).filter(|&best| table.columns[best].values != table.columns[shortest].values)
        });
        if balance.is_some() || efficiency.is_some() {
            remarks.push(TableRemark::warning(shortest_sentence(table, shortest, balance, efficiency)));
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
fn run_size(run: &StoredRun) -> (u32, u64) {
    let operations = run.run.regions.iter().map(|region| region.operations).fold(0.0, f64::add);
    (run.run.n_ranks, operations.to_bits())
}

fn program_params<'a>(group: &RunGroup, all: &'a [StoredRun]) -> BTreeSet<&'a String> {
    let of_program = all.iter().filter(|run| run.run.program() == group.program);
    of_program.flat_map(|run| run.run.params.keys()).collect()
}

fn remark_on_missing_param(group: &RunGroup, key: &str) -> Option<TableRemark> {
    let without = group.columns.iter().flatten().filter(|run| KeyValue::look_up(run, key).is_none());
    let numbers: Vec<u32> = without.map(|run| run.number).collect();
    let (key, again) = (escape_name(key), "add again with --replace --param");
    let text = format!("no parameter {key}: {} ({again} {key}=VALUE)", name_runs_by_number(&numbers));
    (!numbers.is_empty()).then(|| TableRemark::warning(text))
}

fn shortest_sentence(
    table: &FigureTable,
    shortest: usize,
    balance: Option<usize>,
    efficiency: Option<usize>,
) -> String {
    let best = [
        ("load balance", balance, table.line(figures::EFFICIENCY, figures::BALANCE)),
        ("parallel efficiency", efficiency, table.line(figures::EFFICIENCY, figures::PARALLEL)),
    ];
    let mut others = Vec::new();
    for (name, at, line) in best {
        if let Some(at) = at
            && let Some(cell) = line.and_then(|line| line.cell(at))
        {
            let elapsed = seconds_like(elapsed_s(table, at), elapsed_s(table, shortest));
            let share = format_percent(cell.value);
            others.push(format!("{} has the best {name} ({share} in {elapsed})", name_column(table, at)));
        }
    }
    format!(
        "{} is the shortest ({}), though {}: work that is done only to be parallel counts as computation in these figures, so judge \
         by the elapsed time",
        name_column(table, shortest),
        format_seconds(elapsed_s(table, shortest)),
        join_with_and(&others),
    )
}

fn elapsed_s(table: &FigureTable, column: usize) -> f64 {
    table.line(figures::TIME, figures::ELAPSED).and_then(|line| line.cell(column)).map_or(0.0, |cell| cell.value)
}

fn iterations_sentence(table: &FigureTable, numbers: &[Option<u64>]) -> String {
    let known = numbers.iter().enumerate().filter_map(|(at, n)| Some((at, (*n)?)));
    let each: Vec<String> =
        known.map(|(at, n)| format!("{} of {}", format_plural(n, "iteration"), name_column(table, at))).collect();
    format!("an iteration is not the same work in all runs: {}", join_with_and(&each))
}

/// Returns a column by its values, and by its runs where others have the same: `4 ranks`.
pub fn name_column(table: &FigureTable, at: usize) -> String {
    let Some(column) = table.columns.get(at) else { return String::new() };
    let values = table.by.iter().zip(&column.values);
    let mut words: Vec<String> = values.filter_map(|(key, value)| Some(format_key(key, value.as_ref()?))).collect();
    if words.is_empty() || table.columns.iter().filter(|other| other.values == column.values).count() > 1 {
        words.push(name_runs_by_number(&column.runs));
    }
    words.join(" ")
}

fn ideal_sentence(replayed: &[u32], estimated: &[u32], left_out: &[u32]) -> Option<String> {
    let mut parts = Vec::new();
    match (replayed, estimated) {
        ([], []) => {}
        (_, []) => parts.push("ideal T by replay".to_owned()),
        ([], _) => parts.push("ideal T estimated from iterations".to_owned()),
        _ => parts.push(format!("ideal T by replay, of {} estimated from iterations", name_runs_by_number(estimated))),
    }
    if !left_out.is_empty() {
        parts.push(format!(
            "of {} not known: ranks do not wait for each other in each iteration",
            name_runs_by_number(left_out)
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn sequential_sentence(measured: &[u32], assumed: &[u32]) -> String {
    let own = "the work of all ranks of the same run, assumed to be the time on one rank";
    match (measured, assumed) {
        ([], _) => format!("overheads are shares of {own}; a run on one rank with the same parameters would show it"),
        (_, []) => format!("overheads are shares of the time on one rank, {}", name_runs_by_number(measured)),
        _ => format!(
            "overheads are shares of the time on one rank, {}; of {} of {own}",
            name_runs_by_number(measured),
            name_runs_by_number(assumed)
        ),
    }
}

fn base_sentence(bases: &[Option<ScalingBase>], table: &FigureTable, wanted: &TableRequest) -> Option<String> {
    let mut known = bases.iter().flatten();
    let Some(first) = known.next() else {
        let why = "no speedup: no two runs with the same parameters and a known time have different numbers of ranks";
        return (table.columns.len() > 1).then(|| format!("{why}; --base RUN compares with any run"));
    };
    let base = match known.all(|base| base == first) {
        true => format!(
            "against {} ({})",
            name_runs_by_number(&first.runs),
            format_plural(u64::from(first.n_ranks), "rank")
        ),
        false => "against the run of the same parameters with the fewest ranks".to_owned(),
    };
    Some(match wanted.weak {
        true => format!("scaling {base}, work growing with the ranks: efficiency is T of that / T"),
        false => format!("scaling {base}: speedup is T of that / T, efficiency speedup · its ranks / ranks"),
    })
}
