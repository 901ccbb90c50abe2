//! The report as JSON, schema "lbprof-report/2": the rows with all digits, times in seconds, and the sentences of the text.
//!
//! docs/report.schema.json is generated from the rows. The page's types and the tables of docs/report-json.md are made from that.

mod summary;
mod write;

use serde::Serialize;
use serde_json::Value;

use super::balance::overheads::OverheadFigures;
use super::findings::{AnswerText, FindingRow, not_explained_s};
use super::rows::bounds::{ListBounds, with_short_lists};
use super::run::RunRow;
use super::run::listed_ranks::listed_ranks;
use super::run::selection::SelectionRow;
use super::time::iterations::IterationTable;
use super::waiting::what_if::{CriticalPathRow, PredictionRow};
use super::{
    ActivityRow, BlockingTable, CallTreeRow, ClusterRow, ClusterTable, CommunicationTable, CoreStateTable, CounterRow,
    DispersionRows, EfficiencyRow, FunctionTable, LifetimeTable, LoopRow, RankRow, RegionRow, Report, SiteRow,
    ThreadPoolRow, ThreadTable, Verdict, WindowRow,
};
pub use summary::{MAX_BYTES, RunSummary};
pub use write::write_report_json;
pub use write::{write_compact, write_pretty};

/// Name and version of the generator.
pub const GENERATOR: &str = concat!("lb-report ", env!("CARGO_PKG_VERSION"));

/// Name and version of the schema.
pub const SCHEMA: &str = "lbprof-report/2";

/// A report of lb-report: everything in the text report, with all digits.
#[derive(Serialize, crate::JsonSchema)]
#[schemars(title = "Report")]
pub(crate) struct ReportDocument<'a> {
    /// `lbprof-report/2`.
    schema: &'static str,
    /// Program and version that wrote the document.
    generator: &'static str,
    /// Facts of the run and its data.
    run: RunRow<'a>,
    /// Time from the first start of a process to the last exit, and the parts of it outside of the window; null if the logs do not say, or
    /// a part of the time or of the regions is selected.
    lifetime: Option<&'a LifetimeTable>,
    /// The part of the run that all figures are of; null: all of it.
    selection: Option<SelectionRow<'a>>,
    /// The answer of the first screen, as figures and words.
    verdict: VerdictInWords<'a>,
    /// The findings: the answer first, then the largest.
    findings: Vec<FindingRow>,
    /// The loss: elapsed time minus the mean rank's computation.
    lost_s: f64,
    /// Part of it that no finding explains.
    not_explained_s: f64,
    /// Efficiencies of the whole run.
    efficiency: &'a EfficiencyRow,
    /// Activities of the cores of ranks with several threads, measured in parallel regions of OpenMP; missing if there are none, and for a
    /// part of the time or a region.
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<&'a ThreadTable>,
    /// Pools of threads that ranks start themselves, as of `std::thread`, TBB and Kokkos: how much of their time they work, by samples; missing if there are none that
    /// work for 1 % of it. Those with most CPU time first.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    thread_pools: &'a [ThreadPoolRow],
    /// Costs of the phases compared with the same work on one rank, and waiting for other ranks' computation.
    overheads: OverheadFigures,
    /// An object per rank, by number; of more than 1,000 ranks, unless `--full` is given, those with the largest and smallest figures of
    /// each kind, those that deviate, and those that failed.
    ranks: Vec<&'a RankRow>,
    /// An object per activity that occurs, the longest first.
    activities: &'a [ActivityRow],
    /// Computation by what the system knows of it; null if the kernel noted no switches.
    core_states: Option<&'a CoreStateTable>,
    /// An object per region, outer regions before inner ones; the first is `main`, the whole program.
    regions: &'a [RegionRow],
    /// Loops found in the calls, outer ones before those in them; empty if iterations are marked.
    loops: Vec<LoopRow>,
    /// The iterations of the main loop.
    iterations: &'a IterationTable,
    /// For whom ranks wait, where, and caused by what; null if waiting was not analysed: `--no-blocking`, or the calls of all ranks were recorded
    /// as sums.
    blocking: Option<BlockingTable>,
    /// Predicted times under other conditions: `as measured`, `ideal network`, then the others, largest saving first; empty if `blocking` is null, not all that ranks wait for is known, or a region is selected.
    predictions: Vec<&'a PredictionRow>,
    /// Error of the replay with everything as it was: time of `as measured` / `run.elapsed_s` − 1; null if the run was not replayed.
    replay_error: Option<f64>,
    /// Why some predictions are missing, or what is odd about them.
    prediction_notes: Vec<&'static str>,
    /// The chain of work, messages and calls that set the run's time; null if `blocking` is null, or a region is selected.
    critical_path: Option<CriticalPathRow<'a>>,
    /// Differences between the ranks: everything that is not in the lists of ranks, activities and regions.
    dispersion: DispersionRows,
    /// An object per cluster of ranks that run the same code; a single one if all do.
    clusters: Vec<ClusterRow>,
    /// Method of clustering, and the ranks of no cluster.
    clustering: &'a ClusterTable,
    /// An object per call site, operation and activity, the longest first.
    callsites: &'a [SiteRow],
    /// An object per node of the program's tree: its functions as it calls them, loops and phases in them, down to the calls of MPI; each
    /// after the node around it. At most 2,000, those in which most time is spent, waited or caused.
    call_tree: &'a [CallTreeRow],
    /// Communication between ranks, and its sizes; null if calls were not looked at one by one: `--no-blocking`, a region is selected, or
    /// the calls of all ranks were recorded as sums.
    communication: Option<CommunicationTable>,
    /// The run by up to 50 windows of time, all equally long; empty likewise.
    windows: &'a [WindowRow],
    /// Functions that ranks compute in, by samples; null if they were not sampled.
    functions: Option<&'a FunctionTable>,
    /// An object per user's counter and region.
    counters: &'a [CounterRow],
}

/// The verdict and its words.
#[derive(Serialize, crate::JsonSchema)]
struct VerdictInWords<'a> {
    /// The figures.
    #[serde(flatten)]
    verdict: &'a Verdict,
    /// The answer of the first screen in words.
    answer: AnswerText,
    /// `answer` as one text.
    text: String,
    /// True if the report gives advice: not for a run that failed, did not end by `MPI_Finalize` or exit, had no cores to compute, or made
    /// too few calls.
    advised: bool,
}

/// Converts the report to JSON, with lists limited by `bounds`.
pub fn report_document(report: &Report, bounds: &ListBounds) -> Value {
    let none = IterationTable::default();
    let problems = with_short_lists(&report.problems, bounds.entries, |row| &mut row.ranks);
    let answer = AnswerText::new(report);
    let ranks: Vec<u32> = report.ranks.iter().map(|row| row.rank).collect();
    let document = ReportDocument {
        schema: SCHEMA,
        generator: GENERATOR,
        run: RunRow::new(&report.facts, &report.data, problems),
        lifetime: report.lifetime.as_ref(),
        selection: SelectionRow::new(&report.facts.selected, bounds),
        verdict: VerdictInWords {
            verdict: &report.verdict,
            text: answer.in_one_line(),
            answer,
            advised: !report.is_only_described(),
        },
        findings: report.findings.iter().map(|finding| FindingRow::new(report, finding)).collect(),
        lost_s: report.verdict.lost_s,
        not_explained_s: not_explained_s(report),
        efficiency: &report.efficiency,
        threads: report.threads.as_ref(),
        thread_pools: &report.thread_pools,
        overheads: OverheadFigures::new(&report.overheads, &ranks, bounds),
        ranks: listed_ranks(&report.ranks, bounds),
        activities: &report.activities,
        core_states: report.core_states.as_ref(),
        regions: &report.regions,
        loops: with_short_lists(&report.loops.rows, bounds.entries, |row| &mut row.ranks),
        iterations: report.iterations.as_ref().unwrap_or(&none),
        blocking: report.blocking.as_ref().map(|table| table.bounded(bounds)),
        predictions: report.what_if.shown_rows().collect(),
        replay_error: report.what_if.replay_error,
        prediction_notes: report.what_if.notes.iter().map(|note| note.text()).collect(),
        critical_path: report.what_if.critical_path(bounds),
        dispersion: report.dispersion.bounded(bounds),
        clusters: with_short_lists(&report.clusters.rows, bounds.entries, |row| &mut row.ranks),
        clustering: &report.clusters,
        callsites: &report.call_sites,
        call_tree: &report.call_tree,
        communication: report.communication.as_ref().map(|table| table.bounded(bounds)),
        windows: &report.windows,
        functions: report.functions.as_ref(),
        counters: &report.counters,
    };
    serde_json::to_value(document).unwrap_or_default()
}
