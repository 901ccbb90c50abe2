//! The state of a thread in parallel regions of OpenMP.

use std::cell::Cell;
use std::ffi::c_void;

use lbprof_collector::parallel::{MemberTimes, MutexKind};

/// The times of one thread of a team, in cache lines of their own.
#[repr(C, align(128))]
#[derive(Clone, Copy, Default)]
pub struct MemberSlot {
    pub times: MemberTimes,
    /// Number of their region, among the regions of the thread that starts it; 0: none.
    pub region: u64,
}

/// The arguments that a compiler of LLVM's passes at the start of a region.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RegionLaunch {
    /// The address of the region's location in the source (`ident_t`).
    pub location: usize,
    /// The address of the function that the compiler has made of the region.
    pub function: usize,
}

/// An outermost region, of the thread that has started it.
#[derive(Clone, Copy)]
pub struct StartedRegion {
    /// Its call site, as the sums have it.
    pub site: *const c_void,
    /// Slots of the team's times.
    pub slots: *mut MemberSlot,
    /// Number of slots that it may use.
    pub room: usize,
    /// Its number among the regions of the thread that has started it.
    pub number: u64,
    /// Time at which it was started, in ticks.
    pub begin: u64,
    /// Threads of other teams that were in regions then.
    pub beside: u32,
}

/// A region of a run-time library that reports by itself (OMPT).
pub struct ReportedRegion {
    pub started: StartedRegion,
    /// Threads of the team; 0: not known yet.
    pub team: u32,
}

/// The stage at which a thread starts the teams of a `teams` construct.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum LeagueStart {
    /// The thread starts none, or the construct's code runs.
    None,
    League,
    /// The region that runs the construct's code was reported.
    Team,
}

/// A mutex that a thread waits for.
#[derive(Clone, Copy)]
pub struct AwaitedMutex {
    pub kind: MutexKind,
    /// The address that the program passes to acquire it; 0: of all that have none.
    pub address: usize,
    /// The return address of that call; 0: it is not known.
    pub caller: usize,
}

impl AwaitedMutex {
    pub const NONE: AwaitedMutex = AwaitedMutex { kind: MutexKind::Critical, address: 0, caller: 0 };
}

/// The state of a thread in parallel regions. All zero: it is in none.
pub struct TeamMember {
    /// Slot of the thread's times; null if it is in no region that counts.
    pub slot: Cell<*mut MemberSlot>,
    /// Slot in the region whose function it has left last: it may run tasks in the barrier that ends it.
    pub left: Cell<*mut MemberSlot>,
    /// In how many regions it is.
    pub depth: Cell<u32>,
    /// In how many waits it is.
    pub waits: Cell<u32>,
    /// Ticks of the tasks that it has run in the innermost of these.
    pub tasks: Cell<u64>,
    /// From when on its time in MPI is of interest, in ticks; 0: it is not.
    pub mpi_since: Cell<u64>,
    /// The part of it that is in no ring any more, in ticks.
    pub mpi_flushed: Cell<u64>,
    /// Slots for the teams that it starts. They are never freed.
    pub slots: Cell<*mut MemberSlot>,
    pub room: Cell<usize>,
    pub regions: Cell<u64>,
    /// The outermost region that it starts where the run-time library reports it; made with the slots.
    pub reported: Cell<*mut ReportedRegion>,
    /// Arguments that the last call that starts a region has passed to an entry of ours: the address of its location in the source, and its
    /// function.
    pub launch: Cell<RegionLaunch>,
    /// The site of such a region that is about to start, where a wrapper has found it.
    pub reported_site: Cell<*const c_void>,
    /// The stage of starting teams, as a library reports it.
    pub league: Cell<LeagueStart>,
    /// The number of the reported region whose slot it has.
    pub number: Cell<u64>,
    /// The threads of that region's team; 0: the library reports no regions.
    pub reported_size: Cell<u32>,
    /// The library's data of the task that it runs, where that is known; else null.
    pub task: Cell<*mut u64>,
    /// Reason of the wait, as the library reports: the number of a kind, or 0.
    pub wait: Cell<u32>,
    /// The kind of its last wait.
    pub pending_wait: Cell<u32>,
    /// Start of the wait, in ticks.
    pub wait_since: Cell<u64>,
    /// Time of the last wait, in ticks, if it is not in its times yet.
    pub pending: Cell<u64>,
    /// The region whose slot it has, as the sums have it.
    pub site: Cell<*const c_void>,
    /// The mutex that a call to a library that reports by itself acquires; its caller is 0 if there is none.
    pub mutex: Cell<AwaitedMutex>,
}
