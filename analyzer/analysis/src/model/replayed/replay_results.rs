//! The results of the replay.

use super::waits::BlockingTimes;
use super::what_if::WhatIfScenario;
use crate::model::code::region::Region;
use crate::model::code::region_state::{Ns, RegionState};
use crate::partial_result::PartialResult;
use bincode::{Decode, Encode};
use serde::{Serialize, Serializer};

/// A thread that was followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct ReplayedThread {
    /// The index of its rank in [`ReplayResults::ranks`].
    pub rank_idx: u32,
    /// Its number in the rank's log; 0 is the one that called MPI_Init.
    pub number: u32,
}

/// Unmatched operations and corrections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Encode, Decode)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayCounts {
    /// Steps that were followed.
    #[serde(skip)]
    pub steps: u64,
    /// Messages of which both sides are known.
    pub messages: u64,
    /// Messages whose receiver got another number of bytes than was sent.
    pub sizes_differ: u64,
    /// Sends of which no receive is known.
    pub unmatched_sends: u64,
    /// Receives of which no send is known.
    pub unmatched_receives: u64,
    /// Collectives that all members entered.
    pub collectives: u64,
    /// Collectives that some members are not known to have entered.
    pub unmatched_collectives: u64,
    /// Collectives of which members called different operations.
    pub mixed_collectives: u64,
    /// Neighbourhood collectives of single ranks of which all sources are known to have entered.
    pub neighbourhoods: u64,
    /// Neighbours that are not known to have entered a collective in which a rank receives from them.
    pub unmatched_neighbours: u64,
    /// Waits of messages for the other rank to be in MPI again: how MPI moves them is inferred from when the calls of this run ended.
    #[serde(skip)]
    pub progress_waits: u64,
    /// Steps of epochs on windows (post and start, complete and wait, locks) of which all other sides are known.
    pub epochs: u64,
    /// Number of partner ranks in synchronisation epochs that are not known to have taken part.
    pub unmatched_epochs: u64,
    /// Calls that ended, by the clocks, before what they waited for; they were moved.
    pub violations: u64,
    /// By how much at most.
    #[serde(rename = "largest_violation_s", serialize_with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub largest_violation: Ns,
    /// Calls of ranks with missing records, after the gap: not matched.
    #[serde(rename = "after_gaps")]
    pub behind_gaps: u64,
    /// Calls of other ranks with such ranks, or with ranks whose calls were recorded as sums: nothing is known of waiting in them.
    pub not_recorded: u64,
    /// True if a considerable part of the work is handed out on demand, so that who does it depends on who is ready first.
    #[serde(skip)]
    pub hands_out_work: bool,
}

fn seconds<S: Serializer>(ns: &Ns, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(*ns as f64 * 1e-9)
}

impl ReplayResults {
    /// The world rank of a thread.
    pub fn world_rank(&self, thread: u32) -> u32 {
        let place = self.threads.get(thread as usize).map_or(0, |thread| thread.rank_idx);
        self.ranks.get(place as usize).copied().unwrap_or(place)
    }

    /// T_ideal by replay (docs/metrics.md §1), in seconds; `None` where it was not asked for, or not all that ranks wait for is known.
    pub fn t_ideal_s(&self) -> Option<f64> {
        let ideal = self.scenario_times.iter().find(|(scenario, _)| *scenario == WhatIfScenario::Ideal);
        ideal.filter(|_| self.counts.all_is_known()).map(|&(_, time_s)| time_s)
    }
}

impl PartialResult for ReplayCounts {
    fn merge(self, after: ReplayCounts) -> ReplayCounts {
        ReplayCounts {
            steps: self.steps + after.steps,
            messages: self.messages + after.messages,
            sizes_differ: self.sizes_differ + after.sizes_differ,
            unmatched_sends: self.unmatched_sends + after.unmatched_sends,
            unmatched_receives: self.unmatched_receives + after.unmatched_receives,
            collectives: self.collectives + after.collectives,
            unmatched_collectives: self.unmatched_collectives + after.unmatched_collectives,
            mixed_collectives: self.mixed_collectives + after.mixed_collectives,
            neighbourhoods: self.neighbourhoods + after.neighbourhoods,
            unmatched_neighbours: self.unmatched_neighbours + after.unmatched_neighbours,
            progress_waits: self.progress_waits + after.progress_waits,
            epochs: self.epochs + after.epochs,
            unmatched_epochs: self.unmatched_epochs + after.unmatched_epochs,
            violations: self.violations + after.violations,
            largest_violation: self.largest_violation.max(after.largest_violation),
            behind_gaps: self.behind_gaps + after.behind_gaps,
            not_recorded: self.not_recorded + after.not_recorded,
            hands_out_work: self.hands_out_work || after.hands_out_work,
        }
    }
}

impl ReplayCounts {
    /// Returns whether a considerable part of the messages waited for the other rank to be in MPI again.
    pub fn is_progress_dependent(&self) -> bool {
        self.progress_waits > 0 && 50 * self.progress_waits >= self.messages
    }

    /// Returns whether all that ranks wait for is known: else a replay would not wait for it, or wait as long as it was whatever changes.
    pub fn all_is_known(&self) -> bool {
        let unknown = self.unmatched_receives
            + self.unmatched_collectives
            + self.mixed_collectives
            + self.unmatched_neighbours
            + self.unmatched_epochs
            + self.behind_gaps
            + self.not_recorded;
        unknown == 0
    }
}

/// The results of a run's replay: waits, their causes and predictions.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct ReplayResults {
    /// World ranks of those that were followed, ascending.
    pub ranks: Vec<u32>,
    /// Regions of the run, of which kinds of time are.
    pub regions: Vec<Region>,
    /// The threads, by number.
    pub threads: Vec<ReplayedThread>,
    /// Waits in the part of the run that was selected, and their causes wherever they lie.
    pub blocking: BlockingTimes,
    /// Predictions: each what-if scenario with the time of the part in seconds; none for a region.
    pub scenario_times: Vec<(WhatIfScenario, f64)>,
    /// The critical path of the part, by thread and kind; of a region none.
    pub critical_path: Vec<CriticalPathEntry>,
    /// The code by which ranks' first threads make others wait, where they were sampled.
    pub delaying_code: Vec<DelayingCode>,
    /// Nanoseconds from the first begin of a selected rank's window to the last end, as corrected.
    pub elapsed: Ns,
    /// Unmatched operations and corrections.
    pub counts: ReplayCounts,
    /// Tasks that are handed out on demand.
    pub on_demand: TasksOnDemand,
    /// Intervals of the threads' time, and causes of waits in it, that were kept at most: memory does not grow with the run.
    pub kept: usize,
    /// In how many segments the run was followed, from one collective of all ranks to another.
    pub segments: usize,
}

/// Tasks that ranks get on demand: whoever is ready first gets the next one.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct TasksOnDemand {
    /// Number of tasks.
    pub tasks: u64,
    /// Seconds of computation in them.
    pub total_s: f64,
    /// The world ranks whose windows hold the counters that tasks were taken from, ascending; none where messages hand them out.
    pub hosts: Vec<u32>,
    /// The ranks that answer requests, ascending.
    pub servers: Vec<RequestServer>,
    /// The last tasks of ranks, by rank.
    pub last: Vec<LastTasks>,
}

/// A rank that receives the first message of several, and answers some of them before it receives the next one.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub struct RequestServer {
    /// The world rank.
    pub rank: u32,
    /// Number of messages.
    pub requests: u64,
    /// Number of answers.
    pub answers: u64,
    /// Seconds of its computation between the first answer and the last.
    pub computed_s: f64,
    /// The part of it between a request and its answer.
    pub handled_s: f64,
    /// Seconds for which requests lay there while it neither computed nor received them, as one that sleeps between polls.
    pub unseen_s: f64,
    /// Seconds by which tasks would be over earlier if it computed twice as fast, and if it neither computed nor slept.
    pub saved_s: [f64; 2],
}

/// The last tasks of a rank: after each there is none left until a collective operation of the rank, or the end.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub struct LastTasks {
    /// The world rank.
    pub rank: u32,
    /// Number of last tasks.
    pub tasks: u64,
    /// Seconds of computation in them.
    pub total_s: f64,
}

/// A part of the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub struct CriticalPathEntry {
    /// The thread.
    pub thread: u32,
    /// The kind of its time.
    pub kind: RegionState,
    /// Nanoseconds.
    pub ns: f64,
}

/// Waiting that a thread causes by computing in a line of the source, by samples.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub struct DelayingCode {
    /// The thread.
    pub thread: u32,
    /// The kind of its time.
    pub kind: RegionState,
    /// The line, as a leaf of the run's sampled code.
    pub leaf: u32,
    /// Samples in it that lie in the time that others waited for.
    pub samples: u64,
    /// Nanoseconds of waiting.
    pub ns: f64,
    /// Standard error of that.
    pub error_ns: f64,
}
