//! Writes the remarks below a table, in sentences.

use std::fmt::Write;

use anstyle::Style;

use super::{DIM, NOTE, listed, named, runs};
use crate::table::{FigureTable, ScalingBase, TableRemark, figures};
use lbprof_report::words::{clean, percent, plural, seconds, seconds_like, wrap};

/// Writes all remarks, the most important first.
pub(super) fn lines(table: &FigureTable, columns: usize) -> String {
    let mut text = String::new();
    let marks = table.sections.iter().flat_map(|section| &section.lines).any(|line| line.best_and_worst().is_some());
    let legend = marks.then(|| (DIM, "+ best and - worst of a line".to_owned()));
    for (style, sentence) in table.remarks.iter().filter_map(|remark| sentence(table, remark)).chain(legend) {
        writeln!(text, "  {style}{}{style:#}", wrap(&sentence, columns - 2, 2)).ok();
    }
    text
}

/// Returns the remarks on a table, a sentence each.
pub fn sentences(table: &FigureTable) -> Vec<String> {
    table.remarks.iter().filter_map(|remark| sentence(table, remark)).map(|(_, text)| text).collect()
}

fn sentence(table: &FigureTable, remark: &TableRemark) -> Option<(Style, String)> {
    let (style, text) = match remark {
        TableRemark::NotShortest { shortest, balance, efficiency } => {
            (NOTE, not_shortest(table, *shortest, *balance, *efficiency))
        }
        TableRemark::Incomplete(numbers) => (NOTE, format!("data are incomplete: {}", runs(numbers))),
        TableRemark::NoParam { name, runs: numbers } => {
            let again = "add again with --replace --param";
            (NOTE, format!("no parameter {}: {} ({again} {}=VALUE)", clean(name), runs(numbers), clean(name)))
        }
        TableRemark::Ideal { replayed, estimated, left_out } => (DIM, ideal(replayed, estimated, left_out)?),
        TableRemark::Sequential { measured, assumed } => (DIM, sequential(measured, assumed)),
        TableRemark::Against { base, weak } => (DIM, against(base.as_ref(), *weak)),
        TableRemark::NoBase if table.columns.len() > 1 => {
            let why =
                "no speedup: no two runs with the same parameters and a known time have different numbers of ranks";
            (DIM, format!("{why}; --base RUN compares with any run"))
        }
        TableRemark::NoBase => return None,
        TableRemark::Iterations(numbers) => (NOTE, iterations(table, numbers)),
        TableRemark::Repeated => (DIM, "of repeated runs the median; --all shows each".to_owned()),
    };
    Some((style, text))
}

/// The warning of the parameter study of Huck & Labarta.
fn not_shortest(table: &FigureTable, shortest: usize, balance: Option<usize>, efficiency: Option<usize>) -> String {
    let best = [
        ("load balance", balance, table.line(figures::EFFICIENCY, 1)),
        ("parallel efficiency", efficiency, table.line(figures::EFFICIENCY, 0)),
    ];
    let mut others = Vec::new();
    for (name, at, line) in best {
        if let Some(at) = at
            && let Some(cell) = line.and_then(|line| line.cell(at))
        {
            let elapsed = seconds_like(elapsed_s(table, at), elapsed_s(table, shortest));
            let share = percent(cell.value);
            others.push(format!("{} has the best {name} ({share} in {elapsed})", column(table, at)));
        }
    }
    format!(
        "{} is the shortest ({}), though {}: work that is done only to be parallel counts as computation in these figures, so judge \
         by the elapsed time",
        column(table, shortest),
        seconds(elapsed_s(table, shortest)),
        listed(&others),
    )
}

fn elapsed_s(table: &FigureTable, column: usize) -> f64 {
    table.line(figures::TIME, 0).and_then(|line| line.cell(column)).map_or(0.0, |cell| cell.value)
}

/// Warns that the main loops of the columns have different numbers of iterations.
fn iterations(table: &FigureTable, numbers: &[Option<u64>]) -> String {
    let mut each = Vec::new();
    for (at, n) in numbers.iter().enumerate() {
        each.extend(n.map(|n| format!("{} of {}", plural(n, "iteration"), column(table, at))));
    }
    format!("an iteration is not the same work in all runs: {}", listed(&each))
}

/// A column by what distinguishes it.
fn column(table: &FigureTable, at: usize) -> String {
    let Some(column) = table.columns.get(at) else { return String::new() };
    let values = table.by.iter().zip(&column.values);
    let mut words: Vec<String> = values.filter_map(|(key, value)| Some(named(key, value.as_ref()?))).collect();
    if words.is_empty() || table.columns.iter().filter(|other| other.values == column.values).count() > 1 {
        words.push(runs(&column.runs));
    }
    words.join(" ")
}

fn ideal(replayed: &[u32], estimated: &[u32], left_out: &[u32]) -> Option<String> {
    let mut parts = Vec::new();
    match (replayed, estimated) {
        ([], []) => {}
        (_, []) => parts.push("ideal T by replay".to_owned()),
        ([], _) => parts.push("ideal T estimated from iterations".to_owned()),
        _ => parts.push(format!("ideal T by replay, of {} estimated from iterations", runs(estimated))),
    }
    if !left_out.is_empty() {
        parts.push(format!("of {} not known: ranks do not wait for each other in each iteration", runs(left_out)));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn sequential(measured: &[u32], assumed: &[u32]) -> String {
    let own = "the work of all ranks of the same run, assumed to be the time on one rank";
    match (measured, assumed) {
        ([], _) => format!("overheads are shares of {own}; a run on one rank with the same parameters would show it"),
        (_, []) => format!("overheads are shares of the time on one rank, {}", runs(measured)),
        _ => format!("overheads are shares of the time on one rank, {}; of {} of {own}", runs(measured), runs(assumed)),
    }
}

fn against(base: Option<&ScalingBase>, weak: bool) -> String {
    let base = match base {
        Some(base) => format!("against {} ({})", runs(&base.runs), plural(u64::from(base.n_ranks), "rank")),
        None => "against the run of the same parameters with the fewest ranks".to_owned(),
    };
    match weak {
        true => format!("scaling {base}, work growing with the ranks: efficiency is T of that / T"),
        false => format!("scaling {base}: speedup is T of that / T, efficiency speedup · its ranks / ranks"),
    }
}
