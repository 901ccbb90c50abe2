//! The samples of a rank, each where its first thread was at that time.
//!
//! Samples and records are written apart, so that neither waits for the other. Here the samples of all of a rank's threads are merged, by time, with the
//! records of its first thread while these are folded:
//!
//! ```text
//!   first thread    |== computes in f ==|-- Send --|==== computes in g ====|
//!   its samples         x       x           x          x       x        x       2 in f, 1 in Send, 3 in g
//!   another thread           x       x                    x                     beside f 2, beside g 1
//! ```
//!
//! Samples are few, a few hundred for each second of CPU time, so that those of one rank fit into memory. Of more than [`MOST_SAMPLES`] every other one is
//! left out, and stands for its neighbour: the error that follows from the weights grows accordingly.

use lbprof_collector::format::{BatchHead, Header};
use lbprof_collector::reader::Item;
use lbprof_collector::sample::{Counts, Sample};
use lbprof_collector::walk::{ThreadTime, WalkState};
use lbprof_collector::{Activity, Record};
use rustc_hash::FxHashMap;

use crate::model::samples::{Counted, CpuTime};
use crate::model::sites::Sites;
use crate::read::definitions::Definitions;
use crate::read::open::Run;
use crate::read::span::Span;
use crate::structure::sampled_code::SampledCode;

/// Most samples of a rank that are kept: 100 MB.
const MOST_SAMPLES: usize = 1 << 21;

/// A sample of any thread.
#[derive(Clone, Copy)]
struct TimedSample {
    ticks: u64,
    /// Id of the thread among those that were sampled; at last 0 for the first one, 1 for the others.
    thread: u32,
    /// The line of the source.
    leaf: u32,
    time: CpuTime,
}

/// The samples of a rank, by time.
#[derive(Default)]
pub struct Samples {
    all: Vec<TimedSample>,
    /// One in so many of a thread's samples is kept.
    every: u64,
}

impl Samples {
    /// Those of the rank of `header` in `span`; `None` where it has none.
    pub(super) fn read(
        (run, header): (&Run, &Header),
        (sites, code): (&Sites, &SampledCode),
        span: Span,
    ) -> Option<Samples> {
        let mut log = run.log_as_it_is(header).ok()?.samples_only();
        let mut definitions = Definitions::default();
        let mut samples = Samples { every: 1, ..Samples::default() };
        let mut leaves: FxHashMap<(u32, u64), Option<u32>> = FxHashMap::default();
        while let Some(item) = log.next_item() {
            match item {
                Item::Definitions(list) => list.into_iter().for_each(|one| definitions.add(one)),
                Item::Samples { head, samples: list } => {
                    for (number, sample) in (head.first..).zip(&list) {
                        let at = (sample.location.module, sample.location.offset);
                        let leaf = || code.leaf((sites.module_of(&definitions, at.0), at.1));
                        let leaf = *leaves.entry(at).or_insert_with(leaf);
                        if let Some(leaf) = leaf.filter(|_| span.begin < sample.ticks && sample.ticks <= span.end) {
                            samples.add(head.thread, number, leaf, sample);
                        }
                    }
                }
                _ => {}
            }
        }
        // Which of the threads is the first one may be said last.
        for sample in &mut samples.all {
            sample.thread = u32::from(!definitions.is_first_thread(sample.thread));
        }
        samples.all.sort_by_key(|one| (one.ticks, one.thread));
        Some(samples).filter(|samples| !samples.all.is_empty())
    }

    /// Adds a sample of a thread with its number.
    fn add(&mut self, thread: u32, number: u64, leaf: u32, sample: &Sample) {
        if !number.is_multiple_of(self.every) {
            return;
        }
        if self.all.len() == MOST_SAMPLES {
            let mut at = 0;
            self.all.retain_mut(|one| {
                at += 1;
                one.time = standing_for(one.time, 2);
                at % 2 == 1
            });
            self.every *= 2;
        }
        let mut time = CpuTime::sample(sample.weight_ns as f64 * 1e-9);
        if let Some(Counts { instructions, cycles }) = sample.counts {
            time.counted = Counted { instructions, cycles, seconds: time.seconds };
        }
        self.all.push(TimedSample { ticks: sample.ticks, thread, leaf, time: standing_for(time, self.every) });
    }
}

/// A sample that stands for `n` like it.
fn standing_for(time: CpuTime, n: u64) -> CpuTime {
    let (factor, counted) = (n as f64, time.counted);
    CpuTime {
        samples: time.samples,
        seconds: factor * time.seconds,
        squares: factor * factor * time.squares,
        counted: Counted {
            instructions: counted.instructions.saturating_mul(n),
            cycles: counted.cycles.saturating_mul(n),
            seconds: factor * counted.seconds,
        },
    }
}

/// Where samples hit: the region's id in the rank's log, what the first thread did, the line of the source.
pub type Place = (u32, Activity, u32);

/// A rank's samples while its first thread's records are folded.
pub(super) struct PlacedSamples {
    samples: Samples,
    next: usize,
    /// What the first thread does; `None` before its first record.
    time: Option<ThreadTime>,
    sums: SampleSums,
}

/// Where the samples of a rank hit.
#[derive(Default)]
pub struct SampleSums {
    /// Those of the first thread.
    pub first: FxHashMap<Place, CpuTime>,
    /// Those of the others.
    pub others: FxHashMap<Place, CpuTime>,
    /// Those of times for which nothing is known.
    pub unplaced: CpuTime,
}

impl PlacedSamples {
    /// None of `samples` is placed yet.
    pub(super) fn new(samples: Samples) -> Self {
        PlacedSamples { samples, next: 0, time: None, sums: SampleSums::default() }
    }

    /// Goes to where a batch begins. Samples since the last record are at times for which records are missing; those before the first one are
    /// of no interest.
    pub(super) fn skip_to(&mut self, head: &BatchHead) {
        let is_first = self.time.is_none();
        while let Some(sample) = self.up_to(head.previous_end) {
            if !is_first {
                self.sums.unplaced.add(&sample.time);
            }
        }
        self.time = Some(ThreadTime::new(head));
    }

    /// Whether samples lie before the end of a record, or at it.
    #[inline(always)]
    pub(super) fn are_due(&self, record: &Record) -> bool {
        self.samples.all.get(self.next).is_some_and(|next| next.ticks <= record.end.max(record.begin))
    }

    /// Goes to `ticks` without a record, in a region.
    pub(super) fn advance(&mut self, ticks: u64, region: u32) {
        let Some(time) = &mut self.time else { return };
        let reached = time.advance(ticks);
        self.take(reached.begin, reached.state, region);
    }

    /// Goes to the end of a record; it and the time before it are in a region.
    #[inline(always)]
    pub(super) fn pass(&mut self, record: &Record, region: u32) {
        let Some(time) = &mut self.time else { return };
        let reached = time.reach(record);
        time.pass(record);
        if self.samples.all.get(self.next).is_some_and(|next| next.ticks <= reached.end) {
            self.take(reached.begin, reached.state, region);
            self.take(reached.end, WalkState::InCall(record.activity()), region);
        }
    }

    /// Places the samples up to `ticks`, until when the thread was in a state.
    #[cold]
    fn take(&mut self, ticks: u64, state: WalkState, region: u32) {
        while let Some(TimedSample { thread, leaf, time, .. }) = self.up_to(ticks) {
            let sums = &mut self.sums;
            match (state.activity(), thread) {
                (None, _) => sums.unplaced.add(&time),
                (Some(activity), 0) => sums.first.entry((region, activity, leaf)).or_default().add(&time),
                (Some(activity), _) => sums.others.entry((region, activity, leaf)).or_default().add(&time),
            }
        }
    }

    /// The next sample, if it was taken at `ticks` or before: it stands for time before it.
    fn up_to(&mut self, ticks: u64) -> Option<TimedSample> {
        let next = self.samples.all.get(self.next).filter(|next| next.ticks <= ticks).copied();
        self.next += usize::from(next.is_some());
        next
    }

    /// Where samples hit. Those after the last record are of no interest: no time of the rank is known there.
    pub(super) fn finish(self) -> SampleSums {
        self.sums
    }
}
