//! Definitions: objects that records refer to by number, and facts about the rank that are learnt during the run.
//!
//! A definition is written before, or in the same block as, the first record that refers to it. Ids are dense, from 0,
//! by kind, and hold within one rank's log.

use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};
use serde::{Serialize, Serializer};

use crate::off_core::{OffCoreTimes, ThreadUsage};
use crate::parallel::{MutexSums, ParallelSums, TeamPlacement};
use crate::poll_gaps::ProfileGaps;
use crate::record::{FIXED, NONE};
use crate::sample::{SamplePlaces, SampledThread, SamplingSetup, ThreadPool};

/// Writes a number that has no meaning but to be equal or different, and that a JSON reader would round.
pub(crate) fn serialize_hex<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{number:016x}"))
}

/// A definition in a log.
#[derive(Clone, Debug, PartialEq, Encode, Decode, Serialize)]
#[serde(tag = "definition", content = "value", rename_all = "snake_case")]
pub enum Definition {
    /// A loaded program or shared object.
    Module(Module),
    /// A place from which MPI is called.
    CallSite(CallSite),
    /// A region: a path of nested phases.
    Region(Region),
    /// A communicator.
    Communicator(Communicator),
    /// An RMA window or a file, and the communicator it was made on.
    Object(MpiObject),
    /// A user's counter: `id`, `name`.
    Counter(u32, String),
    /// A user's parameter of the run: `name`, `value`.
    Param(String, f64),
    /// A thread that recorded: its number in this log, its id for the system.
    Thread(u32, u32),
    /// A reading of two clocks at the same instant.
    Instant(ClockPair),
    /// The rank's clock against rank 0's.
    ClockOffset(ClockOffset),
    /// Resources that the process had used by an instant.
    Usage(ResourceUsage),
    /// A problem that the recorder met: number of its [`crate::ProblemKind`], how many times, detail.
    Problem(u16, u64, String),
    /// The analysed window begins: MPI_Init returned, at these ticks.
    WindowBegin(u64),
    /// The analysed window ends: MPI_Finalize was entered, at these ticks.
    WindowEnd(u64),
    /// The log ends as the recorder meant it to: why, and at which ticks.
    End(EndReason, u64),
    /// The thread level that MPI gave, as MPI numbers it in order: 0 single … 3 multiple.
    ThreadLevel(u8),
    /// The rank's neighbours in a communicator's topology.
    Neighbours(NeighbourRanks),
    /// A group of ranks that a call was given.
    Group(RankGroup),
    /// The status with which the process ended, as it gave it to exit(). After MPI_Finalize only a status other than 0 is noted.
    ExitStatus(i32),
    /// A function of a program in an interpreted language.
    Function(InterpretedFunction),
    /// Setup of the rank's sampling.
    Sampling(SamplingSetup),
    /// A thread of which there are samples.
    SampledThread(SampledThread),
    /// State of the rank's first thread when the samples that follow were taken.
    SamplePlaces(SamplePlaces),
    /// A point in the life of the process, and its ticks.
    Lifetime(LifetimePoint, u64),
    /// Sums over the threads of a parallel region so far.
    ParallelSums(ParallelSums),
    /// Cores on which the threads of the largest team so far may run.
    TeamPlacement(TeamPlacement),
    /// The long gaps between polls in the profile that follows.
    ProfileGaps(ProfileGaps),
    /// A call on the way to where samples were taken. Its `parent` is another one, defined before it. These are apart from the paths to calls of MPI,
    /// so that results based on those do not depend on where samples happen to hit.
    SampleCaller(CallSite),
    /// Waits for a mutex in a parallel region so far.
    MutexSums(MutexSums),
    /// Threads that the process has started with one routine so far.
    ThreadPool(ThreadPool),
    /// Times for which the first thread was off its core.
    OffCore(OffCoreTimes),
    /// CPU time and page faults of the first thread by an instant.
    ThreadUsage(ThreadUsage),
}

/// A point in the life of a process, besides those that limit the analysed window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Encode, Decode, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LifetimePoint {
    /// The system started the process.
    Started,
    /// MPI's own MPI_Init returned; recording starts after that.
    LeftInit,
    /// MPI_Finalize returned.
    LeftFinalize,
    /// The process ended by exit() after MPI_Finalize.
    Ended,
}

/// A loaded program or shared object.
#[derive(Clone, Debug, PartialEq, Encode, Decode, Serialize)]
pub struct Module {
    /// Dense id.
    pub id: u32,
    /// Path of its file as the program loaded it.
    pub path: String,
    /// GNU build id, empty where the file has none.
    pub build_id: Vec<u8>,
    /// Load address: offsets are return addresses less this, so they are addresses as the file's own tables state them.
    pub base: u64,
    /// Address after its last mapped one.
    pub end: u64,
}

/// A place from which a function is called, and how the program got there: a node of the tree of call paths. Those that records refer to
/// call MPI.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CallSite {
    /// Dense id.
    pub id: u32,
    /// The module, or [`crate::record::NONE`] where the address lies in none (generated code).
    pub module: u32,
    /// Return address less the module's base; the raw address where there is no module; the line where there is a function, 0: none.
    pub offset: u64,
    /// Id of the site from which the function around this one was called; [`crate::record::NONE`]: it is the outermost known.
    pub parent: u32,
    /// True if the caller of an outermost site is not known, because its code does not say how to find it or the number of callers is limited.
    pub cut: bool,
    /// The interpreted function that it is in, or [`crate::record::NONE`]: then it is machine code that calls. With a function there is no module.
    pub function: u32,
    /// Its column in that function's line, from 0 on, or [`crate::record::NONE`] where that is not known.
    pub column: u32,
}

/// A function of a program in an interpreted language, as the interpreter names it.
#[derive(Clone, Debug, PartialEq, Encode, Decode, Serialize)]
pub struct InterpretedFunction {
    /// Dense id.
    pub id: u32,
    /// Its qualified name.
    pub name: String,
    /// Its file.
    pub file: String,
}

impl CallSite {
    /// Creates a site without known callers.
    pub fn alone(id: u32, module: u32, offset: u64) -> Self {
        CallSite { id, module, offset, parent: NONE, cut: true, function: NONE, column: NONE }
    }
}

impl Encode for CallSite {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        let CallSite { id, module, offset, parent, cut, function, column } = self;
        (id, module, offset, parent, cut).encode(encoder)?;
        // Most are machine code.
        if *function == NONE { Ok(()) } else { (function, column).encode(encoder) }
    }
}

impl<Context> Decode<Context> for CallSite {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let site = CallSite::alone(u32::decode(decoder)?, u32::decode(decoder)?, u64::decode(decoder)?);
        let site = CallSite { parent: u32::decode(decoder)?, cut: bool::decode(decoder)?, ..site };
        // Machine code ends here, and so does, after its function, a caller of samples in older logs.
        let function = decode_if_more(decoder)?.unwrap_or(NONE);
        Ok(CallSite { function, column: decode_if_more(decoder)?.unwrap_or(NONE), ..site })
    }
}
bincode::impl_borrow_decode!(CallSite);

/// Decodes a value, or returns `None` if the definition ends before it.
fn decode_if_more<T: Decode<D::Context>, D: Decoder>(decoder: &mut D) -> Result<Option<T>, DecodeError> {
    match T::decode(decoder) {
        Ok(value) => Ok(Some(value)),
        Err(DecodeError::UnexpectedEnd { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The kind of a region's time, for the overheads of docs/metrics.md §3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RegionKind {
    /// Useful work, the default.
    #[default]
    Useful,
    /// Control of parallelism: partitioning and the like.
    Control,
    /// Serial work.
    Serial,
}

impl RegionKind {
    /// Kinds, in the order of their numbers.
    pub const ALL: [RegionKind; 3] = [RegionKind::Useful, RegionKind::Control, RegionKind::Serial];

    /// Returns the name in JSON and in studies.
    pub fn name(self) -> &'static str {
        match self {
            RegionKind::Useful => "useful",
            RegionKind::Control => "control",
            RegionKind::Serial => "serial",
        }
    }
}

/// A region: a path of nested phases.
#[derive(Clone, Debug, PartialEq, Encode, Decode, Serialize)]
pub struct Region {
    /// Dense id. 0 is the whole program, "main", which is always open and never marked.
    pub id: u32,
    /// The region around it; of region 0, itself.
    pub parent: u32,
    /// Its own name, the last part of its path.
    pub name: String,
    /// Its kind.
    pub kind: RegionKind,
    /// True if its invocations are iterations.
    pub iterated: bool,
}

/// A communicator.
#[derive(Clone, Debug, PartialEq, Encode, Decode, Serialize)]
pub struct Communicator {
    /// Dense id. 0 is MPI_COMM_WORLD, 1 is MPI_COMM_SELF.
    pub id: u32,
    /// Number that is the same on every member and, but for chance of 2⁻⁶⁴, on no other communicator of the run.
    #[serde(serialize_with = "serialize_hex")]
    pub uid: u64,
    /// Id of the communicator it was made from, or [`crate::record::NONE`].
    pub parent: u32,
    /// This rank's rank in it.
    pub rank: u32,
    /// World ranks of its (local) group, in order of their ranks in it.
    pub group: RankList,
    /// World ranks of the remote group of an inter-communicator, or empty.
    pub remote: RankList,
}

/// The ranks that exchange data with this rank in the neighbourhood collectives of a communicator (MPI-4.1 §8.6): world ranks, in the order
/// of the arguments of these calls, without those beyond the edge of a grid. A rank may be there more than once.
#[derive(Clone, Debug, PartialEq, Encode, Decode, Serialize)]
pub struct NeighbourRanks {
    /// Id of the communicator.
    pub comm: u32,
    /// Ranks that send to this rank.
    pub sources: RankList,
    /// Ranks that this rank sends to.
    pub destinations: RankList,
}

/// A group of ranks: those that a call synchronises with (MPI-4.1 §12.5.2).
#[derive(Clone, Debug, PartialEq, Encode, Decode, Serialize)]
pub struct RankGroup {
    /// Dense id.
    pub id: u32,
    /// Their world ranks in order.
    pub ranks: RankList,
}

/// World ranks in order, as runs of (first, step, how many).
#[derive(Clone, Debug, PartialEq, Eq, Default, Encode, Decode, Serialize)]
pub struct RankList(pub Vec<(u32, i32, u32)>);

/// The kind of an [`MpiObject`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectKind {
    /// An RMA window.
    Window,
    /// A file opened through MPI.
    File,
}

/// An RMA window or a file.
#[derive(Clone, Debug, PartialEq, Encode, Decode, Serialize)]
pub struct MpiObject {
    /// Kind of the object.
    pub kind: ObjectKind,
    /// Dense id by kind.
    pub id: u32,
    /// Id of the communicator it was made on.
    pub comm: u32,
    /// The file's name as the program gave it, or empty.
    pub name: String,
}

/// A reading of two clocks at the same instant; the first and the last of a log give the length of a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode, Serialize)]
pub struct ClockPair {
    /// Ticks of the rank's clock.
    pub ticks: u64,
    /// CLOCK_MONOTONIC in nanoseconds.
    pub monotonic_ns: u64,
}

/// The rank's clock against rank 0's, measured once.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode, Serialize)]
pub struct ClockOffset {
    /// Ticks of this rank's clock.
    pub ticks: u64,
    /// Offset of this rank's CLOCK_MONOTONIC from rank 0's, in nanoseconds; positive if it is ahead.
    pub offset_ns: i64,
    /// Bound of the error: half the shortest round trips on the way to rank 0; 0 where both read the same clock.
    pub error_ns: u64,
}

/// The number of fields of [`ResourceUsage`].
pub const USAGE_WORDS: usize = 11;

/// Resources that the process had used by an instant (getrusage, /proc).
#[derive(Clone, Copy, Debug, PartialEq, Default, Encode, Decode, Serialize)]
pub struct ResourceUsage {
    /// Time, in ticks.
    pub ticks: u64,
    /// CPU time in user mode of all its threads.
    pub user_ns: u64,
    /// CPU time in the system.
    pub system_ns: u64,
    /// CPU time, user and system, of the thread that called MPI_Init.
    pub thread_ns: u64,
    /// Times that it gave up the core to wait.
    pub voluntary_switches: u64,
    /// Times that it was preempted.
    pub involuntary_switches: u64,
    /// Involuntary context switches of the thread that called MPI_Init.
    pub thread_involuntary_switches: u64,
    /// Time that this thread could have run but had no core (the scheduler's run delay).
    pub thread_delayed_ns: u64,
    /// Most memory that it ever had resident, in bytes.
    pub max_resident: u64,
    /// Bytes that it read from storage, without reads from the page cache or from a file system in memory.
    pub read_bytes: u64,
    /// Bytes that it wrote for storage, its log among them.
    pub written_bytes: u64,
}

impl ResourceUsage {
    /// Returns the fields in their order, as a ring's head holds them.
    pub fn to_bytes(self) -> [u8; size_of::<[u64; USAGE_WORDS]>()] {
        let mut bytes = [0; size_of::<[u64; USAGE_WORDS]>()];
        // It has room for all fields.
        let _ = bincode::encode_into_slice(self, &mut bytes, FIXED);
        bytes
    }

    /// Returns the usage that a ring's head holds from the first of `bytes` on.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bincode::decode_from_slice(bytes, FIXED).ok().map(|(usage, _)| usage)
    }
}

/// Why a log ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// MPI_Finalize.
    Finalize,
    /// exit() or return from main, without MPI_Finalize.
    Exit,
    /// MPI_Abort with this code.
    Abort(i32),
}

impl RankList {
    /// Makes a list of runs, which is short if ranks follow regular steps.
    pub fn from_ranks(ranks: impl IntoIterator<Item = u32>) -> Self {
        let mut runs: Vec<(u32, i32, u32)> = Vec::new();
        for rank in ranks {
            if let Some((first, step, count)) = runs.last_mut() {
                let distance = i64::from(rank) - i64::from(*first);
                if *count == 1 {
                    if let Ok(distance) = i32::try_from(distance) {
                        (*step, *count) = (distance, 2);
                        continue;
                    }
                } else if distance == i64::from(*step) * i64::from(*count) {
                    *count += 1;
                    continue;
                }
            }
            runs.push((rank, 0, 1));
        }
        RankList(runs)
    }

    /// Returns the number of ranks.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|&(_, _, count)| u64::from(count)).sum()
    }

    /// Returns whether there is no rank.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the world rank of `rank` in this group, or `None` if the group is smaller.
    pub fn get(&self, rank: u32) -> Option<u32> {
        let mut left = rank;
        for &(first, step, count) in &self.0 {
            if left < count {
                return u32::try_from(i64::from(first) + i64::from(step) * i64::from(left)).ok();
            }
            left -= count;
        }
        None
    }

    /// Returns the rank in the group of a world rank: its first index in the list. The effort depends on the number of runs alone.
    pub fn position(&self, world: u32) -> Option<u64> {
        let mut before = 0;
        for &(first, step, count) in &self.0 {
            let distance = i64::from(world) - i64::from(first);
            let at = match i64::from(step) {
                0 => Some(0).filter(|_| distance == 0),
                step => Some(distance / step).filter(|_| distance % step == 0),
            };
            let found = at.and_then(|at| u64::try_from(at).ok()).filter(|&at| at < u64::from(count));
            if let Some(at) = found {
                return Some(before + at);
            }
            before += u64::from(count);
        }
        None
    }

    /// Returns all ranks, in order. A hostile list may be long: check [`RankList::len`] first.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().flat_map(|&(first, step, count)| {
            (0..count).filter_map(move |i| u32::try_from(i64::from(first) + i64::from(step) * i64::from(i)).ok())
        })
    }
}

impl Communicator {
    /// Returns the world rank of `peer`, a rank in this communicator (in the remote group of an inter-communicator), or `None` outside of it.
    pub fn world_rank(&self, peer: i32) -> Option<u32> {
        let group = if self.remote.is_empty() { &self.group } else { &self.remote };
        group.get(u32::try_from(peer).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_definitions_have_the_numbers_of_the_document() {
        let number =
            |definition: Definition| bincode::encode_to_vec(definition, bincode::config::standard()).unwrap()[0];
        assert_eq!(number(Definition::Lifetime(LifetimePoint::Ended, 0)), 23);
        assert_eq!(number(Definition::ParallelSums(ParallelSums::default())), 24);
        assert_eq!(number(Definition::TeamPlacement(TeamPlacement::default())), 25);
        assert_eq!(number(Definition::ProfileGaps(ProfileGaps::default())), 26);
        assert_eq!(number(Definition::MutexSums(MutexSums::default())), 28);
        assert_eq!(number(Definition::ThreadPool(ThreadPool::default())), 29);
        assert_eq!(number(Definition::OffCore(OffCoreTimes::default())), 30);
        assert_eq!(number(Definition::ThreadUsage(ThreadUsage::default())), 31);
    }

    #[test]
    fn a_rank_list_gives_back_its_ranks() {
        for ranks in [vec![], vec![5], vec![0, 1, 2, 3], vec![9, 6, 3, 0, 1, 7], vec![4, 4], vec![u32::MAX, 0, 1]] {
            let list = RankList::from_ranks(ranks.iter().copied());
            assert_eq!(list.iter().collect::<Vec<_>>(), ranks);
            assert_eq!(list.len(), ranks.len() as u64);
            for (i, &rank) in ranks.iter().enumerate() {
                assert_eq!(list.get(i as u32), Some(rank));
                assert_eq!(list.position(rank), ranks.iter().position(|&one| one == rank).map(|at| at as u64));
            }
            assert_eq!(list.position(2_000), None);
            assert_eq!(list.get(ranks.len() as u32), None);
        }
    }

    #[test]
    fn a_place_in_a_list_of_billions_is_found_at_once() {
        let list = RankList(vec![(7, 0, u32::MAX); 1000]);
        assert_eq!((list.position(7), list.position(8)), (Some(0), None));
    }

    #[test]
    fn a_regular_list_is_one_run() {
        assert_eq!(RankList::from_ranks((0..1000).map(|i| i * 4)).0, [(0, 4, 1000)]);
    }
}
