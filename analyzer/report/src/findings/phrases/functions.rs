//! Describes the functions that explain a slow rank, and those that MPI calls.

use crate::Report;
use crate::code::functions::{CalledBackRow, ExcessIn, ExplainedExcess, FunctionCall, FunctionName};
use crate::losses::names::LONGEST_NAME;
use crate::rows::words::{escape_name, format_seconds, seconds_like, shorten_text};
use lbprof_analysis::structure::code::code_place::{base_name, short_name};
use lbprof_thresholds::wording::{
    MAX_DIFFERENCE_OF_EVEN_FUNCTION, MIN_EXCESS_OF_FIRST_FUNCTION, MIN_EXCESS_OF_NAMED_FUNCTION,
};

const MOST_NAMED: usize = 2;

/// Characters of a function with its caller and the place of the call at most.
const LONGEST_CALL: usize = 60;

/// Describes a function that MPI calls, e.g. `MPI_Allreduce runs add (sums.c:7) for 1.20 s on rank 0, 0.30 s on average`.
pub fn in_mpi_call(row: &CalledBackRow) -> String {
    let name = shorten_text(&escape_name(&row.name.label()), LONGEST_NAME);
    let on_average = seconds_like(row.mean_s, row.max_s);
    let how_long = match row.max_s - row.min_s <= MAX_DIFFERENCE_OF_EVEN_FUNCTION * row.max_s {
        true => format!("{on_average} on each rank"),
        false => format!("{} on rank {}, {on_average} on average", format_seconds(row.max_s), row.max_rank),
    };
    format!("MPI_{} runs {name} for {how_long}", row.operation)
}

/// Describes the function that MPI calls longest.
pub fn called_by_mpi(report: &Report) -> Option<String> {
    report.functions.as_ref()?.called_by_mpi.first().map(in_mpi_call)
}

/// Returns whether computation without samples may be waiting for a core.
pub fn may_lack_cores(report: &Report) -> bool {
    let is_preempted = report.verdict.worst.as_ref().is_some_and(|worst| worst.preempted.is_some());
    is_preempted || report.has_crowded_cores()
}

/// Returns the fraction of an excess in which the rank was asleep or stopped, unless a lack of cores may explain it.
pub fn certain_asleep_share(report: &Report, excess: &ExplainedExcess) -> Option<f64> {
    excess.certain_asleep_share(!may_lack_cores(report))
}

/// Describes where an excess is, e.g. `force (md.c:12) ← step: 92 % of the extra work`, or returns `None` if samples show no function.
pub fn excess_in_words(excess: &ExplainedExcess) -> Option<String> {
    let functions =
        excess.functions.iter().take(MOST_NAMED).map(|one| (one.share, function_and_caller(&one.name, &one.call)));
    let shares = largest_parts(functions, excess);
    let is_named = !excess.functions.is_empty() && !shares.is_empty();
    let parts = shares.iter().enumerate().map(|(at, (share, what))| {
        let of = if at == 0 { " of the extra work" } else { "" };
        format!("{what}: {:.0} %{of}", 100.0 * share.min(1.0))
    });
    is_named.then(|| parts.collect::<Vec<_>>().join(", "))
}

/// Returns a function with the one that called it: `force (md.c:12) ← step (md.c:40)`, without the place of the call where that does not fit in a line.
pub fn function_and_caller(name: &FunctionName, call: &FunctionCall) -> String {
    let called = shorten_text(&escape_name(&name.label()), LONGEST_NAME);
    let Some(caller) = other_caller(name, call.caller.as_deref().map(short_name)) else { return called };
    let (file, line) = (call.caller_file.as_deref().map(base_name), call.caller_line);
    let at = file.zip(line).map(|(file, line)| format!(" ({}:{line})", escape_name(file)));
    let with_line = format!("{called} ← {caller}{}", at.unwrap_or_default());
    if with_line.chars().count() <= LONGEST_CALL { with_line } else { format!("{called} ← {caller}") }
}

/// Returns the functions and states of an excess with their shares, the largest first.
fn largest_parts(
    functions: impl Iterator<Item = (Option<f64>, String)>,
    excess: &ExplainedExcess,
) -> Vec<(f64, String)> {
    let states = match &excess.states {
        Some(states) => {
            states.iter().map(|one| (Some(one.share), one.state.phrase().unwrap_or_default().to_owned())).collect()
        }
        None => vec![(excess.not_running_share, "asleep or waiting for I/O".to_owned())],
    };
    let mut parts: Vec<(f64, String)> = functions
        .chain(states)
        .filter_map(|(share, what)| Some((share.filter(|&share| share >= MIN_EXCESS_OF_NAMED_FUNCTION)?, what)))
        .collect();
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    parts
}

/// Returns the function with most of an excess.
pub fn decisive_function(excess: &ExplainedExcess) -> Option<&ExcessIn> {
    excess.functions.first().filter(|one| one.share.is_some_and(|share| share >= MIN_EXCESS_OF_FIRST_FUNCTION))
}

/// Returns a function's name, file and line.
pub fn function_label(function: &ExcessIn) -> String {
    shorten_text(&escape_name(&function.name.label()), LONGEST_NAME)
}

/// Returns e.g. ", called from main". The caller comes from samples, or from `region`, the name of code between calls. Returns nothing if it is unknown
/// or the function itself.
pub fn called_from(function: &ExcessIn, region: Option<&str>) -> String {
    let around = region.and_then(|name| name.split_once(" (")).map(|(caller, _)| caller);
    let caller = other_caller(&function.name, function.call.caller.as_deref().map(short_name).or(around));
    caller.map_or_else(String::new, |caller| format!(", called from {caller}"))
}

/// Returns a caller, unless it is the function itself.
fn other_caller(name: &FunctionName, caller: Option<&str>) -> Option<String> {
    let own = name.function.as_deref().unwrap_or_default();
    caller
        .filter(|caller| !(caller.contains(" → ") || own.starts_with(caller) || own.ends_with(&format!("::{caller}"))))
        .map(escape_name)
}
