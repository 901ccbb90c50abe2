//! Ranks with threads (OpenMP): use of all cores, and losses by parallel region.

pub mod thread_pools;

use std::collections::BTreeMap;

use serde::Serialize;

use lbprof_analysis::metrics::sampled::serial_code::serial_times;
use lbprof_analysis::metrics::threads::ThreadEfficiency;
use lbprof_analysis::model::ranks::threads::{ParallelRegion, RegionMember, RegionMutex, TeamSeconds};
use lbprof_analysis::model::{Model, RankModel};
use lbprof_analysis::structure::code::sampled_code::SampledCode;
use lbprof_analysis::structure::code::symbols::{CodePlace, ResolvedNames};
use lbprof_collector::parallel::MutexKind;
use lbprof_thresholds::verdict::{GOOD_CORE_EFFICIENCY, MIN_FUNCTION_OF_SERIAL_CODE, MIN_THREAD_LOSS};

const MAX_REGIONS: usize = 100;

const MAX_MUTEXES: usize = 8;

const MAX_THREADS: usize = 64;

/// The activities of the cores of ranks with several threads. Core time is elapsed time × cores.
#[derive(Clone, Debug, Serialize, crate::JsonSchema)]
pub struct ThreadTable {
    /// Cores that all ranks use: for each rank the size of its largest team with at least 1 % of its time, plus the teams of other threads beside it,
    /// or 1.
    pub cores: u64,
    /// The smallest number of cores of a rank.
    pub min_cores: u32,
    /// The largest.
    pub max_cores: u32,
    /// `cores` × recorded elapsed time.
    pub core_time_s: f64,
    /// Work / core time: the product of `mpi` and `threads`.
    pub parallel: Option<f64>,
    /// Share of the core time that is neither in MPI nor idle because of it: the product of `load_balance` and `communication`.
    pub mpi: Option<f64>,
    /// Mean over cores of the time in which their rank computes / the longest such time of a rank.
    pub load_balance: Option<f64>,
    /// The longest time in which a rank computes, by core / elapsed time.
    pub communication: Option<f64>,
    /// Work / core time that is neither in MPI nor idle because of it: the product of the four that follow.
    pub threads: Option<f64>,
    /// Fraction left by threads that idle while the first one computes alone, or in smaller teams than others.
    pub serial: Option<f64>,
    /// Fraction left by threads that wait at barriers for others that work longer.
    pub thread_balance: Option<f64>,
    /// Fraction left by waits for critical sections, atomic operations, locks, ordered sections and tasks.
    pub waits: Option<f64>,
    /// Fraction left by starting and ending regions.
    pub fork_join: Option<f64>,
    /// Work of all threads.
    pub useful_s: f64,
    /// Losses of at least 1 % of the core time, the largest first.
    pub losses: Vec<CoreLoss>,
    /// Elapsed time of parallel regions that threads other than the one that called `MPI_Init` start, a sum over ranks.
    pub other_masters_s: f64,
    /// An object per parallel region and size of team, those with most thread time first, at most 100.
    pub regions: Vec<ParallelRegionRow>,
}

/// The kind of a loss of core time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, crate::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CoreLossKind {
    /// MPI, and idle threads meanwhile.
    Mpi,
    /// A single thread computes outside of parallel regions, or teams are smaller than others.
    Serial,
    /// Threads of a region work longer than others.
    ThreadImbalance,
    /// Critical sections, atomic operations and locks.
    Mutex,
    /// Ordered sections.
    Ordered,
    /// Waiting for tasks.
    Tasks,
    /// Starting regions and ending them.
    ForkJoin,
}

/// A part of the core time that is lost.
#[derive(Clone, Debug, Serialize, crate::JsonSchema)]
pub struct CoreLoss {
    /// Kind of the loss.
    pub kind: CoreLossKind,
    /// Core time lost, a sum over cores.
    pub core_s: f64,
    /// Its share of the core time.
    pub share: f64,
    /// The parallel region; null if it is not of one.
    pub at: Option<CodePlace>,
    /// The thread of the team that mostly works longest; null if it is not always the same, and for other kinds.
    pub heavy_thread: Option<HeavyThread>,
    /// Of `serial`: the function in which first threads are sampled most outside of parallel regions; null if it has less than 30 % of these samples.
    pub function: Option<SerialFunction>,
    /// Of `mutex`: what threads of the region waited for longest; null if that is not known.
    pub mutex: Option<MutexRow>,
}

/// Waits of threads of a parallel region for one mutex, summed over ranks.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct MutexRow {
    /// Its kind.
    #[serde(with = "MutexWord")]
    pub kind: MutexKind,
    /// Name of a critical section, or FILE+0xADDRESS of a variable; null if neither is known.
    pub name: Option<String>,
    /// Place of the waits; null if it is not known.
    pub at: Option<CodePlace>,
    /// Number of waits, the shortest (about 1 µs) left out.
    pub waits: u64,
    /// Their time, all threads together.
    pub wait_s: f64,
}

/// The kind of what threads wait for that another one holds.
#[derive(Serialize, crate::JsonSchema)]
#[serde(remote = "MutexKind", rename_all = "lowercase")]
enum MutexWord {
    /// A critical section.
    Critical,
    /// A lock of the program.
    Lock,
    /// An atomic operation that the processor lacks.
    Atomic,
}

/// A function that one thread of a rank runs.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct SerialFunction {
    /// Its name.
    pub name: String,
    /// Its share of the CPU time of first threads outside of parallel regions, weighted by the cores that idle meanwhile.
    pub share: f64,
}

/// A thread that works longer than others of its team.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct HeavyThread {
    /// Its number in the team.
    pub thread: u32,
    /// Its work / the mean work of the others; null if these do none.
    pub against_others: Option<f64>,
}

/// A parallel region, from one call site with one size of team, all ranks together.
#[derive(Clone, Debug, Default, Serialize, crate::JsonSchema)]
pub struct ParallelRegionRow {
    /// Location of its start.
    #[serde(flatten)]
    pub place: CodePlace,
    /// True if it is started by the thread that called `MPI_Init`.
    pub of_first_thread: bool,
    /// Threads of a team.
    pub team: u32,
    /// Ranks that have it.
    pub ranks: u64,
    /// Instances, of all ranks.
    pub instances: u64,
    /// Elapsed time of all instances, summed over ranks.
    pub elapsed_s: f64,
    /// The parts of the threads' time.
    #[serde(flatten)]
    pub time: TeamSeconds,
    /// The longest work of a thread, summed over instances.
    pub longest_s: f64,
    /// An object per thread of the team, by number, at most 64.
    pub threads: Vec<RegionThreadRow>,
    /// The mutexes that threads waited for, the longest waits first, at most 8; none if only a part of the time was selected.
    pub mutexes: Vec<MutexRow>,
}

/// The times of a thread in a parallel region, summed over ranks.
#[derive(Clone, Copy, Debug, Default, Serialize, crate::JsonSchema)]
pub struct RegionThreadRow {
    /// Its number in the team.
    pub thread: u32,
    /// Work.
    pub useful_s: f64,
    /// Time in MPI, and in the recorder.
    pub mpi_s: f64,
    /// Its own waits for critical sections, atomic operations, locks, ordered sections and tasks.
    pub waits_s: f64,
    /// Instances in which it works longest.
    pub longest: u64,
}

/// Key of a region: true if the first thread starts it, its place, and its team size.
type RegionKey = (bool, CodePlace, u32);

impl ThreadTable {
    /// Returns `None` if no rank has several threads, or if that is unknown for the selected part.
    pub(super) fn new(model: &Model, names: &ResolvedNames) -> Option<ThreadTable> {
        let efficiency = ThreadEfficiency::new(model)?;
        let regions = parallel_region_rows(model, &names.places);
        let mut losses = core_losses(&efficiency, &regions);
        for loss in losses.iter_mut().filter(|loss| loss.kind == CoreLossKind::Serial) {
            loss.function = serial_function(model, &efficiency, &names.sampled);
        }
        Some(ThreadTable {
            cores: efficiency.cores,
            min_cores: efficiency.ranks.iter().map(|rank| rank.cores).min().unwrap_or(1),
            max_cores: efficiency.ranks.iter().map(|rank| rank.cores).max().unwrap_or(1),
            core_time_s: efficiency.core_time_s(),
            parallel: efficiency.parallel(),
            mpi: efficiency.mpi(),
            load_balance: efficiency.load_balance(),
            communication: efficiency.communication(),
            threads: efficiency.threads(),
            serial: efficiency.serial(),
            thread_balance: efficiency.thread_balance(),
            waits: efficiency.waits(),
            fork_join: efficiency.fork_join(),
            useful_s: efficiency.sum.useful_s(),
            losses,
            other_masters_s: efficiency.sum.other_masters_s,
            regions,
        })
    }

    /// Returns whether the loss is negligible.
    pub fn is_good(&self) -> bool {
        self.parallel.is_none_or(|parallel| parallel >= GOOD_CORE_EFFICIENCY)
    }

    /// Returns whether threads cost more than MPI.
    pub fn is_lost_to_threads(&self) -> bool {
        let of_mpi = self.mpi.map_or(0.0, |mpi| 1.0 - mpi);
        self.parallel.is_some_and(|parallel| 1.0 - parallel > 2.0 * of_mpi)
    }
}

fn parallel_region_rows(model: &Model, places: &[CodePlace]) -> Vec<ParallelRegionRow> {
    let mut by_key: BTreeMap<RegionKey, ParallelRegionRow> = BTreeMap::new();
    for region in model.ranks.iter().flat_map(|rank: &RankModel| &rank.parallel) {
        let place =
            region.site.and_then(|site| places.get(site as usize)).map(CodePlace::of_region).unwrap_or_default();
        let row = by_key
            .entry((region.is_of_first, place.clone(), region.team))
            .or_insert_with(|| ParallelRegionRow::empty(place, region));
        row.add(region);
        for mutex in &region.mutexes {
            row.add_mutex(mutex, places);
        }
    }
    let mut rows: Vec<ParallelRegionRow> = by_key.into_values().collect();
    rows.sort_by(|a, b| b.thread_time_s().total_cmp(&a.thread_time_s()));
    rows.truncate(MAX_REGIONS);
    for row in &mut rows {
        row.mutexes.sort_by(|a, b| b.wait_s.total_cmp(&a.wait_s).then_with(|| a.name.cmp(&b.name)));
        row.mutexes.truncate(MAX_MUTEXES);
    }
    rows
}

impl ParallelRegionRow {
    fn empty(place: CodePlace, region: &ParallelRegion) -> ParallelRegionRow {
        let threads = (0..region.members.len().min(MAX_THREADS) as u32)
            .map(|thread| RegionThreadRow { thread, ..RegionThreadRow::default() });
        ParallelRegionRow {
            place,
            of_first_thread: region.is_of_first,
            team: region.team,
            threads: threads.collect(),
            ..ParallelRegionRow::default()
        }
    }

    fn add(&mut self, region: &ParallelRegion) {
        self.ranks += 1;
        self.instances = self.instances.saturating_add(region.instances);
        self.elapsed_s += region.elapsed_s;
        self.time += region.time;
        self.longest_s += region.longest_s;
        for (row, member) in self.threads.iter_mut().zip(&region.members) {
            row.add(member);
        }
    }

    /// Adds a rank's waits for a mutex. Mutexes of different ranks are matched by name, or by place.
    fn add_mutex(&mut self, mutex: &RegionMutex, places: &[CodePlace]) {
        let kind = mutex.kind;
        let name = Some(mutex.name.clone()).filter(|name| !name.is_empty());
        let at = mutex.site.and_then(|site| places.get(site as usize)).map(CodePlace::of_region);
        let known = self
            .mutexes
            .iter_mut()
            .find(|row| row.kind == kind && row.name == name && (name.is_some() || row.at == at));
        match known {
            Some(row) => {
                row.waits = row.waits.saturating_add(mutex.waits);
                row.wait_s += mutex.wait_s;
            }
            None => self.mutexes.push(MutexRow { kind, name, at, waits: mutex.waits, wait_s: mutex.wait_s }),
        }
    }

    /// Returns elapsed time × threads.
    pub fn thread_time_s(&self) -> f64 {
        self.elapsed_s * f64::from(self.team)
    }

    /// Returns the thread that works longest in most instances, if there is one.
    pub fn heavy_thread(&self) -> Option<HeavyThread> {
        let heavy = self.threads.iter().max_by(|a, b| a.longest.cmp(&b.longest).then(b.thread.cmp(&a.thread)))?;
        let others_s: f64 = self.time.useful_s - heavy.useful_s;
        let mean_s = others_s / f64::from(self.team.max(2) - 1);
        let is_mostly = 4 * heavy.longest >= 3 * self.instances && self.team > 1;
        let against_others = (mean_s > 0.0).then(|| heavy.useful_s / mean_s);
        is_mostly.then_some(HeavyThread { thread: heavy.thread, against_others })
    }
}

impl RegionThreadRow {
    fn add(&mut self, member: &RegionMember) {
        self.useful_s += member.useful_s;
        self.mpi_s += member.mpi_s;
        self.waits_s += member.waits_s;
        self.longest = self.longest.saturating_add(member.longest);
    }
}

impl CoreLoss {
    fn new(kind: CoreLossKind, core_s: f64, region: Option<&ParallelRegionRow>) -> CoreLoss {
        let at = region.map(|region| region.place.clone());
        CoreLoss { kind, core_s, share: 0.0, at, heavy_thread: None, function: None, mutex: None }
    }
}

fn core_losses(efficiency: &ThreadEfficiency, regions: &[ParallelRegionRow]) -> Vec<CoreLoss> {
    let mut losses = vec![
        CoreLoss::new(CoreLossKind::Mpi, efficiency.lost_to_mpi_s(), None),
        CoreLoss::new(CoreLossKind::Serial, efficiency.sum.serial_s, None),
        CoreLoss::new(CoreLossKind::ForkJoin, efficiency.sum.inside.fork_join_s, None),
    ];
    for region in regions {
        losses.push(CoreLoss {
            heavy_thread: region.heavy_thread(),
            ..CoreLoss::new(CoreLossKind::ThreadImbalance, region.time.imbalance_s, Some(region))
        });
        losses.push(CoreLoss {
            mutex: region.mutexes.first().cloned(),
            ..CoreLoss::new(CoreLossKind::Mutex, region.time.mutex_s, Some(region))
        });
        losses.push(CoreLoss::new(CoreLossKind::Ordered, region.time.ordered_s, Some(region)));
        losses.push(CoreLoss::new(CoreLossKind::Tasks, region.time.tasks_s, Some(region)));
    }
    for loss in &mut losses {
        loss.share = crate::fraction_of(loss.core_s, efficiency.core_time_s());
    }
    losses.retain(|loss| loss.share >= MIN_THREAD_LOSS);
    losses.sort_by(|a, b| b.core_s.total_cmp(&a.core_s).then(a.kind.cmp(&b.kind)));
    losses
}

/// Returns the function that keeps most cores idle while first threads execute it.
fn serial_function(model: &Model, efficiency: &ThreadEfficiency, code: &SampledCode) -> Option<SerialFunction> {
    let mut seconds: BTreeMap<&str, f64> = BTreeMap::new();
    for (rank, cores) in model.ranks.iter().zip(&efficiency.ranks) {
        for time in serial_times(rank, code) {
            *seconds.entry(time.function).or_default() += time.seconds * f64::from(cores.cores.saturating_sub(1));
        }
    }
    let all_s: f64 = seconds.values().sum();
    let (name, most_s) = seconds.into_iter().filter(|(name, _)| !name.is_empty()).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let share = most_s / all_s;
    (share >= MIN_FUNCTION_OF_SERIAL_CODE).then(|| SerialFunction { name: name.to_owned(), share })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(longest: [u64; 2], useful: [f64; 2]) -> ParallelRegionRow {
        let region = ParallelRegion { team: 2, instances: longest.iter().sum(), ..ParallelRegion::default() };
        let region = ParallelRegion {
            time: TeamSeconds { useful_s: useful.iter().sum(), ..TeamSeconds::default() },
            members: longest
                .iter()
                .zip(useful)
                .map(|(&longest, useful_s)| RegionMember { longest, useful_s, ..RegionMember::default() })
                .collect(),
            ..region
        };
        let mut row = ParallelRegionRow::empty(CodePlace::default(), &region);
        row.add(&region);
        row
    }

    #[test]
    fn the_heavy_thread_is_the_one_that_mostly_works_longest() {
        let heavy = row([0, 20], [0.2, 0.6]).heavy_thread().unwrap();
        assert_eq!(heavy.thread, 1);
        assert!((heavy.against_others.unwrap() - 3.0).abs() < 1e-12);
        assert_eq!(row([9, 11], [0.2, 0.6]).heavy_thread(), None);
    }
}
