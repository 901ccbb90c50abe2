//! The table of ranks.

use serde::Serialize;

use lbprof_collector::Activity;
use lbprof_collector::definition::EndReason;

use crate::rows::serial;
use crate::{BlockingTable, ClusterTable, DispersionRows};
use lbprof_analysis::metrics::sampled::core_time::{CoreTime, RankCoreTimes};
use lbprof_analysis::metrics::sampled::functions::{computing_times, is_sampled};
use lbprof_analysis::model::ranks::lifetime::ProcessLifetime;
use lbprof_analysis::model::{FileWaits, Model, ResourceUsage, Seconds};
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::structure::code::symbols::CodePlace;

/// A rank.
#[derive(Clone, Debug, Serialize, crate::JsonSchema)]
pub struct RankRow {
    /// Its rank in MPI_COMM_WORLD.
    pub rank: u32,
    /// Its host.
    pub host: String,
    /// Its process id.
    pub pid: u32,
    /// Start of its window, from the start of the run.
    pub begin_s: f64,
    /// End of its window.
    pub end_s: f64,
    /// End of its log, if the log states it.
    #[serde(flatten, serialize_with = "serial::written_as::<_, RankEnd, _>")]
    #[schemars(with = "RankEnd")]
    pub end_reason: Option<EndReason>,
    /// The status that the rank's process gave to exit(), or returned from main; null if that is not known, and where it is 0 after
    /// `MPI_Finalize`.
    pub exit_status: Option<i32>,
    /// The life of its process outside of its window.
    pub lifetime: ProcessLifetime,
    /// The call in which the rank was when its log ended without an end.
    pub in_call: Option<MpiCall>,
    /// Start of that call, from the start of the run; null if the log does not say.
    #[serde(skip)]
    pub since_s: Option<f64>,
    /// The rank that it waits for in that call, where the call names one.
    #[serde(skip)]
    pub waits_for: Option<u32>,
    /// Its computation.
    pub computation_s: f64,
    /// CPU time of its computation, by samples; null if it was not sampled.
    pub computation_cpu_s: Option<f64>,
    /// Time by activity, of the thread that called `MPI_Init`.
    #[serde(rename = "activities", serialize_with = "serial::by_activity")]
    #[schemars(with = "std::collections::BTreeMap<String, f64>")]
    pub seconds: Seconds,
    /// Computation by state of its first thread: on a core in user space (`useful`) or in the `kernel`, `asleep`, without a core (`no core`), or
    /// `not known`; null if the kernel noted no switches.
    #[serde(serialize_with = "serial::by_core_state")]
    #[schemars(with = "Option<std::collections::BTreeMap<String, f64>>")]
    pub core_states: Option<CoreTime>,
    /// Time in MPI: all activities but computation and the recorder.
    pub mpi_s: f64,
    /// Time outside of its window while others are in theirs.
    pub idle_s: f64,
    /// Time for which recording was stopped.
    pub paused_s: f64,
    /// `computation_s` over the mean of all ranks, less 1.
    pub over_mean: Option<f64>,
    /// Its records.
    pub events: u64,
    /// Time in which it could only wait; null if waiting was not analysed.
    pub blocked_s: Option<f64>,
    /// Waiting of all ranks that it causes.
    pub blocking_caused_s: Option<f64>,
    /// `id` of its cluster; null for a rank of none.
    pub cluster: Option<u32>,
    /// Regions in which it has the largest ID_P of all ranks.
    pub imbalanced_regions: u32,
    /// Its time in those.
    pub imbalanced_s: f64,
    /// True if it divides its time notably differently from the others: in the one of those regions with most of its time, its ID_P is at
    /// least 0.05, and its time at least 2 % of the elapsed time.
    pub deviates: bool,
    /// Threads beside the first that called MPI.
    pub other_threads: u32,
    /// Time that they spent in MPI; in no other figure of the rank.
    pub other_threads_mpi_s: f64,
    /// Waits for nonblocking access to files.
    #[serde(skip)]
    pub file_waits: FileWaits,
    /// Resources used between the first and last sample; null if there are not two, and for a part of the rank's time.
    pub usage: Option<ResourceUsage>,
}

/// A call of MPI: its operation, and where it is.
#[derive(Clone, Debug, Serialize, crate::JsonSchema)]
pub struct MpiCall {
    /// The MPI function, without `MPI_`.
    pub operation: String,
    /// Location of the call.
    #[serde(flatten)]
    pub place: CodePlace,
}

/// The end of a rank as its log states it.
#[derive(Clone, Copy, Debug, Serialize, crate::JsonSchema)]
struct RankEnd {
    /// End of the rank: `finalize`, with `MPI_Finalize`; `exit`, without; `abort`, by `MPI_Abort`; null if its log does not say (killed, or still
    /// running).
    end: Option<&'static str>,
    /// The code given to `MPI_Abort`.
    abort_code: Option<i32>,
}

impl From<&Option<EndReason>> for RankEnd {
    fn from(reason: &Option<EndReason>) -> RankEnd {
        let (end, abort_code) = match *reason {
            Some(EndReason::Finalize) => (Some("finalize"), None),
            Some(EndReason::Exit) => (Some("exit"), None),
            Some(EndReason::Abort(code)) => (Some("abort"), Some(code)),
            None => (None, None),
        };
        RankEnd { end, abort_code }
    }
}

impl RankRow {
    pub(crate) fn sum_of(&self, activities: &[Activity]) -> f64 {
        activities.iter().map(|&activity| self.seconds[activity as usize]).sum()
    }
}

pub(crate) fn rank_rows(
    model: &Model,
    places: &[CodePlace],
    blocking: Option<&BlockingTable>,
    clusters: &ClusterTable,
    dispersion: &DispersionRows,
) -> Vec<RankRow> {
    let window = model.window_s();
    let computation = model.inclusive_s(0, Activity::Computation);
    let mean = computation.iter().sum::<f64>() / computation.len().max(1) as f64;
    let sums = blocking.map(|table| &table.sums);
    let imbalanced = &dispersion.views.ranks;
    let mut rows = Vec::with_capacity(model.ranks.len());
    for (at, (rank, computation_s)) in model.ranks.iter().zip(computation).enumerate() {
        let seconds = rank.inclusive(0);
        let in_mpi = Activity::ALL.into_iter().filter(|of| of.is_mpi());
        rows.push(RankRow {
            rank: rank.rank,
            host: rank.host.clone(),
            pid: rank.pid,
            begin_s: rank.begin_s - window.0,
            end_s: rank.end_s - window.0,
            end_reason: rank.end_reason,
            exit_status: rank.exit_status,
            lifetime: rank.lifetime,
            in_call: rank.pending.filter(|_| rank.end_reason.is_none()).map(|call| {
                let place = call.site.and_then(|site| places.get(site as usize)).cloned().unwrap_or_default();
                MpiCall { operation: operation_name(call.operation), place }
            }),
            since_s: rank.pending.map(|call| rank.begin_s - window.0 + call.since_begin_s),
            waits_for: rank.pending.and_then(|call| call.peer),
            computation_s,
            computation_cpu_s: is_sampled(rank)
                .then(|| computing_times(rank, None).map(|(_, time)| time.seconds).sum()),
            seconds,
            core_states: RankCoreTimes::new(rank).map(|times| times.in_all()),
            mpi_s: in_mpi.map(|activity| seconds[activity as usize]).sum(),
            idle_s: rank.idle_s(window),
            paused_s: rank.paused_s,
            over_mean: (mean > 0.0).then(|| computation_s / mean - 1.0),
            events: rank.records,
            blocked_s: sums.map(|sums| sums.waits_s.get(&rank.rank).copied().unwrap_or(0.0)),
            blocking_caused_s: sums.map(|sums| sums.causes_s.get(&rank.rank).copied().unwrap_or(0.0)),
            cluster: clusters.of.get(at).copied().flatten(),
            imbalanced_regions: imbalanced.regions.get(at).copied().unwrap_or(0),
            imbalanced_s: imbalanced.seconds.get(at).copied().unwrap_or(0.0),
            deviates: dispersion.deviates(at),
            other_threads: rank.other_threads,
            other_threads_mpi_s: rank.other_threads_mpi_s,
            file_waits: rank.file_waits,
            usage: rank.usage,
        });
    }
    rows
}
