//! Collects the activity of a rank's thread that called `MPI_Init`: time in MPI by slice, repeated actions and samples.

use std::collections::{HashMap, VecDeque};

use lbprof_collector::clock::RankClock;
use lbprof_collector::definition::{CallSite, ClockOffset, ClockPair, InterpretedFunction, Module, Region};
use lbprof_collector::format::LogHeader;
use lbprof_collector::polling::{PollGapClassifier, PollGapLimits, PollGapRule};
use lbprof_collector::profile::ProfileBatch;
use lbprof_collector::reader::LogItem;
use lbprof_collector::salvage::SalvagedRing;
use lbprof_collector::sample::{CodeAddress, Sample};
use lbprof_collector::{Activity, CallFlags, Definition, Operation, Record};

use super::time_slices::TimeSlices;

const FIRST_THREAD: u32 = 0;

/// Maximum number of counted call sites. Programs have some hundred.
const MOST_SITES: usize = 4096;

/// Maximum number of samples: ten seconds at 200 per second.
const MOST_SAMPLES: usize = 2048;

/// An action that a rank repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RepeatedAction {
    /// Iterations of a marked region, by its id.
    Iterations(u32),
    /// Calls from a call site, by its id, and their operation.
    Calls(u32, u16),
}

/// A call that a rank has not left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OngoingCall {
    pub operation: u16,
    pub begin_ns: i64,
}

/// The activity of a rank so far.
#[derive(Clone)]
pub struct RankActivity {
    pub header: LogHeader,
    clock: RankClock,
    last_instant: Option<ClockPair>,
    offsets: Vec<ClockOffset>,
    polls: Option<PollGapClassifier>,
    /// Seconds in MPI.
    pub mpi: TimeSlices,
    /// Number of calls and iterations by slice, or `None` if they are not counted on this rank.
    recurring: Option<HashMap<RepeatedAction, TimeSlices>>,
    samples: VecDeque<(i64, CodeAddress, u64)>,
    sampled_thread: Option<u32>,
    pub modules: HashMap<u32, Module>,
    pub regions: HashMap<u32, Region>,
    /// Call sites by id, of a rank whose calls are counted.
    pub call_sites: HashMap<u32, CallSite>,
    /// Functions of an interpreted program by id.
    pub functions: HashMap<u32, InterpretedFunction>,
    /// Time at which `MPI_Init` returned.
    pub begin_ns: Option<i64>,
    /// Time at which `MPI_Finalize` was entered, or at which the process ended.
    pub end_ns: Option<i64>,
    /// The last instant that is known of.
    pub seen_ns: i64,
    pub open_call: Option<OngoingCall>,
}

impl RankActivity {
    /// Creates the activity from a log's header. Counting repeated actions takes a kilobyte per call site.
    pub fn new(header: &LogHeader, counts: bool) -> RankActivity {
        let clock = RankClock::new(header, &[], &[]);
        let seen_ns = clock.nanoseconds(header.instants[1].ticks);
        RankActivity {
            header: header.clone(),
            clock,
            last_instant: None,
            offsets: Vec::new(),
            polls: None,
            mpi: TimeSlices::default(),
            recurring: counts.then(HashMap::new),
            samples: VecDeque::new(),
            sampled_thread: None,
            modules: HashMap::new(),
            regions: HashMap::new(),
            call_sites: HashMap::new(),
            functions: HashMap::new(),
            begin_ns: None,
            end_ns: None,
            seen_ns,
            open_call: None,
        }
    }

    /// Converts the host's CLOCK_MONOTONIC to the run's clock.
    pub fn on_run_clock(&self, monotonic_ns: i64) -> i64 {
        monotonic_ns - self.offsets.last().map_or(0, |offset| offset.offset_ns)
    }

    pub fn add_item(&mut self, item: LogItem) {
        match item {
            LogItem::Definitions(definitions) => {
                for one in definitions {
                    self.add_definition(one);
                }
            }
            LogItem::Records { head, records } if head.thread == FIRST_THREAD => {
                self.add_records(head.previous_end, &records);
            }
            LogItem::Profile(batch) if batch.head.thread == FIRST_THREAD => self.add_profile(&batch),
            LogItem::Samples { head, samples } if Some(head.thread) == self.sampled_thread => {
                self.add_samples(&samples)
            }
            _ => {}
        }
    }

    /// Returns the activity including the ring. The current call counts up to `now_ns`.
    pub fn with_ring(&self, ring: Option<&SalvagedRing>, now_ns: Option<i64>) -> RankActivity {
        let mut activity = self.clone();
        if let Some(ring) = ring {
            activity.add_records(ring.head.previous_end, &ring.records);
            let ended = ring.window_end.or(ring.end.map(|(_, ticks)| ticks));
            activity.end_ns = activity.end_ns.or(ended.map(|ticks| activity.clock.nanoseconds(ticks)));
        }
        let now_ns =
            now_ns.filter(|_| activity.end_ns.is_none()).map_or(activity.seen_ns, |now| now.max(activity.seen_ns));
        if let Some(call) = activity.open_call {
            activity.mpi.add_period(call.begin_ns, now_ns);
        }
        activity.seen_ns = now_ns;
        activity
    }

    /// Returns the repeated actions with their counts in slices `begin..end`.
    pub fn recurring(&self, begin: i64, end: i64) -> impl Iterator<Item = (RepeatedAction, f64)> {
        self.recurring.iter().flatten().map(move |(&what, counts)| (what, counts.sum(begin, end)))
    }

    /// Returns the sampled CPU time in nanoseconds by place.
    pub fn sampled_since(&self, since_ns: i64) -> HashMap<CodeAddress, u64> {
        let mut by_place = HashMap::new();
        for &(_, location, weight_ns) in self.samples.iter().filter(|(at, ..)| *at >= since_ns) {
            *by_place.entry(location).or_default() += weight_ns;
        }
        by_place
    }

    fn add_definition(&mut self, definition: Definition) {
        match definition {
            Definition::Module(module) => drop(self.modules.insert(module.id, module)),
            Definition::Region(region) => drop(self.regions.insert(region.id, region)),
            Definition::CallSite(site) if self.recurring.is_some() => drop(self.call_sites.insert(site.id, site)),
            Definition::Function(function) => drop(self.functions.insert(function.id, function)),
            Definition::Instant(instant) => {
                // Later instants give a more exact tick rate.
                self.last_instant = Some(instant);
                self.set_clock();
            }
            Definition::ClockOffset(offset) => {
                self.offsets.truncate(1);
                self.offsets.push(offset);
                self.set_clock();
            }
            Definition::SampledThread(thread) if thread.number == FIRST_THREAD => self.sampled_thread = Some(thread.id),
            Definition::WindowBegin(ticks) => self.begin_ns = Some(self.clock.nanoseconds(ticks)),
            Definition::WindowEnd(ticks) => self.end_ns = Some(self.clock.nanoseconds(ticks)),
            Definition::End(_, ticks) => drop(self.end_ns.get_or_insert(self.clock.nanoseconds(ticks))),
            _ => {}
        }
    }

    fn set_clock(&mut self) {
        self.clock = RankClock::new(&self.header, self.last_instant.as_slice(), &self.offsets);
    }

    fn add_records(&mut self, previous_end: u64, records: &[Record]) {
        let lengths = PollGapLimits::from_header(&self.header);
        let mut polls =
            self.polls.take().unwrap_or_else(|| PollGapClassifier::new(PollGapRule::Auto, lengths, previous_end));
        for record in records {
            let mut record = *record;
            polls.next(&mut record);
            self.add_record(&record);
        }
        self.polls = Some(polls);
    }

    fn add_record(&mut self, record: &Record) {
        let begin_ns = self.clock.nanoseconds(record.begin);
        let is_open = record.flags.contains(CallFlags::UNFINISHED) && record.end <= record.begin;
        let end_ns = if is_open { begin_ns } else { self.clock.nanoseconds(record.end.max(record.begin)) };
        self.seen_ns = self.seen_ns.max(end_ns);
        self.open_call = (is_open && record.is_call()).then_some(OngoingCall { operation: record.operation, begin_ns });
        match record.operation() {
            Some(Operation::RegionEnter) if self.regions.get(&record.request).is_some_and(|region| region.iterated) => {
                self.count(RepeatedAction::Iterations(record.request), begin_ns, begin_ns, 1.0);
            }
            Some(Operation::Flush) => self.mpi.add_period(begin_ns, end_ns),
            _ if record.is_call() => {
                self.mpi.add_period(begin_ns, end_ns);
                let site = u32::try_from(record.call_site).ok();
                // Polls recur as often as the rank has time.
                if let Some(site) = site.filter(|_| !Operation::polls(record.operation)) {
                    self.count(RepeatedAction::Calls(site, record.operation), begin_ns, begin_ns, 1.0);
                }
            }
            _ => {}
        }
    }

    fn add_profile(&mut self, batch: &ProfileBatch) {
        let [begin_ns, end_ns] = [&batch.head, &batch.next].map(|head| self.clock.nanoseconds(head.previous_end));
        let length = batch.next.previous_end.saturating_sub(batch.head.previous_end).max(1) as f64;
        let ns_per_tick = (end_ns - begin_ns) as f64 / length;
        let in_mpi = batch.profile.cells.iter().filter(|(key, _)| key.activity != Activity::Computation as u8);
        let ticks: u64 = in_mpi.map(|(_, cell)| cell.ticks).sum();
        self.mpi.add(begin_ns, end_ns, ticks as f64 * ns_per_tick / 1e9);
        for (key, cell) in &batch.profile.sites {
            if !Operation::polls(key.operation) {
                self.count(RepeatedAction::Calls(key.call_site, key.operation), begin_ns, end_ns, cell.calls as f64);
            }
        }
        for iteration in &batch.profile.iterations {
            let at_ns = self.clock.nanoseconds(iteration.begin);
            self.count(RepeatedAction::Iterations(iteration.region), at_ns, at_ns, 1.0);
        }
        self.seen_ns = self.seen_ns.max(end_ns);
    }

    fn count(&mut self, what: RepeatedAction, begin_ns: i64, end_ns: i64, times: f64) {
        let Some(recurring) = &mut self.recurring else { return };
        if recurring.len() < MOST_SITES || recurring.contains_key(&what) {
            recurring.entry(what).or_default().add(begin_ns, end_ns, times);
        }
    }

    fn add_samples(&mut self, samples: &[Sample]) {
        for sample in samples {
            self.samples.push_back((self.clock.nanoseconds(sample.ticks), sample.location, sample.weight_ns));
        }
        let too_many = self.samples.len().saturating_sub(MOST_SAMPLES);
        self.samples.drain(..too_many);
    }
}
