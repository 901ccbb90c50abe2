//! Attributes delay costs to source lines, using samples of the delaying thread.
//!
//! ```text
//!            T*                        wait
//!   a   ─────|=·== x 5 ====|== y 2 ==|.......|        b computed 4 longer in x than a; x of b causes 3 of the wait (causes.rs).
//!   b   ─────|==·===·= x 9 =·======|= y 1 =|s→|       The samples · in b's x since T* share these 3, less those in a's x.
//! ```
//!
//! Let x cause c of the wait, and let b and a spend X_b and X_a in x. A sample of b that stands for w then gets c w / (X_b − X_a), and a
//! sample of a gets the same with a negative sign: code that ran equally long on both threads cancels, as x itself does. Few waits have
//! samples in that time, but sums over many waits are right on average. Their errors follow from the sums of squares, as for all sampled
//! figures. Delays that another thread caused through b are not attributed to b's samples. That thread has its own, wherever some thread
//! waited for it directly, and its shares are scaled to everything that it caused.

use std::collections::BTreeMap;
use std::ops::{AddAssign, Range};
use std::sync::Arc;

use bincode::{Decode, Encode};
use rustc_hash::FxHashMap;

use super::history::{PastInterval, ThreadHistory};
use super::states::{ThreadState, ThreadStates};
use super::tables::add_each;
use crate::model::code::region_state::{Ns, RegionState};
use crate::model::ranks::exact_sum::ExactNs;
use crate::model::replayed::replay_results::DelayingCode;
use crate::partial_result::PartialResult;
use lbprof_thresholds::replay::MIN_DIFFERENCE_OF_CAUSE;

/// A sample of a rank's first thread.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub struct TimedSample {
    /// Time of the sample; it stands for time before.
    pub at: Ns,
    /// The line of the source that it hit.
    pub leaf: u32,
    /// Nanoseconds of CPU time that it stands for.
    pub ns: f64,
}

#[derive(Clone, Copy, Debug)]
pub struct ActivityInterval {
    pub thread: u32,
    pub state: ThreadState,
    pub since: Ns,
    pub until: Ns,
}

/// A part of a wait that a thread caused by what it did itself.
#[derive(Clone, Copy, Debug)]
pub struct OwnCause {
    pub by: ActivityInterval,
    pub waiting: Option<ActivityInterval>,
    pub ns: f64,
}

/// The delay that samples stand for.
#[derive(Clone, Copy, Debug, Default, Encode, Decode)]
struct SampledDelay<T> {
    samples: u64,
    ns: T,
    squares: T,
}

/// A sample that shares a delay: the number of the delaying state, the index of the rank, and the index of the sample.
type Sharing = (usize, u32, usize);

/// A delay with exact sums, which can be merged in any order.
type ExactSampledDelay = SampledDelay<ExactNs>;

impl AddAssign for ExactSampledDelay {
    fn add_assign(&mut self, ExactSampledDelay { samples, ns, squares }: ExactSampledDelay) {
        self.samples += samples;
        self.ns += ns;
        self.squares += squares;
    }
}

/// The delays that threads caused by their own activity, attributed to samples.
#[derive(Debug, Default, Encode, Decode)]
pub struct DelaySums {
    /// By thread and kind, and the line.
    shares: BTreeMap<((u32, RegionState), u32), ExactSampledDelay>,
    /// By thread and kind: nanoseconds caused that have been shared out, or for which there were no samples.
    own: BTreeMap<(u32, RegionState), ExactNs>,
}

#[derive(Debug, Default)]
pub struct DelayTotals {
    /// By place of the rank, in the order of time.
    samples: Arc<Vec<Vec<TimedSample>>>,
    /// By thread: the place of the rank whose first thread it is.
    ranks: Vec<Option<u32>>,
    /// The delay of each sample, over all waiting threads: one sample is one piece of luck, however many wait for it.
    shares: FxHashMap<Sharing, f64>,
    /// By number of what is done, and the line.
    sums: FxHashMap<(usize, u32), SampledDelay<f64>>,
    /// By number of what is done: nanoseconds caused that have been shared out, or for which there were no samples.
    own: Vec<f64>,
}

/// Maximum number of shares that are kept apart. If there are more, the errors are a little too small.
const MOST_SHARES: usize = 1 << 20;

impl DelayTotals {
    /// Starts with the samples of the ranks' first threads, by rank.
    pub fn new(samples: Arc<Vec<Vec<TimedSample>>>) -> Self {
        DelayTotals { samples, ..DelayTotals::default() }
    }

    /// Adds the next thread, and the index of the rank if it is its first thread.
    pub fn begin(&mut self, rank: Option<u32>) {
        self.ranks.push(rank);
    }

    pub fn add(&mut self, histories: &[ThreadHistory], cause: &OwnCause, share: f64) {
        let OwnCause { by, waiting, ns } = *cause;
        if self.samples_of(by.thread).is_empty() {
            return;
        }
        let at = by.state.index();
        if self.own.len() <= at {
            self.own.resize(at + 1, 0.0);
        }
        self.own[at] += ns * share;
        let waiting = waiting.filter(|one| !self.samples_of(one.thread).is_empty());
        // Mostly there are no samples.
        let mut both = [Some(by), waiting].into_iter().flatten();
        if both.all(|one| samples_within(self.samples_of(one.thread), one.since, one.until).is_empty()) {
            return;
        }
        let all_ns = known_ns(histories, &by);
        let more = all_ns - waiting.as_ref().map_or(0.0, |waiting| known_ns(histories, waiting));
        // The activities of others in between may have cancelled in other ways. Then little or nothing is left to divide by.
        let (waiting, more) = if more > MIN_DIFFERENCE_OF_CAUSE * ns { (waiting, more) } else { (None, all_ns) };
        for (one, sign) in [(Some(by), 1.0), (waiting, -1.0)] {
            let Some((one, rank)) = one.and_then(|one| Some((one, self.rank_of(one.thread)?))) else { continue };
            for past in intervals_in_state(histories, &one) {
                let samples = &self.samples[rank as usize];
                for place in samples_within(samples, past.begin, past.end) {
                    let part = sign * ns * share * samples[place].ns / more;
                    *self.shares.entry((at, rank, place)).or_default() += part;
                }
            }
        }
        if self.shares.len() > MOST_SHARES {
            self.settle();
        }
    }

    fn settle(&mut self) {
        for ((state, rank, place), ns) in self.shares.drain() {
            let sum = self.sums.entry((state, self.samples[rank as usize][place].leaf)).or_default();
            sum.samples += u64::from(ns > 0.0);
            sum.ns += ns;
            sum.squares += ns * ns;
        }
    }

    fn rank_of(&self, thread: u32) -> Option<u32> {
        let rank = self.ranks.get(thread as usize).copied().flatten();
        rank.filter(|&rank| (rank as usize) < self.samples.len())
    }

    /// Returns the samples of a thread; none unless it is the first of its rank.
    fn samples_of(&self, thread: u32) -> &[TimedSample] {
        self.rank_of(thread).map_or(&[], |rank| &self.samples[rank as usize])
    }

    pub fn finish(mut self, states: &ThreadStates) -> DelaySums {
        self.settle();
        let shares = self.sums.into_iter().map(|((at, leaf), SampledDelay { samples, ns, squares })| {
            let (ns, squares) = (ExactNs::from_f64(ns), ExactNs::from_f64(squares));
            ((states.entries()[at], leaf), ExactSampledDelay { samples, ns, squares })
        });
        let own = states.entries().iter().copied().zip(self.own).filter(|&(_, own)| own > 0.0);
        DelaySums { shares: shares.collect(), own: own.map(|(state, ns)| (state, ExactNs::from_f64(ns))).collect() }
    }
}

impl PartialResult for DelaySums {
    fn merge(mut self, after: DelaySums) -> DelaySums {
        add_each(&mut self.shares, after.shares);
        add_each(&mut self.own, after.own);
        self
    }
}

impl DelaySums {
    /// Returns the delays by line, scaled to everything that each thread and kind has `caused`.
    pub fn scaled(self, caused: &BTreeMap<(u32, RegionState), f64>) -> Vec<DelayingCode> {
        self.shares
            .into_iter()
            .filter_map(|(((thread, kind), leaf), share)| {
                let own = Some(self.own.get(&(thread, kind))?.number()).filter(|&own| own > 0.0)?;
                let scale = caused.get(&(thread, kind)).copied().unwrap_or(own) / own;
                let (ns, error_ns) = (scale * share.ns.number(), scale * share.squares.number().sqrt());
                Some(DelayingCode { thread, kind, leaf, samples: share.samples, ns, error_ns })
            })
            .collect()
    }
}

/// Returns the part of a history in which the thread was in the interval's state.
fn intervals_in_state<'a>(
    histories: &'a [ThreadHistory],
    one: &ActivityInterval,
) -> impl Iterator<Item = PastInterval<'a>> + use<'a> {
    let ActivityInterval { thread, state, since, until } = *one;
    let history = histories.get(thread as usize).into_iter();
    history
        .flat_map(move |history| history.backwards(since, until))
        .filter(move |past| past.state == state && past.wait.is_none())
}

fn known_ns(histories: &[ThreadHistory], interval: &ActivityInterval) -> f64 {
    intervals_in_state(histories, interval).map(|past| (past.end - past.begin) as f64).sum()
}

/// Returns the indices of the samples that stand for time in an interval. A sample stands for time before it.
fn samples_within(samples: &[TimedSample], begin: Ns, end: Ns) -> Range<usize> {
    let [from, to] = [begin, end].map(|time| samples.partition_point(|one| one.at <= time));
    from..to.max(from)
}

#[cfg(test)]
mod tests {
    use lbprof_collector::Activity;

    use super::*;

    /// What is found of a thread that computes for 100 ns, sampled so: it alone causes waits of these lengths, and `all` in all.
    fn of_one_thread(samples: Vec<TimedSample>, alone: &[f64], all: f64) -> Vec<DelayingCode> {
        let x = RegionState::new(1, Activity::Computation);
        let mut states = ThreadStates::default();
        let state = states.intern(0, x);
        let mut history = ThreadHistory::new(0);
        history.spend(100, state);
        let mut delays = DelayTotals::new(Arc::new(vec![samples]));
        delays.begin(Some(0));
        let by = ActivityInterval { thread: 0, state, since: 0, until: 100 };
        for &ns in alone {
            delays.add(std::slice::from_ref(&history), &OwnCause { by, waiting: None, ns }, 1.0);
        }
        delays.finish(&states).scaled(&[((0, x), all)].into_iter().collect())
    }

    #[test]
    fn what_was_caused_through_others_is_shared_alike() {
        let found = of_one_thread(vec![TimedSample { at: 50, leaf: 3, ns: 100.0 }], &[10.0], 25.0);
        assert_eq!(found.iter().map(|one| one.ns).collect::<Vec<_>>(), [25.0]);
    }

    #[test]
    fn a_sample_for_which_two_wait_is_one_sample() {
        let found = of_one_thread(
            [25, 50, 75, 100].map(|at| TimedSample { at, leaf: 3, ns: 25.0 }).to_vec(),
            &[40.0, 40.0],
            80.0,
        );
        let [one] = found.as_slice() else { panic!("{found:?}") };
        // Four samples of 20, not eight of 10.
        assert_eq!((one.samples, one.ns, one.error_ns), (4, 80.0, 40.0));
    }
}
