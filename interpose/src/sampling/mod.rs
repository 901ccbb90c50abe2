//! Samples: where each thread of the process executes, by its CPU time in user space.
//!
//! The kernel takes them ([`crate::machine::system::perf`]), into a small ring of each thread; there is no signal, and no thread of ours except for Python
//! ([`python_reader`]). Any thread of the program that flushes its records, or passes a check point of its ring ([`crate::recording::room`]), looks at
//! all rings, a few times a second at most, and writes the new samples to the log. Threads that call no MPI function are found in /proc and sampled
//! alike.
//!
//! The period differs by thread, by chance, and changes every few seconds, so that it does not follow what a program repeats. In long runs it grows
//! ([`period`]).
//!
//! A log with sums of calls alone cannot show where samples belong. Then the first thread passes its records to [`place_cpu_samples`] before they are folded, which
//! reads the samples taken meanwhile and notes the region and the call in which that thread was. Threads that look at the rings in between leave the
//! samples to it, unless a ring is half full.
//!
//! After the program has put itself under a system call filter nothing is opened and nothing unmapped: the rings that exist are read on, for
//! which no system call is needed.

mod call_chain;
mod clock;
mod locked_memory;
mod off_core;
pub mod period;
pub mod pools;
mod python_reader;
pub mod refusal_advice;
mod sampled_thread;
mod tasks;

pub use python_reader::end_reader_before_fork;

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use lbprof_collector::definition::Definition;
use lbprof_collector::format::BatchHead;
use lbprof_collector::poll_gaps::CpuSample;
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::{NONE, Record};
use lbprof_collector::sample::{SampledThread, SamplingOutcome, SamplingSetup};

use crate::harmless::signals::HandlerLock;
use crate::log::{self, FIRST_THREAD, LOG, OpenLog};
use crate::machine::system::clock::{read_ticks, sample_clock};
use crate::machine::system::loader::objects;
use crate::machine::system::perf::switches::SwitchEvent;
use crate::machine::system::perf::{EventOptions, PAGE, PerfEvent, SamplingRefusal, StackCopies};
use crate::machine::system::{process, sandbox};
use crate::sampling::call_chain::{COPIED_BYTES, SampleUnwinder};
use crate::sampling::clock::SampleClock;
use crate::sampling::locked_memory::{LockedShare, PART};
use crate::sampling::off_core::OffCoreReader;
use crate::sampling::sampled_thread::{SampleReading, ThreadSampling};

/// Taken after the lock of the list of recording threads, and before the log's.
static SAMPLER: HandlerLock<Option<ThreadSampler>> = HandlerLock::new(None);

/// Ticks from which on the rings are to be looked at again; `u64::MAX`: never.
static NEXT_LOOK: AtomicU64 = AtomicU64::new(u64::MAX);

static INTERVAL: AtomicU64 = AtomicU64::new(0);

/// Interval, in seconds, at which the rings are looked at, at most, and at which new threads are looked for if there are several.
const LOOK_S: f64 = 0.25;
const SCAN_S: f64 = 1.0;

/// Threads that are sampled from their birth on between two looks for threads, which finds others if they still exist. Each costs some system calls.
const MAX_BIRTHS: u32 = 256;

/// Threads whose period changes keep a descriptor open each, two with copies of the stack: together they take at most one of `DESCRIPTORS_SHARE` that the
/// process may have.
const DESCRIPTORS_SHARE: u64 = 8;

struct ThreadSampler {
    period_ns: u64,
    /// Time at which sampling began, in ticks.
    begun: u64,
    counted: bool,
    reading: SampleReading,
    /// True if stacks are copied.
    has_chains: bool,
    threads: Vec<ThreadSampling>,
    /// Threads that record: their numbers in the system and in the log.
    recording: Vec<(libc::pid_t, u32)>,
    /// Memory that more threads may get for their samples.
    share: LockedShare,
    /// Ids given so far.
    ids: u32,
    /// State of a generator of numbers.
    random: u64,
    /// Result of the last look for threads, see [`tasks::list_threads`].
    scanned: u64,
    /// Threads that were sampled from their birth on since then.
    births: u32,
    links: u64,
    /// True if it was reported that a thread cannot be sampled.
    is_reported: bool,
    /// True if the first thread says where samples belong.
    is_placing: bool,
}

/// Returns whether it is time to look at the rings.
#[inline]
pub fn is_due(now: u64) -> bool {
    NEXT_LOOK.load(Relaxed) <= now
}

#[inline]
pub fn is_on() -> bool {
    NEXT_LOOK.load(Relaxed) != u64::MAX
}

/// Returns the ticks in which a thread that calls MPI is to look once.
#[inline]
pub fn look_interval() -> u64 {
    INTERVAL.load(Relaxed)
}

/// Starts to sample the calling thread, `per_second` times in a second of its CPU time. The log gets the setup, or the reason why there are no samples.
/// Chains have `depth` calls at most; 0: there are none.
pub fn start_sampling(per_second: u64, depth: usize) {
    let period_ns = 1_000_000_000u64.checked_div(per_second).unwrap_or(0);
    let unsampled = SamplingSetup { period_ns, outcome: SamplingOutcome::Off, counted: false, error_ns: 0 };
    if period_ns == 0 {
        log::define_now(Definition::Sampling(unsampled));
        return;
    }
    let Some(assumed) = LOG.with(|log| log.ticks_of_ns()) else { return };
    if sandbox::was_filtered() {
        let reason = "the program was started under a system call filter, which might end it";
        report_refusal(SamplingSetup { outcome: SamplingOutcome::Refused(libc::EPERM), ..unsampled }, reason);
        return;
    }
    let mut sampler = ThreadSampler {
        period_ns,
        begun: read_ticks(),
        counted: PerfEvent::has_counters(),
        reading: SampleReading { clock: SampleClock::new(assumed), unwinder: SampleUnwinder::new(depth) },
        has_chains: depth > 0,
        threads: Vec::new(),
        recording: Vec::new(),
        share: LockedShare::of_process(),
        ids: 0,
        random: read_ticks() | 1,
        scanned: 0,
        births: 0,
        links: 0,
        is_reported: false,
        is_placing: false,
    };
    if depth > 0 {
        python_reader::prepare_reader();
    }
    // SAFETY: gettid has no preconditions.
    let caller = unsafe { libc::gettid() };
    if let Err(refused) = sampler.add(caller) {
        let outcome = SamplingOutcome::Refused(refused.number());
        report_refusal(SamplingSetup { outcome, ..unsampled }, &refused.reason());
        return;
    }
    tasks::prepare_tasks();
    pools::forget_ended_threads();
    log::define_now(Definition::Sampling(sampler.facts()));
    let Some(mut place) = SAMPLER.lock() else { return };
    INTERVAL.store((LOOK_S * 1e9 * sampler.reading.clock.rate()) as u64, Relaxed);
    NEXT_LOOK.store(0, SeqCst);
    *place = Some(sampler);
    python_reader::start_reader();
}

impl SamplingRefusal {
    fn number(&self) -> i32 {
        match self {
            SamplingRefusal::Event(error) | SamplingRefusal::Memory(error) => error.raw_os_error().unwrap_or(0),
            SamplingRefusal::Share => libc::ENOMEM,
        }
    }

    /// Explains it, and how to help.
    fn reason(&self) -> String {
        const SHARE: &str =
            "memory for samples: the recorder takes only a small share of the memory that may be locked (ulimit -l)";
        match self {
            SamplingRefusal::Event(error) => refusal_advice::explain_event(error, kernel_limit("perf_event_paranoid")),
            SamplingRefusal::Memory(error) => {
                refusal_advice::explain_memory(error, kernel_limit("perf_event_mlock_kb"))
            }
            SamplingRefusal::Share => SHARE.into(),
        }
    }
}

/// Returns a limit of the kernel, or `None` if it has no such limit.
fn kernel_limit(name: &str) -> Option<i64> {
    std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok()?.trim().parse().ok()
}

fn report_refusal(facts: SamplingSetup, reason: &str) {
    log::define_now(Definition::Sampling(facts));
    log::define_now(Definition::Problem(ProblemKind::NotSampled as u16, 1, reason.to_owned()));
}

/// Notes that a thread of this number in the system, 0 if not known, records from here on as `number` in the log.
pub fn note_recording_thread(thread: libc::pid_t, number: u32) {
    with_sampler(|sampler| {
        if thread == 0 {
            return;
        }
        sampler.recording.push((thread, number));
        match sampler.thread_mut(thread) {
            Some(sampled) => sampled.set_number(number),
            // It may be one of thousands that live for a millisecond: the next look for threads, which is soon, finds it if it still exists.
            None => sampler.scanned = 0,
        }
    });
}

/// Looks at the rings if it is time, from the thread of this number in the log. Returns whether anything was written.
pub fn look_at_rings(now: u64, number: u32) -> bool {
    if !is_due(now) {
        return false;
    }
    let written = with_sampler(|sampler| {
        let is_any_due = sampler.look(now, number);
        // After a look for new threads, among which it would be.
        python_reader::start_reader();
        is_any_due
    });
    written.unwrap_or(false)
}

/// Locates the samples taken while the rank's first thread made `records` after `head`, which are about to be folded. Returns the samples of that thread
/// since the last call.
pub fn place_cpu_samples(head: &BatchHead, records: &[Record]) -> Vec<CpuSample> {
    let placed = with_sampler(|sampler| {
        sampler.is_placing = true;
        let ThreadSampler { reading, threads, .. } = sampler;
        // Few flushes come after a sample.
        if threads.iter().any(ThreadSampling::has_unread) {
            reading.clock.look();
            for sampled in threads.iter_mut().filter(|one| one.has_unread()) {
                sampled.read(reading, Some((head, records)));
            }
        }
        let firsts = threads.iter_mut().filter(|one| one.thread.number == FIRST_THREAD);
        firsts.flat_map(ThreadSampling::take_cpu_samples).collect()
    });
    placed.unwrap_or_default()
}

/// Samples the calling thread, which begins and has this number in the system.
pub fn thread_begins(thread: libc::pid_t) {
    with_sampler(|sampler| {
        if sampler.births < MAX_BIRTHS && !sandbox::is_filtered() && sampler.thread_mut(thread).is_none() {
            sampler.births += 1;
            let added = sampler.add(thread);
            sampler.report(added);
        }
    });
}

pub fn pause_sampling(thread: libc::pid_t) {
    with_sampler(|sampler| sampler.thread_mut(thread).map(|sampled| sampled.pause(read_ticks())));
}

pub fn resume_sampling(thread: libc::pid_t) {
    with_sampler(|sampler| {
        sampler.reading.clock.look();
        let ThreadSampler { reading, threads, .. } = sampler;
        threads.iter_mut().find(|one| one.is_of(thread)).map(|sampled| sampled.resume(reading))
    });
}

pub fn thread_ends(thread: libc::pid_t) {
    with_sampler(|sampler| {
        sampler.recording.retain(|&(known, _)| known != thread);
        if let Some(at) = sampler.threads.iter().position(|one| one.is_of(thread)) {
            let mut sampled = sampler.threads.swap_remove(at);
            sampler.reading.clock.look();
            LOG.with(|log| sampled.write_last(log, &mut sampler.reading));
            sampler.share.give_back(sampled.locked_bytes());
            sampled.end(!sandbox::is_filtered());
        }
    });
}

/// Writes all samples because an object is about to be unloaded, so that their addresses mean the objects loaded now. Until [`objects::end_unload`], which
/// is to be called if the result is true, samples are located in known objects alone.
pub fn begin_unloading() -> bool {
    let begun = with_sampler(|sampler| {
        sampler.write_all();
        objects::begin_unload();
    });
    begun.is_some()
}

/// Ends sampling: everything goes to the log.
pub fn end_sampling() {
    with_sampler(|sampler| {
        LOG.with(|log| sampler.write_last(log));
        log::define_now(Definition::Sampling(sampler.facts()));
        NEXT_LOOK.store(u64::MAX, SeqCst);
        let may_unmap = !sandbox::is_filtered();
        for mut sampled in sampler.threads.drain(..) {
            sampled.end(may_unmap);
        }
        python_reader::end_reader();
    });
}

/// Ends sampling at the program's end like [`end_sampling`], as far as that can be done now.
pub fn end_at_exit() {
    if !is_on() {
        return;
    }
    let Some(mut sampler) = SAMPLER.lock_at_end() else { return };
    let Some(mut log) = LOG.lock_at_end() else { return };
    if let (Some(sampler), Some(log)) = (sampler.as_mut(), log.as_mut()) {
        sampler.write_last(log);
    }
    NEXT_LOOK.store(u64::MAX, SeqCst);
}

/// Ends sampling in the child of a fork: rings and log are its parent's.
pub fn abandon_sampling() {
    NEXT_LOOK.store(u64::MAX, SeqCst);
    python_reader::abandon_reader();
}

/// Does `work` with the sampler, unless nothing is sampled.
fn with_sampler<T>(work: impl FnOnce(&mut ThreadSampler) -> T) -> Option<T> {
    if is_on() { SAMPLER.with(work) } else { None }
}

impl ThreadSampler {
    fn facts(&self) -> SamplingSetup {
        let ThreadSampler { period_ns, counted, ref reading, .. } = *self;
        SamplingSetup { period_ns, outcome: SamplingOutcome::Sampled, counted, error_ns: reading.clock.error_ns() }
    }

    /// Returns the thread of this number in the system.
    fn thread_mut(&mut self, thread: libc::pid_t) -> Option<&mut ThreadSampling> {
        self.threads.iter_mut().find(|one| one.is_of(thread))
    }

    /// Samples one more thread. One that cannot be sampled is noted all the same, so that it is not tried again and again.
    fn add(&mut self, thread: libc::pid_t) -> Result<(), SamplingRefusal> {
        let n_threads = self.threads.len();
        // The first one is the first thread that records. Before its samples, which may take all memory that is left.
        let off_core = if n_threads == 0 { self.switches(thread) } else { None };
        let copies = self.copies(n_threads);
        let beside = PerfEvent::bytes_beside(self.counted);
        let beside_copies = copies.map_or(0, |copies| (copies.ring_bytes + PAGE) as u64);
        let wanted = if copies.is_some() { BACKUP_BYTES } else { ring_bytes(n_threads) };
        let event = match self.share.fitting(wanted, beside, PART) {
            Some(bytes) if self.share.has(bytes as u64 + beside + beside_copies) => {
                // Where the system copies no stacks there are samples without.
                let opened = self.open(thread, bytes, copies);
                if opened.is_err() && copies.is_some() { self.open(thread, bytes, None) } else { opened }
            }
            Some(bytes) => self.open(thread, bytes, None),
            None => Err(SamplingRefusal::Share),
        };
        if let Ok(event) = &event {
            self.share.take(event.locked_bytes());
        }
        let id = self.ids;
        self.ids += 1;
        let (event, result) = match event {
            Ok(event) => (Some(event), Ok(())),
            Err(error) => (None, Err(error)),
        };
        let number = self.recording.iter().find(|(known, _)| *known == thread).map_or(NONE, |(_, number)| *number);
        let sampled = SampledThread { id, system_id: thread as u32, number, pool: pools::pool_of(thread) };
        let mut sampling = ThreadSampling::new(sampled, event, read_ticks());
        sampling.off_core = off_core;
        self.threads.push(sampling);
        result
    }

    /// Starts to note when a thread has no core, where the system and the memory that may be locked allow it.
    fn switches(&mut self, thread: libc::pid_t) -> Option<OffCoreReader> {
        let bytes = self.share.fitting(SWITCHES_BYTES, PAGE as u64, PART)?;
        let event = SwitchEvent::open(thread, sample_clock(), bytes).ok()?;
        self.share.take(event.locked_bytes());
        Some(OffCoreReader::new(event, read_ticks()))
    }

    /// Returns the copies of the stack for one more thread after `n_threads`, if there is room for them.
    fn copies(&self, n_threads: usize) -> Option<StackCopies> {
        // The first thread may have all that is left.
        let (wanted, part) = match n_threads {
            0 => (512 << 10, 1),
            1..16 => (MIN_COPIES_BYTES, PART),
            _ => return None,
        };
        let beside = (BACKUP_BYTES + PAGE) as u64 + PerfEvent::bytes_beside(self.counted);
        let ring_bytes = self.share.fitting(wanted, beside, part)?;
        (self.has_chains && ring_bytes >= MIN_COPIES_BYTES)
            .then_some(StackCopies { copied_bytes: COPIED_BYTES, ring_bytes })
    }

    fn open(
        &mut self,
        thread: libc::pid_t,
        bytes: usize,
        copies: Option<StackCopies>,
    ) -> Result<PerfEvent, SamplingRefusal> {
        let options = EventOptions {
            period_ns: self.period(),
            has_changing_period: self.threads.len() < most_changing_periods(),
            clock: sample_clock(),
            counted: self.counted,
            bytes,
            copies,
            woken_as: python_reader::is_wanted().then_some(self.ids),
        };
        PerfEvent::open(thread, options)
    }

    /// Returns a random period near the one that is due now, up to a tenth shorter or longer, or near one that can be afforded.
    fn period(&mut self) -> u64 {
        // Xorshift (Marsaglia 2003).
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let elapsed = read_ticks().saturating_sub(self.begun) as f64 / self.reading.clock.rate();
        let period_ns = python_reader::affordable_period(period::growing_period(self.period_ns, elapsed as u64));
        period_ns - period_ns / 10 + self.random % (period_ns / 5).max(1)
    }

    fn report(&mut self, added: Result<(), SamplingRefusal>) {
        // One that has ended meanwhile is no loss.
        if let Err(refused) = added
            && refused.number() != libc::ESRCH
            && !std::mem::replace(&mut self.is_reported, true)
        {
            let reason = format!("not all threads are sampled: {}", refused.reason());
            log::define_now(Definition::Problem(ProblemKind::NotSampled as u16, 1, reason));
        }
    }

    /// Looks at all rings, and for new threads, from the thread of this number. Returns whether anything was written.
    fn look(&mut self, now: u64, number: u32) -> bool {
        if self.is_placing && number != FIRST_THREAD && !self.threads.iter().any(ThreadSampling::is_half_full) {
            return false;
        }
        let second = 1e9 * self.reading.clock.rate();
        NEXT_LOOK.store(now.saturating_add(look_interval()), Relaxed);
        let slot = LOG.with(|log| log.slot(now)).unwrap_or(u64::MAX);
        let is_any_due = self.threads.iter().any(|one| one.is_due(now, slot));
        let is_scan_due = now.saturating_sub(self.scanned) as f64 >= SCAN_S * second;
        if !is_any_due && !is_scan_due {
            return false;
        }
        self.reading.clock.look();
        let is_filtered = sandbox::is_filtered();
        if is_scan_due && !is_filtered {
            (self.scanned, self.births) = (now, 0);
            self.scan();
        }
        let ThreadSampler { reading, threads, .. } = self;
        LOG.with(|log| {
            for sampled in threads.iter_mut() {
                if sampled.is_due(now, slot) {
                    sampled.write(log, reading);
                }
            }
            pools::write_pools(log);
        });
        if !is_filtered {
            self.change_periods(now);
        }
        is_any_due
    }

    /// Starts to sample new threads, and ends the sampling of those that are gone.
    fn scan(&mut self) {
        let Some((links, there)) = tasks::list_threads(self.links) else { return };
        self.links = links;
        let ThreadSampler { reading, threads, share, .. } = self;
        LOG.with(|log| {
            threads.retain_mut(|one| {
                let stays = there.binary_search(&(one.thread.system_id as libc::pid_t)).is_ok();
                if !stays {
                    one.write_last(log, reading);
                    share.give_back(one.locked_bytes());
                    one.end(true);
                }
                stays
            });
        });
        for thread in there {
            if self.thread_mut(thread).is_none() {
                let added = self.add(thread);
                self.report(added);
            }
        }
    }

    fn change_periods(&mut self, now: u64) {
        for at in 0..self.threads.len() {
            let is_due = self.threads.get(at).is_some_and(|one| one.is_period_old(now, &self.reading.clock));
            if !is_due {
                continue;
            }
            let period_ns = self.period();
            if let Some(sampled) = self.threads.get_mut(at) {
                sampled.change_period(period_ns, &mut self.reading);
            }
        }
    }

    fn write_all(&mut self) {
        self.reading.clock.look();
        let ThreadSampler { reading, threads, .. } = self;
        LOG.with(|log| {
            for sampled in threads.iter_mut() {
                sampled.write(log, reading);
            }
        });
    }

    fn write_last(&mut self, log: &mut OpenLog) {
        let ThreadSampler { reading, threads, .. } = self;
        reading.clock.look();
        for sampled in threads {
            sampled.write_last(log, reading);
        }
        pools::write_pools(log);
    }
}

/// Returns the number of threads whose period may change.
fn most_changing_periods() -> usize {
    (process::resource_limit(libc::RLIMIT_NOFILE) / DESCRIPTORS_SHARE / 2) as usize
}

/// Bytes for samples without copies of the stack beside those with copies: enough for as long a time as the largest of [`ring_bytes`].
const BACKUP_BYTES: usize = 32 << 10;

/// Bytes for the switches of the first thread: two thousand, or the busiest quarter of a second in which they are worth listing.
const SWITCHES_BYTES: usize = 64 << 10;

/// Least bytes for samples with copies of the stack: enough for a quarter of a second.
const MIN_COPIES_BYTES: usize = 64 << 10;

/// Returns the bytes of a ring without copies of the stack for one more thread after `n_threads`. The memory is locked: a user has 516 KiB for each core,
/// and the limit of each process.
fn ring_bytes(n_threads: usize) -> usize {
    match n_threads {
        0..16 => 128 << 10,
        16..128 => 32 << 10,
        _ => 8 << 10,
    }
}
