//! The model of a rank.

use bincode::{Decode, Encode};
use lbprof_collector::Activity;
use lbprof_collector::definition::EndReason;
use lbprof_collector::profile::CounterTotals;
use serde::Serialize;

use super::lifetime::ProcessLifetime;
use super::samples::RankSamples;
use super::series::{IterationSeries, Seconds};
use super::thread_pools::SampledPool;
use super::threads::{ParallelRegion, ThreadPlacement};
use crate::model::code::loops::FoundLoopOfRank;
use crate::model::code::region::RegionIdx;

/// A rank.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct RankModel {
    /// Its number in MPI_COMM_WORLD.
    pub rank: u32,
    /// Its host's name.
    pub host: String,
    /// Its process id.
    pub pid: u32,
    /// Begin of the window (MPI_Init returns), in nanoseconds of rank 0's CLOCK_MONOTONIC as far as that is known.
    pub begin_ns: i64,
    /// Begin of the window, on the run's clock, which is 0 when the first rank's does.
    pub begin_s: f64,
    /// End of the window (MPI_Finalize is entered, or the log ends).
    pub end_s: f64,
    /// The reason why the log ended, if it states one.
    pub end_reason: Option<EndReason>,
    /// The status with which its process ended, where that is known: not of a process that was killed, nor of one that ended with 0
    /// after MPI_Finalize.
    pub exit_status: Option<i32>,
    /// Time of the process outside of the window.
    pub lifetime: ProcessLifetime,
    /// The call in which it was when its log ended, where it ended in one.
    pub pending: Option<PendingCall>,
    /// Time, calls and bytes, exclusive, by (region, activity); sorted. The thread that called MPI_Init alone.
    pub cells: Vec<((RegionIdx, Activity), CallTotals)>,
    /// Seconds by region, inner regions included; sorted. Every region that the rank entered is here, the first always.
    pub inclusive: Vec<(RegionIdx, Seconds)>,
    /// Seconds of the computation in `inclusive` that belong to an iteration of the innermost iterated region that the
    /// region is, or lies in; sorted.
    pub in_iterations: Vec<(RegionIdx, f64)>,
    /// Invocations, work and memory by region; sorted.
    pub totals: Vec<(RegionIdx, RegionCounters)>,
    /// Iterated regions and the rank's iterations in them; sorted.
    pub iterations: Vec<(RegionIdx, IterationSeries)>,
    /// The main loop found in its calls, where there is one.
    pub found: Option<FoundLoopOfRank>,
    /// Time, calls and bytes as in `cells`, by call site and operation; sorted.
    pub sites: Vec<(SiteTotalsKey, CallTotals)>,
    /// Time, calls and bytes of all other threads together; sorted.
    pub other_sites: Vec<(SiteTotalsKey, CallTotals)>,
    /// Values of the user's counters by (region, counter); sorted.
    pub counters: Vec<((RegionIdx, u32), CounterTotals)>,
    /// Parallel regions of the rank's threads; of a part of the time where the log has records.
    pub parallel: Vec<ParallelRegion>,
    /// The cores on which these may run, as far as that is known.
    pub placement: Option<ThreadPlacement>,
    /// Its samples.
    pub samples: RankSamples,
    /// The threads that it has started, by their routine, of which there are samples.
    pub pools: Vec<SampledPool>,
    /// Seconds during which the program had stopped recording.
    pub paused_s: f64,
    /// Records, markers and parts included, of all threads.
    pub records: u64,
    /// Calls, of all threads.
    pub calls: u64,
    /// Records that the recorder had to drop.
    pub dropped: u64,
    /// Threads beside the first that called MPI.
    pub other_threads: u32,
    /// Seconds that they spent in MPI.
    pub other_threads_mpi_s: f64,
    /// Threads whose calls count as the first one's, because that sleeps meanwhile.
    pub leading_threads: u32,
    /// Polls of the first thread.
    pub polls: PollTimes,
    /// Waits of the first thread for nonblocking access to files.
    pub file_waits: FileWaits,
    /// Resources used between the first and the last sample, where there are two.
    pub usage: Option<ResourceUsage>,
    /// Thread level that MPI gave: 0 single … 3 multiple.
    pub thread_level: Option<u8>,
}

impl RankModel {
    /// Seconds by activity in `region`, inner regions included; zeros where the rank never entered it.
    pub fn inclusive(&self, region: RegionIdx) -> Seconds {
        find_region_entry(&self.inclusive, region).copied().unwrap_or_default()
    }

    /// Seconds by activity in `region` alone; zeros where the rank never entered it.
    pub fn exclusive(&self, region: RegionIdx) -> Seconds {
        let from = self.cells.partition_point(|&((idx, _), _)| idx < region);
        let mut seconds = Seconds::default();
        for ((_, activity), cell) in self.cells[from..].iter().take_while(|((idx, _), _)| *idx == region) {
            seconds[*activity as usize] += cell.seconds;
        }
        seconds
    }

    /// Seconds of the computation in `region`, inner regions included, that belong to an iteration.
    pub fn in_iterations_s(&self, region: RegionIdx) -> f64 {
        find_region_entry(&self.in_iterations, region).copied().unwrap_or_default()
    }

    /// Totals of `region`; zeros where there are none.
    pub fn totals(&self, region: RegionIdx) -> RegionCounters {
        find_region_entry(&self.totals, region).copied().unwrap_or_default()
    }

    /// The rank's iterations of `region`, where it has any.
    pub fn series(&self, region: RegionIdx) -> Option<&IterationSeries> {
        find_region_entry(&self.iterations, region)
    }

    /// Seconds on the run's clock at `ns` nanoseconds of the clock of `begin_ns`.
    pub fn run_seconds(&self, ns: i64) -> f64 {
        self.begin_s + ns.saturating_sub(self.begin_ns) as f64 / 1e9
    }

    /// Nanoseconds of the clock of `begin_ns` at a time on the run's clock.
    pub fn nanoseconds(&self, run_s: f64) -> i64 {
        self.begin_ns.saturating_add(((run_s - self.begin_s) * 1e9).round() as i64)
    }

    /// Returns the zero of the run's clock, on the clock of `begin_ns`.
    pub fn zero_ns(&self) -> i64 {
        self.nanoseconds(0.0)
    }

    /// Seconds of its window that no record covers: recording was stopped, or records are missing.
    pub fn not_recorded_s(&self) -> f64 {
        (self.end_s - self.begin_s - self.inclusive(0).iter().sum::<f64>()).max(0.0)
    }

    /// Seconds of its window in no activity while others are still, or already, in theirs: it entered late or left early.
    pub fn idle_s(&self, run_window_s: (f64, f64)) -> f64 {
        (self.begin_s - run_window_s.0).max(0.0) + (run_window_s.1 - self.end_s).max(0.0)
    }
}

fn find_region_entry<T>(list: &[(RegionIdx, T)], region: RegionIdx) -> Option<&T> {
    list.binary_search_by_key(&region, |&(idx, _)| idx).ok().map(|at| &list[at].1)
}

/// Time, calls and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Encode, Decode)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallTotals {
    /// Time in them.
    #[serde(rename = "time_s")]
    pub seconds: f64,
    /// Calls (of computation: intervals).
    pub calls: u64,
    /// Bytes sent, written or contributed.
    #[serde(rename = "sent_bytes")]
    pub sent: u64,
    /// Bytes received, read or given.
    #[serde(rename = "received_bytes")]
    pub received: u64,
}

impl std::ops::AddAssign for CallTotals {
    fn add_assign(&mut self, other: CallTotals) {
        self.seconds += other.seconds;
        self.calls = self.calls.saturating_add(other.calls);
        self.sent = self.sent.saturating_add(other.sent);
        self.received = self.received.saturating_add(other.received);
    }
}

/// Key of a call site's totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub struct SiteTotalsKey {
    /// Index in [`Model::sites`]; `None` where the recorder did not know it.
    pub site: Option<u32>,
    /// Number of the operation.
    pub operation: u16,
    /// Activity of its time.
    pub activity: Activity,
    /// Region from which it was called.
    pub region: RegionIdx,
}

/// Invocations, work and memory of a region on a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Encode, Decode)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegionCounters {
    /// Times it was entered.
    #[serde(skip)]
    pub invocations: u64,
    /// Operations that the user counted in it (LBPROF_WORK), all ranks together.
    pub operations: f64,
    /// Quanta, likewise.
    pub quanta: f64,
    /// Largest resident memory of a rank when it left the region; 0 where it was not sampled.
    #[serde(rename = "max_resident_bytes")]
    pub max_resident: u64,
    /// Largest swapped memory, likewise.
    #[serde(rename = "max_swapped_bytes")]
    pub max_swapped: u64,
}

/// A call that had not returned when the log ended.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub struct PendingCall {
    /// Number of the operation.
    pub operation: u16,
    /// Index in [`Model::sites`]; `None` where the recorder did not know it.
    pub site: Option<u32>,
    /// Begin of the call, in seconds from the begin of the rank's window.
    pub since_begin_s: f64,
    /// The rank in MPI_COMM_WORLD that it receives from or sends to, where it names one.
    pub peer: Option<u32>,
}

/// Polls that found nothing, and the time between them; see [`lbprof_collector::polling`]. A whole rank counts, whatever time was selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Encode, Decode)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PollTimes {
    /// Unsuccessful polls.
    pub polls: u64,
    /// Number of polls for which the recorder decided, in profile mode, what the time between them is.
    #[serde(skip)]
    pub decided: u64,
    /// Waits by polling.
    pub waits: u64,
    /// Time within the polls.
    pub within_s: f64,
    /// Time between them that counts as waiting.
    pub waiting_s: f64,
    /// The part of `waiting_s` that may be computation.
    pub maybe_computation_s: f64,
    /// Time between them that counts as computation.
    pub computation_s: f64,
    /// The part of `computation_s` that may be waiting.
    pub maybe_waiting_s: f64,
}

impl PollTimes {
    /// Adds the polls of another rank.
    pub fn add(&mut self, other: &PollTimes) {
        self.polls = self.polls.saturating_add(other.polls);
        self.decided = self.decided.saturating_add(other.decided);
        self.waits = self.waits.saturating_add(other.waits);
        self.within_s += other.within_s;
        self.waiting_s += other.waiting_s;
        self.maybe_computation_s += other.maybe_computation_s;
        self.computation_s += other.computation_s;
        self.maybe_waiting_s += other.maybe_waiting_s;
    }
}

/// Waits for nonblocking access to files. A call that completes several operations waits once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct FileWaits {
    /// Calls that completed operations.
    pub calls: u64,
    /// Bytes that these wrote.
    pub written: u64,
    /// Bytes that these read.
    pub read: u64,
    /// Time in the calls.
    pub waited_s: f64,
    /// Computation between the start of the operations and the calls, summed over these.
    pub computed_s: f64,
    /// Time in the calls that the computation before could have hidden: of each call at most that computation.
    pub hidable_s: f64,
}

impl FileWaits {
    /// Adds another rank's waits.
    pub fn add(&mut self, other: &FileWaits) {
        self.calls = self.calls.saturating_add(other.calls);
        self.written = self.written.saturating_add(other.written);
        self.read = self.read.saturating_add(other.read);
        self.waited_s += other.waited_s;
        self.computed_s += other.computed_s;
        self.hidable_s += other.hidable_s;
    }
}

/// Resources used between two samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Encode, Decode)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResourceUsage {
    /// Time between the samples.
    pub elapsed_s: f64,
    /// CPU time of the thread that called `MPI_Init`.
    pub thread_cpu_s: f64,
    /// Time for which that thread could have run but had no core.
    pub thread_delayed_s: f64,
    /// CPU time of the process in user mode.
    pub user_s: f64,
    /// CPU time of the process in the system.
    pub system_s: f64,
    /// Times that the thread was preempted.
    #[serde(rename = "thread_involuntary_switches")]
    pub thread_involuntary: u64,
    /// Times that the process gave up a core to wait.
    #[serde(rename = "voluntary_switches")]
    pub voluntary: u64,
    /// Largest resident memory since its start.
    #[serde(rename = "max_resident_bytes")]
    pub max_resident: u64,
    /// Bytes that the process read from storage, as the system counts them: not from memory that held them still.
    pub read_bytes: u64,
    /// Bytes that the process wrote for storage.
    pub written_bytes: u64,
    /// CPU time in the kernel of the thread that called `MPI_Init`.
    pub thread_system_s: Option<f64>,
    /// Page faults of that thread.
    pub thread_page_faults: Option<u64>,
}

impl ResourceUsage {
    /// Times a second that the thread was preempted.
    pub fn switches_per_s(&self) -> f64 {
        self.thread_involuntary as f64 / self.elapsed_s
    }
}
