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

/// How many replays go side by side, so that a processor counts their clocks together.
const WIDTH: usize = 4;

/// Something of some replays.
type Lanes = [f64; WIDTH];

/// What is known of a thread besides its clocks.
#[derive(Debug)]
struct Thread {
    rank: u32,
    window: (Ns, Ns),
    /// What it did last outside of MPI, of which its rates are.
    kind: Option<Kind>,
    /// Its clocks at the end of its window; empty before.
    at_end: Vec<f64>,
}

/// The clocks of all threads in all replays.
#[derive(Debug, Default)]
pub struct Clocks {
    /// How long computation takes, by replay.
    work: Vec<Work>,
    /// By replay: 1 where calls take what they took besides waiting, else 0.
    measured: Vec<Lanes>,
    /// Of the network, by replay, in nanoseconds.
    latency: Vec<Lanes>,
    per_byte: Vec<Lanes>,
    threads: Vec<Thread>,
    /// By thread, then by replay: how many times as long what it did last outside of MPI takes.
    rates: Vec<Lanes>,
    /// By thread, then by replay.
    now: Vec<Lanes>,
    /// The same when each thread entered its last call.
    entered: Vec<Lanes>,
    /// By number of the note, then by replay.
    noted: Vec<Lanes>,
    free: Vec<u32>,
    /// When the first window begins.
    begin: Ns,
}

/// What belongs to number `at` in `all`, where each has `n`.
#[inline]
fn of(all: &[Lanes], at: u32, n: usize) -> &[Lanes] {
    let from = at as usize * n;
    all.get(from..from + n).unwrap_or_default()
}

/// The same, to change it.
#[inline]
fn of_mut(all: &mut [Lanes], at: u32, n: usize) -> &mut [Lanes] {
    let from = at as usize * n;
    all.get_mut(from..from + n).unwrap_or_default()
}

/// Changes each of `clocks` by what belongs to it in `others`.
#[inline]
fn change(clocks: &mut [Lanes], others: &[Lanes], by: impl Fn(f64, f64) -> f64) {
    for (clocks, others) in clocks.iter_mut().zip(others) {
        for (clock, &other) in clocks.iter_mut().zip(others) {
            *clock = by(*clock, other);
        }
    }
}

/// The later of two times, neither of which is NaN.
#[inline]
fn later(clock: f64, other: f64) -> f64 {
    if other > clock { other } else { clock }
}

impl Clocks {
    /// Clocks for replays under these conditions of what begins at a time, without threads yet.
    pub fn new(conditions: &[Condition], begin: Ns) -> Self {
        let network = |what: fn(Network) -> f64| -> Vec<Lanes> {
            let lanes = |some: &[Condition]| {
                let mut lanes = [0.0; WIDTH];
                lanes.iter_mut().zip(some).for_each(|(lane, condition)| *lane = what(condition.network));
                lanes
            };
            conditions.chunks(WIDTH).map(lanes).collect()
        };
        Clocks {
            work: conditions.iter().map(|condition| condition.work.clone()).collect(),
            measured: network(|network| if network == Network::Measured { 1.0 } else { 0.0 }),
            latency: network(|network| match network {
                Network::Measured => 0.0,
                Network::Given { latency_s, .. } => latency_s * 1e9,
            }),
            per_byte: network(|network| match network {
                Network::Measured => 0.0,
                // No bytes take no time on the slowest network, either.
                Network::Given { bytes_per_s, .. } => (1e9 / bytes_per_s).min(f64::MAX),
            }),
            begin,
            ..Clocks::default()
        }
    }

    /// How many lanes hold a clock for each replay.
    #[inline]
    fn n(&self) -> usize {
        self.measured.len()
    }

    /// A further thread of a rank that begins `late` nanoseconds after the run, and its window; its number is the next one.
    pub fn add_thread(&mut self, rank: u32, late: Ns, window: (Ns, Ns)) {
        self.threads.push(Thread { rank, window, kind: None, at_end: Vec::new() });
        for all in [&mut self.now, &mut self.entered, &mut self.rates] {
            all.resize(self.threads.len() * self.measured.len(), [0.0; WIDTH]);
        }
        self.set(self.threads.len() as u32 - 1, late);
    }

    /// Sets a thread's clocks to a time that is not behind the begin of its window.
    fn set(&mut self, thread: u32, time: Ns) {
        let (n, shown) = (self.n(), (time - self.begin) as f64);
        change(of_mut(&mut self.now, thread, n), &self.measured, |_, measured| shown * measured);
    }

    #[inline]
    fn window(&self, thread: u32) -> (Ns, Ns) {
        self.threads.get(thread as usize).map_or((self.begin, Ns::MAX), |thread| thread.window)
    }

    /// A thread is in a call: from when on that counts, with its clocks set where the window begins within; `None`: it does not.
    #[inline]
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
    #[inline]
    pub fn end_call(&mut self, thread: u32, (from, to): (Ns, Ns)) {
        let (_, end) = self.window(thread);
        if from <= end && end < to {
            let n = self.n();
            let entered = of(&self.entered, thread, n).as_flattened();
            let clocks = of(&self.now, thread, n).as_flattened().iter().zip(entered);
            let cut = clocks.map(|(&now, &entered)| now.min(entered + (end - from) as f64)).collect();
            self.ends(thread, cut);
        }
    }

    /// A thread's clocks at the end of its window, where they are not known yet.
    fn ends(&mut self, thread: u32, clocks: Vec<f64>) {
        if let Some(thread) = self.threads.get_mut(thread as usize).filter(|thread| thread.at_end.is_empty()) {
            thread.at_end = clocks;
        }
    }

    /// A thread enters a call at a time.
    #[inline]
    pub fn enter(&mut self, thread: u32, time: Ns) {
        if time <= self.window(thread).0 {
            self.set(thread, time);
        }
        let n = self.n();
        change(of_mut(&mut self.entered, thread, n), of(&self.now, thread, n), |_, now| now);
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
            let clocks = of(&self.now, thread, self.n()).as_flattened().to_vec();
            self.ends(thread, clocks);
            self.spend(thread, kind, to - end);
        } else {
            self.spend(thread, kind, to - from);
        }
    }

    #[inline]
    fn spend(&mut self, thread: u32, kind: Kind, ns: Ns) {
        let n = self.n();
        if self.threads.get(thread as usize).is_some_and(|thread| thread.kind != Some(kind)) {
            self.find_rates(thread, kind);
        }
        change(of_mut(&mut self.now, thread, n), of(&self.rates, thread, n), |now, rate| now + ns as f64 * rate);
    }

    /// Finds how many times as long a thread's time of a kind outside of MPI takes in each replay.
    fn find_rates(&mut self, thread: u32, kind: Kind) {
        let n = self.n();
        let Some(known) = self.threads.get_mut(thread as usize) else { return };
        known.kind = Some(kind);
        let rates = of_mut(&mut self.rates, thread, n);
        rates.copy_from_slice(&self.measured);
        if kind.is_computation() {
            for (rate, work) in rates.as_flattened_mut().iter_mut().zip(&self.work) {
                *rate = factor(work, known.rank, kind).min(f64::MAX);
            }
        }
    }

    /// A thread is `ns` nanoseconds in MPI without waiting.
    #[inline]
    pub fn communicate(&mut self, thread: u32, ns: Ns) {
        let n = self.n();
        change(of_mut(&mut self.now, thread, n), &self.measured, |now, measured| now + ns as f64 * measured);
    }

    /// Notes a thread's clocks.
    #[inline]
    pub fn note(&mut self, thread: u32) -> Noted {
        let n = self.n();
        let note = self.free.pop().unwrap_or_else(|| {
            let next = self.noted.len().checked_div(n).unwrap_or(0) as u32;
            self.noted.resize(self.noted.len() + n, [0.0; WIDTH]);
            next
        });
        change(of_mut(&mut self.noted, note, n), of(&self.now, thread, n), |_, now| now);
        Noted(note)
    }

    /// Makes what is noted the later of it and a thread's clocks.
    pub fn note_later(&mut self, note: Noted, thread: u32) {
        let n = self.n();
        change(of_mut(&mut self.noted, note.0, n), of(&self.now, thread, n), later);
    }

    /// A thread can't go on before what is noted, and `bytes` bytes that take `steps` steps to come.
    #[inline]
    pub fn wait_for(&mut self, thread: u32, note: Noted, bytes: u64, steps: u32) {
        let n = self.n();
        let (clocks, from) = (of_mut(&mut self.now, thread, n), of(&self.noted, note.0, n));
        wait(clocks, from, (&self.latency, &self.per_byte), bytes, steps);
    }

    /// A thread can't go on before another entered its last call, and `bytes` bytes have come from there.
    pub fn wait_for_entry(&mut self, thread: u32, other: u32, bytes: u64) {
        let n = self.n();
        let (clocks, from) = (of_mut(&mut self.now, thread, n), of(&self.entered, other, n));
        wait(clocks, from, (&self.latency, &self.per_byte), bytes, 1);
    }

    /// What is noted is not needed any more.
    #[inline]
    pub fn forget(&mut self, note: Noted) {
        self.free.push(note.0);
    }

    /// The time of each replay: the latest clock of any of the threads at the end of its window, in seconds.
    pub fn times_s(&self, threads: impl Iterator<Item = u32>) -> Vec<f64> {
        let mut latest = vec![0.0_f64; self.work.len()];
        for thread in threads {
            let at_end = self.threads.get(thread as usize).map(|thread| thread.at_end.as_slice());
            let now = of(&self.now, thread, self.n()).as_flattened();
            let clocks = at_end.filter(|clocks| !clocks.is_empty()).unwrap_or(now);
            latest.iter_mut().zip(clocks).for_each(|(latest, &clock)| *latest = latest.max(clock));
        }
        latest.into_iter().map(|ns| ns * 1e-9).collect()
    }
}

/// Makes clocks the later of them and of what comes from others over networks of these latencies, and times for a byte.
#[inline]
fn wait(clocks: &mut [Lanes], from: &[Lanes], networks: (&[Lanes], &[Lanes]), bytes: u64, steps: u32) {
    let (bytes, steps) = (bytes as f64, f64::from(steps));
    for (((clocks, from), latency), per_byte) in clocks.iter_mut().zip(from).zip(networks.0).zip(networks.1) {
        for i in 0..WIDTH {
            clocks[i] = later(clocks[i], from[i] + (latency[i] + bytes * per_byte[i]) * steps);
        }
    }
}

/// How many times as long a rank's computation of a kind takes.
#[inline]
fn factor(work: &Work, rank: u32, kind: Kind) -> f64 {
    match work {
        Work::Measured => 1.0,
        Work::Region { regions, factors } if regions.get(kind.region() as usize) == Some(&true) => {
            factors.get(rank as usize).copied().unwrap_or(1.0)
        }
        Work::Rank(one, factor) if *one == rank => *factor,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use lbprof_collector::Activity;

    use super::*;

    #[test]
    fn no_bytes_and_no_work_take_no_time_however_slow_both_are() {
        let network = Network::Given { latency_s: 0.0, bytes_per_s: f64::MIN_POSITIVE / 4.0 };
        let slow = Work::Rank(1, f64::INFINITY);
        let mut clocks = Clocks::new(&[Condition { network, work: slow }], 0);
        (0..2).for_each(|rank| clocks.add_thread(rank, 0, (0, Ns::MAX)));
        let computation = Kind::new(0, Activity::Computation);
        clocks.compute(0, computation, (0, 100));
        clocks.compute(1, computation, (50, 50));
        let noted = clocks.note(0);
        clocks.wait_for(1, noted, 0, 3);
        assert_eq!(clocks.times_s([1].into_iter()), [100.0 * 1e-9]);
        clocks.wait_for(1, noted, 8, 1);
        assert_eq!(clocks.times_s([1].into_iter()), [f64::INFINITY]);
    }
}
