//! The clocks of all threads in a few scenarios, kept in arrays so that the processor computes them together.

use super::conditions::{ScenarioConditions, ScenarioNetwork, ScenarioWork};
use super::pace::{ComputationPace, PaceWindow, PacedInterval, PartFactors};
use super::threads::ThreadChange;
use crate::model::region_state::{Ns, RegionState};
use crate::replay::fetch::fetch;

/// Number of replays that run side by side.
pub const WIDTH: usize = 4;

/// Number of returns to MPI that are kept for each thread.
pub const RETURNS: usize = 8;

/// Something of some replays.
pub type Lanes = [f64; WIDTH];

/// The clocks of a thread in some replays.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadClocks {
    /// Current clocks.
    pub now: Lanes,
    /// Clocks when the thread entered its last call.
    pub entered: Lanes,
    /// Clocks at the thread's recent returns to MPI.
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
    /// Duration of computation by replay.
    work: Vec<ScenarioWork<'a>>,
    /// 1 where calls take what they took besides waiting, else 0.
    measured: Lanes,
    /// 1 where the recorder's time is left out, else 0.
    without_recorder: Lanes,
    /// Of the network, in nanoseconds.
    latency: Lanes,
    per_byte: Lanes,
    /// By index of the region: all bits set where the replay changes how long is computed in it, else none, so that there is no branch. The
    /// last stands for all after.
    changed: Vec<[u64; WIDTH]>,
    /// True if a replay has another factor in each region.
    is_regional: bool,
    /// By thread: the place of its rank, while what it computes may take another time than it did.
    changed_ranks: Vec<Option<u32>>,
    /// By thread.
    clocks: Vec<ThreadClocks>,
    /// Replays in which the duration of computation depends on the time.
    paced: Vec<PacedLane>,
    /// By thread and these replays.
    windows: Vec<PaceWindow>,
    /// By thread and replay: how many times as long it computes by region in its iteration, where that differs; empty if it does in no replay.
    parts: Vec<[Option<PartFactors>; WIDTH]>,
    /// By number of the note.
    noted: Vec<Lanes>,
}

/// The later of two times, neither of which is NaN.
#[inline]
fn later(clock: f64, other: f64) -> f64 {
    if other > clock { other } else { clock }
}

impl<'a> ScenarioGroup<'a> {
    /// Creates a group of at most [`WIDTH`] replays, without threads.
    pub fn new(conditions: Vec<ScenarioConditions<'a>>) -> ScenarioGroup<'a> {
        let n_regions = conditions.iter().map(|condition| match &condition.work {
            ScenarioWork::Region { regions, .. } => regions.len(),
            ScenarioWork::Measured
            | ScenarioWork::Regions(_)
            | ScenarioWork::Rank(..)
            | ScenarioWork::Times(_)
            | ScenarioWork::Threads(_) => 0,
        });
        let changed = (0..=n_regions.max().unwrap_or(0)).map(|region| {
            lanes(&conditions, |condition| match &condition.work {
                ScenarioWork::Region { regions, .. } if regions.get(region) != Some(&true) => 0,
                _ => u64::MAX,
            })
        });
        ScenarioGroup {
            measured: lanes(&conditions, |condition| match condition.network {
                ScenarioNetwork::Measured => 1.0,
                ScenarioNetwork::Given { .. } => 0.0,
            }),
            without_recorder: lanes(
                &conditions,
                |condition| if condition.without_recorder.is_some() { 1.0 } else { 0.0 },
            ),
            latency: lanes(&conditions, |condition| match condition.network {
                ScenarioNetwork::Measured => 0.0,
                ScenarioNetwork::Given { latency_s, .. } => latency_s * 1e9,
            }),
            per_byte: lanes(&conditions, |condition| match condition.network {
                ScenarioNetwork::Measured => 0.0,
                // No bytes take no time on the slowest network, either.
                ScenarioNetwork::Given { bytes_per_s, .. } => (1e9 / bytes_per_s).min(f64::MAX),
            }),
            changed: changed.collect(),
            is_regional: conditions.iter().any(|condition| match &condition.work {
                ScenarioWork::Regions(_) | ScenarioWork::Rank(..) => true,
                ScenarioWork::Times(times) => times.iter().any(ComputationPace::has_parts),
                ScenarioWork::Measured | ScenarioWork::Region { .. } | ScenarioWork::Threads(_) => false,
            }),
            paced: (0..)
                .zip(&conditions)
                .filter_map(|(lane, condition)| PacedLane::new(lane, &condition.work))
                .collect(),
            work: conditions.into_iter().map(|condition| condition.work).collect(),
            changed_ranks: Vec::new(),
            clocks: Vec::new(),
            windows: Vec::new(),
            parts: Vec::new(),
            noted: Vec::new(),
        }
    }

    /// Makes room for exactly so many further threads.
    pub fn reserve(&mut self, threads: usize) {
        self.clocks.reserve_exact(threads);
        self.changed_ranks.reserve_exact(threads);
        self.windows.reserve_exact(threads * self.paced.len());
        if self.has_parts() {
            self.parts.reserve_exact(threads);
        }
    }

    /// A further thread of a rank; its number is the next one.
    pub fn add_thread(&mut self, rank: u32) {
        let factors = lanes(&self.work, |work| factor(work, rank).min(f64::MAX));
        self.clocks.push(ThreadClocks { factors, ..ThreadClocks::default() });
        self.changed_ranks.push(Some(rank));
        self.windows.resize_with(self.windows.len() + self.paced.len(), PaceWindow::default);
        if self.has_parts() {
            self.parts.push(Default::default());
        }
    }

    fn has_parts(&self) -> bool {
        self.paced.iter().any(|lane| lane.has_parts)
    }

    /// Has the processor fetch the clocks of a thread.
    #[inline]
    pub fn fetch_early(&self, thread: u32) {
        let clocks = self.thread_clocks(thread);
        fetch(&clocks.now);
        fetch(&clocks.entered);
        fetch(&clocks.factors);
        fetch(&self.changed_ranks[thread as usize]);
    }

    /// Has the processor fetch the place of a thread's return to MPI.
    #[inline]
    pub fn fetch_return_early(&self, thread: u32, slot: u8) {
        fetch(&self.thread_clocks(thread).returns[usize::from(slot) % RETURNS]);
    }

    /// Returns the number of replays.
    pub fn replays(&self) -> usize {
        self.work.len()
    }

    /// The clocks of a thread.
    pub fn thread_clocks(&self, thread: u32) -> &ThreadClocks {
        &self.clocks[thread as usize]
    }

    /// Changes the duration of a thread's computation from a time on, if it varies; until when.
    pub fn change(&mut self, thread: u32, rank: u32, time: Ns) -> Ns {
        let ThreadClocks { factors, .. } = &mut self.clocks[thread as usize];
        let mut until = Ns::MAX;
        let windows = &mut self.windows[thread as usize * self.paced.len()..];
        for (&PacedLane { lane, has_parts }, window) in self.paced.iter().zip(windows) {
            let ScenarioWork::Times(times) = &self.work[lane] else { continue };
            let pace = times.get(rank as usize);
            let unpaced = PacedInterval { factor: 1.0, until: Ns::MAX, begun: 0 };
            let now = pace.map_or(unpaced, |pace| window.move_to(pace, time));
            if has_parts {
                self.parts[thread as usize][lane] = pace.and_then(|pace| pace.part_factors(time, now.begun));
            }
            factors[lane] = now.factor.min(f64::MAX);
            until = until.min(now.until);
        }
        until
    }

    /// Sets the duration of a thread's computation to the measured one from now on.
    pub fn reset_pace(&mut self, thread: u32) {
        self.clocks[thread as usize].factors = [1.0; WIDTH];
        self.changed_ranks[thread as usize] = None;
    }

    /// A thread begins at a time, in the replays in which calls take what they took; in the others at 0.
    pub fn begin(&mut self, thread: u32, time: f64) {
        self.clocks[thread as usize].now = self.measured.map(|measured| time * measured);
    }

    /// Returns a thread's clocks before it spent this time in a call without waiting.
    pub fn before(&self, thread: u32, ns: f64) -> Lanes {
        let now = self.clocks[thread as usize].now;
        std::array::from_fn(|i| now[i] - ns * self.measured[i])
    }

    /// Sets a thread's clocks to a time.
    pub fn set(&mut self, thread: u32, time: f64) {
        self.clocks[thread as usize].now = [time; WIDTH];
    }

    /// A thread computes for `ns` nanoseconds, of which `recorder_ns` were the recorder's, and enters a call.
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

    /// Shortens what a thread has just computed, before the call that it enters, by `saved` in replays that change what the threads of its rank do.
    pub fn shorten(&mut self, thread: u32, saved: impl Fn(&ThreadChange) -> f64) {
        let clocks = &mut self.clocks[thread as usize];
        for (work, now) in self.work.iter().zip(&mut clocks.now) {
            if let ScenarioWork::Threads(change) = work {
                *now -= saved(change);
            }
        }
        clocks.entered = clocks.now;
    }

    /// Sets how many times as long what a thread computes in a region takes, in replays in which that depends on the region.
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
                ScenarioWork::Measured
                | ScenarioWork::Region { .. }
                | ScenarioWork::Rank(..)
                | ScenarioWork::Threads(_) => {
                    continue;
                }
            };
            *factor = own.unwrap_or(1.0).min(f64::MAX);
        }
    }

    /// A thread is in MPI without waiting.
    #[inline]
    pub fn communicate(&mut self, thread: u32, ns: f64) {
        let now = &mut self.clocks[thread as usize].now;
        *now = std::array::from_fn(|i| now[i] + ns * self.measured[i]);
    }

    /// A thread writes its log.
    pub fn record(&mut self, thread: u32, ns: f64) {
        let now = &mut self.clocks[thread as usize].now;
        *now = std::array::from_fn(|i| now[i] + ns * self.measured[i] * (1.0 - self.without_recorder[i]));
    }

    /// A thread enters a call.
    #[inline]
    pub fn enter(&mut self, thread: u32) {
        let clocks = &mut self.clocks[thread as usize];
        clocks.entered = clocks.now;
    }

    /// Notes a thread's clocks: as one more note, or in place of one.
    #[inline]
    pub fn note(&mut self, note: u32, thread: u32) {
        let now = self.clocks[thread as usize].now;
        match self.noted.get_mut(note as usize) {
            Some(noted) => *noted = now,
            None => self.noted.push(now),
        }
    }

    /// Makes what is noted the later of it and a thread's clocks.
    pub fn note_later(&mut self, note: u32, thread: u32) {
        let (noted, now) = (&mut self.noted[note as usize], &self.clocks[thread as usize].now);
        *noted = std::array::from_fn(|i| later(noted[i], now[i]));
    }

    /// A thread can't go on before what is noted, and `bytes` bytes that take `steps` steps to come.
    #[inline]
    pub fn wait_for(&mut self, thread: u32, note: u32, bytes: f64, steps: f64) {
        self.wait(thread, self.noted[note as usize], bytes, steps);
    }

    /// A thread comes back to MPI: keeps what its clocks show.
    #[inline]
    pub fn keep_return(&mut self, thread: u32, slot: u8) {
        let clocks = &mut self.clocks[thread as usize];
        clocks.returns[usize::from(slot) % RETURNS] = clocks.now;
    }

    /// A thread can't go on before another came back to MPI, and `bytes` bytes have come from there.
    pub fn wait_for_return(&mut self, thread: u32, other: u32, slot: u8, bytes: f64) {
        self.wait(thread, self.clocks[other as usize].returns[usize::from(slot) % RETURNS], bytes, 1.0);
    }

    /// A thread can't go on before what comes over the network from clocks that showed `from`.
    #[inline]
    fn wait(&mut self, thread: u32, from: Lanes, bytes: f64, steps: f64) {
        let now = &mut self.clocks[thread as usize].now;
        *now = std::array::from_fn(|i| later(now[i], from[i] + (self.latency[i] + bytes * self.per_byte[i]) * steps));
    }
}

/// Something of each replay; 0 where there is none.
fn lanes<T, N: Copy + Default>(replays: &[T], what: impl Fn(&T) -> N) -> [N; WIDTH] {
    let mut lanes = [N::default(); WIDTH];
    for (lane, replay) in lanes.iter_mut().zip(replays) {
        *lane = what(replay);
    }
    lanes
}

/// Returns the factor of a rank's computation, in regions that the replay changes.
fn factor(work: &ScenarioWork, rank: u32) -> f64 {
    match work {
        ScenarioWork::Measured => 1.0,
        ScenarioWork::Region { factors, .. } => factors.get(rank as usize).copied().unwrap_or(1.0),
        ScenarioWork::Regions(_) | ScenarioWork::Rank(..) | ScenarioWork::Times(_) | ScenarioWork::Threads(_) => 1.0,
    }
}
