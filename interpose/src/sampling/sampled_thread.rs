//! A thread that is sampled: its event, and the samples that are not in the log yet.

use lbprof_collector::definition::Definition;
use lbprof_collector::format::BatchHead;
use lbprof_collector::poll_gaps::CpuSample;
use lbprof_collector::record::{NONE, Record};
use lbprof_collector::sample::{
    CodeAddress, MAX_SAMPLES, Place, ProcessorCounts, Sample, SampleHead, SamplePlaces, SampledThread,
};
use lbprof_collector::thread_positions::ThreadLocator;

use crate::log::OpenLog;
use crate::machine::system::clock::{read_ticks, sample_instant};
use crate::machine::system::perf::{KernelRecord, PerfEvent, RawCounts};
use crate::sampling::call_chain::{SampleUnwinder, UnwoundChain};
use crate::sampling::clock::SampleClock;
use crate::sampling::off_core::OffCoreReader;
use crate::sampling::period;
use crate::sampling::python_reader::PythonReads;

pub struct ThreadSampling {
    /// Description of the thread for the log.
    pub thread: SampledThread,
    /// `None`: it could not be sampled, which is not tried again.
    event: Option<PerfEvent>,
    /// Start of the event's current period, in ticks.
    period_since: u64,
    /// Position of the next block.
    head: SampleHead,
    /// Samples that wait for being written. Their locations are addresses still.
    waiting: Vec<Sample>,
    /// State of the first thread at each of them, as far as that is known.
    places: Vec<Option<Place>>,
    /// The calls that led to each of them, as far as they are known.
    chains: Vec<Option<UnwoundChain>>,
    /// The samples above and those written since the last call of [`ThreadSampling::take_cpu_samples`], or `None` before the first.
    unfolded: Option<Vec<CpuSample>>,
    /// Python's functions at samples to come.
    python: PythonReads,
    /// Losses: after how many of the samples, and how many were lost.
    losses: Vec<(usize, u64)>,
    /// Counts at the sample before.
    counts: RawCounts,
    /// Recording is paused since then, in ticks.
    paused: Option<u64>,
    /// True if the log has its definition.
    is_defined: bool,
    /// The times for which it is off its core, if these are noted.
    pub off_core: Option<OffCoreReader>,
}

/// The means of reading samples: the clock that their times follow, and the unwinder of the stacks that come with them.
pub struct SampleReading {
    pub clock: SampleClock,
    pub unwinder: SampleUnwinder,
}

const WORTH_A_BLOCK: usize = 128;

impl ThreadSampling {
    pub fn new(thread: SampledThread, event: Option<PerfEvent>, now: u64) -> Self {
        ThreadSampling {
            thread,
            event,
            period_since: now,
            head: SampleHead { thread: thread.id, previous: now, ..SampleHead::default() },
            waiting: Vec::new(),
            places: Vec::new(),
            chains: Vec::new(),
            unfolded: None,
            python: PythonReads::default(),
            losses: Vec::new(),
            counts: RawCounts::default(),
            paused: None,
            is_defined: false,
            off_core: None,
        }
    }

    /// Returns whether it is the thread of this number in the system.
    pub fn is_of(&self, thread: libc::pid_t) -> bool {
        self.thread.system_id == thread as u32
    }

    pub fn set_number(&mut self, number: u32) {
        self.thread.number = number;
        self.is_defined = false;
    }

    /// Pauses recording from `now` on: later samples do not count.
    pub fn pause(&mut self, now: u64) {
        self.paused = self.paused.or(Some(now));
    }

    pub fn resume(&mut self, reading: &mut SampleReading) {
        self.read(reading, None);
        self.paused = None;
    }

    /// Returns whether there is enough for a block, or soon no place for more.
    pub fn is_due(&self, now: u64, slot: u64) -> bool {
        let n_waiting = self.waiting.len() + self.event.as_ref().map_or(0, PerfEvent::n_waiting);
        let is_off_core_due = self.off_core.as_ref().is_some_and(|off_core| off_core.is_due(now, slot));
        self.is_half_full() || n_waiting >= WORTH_A_BLOCK || is_off_core_due
    }

    /// Returns whether the kernel has written samples that were not read yet.
    pub fn has_unread(&self) -> bool {
        self.event.as_ref().is_some_and(PerfEvent::has_unread)
    }

    pub fn locked_bytes(&self) -> u64 {
        let switches = self.off_core.as_ref().map_or(0, |off_core| off_core.event.locked_bytes());
        self.event.as_ref().map_or(0, PerfEvent::locked_bytes) + switches
    }

    /// Returns whether there is soon no place for more.
    pub fn is_half_full(&self) -> bool {
        self.event.as_ref().is_some_and(PerfEvent::is_half_full)
            || self.off_core.as_ref().is_some_and(|off_core| off_core.event.is_half_full())
    }

    /// Takes over the kernel's samples. `first_thread`: the records that the rank's first thread made meanwhile, after a head.
    pub fn read(&mut self, reading: &mut SampleReading, first_thread: Option<(&BatchHead, &[Record])>) {
        let ThreadSampling {
            event, waiting, places, chains, unfolded, python, losses, counts, paused, off_core, ..
        } = self;
        let SampleReading { clock, unwinder } = reading;
        if let Some(off_core) = off_core {
            let mut found = first_thread.map(|(head, records)| ThreadLocator::new(head, records));
            off_core.read(read_ticks(), clock, |ticks| found.as_mut().and_then(|found| found.place_at(ticks)));
        }
        let Some(event) = event.as_mut() else { return };
        python.fetch(self.thread.id);
        let mut found = first_thread.map(|(head, records)| ThreadLocator::new(head, records));
        let mut is_in_pause = false;
        event.read(|written| match written {
            KernelRecord::Sample(raw, stack) => {
                let ticks = clock.ticks(raw.time_ns);
                let counts = counts_since(counts, raw.counts);
                is_in_pause = paused.is_some_and(|since| since <= ticks);
                if !is_in_pause {
                    places.push(found.as_mut().and_then(|found| found.place_at(ticks)));
                    let runs = python.take(raw.time_ns, raw.period_ns);
                    chains.push(unwinder.chain(raw.address, stack.as_ref(), runs));
                    let (location, weight_ns) = (CodeAddress::outside(raw.address), raw.period_ns);
                    waiting.push(Sample { ticks, location, call_path: NONE, weight_ns, counts });
                    if let Some(kept) = unfolded {
                        kept.push(CpuSample { ticks, weight_ns });
                    }
                }
            }
            KernelRecord::Lost(n) if !is_in_pause => losses.push((waiting.len(), n)),
            KernelRecord::Lost(_) => {}
        });
        python.count_missed();
    }

    /// Returns the samples read since the last call; from the first one on they are kept for it.
    pub fn take_cpu_samples(&mut self) -> Vec<CpuSample> {
        self.unfolded.replace(Vec::new()).unwrap_or_default()
    }

    pub fn write(&mut self, log: &mut OpenLog, reading: &mut SampleReading) {
        self.read(reading, None);
        let now = read_ticks();
        if self.off_core.as_ref().is_some_and(|off_core| off_core.is_due(now, log.slot(now))) {
            self.write_off_core(log, now);
        }
        self.write_samples(log, reading);
    }

    /// Writes the intervals off the core that were read.
    fn write_off_core(&mut self, log: &mut OpenLog, now: u64) {
        if let Some(off_core) = &mut self.off_core {
            log.define(&[Definition::OffCore(off_core.take(now))]);
        }
    }

    /// Writes the samples that were read.
    fn write_samples(&mut self, log: &mut OpenLog, reading: &SampleReading) {
        self.head.rate = SampleHead::rate_of(1.0 / reading.clock.rate());
        let mut waiting = std::mem::take(&mut self.waiting);
        for (sample, chain) in waiting.iter_mut().zip(self.chains.drain(..)) {
            let path = chain.and_then(|chain| log.ask_sites(|sites| sites.chain(&chain.callers, chain.is_cut)));
            sample.call_path = path.unwrap_or(NONE);
        }
        let mut places = std::mem::take(&mut self.places);
        let (mut rest, mut rest_places) = (waiting.as_mut_slice(), places.as_slice());
        let mut done = 0;
        for (at, lost) in std::mem::take(&mut self.losses) {
            let (before, after) = rest.split_at_mut(at - done);
            let (places_before, places_after) = rest_places.split_at(at - done);
            self.write_blocks(log, before, places_before);
            self.note_lost(lost);
            (rest, rest_places, done) = (after, places_after, at);
        }
        self.write_blocks(log, rest, rest_places);
        waiting.clear();
        places.clear();
        (self.waiting, self.places) = (waiting, places);
    }

    fn note_lost(&mut self, samples: u64) {
        self.head.first += samples;
        self.head.lost += samples;
    }

    /// Writes samples with their places, none of which was lost between the others.
    fn write_blocks(&mut self, log: &mut OpenLog, samples: &mut [Sample], places: &[Option<Place>]) {
        for (block, places) in samples.chunks_mut(MAX_SAMPLES).zip(places.chunks(MAX_SAMPLES)) {
            if !std::mem::replace(&mut self.is_defined, true) {
                log.define(&[Definition::SampledThread(self.thread)]);
            }
            if places.iter().any(Option::is_some) {
                let places = SamplePlaces::from_places(self.thread.id, self.head.first, places.iter().copied());
                log.define(&[Definition::SamplePlaces(places)]);
            }
            if log.samples(&self.head, block) {
                self.head.advance(block);
            } else {
                self.note_lost(block.len() as u64);
            }
        }
    }

    /// Writes everything for the last time, see [`ThreadSampling::write`]: also the number of samples lost after all others.
    pub fn write_last(&mut self, log: &mut OpenLog, reading: &mut SampleReading) {
        self.read(reading, None);
        self.write_off_core(log, read_ticks());
        self.write_samples(log, reading);
        if self.head.lost != 0 && log.samples(&self.head, &mut []) {
            self.head.lost = 0;
        }
    }

    /// Returns whether the event has had the same period for long.
    pub fn is_period_old(&self, now: u64, clock: &SampleClock) -> bool {
        let period_ns = self.event.as_ref().map(PerfEvent::period_ns);
        period_ns.is_some_and(|period_ns| {
            now.saturating_sub(self.period_since) as f64 > period::kept_for_ns(period_ns) as f64 * clock.rate()
        })
    }

    pub fn change_period(&mut self, period_ns: u64, reading: &mut SampleReading) {
        self.read(reading, None);
        let (now, _) = sample_instant();
        if let Some(event) = &mut self.event {
            event.change_period(period_ns, now.monotonic_ns);
        }
        self.period_since = now.ticks;
    }

    /// Ends the sampling of the thread. Giving back the events' memory takes a system call; unless `may_unmap`, they go on for ever.
    pub fn end(&mut self, may_unmap: bool) {
        let events = (self.event.take(), self.off_core.take());
        if !may_unmap {
            std::mem::forget(events);
        }
    }
}

/// Returns the counts since the sample before, extrapolated if another event had the counters for a part of that time.
fn counts_since(before: &mut RawCounts, now: Option<RawCounts>) -> Option<ProcessorCounts> {
    let now = now?;
    let before = std::mem::replace(before, now);
    let enabled = now.enabled_ns.wrapping_sub(before.enabled_ns);
    let running = now.running_ns.wrapping_sub(before.running_ns);
    let counted = [now.instructions.wrapping_sub(before.instructions), now.cycles.wrapping_sub(before.cycles)];
    let [instructions, cycles] = match running {
        0 => counted,
        _ if running == enabled => counted,
        _ => counted.map(|count| (u128::from(count) * u128::from(enabled) / u128::from(running)) as u64),
    };
    Some(ProcessorCounts { instructions, cycles })
}
