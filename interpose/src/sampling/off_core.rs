//! The times for which the rank's first thread is off its core, from the kernel's notes of its switches.

use lbprof_collector::off_core::{OffCoreTimes, ReadInterval};
use lbprof_collector::sample::Place;
use lbprof_collector::states::CoreState;

use crate::machine::processor::SYSTEM_CALL;
use crate::machine::system::memory::{MemoryReader, ReadMemory};
use crate::machine::system::perf::switches::{SwitchEvent, ThreadSwitch};
use crate::machine::system::process;
use crate::sampling::clock::SampleClock;

const WORTH_WRITING: usize = 128;

/// Number of intervals with known places at which intervals with the same place and state are joined.
const MANY_PLACED: usize = 1024;

/// Intervals with less time on a core between them, in seconds, are one.
const SHORTEST_ON_CORE_S: f64 = 50e-6;

/// Shorter sleep, in seconds, is not looked at.
const SHORTEST_STOP_S: f64 = 1e-3;

/// Distinguishes a thread that is stopped from one that sleeps. A thread goes to sleep in a system call, or while a page comes from a disk; a signal stops it between any two
/// instructions.
struct StopJudge {
    /// Page faults of the process until now that had to wait for a disk, and whether there are new ones.
    major_faults: u64,
    has_major_faults: bool,
    /// The address looked at last, and whether a system call lies before it: programs sleep in few places.
    known: Option<(usize, bool)>,
}

impl StopJudge {
    fn new() -> Self {
        StopJudge { major_faults: process::major_faults(), has_major_faults: false, known: None }
    }

    /// Prepares for the switches since the last time.
    fn begin(&mut self) {
        let faults = process::major_faults();
        self.has_major_faults = faults != self.major_faults;
        self.major_faults = faults;
    }

    /// Returns whether a thread that went off its core by itself, with its next instruction at `address`, was stopped.
    fn is_stop(&mut self, address: Option<usize>) -> bool {
        let Some(address) = address.filter(|_| !self.has_major_faults) else { return false };
        let is_call = match self.known {
            Some((known, is_call)) if known == address => is_call,
            _ => {
                let mut before = [0; SYSTEM_CALL.len()];
                // Code that is gone may have been anything.
                let is_there = MemoryReader::default().fill(address.wrapping_sub(before.len()), &mut before);
                !is_there || before == SYSTEM_CALL
            }
        };
        self.known = Some((address, is_call));
        !is_call
    }
}

/// The switches of a thread, and the intervals that are not in the log yet.
pub struct OffCoreReader {
    pub event: SwitchEvent,
    /// Ticks from which on the intervals belong to the next block.
    begin: u64,
    /// The last switch was at that time, in ticks.
    last: u64,
    /// With it the thread went off its core: the state, and where the thread is in user space.
    out: Option<(CoreState, Option<usize>)>,
    stops: StopJudge,
    waiting: Vec<ReadInterval>,
    /// End of the last one of them, with those that were joined to it; these make it longer, but not the time between them.
    joined_until: u64,
}

impl OffCoreReader {
    /// Returns a reader of the switches from `now` on, in ticks.
    pub fn new(event: SwitchEvent, now: u64) -> Self {
        OffCoreReader {
            event,
            begin: now,
            last: now,
            out: None,
            stops: StopJudge::new(),
            waiting: Vec::new(),
            joined_until: now,
        }
    }

    /// Returns whether there is enough to be written, or a slot of sums is over, which takes `slot` ticks.
    pub fn is_due(&self, now: u64, slot: u64) -> bool {
        !self.is_placed() && WORTH_WRITING <= self.waiting.len() || now.saturating_sub(self.begin) > slot
    }

    /// Returns whether the intervals have places: calls are recorded as sums.
    fn is_placed(&self) -> bool {
        self.waiting.last().is_some_and(|one| one.place.is_some())
    }

    /// Joins the intervals of one place and state to one, from the begin of the block on: with sums of calls nothing else is known of their time.
    fn join_placed(&mut self) {
        let (mut joined, mut at): (Vec<ReadInterval>, u64) = (Vec::new(), self.begin);
        for one in self.waiting.drain(..) {
            let same = joined.iter_mut().find(|known| (known.place, known.state) == (one.place, one.state));
            match same {
                Some(known) => known.end += one.end - one.begin,
                None => joined.push(one),
            }
        }
        for one in &mut joined {
            (one.begin, one.end) = (at, at + (one.end - one.begin));
            at = one.end;
        }
        self.waiting = joined;
    }

    /// Takes over the kernel's notes until `now`, in ticks. `place_at` locates the thread at given ticks, which do not decrease.
    pub fn read(&mut self, now: u64, clock: &SampleClock, mut place_at: impl FnMut(u64) -> Option<Place>) {
        let OffCoreReader { event, last, out, stops, waiting, joined_until, .. } = self;
        let shortest = (SHORTEST_ON_CORE_S * 1e9 * clock.rate()) as u64;
        let shortest_stop = (SHORTEST_STOP_S * 1e9 * clock.rate()) as u64;
        stops.begin();
        let was_full = event.is_full();
        event.read(|at_ns, switch| {
            let (begin, end) = (*last, clock.ticks(at_ns).max(*last));
            *last = end;
            match switch {
                ThreadSwitch::In => {
                    if let Some((state, address)) = out.take().filter(|_| begin < end) {
                        let is_stop = shortest_stop <= end - begin && stops.is_stop(address);
                        let state = if is_stop { CoreState::Stopped } else { state };
                        // A thread that yields again and again while it waits is on its core for moments only.
                        let same =
                            waiting.last_mut().filter(|one| one.state == state && begin - *joined_until <= shortest);
                        match same {
                            Some(one) => one.end += end - begin,
                            None => {
                                let place = place_at(begin + (end - begin) / 2);
                                waiting.push(ReadInterval { begin, end, state, place });
                            }
                        }
                        *joined_until = end;
                    }
                }
                ThreadSwitch::Sleeps(address) => *out = Some((CoreState::Asleep, address)),
                ThreadSwitch::Preempted => *out = Some((CoreState::NoCore, None)),
            }
        });
        if was_full && *last < now {
            // There was no place for what came after the last one.
            waiting.push(ReadInterval { begin: *last, end: now, state: CoreState::NotKnown, place: None });
            *joined_until = now;
            (*last, *out) = (now, None);
        }
        if self.is_placed() && MANY_PLACED <= self.waiting.len() {
            self.join_placed();
        }
    }

    /// Takes the intervals up to `now`, in ticks, all of which were read. One that goes on is for the next time.
    pub fn take(&mut self, now: u64) -> OffCoreTimes {
        if self.is_placed() {
            self.join_placed();
        }
        let end = if self.out.is_some() { self.last.min(now) } else { now };
        let times = OffCoreTimes::from_intervals(self.begin, end, &self.waiting);
        self.waiting.clear();
        self.begin = end;
        times
    }
}
