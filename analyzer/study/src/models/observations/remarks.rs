//! Remarks on the runs for readers of models.

use std::collections::BTreeSet;

use super::phases::PhasesOfRun;
use crate::RunMetrics;
use crate::phrases::name_runs_by_number;

/// Returns remarks as sentences, the most important first. Names in them are as recorded: the caller escapes them.
pub(in crate::models) fn model_remarks(
    runs: &[RunMetrics],
    numbers: &[u32],
    figures: &[PhasesOfRun],
    libraries: &[String],
) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(named) = name_runs(numbers, runs, |run| !run.complete) {
        remarks.push(format!("Data are incomplete: {named}."));
    }
    if let Some(named) = name_runs(numbers, figures, |figures| figures.is_partial) {
        remarks.push(format!(
            "Logs of ranks are missing: {named}. Sums over ranks are not known there; T_par is that of the other ranks."
        ));
    }
    if figures.iter().any(|one| one.is_followed)
        && let Some(named) = name_runs(numbers, figures, |figures| !figures.is_followed)
    {
        remarks.push(format!("Ranks were not followed: {named}. T_comm and T_idle are not known there."));
    }
    let different: BTreeSet<&str> = libraries.iter().map(String::as_str).collect();
    if different.len() > 1 {
        let names: Vec<&str> = different.into_iter().collect();
        remarks.push(format!(
            "The runs are under different MPI libraries: {}. What depends on P or a parameter is taken from runs under one of them, \
             what depends on #op or #q from all; --where mpi=NAME leaves out others.",
            names.join(", ")
        ));
    }
    remarks
}

/// Names the runs whose entry in `of_runs` meets `condition`, or returns `None` if none does.
fn name_runs<T>(numbers: &[u32], of_runs: &[T], condition: impl Fn(&T) -> bool) -> Option<String> {
    let meeting = of_runs.iter().zip(numbers).filter(|(of_run, _)| condition(of_run));
    let numbers: Vec<u32> = meeting.map(|(_, number)| *number).collect();
    (!numbers.is_empty()).then(|| name_runs_by_number(&numbers))
}
