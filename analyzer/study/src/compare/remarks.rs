//! Remarks on other differences between compared runs, as sentences: a reader must know them before he believes the figures.

use std::collections::BTreeSet;

use lbprof_collector::ProblemKind;

use super::{ComparisonSide, ComparisonSides};
use crate::RunMetrics;
use lbprof_report::words::mpi_name;
use lbprof_report::words::{plural, quantity};

/// Most names in a sentence.
const MOST: usize = 6;

/// Returns all remarks, the most important first. Names in them are as recorded: the caller escapes them.
pub fn remarks(sides: &ComparisonSides) -> Vec<String> {
    let mut remarks = Vec::new();
    let (base, new) = (&sides.base, &sides.new);
    remarks.extend(same_run(base, new));
    remarks.extend(programs(base, new));
    remarks.extend([("base", base), ("new", new)].into_iter().filter_map(|(name, side)| mixed(name, side)));
    remarks.extend(incomplete(base).into_iter().chain(incomplete(new)));
    remarks.extend(without_core(base, new));
    let Some((first, second)) = base.runs.first().zip(new.runs.first()) else { return remarks };
    let (first, second) = (&first.run, &second.run);
    remarks.extend(params(first, second));
    remarks.extend(describe_difference(
        "The number of ranks differs",
        first,
        second,
        |run| run.n_ranks.to_string(),
        RANKS,
    ));
    remarks.extend(describe_difference(
        "The MPI library differs",
        first,
        second,
        |run| mpi_name(&run.mpi).to_owned(),
        "",
    ));
    remarks.extend(describe_difference(
        "The number of hosts differs",
        first,
        second,
        |run| run.hosts.len().to_string(),
        "",
    ));
    if first.ideal_by_replay != second.ideal_by_replay {
        let text = "The ideal time is by replay on one side and estimated on the other: micro load balance and transfer \
                    do not compare well.";
        remarks.push(text.to_owned());
    }
    remarks
}

const RANKS: &str = ": times are means over ranks";

fn runs_of_both<'a>(base: &'a ComparisonSide, new: &'a ComparisonSide) -> impl Iterator<Item = &'a RunMetrics> {
    base.runs.iter().chain(&new.runs).map(|named| &named.run)
}

fn same_run(base: &ComparisonSide, new: &ComparisonSide) -> Option<String> {
    let new_ids: Vec<u64> = new.runs.iter().map(|named| named.run.id).collect();
    let both = base.runs.iter().find(|named| named.run.id != 0 && new_ids.contains(&named.run.id))?;
    Some(format!("{} is on both sides.", both.name))
}

fn programs(base: &ComparisonSide, new: &ComparisonSide) -> Option<String> {
    let names: BTreeSet<&str> =
        runs_of_both(base, new).map(RunMetrics::program).filter(|name| !name.is_empty()).collect();
    (names.len() > 1).then(|| {
        format!(
            "The programs differ: {}. What matches by name is compared.",
            some(names.into_iter().map(str::to_owned))
        )
    })
}

/// Warns that runs of a side are no repetitions of each other.
fn mixed(name: &str, side: &ComparisonSide) -> Option<String> {
    let mut what = Vec::new();
    what.extend(differ(side, |run| format!("{:?}", run.params)).then_some("parameters"));
    what.extend(differ(side, |run| run.n_ranks).then_some("number of ranks"));
    what.extend(differ(side, |run| run.command.clone()).then_some("command"));
    (!what.is_empty()).then(|| {
        format!(
            "The {name} runs differ in {}: they are no repetitions, and how they scatter is no noise.",
            what.join(" and ")
        )
    })
}

/// True if the runs of a side differ in a property.
fn differ<T: PartialEq>(side: &ComparisonSide, property: impl Fn(&RunMetrics) -> T) -> bool {
    let mut values = side.runs.iter().map(|named| property(&named.run));
    values.next().is_some_and(|first| values.any(|value| value != first))
}

fn incomplete(side: &ComparisonSide) -> Vec<String> {
    let mut remarks = Vec::new();
    for named in side.runs.iter().filter(|named| !named.run.complete) {
        let problems = some(named.run.problems.iter().cloned());
        remarks.push(format!("Data of {} are incomplete ({problems}): lb-report on it says more.", named.name));
    }
    remarks
}

/// Warns that times scatter because ranks shared cores.
fn without_core(base: &ComparisonSide, new: &ComparisonSide) -> Option<String> {
    let of_cores = [ProblemKind::NoCore, ProblemKind::Preempted].map(|kind| kind.name());
    let all = base.runs.iter().chain(&new.runs);
    let waited = all.filter(|named| named.run.problems.iter().any(|problem| of_cores.contains(&problem.as_str())));
    let names: Vec<String> = waited.map(|named| named.name.clone()).collect();
    (!names.is_empty())
        .then(|| format!("Ranks had to wait for a core in {}: times scatter more.", some(names.into_iter())))
}

fn params(base: &RunMetrics, new: &RunMetrics) -> Option<String> {
    let names: BTreeSet<&String> = base.params.keys().chain(new.params.keys()).collect();
    let mut changed = Vec::new();
    for name in names {
        let values = [base, new].map(|run| run.params.get(name));
        if values[0] != values[1] {
            let [base, new] = values.map(|value| value.map_or_else(|| "–".to_owned(), |&value| quantity(value)));
            changed.push(format!("{name} {base} → {new}"));
        }
    }
    (!changed.is_empty()).then(|| format!("Parameters differ: {}.", some(changed.into_iter())))
}

fn describe_difference(
    what: &str,
    base: &RunMetrics,
    new: &RunMetrics,
    of: impl Fn(&RunMetrics) -> String,
    so: &str,
) -> Option<String> {
    let (base, new) = (of(base), of(new));
    (base != new).then(|| format!("{what}: {base} → {new}{so}."))
}

/// The first of several, and how many more there are.
fn some(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    let more = names.len().saturating_sub(MOST);
    let shown = names.into_iter().take(MOST).collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {}", plural(more as u64, "more").trim_end_matches('s')) }
}

/// The remark on regions that only one side has, or `None` if there are none.
pub fn unmatched(name: &str, paths: &[&str]) -> Option<String> {
    (!paths.is_empty())
        .then(|| format!("Only in the {name} runs: {}.", some(paths.iter().map(|path| (*path).to_owned()))))
}

/// Remark on figures that are missing because runs were not replayed.
pub const NOT_FOLLOWED: &str =
    "On one side at least, ranks were not followed: waiting is reported where it is spent, not by what causes it.";
