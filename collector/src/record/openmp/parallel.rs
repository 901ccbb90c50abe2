//! Time in parallel regions (OpenMP): what the threads of a team do in one instance, and sums over instances.
//!
//! ```text
//!   region    begin                                                  end     the thread that starts it sees these
//!   thread 0  |fork|== useful ==|.mutex.|== useful ==|..... end wait ....|join|
//!   thread 1  |fork |== useful ==|..... barrier ......|== useful ==|ewait|join|
//! ```
//!
//! Thread time of an instance is its elapsed time times the number of its threads. [`divide_thread_time`] divides it into parts that add up to it. So each
//! figure of a report is a sum of them.

use bincode::{Decode, Encode};
use serde::Serialize;

/// Maximum number of threads of a team whose own times are kept. The times of the others are in the sums alone.
pub const MAX_MEMBERS: usize = 256;

/// The times of one thread in an instance, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemberTimes {
    /// Time at which it entered the region's function.
    pub begin: u64,
    /// Time at which it left the function, or the last task that it ran after that, in the barrier that ends the region.
    pub end: u64,
    /// Waits for other threads of the team at barriers, without the time from `end` on.
    pub barrier: u64,
    /// Waits for a critical section, an atomic operation or a lock.
    pub mutex: u64,
    /// Waits for its turn in an ordered section.
    pub ordered: u64,
    /// Waits for tasks.
    pub tasks: u64,
    /// Time in MPI, and in the recorder.
    pub mpi: u64,
}

impl MemberTimes {
    /// Returns the waits for a mutex, an ordered section or tasks.
    pub fn other_waits(&self) -> u64 {
        self.mutex + self.ordered + self.tasks
    }

    /// Returns the time in which it works.
    pub fn useful(&self) -> u64 {
        self.end.saturating_sub(self.begin).saturating_sub(self.barrier + self.other_waits() + self.mpi)
    }
}

/// The parts of thread time, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct TeamTime {
    /// Work.
    pub useful: u64,
    /// MPI, and the recorder.
    pub mpi: u64,
    /// Waiting at a barrier while another thread of the team is in MPI.
    pub idle_for_mpi: u64,
    /// Waiting at a barrier because other threads work longer.
    pub imbalance: u64,
    /// Waiting because of a critical section, an atomic operation or a lock.
    pub mutex: u64,
    /// Waiting because of an ordered section.
    pub ordered: u64,
    /// Waiting for tasks, or because others do.
    pub tasks: u64,
    /// Until the threads have begun, and after the last has come to the end.
    pub fork_join: u64,
}

impl TeamTime {
    /// Adds the times of other instances.
    pub fn add(&mut self, other: &TeamTime) {
        for (sum, part) in self.parts_mut().into_iter().zip(other.parts()) {
            *sum = sum.saturating_add(part);
        }
    }

    /// Returns the sum of all parts.
    pub fn total(&self) -> u64 {
        self.parts().into_iter().fold(0, u64::saturating_add)
    }

    /// Returns the parts, in the order of the fields.
    pub fn parts(&self) -> [u64; 8] {
        let TeamTime { useful, mpi, idle_for_mpi, imbalance, mutex, ordered, tasks, fork_join } = *self;
        [useful, mpi, idle_for_mpi, imbalance, mutex, ordered, tasks, fork_join]
    }

    fn parts_mut(&mut self) -> [&mut u64; 8] {
        let TeamTime { useful, mpi, idle_for_mpi, imbalance, mutex, ordered, tasks, fork_join } = self;
        [useful, mpi, idle_for_mpi, imbalance, mutex, ordered, tasks, fork_join]
    }
}

/// Divides the thread time of an instance, from `begin` to `end`, by what the threads of its team did.
///
/// A thread idles because of imbalance as long as it waits at barriers, and no longer than it works less than the thread that works longest.
/// Longer waits at barriers follow from the waits for mutexes, turns and tasks, up to the longest of these: if all threads work equally long in a
/// critical section, each waits before or after it, and the section causes all of that. The remaining waiting is imbalance between barriers:
/// different threads work longest in turn.
pub fn divide_thread_time<'a>(
    begin: u64,
    end: u64,
    members: impl Iterator<Item = &'a MemberTimes> + Clone,
) -> TeamTime {
    let n = members.clone().count() as u64;
    let last = members.clone().map(|one| one.end).max().unwrap_or(begin).clamp(begin, end.max(begin));
    let join = end.saturating_sub(last);
    let longest = members.clone().map(MemberTimes::useful).max().unwrap_or(0);
    let most_mpi = members.clone().map(|one| one.mpi).max().unwrap_or(0);
    let mut time = TeamTime { fork_join: n * join, ..TeamTime::default() };
    let (mut own, mut left, mut longest_other) = (MemberTimes::default(), 0, 0);
    for member in members {
        let useful = member.useful();
        let end_wait = last.saturating_sub(member.end);
        let barrier = member.barrier.saturating_add(end_wait);
        let for_mpi = barrier.min(most_mpi - member.mpi);
        let imbalance = (barrier - for_mpi).min(longest - useful);
        time.useful += useful;
        time.mpi += member.mpi;
        time.idle_for_mpi += for_mpi;
        time.imbalance += imbalance;
        time.fork_join += member.begin.saturating_sub(begin);
        left += barrier - for_mpi - imbalance;
        longest_other = longest_other.max(member.other_waits());
        own.mutex += member.mutex;
        own.ordered += member.ordered;
        own.tasks += member.tasks;
    }
    let others = own.other_waits();
    let following = left.min((n * longest_other).saturating_sub(others));
    time.imbalance += left - following;
    time.ordered = own.ordered + proportional_part(following, own.ordered, others);
    time.tasks = own.tasks + proportional_part(following, own.tasks, others);
    time.mutex = others + following - time.ordered - time.tasks;
    time
}

/// Returns the part of `amount` that belongs to `part` of a `whole`, or 0 if the whole is 0.
fn proportional_part(amount: u64, part: u64, whole: u64) -> u64 {
    match whole {
        0 => 0,
        whole => (u128::from(amount) * u128::from(part) / u128::from(whole)) as u64,
    }
}

/// Sums over all instances for one thread of the teams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct MemberSums {
    /// Work.
    pub useful: u64,
    /// MPI, and the recorder.
    pub mpi: u64,
    /// Waits for a mutex, a turn or tasks, its own alone.
    pub waits: u64,
    /// Instances in which it is the first of those that work longest.
    pub longest: u64,
}

/// Sums over the instances of a parallel region that were started from one call site by one thread with one size of team, in ticks. A later
/// definition of the same id takes the place of an earlier one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct ParallelSums {
    /// Dense id.
    pub id: u32,
    /// Number in this log of the thread that starts them, or [`crate::record::NONE`]: it calls no MPI function.
    pub thread: u32,
    /// Id of the call site that stands for the region: of its function within the call that starts it, or of that call; or
    /// [`crate::record::NONE`].
    pub call_site: u32,
    /// Threads of a team.
    pub team: u32,
    /// Number of instances.
    pub instances: u64,
    /// Their elapsed time.
    pub elapsed: u64,
    /// Their thread time.
    pub time: TeamTime,
    /// The longest work of a thread, summed over instances.
    pub longest: u64,
    /// The most threads of other outermost teams of the process that were in regions when an instance began.
    pub beside: u32,
    /// Sums by the thread's number in the team: the first [`MAX_MEMBERS`].
    pub members: Vec<MemberSums>,
}

/// The kind of what threads wait for that another one holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Encode, Decode, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MutexKind {
    /// A critical section.
    #[default]
    Critical,
    /// A lock of the program.
    Lock,
    /// An atomic operation that the processor lacks.
    Atomic,
}

/// Waits for one mutex in the instances of a parallel region so far. A later definition of the same id takes the place of an earlier one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct MutexSums {
    /// Dense id.
    pub id: u32,
    /// `thread` of the region's [`ParallelSums`].
    pub thread: u32,
    /// `call_site` of the region's [`ParallelSums`].
    pub region: u32,
    /// Kind of the mutex.
    pub kind: MutexKind,
    /// Name of a critical section, or FILE+0xADDRESS of a variable; empty where neither is known.
    pub name: String,
    /// Id of the call site at which a thread waited first, or [`crate::record::NONE`].
    pub call_site: u32,
    /// Number of waits, the shortest (about 1 µs) left out.
    pub waits: u64,
    /// Their time in ticks, all threads together.
    pub ticks: u64,
    /// `team` of the region's [`ParallelSums`].
    pub team: u32,
}

/// The cores on which the threads of a team may run, and the user's settings for them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct TeamPlacement {
    /// Threads of the team.
    pub team: u32,
    /// Cores on which at least one thread of the process may run.
    pub cores: u32,
    /// Variables that the run-time library reads, as NAME=value.
    pub settings: Vec<String>,
    /// Path of the run-time library.
    pub library: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until(end: u64) -> MemberTimes {
        MemberTimes { end, ..MemberTimes::default() }
    }

    #[test]
    fn a_thread_that_works_less_idles_because_of_imbalance() {
        let time = divide_thread_time(0, 60, [until(20), until(60)].iter());
        assert_eq!(time, TeamTime { useful: 80, imbalance: 40, ..TeamTime::default() });
    }

    #[test]
    fn waits_before_and_after_a_critical_section_are_all_of_it() {
        // Thread 0 works 10 in it and waits 10 at the end; thread 1 waits 10 for it.
        let time = divide_thread_time(0, 20, [until(10), MemberTimes { mutex: 10, ..until(20) }].iter());
        assert_eq!(time, TeamTime { useful: 20, mutex: 20, ..TeamTime::default() });
    }

    #[test]
    fn waits_of_three_threads_for_one_section_are_all_of_it() {
        let late = |mutex, end| MemberTimes { mutex, ..until(end) };
        let time = divide_thread_time(0, 30, [until(10), late(10, 20), late(20, 30)].iter());
        assert_eq!(time, TeamTime { useful: 30, mutex: 60, ..TeamTime::default() });
    }

    #[test]
    fn threads_that_work_longest_in_turn_are_imbalance() {
        // ==30==|10....|   between two barriers thread 0 works longer, then thread 1.
        // 10....|==30==|
        let time = divide_thread_time(0, 60, [until(40), MemberTimes { barrier: 20, ..until(60) }].iter());
        assert_eq!(time, TeamTime { useful: 80, imbalance: 40, ..TeamTime::default() });
    }

    #[test]
    fn threads_wait_for_the_one_that_calls_mpi() {
        let first = MemberTimes { mpi: 30, ..until(50) };
        let time = divide_thread_time(0, 50, [first, until(20), until(15)].iter());
        let parts = TeamTime { useful: 55, mpi: 30, idle_for_mpi: 60, imbalance: 5, ..TeamTime::default() };
        assert_eq!(time, parts);
    }

    #[test]
    fn late_begins_and_the_join_are_neither_work_nor_waiting() {
        let late = MemberTimes { begin: 5, ..until(45) };
        let time = divide_thread_time(0, 50, [MemberTimes { begin: 1, ..until(45) }, late].iter());
        assert_eq!(time, TeamTime { useful: 84, imbalance: 0, fork_join: 16, ..TeamTime::default() });
    }

    #[test]
    fn parts_add_up_to_the_thread_time() {
        let mut state = 88_172_645_463_325_252_u64;
        let mut random = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        for _ in 0..2000 {
            let members: Vec<MemberTimes> = (0..1 + random(6))
                .map(|_| {
                    let begin = 1000 + random(100);
                    let waits = [random(50), random(50), random(50), random(50), random(50)];
                    let [barrier, mutex, ordered, tasks, mpi] = waits;
                    let end = begin + waits.iter().sum::<u64>() + random(500);
                    MemberTimes { begin, end, barrier, mutex, ordered, tasks, mpi }
                })
                .collect();
            let end = members.iter().map(|one| one.end).max().unwrap_or(0) + random(20);
            let time = divide_thread_time(1000, end, members.iter());
            assert_eq!(time.total(), (end - 1000) * members.len() as u64, "{members:?}: {time:?}");
        }
    }
}
