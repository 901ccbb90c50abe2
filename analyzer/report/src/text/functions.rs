//! The functions in which ranks compute, and in which of them the slow rank does so longer than the others.

use super::function_parts::{FunctionSection, render, shown};
use super::{DIM, LONGEST_NAME, TextOptions, title};
use crate::functions::{CalledBackRow, ExcessIn, ExplainedExcess, FunctionTable, RegionFunctions};
use lbprof_analysis::structure::code_place::short;
use lbprof_thresholds::wording::{
    MAX_DIFFERENCE_OF_EVEN_FUNCTION, MIN_EXCESS_OF_FIRST_FUNCTION, MIN_EXCESS_OF_NAMED_FUNCTION, MIN_TIME_NOT_RUNNING,
};

use crate::words::{TimeUnit, clean, or_dash, plural, quantity, seconds, seconds_like, shorten, wrap};
use crate::{Report, ReportDoubt};

/// Most functions in a sentence.
const MOST_NAMED: usize = 2;

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let Some(table) = report.functions.as_ref().filter(|table| table.samples > 0) else { return String::new() };
    let shown = shown(&table.program, &table.regions, options);
    let unit = TimeUnit::for_max(shown.iter().map(|part| part.slowest_computation_s).fold(0.0, f64::max));
    let facts = format!(
        "CPU time by {}, one every {}; ± one standard error, – less than two",
        plural(table.samples, "sample"),
        seconds(table.period_s)
    );
    let parts: Vec<FunctionSection> = shown.into_iter().map(|one| part(one, table.program.cpu_s)).collect();
    let is_running = table.program.cpu_s >= MIN_TIME_NOT_RUNNING * table.program.computation_s;
    let notes = notes(table);
    let mut text = match is_running || !options.is_for_all() {
        true => render(&parts, unit, "Functions", &facts, options),
        // Some samples are chance.
        false if notes.is_empty() => return String::new(),
        false => title("Functions", 0, 0),
    };
    for line in notes {
        text += &format!("  {DIM}{}{DIM:#}\n", wrap(&line, options.columns - 2, 2));
    }
    text + "\n"
}

/// A region of a program with this CPU time.
fn part(region: &RegionFunctions, whole_s: f64) -> FunctionSection<'_> {
    FunctionSection {
        region: &region.region,
        cpu_s: region.cpu_s,
        share: if whole_s > 0.0 { region.cpu_s / whole_s } else { 0.0 },
        excess: region.slowest_rank.map(|rank| (region.excess_s, rank)),
        functions: &region.functions,
        others: &region.others,
    }
}

/// Notes after the table: on time without CPU, and on hardware counters.
fn notes(table: &FunctionTable) -> Vec<String> {
    let mut notes = Vec::new();
    let program = &table.program;
    if let Some(rank) =
        program.not_running_rank.filter(|_| program.max_not_running_s >= MIN_TIME_NOT_RUNNING * program.computation_s)
    {
        notes.push(format!(
            "Not running (asleep, waiting for a core, or in the kernel): {} of the computation on average, {} on rank {rank}.",
            seconds_like(program.not_running_s.max(0.0), program.computation_s),
            seconds_like(program.max_not_running_s, program.computation_s),
        ));
    }
    for row in table.called_by_mpi.iter().take(MOST_NAMED) {
        notes.push(format!("Within MPI, where it does not count as computation: {}.", in_mpi_call(row)));
    }
    notes.extend(hardware(table));
    notes
}

/// A function that MPI calls: `MPI_Allreduce runs add (sums.c:7) for 1.20 s on rank 0, 0.30 s on average`.
fn in_mpi_call(row: &CalledBackRow) -> String {
    let name = shorten(&clean(&row.name.label()), LONGEST_NAME);
    let on_average = seconds_like(row.mean_s, row.max_s);
    let how_long = match row.max_s - row.min_s <= MAX_DIFFERENCE_OF_EVEN_FUNCTION * row.max_s {
        true => format!("{on_average} on each rank"),
        false => format!("{} on rank {}, {on_average} on average", seconds(row.max_s), row.max_rank),
    };
    format!("MPI_{} runs {name} for {how_long}", row.operation)
}

/// The function that MPI calls longest, or `None` if MPI calls none.
pub(super) fn called_by_mpi(report: &Report) -> Option<String> {
    report.functions.as_ref()?.called_by_mpi.first().map(in_mpi_call)
}

/// The hardware counters, in a sentence.
fn hardware(table: &FunctionTable) -> Option<String> {
    let program = &table.program;
    let (row, rank) = (program.hardware.as_ref()?, program.slowest_rank?);
    let mut text = format!(
        "Processor: {} instructions a rank in the mean, {}",
        quantity(row.instructions),
        processor_speed(row.ipc, row.frequency_hz)
    );
    if row.ranks > 1 {
        let more = seconds_like(row.more_instructions_s, program.slowest_computation_s);
        let slower = seconds_like(row.slower_instructions_s, program.slowest_computation_s);
        text += &format!(
            "; rank {rank}: {}, {}. Of its CPU time more than the mean, {more} is more instructions, {slower} slower ones",
            quantity(row.slowest_instructions),
            processor_speed(row.slowest_ipc, row.slowest_frequency_hz)
        );
    }
    Some(text + ".")
}

/// `1.35 per cycle at 2.40 GHz`.
fn processor_speed(ipc: Option<f64>, frequency_hz: Option<f64>) -> String {
    let per_cycle = or_dash(ipc, |ipc| format!("{ipc:.2}"));
    let frequency = or_dash(frequency_hz, |hz| format!("{:.2} GHz", hz * 1e-9));
    format!("{per_cycle} per cycle at {frequency}")
}

/// The state of a rank that computes by its calls but uses no CPU, as far as it is known.
pub(super) fn idle_in_words(report: &Report) -> &'static str {
    match may_lack_cores(report) {
        true => "asleep, or waiting for a core or I/O",
        false => "asleep or waiting for I/O",
    }
}

/// Returns whether computation without samples may have waited for a core.
pub(super) fn may_lack_cores(report: &Report) -> bool {
    let is_preempted = report.verdict.worst.as_ref().is_some_and(|worst| worst.preempted.is_some());
    is_preempted || report.doubts.iter().any(ReportDoubt::is_of_cores)
}

/// The functions of an excess: `92 % of it in PairLJCut::compute (pair_lj_cut.cpp:112)`, with `whole` for `of it`. Empty if samples do not show it.
pub(super) fn explained(excess: &ExplainedExcess, whole: &str, idle: &str) -> String {
    let functions = excess.functions.iter().take(MOST_NAMED);
    let named = functions.map(|one| (one.share, format!("in {}", shorten(&clean(&one.name.label()), LONGEST_NAME))));
    let states = match excess.states {
        Some(states) => vec![
            (Some(states.kernel_share), "in the kernel (page faults, system calls)".to_owned()),
            (Some(states.asleep_share), "asleep".to_owned()),
            (Some(states.stopped_share), "stopped from outside".to_owned()),
            (Some(states.no_core_share), "waiting for a core".to_owned()),
        ],
        None => vec![(excess.not_running_share, idle.to_owned())],
    };
    let mut shares: Vec<(f64, String)> = named
        .chain(states)
        .filter_map(|(share, what)| Some((share.filter(|&share| share >= MIN_EXCESS_OF_NAMED_FUNCTION)?, what)))
        .collect();
    shares.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut parts: Vec<String> =
        shares.into_iter().map(|(share, what)| format!("{} {what}", share_of_it(share))).collect();
    match parts.split_first_mut() {
        Some((first, _)) => {
            *first = first.replacen('%', &format!("% {whole}"), 1);
            parts.join(", ")
        }
        None => String::new(),
    }
}

/// Returns the function that has most of an excess, if one has.
pub(super) fn decisive(excess: &ExplainedExcess) -> Option<&ExcessIn> {
    excess.functions.first().filter(|one| one.share.is_some_and(|share| share >= MIN_EXCESS_OF_FIRST_FUNCTION))
}

/// Returns the function with file and line.
pub(super) fn label(function: &ExcessIn) -> String {
    shorten(&clean(&function.name.label()), LONGEST_NAME)
}

/// Returns ", called from main" for a function that main called, as samples say, or which lies in code between calls of main, of which `region` is the
/// name; empty where that is its own code, or not known.
pub(super) fn called_from(function: &ExcessIn, region: Option<&str>) -> String {
    let around = region.and_then(|name| name.split_once(" (")).map(|(caller, _)| caller);
    let caller = function.caller.as_deref().map(short).or(around);
    let own = function.name.function.as_deref().unwrap_or_default();
    match caller {
        Some(caller) if caller.contains(" → ") || own.starts_with(caller) => String::new(),
        Some(caller) if own.ends_with(&format!("::{caller}")) => String::new(),
        Some(caller) => format!(", called from {}", clean(caller)),
        None => String::new(),
    }
}

/// A share by samples, which does not say more than whole percents, and no more than all.
fn share_of_it(share: f64) -> String {
    format!("{:.0} %", 100.0 * share.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::{ExcessIn, FunctionName};

    #[test]
    fn an_excess_is_laid_to_its_functions() {
        let function = |name: &str, share: f64| ExcessIn {
            name: FunctionName {
                function: Some(name.into()),
                file: Some("/src/f.c".into()),
                line: Some(7),
                module: None,
            },
            excess_s: share,
            excess_error_s: 0.01,
            share: Some(share),
            caller: None,
        };
        let functions = vec![function("force", 0.92), function("tiny", 0.02)];
        let excess = ExplainedExcess { functions, ..ExplainedExcess::default() };
        assert_eq!(explained(&excess, "of it", "asleep"), "92 % of it in force (f.c:7)");
        let excess = ExplainedExcess { not_running_share: Some(0.4), not_running_s: Some(0.4), ..excess };
        assert_eq!(explained(&excess, "of it", "asleep"), "92 % of it in force (f.c:7), 40 % asleep");
        assert_eq!(explained(&ExplainedExcess::default(), "of it", "asleep"), "");
    }
}
