//! Estimates the time in which one rank alone computes, from samples of the ranks' states.
//!
//! Ranks are streamed one by one, so that two of them are never in memory together. But the state of each can be sampled at given instants, and the
//! samples of all ranks add up:
//!
//! ```text
//!   instants        |    |  |       |    |   |     |       one in each slice of the run, at a place of its own
//!   rank 0   |=======|...|======================|..|       computes at 1, 3, 4, 5, 6
//!   rank 1   |====|......|.......................|=|       computes at 1, 7
//!   computing        2    0  1       1    1   1     1       rank 0 alone at 3 … 6: 4 of 7 slices
//! ```
//!
//! Intervals may be short: samples hit the parts of iterations much shorter than a slice in proportion to their length. The instants follow from the
//! common clock alone. Slices double when the run outgrows [`MOST`] of them, and one of the two instants of a pair remains. So no rank needs to know
//! the length of the run, and merging is exact in any order.
//!
//! A rank computes alone for one of two reasons. Either no other has anything to do: serial work. Or it started together with others and has more to do
//! than they have: imbalance. Computation between two calls counts as serial if others compute for no more than [`MAX_OVERLAP_OF_SERIAL_CODE`] of it, at
//! its start and at its end. So each sample also holds the time since the others stopped computing, and until the first of them resumes.

use bincode::{Decode, Encode};
use std::collections::BTreeMap;

use lbprof_collector::clock::RankClock;
use lbprof_collector::format::BatchHead;
use lbprof_collector::profile::ProfileBatch;
use lbprof_collector::walk::{RecordTimes, ThreadTime, WalkState};
use lbprof_collector::{Operation, Record};
use lbprof_thresholds::regions::{MAX_OVERLAP_OF_SERIAL_CODE, MIN_KNOWN_SLICES};

use crate::model::replayed::solo_time::SoloTime;
use crate::partial_result::PartialResult;
use crate::read::span::TickSpan;

/// Maximum number of slices: each rank's samples take less than a megabyte, and adding them to others takes 0.1 ms. With half as many, the minimum for a
/// long run, a fraction of 10 % has a standard error of 0.24 %.
const MOST: i64 = 1 << 15;

/// Nanoseconds of a slice of the shortest runs, as a power of two.
const LEAST_BITS: u32 = 10;

/// The states of the ranks at one instant. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
struct ConcurrencySample {
    computing: u32,
    /// The first of them, the time since it started, and until it ends.
    rank: u32,
    since_s: f32,
    until_s: f32,
    /// Time since the last of the others stopped computing, and until the first resumes.
    others_since_s: f32,
    others_until_s: f32,
    /// True if the state of some rank is not known.
    unknown: bool,
}

const NO_RANK: ConcurrencySample = ConcurrencySample {
    computing: 0,
    rank: u32::MAX,
    since_s: 0.0,
    until_s: 0.0,
    others_since_s: f32::INFINITY,
    others_until_s: f32::INFINITY,
    unknown: false,
};

impl ConcurrencySample {
    fn add(&mut self, other: &ConcurrencySample) {
        if self.computing == 0 {
            (self.rank, self.since_s, self.until_s) = (other.rank, other.since_s, other.until_s);
        }
        self.computing = self.computing.saturating_add(other.computing);
        self.others_since_s = self.others_since_s.min(other.others_since_s);
        self.others_until_s = self.others_until_s.min(other.others_until_s);
        self.unknown |= other.unknown;
    }

    /// Returns whether the one rank that computes does serial work.
    fn is_serial(&self) -> bool {
        let overlap_s = MAX_OVERLAP_OF_SERIAL_CODE * (self.since_s + self.until_s);
        self.since_s - self.others_since_s <= overlap_s && self.until_s - self.others_until_s <= overlap_s
    }
}

/// Samples of some ranks: slices number `first` and on, of 2^(LEAST_BITS + level) ns each.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct ConcurrencySlices {
    level: u32,
    first: i64,
    samples: Vec<ConcurrencySample>,
}

impl PartialResult for ConcurrencySlices {
    fn merge(mut self, mut other: ConcurrencySlices) -> ConcurrencySlices {
        let (Some(own), Some(others)) = (self.span_ns(), other.span_ns()) else {
            return if self.samples.is_empty() { other } else { self };
        };
        self.cover(own.0.min(others.0), own.1.max(others.1));
        while other.level < self.level {
            other.coarsen();
        }
        let at = (other.first - self.first) as usize;
        for (own, other) in self.samples.iter_mut().skip(at).zip(&other.samples) {
            own.add(other);
        }
        self
    }
}

impl ConcurrencySlices {
    /// Returns the time in which one rank alone computes. `windows`: start and end of each rank's window, in nanoseconds of the common clock. Returns `None`
    /// if the states of all ranks are known in less than 95 % of the time, or there are no samples.
    pub fn alone(&self, windows: &[(i64, i64)]) -> Option<SoloTime> {
        let (mut begins, mut ends): (Vec<i64>, Vec<i64>) = windows.iter().copied().unzip();
        begins.sort_unstable();
        ends.sort_unstable();
        let known = self.samples.iter().filter(|sample| !sample.unknown).count();
        if known == 0 || (known as f64) < MIN_KNOWN_SLICES * self.samples.len() as f64 {
            return None;
        }
        let step_s = (1_u64 << (LEAST_BITS + self.level)) as f64 * 1e-9;
        let mut alone = 0_u64;
        let mut serial: BTreeMap<u32, u64> = BTreeMap::new();
        for (slice, sample) in (self.first..).zip(&self.samples) {
            if sample.computing != 1 || sample.unknown {
                continue;
            }
            alone += 1;
            // A rank computes from the start of its window to the end.
            let mut sample = *sample;
            let instant = slice_instant(self.level, slice);
            if let Some(&next) = begins.get(begins.partition_point(|&begin| begin <= instant)) {
                sample.others_until_s = sample.others_until_s.min(span_seconds(instant, next));
            }
            if let Some(&last) = ends.partition_point(|&end| end <= instant).checked_sub(1).and_then(|at| ends.get(at))
            {
                sample.others_since_s = sample.others_since_s.min(span_seconds(last, instant));
            }
            *serial.entry(sample.rank).or_default() += u64::from(sample.is_serial());
        }
        let hits: u64 = serial.values().sum();
        let share = hits as f64 / known as f64;
        let mut serial: Vec<(u32, f64)> =
            serial.into_iter().filter(|&(_, hits)| hits > 0).map(|(rank, hits)| (rank, hits as f64 * step_s)).collect();
        serial.sort_by(|a, b| b.1.total_cmp(&a.1));
        let error_s = 2.0 * step_s * (hits as f64 * (1.0 - share)).sqrt().max(1.0);
        Some(SoloTime { serial, alone_s: alone as f64 * step_s, error_s, step_s })
    }

    fn span_ns(&self) -> Option<(i64, i64)> {
        let last = self.first + self.samples.len() as i64 - 1;
        let bits = LEAST_BITS + self.level;
        (!self.samples.is_empty()).then(|| (self.first << bits, last << bits | ((1 << bits) - 1)))
    }

    /// Extends the slices to include both times. If there are too many, the slices become longer.
    fn cover(&mut self, from_ns: i64, to_ns: i64) {
        let own = self.span_ns().unwrap_or((from_ns, to_ns));
        let (from_ns, to_ns) = (from_ns.min(own.0), to_ns.max(own.1));
        let (first, last) = loop {
            let bits = LEAST_BITS + self.level;
            let (first, last) = (from_ns >> bits, to_ns >> bits);
            if last - first < MOST {
                break (first, last);
            }
            self.coarsen();
        };
        if self.samples.is_empty() {
            self.first = first;
        }
        let before = (self.first - first).max(0) as usize;
        self.samples.splice(0..0, std::iter::repeat_n(NO_RANK, before));
        self.first = self.first.min(first);
        let n = (last - self.first + 1).max(0) as usize;
        if n > self.samples.len() {
            self.samples.resize(n, NO_RANK);
        }
    }

    fn coarsen(&mut self) {
        self.level += 1;
        let (first, last) = (self.first >> 1, (self.first + self.samples.len() as i64 - 1) >> 1);
        if !self.samples.is_empty() {
            // Slices are written in place: no half of this or a later slice is there.
            for (own, slice) in (first..=last).enumerate() {
                let kept = sampled_half(self.level, slice) - self.first;
                let is_known = (0..self.samples.len() as i64).contains(&kept);
                self.samples[own] = if is_known { self.samples[kept as usize] } else { NO_RANK };
            }
            self.samples.truncate((last - first + 1) as usize);
        }
        self.first = first;
    }

    fn add(&mut self, slice: i64, sample: &ConcurrencySample) {
        if let Some(own) = usize::try_from(slice - self.first).ok().and_then(|at| self.samples.get_mut(at)) {
            own.add(sample);
        }
    }
}

/// Returns the half of `slice` of `level` in which the sample's instant lies. The order is irregular, so that no rhythm of a program can keep time
/// with it.
fn sampled_half(level: u32, slice: i64) -> i64 {
    let mut mixed = (slice as u64 ^ u64::from(level) << 58).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    2 * slice + (mixed >> 63) as i64
}

fn slice_instant(level: u32, slice: i64) -> i64 {
    let (mut level, mut slice) = (level, slice);
    while level > 0 {
        slice = sampled_half(level, slice);
        level -= 1;
    }
    slice.saturating_mul(1 << LEAST_BITS).saturating_add(1 << (LEAST_BITS - 1))
}

fn span_seconds(from_ns: i64, to_ns: i64) -> f32 {
    to_ns.saturating_sub(from_ns) as f32 * 1e-9
}

#[derive(Clone, Copy)]
enum RankState {
    Computing,
    /// In MPI, since it last computed, in ticks.
    Waiting(u64),
    Unknown,
}

/// Samples one rank, from the records of its first thread.
pub struct RankSampler {
    rank: u32,
    clock: RankClock,
    within: TickSpan,
    all: ConcurrencySlices,
    /// Ticks up to which all instants were sampled.
    quiet_until: u64,
    /// Sequence number of the next record, once there was one.
    next: Option<u64>,
    time: ThreadTime,
    /// Start of its state.
    from: u64,
    /// Time at which it last computed.
    computed: u64,
}

impl RankSampler {
    /// Starts to sample `rank`, which has this clock, in a span of its time.
    pub fn new(rank: u32, clock: RankClock, within: TickSpan) -> Self {
        RankSampler {
            rank,
            clock,
            within,
            all: ConcurrencySlices::default(),
            quiet_until: 0,
            next: None,
            time: ThreadTime::default(),
            from: 0,
            computed: 0,
        }
    }

    /// Takes records of the rank's first thread. `is_serial` says which regions, by id, are marked as serial work: computation before such a region does
    /// not belong to it.
    pub fn records(&mut self, head: &BatchHead, records: &[Record], is_serial: impl Fn(u32) -> bool) {
        self.go_to(head);
        for record in records {
            let reached = self.time.reach(record);
            let is_call = record.operation < Operation::FIRST_MARKER;
            if is_call && record.end != 0 && reached.state == WalkState::Computing {
                self.call(WalkState::Computing, reached);
            } else if !record.is_part() {
                self.unusual(record, reached, &is_serial);
            }
        }
        self.next = Some(head.first.saturating_add(records.len() as u64));
    }

    /// Takes records that were folded when they were recorded: the states in this time are not known.
    pub fn absorb(&mut self, batch: &ProfileBatch) {
        self.go_to(&batch.head);
        self.span(RankState::Unknown, self.time.current_ticks(), batch.next.previous_end);
        self.place(&batch.next);
    }

    /// Returns the samples.
    pub fn finish(self) -> ConcurrencySlices {
        self.all
    }

    fn go_to(&mut self, head: &BatchHead) {
        if self.next != Some(head.first) {
            if self.next.is_some() {
                self.leave(self.time.state(), self.time.current_ticks());
                self.span(RankState::Unknown, self.time.current_ticks(), head.previous_end);
            }
            self.place(head);
        }
    }

    fn place(&mut self, head: &BatchHead) {
        self.next = Some(head.first);
        self.time = ThreadTime::new(head);
        (self.from, self.computed) = (head.previous_end, head.previous_end);
    }

    #[inline(always)]
    fn call(&mut self, before: WalkState, reached: RecordTimes) {
        self.leave(before, reached.begin);
        self.span(RankState::Waiting(self.computed), reached.begin, reached.end);
        self.from = reached.end;
    }

    /// Takes any record except a part, which changes nothing.
    #[cold]
    fn unusual(&mut self, record: &Record, reached: RecordTimes, is_serial: &impl Fn(u32) -> bool) {
        self.time.pass(record);
        let (before, after) = (reached.state, self.time.state());
        if record.is_call() {
            match after {
                WalkState::Computing => self.call(before, reached),
                _ => self.leave(before, reached.begin),
            }
        } else if before != after || is_serial_boundary(record, is_serial) {
            self.leave(before, reached.begin);
        }
    }

    /// Ends the rank's state at these ticks.
    #[inline(always)]
    fn leave(&mut self, state: WalkState, at: u64) {
        match state {
            WalkState::Computing => {
                self.span(RankState::Computing, self.from, at);
                if at > self.from {
                    self.computed = at;
                }
            }
            WalkState::InCall(_) => self.span(RankState::Waiting(self.computed), self.from, at),
            WalkState::Paused => self.span(RankState::Unknown, self.from, at),
        }
        self.from = at;
    }

    #[inline(always)]
    fn span(&mut self, state: RankState, from: u64, to: u64) {
        if to > self.quiet_until && to > from {
            self.sample(state, from, to);
        }
    }

    #[inline(never)]
    fn sample(&mut self, state: RankState, from: u64, to: u64) {
        let (from, to) = (self.within.clamp(from), self.within.clamp(to));
        let (from_ns, to_ns) = (self.clock.nanoseconds(from), self.clock.nanoseconds(to));
        if to_ns <= from_ns {
            return;
        }
        self.all.cover(from_ns, to_ns);
        let level = self.all.level;
        for slice in from_ns >> (LEAST_BITS + level).. {
            let instant = slice_instant(level, slice);
            if instant >= to_ns {
                // Clocks of hosts differ by less than a thousandth: no instant is missed.
                let ticks = (instant - to_ns) as f64 * 0.999e-9 / self.clock.tick_s();
                self.quiet_until = to.saturating_add(ticks as u64);
                return;
            }
            if instant >= from_ns {
                let sample = self.sample_between(state, from_ns, instant, to_ns);
                self.all.add(slice, &sample);
            }
        }
    }

    fn sample_between(&self, state: RankState, from_ns: i64, instant: i64, to_ns: i64) -> ConcurrencySample {
        let until_s = span_seconds(instant, to_ns);
        match state {
            RankState::Computing => ConcurrencySample {
                computing: 1,
                rank: self.rank,
                since_s: span_seconds(from_ns, instant),
                until_s,
                ..NO_RANK
            },
            RankState::Waiting(since) => {
                let others_since_s = span_seconds(self.clock.nanoseconds(since), instant);
                ConcurrencySample { others_since_s, others_until_s: until_s, ..NO_RANK }
            }
            RankState::Unknown => ConcurrencySample { unknown: true, ..NO_RANK },
        }
    }
}

/// Returns whether a marker begins or ends serial work.
fn is_serial_boundary(record: &Record, is_serial: &impl Fn(u32) -> bool) -> bool {
    let ends = [Operation::RegionEnter, Operation::RegionLeave];
    ends.iter().any(|&one| one as u16 == record.operation) && is_serial(record.request)
}

#[cfg(test)]
mod tests {
    use lbprof_collector::format::LogHeader;
    use lbprof_simulator::scenario;
    use proptest::prelude::*;

    use super::*;

    const MS: u64 = 1_000_000;

    /// A clock whose ticks are nanoseconds of the common clock.
    fn clock() -> RankClock {
        RankClock::new(&LogHeader { n_ranks: 1, ..scenario::header(0, 1) }, &[], &[])
    }

    /// The samples of a rank that alternates between computation and calls, with durations in nanoseconds, from `begin` on.
    fn rank(number: u32, begin: u64, turns: &[(u64, u64)]) -> ConcurrencySlices {
        let mut now = begin;
        let records: Vec<Record> = turns
            .iter()
            .map(|&(computes, waits)| {
                now += computes + waits;
                Record { end: now, ..Record::new(Operation::Barrier, now - waits) }
            })
            .collect();
        let mut sampler = RankSampler::new(number, clock(), TickSpan::ALL);
        let mut head = BatchHead { previous_end: begin, ..BatchHead::default() };
        for batch in records.chunks(7) {
            sampler.records(&head, batch, |_| false);
            head.advance(batch);
        }
        sampler.finish()
    }

    fn alone(parts: impl IntoIterator<Item = ConcurrencySlices>, windows: &[(i64, i64)]) -> SoloTime {
        parts.into_iter().reduce(ConcurrencySlices::merge).and_then(|all| all.alone(windows)).expect("all is known")
    }

    #[track_caller]
    fn assert_near(found: f64, expected: f64, error: f64) {
        assert!((found - expected).abs() <= error, "{found} instead of {expected} ± {error}");
    }

    #[test]
    fn a_rank_that_begins_before_the_windows_of_others_is_not_serial() {
        // Rank 1 leaves MPI_Init 5 ms late, or rank 1 ends 5 ms early.
        let late = [rank(0, 0, &[(40 * MS, MS)]), rank(1, 5 * MS, &[(35 * MS, MS)])];
        let found = alone(late, &[(0, 41_000_000), (5_000_000, 41_000_000)]);
        assert_eq!(found.serial, []);
        assert_near(found.alone_s, 0.005, 0.0002);
        let early = [rank(0, 0, &[(40 * MS, MS)]), rank(1, 0, &[(35 * MS, 0)])];
        let found = alone(early, &[(0, 41_000_000), (0, 35_000_000)]);
        assert_eq!(found.serial, []);
        assert_near(found.alone_s, 0.005, 0.0002);
    }

    #[test]
    fn iterations_shorter_than_a_slice_count_as_well() {
        // 20 s of steps of 50 µs, of which rank 1 computes 20 µs alone: slices are 0.6 ms or longer.
        let n = 400_000;
        let parts =
            [rank(0, 0, &[(0, 20_000), (30_000, 0)].repeat(n)), rank(1, 0, &[(20_000, 0), (30_000, 0)].repeat(n))];
        let found = alone(parts, &[(0, 20_000_000_000); 2]);
        assert!(found.step_s > 5e-4);
        assert_near(found.serial_s(), 8.0, found.error_s);
        assert!(found.error_s < 0.2, "{found:?}");
    }

    #[test]
    fn where_calls_were_not_recorded_nothing_is_said() {
        let mut sampler = RankSampler::new(0, clock(), TickSpan::ALL);
        let head = BatchHead { previous_end: 0, ..BatchHead::default() };
        let next = BatchHead { first: 10, previous_end: 100 * MS, ..BatchHead::default() };
        sampler.absorb(&ProfileBatch { head, next, ..ProfileBatch::default() });
        let other = rank(1, 0, &[(50 * MS, 50 * MS)]);
        assert_eq!(sampler.finish().merge(other).alone(&[(0, 100_000_000); 2]), None);
        assert_eq!(ConcurrencySlices::default().alone(&[]), None);
    }

    #[test]
    fn marked_serial_work_begins_at_its_mark() {
        // Rank 0 computes 10 ms as all others do, and goes on for 20 ms, which are marked.
        let marker = |operation, at| Record { request: 1, ..Record::new(operation, at) };
        let mut sampler = RankSampler::new(0, clock(), TickSpan::ALL);
        let end = Record { end: 31 * MS, ..Record::new(Operation::Barrier, 30 * MS) };
        let records = [marker(Operation::RegionEnter, 10 * MS), marker(Operation::RegionLeave, 30 * MS), end];
        sampler.records(&BatchHead::default(), &records, |region| region == 1);
        let found = alone([sampler.finish(), rank(1, 0, &[(10 * MS, 21 * MS)])], &[(0, 31_000_000); 2]);
        assert_near(found.serial_s(), 0.020, 0.0005);
    }

    #[test]
    fn hostile_times_end_in_some_samples() {
        let mut sampler = RankSampler::new(0, clock(), TickSpan::ALL);
        let times = [0, u64::MAX, 5, i64::MAX as u64, 1 << 40];
        let records = times.map(|at| Record { end: at, ..Record::new(Operation::Barrier, at / 2) });
        sampler.records(&BatchHead { previous_end: 3, ..BatchHead::default() }, &records, |_| false);
        let found = sampler.finish();
        assert!(found.samples.len() as i64 <= MOST);
        found.merge(rank(1, 0, &[(10, 10)])).alone(&[(i64::MIN, i64::MAX)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.min(32)))]

        /// Doubling slices and merging in whatever order give the same samples; so do one rank's records in one part or in many.
        #[test]
        fn merging_is_exact(
            begins in prop::collection::vec(0..10_000_000_000_u64, 3),
            lengths in prop::collection::vec(1..400_000_000_u64, 3),
        ) {
            let parts: Vec<ConcurrencySlices> = (0..3_u32)
                .map(|at| {
                    let length = lengths[at as usize];
                    rank(at, begins[at as usize], &[(length, length / 3), (length / 2, length)].repeat(1 + 3 * at as usize))
                })
                .collect();
            let [a, b, c] = [0, 1, 2].map(|at| parts[at].clone());
            let one = a.clone().merge(b.clone()).merge(c.clone());
            let two = a.merge(b.merge(c));
            prop_assert_eq!(&one, &two);
            prop_assert!(one.samples.len() as i64 <= MOST && one.samples.len() as i64 > MOST / 4);
        }

        /// The share of samples in which a rank computes is the share of its time.
        #[test]
        fn samples_are_taken_evenly(computes in 1..1000_u64, waits in 1..1000_u64, scale in 1_000..1_000_000_u64) {
            let turns = [(computes * scale, waits * scale)].repeat(100);
            let found = rank(0, 12_345, &turns);
            let n = found.samples.len() as f64;
            let computing = found.samples.iter().filter(|sample| sample.computing == 1).count() as f64;
            let share = computes as f64 / (computes + waits) as f64;
            // Five standard errors, and one sample at either end.
            let error = 5.0 * (share * (1.0 - share) / n).sqrt() + 2.0 / n;
            prop_assert!((computing / n - share).abs() <= error, "{} instead of {share} of {n}", computing / n);
        }

        /// A sample says what the walk over the same records has at its instant; a flush is part of the computation around it.
        #[test]
        fn samples_are_of_the_states_of_the_walk(turns in prop::collection::vec((0..6_u8, 1..20_000_u64, 1..20_000_u64), 1..60)) {
            let mut now = 0;
            let records: Vec<Record> = turns.iter().map(|&(turn, before, lasts)| {
                now += before;
                let begin = now;
                let record = |operation| Record::new(operation, begin);
                let lasting = |operation| Record { end: begin + lasts, ..record(operation) };
                let record = match turn {
                    0 => record(Operation::Pause),
                    1 => record(Operation::Resume),
                    2 => Record { end: 0, ..record(Operation::Recv) },
                    3 => lasting(Operation::Flush),
                    4 => record(Operation::RegionEnter),
                    _ => lasting(Operation::Barrier),
                };
                now = now.max(record.end);
                record
            }).chain([Record::new(Operation::Barrier, 2_000_000)]).collect();
            let mut sampler = RankSampler::new(0, clock(), TickSpan::ALL);
            sampler.records(&BatchHead::default(), &records, |_| false);
            let found = sampler.finish();

            let mut time = ThreadTime::default();
            let mut states = Vec::new();
            for record in &records {
                let RecordTimes { state, from, begin, end } = time.reach(record);
                time.pass(record);
                let own = if record.is_call() { WalkState::InCall(record.activity()) } else { WalkState::Computing };
                states.extend([(from, begin, state), (begin, end, if state == WalkState::Paused { state } else { own })]);
            }
            let mut checked = 0;
            for (slice, sample) in (found.first..).zip(&found.samples) {
                let instant = slice_instant(found.level, slice) as u64;
                let at = states.iter().find(|(from, to, _)| (*from..*to).contains(&instant));
                let Some(&(.., state)) = at else { continue };
                checked += 1;
                prop_assert_eq!(sample.computing == 1, state == WalkState::Computing, "at {}: {:?}", instant, state);
                prop_assert_eq!(sample.unknown, state == WalkState::Paused, "at {}: {:?}", instant, state);
            }
            prop_assert!(checked > 1_000);
        }
    }
}
