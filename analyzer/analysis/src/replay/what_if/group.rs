//! A few scenarios whose clocks are kept in arrays, so that the processor computes them together.

use super::conditions::{ScenarioConditions, ScenarioNetwork, ScenarioWork};
use super::pace::{ComputationPace, PartFactors};
use crate::model::code::region_state::{Ns, RegionState};

/// Number of replays that run side by side.
pub const WIDTH: usize = 4;

/// Number of returns to MPI that are kept for each thread.
pub const RETURNS: usize = 8;

pub type Lanes = [f64; WIDTH];

/// The clocks of a thread in the replays of a group.
#[derive(Clone, Debug, Default)]
pub struct ThreadClocks {
    pub now: Lanes,
    pub entered: Lanes,
    pub returns: [Lanes; RETURNS],
    /// Factors of the thread's computation, in regions that the replay changes.
    pub factors: Lanes,
    /// In replays in which the duration of computation depends on the time: the number of iterations that had begun at the last change.
    begun: [u32; WIDTH],
    /// The factors of computation by region in the iteration, in replays in which they differ; `None` if they do in no replay of the group.
    parts: Option<Box<[Option<PartFactors>; WIDTH]>>,
}

/// A group of replays that run side by side.
#[derive(Debug)]
pub struct ScenarioGroup<'a> {
    pub work: Vec<ScenarioWork<'a>>,
    /// 1 where calls take what they took besides waiting, else 0.
    measured: Lanes,
    /// Nanoseconds of the network.
    latency: Lanes,
    per_byte: Lanes,
    /// By index of the region: all bits set if the replay changes the computation in it, else none, so that there is no branch. The last stands
    /// for all further regions.
    changed: Vec<[u64; WIDTH]>,
    /// True if a replay has another factor in each region.
    is_regional: bool,
    /// True if a replay has another factor in each region of an iteration.
    has_parts: bool,
}

/// The later of two times, neither of which is NaN.
#[inline]
pub fn later_time(clock: f64, other: f64) -> f64 {
    if other > clock { other } else { clock }
}

impl<'a> ScenarioGroup<'a> {
    /// Creates a group of at most [`WIDTH`] replays.
    pub fn new(conditions: &[ScenarioConditions<'a>]) -> ScenarioGroup<'a> {
        let n_regions = conditions.iter().map(|condition| match &condition.work {
            ScenarioWork::Region { regions, .. } => regions.len(),
            _ => 0,
        });
        let changed = (0..=n_regions.max().unwrap_or(0)).map(|region| {
            fill_lanes(conditions, |condition| match &condition.work {
                ScenarioWork::Region { regions, .. } if regions.get(region) != Some(&true) => 0,
                _ => u64::MAX,
            })
        });
        let has_parts = conditions.iter().any(|condition| match &condition.work {
            ScenarioWork::Times(times) => times.iter().any(ComputationPace::has_parts),
            _ => false,
        });
        let is_regional = conditions
            .iter()
            .any(|condition| matches!(condition.work, ScenarioWork::Regions(_) | ScenarioWork::Rank(..)));
        ScenarioGroup {
            measured: fill_lanes(conditions, |condition| {
                f64::from(u8::from(condition.network == ScenarioNetwork::Measured))
            }),
            latency: fill_lanes(conditions, |condition| match condition.network {
                ScenarioNetwork::Measured => 0.0,
                ScenarioNetwork::Given { latency_s, .. } => latency_s * 1e9,
            }),
            per_byte: fill_lanes(conditions, |condition| match condition.network {
                ScenarioNetwork::Measured => 0.0,
                // No bytes take no time on the slowest network, either.
                ScenarioNetwork::Given { bytes_per_s, .. } => (1e9 / bytes_per_s).min(f64::MAX),
            }),
            changed: changed.collect(),
            is_regional: has_parts || is_regional,
            has_parts,
            work: conditions.iter().map(|condition| condition.work.clone()).collect(),
        }
    }

    /// Returns the clocks of a thread that begins at a time in the replays on the measured network, in the others at 0.
    pub fn first_clocks(&self, rank: u32, time: f64) -> ThreadClocks {
        let factors = fill_lanes(&self.work, |work| match work {
            ScenarioWork::Region { factors, .. } => {
                factors.get(rank as usize).map_or(1.0, |factor| factor.min(f64::MAX))
            }
            _ => 1.0,
        });
        let parts = self.has_parts.then(Box::default);
        ThreadClocks { now: self.measured.map(|measured| time * measured), factors, parts, ..ThreadClocks::default() }
    }

    /// Changes the factors of a thread's computation from a time on. Returns the time until which they hold.
    pub fn change(&self, clocks: &mut ThreadClocks, rank: u32, time: Ns) -> Ns {
        let mut until = Ns::MAX;
        for (lane, work) in self.work.iter().enumerate() {
            let ScenarioWork::Times(times) = work else { continue };
            let pace = times.get(rank as usize);
            let (factor, ends_at, begun) =
                pace.map_or((1.0, Ns::MAX, 0), |pace| pace.factor_at(time, clocks.begun[lane]));
            clocks.begun[lane] = begun;
            if let Some(parts) = &mut clocks.parts {
                parts[lane] = pace.and_then(|pace| pace.part_factors(time, begun));
            }
            clocks.factors[lane] = factor.min(f64::MAX);
            until = until.min(ends_at);
        }
        until
    }

    /// Returns a thread's clocks before it spent this time in a call without waiting.
    pub fn before(&self, clocks: &ThreadClocks, ns: f64) -> Lanes {
        std::array::from_fn(|i| clocks.now[i] - ns * self.measured[i])
    }

    /// Adds computation, at the end of which the thread enters a call. `rank`: the thread's, while its computation may take another time.
    #[inline]
    pub fn compute(&self, clocks: &mut ThreadClocks, rank: Option<u32>, kind: RegionState, ns: f64) {
        let changed = self.changed[(kind.region() as usize).min(self.changed.len() - 1)];
        if let Some(rank) = rank.filter(|_| self.is_regional) {
            self.enter_region(clocks, rank, kind.region());
        }
        let (now, factors) = (clocks.now, clocks.factors);
        clocks.now = std::array::from_fn(|i| {
            let factor = factors[i].to_bits() & changed[i] | 1_f64.to_bits() & !changed[i];
            now[i] + ns * f64::from_bits(factor)
        });
        clocks.entered = clocks.now;
    }

    /// Sets the factors of a thread's computation in a region, in replays in which they depend on the region.
    fn enter_region(&self, clocks: &mut ThreadClocks, rank: u32, region: u32) {
        for (lane, (factor, work)) in clocks.factors.iter_mut().zip(&self.work).enumerate() {
            let own = match work {
                ScenarioWork::Regions(by_region) => {
                    by_region.get(region as usize).and_then(|factors| factors.get(rank as usize)).copied()
                }
                ScenarioWork::Rank(one, by_region) if *one == rank => by_region.get(region as usize).copied(),
                ScenarioWork::Times(_) => {
                    let Some(parts) = clocks.parts.as_ref().and_then(|parts| parts[lane].as_ref()) else { continue };
                    Some(parts.of_region(region))
                }
                _ => continue,
            };
            *factor = own.unwrap_or(1.0).min(f64::MAX);
        }
    }

    #[inline]
    pub fn communicate(&self, clocks: &mut ThreadClocks, ns: f64) {
        let now = clocks.now;
        clocks.now = std::array::from_fn(|i| now[i] + ns * self.measured[i]);
    }

    /// Lets a thread wait for bytes over the network, sent when the clocks showed `from`.
    #[inline]
    pub fn wait(&self, clocks: &mut ThreadClocks, from: Lanes, bytes: f64, steps: f64) {
        let now = clocks.now;
        clocks.now =
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
