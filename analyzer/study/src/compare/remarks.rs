//! Remarks on other differences between compared runs, as sentences: a reader must know them before he believes the figures.

use std::collections::BTreeSet;

use lbprof_collector::ProblemKind;

use super::{ComparisonSide, ComparisonSides, NamedRun};
use crate::RunMetrics;
use lbprof_report::rows::words::{format_plural, format_quantity, mpi_name};

const MOST: usize = 6;

type FigureText = fn(&RunMetrics) -> String;
type PairTest = fn(&RunMetrics, &RunMetrics) -> bool;

/// Returns all remarks, the most important first. Names in them are as recorded: the caller escapes them.
pub fn comparison_remarks(sides: &ComparisonSides) -> Vec<String> {
    let mut remarks = Vec::new();
    let (base, new) = (&sides.base, &sides.new);
    remarks.extend(same_run(base, new));
    remarks.extend(remark_on_programs(base, new));
    remarks
        .extend([("base", base), ("new", new)].into_iter().filter_map(|(name, side)| remark_on_mixed_runs(name, side)));
    remarks.extend(remark_on_incomplete_data(base).into_iter().chain(remark_on_incomplete_data(new)));
    remarks.extend(without_core(base, new));
    let Some((first, second)) = base.runs.first().zip(new.runs.first()) else { return remarks };
    let (first, second) = (&first.run, &second.run);
    remarks.extend(remark_on_params(first, second));
    let differences: [(&str, FigureText, &str); 3] = [
        ("The number of ranks differs", |run| run.n_ranks.to_string(), ": times are means over ranks"),
        ("The MPI library differs", |run| mpi_name(&run.mpi).to_owned(), ""),
        ("The number of hosts differs", |run| run.hosts.len().to_string(), ""),
    ];
    for (what, figure, note) in differences {
        let (base, new) = (figure(first), figure(second));
        if base != new {
            remarks.push(format!("{what}: {base} → {new}{note}."));
        }
    }
    if first.ideal_by_replay != second.ideal_by_replay {
        let text = "The ideal time is by replay on one side and estimated on the other: micro load balance and transfer \
                    do not compare well.";
        remarks.push(text.to_owned());
    }
    remarks
}

fn same_run(base: &ComparisonSide, new: &ComparisonSide) -> Option<String> {
    let new_ids: Vec<u64> = new.runs.iter().map(|named| named.run.id).collect();
    let both = base.runs.iter().find(|named| named.run.id != 0 && new_ids.contains(&named.run.id))?;
    Some(format!("{} is on both sides.", both.name))
}

fn remark_on_programs(base: &ComparisonSide, new: &ComparisonSide) -> Option<String> {
    let runs = base.runs.iter().chain(&new.runs);
    let names: BTreeSet<&str> = runs.map(|named| named.run.program()).filter(|name| !name.is_empty()).collect();
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    (names.len() > 1)
        .then(|| format!("The programs differ: {}. What matches by name is compared.", shorten_list(&names)))
}

fn remark_on_mixed_runs(name: &str, side: &ComparisonSide) -> Option<String> {
    let NamedRun { run: first, .. } = side.runs.first()?;
    let properties: [(&str, PairTest); 3] = [
        ("parameters", |first, other| format!("{:?}", first.params) != format!("{:?}", other.params)),
        ("number of ranks", |first, other| first.n_ranks != other.n_ranks),
        ("command", |first, other| first.command != other.command),
    ];
    let differing =
        properties.into_iter().filter(|(_, differ)| side.runs.iter().any(|named| differ(first, &named.run)));
    let what: Vec<&str> = differing.map(|(what, _)| what).collect();
    (!what.is_empty()).then(|| {
        format!(
            "The {name} runs differ in {}: they are no repetitions, and how they scatter is no noise.",
            what.join(" and ")
        )
    })
}

fn remark_on_incomplete_data(side: &ComparisonSide) -> Vec<String> {
    let mut remarks = Vec::new();
    for named in side.runs.iter().filter(|named| !named.run.complete) {
        let problems = shorten_list(&named.run.problems);
        remarks.push(format!("Data of {} are incomplete ({problems}): lb-report on it says more.", named.name));
    }
    remarks
}

fn without_core(base: &ComparisonSide, new: &ComparisonSide) -> Option<String> {
    let of_cores = [ProblemKind::NoCore, ProblemKind::Preempted].map(|kind| kind.name());
    let runs = base.runs.iter().chain(&new.runs);
    let waited = runs.filter(|named| named.run.problems.iter().any(|problem| of_cores.contains(&problem.as_str())));
    let names: Vec<String> = waited.map(|named| named.name.clone()).collect();
    (!names.is_empty())
        .then(|| format!("Ranks had to wait for a core in {}: times scatter more.", shorten_list(&names)))
}

fn remark_on_params(base: &RunMetrics, new: &RunMetrics) -> Option<String> {
    let names: BTreeSet<&String> = base.params.keys().chain(new.params.keys()).collect();
    let mut changed = Vec::new();
    for name in names {
        let values = [base, new].map(|run| run.params.get(name));
        if values[0] != values[1] {
            let [base, new] = values.map(|value| value.map_or_else(|| "–".to_owned(), |&value| format_quantity(value)));
            changed.push(format!("{name} {base} → {new}"));
        }
    }
    (!changed.is_empty()).then(|| format!("Parameters differ: {}.", shorten_list(&changed)))
}

fn shorten_list(names: &[String]) -> String {
    let more = names.len().saturating_sub(MOST);
    let shown = names[..names.len() - more].join(", ");
    if more == 0 { shown } else { format!("{shown} and {}", format_plural(more as u64, "more").trim_end_matches('s')) }
}

/// The remark on regions that only one side has, or `None` if there are none.
pub fn remark_on_unmatched(name: &str, paths: &[String]) -> Option<String> {
    (!paths.is_empty()).then(|| format!("Only in the {name} runs: {}.", shorten_list(paths)))
}

/// Remark on figures that are missing because runs were not replayed.
pub const NOT_FOLLOWED: &str =
    "On one side at least, ranks were not followed: waiting is reported where it is spent, not by what causes it.";
