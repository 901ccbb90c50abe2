//! The threads' clocks in several replays at once.
//!
//! A replay goes over the same steps in the same order as the run did; what changes is how long they take. So each thread has a clock
//! for each replay, in nanoseconds from the begin of the run, and what others will wait for notes the clocks of who does it.
//!
//! Of a part of the run the replays are of its window. Before that all is as it was: clocks of replays in which calls take what they took
//! show the time until the window begins, the others show 0. A thread's time is what its clock shows at the end of its window; of a call
//! that goes on there, no more than it lasted until then. Behind that clocks go on, for others may wait.

use super::conditions::{Condition, Network, Work};
use crate::timeline::{Kind, Ns};

/// Clocks noted at some time, one for each replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noted(u32);

/// What changes in a replay.
#[derive(Clone, Debug)]
struct Replay {
    work: Work,
    /// Whether calls take what they took besides waiting.
    measured: bool,
    latency_ns: f64,
    ns_per_byte: f64,
}

/// The clocks of all threads in all replays.
#[derive(Debug, Default)]
pub struct Clocks {
    replays: Vec<Replay>,
    /// By replay: 1 where calls take what they took besides waiting, else 0.
    measured: Vec<f64>,
    /// By thread, what it did last outside of MPI, and then by replay, how many times as long that takes.
    kinds: Vec<Option<Kind>>,
    rates: Vec<f64>,
    /// The rank of each thread.
    ranks: Vec<u32>,
    /// By thread, then by replay.
    now: Vec<f64>,
    /// The same when each thread entered its last call.
    entered: Vec<f64>,
    /// By number of the note, then by replay.
    noted: Vec<f64>,
    free: Vec<u32>,
    /// When the first window begins.
    begin: Ns,
    /// The window of each thread.
    windows: Vec<(Ns, Ns)>,
    /// By thread: its clocks at the end of its window; empty before.
    at_end: Vec<Vec<f64>>,
}

impl Clocks {
    /// Clocks for replays under these conditions of what begins at a time, without threads yet.
    pub fn new(conditions: &[Condition], begin: Ns) -> Self {
        let replays = conditions.iter().map(|condition| {
            let (measured, latency_ns, ns_per_byte) = match condition.network {
                Network::Measured => (true, 0.0, 0.0),
                Network::Given { latency_s, bytes_per_s } => (false, latency_s * 1e9, 1e9 / bytes_per_s),
            };
            Replay { work: condition.work.clone(), measured, latency_ns, ns_per_byte }
        });
        let replays: Vec<Replay> = replays.collect();
        let measured = replays.iter().map(|replay| if replay.measured { 1.0 } else { 0.0 }).collect();
        Clocks { replays, measured, begin, ..Clocks::default() }
    }

    /// A further thread of a rank that begins `late` nanoseconds after the run, and its window; its number is the next one.
    pub fn add_thread(&mut self, rank: u32, late: Ns, window: (Ns, Ns)) {
        self.ranks.push(rank);
        self.windows.push(window);
        self.at_end.push(Vec::new());
        self.now.resize(self.now.len() + self.replays.len(), 0.0);
        self.entered.resize(self.now.len(), 0.0);
        self.rates.resize(self.now.len(), 0.0);
        self.kinds.push(None);
        self.set(self.ranks.len() as u32 - 1, late);
    }

    /// Sets a thread's clocks to a time that is not behind the begin of its window.
    fn set(&mut self, thread: u32, time: Ns) {
        let n = self.replays.len();
        let (at, shown) = (thread as usize * n, (time - self.begin) as f64);
        if let Some(clocks) = self.now.get_mut(at..at + n) {
            clocks
                .iter_mut()
                .zip(&self.replays)
                .for_each(|(clock, replay)| *clock = if replay.measured { shown } else { 0.0 });
        }
    }

    fn window(&self, thread: u32) -> (Ns, Ns) {
        self.windows.get(thread as usize).copied().unwrap_or((self.begin, Ns::MAX))
    }

    /// A thread is in a call: from when on that counts, with its clocks set where the window begins within; `None`: it does not.
    pub fn begin_call(&mut self, thread: u32, (from, to): (Ns, Ns)) -> Option<Ns> {
        let (begin, _) = self.window(thread);
        if from < begin {
            if to <= begin {
                return None;
            }
            self.set(thread, begin);
            self.enter(thread, begin);
        }
        Some(from.max(begin))
    }

    /// The call is over: it counts until the end of the window.
    pub fn end_call(&mut self, thread: u32, (from, to): (Ns, Ns)) {
        let (_, end) = self.window(thread);
        if from <= end && end < to {
            let n = self.replays.len();
            let at = thread as usize * n;
            let entered = self.entered.get(at..at + n).unwrap_or_default();
            let clocks = self.now.get(at..at + n).unwrap_or_default().iter().zip(entered);
            let cut = clocks.map(|(&now, &entered)| now.min(entered + (end - from) as f64)).collect();
            if let Some(place) = self.at_end.get_mut(thread as usize).filter(|place| place.is_empty()) {
                *place = cut;
            }
        }
    }

    /// A thread enters a call at a time.
    #[inline]
    pub fn enter(&mut self, thread: u32, time: Ns) {
        if time <= self.window(thread).0 {
            self.set(thread, time);
        }
        let n = self.replays.len();
        let at = thread as usize * n;
        if let (Some(clocks), Some(place)) = (self.now.get(at..at + n), self.entered.get_mut(at..at + n)) {
            place.copy_from_slice(clocks);
        }
    }

    fn of(&mut self, thread: u32) -> &mut [f64] {
        let n = self.replays.len();
        let at = thread as usize * n;
        self.now.get_mut(at..at + n).unwrap_or_default()
    }

    /// A thread does something of a kind outside of MPI, from a time until another.
    #[inline]
    pub fn compute(&mut self, thread: u32, kind: Kind, (from, to): (Ns, Ns)) {
        let (begin, end) = self.window(thread);
        if to <= begin {
            return;
        }
        if from < begin {
            self.set(thread, begin);
        }
        let from = from.max(begin);
        if from <= end && end < to {
            self.spend(thread, kind, end - from);
            let clocks = self.of(thread).to_vec();
            if let Some(place) = self.at_end.get_mut(thread as usize).filter(|place| place.is_empty()) {
                *place = clocks;
            }
            self.spend(thread, kind, to - end);
        } else {
            self.spend(thread, kind, to - from);
        }
    }

    #[inline]
    fn spend(&mut self, thread: u32, kind: Kind, ns: Ns) {
        let n = self.replays.len();
        let at = thread as usize * n;
        if self.kinds.get(thread as usize) != Some(&Some(kind)) {
            self.find_rates(thread, kind);
        }
        let (Some(clocks), Some(rates)) = (self.now.get_mut(at..at + n), self.rates.get(at..at + n)) else { return };
        for (clock, rate) in clocks.iter_mut().zip(rates) {
            *clock += ns as f64 * rate;
        }
    }

    /// Finds how many times as long a thread's time of a kind outside of MPI takes in each replay.
    fn find_rates(&mut self, thread: u32, kind: Kind) {
        let (n, at) = (self.replays.len(), thread as usize);
        let rank = self.ranks.get(at).copied().unwrap_or(0);
        let (Some(rates), Some(known)) = (self.rates.get_mut(at * n..at * n + n), self.kinds.get_mut(at)) else {
            return;
        };
        *known = Some(kind);
        for ((rate, replay), &measured) in rates.iter_mut().zip(&self.replays).zip(&self.measured) {
            *rate = if kind.is_computation() { replay.factor(rank, kind) } else { measured };
        }
    }

    /// A thread is `ns` nanoseconds in MPI without waiting.
    #[inline]
    pub fn communicate(&mut self, thread: u32, ns: Ns) {
        let n = self.replays.len();
        let at = thread as usize * n;
        let Some(clocks) = self.now.get_mut(at..at + n) else { return };
        for (clock, measured) in clocks.iter_mut().zip(&self.measured) {
            *clock += ns as f64 * measured;
        }
    }

    /// Notes a thread's clocks.
    pub fn note(&mut self, thread: u32) -> Noted {
        let n = self.replays.len();
        let note = self.free.pop().unwrap_or_else(|| {
            let next = self.noted.len().checked_div(n).unwrap_or(0) as u32;
            self.noted.resize(self.noted.len() + n, 0.0);
            next
        });
        let from = thread as usize * n;
        let to = note as usize * n;
        if let (Some(clocks), Some(place)) = (self.now.get(from..from + n), self.noted.get_mut(to..to + n)) {
            place.copy_from_slice(clocks);
        }
        Noted(note)
    }

    /// Makes what is noted the later of it and a thread's clocks.
    pub fn note_later(&mut self, note: Noted, thread: u32) {
        let n = self.replays.len();
        let (from, to) = (thread as usize * n, note.0 as usize * n);
        if let (Some(clocks), Some(place)) = (self.now.get(from..from + n), self.noted.get_mut(to..to + n)) {
            place.iter_mut().zip(clocks).for_each(|(noted, &clock)| *noted = noted.max(clock));
        }
    }

    /// A thread can't go on before what is noted, and `bytes` bytes that take `steps` steps to come.
    #[inline]
    pub fn wait_for(&mut self, thread: u32, note: Noted, bytes: u64, steps: u32) {
        let n = self.replays.len();
        let (at, from) = (thread as usize * n, note.0 as usize * n);
        let (Some(clocks), Some(noted)) = (self.now.get_mut(at..at + n), self.noted.get(from..from + n)) else {
            return;
        };
        for ((clock, &noted), replay) in clocks.iter_mut().zip(noted).zip(&self.replays) {
            let travels = (replay.latency_ns + bytes as f64 * replay.ns_per_byte) * f64::from(steps);
            *clock = clock.max(noted + travels);
        }
    }

    /// A thread can't go on before another entered its last call, and `bytes` bytes have come from there.
    pub fn wait_for_entry(&mut self, thread: u32, other: u32, bytes: u64) {
        let n = self.replays.len();
        let (at, from) = (thread as usize * n, other as usize * n);
        let (Some(clocks), Some(entered)) = (self.now.get_mut(at..at + n), self.entered.get(from..from + n)) else {
            return;
        };
        for ((clock, &entered), replay) in clocks.iter_mut().zip(entered).zip(&self.replays) {
            *clock = clock.max(entered + replay.latency_ns + bytes as f64 * replay.ns_per_byte);
        }
    }

    /// What is noted is not needed any more.
    pub fn forget(&mut self, note: Noted) {
        self.free.push(note.0);
    }

    /// The time of each replay: the latest clock of any of the threads at the end of its window, in seconds.
    pub fn times_s(&mut self, threads: impl Iterator<Item = u32>) -> Vec<f64> {
        let mut latest = vec![0.0_f64; self.replays.len()];
        for thread in threads {
            let at_end = self.at_end.get(thread as usize).filter(|clocks| !clocks.is_empty()).cloned();
            let clocks = at_end.unwrap_or_else(|| self.of(thread).to_vec());
            latest.iter_mut().zip(clocks).for_each(|(latest, clock)| *latest = latest.max(clock));
        }
        latest.into_iter().map(|ns| ns * 1e-9).collect()
    }
}

impl Replay {
    /// How many times as long a rank's computation of a kind takes.
    #[inline]
    fn factor(&self, rank: u32, kind: Kind) -> f64 {
        match &self.work {
            Work::Measured => 1.0,
            Work::Region { regions, factors } if regions.get(kind.region() as usize) == Some(&true) => {
                factors.get(rank as usize).copied().unwrap_or(1.0)
            }
            Work::Rank(one, factor) if *one == rank => *factor,
            _ => 1.0,
        }
    }
}
