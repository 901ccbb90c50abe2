//! Sums up a thread's records in memory that does not grow with the number of iterations.
//!
//! Sums are kept by region. For iterations, which may be as short as a call, only their time is kept, in columns of the activities that occur
//! ([`crate::profile::summed::times`]). The collector's fold puts it there at once: a row of all sums for each region and iteration, as in a profile,
//! would cost more than the records. Numbers are the ids in the rank's log, times are ticks; [`crate::profile`] translates both.

use std::collections::BTreeMap;
use std::mem;

use lbprof_collector::format::BatchHead;
use lbprof_collector::profile::{ProfileBatch, ProfileCell, RegionInvocation, ThreadProfile};
use lbprof_collector::record::{CallFlags, NONE};
use lbprof_collector::{Activity, Record};

use crate::profile::summed::samples::{PlacedSamples, SampleSums, SortedSamples};
use crate::profile::summed::span::SpanFold;
use crate::profile::summed::times::ActivityTicks;
use crate::read::definitions::RankDefinitions;
use crate::read::span::TickSpan;
use crate::structure::{CallPlacer, FoundRegion, PlacedCall};

/// Number of records after which sums are taken from the fold: the iterations that it lists are then still in the processor's caches.
const TAKE_AFTER: usize = 1 << 13;

/// A fold over one thread, and the sums taken from it.
pub struct ThreadSums {
    fold: SpanFold,
    begin: u64,
    folded: usize,
    sums: ThreadTotals,
    /// The rank's samples, if it has any and this is its first thread.
    samples: Option<PlacedSamples>,
}

/// The sums of a thread.
#[derive(Default)]
pub struct ThreadTotals {
    /// Ticks at which the first record may begin.
    pub begin: u64,
    /// By region id.
    pub regions: BTreeMap<u32, RegionSums>,
    /// The sums that do not grow with iterations; `cells` and `iterations` are empty.
    pub rest: ThreadProfile,
    /// Position after the thread's last record.
    pub end: BatchHead,
    /// Time at which each region of `end.open` was entered.
    pub entered: Vec<u64>,
    /// True if sums of profile mode lie across an end of the span that counts, and are left out.
    pub uncut: bool,
    /// Number of regions entered beyond the maximum depth.
    pub too_deep: u64,
    /// Sums of samples.
    pub samples: SampleSums,
}

/// The sums of a region, inner regions excluded.
#[derive(Default)]
pub struct RegionSums {
    /// By activity, at the index of its number.
    pub cells: [ProfileCell; Activity::COUNT],
    /// Ticks by iteration of the innermost iterated region around it, which may be this region.
    pub times: ActivityTicks,
    /// Its own iterations that ended.
    pub iterations: Vec<RegionInvocation>,
}

impl ThreadTotals {
    /// Adds another thread, except for its times by iteration, which depend on its position in its records.
    pub fn add_other(&mut self, other: ThreadTotals) {
        for (region, more) in other.regions {
            let own = self.regions.entry(region).or_default();
            for (own, more) in own.cells.iter_mut().zip(&more.cells) {
                own.add(more);
            }
        }
        self.rest = mem::take(&mut self.rest).merge(other.rest);
        self.uncut |= other.uncut;
        self.too_deep = self.too_deep.saturating_add(other.too_deep);
    }
}

impl ThreadSums {
    /// Starts the sums of a thread whose first batch begins with `head`, in the part of its time in `span`. The first thread has the samples of the
    /// rank.
    pub fn new(head: &BatchHead, span: TickSpan, samples: Option<SortedSamples>) -> Self {
        let mut samples = samples.map(PlacedSamples::new);
        for samples in samples.iter_mut() {
            samples.skip_to(head);
        }
        let (fold, sums) = (SpanFold::new(head.clone(), span), ThreadTotals::default());
        ThreadSums { fold, begin: head.previous_end, folded: 0, sums, samples }
    }

    /// Adds the records after `head`; their call sites are ids.
    pub fn records(&mut self, head: &BatchHead, records: &[Record]) {
        self.go_to(head);
        self.fold(records);
        self.added(records.len());
    }

    /// Folds records into the regions where they are, with the samples before their ends.
    #[inline(always)]
    fn fold(&mut self, records: &[Record]) {
        match &mut self.samples {
            None => self.fold.records(records),
            Some(samples) => {
                let mut folded = 0;
                for (at, record) in records.iter().enumerate() {
                    if samples.are_due(record) {
                        // The records before it show where the thread is then.
                        self.fold.records(&records[folded..at]);
                        folded = at;
                    }
                    samples.pass(record, self.fold.inner.placed_in().0);
                }
                self.fold.records(&records[folded..]);
            }
        }
    }

    /// Folds each call, with the computation before it, into the region and interval that `placer` returns.
    pub fn placed_records(
        &mut self,
        head: &BatchHead,
        records: &[Record],
        placer: &mut CallPlacer,
        definitions: &RankDefinitions,
    ) {
        self.go_to(head);
        let mut rest = records;
        // Markers before a call lie where the call does: the computation between them belongs to it.
        while let Some(call) = rest.iter().position(Record::is_call) {
            let (placed, before) = placer.place(&rest[call], definitions);
            if rest[call].flags.contains(CallFlags::POLLED) {
                // A wait by polling is where its first poll is.
                self.fold(&rest[..=call]);
                rest = &rest[call + 1..];
                continue;
            }
            for record in &rest[..call] {
                self.place(record, before.unwrap_or(placed));
                self.fold(std::slice::from_ref(record));
            }
            if let Some(before) = before {
                self.place(&rest[call], before);
                self.fold.advance(rest[call].begin);
                let region = self.fold.inner.placed_in().0;
                for samples in self.samples.iter_mut() {
                    samples.advance(rest[call].begin, region);
                }
            }
            self.place(&rest[call], placed);
            self.fold(std::slice::from_ref(&rest[call]));
            rest = &rest[call + 1..];
        }
        self.fold(rest);
        self.added(records.len());
    }

    /// Counts records that were folded, and takes the sums if there are enough.
    fn added(&mut self, n: usize) {
        self.folded += n;
        if self.folded >= TAKE_AFTER {
            self.take();
        }
    }

    #[inline(always)]
    fn place(&mut self, record: &Record, placed: PlacedCall) {
        // A part adds to the call before it.
        if record.is_part() {
            return;
        }
        let (marked, iteration) = self.fold.inner.innermost_open();
        if let Some((region, iteration)) = placed.within(marked, iteration) {
            self.fold.place_in(region, iteration);
        }
    }

    /// Adds sums that were folded when they were recorded.
    pub fn absorb(&mut self, batch: &ProfileBatch) {
        self.go_to(&batch.head);
        self.fold.absorb(batch);
        // The times of the calls are not known.
        for samples in self.samples.iter_mut() {
            samples.skip_to(&batch.next);
        }
        self.take();
    }

    /// Returns all sums.
    pub fn finish(mut self) -> ThreadTotals {
        self.fold.end();
        self.take();
        let too_deep = self.fold.inner.too_deep();
        // A marked region whose iterations have no time has none of its own.
        for (region, times) in self.fold.inner.take_times().into_regions() {
            if !times.is_empty() || FoundRegion::of_number(region).is_some() {
                self.sums.regions.entry(region).or_default().times.append(&times);
            }
        }
        let samples = self.samples.map(PlacedSamples::finish).unwrap_or_default();
        ThreadTotals { begin: self.begin, uncut: self.fold.uncut, too_deep, samples, ..self.sums }
    }

    /// Skips to `head` if records before it are missing: their time belongs to nothing.
    fn go_to(&mut self, head: &BatchHead) {
        if self.fold.inner.head().first != head.first {
            self.fold.skip_to(head);
            for samples in self.samples.iter_mut() {
                samples.skip_to(head);
            }
        }
    }

    fn take(&mut self) {
        self.folded = 0;
        let ProfileBatch { next, entered, mut profile, .. } = self.fold.take();
        (self.sums.end, self.sums.entered) = (next, entered);
        // Cells are sorted by region and iteration.
        for of_region in mem::take(&mut profile.cells).chunk_by(|one, next| one.0.region == next.0.region) {
            let sums = self.sums.regions.entry(of_region[0].0.region).or_default();
            for (key, cell) in of_region {
                sums.cells[Activity::from_bits(key.activity.into()) as usize].add(cell);
                if key.iteration != NONE {
                    sums.times.add(key.iteration, key.activity, cell.ticks);
                }
            }
        }
        for of_region in mem::take(&mut profile.iterations).chunk_by(|one, next| one.region == next.region) {
            let sums = self.sums.regions.entry(of_region[0].region).or_default();
            sums.iterations.extend_from_slice(of_region);
        }
        self.sums.rest = mem::take(&mut self.sums.rest).merge(profile);
    }
}
