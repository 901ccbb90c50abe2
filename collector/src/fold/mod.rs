//! Folds a thread's records into a [`ThreadProfile`].
//!
//! ```text
//! record      begin     end           time          goes to
//! Enter f     10        10            0 … 10        computation in main
//! Send        25        40            10 … 25       computation in f;    25 … 40   point-to-point in f
//! Leave f     70        70            40 … 70       computation in f
//! ```
//!
//! [`crate::walk`] finds what the time is and where. Time stamps that go backwards are counted here.
//!
//! The recorder runs this in the program's own threads (profile mode), so sums lie in rows that are found again without
//! searching: the row of the innermost region is at hand, and call sites come from a small cache. A call that is joined with its first part
//! ([`crate::joined`]) is folded as it is.

pub mod polling;
pub mod profile;
pub mod spinning;
pub mod thread_positions;
pub mod walk;

use rustc_hash::FxHashMap;

use crate::joined::{self, JOINED, JOINED_COMPLETED};
use crate::operation::Operation;
use crate::poll_gaps::{CpuSample, GapSums, PlacedGaps};
use crate::polling::PollGapClassifier;
use crate::profile::{
    CallSiteKey, CellKey, CounterTotals, ProfileBatch, ProfileCell, RegionInvocation, RegionTotals, ThreadProfile,
};
use crate::record::heads::batch_head::BatchHead;
use crate::record::{CallFlags, NONE, Record};
use crate::semantics::CompletionEffect;
use crate::states::Activity;
use crate::walk::{RecordTimes, RecordWalk, WalkState};

#[derive(Clone, Copy)]
struct FoldRow {
    region: u32,
    iteration: u32,
    cells: [ProfileCell; Activity::COUNT],
}

/// Calls of one kind in one row, summed up until others take their place in the cache.
#[derive(Clone, Copy)]
struct CallSums {
    call_site: u64,
    kind: u32,
    row: u32,
    region: u32,
    /// Index in `sites`; [`NONE`]: an empty place.
    site: u32,
    /// Masks for `sent` and `received`: all ones if the field counts, else 0.
    counted: (u64, u64),
    sums: ProfileCell,
}

impl CallSums {
    #[inline(always)]
    fn kind_in_row(&self) -> u64 {
        u64::from(self.row) << 32 | u64::from(self.kind)
    }
}

const KINDS: usize = 128;

const NO_KIND: CallSums = CallSums {
    call_site: 0,
    kind: 0,
    region: 0,
    row: 0,
    site: NONE,
    counted: (0, 0),
    sums: ProfileCell { ticks: 0, calls: 0, sent: 0, received: 0 },
};

/// Returns the operation of a record, and above it its flags.
#[inline(always)]
fn operation_and_flags(record: &Record) -> u32 {
    u32::from(record.operation) | u32::from(record.flags.0) << 16
}

/// The bits of [`operation_and_flags`] that are the operation and the activity, and the bits of the activity alone.
const KIND: u32 = u16::MAX as u32 | ACTIVITY;
const ACTIVITY: u32 = (Activity::MASK as u32) << 16;

/// In a kind: it is of calls that do not spin.
const USUAL: u32 = 1 << 31;

/// Returns operation and activity of a record in one number, with [`USUAL`] for a call that a program does not spin with.
#[inline(always)]
fn kind_of(record: &Record) -> u32 {
    let operation = record.operation & !JOINED_COMPLETED;
    let is_usual = operation < Operation::FIRST_MARKER && !Operation::may_spin(operation);
    operation_and_flags(record) & KIND | if is_usual { USUAL } else { 0 }
}

/// Returns the slot of calls of a kind from a call site in a region, whose number is given 44 bits up.
#[inline(always)]
fn place_of(call_site: u64, kind: u32, region: u64) -> usize {
    let hash = call_site ^ u64::from(kind) << 20 ^ region;
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - KINDS.ilog2())) as usize
}

/// Takes the time by iteration, in place of the fold: for iterations so short that rows of all sums would cost more than the records.
pub trait IterationTimes: Default {
    /// True if it does; else rows of the fold are by iteration. Rows of profiles that are absorbed are in any case.
    const APART: bool;

    /// Assigns the time that follows to a region and iteration, or to no iteration if that is [`NONE`].
    fn move_to(&mut self, region: u32, iteration: u32);

    /// Adds ticks of an activity.
    fn add(&mut self, activity: Activity, ticks: u64);
}

impl IterationTimes for () {
    const APART: bool = false;

    #[inline(always)]
    fn move_to(&mut self, _: u32, _: u32) {}

    #[inline(always)]
    fn add(&mut self, _: Activity, _: u64) {}
}

/// A fold over one thread's records, in their order.
#[derive(Clone)]
pub struct ProfileFold<T: IterationTimes = ()> {
    /// Start of the records folded since the last [`ProfileFold::take`].
    start: BatchHead,
    walk: RecordWalk,
    /// The iteration and row of the time of each open region: [`ProfileFold::place_in`] may have put it into another iteration than the markers.
    placed: Vec<(u32, u32)>,
    /// Region, iteration and row that time goes to: the innermost open region, unless [`ProfileFold::place_in`] sets another one.
    region: u32,
    iteration: u32,
    row: u32,
    /// Index in `sites` of the last call, NONE before; its parts add to it.
    last_call: u32,
    computing: ProfileCell,

    rows: Vec<FoldRow>,
    row_of: FxHashMap<(u32, u32), u32>,
    sites: Vec<(CallSiteKey, ProfileCell)>,
    site_of: FxHashMap<CallSiteKey, u32>,
    kinds: Box<[CallSums; KINDS]>,
    regions: FxHashMap<u32, RegionTotals>,
    counters: FxHashMap<(u32, u32), CounterTotals>,
    /// By region and number of the state.
    states: FxHashMap<(u32, u8), u64>,
    /// The rest of the sums; its lists but `iterations` are filled when it is taken.
    rest: ThreadProfile,
    /// Number of times that a region was entered with the maximum number open: never in a log of the recorder.
    too_deep: u64,
    times: T,
    /// Decides what the time between polls is, where the records do not say it.
    polls: Option<PollGapClassifier>,
    /// Ticks of the long gaps between polls that count as computation, by the call after them and its iteration.
    long_gaps: FxHashMap<(CallSiteKey, u32), u64>,
}

impl ProfileFold {
    /// A fold that begins after `head`. Regions that it says are open count as entered at its `previous_end`.
    pub fn new(head: BatchHead) -> Self {
        ProfileFold::with_times(head)
    }

    /// Makes the fold decide on the time between unsuccessful polls: `polls` classifies the gaps of records as they were recorded.
    pub fn deciding(self, polls: PollGapClassifier) -> Self {
        ProfileFold { polls: Some(polls), ..self }
    }
}

impl<T: IterationTimes> ProfileFold<T> {
    /// Creates a fold that leaves time by iteration to a `T`.
    pub fn with_times(head: BatchHead) -> Self {
        let mut fold = ProfileFold {
            start: BatchHead::default(),
            walk: RecordWalk::default(),
            placed: Vec::new(),
            region: 0,
            iteration: NONE,
            row: 0,
            last_call: NONE,
            computing: ProfileCell::default(),
            rows: Vec::new(),
            row_of: FxHashMap::default(),
            sites: Vec::new(),
            site_of: FxHashMap::default(),
            kinds: Box::new([NO_KIND; KINDS]),
            regions: FxHashMap::default(),
            counters: FxHashMap::default(),
            states: FxHashMap::default(),
            rest: ThreadProfile::default(),
            too_deep: 0,
            times: T::default(),
            polls: None,
            long_gaps: FxHashMap::default(),
        };
        fold.place(&head, &[]);
        fold.start = head;
        fold
    }

    /// Folds records that follow those before. `site` gives the id of a record's call site, `u64::MAX` where it has none;
    /// it is asked at least once for each call site, and must give equal ids for equal `call_site`.
    pub fn records(&mut self, records: &[Record], site: impl FnMut(&Record) -> u64) {
        self.counted_records(records, joined::count_joined_records(records), site);
    }

    /// Folds records that are known to count as `n_records`, like [`ProfileFold::records`].
    pub fn counted_records(&mut self, records: &[Record], n_records: usize, mut site: impl FnMut(&Record) -> u64) {
        let mut left = records;
        loop {
            let usual = self.usual_calls(left);
            let Some((record, others)) = left.get(usual..).and_then(<[Record]>::split_first) else { break };
            if self.insert_if_absent(record, &mut site) {
                left = &left[usual..];
                continue;
            }
            left = others;
            match record.apart() {
                None => self.decided(record, &mut site),
                Some((call, part)) => {
                    self.decided(&call, &mut site);
                    self.decided(&part, &mut site);
                }
            }
        }
        self.walk.next = self.walk.next.saturating_add(n_records as u64);
        self.rest.records = self.rest.records.saturating_add(n_records as u64);
    }

    /// Folds a record as it is, or where it polls, as the time between polls is decided to be.
    #[inline(always)]
    fn decided(&mut self, record: &Record, site: &mut impl FnMut(&Record) -> u64) {
        match &mut self.polls {
            Some(polls) if polls.concerns(record) => {
                let mut decided = *record;
                let long_gap = polls.next(&mut decided);
                self.record(&decided, site);
                if long_gap > 0 {
                    self.add_long_gap(&decided, long_gap, site);
                }
            }
            polls => {
                if let Some(polls) = polls {
                    polls.pass(record);
                }
                self.record(record, site);
            }
        }
    }

    /// Puts the time since the last record, and the time after it, into `region` and `iteration` until the next marker of a region. Neither counts
    /// as entered. The analyzer uses this where it knows better than the markers what the thread is doing.
    #[inline(always)]
    pub fn place_in(&mut self, region: u32, iteration: u32) {
        if (self.region, self.iteration) != (region, iteration) {
            self.move_to(region, iteration);
        }
    }

    /// Returns the number of regions that were entered when too many were open. Their time goes to the outer ones.
    pub fn too_deep(&self) -> u64 {
        self.too_deep
    }

    /// Returns the region and iteration that time goes to.
    pub fn placed_in(&self) -> (u32, u32) {
        (self.region, self.iteration)
    }

    #[inline(never)]
    fn move_to(&mut self, region: u32, iteration: u32) {
        self.settle_computing();
        let row = self.row_in(region, iteration);
        (self.region, self.iteration, self.row) = (region, iteration, row);
        self.times.move_to(region, iteration);
    }

    /// Takes the time by iteration that was kept apart since the last call.
    pub fn take_times(&mut self) -> T {
        let times = std::mem::take(&mut self.times);
        self.times.move_to(self.region, self.iteration);
        times
    }

    /// Returns the innermost region that markers have opened, and its iteration, or (0, [`NONE`]) if none is open.
    #[inline(always)]
    pub fn innermost_open(&self) -> (u32, u32) {
        self.walk.open.innermost()
    }

    /// Adds what another fold of the same thread took, and goes on after it.
    pub fn absorb(&mut self, batch: &ProfileBatch) {
        let profile = &batch.profile;
        for (key, cell) in &profile.cells {
            let row = self.row_at(key.region, key.iteration);
            if let Some(sums) = self.rows[row as usize].cells.get_mut(usize::from(key.activity)) {
                sums.add(cell);
            }
        }
        for (key, cell) in &profile.sites {
            let index = self.site_at(*key);
            self.sites[index as usize].1.add(cell);
        }
        for (region, totals) in &profile.regions {
            self.regions.entry(*region).or_default().add(totals);
        }
        for (key, totals) in &profile.counters {
            self.counters.entry(*key).or_default().add(totals);
        }
        for (key, ticks) in &profile.states {
            self.add_state(*key, *ticks);
        }
        self.rest.add_totals(profile);
        self.place(&batch.next, &batch.entered);
    }

    /// Goes on after `head`, after a gap in the records whose time belongs to nothing. Regions open before and after the gap
    /// go on; others that `head` says are open count as entered at its `previous_end`.
    pub fn skip_to(&mut self, head: &BatchHead) {
        let going_on = self.walk.open.entered().iter().zip(&head.open);
        let going_on =
            going_on.take_while(|(ours, theirs)| (ours.region, ours.iteration) == (theirs.region, theirs.iteration));
        let entered: Vec<u64> = going_on.map(|(ours, _)| ours.entered).collect();
        self.place(head, &entered);
    }

    /// Adds samples of the thread's CPU time that follow those before: they belong to records that were not folded yet.
    pub fn add_samples(&mut self, samples: impl IntoIterator<Item = CpuSample>) {
        if let Some(polls) = &mut self.polls {
            polls.add_samples(samples);
        }
    }

    /// Returns the long gaps between polls in what [`ProfileFold::take`] has just given, which that has as computation: their sums, and where they lie.
    pub fn take_gaps(&mut self) -> (GapSums, Vec<PlacedGaps>) {
        let sums = self.polls.as_mut().map(PollGapClassifier::take_gaps).unwrap_or_default();
        let placed = self.long_gaps.drain().map(|((key, iteration), ticks)| {
            let CallSiteKey { region, call_site, operation, activity } = key;
            PlacedGaps { region, iteration, call_site, operation, activity, ticks }
        });
        let mut places: Vec<PlacedGaps> = placed.collect();
        places.sort_unstable();
        (sums, places)
    }

    #[cold]
    fn add_long_gap(&mut self, record: &Record, ticks: u64, site: &mut impl FnMut(&Record) -> u64) {
        let place = self.place_of(record, site);
        let (key, _) = self.sites[self.kinds[place].site as usize];
        let sum = self.long_gaps.entry((key, self.iteration)).or_default();
        *sum = sum.saturating_add(ticks);
    }

    /// Takes the sums since the last call. The state (open regions, time) goes on.
    pub fn take(&mut self) -> ProfileBatch {
        let next = self.head();
        for place in 0..KINDS {
            self.settle(place);
        }
        self.settle_computing();
        let last_call = self.sites.get(self.last_call as usize).map(|(key, _)| *key);
        let mut profile = std::mem::take(&mut self.rest);
        if let Some(polls) = &mut self.polls {
            profile.polls.add(&polls.take_sums());
        }
        for row in self.rows.drain(..) {
            for (activity, cell) in row.cells.iter().enumerate().filter(|(_, cell)| **cell != ProfileCell::default()) {
                let key = CellKey { region: row.region, iteration: row.iteration, activity: activity as u8 };
                profile.cells.push((key, *cell));
            }
        }
        profile.cells.sort_unstable_by_key(|(key, _)| *key);
        profile.sites = self.sites.drain(..).filter(|(_, cell)| *cell != ProfileCell::default()).collect();
        profile.sites.sort_unstable_by_key(|(key, _)| *key);
        profile.regions = drain_sorted(&mut self.regions);
        profile.counters = drain_sorted(&mut self.counters);
        profile.states = drain_sorted(&mut self.states);
        profile.iterations.sort_unstable_by_key(|iteration| (iteration.region, iteration.iteration, iteration.begin));

        self.row_of.clear();
        self.site_of.clear();
        self.kinds.fill(NO_KIND);
        self.find_rows();
        // Parts of the last call may still come: its entry stays, empty.
        self.last_call = last_call.map_or(NONE, |key| self.site_at(key));
        let entered = self.walk.open.entered().iter().map(|open| open.entered).collect();
        let head = std::mem::replace(&mut self.start, next.clone());
        ProfileBatch { head, next, entered, profile }
    }

    /// Lets time pass up to `ticks` without a record. It goes to where the thread is: to computation in its region, to the call
    /// that has no end yet, or to nothing while paused.
    pub fn advance(&mut self, ticks: u64) {
        let reached = self.walk.time.advance(ticks);
        self.before(reached);
    }

    /// Lets time pass up to `ticks`, and adds it to an activity in the innermost open region, like a marker with a duration.
    pub fn spend(&mut self, activity: Activity, ticks: u64) {
        let ticks = self.walk.time.advance(ticks).before();
        self.cell(activity).add(&ProfileCell { ticks, ..ProfileCell::default() });
        self.add_time(activity, ticks);
    }

    /// Ends the call that has no end yet, where the time is: what follows is computation again.
    pub fn end_call(&mut self) {
        self.walk.time.end_call();
    }

    /// Returns the position of the next record.
    pub fn head(&self) -> BatchHead {
        self.walk.head()
    }

    /// Moves after `head`; `entered` is when each of the first of its open regions was entered.
    fn place(&mut self, head: &BatchHead, entered: &[u64]) {
        self.walk.place(head, entered);
        self.last_call = NONE;
        self.find_rows();
    }

    fn find_rows(&mut self) {
        self.placed.clear();
        for i in 0..self.walk.open.entered().len() {
            let (region, within) = (self.walk.open.entered()[i].region, self.walk.open.entered()[i].within());
            let row = self.row_in(region, within);
            self.placed.push((within, row));
        }
        self.innermost();
    }

    /// Makes the innermost open region, or region 0, the one that time goes to.
    fn innermost(&mut self) {
        self.settle_computing();
        (self.region, self.iteration, self.row) = match self.placed.last() {
            Some(&(within, row)) => (self.walk.open.innermost().0, within, row),
            None => (0, NONE, self.row_at(0, NONE)),
        };
        self.times.move_to(self.region, self.iteration);
    }

    fn row_in(&mut self, region: u32, iteration: u32) -> u32 {
        self.row_at(region, if T::APART { NONE } else { iteration })
    }

    fn row_at(&mut self, region: u32, iteration: u32) -> u32 {
        *self.row_of.entry((region, iteration)).or_insert_with(|| {
            self.rows.push(FoldRow { region, iteration, cells: Default::default() });
            self.rows.len() as u32 - 1
        })
    }

    fn site_at(&mut self, key: CallSiteKey) -> u32 {
        *self.site_of.entry(key).or_insert_with(|| {
            self.sites.push((key, ProfileCell::default()));
            self.sites.len() as u32 - 1
        })
    }

    fn cell(&mut self, activity: Activity) -> &mut ProfileCell {
        &mut self.rows[self.row as usize].cells[activity as usize]
    }

    #[inline(always)]
    fn add_time(&mut self, activity: Activity, ticks: u64) {
        if ticks > 0 {
            self.times.add(activity, ticks);
        }
    }

    fn settle_computing(&mut self) {
        let computing = std::mem::take(&mut self.computing);
        self.add_time(Activity::Computation, computing.ticks);
        if let Some(row) = self.rows.get_mut(self.row as usize) {
            row.cells[Activity::Computation as usize].add(&computing);
        }
    }

    fn settle(&mut self, place: usize) {
        let kind = &mut self.kinds[place];
        if kind.site != NONE {
            let sums = std::mem::take(&mut kind.sums);
            self.rows[kind.row as usize].cells[((kind.kind & ACTIVITY) >> 16) as usize].add(&sums);
            self.sites[kind.site as usize].1.add(&sums);
        }
    }

    /// Folds the first calls that end, follow the time before them, poll for nothing and are of a cached kind, and their parts. Returns the number of
    /// their records.
    ///
    /// Most records take only this loop. It calls nothing, so that its variables stay in registers. [`ProfileFold::record`] does the same for any record.
    #[inline(never)]
    fn usual_calls(&mut self, records: &[Record]) -> usize {
        const UNUSUAL: u32 = ((CallFlags::NOTHING.0 | CallFlags::UNFINISHED.0) as u32) << 16;
        let is_polling = self.polls.as_ref().is_some_and(PollGapClassifier::is_polling);
        if is_polling || self.walk.time.state() != WalkState::Computing {
            return 0;
        }
        let region = u64::from(self.region) << 44;
        let usual_in_row = u64::from(self.row) << 32 | u64::from(USUAL);
        let mut now = self.walk.time.current_ticks();
        let (mut gaps, mut computed, mut parts, mut last) = (0u64, 0u64, 0usize, None);
        let mut left = records.iter();
        loop {
            let rest = left.as_slice();
            let Some(record) = left.next() else { break };
            let what = operation_and_flags(record);
            // One that is not usual is nowhere in the cache as a usual kind.
            let kind = what & KIND | USUAL;
            let place = place_of(record.call_site, kind, region);
            let there = &mut self.kinds[place];
            let is_there =
                there.call_site == record.call_site && there.kind_in_row() == usual_in_row | u64::from(what & KIND);
            let in_time = now <= record.begin && record.begin.wrapping_sub(1) < record.end;
            if !(is_there && in_time && what & UNUSUAL == 0) {
                match last {
                    Some(place) if record.begin == now && self.usual_part(record, place) => {
                        parts += 1;
                        continue;
                    }
                    _ => {
                        left = rest.iter();
                        break;
                    }
                }
            }
            let ticks = record.end - record.begin;
            let gap = record.begin - now;
            gaps = gaps.wrapping_add(gap);
            computed += u64::from(gap != 0);
            let (sent, received) = (record.sent & there.counted.0, record.received & there.counted.1);
            there.sums.add(&ProfileCell { ticks, calls: 1, sent, received });
            self.times.add(record.activity(), ticks);
            last = Some(place);
            now = record.end;
        }
        let usual = records.len() - left.len();
        if let Some(place) = last {
            self.walk.time.advance(now);
            self.computing.add(&ProfileCell { ticks: gaps, calls: computed, ..ProfileCell::default() });
            self.rest.calls = self.rest.calls.wrapping_add((usual - parts) as u64);
            self.last_call = self.kinds[place].site;
            if let Some(polls) = &mut self.polls {
                polls.pass_until(now);
            }
        }
        usual
    }

    /// Adds the bytes of a part of the last call, which is in this slot. Returns false if the record is no part, or has time.
    #[inline(never)] // So that the loop over calls has all registers.
    fn usual_part(&mut self, record: &Record, place: usize) -> bool {
        let is_usual = record.is_part() && record.begin == record.end;
        if is_usual {
            let there = &mut self.kinds[place];
            if (operation_and_flags(record) ^ there.kind) & ACTIVITY == 0 {
                let (sent, received) = counted_byte_masks(record.operation);
                there.sums.sent = there.sums.sent.wrapping_add(record.sent & sent);
                there.sums.received = there.sums.received.wrapping_add(record.received & received);
            } else {
                let call = there.site;
                self.add_part(record, call);
            }
        }
        is_usual
    }

    #[inline(always)]
    fn record(&mut self, record: &Record, site: &mut impl FnMut(&Record) -> u64) {
        let reached = self.walk.time.reach(record);
        if record.begin < reached.from || record.end < record.begin {
            self.backwards(record, reached.from);
        }
        self.before(reached);
        if record.operation < Operation::FIRST_MARKER {
            self.call(record, reached.own_ticks(), site);
        } else {
            self.marker(record, reached, site);
        }
    }

    #[inline(always)]
    fn before(&mut self, reached: RecordTimes) {
        let ticks = reached.before();
        if reached.state == WalkState::Computing {
            self.computing.ticks = self.computing.ticks.wrapping_add(ticks);
            self.computing.calls += u64::from(ticks > 0);
        } else {
            self.not_computed(reached.state, ticks);
        }
    }

    /// Counts time stamps that go backwards, except for calls without an end.
    #[cold]
    fn backwards(&mut self, record: &Record, from: u64) {
        let backwards = record.begin < from || record.end != 0;
        self.rest.backwards = self.rest.backwards.saturating_add(backwards.into());
    }

    #[cold]
    fn not_computed(&mut self, state: WalkState, ticks: u64) {
        let WalkState::InCall(activity) = state else {
            self.rest.paused = self.rest.paused.saturating_add(ticks);
            return;
        };
        let time = ProfileCell { ticks, ..ProfileCell::default() };
        self.cell(activity).add(&time);
        self.add_time(activity, ticks);
        if let Some((_, cell)) = self.sites.get_mut(self.last_call as usize) {
            cell.add(&time);
        }
    }

    #[inline(always)]
    fn call(&mut self, record: &Record, ticks: u64, site: &mut impl FnMut(&Record) -> u64) {
        let place = self.place_of(record, site);
        let CallSums { counted, site, .. } = self.kinds[place];
        // An unsuccessful poll, and a call that repeats others, has in `count` the calls that are folded into it.
        let is_folded = record.flags.contains(CallFlags::NOTHING) || Operation::folds_in_spin(record.operation);
        let calls = 1 + if is_folded { u64::from(record.count) } else { 0 };
        let (sent, received) = (record.sent & counted.0, record.received & counted.1);
        self.kinds[place].sums.add(&ProfileCell { ticks, calls, sent, received });
        // A call without any time also belongs to its iteration.
        self.times.add(record.activity(), ticks);
        self.rest.calls = self.rest.calls.wrapping_add(calls);
        self.last_call = site;
        let is_usual = record.end != 0 && self.walk.time.state() == WalkState::Computing;
        if !is_usual || record.flags.contains(CallFlags::UNFINISHED) {
            self.unusual_call(record);
        }
    }

    #[cold]
    fn unusual_call(&mut self, record: &Record) {
        self.walk.time.pass_call(record);
        let unfinished = record.end == 0 || record.flags.contains(CallFlags::UNFINISHED);
        self.rest.unfinished = self.rest.unfinished.saturating_add(unfinished.into());
    }

    #[inline(always)]
    fn place_of(&mut self, record: &Record, site: &mut impl FnMut(&Record) -> u64) -> usize {
        let kind = kind_of(record);
        let place = place_of(record.call_site, kind, u64::from(self.region) << 44);
        let there = &self.kinds[place];
        let found = there.call_site == record.call_site && there.kind == kind && there.row == self.row;
        if !found || there.site == NONE {
            self.take_place(record, place, site);
        }
        place
    }

    /// Gives a slot to calls like this one, which are joined with their parts. Returns false if they had one.
    #[inline(always)]
    fn insert_if_absent(&mut self, record: &Record, site: &mut impl FnMut(&Record) -> u64) -> bool {
        let kind = kind_of(record);
        let makes = record.joined_operations() != 1 && kind & USUAL != 0 && {
            let there = &self.kinds[place_of(record.call_site, kind, u64::from(self.region) << 44)];
            !(there.call_site == record.call_site && there.kind == kind && there.row == self.row)
        };
        if makes {
            _ = self.place_of(record, site);
        }
        makes
    }

    /// Gives a slot to calls like this one in the present row.
    #[inline(never)]
    fn take_place(&mut self, record: &Record, place: usize, site: &mut impl FnMut(&Record) -> u64) {
        self.settle(place);
        let (kind, region, row) = (kind_of(record), self.region, self.row);
        let there = &mut self.kinds[place];
        let same = there.call_site == record.call_site && there.kind == kind && there.region == region;
        if same && there.site != NONE {
            // Another iteration of the same region.
            there.row = row;
            return;
        }
        let call_site = u32::try_from(site(record)).unwrap_or(NONE);
        let activity = record.activity() as u8;
        let operation = record.operation & !JOINED_COMPLETED;
        let site = self.site_at(CallSiteKey { region, call_site, operation, activity });
        let counted = match record.operation & JOINED_COMPLETED {
            JOINED_COMPLETED => counted_byte_masks(Operation::Completed as u16),
            JOINED => (counted_byte_masks(operation).0, counted_byte_masks(Operation::Received as u16).1),
            _ => counted_byte_masks(operation),
        };
        let sums = ProfileCell::default();
        self.kinds[place] = CallSums { call_site: record.call_site, kind, region, row, site, counted, sums };
    }

    #[inline(never)]
    fn marker(&mut self, record: &Record, reached: RecordTimes, site: &mut impl FnMut(&Record) -> u64) {
        let (begin, ticks) = (reached.begin, reached.own_ticks());
        if ticks > 0 {
            // Only a flush and an interval in a state have time.
            let cell = ProfileCell { ticks, calls: 1, sent: 0, received: 0 };
            self.cell(record.activity()).add(&cell);
            self.add_time(record.activity(), ticks);
        }
        if record.is_part() {
            return self.part(record, site);
        }
        self.walk.time.pass_marker(record);
        let [sent, received] = [record.sent, record.received].map(f64::from_bits);
        match record.operation() {
            Some(Operation::RegionEnter) => self.enter(record.request, record.count, begin),
            Some(Operation::RegionLeave) => self.leave(record.request, begin),
            Some(Operation::Work) => {
                let totals = self.regions.entry(record.request).or_default();
                totals.operations += sent;
                totals.quanta += received;
            }
            Some(Operation::InState) => {
                if let Some(state) = record.core_state() {
                    self.add_state((self.region, state as u8), ticks);
                }
            }
            Some(Operation::Counter) => {
                let one = CounterTotals { n: 1, sum: sent, min: sent, max: sent };
                self.counters.entry((self.region, record.request)).or_default().add(&one);
            }
            Some(Operation::Memory) => {
                let region = if record.request == NONE { 0 } else { record.request };
                let totals = self.regions.entry(region).or_default();
                totals.max_resident = totals.max_resident.max(record.sent);
                totals.max_swapped = totals.max_swapped.max(record.received);
            }
            _ => {}
        }
    }

    fn add_state(&mut self, key: (u32, u8), ticks: u64) {
        let sum = self.states.entry(key).or_default();
        *sum = sum.saturating_add(ticks);
    }

    /// Folds a part of the call before it. Only its bytes count, at the call's own call site.
    fn part(&mut self, record: &Record, site: &mut impl FnMut(&Record) -> u64) {
        if self.last_call == NONE {
            // Its call was lost, or lies in the batch before a profile that was absorbed.
            let place = self.place_of(record, site);
            self.last_call = self.kinds[place].site;
        }
        self.add_part(record, self.last_call);
    }

    #[inline(always)]
    fn add_part(&mut self, record: &Record, call: u32) {
        let (sent, received) = counted_byte_masks(record.operation);
        let (sent, received) = (record.sent & sent, record.received & received);
        let cell = ProfileCell { ticks: 0, calls: 0, sent, received };
        self.cell(record.activity()).add(&cell);
        self.sites[call as usize].1.add(&cell);
    }

    #[inline(never)]
    fn enter(&mut self, region: u32, iteration: u32, begin: u64) {
        let within = if iteration == NONE { self.iteration } else { iteration };
        if !self.walk.open.enter(region, iteration, begin) {
            self.too_deep = self.too_deep.saturating_add(1);
            return;
        }
        let row = self.row_in(region, within);
        self.placed.push((within, row));
        self.innermost();
        let totals = self.regions.entry(region).or_default();
        totals.invocations = totals.invocations.saturating_add(1);
    }

    #[inline(never)]
    fn leave(&mut self, region: u32, end: u64) {
        let (regions, iterations) = (&mut self.regions, &mut self.rest.iterations);
        self.walk.open.leave(region, |left| {
            let totals = regions.entry(left.region).or_default();
            totals.inclusive = totals.inclusive.saturating_add(end.saturating_sub(left.entered));
            if left.iteration != NONE {
                let (region, iteration, outer) = (left.region, left.iteration, left.outer);
                iterations.push(RegionInvocation { region, iteration, outer, begin: left.entered, end });
            }
        });
        let left = self.walk.open.entered().len();
        if left < self.placed.len() {
            self.placed.truncate(left);
            self.innermost();
        }
    }
}

fn drain_sorted<K: Ord + Copy, V>(table: &mut FxHashMap<K, V>) -> Vec<(K, V)> {
    let mut entries: Vec<(K, V)> = table.drain().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    entries
}

/// Returns masks for the parts of `sent` and `received` that count for an operation. Bytes are sent by the call that starts a transfer, and received by
/// the call after which they have arrived. Preparing a persistent operation transfers nothing.
pub fn counted_byte_masks(operation: u16) -> (u64, u64) {
    if Operation::semantics(operation).prepares() {
        (0, 0)
    } else if Operation::completes(operation) != CompletionEffect::Nothing {
        (0, u64::MAX)
    } else {
        (u64::MAX, u64::MAX)
    }
}
