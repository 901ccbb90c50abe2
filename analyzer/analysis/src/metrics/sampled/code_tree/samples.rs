//! Places the time of ranks' first threads in the tree: what the system knows of their computation, and samples of it.

use std::collections::BTreeMap;

use lbprof_collector::{Activity, CoreState};

use super::builder::CodeTreeBuilder;
use super::frames::{count_shared, list_frames};
use super::{CodeNodeKind, NodeSums};
use crate::metrics::sampled::core_time::RankCoreTimes;
use crate::metrics::sampled::functions::{CpuTime, CpuTimeComparison, computing_times};
use crate::model::ranks::samples::{SampledAt, SampledThreads};
use crate::model::{RankModel, RegionIdx};

pub(super) type ComputedTimes = BTreeMap<usize, f64>;

impl CodeTreeBuilder<'_> {
    /// Adds the time of a rank's first thread.
    pub fn add_rank(&mut self, rank: &RankModel) {
        self.place_rank(rank, false);
    }

    /// Adds the time of a rank's first thread, and returns its computation. `is_compared` is true for the rank that is compared with the mean.
    pub(super) fn place_rank(&mut self, rank: &RankModel, is_compared: bool) -> ComputedTimes {
        let by_state = RankCoreTimes::new(rank);
        let sampled = rank.samples.times(SampledThreads::First).iter();
        let sampled = sampled.filter(|(sample, _)| sample.activity == Activity::Computation);
        let mut computation: BTreeMap<RegionIdx, f64> = sampled.map(|(sample, _)| (sample.region, 0.0)).collect();
        for &((region, activity), cell) in &rank.cells {
            if activity == Activity::Computation {
                *computation.entry(region).or_default() += cell.seconds;
            } else if activity == Activity::Recorder {
                let around = self.of_region(region);
                let at = self.child(around, CodeNodeKind::Activity(activity));
                self.nodes[at].alone += NodeSums { time_s: cell.seconds, lost_s: cell.seconds, ..NodeSums::default() };
            }
        }
        let mut computed = ComputedTimes::new();
        for (region, seconds) in computation {
            let states = by_state.as_ref().map(|times| times.in_region(Some(region)).seconds);
            self.add_computation(rank, is_compared, region, seconds, states, &mut computed);
        }
        // The recorder's own time is above.
        for &(key, cell) in rank.sites.iter().filter(|(key, _)| key.activity != Activity::Recorder) {
            let leaf = key.site.and_then(|site| self.calls.node_of(site));
            let at = self.of_call(key.region, leaf, key.operation);
            let bytes = cell.sent.saturating_add(cell.received);
            let [time_s, mpi_s, lost_s] = [cell.seconds; 3];
            self.nodes[at].alone += NodeSums { time_s, mpi_s, lost_s, calls: cell.calls, bytes, ..NodeSums::default() };
        }
        computed
    }

    /// Adds computation: in functions by samples, and in states other than in the program's code; what is left is of the region.
    fn add_computation(
        &mut self,
        rank: &RankModel,
        is_compared: bool,
        region: RegionIdx,
        seconds: f64,
        states: Option<[f64; CoreState::COUNT]>,
        computed: &mut ComputedTimes,
    ) {
        let around = self.of_region(region);
        let useful_s = states.map_or(seconds, |states| states[CoreState::Useful as usize]);
        let sampled_s: f64 = computing_times(rank, Some(region)).map(|(_, sampled)| sampled.seconds).sum();
        // Samples count CPU time, with an error: where they have more than the calls leave for computation, all are reduced.
        let reduction = if sampled_s > 0.0 { (useful_s / sampled_s).clamp(0.0, 1.0) } else { 0.0 };
        let state = states.map(|_| CoreState::Useful);
        for (node, sampled) in computing_times(rank, Some(region)) {
            let at = self.of_sample(SampledAt { region, activity: Activity::Computation, node });
            let own = if is_compared { *sampled } else { CpuTime::default() };
            let sums = NodeSums::computing(reduction * sampled.seconds, state);
            self.nodes[at].alone += NodeSums { cpu: CpuTimeComparison { all: *sampled, own }, ..sums };
            *computed.entry(at).or_default() += sums.time_s;
            let mut next = Some(at);
            while let Some(at) = next.filter(|&at| at != around) {
                self.nodes[at].estimated_s += sums.time_s;
                next = self.nodes[at].parent;
            }
        }
        let mut left_s = seconds - reduction * sampled_s;
        for state in CoreState::ALL.into_iter().filter(|state| state.phrase().is_some()) {
            let in_state_s = states.map_or(0.0, |states| states[state as usize]);
            if in_state_s > 0.0 {
                let at = self.child(around, CodeNodeKind::State(state));
                self.nodes[at].alone += NodeSums::computing(in_state_s, Some(state));
                *computed.entry(at).or_default() += in_state_s;
                left_s -= in_state_s;
            }
        }
        let left_s = left_s.max(0.0);
        let unknown_s = states.map_or(left_s, |states| states[CoreState::NotKnown as usize].min(left_s));
        self.nodes[around].alone += NodeSums::computing(unknown_s, states.map(|_| CoreState::NotKnown));
        self.nodes[around].alone += NodeSums::computing(left_s - unknown_s, state);
        *computed.entry(around).or_default() += left_s;
    }

    /// Returns the node of a sample. In a call of MPI that is the call, or the function that MPI called.
    pub fn of_sample(&mut self, sample: SampledAt) -> usize {
        if let Some(&known) = self.samples.get(&sample) {
            return known;
        }
        let mut at = self.of_region(sample.region);
        let frames = list_frames(self.code, sample.node);
        let n_shared = count_shared(&self.functions_down_to(at), &frames);
        let mut is_in_call = sample.activity != Activity::Computation;
        for frame in &frames[n_shared..] {
            if is_in_call && frame.is_called_back {
                at = self.child(at, CodeNodeKind::Activity(sample.activity));
                is_in_call = false;
            }
            at = match self.named.get(&(at, frame.name)) {
                Some(&known) => known,
                None => self.child(at, CodeNodeKind::Sampled(frame.function)),
            };
        }
        if is_in_call {
            at = self.child(at, CodeNodeKind::Activity(sample.activity));
        }
        self.samples.insert(sample, at);
        at
    }
}
