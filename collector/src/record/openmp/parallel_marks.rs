//! The instances of parallel regions among a thread's records: a marker where one begins, others where it ends.
//!
//! ```text
//!   ParallelBegin                                      ParallelWaits (one for each kind that there is)   ParallelEnd
//!   call site                                          kind, ticks                                       team, work, longest work
//!   |================ the region's instance ================|
//! ```
//!
//! With `LBPROF_OPENMP=threads`, ParallelThread before ParallelEnd says when each thread of the team enters and leaves, and what it does.
//!
//! A region that is left by longjmp or an exception has no end, nor has one in which the process dies.

use crate::operation::Operation;
use crate::parallel::{MAX_MEMBERS, MemberTimes, TeamTime};
use crate::record::Record;

/// An instance of a parallel region, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParallelInstance {
    /// Begin of the instance.
    pub begin: u64,
    /// End of the instance.
    pub end: u64,
    /// Id of the call site that stands for the region, or `u64::MAX`. In a ring it is one more.
    pub call_site: u64,
    /// Threads of the team.
    pub team: u32,
    /// Number of the first of the threads that work longest.
    pub heavy_thread: u32,
    /// The longest work of a thread.
    pub longest: u64,
    /// Thread time. A log lacks imbalance, fork and join: [`ParallelInstance::find_rest`].
    pub time: TeamTime,
}

/// The `tag` of the record of MPI, which also has the time for which other threads are idle because of it.
const MPI: i32 = 0;

/// Returns the thread time that has a record of its own with this `tag`.
fn marked_wait(time: &mut TeamTime, tag: i32) -> Option<&mut u64> {
    Some(match tag {
        MPI => &mut time.mpi,
        1 => &mut time.mutex,
        2 => &mut time.ordered,
        3 => &mut time.tasks,
        _ => return None,
    })
}

/// The times of one thread of a team in an instance, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstanceThread {
    /// Its number in the team.
    pub number: u32,
    /// Time from the instance's begin until the thread enters the region's function.
    pub until_entered: u64,
    /// Time from then until it leaves the function.
    pub inside: u64,
    /// Work. The rest of the time inside is waits at barriers.
    pub useful: u64,
    /// Waits for a mutex, an ordered section or tasks.
    pub waits: u64,
    /// MPI, and the recorder.
    pub mpi: u64,
}

impl InstanceThread {
    /// Converts the times of the thread with this number, in an instance that began at `begin`.
    pub fn from_times(number: u32, begin: u64, times: &MemberTimes) -> InstanceThread {
        InstanceThread {
            number,
            until_entered: times.begin.saturating_sub(begin),
            inside: times.end.saturating_sub(times.begin),
            useful: times.useful(),
            waits: times.other_waits(),
            mpi: times.mpi,
        }
    }

    /// Makes its markers in an instance, which come before the marker of the end.
    pub fn records(self, instance: &ParallelInstance) -> impl Iterator<Item = Record> {
        let template = Record { tag: self.number as i32, ..instance.record_at_end(Operation::ParallelThread) };
        let pairs = [(self.until_entered, self.inside), (self.useful, self.waits), (self.mpi, 0)];
        let records =
            (0..).zip(pairs).map(move |(count, (sent, received))| Record { count, sent, received, ..template });
        records.filter(|record| record.sent | record.received != 0)
    }

    fn pass(&mut self, record: &Record) {
        match record.count {
            0 => (self.until_entered, self.inside) = (record.sent, record.received),
            1 => (self.useful, self.waits) = (record.sent, record.received),
            2 => self.mpi = record.sent,
            _ => {}
        }
    }
}

impl ParallelInstance {
    /// Returns the marker of its begin.
    pub fn begin_record(begin: u64, call_site: u64) -> Record {
        Record { call_site, ..Record::new(Operation::ParallelBegin, begin) }
    }

    /// Returns the markers of its end, the last of which ends it.
    pub fn end_records(&self) -> impl Iterator<Item = Record> + '_ {
        let waits = (MPI..).map_while(move |tag| {
            let sent = *marked_wait(&mut { self.time }, tag)?;
            let received = if tag == MPI { self.time.idle_for_mpi } else { 0 };
            Some(Record { tag, sent, received, ..self.record_at_end(Operation::ParallelWaits) })
        });
        let waits = waits.filter(|record| record.sent | record.received != 0);
        let end = Record {
            tag: self.heavy_thread as i32,
            sent: self.time.useful,
            received: self.longest,
            count: self.team,
            ..self.record_at_end(Operation::ParallelEnd)
        };
        waits.chain([end])
    }

    fn record_at_end(&self, operation: Operation) -> Record {
        Record { call_site: self.call_site, ..Record::new(operation, self.end) }
    }

    /// Returns the time by which it would be shorter if all threads worked equally long.
    pub fn excess(&self) -> u64 {
        self.longest.saturating_sub(self.time.useful / u64::from(self.team.max(1)))
    }

    /// Divides the rest of the thread time into imbalance, fork and join. Threads idle because of imbalance no longer than they work less than the thread
    /// that works longest.
    fn find_rest(&mut self) {
        let whole = self.end.saturating_sub(self.begin).saturating_mul(self.team.into());
        let left = whole.saturating_sub(self.time.total());
        self.time.imbalance = left.min(self.longest.saturating_mul(self.team.into()).saturating_sub(self.time.useful));
        self.time.fork_join = left - self.time.imbalance;
    }
}

/// The instance that a thread is in, by its records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenInstance {
    instance: Option<ParallelInstance>,
    /// Threads of the instance that is open, or that ended last, if each was recorded.
    threads: Vec<InstanceThread>,
}

impl OpenInstance {
    /// Returns the begin of the open instance, and its call site.
    pub fn open(&self) -> Option<(u64, u64)> {
        self.instance.map(|open| (open.begin, open.call_site))
    }

    /// Returns the threads of the instance that ended last, by number; none if they were not recorded.
    pub fn ended_threads(&self) -> &[InstanceThread] {
        &self.threads
    }

    /// Returns the thread of the open instance with this number, unless there are too many. Threads come in order.
    fn thread_mut(&mut self, number: u32) -> Option<&mut InstanceThread> {
        if self.threads.last().is_none_or(|last| last.number < number) && self.threads.len() < MAX_MEMBERS {
            self.threads.push(InstanceThread { number, ..InstanceThread::default() });
        }
        self.threads.last_mut().filter(|last| last.number == number)
    }

    /// Moves past a marker, at these ticks. Returns the instance that it ends.
    pub fn pass(&mut self, record: &Record, ticks: u64) -> Option<ParallelInstance> {
        match record.operation() {
            Some(Operation::ParallelBegin) => {
                let (begin, call_site) = (ticks, record.call_site);
                self.instance = Some(ParallelInstance { begin, call_site, ..ParallelInstance::default() });
                self.threads.clear();
                None
            }
            Some(Operation::ParallelWaits) => {
                let open = self.instance.as_mut()?;
                *marked_wait(&mut open.time, record.tag)? = record.sent;
                if record.tag == MPI {
                    open.time.idle_for_mpi = record.received;
                }
                None
            }
            Some(Operation::ParallelThread) => {
                self.instance?;
                self.thread_mut(u32::try_from(record.tag).ok()?)?.pass(record);
                None
            }
            Some(Operation::ParallelEnd) => {
                let mut ended = self.instance.take()?;
                // A damaged log may say that it ended before it began.
                (ended.end, ended.team) = (ticks.max(ended.begin), record.count);
                (ended.time.useful, ended.longest) = (record.sent, record.received);
                ended.heavy_thread = record.tag.max(0) as u32;
                ended.find_rest();
                Some(ended)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_back(instance: &ParallelInstance) -> Option<ParallelInstance> {
        let mut open = OpenInstance::default();
        let begin = ParallelInstance::begin_record(instance.begin, instance.call_site);
        assert_eq!(open.pass(&begin, begin.begin), None);
        let mut ended = None;
        for record in instance.end_records() {
            assert_eq!(ended, None, "the last record ends it");
            ended = open.pass(&record, record.begin);
        }
        assert_eq!(open.open(), None);
        ended
    }

    #[test]
    fn an_instance_is_as_its_markers_say() {
        let time = TeamTime { useful: 80, imbalance: 40, ..TeamTime::default() };
        let plain = ParallelInstance { begin: 10, end: 70, call_site: 3, team: 2, heavy_thread: 1, longest: 60, time };
        assert_eq!(plain.end_records().count(), 1);
        assert_eq!(read_back(&plain), Some(plain));
        assert_eq!(plain.excess(), 20);
        let time = TeamTime { mpi: 5, idle_for_mpi: 6, mutex: 7, ordered: 8, tasks: 9, useful: 60, ..time };
        let time = TeamTime { imbalance: 20, fork_join: 5, ..time };
        let waits = ParallelInstance { time, longest: 40, ..plain };
        assert_eq!(waits.end_records().count(), 5);
        assert_eq!(read_back(&waits), Some(waits));
    }

    #[test]
    fn threads_of_an_instance_are_as_their_markers_say() {
        let times = |end, mutex, mpi| MemberTimes { begin: 12, end, mutex, mpi, ..MemberTimes::default() };
        let threads = [(0, times(70, 0, 5)), (1, times(40, 8, 0)), (3, MemberTimes::default())]
            .map(|(number, times)| InstanceThread::from_times(number, 10, &times));
        assert_eq!((threads[1].until_entered, threads[1].inside, threads[1].useful, threads[1].waits), (2, 28, 20, 8));
        let instance = ParallelInstance { begin: 10, end: 70, team: 4, ..ParallelInstance::default() };
        let mut open = OpenInstance::default();
        let begin = ParallelInstance::begin_record(10, 0);
        let markers = threads.into_iter().flat_map(|thread| thread.records(&instance)).chain(instance.end_records());
        let ended: Vec<_> = [begin].into_iter().chain(markers).filter_map(|one| open.pass(&one, one.begin)).collect();
        assert_eq!(ended.len(), 1);
        // One that did nothing at all has no marker.
        assert_eq!(open.ended_threads(), &threads[..2]);
        open.pass(&ParallelInstance::begin_record(80, 0), 80);
        assert!(open.ended_threads().is_empty());
    }

    #[test]
    fn more_threads_than_are_kept_are_left_out() {
        let mut open = OpenInstance::default();
        open.pass(&ParallelInstance::begin_record(10, 0), 10);
        for number in (0..2 * MAX_MEMBERS as u32).chain([5]) {
            let thread = InstanceThread { number, useful: 7, ..InstanceThread::default() };
            for record in thread.records(&ParallelInstance::default()) {
                open.pass(&record, 10);
            }
        }
        assert_eq!(open.ended_threads().len(), MAX_MEMBERS);
    }

    #[test]
    fn ends_without_a_begin_and_begins_without_an_end_are_none() {
        let mut open = OpenInstance::default();
        let one = ParallelInstance { end: 20, team: 2, ..ParallelInstance::default() };
        assert!(one.end_records().all(|record| open.pass(&record, record.begin).is_none()));
        for begin in [30, 40] {
            assert_eq!(open.pass(&ParallelInstance::begin_record(begin, 7), begin), None);
        }
        assert_eq!(open.open(), Some((40, 7)));
    }
}
