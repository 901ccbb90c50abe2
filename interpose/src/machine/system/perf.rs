//! Samples that the kernel takes of a thread (perf_event_open(2)): a memory mapping that it fills, and no signal.
//!
//! An event counts the CPU time of one thread in user space. After each period the kernel writes to the mapping where
//! the thread was executing. The mapping keeps the event alive, so the descriptor is closed at once, or stays open under a high number where the
//! period is to be changed ([`SamplePeriod`]). A child of fork(2) does not inherit the mapping.
//!
//! Where there is room, a copy of the upper end of the thread's stack comes with each sample. A sample with a copy takes a kilobyte, so that a
//! mapping that is not read is full after two seconds. From then on a second event, with samples without copies that are eight times rarer, shows
//! where the thread was:
//!
//! ```text
//!   with copies       x x x x x x x x| full                     | read: x x x …
//!   backup            x               |x               x         |       x       only those while the other was full are used
//! ```

mod event;
mod period;
pub mod switches;
pub mod wakes;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::machine::processor::SAMPLED_REGISTERS;

use self::event::{EXCLUDE_HYPERVISOR, EXCLUDE_KERNEL, EventAttributes, TASK_CLOCK, TYPE_SOFTWARE, open_event};
use self::period::SamplePeriod;

pub const PAGE: usize = 4096;

#[derive(Clone, Copy, Debug)]
pub struct EventOptions {
    /// CPU time between two samples, in nanoseconds.
    pub period_ns: u64,
    /// True if the period is to be changed later, for which a descriptor stays open.
    pub has_changing_period: bool,
    /// The clock of the samples' times, as clock_gettime(2) has it.
    pub clock: libc::clockid_t,
    /// True if instructions and cycles are counted, too.
    pub counted: bool,
    /// Bytes for samples, a power of two of pages; where the system does not grant them, fewer.
    pub bytes: usize,
    pub copies: Option<StackCopies>,
    /// The number by which [`wakes`] names the thread when a sample was taken; `None`: no thread is woken.
    pub woken_as: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
pub struct StackCopies {
    /// Bytes that are copied, a multiple of 8.
    pub copied_bytes: u32,
    /// Bytes for samples with copies, a power of two of pages.
    pub ring_bytes: usize,
}

pub enum KernelRecord<'a> {
    /// The thread was executing somewhere.
    Sample(RawSample, Option<StackCopy<'a>>),
    /// Number of samples that had no place.
    Lost(u64),
}

/// A sample as the kernel writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawSample {
    /// Address of the instruction that came next.
    pub address: u64,
    /// Time, in nanoseconds of the event's clock.
    pub time_ns: u64,
    /// CPU time that it stands for.
    pub period_ns: u64,
    /// Counts since the event was opened.
    pub counts: Option<RawCounts>,
}

/// The upper end of a thread's stack when a sample was taken.
pub struct StackCopy<'a> {
    /// The stack pointer and the frame pointer.
    pub sp: usize,
    pub bp: usize,
    ring: &'a SampleRing,
    /// The position of the first word.
    begin: u64,
    n_bytes: u64,
}

impl StackCopy<'_> {
    /// Returns the word at an address, a multiple of 8, or `None` if it was not copied.
    pub fn word(&self, address: usize) -> Option<usize> {
        let offset = address.checked_sub(self.sp)? as u64;
        let is_copied = offset.checked_add(8)? <= self.n_bytes && offset.is_multiple_of(8);
        is_copied.then(|| self.ring.word(self.begin + offset) as usize)
    }
}

/// Counts of the processor's counters, which may have been shared with other events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawCounts {
    /// Times for which they could have counted, and for which they did, in nanoseconds.
    pub enabled_ns: u64,
    pub running_ns: u64,
    /// Counts in that time.
    pub instructions: u64,
    pub cycles: u64,
}

/// Why a thread cannot be sampled.
#[derive(Debug)]
pub enum SamplingRefusal {
    /// The system allows no event.
    Event(io::Error),
    /// There is no memory for its samples: users may lock only little of it.
    Memory(io::Error),
    /// The recorder's part of that memory is used up.
    Share,
}

#[derive(Debug)]
pub struct PerfEvent {
    ring: SampleRing,
    period: SamplePeriod,
    /// The samples without copies of the stack, where `ring` has some with copies.
    backup: Option<BackupSamples>,
    /// Bytes of the stack that come with a sample.
    copied_bytes: u32,
    /// The time of the sample that was read last from `ring`.
    last_ns: u64,
    counted: bool,
    /// Mappings that keep its counters alive.
    _counters: Vec<EventMapping>,
}

/// Rarer samples, for times in which there is no room for others.
#[derive(Debug)]
struct BackupSamples {
    ring: SampleRing,
    period: SamplePeriod,
}

/// The memory that the kernel fills: a page of positions, then the samples.
#[derive(Debug)]
struct SampleRing {
    pages: EventMapping,
    bytes: usize,
}

#[derive(Debug)]
struct EventMapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: memory of the process, which any thread may read; only the thread that has the event to itself changes a position.
unsafe impl Send for EventMapping {}

// linux/perf_event.h.
const TYPE_HARDWARE: u32 = 0;
const CPU_CYCLES: u64 = 0;
const INSTRUCTIONS: u64 = 1;
const SAMPLE_IP: u64 = 1;
const SAMPLE_TIME: u64 = 1 << 2;
const SAMPLE_READ: u64 = 1 << 4;
const SAMPLE_PERIOD: u64 = 1 << 8;
const READ_TIMES: u64 = 1 | 1 << 1;
const READ_GROUP: u64 = 1 << 3;
const SAMPLE_REGISTERS: u64 = 1 << 12;
const SAMPLE_STACK: u64 = 1 << 13;
const WATERMARK: u64 = 1 << 14;
const USE_CLOCK: u64 = 1 << 25;
const RECORD_LOST: u32 = 2;
const RECORD_SAMPLE: u32 = 9;
/// Offset in the first page of a mapping of the positions up to which the kernel has written, and we have read.
const HEAD_AT: usize = 1024;
const TAIL_AT: usize = 1032;

/// The period of samples without copies of the stack, where there are others with them, in periods of these.
const BACKUP_PERIODS: u64 = 8;

impl PerfEvent {
    pub fn open(thread: libc::pid_t, options: EventOptions) -> Result<PerfEvent, SamplingRefusal> {
        let EventOptions { period_ns, has_changing_period, clock, counted, bytes, copies, woken_as } = options;
        let sampling = EventAttributes {
            kind: TYPE_SOFTWARE,
            config: TASK_CLOCK,
            sample_period: period_ns,
            sample_type: SAMPLE_IP | SAMPLE_TIME | SAMPLE_PERIOD | if counted { SAMPLE_READ } else { 0 },
            read_format: if counted { READ_TIMES | READ_GROUP } else { 0 },
            // A thread that waits is woken by each sample; where none does, none is before it is full.
            flags: EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR | USE_CLOCK | if woken_as.is_some() { 0 } else { WATERMARK },
            wakeup_watermark: if woken_as.is_some() { 1 } else { u32::MAX },
            clock,
            ..EventAttributes::default()
        };
        let copied_bytes = copies.map_or(0, |copies| copies.copied_bytes);
        let with_copies = EventAttributes {
            sample_type: sampling.sample_type | SAMPLE_REGISTERS | SAMPLE_STACK,
            registers: SAMPLED_REGISTERS,
            stack: copied_bytes,
            ..sampling
        };
        let attributes = if copies.is_some() { with_copies } else { sampling };
        let leader = open_event(thread, None, attributes).map_err(SamplingRefusal::Event)?;
        let period = SamplePeriod::new(&leader, period_ns, has_changing_period);
        let mut counters = Vec::new();
        for config in [INSTRUCTIONS, CPU_CYCLES].into_iter().filter(|_| counted) {
            let counting = EventAttributes { read_format: READ_TIMES | READ_GROUP, ..counter_of(config) };
            let counter = open_event(thread, Some(&leader), counting).map_err(SamplingRefusal::Event)?;
            counters.push(EventMapping::new(&counter, PAGE)?);
        }
        let (ring, backup) = match copies {
            None => (SampleRing::new(&leader, bytes)?, None),
            Some(StackCopies { ring_bytes, .. }) => {
                let rarer_ns = period_ns.saturating_mul(BACKUP_PERIODS);
                let rarer = EventAttributes { sample_period: rarer_ns, ..sampling };
                let backup = open_event(thread, Some(&leader), rarer).map_err(SamplingRefusal::Event)?;
                let backup_period = SamplePeriod::new(&backup, rarer_ns, has_changing_period);
                let ring = SampleRing { pages: EventMapping::new(&leader, PAGE + ring_bytes)?, bytes: ring_bytes };
                wakes::add_to_set(&backup, woken_as, thread);
                (ring, Some(BackupSamples { ring: SampleRing::new(&backup, bytes)?, period: backup_period }))
            }
        };
        wakes::add_to_set(&leader, woken_as, thread);
        Ok(PerfEvent { ring, period, backup, copied_bytes, last_ns: 0, counted, _counters: counters })
    }

    /// Returns whether the processor has counters that this process may use.
    pub fn has_counters() -> bool {
        open_event(0, None, counter_of(INSTRUCTIONS)).is_ok()
    }

    /// Returns the bytes that are locked beside the samples: a page of positions, and a page of each counter.
    pub fn bytes_beside(counted: bool) -> u64 {
        if counted { 3 * PAGE as u64 } else { PAGE as u64 }
    }

    pub fn locked_bytes(&self) -> u64 {
        let backup = self.backup.as_ref().map_or(0, |backup| backup.ring.bytes + PAGE);
        (self.ring.bytes + backup) as u64 + PerfEvent::bytes_beside(self.counted)
    }

    /// Returns the number of samples to be read in the ring that is read first.
    pub fn n_waiting(&self) -> usize {
        self.ring.waiting() / self.sample_bytes()
    }

    /// Returns whether anything was written that was not read yet.
    pub fn has_unread(&self) -> bool {
        self.rings().any(|ring| ring.waiting() > 0)
    }

    /// Returns whether there is soon no place for more.
    pub fn is_half_full(&self) -> bool {
        self.rings().any(|ring| ring.waiting() >= ring.bytes / 2)
    }

    fn rings(&self) -> impl Iterator<Item = &SampleRing> {
        std::iter::once(&self.ring).chain(self.backup.as_ref().map(|backup| &backup.ring))
    }

    fn sample_bytes(&self) -> usize {
        let plain = if self.counted { 80 } else { 32 };
        let of_backup = if self.counted && self.backup.is_some() { 8 } else { 0 };
        // A word for the kind of the registers, two registers, the size of the copy, the copy, and how much of it is one.
        let of_copy = if self.copied_bytes == 0 { 0 } else { 40 + self.copied_bytes as usize };
        plain + of_backup + of_copy
    }

    /// Changes the period at a time of the event's clock, if it can be changed. All samples before that time must have been read, except the latest
    /// ones.
    pub fn change_period(&mut self, period_ns: u64, now_ns: u64) {
        self.period.change(period_ns, now_ns);
        if let Some(backup) = &mut self.backup {
            backup.period.change(period_ns.saturating_mul(BACKUP_PERIODS), now_ns);
        }
    }

    /// Returns the period that samples have now, in nanoseconds.
    pub fn period_ns(&self) -> u64 {
        self.period.current_ns()
    }

    /// Reads all that was written since the last time.
    pub fn read(&mut self, mut each: impl FnMut(KernelRecord)) {
        let was_full = self.ring.bytes - self.ring.waiting() < self.sample_bytes();
        let PerfEvent { ring, period, backup, last_ns, counted, .. } = self;
        ring.read(|kind, size, position| match kind {
            RECORD_SAMPLE => {
                let (mut raw, after) = ring.sample(position, *counted);
                raw.period_ns = period.period_at(raw.time_ns);
                *last_ns = raw.time_ns;
                let copy = backup.as_ref().and_then(|_| ring.stack_copy(position + after, position + size));
                each(KernelRecord::Sample(raw, copy));
            }
            RECORD_LOST if backup.is_none() => each(KernelRecord::Lost(ring.word(position + 16))),
            _ => {}
        });
        let Some(BackupSamples { ring: backup, period }) = backup else { return };
        backup.read(|kind, _, position| match kind {
            RECORD_SAMPLE => {
                let (mut raw, _) = backup.sample(position, *counted);
                raw.period_ns = period.period_at(raw.time_ns);
                if was_full && *last_ns < raw.time_ns {
                    each(KernelRecord::Sample(raw, None));
                }
            }
            RECORD_LOST => each(KernelRecord::Lost(BACKUP_PERIODS * backup.word(position + 16))),
            _ => {}
        });
    }
}

/// Describes a counter of the processor.
fn counter_of(config: u64) -> EventAttributes {
    let flags = EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR;
    EventAttributes { kind: TYPE_HARDWARE, config, flags, ..EventAttributes::default() }
}

impl SampleRing {
    /// Maps a ring of `most` bytes, or half of them, or half of that: a user may lock only little memory.
    fn new(event: &OwnedFd, most: usize) -> Result<SampleRing, SamplingRefusal> {
        let mut bytes = most;
        loop {
            match EventMapping::new(event, PAGE + bytes) {
                Ok(pages) => return Ok(SampleRing { pages, bytes }),
                Err(error) if bytes <= PAGE => return Err(error),
                Err(_) => bytes /= 2,
            }
        }
    }
    /// Returns the number of bytes that wait to be read.
    fn waiting(&self) -> usize {
        let waiting = self.position(HEAD_AT).load(Relaxed).wrapping_sub(self.position(TAIL_AT).load(Relaxed));
        // No more than there is place for, whatever the positions say.
        (waiting as usize).min(self.bytes)
    }

    /// Passes kind, size and position of each record that was written since the last time.
    fn read(&self, mut each: impl FnMut(u32, u64, u64)) {
        let head = self.position(HEAD_AT).load(Acquire);
        let tail = self.position(TAIL_AT).load(Relaxed);
        let mut at = tail;
        let end = if head.wrapping_sub(tail) <= self.bytes as u64 { head } else { tail };
        while at != end {
            let header = self.word(at);
            let size = header >> 48;
            if size < 8 || !size.is_multiple_of(8) || size > end.wrapping_sub(at) {
                break;
            }
            each(header as u32, size, at);
            at += size;
        }
        self.position(TAIL_AT).store(head, Release);
    }

    /// Returns the sample at a position, and how many bytes after that its registers begin.
    fn sample(&self, position: u64, counted: bool) -> (RawSample, u64) {
        // Number of values, two times, the value of each event of the group, the one that samples first.
        let counts = counted.then(|| RawCounts {
            enabled_ns: self.word(position + 8 * 5),
            running_ns: self.word(position + 8 * 6),
            instructions: self.word(position + 8 * 8),
            cycles: self.word(position + 8 * 9),
        });
        let after = if counted { 7 + self.word(position + 8 * 4) } else { 4 };
        let [address, time_ns, period_ns] = [1, 2, 3].map(|index| self.word(position + 8 * index));
        (RawSample { address, time_ns, period_ns, counts }, after.saturating_mul(8))
    }

    /// Returns the copy of the stack of a sample whose registers are at a position, and which ends at another one.
    fn stack_copy(&self, registers: u64, end: u64) -> Option<StackCopy<'_>> {
        const NO_REGISTERS: u64 = 0;
        let begin = registers + 32;
        // Bytes that have room in the copy, and bytes that the stack had.
        let room = (begin <= end && self.word(registers) != NO_REGISTERS).then(|| self.word(registers + 24))?;
        let copy_end = begin.checked_add(room).filter(|&copy_end| room > 0 && copy_end + 8 <= end)?;
        let n_bytes = self.word(copy_end).min(room);
        let (bp, sp) = (self.word(registers + 8) as usize, self.word(registers + 16) as usize);
        Some(StackCopy { bp, sp, ring: self, begin, n_bytes })
    }

    /// Returns the word at a position, which only ever grows: a multiple of eight.
    fn word(&self, position: u64) -> u64 {
        let offset = PAGE + (position as usize & (self.bytes - 1) & !7);
        // SAFETY: within the mapping, whose samples are a power of two of bytes.
        unsafe { self.pages.start.as_ptr().add(offset).cast::<u64>().read_volatile() }
    }

    fn position(&self, at: usize) -> &AtomicU64 {
        // SAFETY: an aligned word of the first page, which is there as long as the mapping.
        unsafe { AtomicU64::from_ptr(self.pages.start.as_ptr().add(at).cast()) }
    }
}

impl Drop for EventMapping {
    fn drop(&mut self) {
        // SAFETY: our own mapping, which nothing refers to any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

impl EventMapping {
    fn new(event: &OwnedFd, bytes: usize) -> Result<EventMapping, SamplingRefusal> {
        let (access, event) = (libc::PROT_READ | libc::PROT_WRITE, event.as_raw_fd());
        // SAFETY: a new mapping at a place that the system chooses.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, libc::MAP_SHARED, event, 0) };
        match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => Ok(EventMapping { start, bytes }),
            _ => Err(SamplingRefusal::Memory(io::Error::last_os_error())),
        }
    }
}
