//! The samples of a rank, placed in the region and call of its first thread at that time.
//!
//! Samples and records are written separately, so that neither waits for the other. Here the samples of all of a rank's threads are merged, by time,
//! with the records of its first thread while these are folded:
//!
//! ```text
//!   first thread    |== computes in f ==|-- Send --|==== computes in g ====|
//!   its samples         x       x           x          x       x        x       2 in f, 1 in Send, 3 in g
//!   another thread           x       x                    x                     beside f 2, beside g 1
//! ```
//!
//! If calls were recorded as sums, the recorder notes the position of the first thread at each sample ([`SamplePlaces`]).
//!
//! There are a few hundred samples for each second of CPU time, so that one rank's samples fit into memory. If there are more than [`MOST_SAMPLES`], every
//! other one is dropped and its neighbour gets twice the weight. The estimated error grows accordingly.

use std::collections::BTreeMap;

use lbprof_collector::format::{BatchHead, LogHeader};
use lbprof_collector::off_core::OffCoreTimes;
use lbprof_collector::reader::LogItem;
use lbprof_collector::record::NONE;
use lbprof_collector::sample::{self, ProcessorCounts, Sample, SamplePlaces};
use lbprof_collector::walk::{ThreadTime, WalkState};
use lbprof_collector::{Activity, CoreState, Definition, Record};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::code::sites::CallSiteTable;
use crate::model::ranks::samples::{CpuTime, HardwareCounters, SampledThreads};
use crate::read::definitions::RankDefinitions;
use crate::read::open::RecordedRun;
use crate::read::span::TickSpan;
use crate::structure::code::sampled_code::SampledCode;

/// Maximum number of samples that are kept for a rank: 100 MB.
pub(in crate::profile) const MOST_SAMPLES: usize = 1 << 21;

/// Number of instants at which an interval with lost switches is placed, or one that lasts as long as the log's list of intervals.
const PARTS_OF_LIST: u64 = 64;

#[derive(Clone, Copy)]
struct ThreadSample {
    ticks: u64,
    /// Id of the sampled thread; finally its place in [`SortedSamples::whose`].
    thread: u32,
    stack: u32,
    time: CpuTime,
    /// The recorder's placement of the sample, if only sums of the first thread's calls exist.
    place: Option<sample::Place>,
    /// The first thread's state, if this is the middle of an interval off its core, and no sample.
    off_core: Option<CoreState>,
}

/// The samples of a rank, by time.
#[derive(Default)]
pub struct SortedSamples {
    all: Vec<ThreadSample>,
    /// Maximum number of samples that are kept.
    most: usize,
    /// Sampling interval: every n-th sample of a thread is kept.
    every: u64,
    /// The group of each thread that has samples.
    whose: Vec<SampledThreads>,
    /// The id of its pool, or NONE.
    pools: Vec<u32>,
    off_core: OffCoreCoverage,
}

/// The time for which all of a thread's intervals off its core are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OffCoreCoverage {
    /// Ticks of that time.
    pub known: u64,
    /// Ticks of intervals with unknown positions.
    pub unplaced: u64,
}

/// The log with a rank's samples, and the tables that resolve their addresses.
pub struct SampleSource<'a> {
    /// The run.
    pub run: &'a RecordedRun,
    /// The header of the rank's log.
    pub header: &'a LogHeader,
    /// The call sites and call paths of the run.
    pub sites: &'a CallSiteTable,
    /// The code that samples hit.
    pub code: &'a SampledCode,
}

impl SampleSource<'_> {
    /// Reads the samples in `span`, at most `most` of them. Returns `None` if the rank has none.
    pub(in crate::profile) fn read(&self, span: TickSpan, most: usize) -> Option<SortedSamples> {
        let SampleSource { run, header, sites, code } = *self;
        let facts = run.thread_facts(header).ok()?;
        let mut log = run.log_as_it_is(header).ok()?.samples_only();
        let mut definitions = RankDefinitions::default();
        let mut samples = SortedSamples::at_most(most);
        let mut stacks: FxHashMap<(u32, u64, u32), Option<u32>> = FxHashMap::default();
        let mut chains: FxHashMap<u32, Option<u32>> = FxHashMap::default();
        let mut places = SamplePlaces::default();
        while let Some(item) = log.next_item() {
            match item {
                LogItem::Definitions(list) => {
                    for one in list {
                        match one {
                            Definition::SamplePlaces(of_next) => places = of_next,
                            Definition::OffCore(times) => samples.add_off_core(&times, span),
                            other => definitions.add(other),
                        }
                    }
                }
                LogItem::Samples { head, samples: list } => {
                    let mut found =
                        places.places().filter(|_| (places.thread, places.first) == (head.thread, head.first));
                    for (number, sample) in (head.first..).zip(&list) {
                        let place = found.next().flatten();
                        let place = place.filter(|place| place.0 == 0 || definitions.regions.contains_key(&place.0));
                        let path = sample.call_path;
                        let at = (sample.location.module, sample.location.offset, path);
                        let stack = *stacks.entry(at).or_insert_with(|| {
                            let chain = *chains.entry(path).or_insert_with(|| sites.chain_of(&definitions, path));
                            code.stack((sites.module_of(&definitions, at.0), at.1), chain)
                        });
                        if let Some(stack) = stack.filter(|_| span.begin < sample.ticks && sample.ticks <= span.end) {
                            samples.add(number, ThreadSample::new(head.thread, stack, place, sample));
                        }
                    }
                }
                _ => {}
            }
        }
        // The definition that identifies the first thread may come last.
        let mut threads: BTreeMap<u32, u32> = BTreeMap::new();
        for sample in samples.all.iter_mut().filter(|sample| sample.off_core.is_none()) {
            let next = threads.len() as u32;
            let at = *threads.entry(sample.thread).or_insert(next);
            if at == next && samples.whose.len() as u32 == next {
                samples.whose.push(match definitions.recording_thread(sample.thread) {
                    Some(number) if facts.is_first(number) => SampledThreads::First,
                    Some(_) => SampledThreads::WithMpi,
                    None => SampledThreads::WithoutMpi,
                });
                samples.pools.push(definitions.sampled_threads.get(&sample.thread).map_or(NONE, |thread| thread.pool));
            }
            sample.thread = at;
        }
        samples.all.sort_by_key(|one| (one.ticks, one.thread));
        Some(samples).filter(|samples| !samples.all.is_empty() || samples.off_core.known > 0)
    }

    /// Returns the samples of the rank's first thread in the order of time, out of at most `most` samples of all threads: ticks, stack, and CPU time in
    /// seconds.
    pub fn samples_of_first_thread(&self, most: usize) -> Vec<(u64, u32, f64)> {
        let Some(SortedSamples { all, whose, .. }) = self.read(TickSpan::ALL, most) else { return Vec::new() };
        all.iter()
            .filter(|one| one.off_core.is_none() && whose[one.thread as usize] == SampledThreads::First)
            .map(|one| (one.ticks, one.stack, one.time.seconds))
            .collect()
    }
}

impl ThreadSample {
    fn new(thread: u32, stack: u32, place: Option<sample::Place>, sample: &Sample) -> ThreadSample {
        let mut time = CpuTime::sample(sample.weight_ns as f64 * 1e-9);
        if let Some(ProcessorCounts { instructions, cycles }) = sample.counts {
            time.counted = HardwareCounters { instructions, cycles, seconds: time.seconds };
        }
        ThreadSample { ticks: sample.ticks, thread, stack, time, place, off_core: None }
    }
}

impl SortedSamples {
    /// Creates an empty list of at most `most` samples.
    fn at_most(most: usize) -> SortedSamples {
        SortedSamples { most, every: 1, ..SortedSamples::default() }
    }

    /// Adds the intervals off the core of the rank's first thread.
    fn add_off_core(&mut self, times: &OffCoreTimes, span: TickSpan) {
        let known = span.clamp(times.end).saturating_sub(span.clamp(times.begin));
        let listed = times.intervals().map(|one| (one.begin + (one.end - one.begin) / 2, one));
        let listed = listed.filter(|(middle, _)| span.begin < *middle && *middle <= span.end);
        for (number, (middle, one)) in (0..).zip(listed) {
            // An interval with an unknown state may cover many calls. So may a long one, because short times on the core are not listed.
            let length = one.end - one.begin;
            let part = (times.end.saturating_sub(times.begin) / PARTS_OF_LIST).max(1);
            let n_parts = match one.state {
                CoreState::NotKnown => PARTS_OF_LIST,
                _ => (length / part).clamp(1, PARTS_OF_LIST),
            };
            let part = length / n_parts;
            for at in 0..n_parts {
                // The time is in ticks; it is converted to seconds where the rank's clock is known.
                let time = CpuTime::sample(length as f64 / n_parts as f64);
                let ticks = if n_parts == 1 { middle } else { one.begin + at * part + part / 2 };
                let off_core = Some(one.state);
                self.add(number, ThreadSample { ticks, thread: 0, stack: 0, time, place: one.place, off_core });
            }
        }
        self.off_core.known = self.off_core.known.saturating_add(known);
        let short = times.short.iter().fold(0_u64, |sum, &ticks| sum.saturating_add(ticks));
        self.off_core.unplaced = self.off_core.unplaced.saturating_add(short.min(known));
    }

    fn add(&mut self, number: u64, sample: ThreadSample) {
        if !number.is_multiple_of(self.every) {
            return;
        }
        if self.all.len() == self.most {
            let mut at = 0;
            self.all.retain_mut(|one| {
                at += 1;
                one.time = standing_for(one.time, 2);
                at % 2 == 1
            });
            self.every *= 2;
        }
        self.all.push(ThreadSample { time: standing_for(sample.time, self.every), ..sample });
    }
}

fn standing_for(time: CpuTime, n: u64) -> CpuTime {
    let (factor, counted) = (n as f64, time.counted);
    CpuTime {
        samples: time.samples,
        seconds: factor * time.seconds,
        squares: factor * factor * time.squares,
        counted: HardwareCounters {
            instructions: counted.instructions.saturating_mul(n),
            cycles: counted.cycles.saturating_mul(n),
            seconds: factor * counted.seconds,
        },
    }
}

/// The position of samples: the region's id in the rank's log, what the first thread did, the stack of the sampled code.
pub type SamplePlace = (u32, Activity, u32);

/// A rank's samples while its first thread's records are folded.
pub(super) struct PlacedSamples {
    samples: SortedSamples,
    next: usize,
    /// The first thread's state, or `None` before its first record.
    time: Option<ThreadTime>,
    sums: SampleSums,
}

/// Sampled CPU time of a rank by position.
#[derive(Default)]
pub struct SampleSums {
    /// The threads that have any, by [`SampledThreads`].
    threads: [FxHashSet<u32>; SampledThreads::ALL.len()],
    /// CPU time by [`SampledThreads`].
    pub times: [FxHashMap<SamplePlace, CpuTime>; SampledThreads::ALL.len()],
    /// CPU time of threads in pools, except the first thread, by the id of their pool.
    pub pools: FxHashMap<(u32, SamplePlace), CpuTime>,
    /// CPU time of the first thread in recorded calls, by operation and stack.
    pub in_calls: FxHashMap<(u16, u32), CpuTime>,
    /// Ticks for which the first thread was off its core, by region id and activity.
    pub off_core: FxHashMap<(u32, Activity, CoreState), f64>,
    /// The intervals of computation among them, in the order of time: ticks at the middle, state, length in ticks.
    pub off_core_computing: Vec<(u64, CoreState, f64)>,
    /// The time for which all intervals are known.
    pub off_core_coverage: OffCoreCoverage,
}

impl SampleSums {
    /// Returns the number of threads that have samples.
    pub fn threads(&self, whose: SampledThreads) -> u32 {
        self.threads[whose as usize].len() as u32
    }

    fn add(&mut self, whose: SampledThreads, region: u32, activity: Activity, sample: &ThreadSample) {
        self.threads[whose as usize].insert(sample.thread);
        self.times[whose as usize].entry((region, activity, sample.stack)).or_default().add(&sample.time);
    }
}

impl PlacedSamples {
    pub(in crate::profile) fn new(samples: SortedSamples) -> Self {
        let sums = SampleSums { off_core_coverage: samples.off_core, ..SampleSums::default() };
        PlacedSamples { samples, next: 0, time: None, sums }
    }

    /// Adds a sample at the position of the rank's first thread, or `None` if it is not known.
    fn add(&mut self, place: Option<(u32, Activity)>, sample: &ThreadSample) {
        if let Some(state) = sample.off_core {
            let ticks = sample.time.seconds;
            match place {
                Some((region, activity)) => {
                    *self.sums.off_core.entry((region, activity, state)).or_default() += ticks;
                    if activity == Activity::Computation {
                        self.sums.off_core_computing.push((sample.ticks, state, ticks));
                    }
                }
                None => {
                    let unplaced = &mut self.sums.off_core_coverage.unplaced;
                    *unplaced = unplaced.saturating_add(ticks as u64);
                }
            }
            return;
        }
        match place {
            Some((region, activity)) => {
                let whose = self.samples.whose[sample.thread as usize];
                self.sums.add(whose, region, activity, sample);
                let pool = self.samples.pools.get(sample.thread as usize).filter(|_| whose != SampledThreads::First);
                if let Some(&pool) = pool.filter(|&&pool| pool != NONE) {
                    let place = (region, activity, sample.stack);
                    self.sums.pools.entry((pool, place)).or_default().add(&sample.time);
                }
            }
            None => self.sums.add(SampledThreads::Unplaced, 0, Activity::Computation, sample),
        }
    }

    /// Moves to the start of a batch. Records are missing for the samples since the last record, which are placed by the recorder, if at all. Samples
    /// before the first record are dropped.
    pub(super) fn skip_to(&mut self, head: &BatchHead) {
        let is_first = self.time.is_none();
        while let Some(sample) = self.up_to(head.previous_end) {
            if !is_first {
                self.add(sample.place, &sample);
            }
        }
        self.time = Some(ThreadTime::new(head));
    }

    #[inline(always)]
    pub(super) fn are_due(&self, record: &Record) -> bool {
        self.samples.all.get(self.next).is_some_and(|next| next.ticks <= record.end.max(record.begin))
    }

    pub(super) fn advance(&mut self, ticks: u64, region: u32) {
        let Some(time) = &mut self.time else { return };
        let reached = time.advance(ticks);
        self.take(reached.begin, reached.state, region);
    }

    /// Moves to the end of a record. The record and the time before it are in a region.
    #[inline(always)]
    pub(super) fn pass(&mut self, record: &Record, region: u32) {
        let Some(time) = &mut self.time else { return };
        let reached = time.reach(record);
        time.pass(record);
        if self.samples.all.get(self.next).is_some_and(|next| next.ticks <= reached.end) {
            self.take(reached.begin, reached.state, region);
            self.take_in_call(reached.end, record, region);
        }
    }

    /// Places the samples up to `ticks`, until when the thread was in the call of a record.
    #[cold]
    fn take_in_call(&mut self, ticks: u64, record: &Record, region: u32) {
        while let Some(sample) = self.up_to(ticks) {
            let is_first = self.samples.whose.get(sample.thread as usize) == Some(&SampledThreads::First);
            if record.core_state().is_some() && (is_first || sample.off_core.is_some()) {
                // The thread's time there is already known, as the record's state.
                continue;
            }
            self.add(Some((region, record.activity())), &sample);
            if sample.off_core.is_none() && is_first {
                self.sums.in_calls.entry((record.operation, sample.stack)).or_default().add(&sample.time);
            }
        }
    }

    /// Places the samples up to `ticks`, until when the thread was in a state.
    #[cold]
    fn take(&mut self, ticks: u64, state: WalkState, region: u32) {
        while let Some(sample) = self.up_to(ticks) {
            self.add(state.activity().map(|activity| (region, activity)), &sample);
        }
    }

    /// Returns the next sample, if it was taken at `ticks` or before: it stands for time before it.
    fn up_to(&mut self, ticks: u64) -> Option<ThreadSample> {
        let next = self.samples.all.get(self.next).filter(|next| next.ticks <= ticks).copied();
        self.next += usize::from(next.is_some());
        next
    }

    /// Returns the sums of the samples. Samples after the last record are dropped: no time of the rank is known there.
    pub(in crate::profile) fn finish(self) -> SampleSums {
        self.sums
    }
}

#[cfg(test)]
mod tests {
    use lbprof_collector::sample::CodeAddress;

    use super::*;

    fn sample(thread: u32, ticks: u64) -> ThreadSample {
        let location = CodeAddress::outside(0);
        let sample = Sample { ticks, location, call_path: NONE, weight_ns: 1_000_000, counts: None };
        ThreadSample::new(thread, 0, None, &sample)
    }

    #[test]
    fn of_very_many_samples_each_of_the_kept_ones_stands_for_its_neighbours() {
        let mut samples = SortedSamples::at_most(8);
        for number in 0..64 {
            samples.add(number, sample(0, number));
        }
        assert!(samples.all.len() <= 8);
        let mut sum = CpuTime::default();
        for one in samples.all.iter() {
            sum.add(&one.time);
        }
        let one_s = 1e-3;
        assert!((sum.seconds - 64.0 * one_s).abs() < 1e-9, "{sum:?}");
        // Fewer and larger ones: the error grows.
        let each_s = sum.seconds / sum.samples as f64;
        assert!((sum.error_s() - each_s * (sum.samples as f64).sqrt()).abs() < 1e-9, "{sum:?}");
    }
}
