//! The figures of a run that a study keeps, from its report.

use std::collections::{BTreeMap, HashMap};

use lbprof_collector::Activity;

use super::run::{
    CauseFigures, CoreFigures, CountedFigures, FunctionFigures, FunctionSums, RankFigures, RegionFigures, RunMetrics,
};
use lbprof_analysis::metrics::sampled::functions::computing_times;
use lbprof_analysis::model::ranks::samples::HardwareCounters;
use lbprof_analysis::model::{Model, RankModel};
use lbprof_report::code::functions::{FunctionName, FunctionTable, RegionFunctions};
use lbprof_report::findings::AnswerText;
use lbprof_report::threads::ThreadTable;
use lbprof_report::waiting::blocking::{BlockingTable, CauseRow};
use lbprof_report::{RegionRow, Report};

impl RunMetrics {
    /// The figures of the run of `model`, whose report is `report`.
    pub fn new(report: &Report, model: &Model) -> RunMetrics {
        let mut hosts: Vec<String> = model.ranks.iter().map(|rank| rank.host.clone()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        let facts = &report.facts;
        let cores = report.threads.as_ref().map(core_figures);
        let mut params = facts.params.clone();
        if let Some(cores) = cores {
            params.entry("threads".to_owned()).or_insert_with(|| f64::from(cores.threads_per_rank));
        }
        let blocked_s = report.blocking.as_ref().map(blocked_by_region);
        RunMetrics {
            id: facts.run_id,
            command: facts.command.clone(),
            counted_for: None,
            started_unix_s: facts.started_unix_s,
            hosts,
            mpi: facts.mpi.clone(),
            n_ranks: facts.n_ranks,
            complete: report.data.complete,
            problems: report.problems.iter().map(|problem| problem.kind.name().to_owned()).collect(),
            label: String::new(),
            params,
            times: report.efficiency.times,
            ideal_by_replay: report.efficiency.t_ideal_replay_s.is_some(),
            phases: report.overheads.overheads.phases.clone(),
            iterations: report.iterations.as_ref().map(|iterations| iterations.rows.len() as u64),
            ranks: model.ranks.iter().map(|rank| rank_figures(report, rank)).collect(),
            regions: report.regions.iter().map(|row| region_figures(row, model, blocked_s.as_ref())).collect(),
            causes: report.blocking.as_ref().map(|table| table.causes.iter().map(cause_figures).collect()),
            counted: counted_figures(model),
            cores,
            functions: report.functions.as_ref().filter(|table| table.samples > 0).map(function_figures),
            answer: AnswerText::new(report).sentence,
            findings: report.findings.clone(),
        }
    }
}

fn rank_figures(report: &Report, rank: &RankModel) -> RankFigures {
    let waits_s = report.blocking.as_ref().map(|table| &table.sums.waits_s);
    RankFigures {
        rank: rank.rank,
        host: rank.host.clone(),
        computation_s: rank.inclusive(0)[Activity::Computation as usize],
        blocked_s: waits_s.map(|waits_s| waits_s.get(&rank.rank).copied().unwrap_or(0.0)),
        max_resident_bytes: rank.usage.map_or(0, |usage| usage.max_resident),
    }
}

/// Seconds of waiting in MPI calls by the region's path; waits before the first call and after the last are in none.
fn blocked_by_region(table: &BlockingTable) -> HashMap<&str, f64> {
    let mut by_region = HashMap::new();
    for place in table.places.iter().filter(|place| !place.operation.is_empty()) {
        *by_region.entry(place.region.as_str()).or_default() += place.times.blocked_s();
    }
    by_region
}

fn region_figures(row: &RegionRow, model: &Model, blocked_s: Option<&HashMap<&str, f64>>) -> RegionFigures {
    let activities = row.activities.iter().map(|one| {
        let seconds = model.ranks.iter().map(|rank| rank.exclusive(row.idx)[one.activity as usize]);
        (one.activity, seconds.collect())
    });
    RegionFigures {
        path: row.path.clone(),
        code: row.code.clone(),
        kind: row.kind,
        found: row.found,
        times: row.efficiency.times,
        activities: activities.collect(),
        blocked_s: blocked_s.map(|by_region| by_region.get(row.path.as_str()).copied().unwrap_or(0.0)),
        iterations: row.iterations.map(|iterations| iterations as u64),
        invocations: row.totals.invocations,
        operations: row.totals.operations,
        quanta: row.totals.quanta,
        max_resident_bytes: row.totals.max_resident,
        max_swapped_bytes: row.totals.max_swapped,
    }
}

fn core_figures(table: &ThreadTable) -> CoreFigures {
    let ThreadTable { parallel, mpi, load_balance, communication, .. } = *table;
    let ThreadTable { threads, serial, thread_balance, waits, fork_join, .. } = *table;
    let shares = [parallel, mpi, load_balance, communication, threads, serial, thread_balance, waits, fork_join];
    CoreFigures { cores: table.cores, threads_per_rank: table.max_cores, shares }
}

/// Sums up the processor counters of computation over the ranks that have them.
fn counted_figures(model: &Model) -> Option<CountedFigures> {
    let mut sum = HardwareCounters::default();
    let computing = model.ranks.iter().flat_map(|rank| computing_times(rank, None));
    for (_, time) in computing {
        sum.add(&time.counted);
    }
    let HardwareCounters { instructions, cycles, seconds } = sum;
    let figures = CountedFigures { instructions: instructions as f64, cycles: cycles as f64, seconds };
    (instructions > 0 && cycles > 0 && seconds > 0.0).then_some(figures)
}

fn function_figures(table: &FunctionTable) -> FunctionFigures {
    let regions = table.regions.iter().map(|part| (part.region.clone(), function_sums(part)));
    FunctionFigures { program: function_sums(&table.program), regions: regions.collect() }
}

fn function_sums(part: &RegionFunctions) -> FunctionSums {
    let mut times: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for row in &part.functions {
        // Lines move from one version to the next.
        let time = times.entry(FunctionName { line: None, ..row.name.clone() }.label()).or_default();
        *time = (time.0 + row.mean_s, time.1.hypot(row.error_s));
    }
    FunctionSums { times, others_s: part.others.mean_s }
}

fn cause_figures(row: &CauseRow) -> CauseFigures {
    CauseFigures {
        rank: row.cause.rank,
        region: row.region.clone(),
        activity: row.cause.activity,
        class: row.cause.class,
        caused_s: row.cause.caused_s,
    }
}
