//! What a thread does in parallel regions of OpenMP.

use lbprof_collector::parallel::MemberTimes;

/// The times of one thread of a team, in cache lines of their own.
#[repr(C, align(128))]
#[derive(Clone, Copy, Default)]
pub struct MemberSlot {
    /// The times.
    pub times: MemberTimes,
    /// Number of the region that they are of, among those of the thread that starts it; 0: none.
    pub region: u64,
}

/// What a thread does in parallel regions. All zero: it is in none.
#[derive(Clone, Copy)]
pub struct TeamMember {
    /// Where the thread's times go; null where it is in no region that counts.
    pub slot: *mut MemberSlot,
    /// The same of the region whose function it has left last: it may run tasks in the barrier that ends it.
    pub left: *mut MemberSlot,
    /// In how many regions it is.
    pub depth: u32,
    /// In how many waits it is.
    pub waits: u32,
    /// Ticks of the tasks that it has run in the innermost of these.
    pub tasks: u64,
    /// From when on its time in MPI is of interest, in ticks; 0: it is not.
    pub mpi_since: u64,
    /// What of that is in no ring any more, in ticks.
    pub mpi_flushed: u64,
    /// Slots for the teams that it starts. They are never freed.
    pub slots: *mut MemberSlot,
    /// How many there are.
    pub room: usize,
    /// Regions that it has started.
    pub regions: u64,
}
