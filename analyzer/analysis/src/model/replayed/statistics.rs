//! Statistics of single calls and messages: who sends to whom, how large and how long they are, and what ranks do when.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use bincode::{Decode, Encode};
use lbprof_collector::{Activity, CoreState};
use rustc_hash::FxHashMap;

use super::waits::WaitCall;
use crate::model::code::region_state::{Ns, RegionState};
use crate::model::ranks::interval::TimeInterval;

/// Statistics of a run, or of a part of one, of all threads; activities over time are of first threads.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct RunStatistics {
    /// Messages by world ranks of sender and receiver.
    pub messages: FxHashMap<(u32, u32), MessageVolume>,
    /// Messages between pairs that are not in there, because there are too many.
    pub unlisted: MessageVolume,
    /// Sizes of all messages.
    pub message_sizes: SizeHistogram,
    /// By number of the operation: what its calls send, write or contribute.
    pub sizes: BTreeMap<u16, SizeHistogram>,
    /// Durations of calls, by call site (NONE: not known) and number of the operation.
    pub calls: FxHashMap<(u32, u16), CallDurations>,
    /// Time of the ranks' first threads in calls besides waiting for other ranks. Files, and calls that manage objects, are left out.
    pub transfers: TransferTimes,
    /// By index of the communicator; NONE: calls on none, or on one that is not known.
    pub communicators: BTreeMap<u32, CommunicatorCalls>,
    /// Activities of ranks over time.
    pub time_windows: TimeWindows,
}

/// Messages and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct MessageVolume {
    /// Messages.
    pub messages: u64,
    /// Bytes.
    pub bytes: u64,
}

impl MessageVolume {
    /// Adds messages and bytes.
    pub fn add(&mut self, messages: u64, bytes: u64) {
        self.messages = self.messages.saturating_add(messages);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// Number of classes of sizes: of 0, 1, 2 and 3, 4 to 7 bytes, and so on, up to 2⁶⁴ − 1.
pub const CLASSES: usize = 65;

/// Number of messages or calls by size.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct SizeHistogram {
    /// By the number of bits of the size.
    pub classes: [MessageVolume; CLASSES],
}

impl Default for SizeHistogram {
    fn default() -> Self {
        SizeHistogram { classes: [MessageVolume::default(); CLASSES] }
    }
}

impl SizeHistogram {
    /// Counts one of a size.
    pub fn count(&mut self, bytes: u64) {
        self.classes[(u64::BITS - bytes.leading_zeros()) as usize].add(1, bytes);
    }

    /// Adds others.
    pub fn add(&mut self, other: &SizeHistogram) {
        for (all, more) in self.classes.iter_mut().zip(&other.classes) {
            all.add(more.messages, more.bytes);
        }
    }

    /// The classes that occur, as their least and largest size and what there is of it.
    pub fn occurring(&self) -> impl Iterator<Item = (u64, u64, MessageVolume)> {
        let occurs = self.classes.iter().enumerate().filter(|(_, volume)| volume.messages > 0);
        occurs.map(|(bits, volume)| match bits {
            0 => (0, 0, *volume),
            bits => (1 << (bits - 1), u64::MAX >> (CLASSES - 1 - bits), *volume),
        })
    }
}

/// Durations of calls, in nanoseconds. Whole numbers: in whatever groups calls are added, the sums are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct CallDurations {
    /// Number of calls.
    pub calls: u64,
    /// Total duration.
    sum: u128,
    /// Their squares.
    squares: u128,
    /// The shortest, and the lowest world rank that has it.
    pub min: (Ns, u32),
    /// The longest, likewise.
    pub max: (Ns, u32),
}

impl CallDurations {
    /// Counts a call of `rank`.
    #[inline]
    pub fn count(&mut self, time: Ns, rank: u32) {
        let ns = u128::from(time.unsigned_abs());
        let one = CallDurations { calls: 1, sum: ns, squares: ns * ns, min: (time, rank), max: (time, rank) };
        self.add(&one);
    }

    /// Adds other calls.
    pub fn add(&mut self, other: &CallDurations) {
        if self.calls == 0 {
            *self = *other;
            return;
        }
        if other.calls == 0 {
            return;
        }
        self.calls += other.calls;
        self.sum = self.sum.saturating_add(other.sum);
        self.squares = self.squares.saturating_add(other.squares);
        self.min = self.min.min(other.min);
        if other.max.0 > self.max.0 || (other.max.0 == self.max.0 && other.max.1 < self.max.1) {
            self.max = other.max;
        }
    }

    /// Their mean, in seconds; `None` where there is none.
    pub fn mean_s(&self) -> Option<f64> {
        (self.calls > 0).then(|| self.sum as f64 * 1e-9 / self.calls as f64)
    }

    /// Returns their population standard deviation in seconds, or `None` if there are no calls.
    pub fn deviation_s(&self) -> Option<f64> {
        (self.calls > 0).then(|| {
            let calls = u128::from(self.calls);
            // sum² / calls, without squaring the sum.
            let (mean, rest) = (self.sum / calls, self.sum % calls);
            let of_mean = mean.saturating_mul(self.sum).saturating_add(rest.saturating_mul(self.sum) / calls);
            (self.squares.saturating_sub(of_mean) as f64 / self.calls as f64).sqrt() * 1e-9
        })
    }
}

/// Shortest time in a call, besides waiting for other ranks, from which on the call is listed by its duration: 131 µs. Shorter calls are many, and no delays.
const MIN_LISTED_NS: Ns = 1 << 17;

/// Most ranks that are listed of the calls of a duration.
pub const MAX_DELAYED_RANKS: usize = 64;

/// Time in calls besides waiting for other ranks: in the MPI library and in the network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct TransferTimes {
    /// Nanoseconds of all calls.
    pub all_ns: u128,
    /// Calls of at least 131 µs, by place and then by the number of bits of their nanoseconds.
    pub long: BTreeMap<WaitCall, BTreeMap<u8, LongCalls>>,
}

impl TransferTimes {
    /// Counts a call in which a rank transfers during `time`.
    #[inline]
    pub fn count(&mut self, call: WaitCall, time: TimeInterval, rank: u32, bytes: u64) {
        let ns = time.ns();
        self.all_ns += u128::from(ns.unsigned_abs());
        if ns >= MIN_LISTED_NS {
            let bits = (Ns::BITS - ns.leading_zeros()) as u8;
            let (ns, first, ranks) = (u128::from(ns.unsigned_abs()), time.begin, BTreeSet::from([rank]));
            let one = LongCalls { calls: 1, ns, bytes, first, last: first, ranks };
            self.long.entry(call).or_default().entry(bits).or_default().add(&one);
        }
    }

    /// Adds other calls.
    pub fn add(&mut self, other: &TransferTimes) {
        self.all_ns = self.all_ns.saturating_add(other.all_ns);
        for (&call, durations) in &other.long {
            let own = self.long.entry(call).or_default();
            for (&bits, calls) in durations {
                own.entry(bits).or_default().add(calls);
            }
        }
    }
}

/// Calls that take about equally long. Whole numbers: in whatever groups calls are added, the sums are the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct LongCalls {
    /// Number of calls.
    pub calls: u64,
    /// Nanoseconds besides waiting for other ranks.
    pub ns: u128,
    /// Bytes that they send and receive.
    pub bytes: u64,
    /// Begin of the first transfer.
    pub first: Ns,
    /// Begin of the last one.
    pub last: Ns,
    /// The lowest ranks that make them, at most [`MAX_DELAYED_RANKS`].
    pub ranks: BTreeSet<u32>,
}

impl LongCalls {
    /// Adds other calls.
    pub fn add(&mut self, other: &LongCalls) {
        if self.calls == 0 {
            *self = other.clone();
            return;
        }
        if other.calls == 0 {
            return;
        }
        self.calls += other.calls;
        self.ns = self.ns.saturating_add(other.ns);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.ranks.extend(&other.ranks);
        while self.ranks.len() > MAX_DELAYED_RANKS {
            self.ranks.pop_last();
        }
    }
}

/// Calls on a communicator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct CommunicatorCalls {
    /// Number of calls.
    pub calls: u64,
    /// Nanoseconds in them, of all ranks.
    pub time: i128,
    /// The part that is waiting.
    pub waiting: i128,
    /// Bytes sent, written or contributed.
    pub sent: u64,
    /// Bytes received, read or given.
    pub received: u64,
}

impl AddAssign for CommunicatorCalls {
    fn add_assign(&mut self, CommunicatorCalls { calls, time, waiting, sent, received }: CommunicatorCalls) {
        self.calls += calls;
        self.time += time;
        self.waiting += waiting;
        self.sent = self.sent.saturating_add(sent);
        self.received = self.received.saturating_add(received);
    }
}

/// Number of windows of time.
pub const TIME_WINDOWS: usize = 50;

/// The number of waiting among states: those before it are the activities.
pub const WAITING: usize = Activity::COUNT;

/// States in windows and on timelines: the activities by number, waiting, and the states of computation that were recorded.
pub const STATES: usize = WAITING + 1 + CoreState::COUNT;

/// Returns the number of a thread's state among these; `None`: a message's delay, or time that no record covers.
pub fn state_number(kind: RegionState) -> Option<usize> {
    let of_computation = kind.core_state().map(|state| WAITING + 1 + state as usize);
    of_computation.or(kind.activity().map(|activity| activity as usize))
}

/// Returns the name of a state by its number among these.
pub fn state_name(number: usize) -> &'static str {
    match number.checked_sub(WAITING) {
        None => Activity::ALL[number].name(),
        Some(0) => "waiting",
        Some(after) => CoreState::from_number(after - 1).map_or("", CoreState::name),
    }
}

/// Activities of ranks in windows of time, all equally long.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct TimeWindows {
    /// Length of each window.
    pub length: Ns,
    /// By window, nanoseconds of all ranks in each state, by [`state_number`]: activities are without what they wait.
    pub states: Vec<[Ns; STATES]>,
    /// By window, and by rank as in the model, nanoseconds of computation.
    pub computation: Vec<Vec<Ns>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_calls_are_listed_by_duration_in_whatever_groups_they_are_added() {
        const MS: Ns = 1_000_000;
        const CALL: WaitCall = WaitCall { site: 7, operation: 1 };
        let calls = [(0, 10, 3), (20, 20, 1), (50, 150, 2), (400, 500, 0), (600, 610, 1)];
        let mut all = TransferTimes::default();
        let mut parts = [TransferTimes::default(), TransferTimes::default()];
        for (at, &(begin, end, rank)) in calls.iter().enumerate() {
            let time = TimeInterval::new(MS * begin, MS * end);
            for times in [&mut all, &mut parts[at % 2]] {
                times.count(CALL, time, rank, 8);
            }
        }
        let [mut joined, later] = parts;
        joined.add(&later);
        assert_eq!(joined, all);
        assert_eq!(all.all_ns, 220_000_000);
        let durations: Vec<&LongCalls> = all.long[&CALL].values().collect();
        let [short, long] = durations.as_slice() else { panic!("{durations:?}") };
        assert_eq!((short.calls, short.bytes, short.first, short.last), (2, 16, 0, 600 * MS));
        assert_eq!((long.calls, long.ns, long.first, long.last), (2, 200_000_000, 50 * MS, 400 * MS));
        assert_eq!(long.ranks, BTreeSet::from([0, 2]));
    }

    #[test]
    fn the_deviation_of_many_long_calls_that_hardly_differ_is_known() {
        let (mut all, hour) = (CallDurations::default(), 3_600_000_000_000);
        for time in [hour - 3, hour + 3] {
            all.count(time, 0);
        }
        // A million million of them.
        for _ in 0..40 {
            let half = all;
            all.add(&half);
        }
        assert!((all.deviation_s().unwrap() - 3e-9).abs() < 1e-20);
    }
}
