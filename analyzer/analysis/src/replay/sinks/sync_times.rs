//! Tracks when two threads synchronised, by a message or in a collective (T* in docs/metrics.md §4).
//!
//! A wait is explained by what both threads did between T* and the event that ended the wait. A synchronisation has two times: at
//! `available_ns` one side did what the other needs of it, at `collected_ns` the other was done with the call in which it took note of that.
//!
//! ```text
//!   synchronisation by            available_ns                     collected_ns
//!   a message, for its receiver   the send begins²³                the call ends that completes the receive
//!   a message, for its sender¹    the receive is posted³           the call ends that completes the send
//!   a rooted collective, a scan,  the needed rank enters           the call ends that completes it
//!     neighbours
//!   post/start, complete/wait     the post or complete begins      the call ends that awaited it
//!   a lock                        the other begins to unlock       the call ends that asked for it
//!   a collective of all, a fence  the last rank enters             the same: no member can leave it before
//! ```
//!
//! ¹ If the send is synchronous, or standard and of more than 4096 bytes (`MIN_BYTES_THAT_NEED_PROGRESS`), and the receive is posted³ during the call that completes
//! the send, whether or not that call was seen to wait. A smaller send may be seen to wait (`progress.rs`); that synchronises nothing.
//!
//! ² Not before the collecting call begins, as below.
//!
//! ³ Not before the other side is back in MPI, where the message could not move before (`progress.rs`).
//!
//! T* is the latest available time of those that were collected before the event, for only these can have influenced it:
//!
//! ```text
//!                 T*: the send to b          event: the send to a
//!   a  ---compute--|s|==== compute ====|......|--
//!   b  ---compute----|. waits for c ...|= compute =|s|--   collected: the end of b's wait, which lies before the event
//! ```
//!
//! The end of the collecting call would be too late a T*: b's wait for c would be before it, so that a's computation since the send had
//! nothing to cancel against, and b would be blamed. Now b's wait is on its path, and is replaced by its causes.
//!
//! A message that lies there when its receiver comes for it does not show why the receiver is late. Where the receiver waits for the sender
//! later, it is available when the receiver comes: time that the sender gained by then, or lost again, caused no wait. Where the sender waits for
//! the receiver later, it does not synchronise:
//!
//! ```text
//!   a  ---compute--|s|...... waits for b .......|--        b is late because it has waited for c: T* is not a's send, from which on
//!   b  ---. waits for c .|==== compute ====|r|s|---        b only computes, but what was before that
//! ```
//!
//! A message that ended its receiver's wait synchronises the sender, where that waits later, with the end of the wait.

use lbprof_collector::record::NONE;

use crate::model::code::region_state::Ns;
use crate::model::ranks::interval::TimeInterval;
use crate::replay::comm_members::CommMembers;

/// Number of synchronisations that are kept of each pair and communicator. The event that ended a wait lies before the end of the waiting
/// call, and some calls later than it may have been recorded by then.
const MAX_KEPT: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SyncTime {
    /// Time at which one side satisfied the other's need.
    available_ns: Ns,
    /// End of the call in which the other side took note of that.
    collected_ns: Ns,
}

#[derive(Clone, Copy, Debug)]
pub struct PairSync {
    /// The thread that did what the other needs of it.
    source: u32,
    /// The thread that took note of that.
    collector: u32,
    time: SyncTime,
    /// The two times where the source waits for the collector later, or `None` if it was there before the collector's call began.
    time_of_source: Option<SyncTime>,
}

impl PairSync {
    /// Creates the synchronisation by an event of `source` at `available_ns`, of which `collector` took note in a call of this time.
    pub fn new(source: u32, available_ns: Ns, collector: u32, call: TimeInterval) -> Self {
        let was_there = available_ns < call.begin;
        let time = SyncTime::new(available_ns.max(call.begin), call.end);
        PairSync { source, collector, time, time_of_source: (!was_there).then_some(time) }
    }

    /// Adjusts the synchronisation to the wait of the last call: thread `waited` waited for `ended_by`. If this synchronisation ended the wait, the
    /// collector waited for the source itself up to the end of the call, which cannot be the cause of a later wait of the source.
    pub fn with_wait(self, waited: u32, ended_by: u32) -> Self {
        let ends_wait = (waited, ended_by) == (self.collector, self.source) && self.time_of_source.is_some();
        let at_end = SyncTime::at_once(self.time.collected_ns);
        PairSync { time_of_source: if ends_wait { Some(at_end) } else { self.time_of_source }, ..self }
    }
}

impl SyncTime {
    const NEVER: SyncTime = SyncTime { available_ns: Ns::MIN, collected_ns: Ns::MIN };

    /// Creates the times of a synchronisation. Clocks may be wrong, but nothing is collected before it is available.
    fn new(available_ns: Ns, collected_ns: Ns) -> Self {
        SyncTime { available_ns: available_ns.min(collected_ns), collected_ns }
    }

    /// Creates the times of an event that all threads know of at once.
    fn at_once(time_ns: Ns) -> Self {
        SyncTime::new(time_ns, time_ns)
    }

    /// Returns whether it was over before an event at `time_ns`, which it may directly precede.
    fn is_before(self, time_ns: Ns) -> bool {
        self.available_ns < time_ns && self.collected_ns <= time_ns
    }

    /// Returns whether it makes another one needless: it is available no earlier, and collected no later.
    fn covers(self, other: Self) -> bool {
        self.available_ns >= other.available_ns && self.collected_ns <= other.collected_ns
    }
}

/// The last synchronisations of two threads, or of a communicator's members. Both times ascend.
#[derive(Clone, Copy, Debug)]
struct RecentSyncs([SyncTime; MAX_KEPT]);

impl RecentSyncs {
    const NEVER: Self = Self([SyncTime::NEVER; MAX_KEPT]);

    /// Records a synchronisation. They may come out of order.
    fn record(&mut self, new: SyncTime) {
        if self.0.iter().any(|kept| kept.covers(new)) {
            return;
        }
        let mut kept = [SyncTime::NEVER; MAX_KEPT + 1];
        kept[0] = new;
        for (slot, &old) in kept[1..].iter_mut().zip(&self.0) {
            if !new.covers(old) {
                *slot = old;
            }
        }
        kept.sort_unstable_by_key(|sync| sync.collected_ns);
        self.0.copy_from_slice(&kept[1..]);
    }

    fn latest_ns(&self) -> Ns {
        self.0[MAX_KEPT - 1].available_ns
    }

    /// Returns the latest available time before `time_ns`, or the first one kept if none is before.
    fn before(&self, time_ns: Ns) -> Ns {
        self.0.iter().rev().find(|sync| sync.is_before(time_ns)).unwrap_or(&self.0[0]).available_ns
    }
}

/// The last synchronisations of a thread with a lower-numbered one.
#[derive(Debug)]
struct PairSyncs {
    partner: u32,
    /// Synchronisations before waits of this thread for the partner, and before waits of the partner for this thread.
    before_waits: [RecentSyncs; 2],
}

#[derive(Debug)]
pub struct SyncTimes<'a> {
    members: &'a CommMembers<'a>,
    world_ranks: Vec<u32>,
    /// Synchronisations by messages and among some members of a communicator, indexed by the higher thread number and sorted by the lower
    /// one. Most threads have few partners.
    pairs: Vec<Vec<PairSyncs>>,
    /// Synchronisations of all members, indexed by communicator.
    collectives: Vec<RecentSyncs>,
    used_comms: Vec<u32>,
}

impl<'a> SyncTimes<'a> {
    pub fn new(members: &'a CommMembers<'a>) -> Self {
        let collectives = vec![RecentSyncs::NEVER; members.n_communicators()];
        SyncTimes { members, world_ranks: Vec::new(), pairs: Vec::new(), collectives, used_comms: Vec::new() }
    }

    pub fn add_thread(&mut self, world_rank: u32) {
        self.world_ranks.push(world_rank);
    }

    /// Records that two threads synchronised. A message of a thread to itself synchronises nothing.
    pub fn record_pair(&mut self, sync: PairSync) {
        let PairSync { source, collector, time, time_of_source } = sync;
        if source == collector {
            return;
        }
        let (partner, thread) = (source.min(collector), source.max(collector) as usize);
        if self.pairs.len() <= thread {
            self.pairs.resize_with(thread + 1, Vec::new);
        }
        let pairs = &mut self.pairs[thread];
        let index = pairs.binary_search_by_key(&partner, |pair| pair.partner).unwrap_or_else(|index| {
            pairs.insert(index, PairSyncs { partner, before_waits: [RecentSyncs::NEVER; 2] });
            index
        });
        let before_waits = &mut pairs[index].before_waits;
        before_waits[usize::from(collector < source)].record(time);
        if let Some(time) = time_of_source {
            before_waits[usize::from(source < collector)].record(time);
        }
    }

    pub fn record_collective(&mut self, comm: u32, time_ns: Ns) {
        let Some(syncs) = self.collectives.get_mut(comm as usize) else { return };
        if syncs.latest_ns() == Ns::MIN {
            self.used_comms.push(comm);
        }
        syncs.record(SyncTime::at_once(time_ns));
    }

    pub fn last_collective(&self, comm: u32) -> Option<Ns> {
        self.collectives.get(comm as usize).map(RecentSyncs::latest_ns).filter(|&time| time > Ns::MIN)
    }

    /// Returns the last time, before the wait ended at `time_ns`, at which a waiting thread and the one that ended its wait synchronised, or
    /// `Ns::MIN` if they never did.
    pub fn last_before(&self, waiting: u32, ended_by: u32, time_ns: Ns) -> Ns {
        let mut last = self.pair_syncs(waiting, ended_by).map_or(Ns::MIN, |syncs| syncs.before(time_ns));
        for &comm in &self.used_comms {
            let candidate = self.collectives[comm as usize].before(time_ns);
            if candidate > last && self.is_member(comm, waiting) && self.is_member(comm, ended_by) {
                last = candidate;
            }
        }
        last
    }

    fn pair_syncs(&self, waiting: u32, ended_by: u32) -> Option<&RecentSyncs> {
        let pairs = self.pairs.get(waiting.max(ended_by) as usize)?;
        let index = pairs.binary_search_by_key(&waiting.min(ended_by), |pair| pair.partner).ok()?;
        Some(&pairs[index].before_waits[usize::from(waiting < ended_by)])
    }

    fn is_member(&self, comm: u32, thread: u32) -> bool {
        let world_rank = self.world_ranks.get(thread as usize).copied().unwrap_or(NONE);
        self.members.contains(comm, world_rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record_all(times: &[(Ns, Ns)]) -> RecentSyncs {
        let mut syncs = RecentSyncs::NEVER;
        for &(available_ns, collected_ns) in times {
            syncs.record(SyncTime::new(available_ns, collected_ns));
        }
        syncs
    }

    #[test]
    fn the_latest_available_time_counts_of_what_was_collected_before() {
        let syncs = record_all(&[(10, 30), (20, 40)]);
        assert_eq!([29, 30, 39, 40, 99].map(|time| syncs.before(time)), [Ns::MIN, 10, 10, 20, 20]);
        // What is collected later, though it was available earlier, is nothing new.
        assert_eq!(record_all(&[(10, 30), (20, 40), (5, 50)]).before(99), 20);
        // In whatever order they come.
        assert_eq!(record_all(&[(20, 40), (5, 50), (10, 30)]).before(35), 10);
    }

    #[test]
    fn an_event_does_not_precede_itself() {
        let syncs = record_all(&[(10, 10), (20, 20)]);
        assert_eq!([20, 21].map(|time| syncs.before(time)), [10, 20]);
    }

    #[test]
    fn six_are_kept() {
        let times: Vec<(Ns, Ns)> = (1..=7).map(|i| (10 * i, 10 * i + 5)).collect();
        let syncs = record_all(&times);
        assert_eq!(syncs.before(25), 20);
        assert_eq!(syncs.before(24), 20, "of those before that nothing is known but that they were earlier");
        // Many messages that one call collects are one synchronisation.
        let at_once: Vec<(Ns, Ns)> = std::iter::once((1, 5)).chain((10..30).map(|i| (i, 40))).collect();
        assert_eq!([39, 40].map(|time| record_all(&at_once).before(time)), [1, 29]);
    }

    #[test]
    fn a_message_to_oneself_synchronises_nothing() {
        let members = CommMembers::new(&[], 2);
        let mut syncs = SyncTimes::new(&members);
        syncs.world_ranks = vec![0, 1];
        syncs.record_pair(PairSync::new(1, 5, 1, TimeInterval::new(5, 5)));
        assert!(syncs.pairs.is_empty());
    }

    #[test]
    fn nobody_waits_for_its_own_message() {
        let members = CommMembers::new(&[], 2);
        let mut syncs = SyncTimes::new(&members);
        syncs.world_ranks = vec![0, 1];
        syncs.record_pair(PairSync::new(0, 3, 1, TimeInterval::new(2, 6)).with_wait(1, 0));
        assert_eq!([syncs.last_before(1, 0, 7), syncs.last_before(0, 1, 7)], [3, 6]);
    }

    #[test]
    fn a_message_that_was_there_synchronises_where_its_receiver_waits() {
        let members = CommMembers::new(&[], 2);
        for (source, collector) in [(0, 1), (1, 0)] {
            let mut syncs = SyncTimes::new(&members);
            syncs.world_ranks = vec![0, 1];
            syncs.record_pair(PairSync::new(source, 3, collector, TimeInterval::new(2, 6)));
            syncs.record_pair(PairSync::new(source, 7, collector, TimeInterval::new(8, 9)));
            let last = |waiting, ended_by| [5, 8, 10].map(|time| syncs.last_before(waiting, ended_by, time));
            assert_eq!(last(collector, source), [Ns::MIN, 3, 8]);
            assert_eq!(last(source, collector), [Ns::MIN, 3, 3]);
        }
    }
}
