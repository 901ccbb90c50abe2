//! The clocks of all threads in a few scenarios, kept in arrays so that the processor computes them together.

use super::conditions::{ScenarioConditions, ScenarioNetwork, ScenarioWork};
use super::pace::{ComputationPace, PartFactors};
use super::threads::ThreadChange;
use crate::model::region_state::{Ns, RegionState};

/// Number of replays that run side by side.
pub const WIDTH: usize = 4;

/// Number of returns to MPI that are kept for each thread.
pub const RETURNS: usize = 8;

pub type Lanes = [f64; WIDTH];

#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadClocks {
    pub now: Lanes,
    pub entered: Lanes,
    returns: [Lanes; RETURNS],
    /// Factors of the thread's computation, in regions that the replay changes.
    factors: Lanes,
}

/// A replay in which the duration of computation depends on the time.
#[derive(Debug)]
struct PacedLane {
    lane: usize,
    /// True if it depends on the region, too: what that follows from is not looked at else.
    has_parts: bool,
}

impl PacedLane {
    fn new(lane: usize, work: &ScenarioWork) -> Option<PacedLane> {
        let ScenarioWork::Times(times) = work else { return None };
        Some(PacedLane { lane, has_parts: times.iter().any(ComputationPace::has_parts) })
    }
}

/// A group of replays that run side by side.
#[derive(Debug)]
pub struct ScenarioGroup<'a> {
    work: Vec<ScenarioWork<'a>>,
    /// 1 where calls take what they took besides waiting, else 0.
    measured: Lanes,
    /// 1 where the recorder's time is left out, else 0.
    without_recorder: Lanes,
    /// Nanoseconds of the network.
    latency: Lanes,
    per_byte: Lanes,
    /// By index of the region: all bits set if the replay changes the computation in it, else none, so that there is no branch. The last stands
    /// for all further regions.
    changed: Vec<[u64; WIDTH]>,
    /// True if a replay has another factor in each region.
    is_regional: bool,
    /// By thread: the index of its rank, while the factors of its computation may differ from 1.
    changed_ranks: Vec<Option<u32>>,
    clocks: Vec<ThreadClocks>,
    /// Replays in which the duration of computation depends on the time.
    paced: Vec<PacedLane>,
    /// By thread and these replays: the number of iterations that had begun at the last change.
    begun: Vec<u32>,
    /// By thread and replay: the factors of its computation by region in its iteration, if they differ; empty if they do in no replay.
    parts: Vec<[Option<PartFactors>; WIDTH]>,
    noted: Vec<Lanes>,
}

/// The later of two times, neither of which is NaN.
#[inline]
fn later_time(clock: f64, other: f64) -> f64 {
    if other > clock { other } else { clock }
}

impl<'a> ScenarioGroup<'a> {
    /// Creates a group of at most [`WIDTH`] replays, with room for exactly `room` threads.
    pub fn new(conditions: Vec<ScenarioConditions<'a>>, room: usize) -> ScenarioGroup<'a> {
        let n_regions = conditions.iter().map(|condition| match &condition.work {
            ScenarioWork::Region { regions, .. } => regions.len(),
            _ => 0,
        });
        let changed = (0..=n_regions.max().unwrap_or(0)).map(|region| {
            fill_lanes(&conditions, |condition| match &condition.work {
                ScenarioWork::Region { regions, .. } if regions.get(region) != Some(&true) => 0,
                _ => u64::MAX,
            })
        });
        let paced: Vec<PacedLane> =
            (0..).zip(&conditions).filter_map(|(lane, condition)| PacedLane::new(lane, &condition.work)).collect();
        ScenarioGroup {
            measured: fill_lanes(&conditions, |condition| {
                f64::from(u8::from(condition.network == ScenarioNetwork::Measured))
            }),
            without_recorder: fill_lanes(&conditions, |condition| {
                f64::from(u8::from(condition.without_recorder.is_some()))
            }),
            latency: fill_lanes(&conditions, |condition| match condition.network {
                ScenarioNetwork::Measured => 0.0,
                ScenarioNetwork::Given { latency_s, .. } => latency_s * 1e9,
            }),
            per_byte: fill_lanes(&conditions, |condition| match condition.network {
                ScenarioNetwork::Measured => 0.0,
                // No bytes take no time on the slowest network, either.
                ScenarioNetwork::Given { bytes_per_s, .. } => (1e9 / bytes_per_s).min(f64::MAX),
            }),
            changed: changed.collect(),
            is_regional: paced.iter().any(|lane| lane.has_parts)
                || conditions
                    .iter()
                    .any(|condition| matches!(condition.work, ScenarioWork::Regions(_) | ScenarioWork::Rank(..))),
            work: conditions.into_iter().map(|condition| condition.work).collect(),
            changed_ranks: Vec::with_capacity(room),
            clocks: Vec::with_capacity(room),
            begun: Vec::with_capacity(room * paced.len()),
            parts: Vec::new(),
            paced,
            noted: Vec::new(),
        }
    }

    /// Adds the next thread, which begins at a time in the replays on the measured network, in the others at 0.
    pub fn add_thread(&mut self, rank: u32, time: f64) {
        let factors = fill_lanes(&self.work, |work| match work {
            ScenarioWork::Region { factors, .. } => {
                factors.get(rank as usize).map_or(1.0, |factor| factor.min(f64::MAX))
            }
            _ => 1.0,
        });
        let now = self.measured.map(|measured| time * measured);
        self.clocks.push(ThreadClocks { now, factors, ..ThreadClocks::default() });
        self.changed_ranks.push(Some(rank));
        self.begun.resize(self.begun.len() + self.paced.len(), 0);
        if self.paced.iter().any(|lane| lane.has_parts) {
            self.parts.push(Default::default());
        }
    }

    pub fn replays(&self) -> usize {
        self.work.len()
    }

    pub fn thread_clocks(&self, thread: u32) -> &ThreadClocks {
        &self.clocks[thread as usize]
    }

    /// Changes the factors of a thread's computation from a time on. Returns the time until which they hold.
    pub fn change(&mut self, thread: u32, rank: u32, time: Ns) -> Ns {
        let ThreadClocks { factors, .. } = &mut self.clocks[thread as usize];
        let mut until = Ns::MAX;
        let begun = &mut self.begun[thread as usize * self.paced.len()..];
        for (&PacedLane { lane, has_parts }, begun) in self.paced.iter().zip(begun) {
            let ScenarioWork::Times(times) = &self.work[lane] else { continue };
            let pace = times.get(rank as usize);
            let (factor, ends_at, now_begun) = pace.map_or((1.0, Ns::MAX, 0), |pace| pace.factor_at(time, *begun));
            *begun = now_begun;
            if has_parts {
                self.parts[thread as usize][lane] = pace.and_then(|pace| pace.part_factors(time, now_begun));
            }
            factors[lane] = factor.min(f64::MAX);
            until = until.min(ends_at);
        }
        until
    }

    /// Sets the duration of a thread's computation to the measured one from now on.
    pub fn reset_pace(&mut self, thread: u32) {
        self.clocks[thread as usize].factors = [1.0; WIDTH];
        self.changed_ranks[thread as usize] = None;
    }

    /// Returns a thread's clocks before it spent this time in a call without waiting.
    pub fn before(&self, thread: u32, ns: f64) -> Lanes {
        let now = self.clocks[thread as usize].now;
        std::array::from_fn(|i| now[i] - ns * self.measured[i])
    }

    pub fn set(&mut self, thread: u32, time: f64) {
        self.clocks[thread as usize].now = [time; WIDTH];
    }

    /// Adds `ns` nanoseconds of computation, of which `recorder_ns` were the recorder's, at the end of which the thread enters a call.
    #[inline]
    pub fn compute(&mut self, thread: u32, kind: RegionState, ns: f64, recorder_ns: f64) {
        let changed = self.changed[(kind.region() as usize).min(self.changed.len() - 1)];
        if self.is_regional {
            self.enter_region(thread, kind.region());
        }
        let clocks = &mut self.clocks[thread as usize];
        let (now, factors) = (clocks.now, clocks.factors);
        clocks.now = std::array::from_fn(|i| {
            let factor = factors[i].to_bits() & changed[i] | 1_f64.to_bits() & !changed[i];
            now[i] + (ns - recorder_ns * self.without_recorder[i]) * f64::from_bits(factor)
        });
        clocks.entered = clocks.now;
    }

    /// Shortens the thread's last computation by `saved`, in replays that change the threads of its rank.
    pub fn shorten(&mut self, thread: u32, saved: impl Fn(&ThreadChange) -> f64) {
        let clocks = &mut self.clocks[thread as usize];
        for (work, now) in self.work.iter().zip(&mut clocks.now) {
            if let ScenarioWork::Threads(change) = work {
                *now -= saved(change);
            }
        }
        clocks.entered = clocks.now;
    }

    /// Sets the factors of a thread's computation in a region, in replays in which they depend on the region.
    fn enter_region(&mut self, thread: u32, region: u32) {
        let Some(rank) = self.changed_ranks[thread as usize] else { return };
        let parts = self.parts.get(thread as usize);
        for (lane, (factor, work)) in self.clocks[thread as usize].factors.iter_mut().zip(&self.work).enumerate() {
            let own = match work {
                ScenarioWork::Regions(by_region) => {
                    by_region.get(region as usize).and_then(|factors| factors.get(rank as usize)).copied()
                }
                ScenarioWork::Rank(one, by_region) if *one == rank => by_region.get(region as usize).copied(),
                ScenarioWork::Times(times) => {
                    match (parts.and_then(|parts| parts[lane].as_ref()), times.get(rank as usize)) {
                        (Some(parts), Some(pace)) => Some(parts.of_region(pace.own_region(region))),
                        _ => continue,
                    }
                }
                _ => continue,
            };
            *factor = own.unwrap_or(1.0).min(f64::MAX);
        }
    }

    #[inline]
    pub fn communicate(&mut self, thread: u32, ns: f64) {
        let now = &mut self.clocks[thread as usize].now;
        *now = std::array::from_fn(|i| now[i] + ns * self.measured[i]);
    }

    pub fn record(&mut self, thread: u32, ns: f64) {
        let now = &mut self.clocks[thread as usize].now;
        *now = std::array::from_fn(|i| now[i] + ns * self.measured[i] * (1.0 - self.without_recorder[i]));
    }

    #[inline]
    pub fn enter(&mut self, thread: u32) {
        let clocks = &mut self.clocks[thread as usize];
        clocks.entered = clocks.now;
    }

    #[inline]
    pub fn note(&mut self, note: u32, thread: u32) {
        let now = self.clocks[thread as usize].now;
        match self.noted.get_mut(note as usize) {
            Some(noted) => *noted = now,
            None => self.noted.push(now),
        }
    }

    pub fn note_later(&mut self, note: u32, thread: u32) {
        let (noted, now) = (&mut self.noted[note as usize], &self.clocks[thread as usize].now);
        *noted = std::array::from_fn(|i| later_time(noted[i], now[i]));
    }

    #[inline]
    pub fn wait_for(&mut self, thread: u32, note: u32, bytes: f64, steps: f64) {
        self.wait(thread, self.noted[note as usize], bytes, steps);
    }

    #[inline]
    pub fn keep_return(&mut self, thread: u32, slot: u8) {
        let clocks = &mut self.clocks[thread as usize];
        clocks.returns[usize::from(slot) % RETURNS] = clocks.now;
    }

    pub fn wait_for_return(&mut self, thread: u32, other: u32, slot: u8, bytes: f64) {
        self.wait(thread, self.clocks[other as usize].returns[usize::from(slot) % RETURNS], bytes, 1.0);
    }

    /// Lets a thread wait for bytes over the network, sent when the clocks showed `from`.
    #[inline]
    fn wait(&mut self, thread: u32, from: Lanes, bytes: f64, steps: f64) {
        let now = &mut self.clocks[thread as usize].now;
        *now =
            std::array::from_fn(|i| later_time(now[i], from[i] + (self.latency[i] + bytes * self.per_byte[i]) * steps));
    }
}

/// Returns a value for each replay; 0 for lanes without one.
fn fill_lanes<T, N: Copy + Default>(replays: &[T], what: impl Fn(&T) -> N) -> [N; WIDTH] {
    let mut lanes = [N::default(); WIDTH];
    for (lane, replay) in lanes.iter_mut().zip(replays) {
        *lane = what(replay);
    }
    lanes
}
