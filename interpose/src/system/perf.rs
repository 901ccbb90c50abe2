//! Samples that the kernel takes of a thread (perf_event_open(2)): a memory mapping that it fills, and no signal.
//!
//! An event counts the CPU time of one thread in user space. Each time that a period of it has passed, the kernel writes to the mapping where
//! the thread was executing. The mapping keeps the event alive, so the descriptor is closed at once: the program never meets it. A child of
//! fork(2) does not inherit the mapping.

mod descriptor;

use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use self::descriptor::{Attributes, Descriptor, EXCLUDE_HYPERVISOR, EXCLUDE_KERNEL, TASK_CLOCK, TYPE_SOFTWARE};

/// Bytes of a page.
pub const PAGE: usize = 4096;

/// What an event is to do.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// CPU time between two samples, in nanoseconds.
    pub period_ns: u64,
    /// The clock of the samples' times, as clock_gettime(2) has it.
    pub clock: libc::clockid_t,
    /// Whether instructions and cycles are counted, too.
    pub counted: bool,
    /// Bytes for samples, a power of two of pages; where the system does not grant them, fewer.
    pub bytes: usize,
}

/// What the kernel wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The thread was executing somewhere.
    Sample(RawSample),
    /// So many samples had no place.
    Lost(u64),
}

/// A sample as the kernel writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawSample {
    /// Address of the instruction that came next.
    pub address: u64,
    /// When, in nanoseconds of the event's clock.
    pub time_ns: u64,
    /// CPU time since the sample before.
    pub period_ns: u64,
    /// What was counted since the event was opened.
    pub counts: Option<RawCounts>,
}

/// Counts of the processor's counters, which may have been shared with other events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawCounts {
    /// How long they could have counted, and how long they did, in nanoseconds.
    pub enabled_ns: u64,
    pub running_ns: u64,
    /// What they counted in that time.
    pub instructions: u64,
    pub cycles: u64,
}

/// Why a thread cannot be sampled.
#[derive(Debug)]
pub enum Refused {
    /// The system allows no event.
    Event(io::Error),
    /// There is no memory for its samples: it is locked, of which users have little.
    Memory(io::Error),
    /// What the recorder may take of that memory is used up.
    Share,
}

/// The event of one thread.
#[derive(Debug)]
pub struct Event {
    /// Its mapping: a page of positions, then the samples.
    pages: Mapping,
    bytes: usize,
    /// Whether samples have counts.
    counted: bool,
    /// What keeps its counters alive.
    _counters: Vec<Mapping>,
}

/// A mapping of an event.
#[derive(Debug)]
struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: memory of the process, which any thread may read; who changes a position has the event for itself.
unsafe impl Send for Mapping {}

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
const WATERMARK: u64 = 1 << 14;
const USE_CLOCK: u64 = 1 << 25;
const RECORD_LOST: u32 = 2;
const RECORD_SAMPLE: u32 = 9;
/// Where the first page of a mapping has the positions up to which the kernel has written, and we have read.
const HEAD_AT: usize = 1024;
const TAIL_AT: usize = 1032;

impl Event {
    /// Begins to sample a thread of this process.
    ///
    /// Errors: what the system says.
    pub fn open(thread: libc::pid_t, options: Options) -> Result<Event, Refused> {
        let Options { period_ns, clock, counted, bytes } = options;
        let read = if counted { SAMPLE_READ } else { 0 };
        let leader = Descriptor::open(
            thread,
            None,
            Attributes {
                kind: TYPE_SOFTWARE,
                config: TASK_CLOCK,
                sample_period: period_ns,
                sample_type: SAMPLE_IP | SAMPLE_TIME | SAMPLE_PERIOD | read,
                read_format: if counted { READ_TIMES | READ_GROUP } else { 0 },
                // Nobody waits for it: nobody is woken before it is full.
                flags: EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR | WATERMARK | USE_CLOCK,
                wakeup_watermark: u32::MAX,
                clock,
                ..Attributes::default()
            },
        )
        .map_err(Refused::Event)?;
        let mut counters = Vec::new();
        for config in [INSTRUCTIONS, CPU_CYCLES].into_iter().filter(|_| counted) {
            let counter = Descriptor::open(
                thread,
                Some(&leader),
                Attributes {
                    kind: TYPE_HARDWARE,
                    config,
                    read_format: READ_TIMES | READ_GROUP,
                    flags: EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
                    ..Attributes::default()
                },
            )
            .map_err(Refused::Event)?;
            counters.push(counter.map(PAGE).map_err(Refused::Memory)?);
        }
        let (pages, bytes) = leader.map_at_most(bytes).map_err(Refused::Memory)?;
        Ok(Event { pages, bytes, counted, _counters: counters })
    }

    /// Whether the processor has counters that this process may use.
    pub fn has_counters() -> bool {
        let attributes = Attributes {
            kind: TYPE_HARDWARE,
            config: INSTRUCTIONS,
            flags: EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
            ..Attributes::default()
        };
        Descriptor::open(0, None, attributes).is_ok()
    }

    /// Bytes that are locked beside those for samples: a page of positions, and a page of each counter.
    pub fn bytes_beside(counted: bool) -> u64 {
        if counted { 3 * PAGE as u64 } else { PAGE as u64 }
    }

    /// Bytes that are locked for it.
    pub fn locked_bytes(&self) -> u64 {
        self.bytes as u64 + Event::bytes_beside(self.counted)
    }

    /// How many bytes wait to be read.
    pub fn waiting(&self) -> usize {
        self.position(HEAD_AT).load(Relaxed).wrapping_sub(self.position(TAIL_AT).load(Relaxed)) as usize
    }

    /// Bytes that a sample takes.
    pub fn sample_bytes(&self) -> usize {
        if self.counted { 80 } else { 32 }
    }

    /// Bytes for samples.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reads all that was written since the last time.
    pub fn read(&mut self, mut each: impl FnMut(Written)) {
        let head = self.position(HEAD_AT).load(Acquire);
        let tail = self.position(TAIL_AT).load(Relaxed);
        let mut at = tail;
        // No more than there is place for, whatever the positions say.
        let end = if head.wrapping_sub(tail) <= self.bytes as u64 { head } else { tail };
        while at != end {
            let header = self.word(at);
            let size = header >> 48;
            if size < 8 || !size.is_multiple_of(8) || size > end.wrapping_sub(at) {
                break;
            }
            let word = |index: u64| if 8 * index < size { self.word(at + 8 * index) } else { 0 };
            match header as u32 {
                RECORD_SAMPLE => each(Written::Sample(self.sample(word))),
                RECORD_LOST => each(Written::Lost(word(2))),
                _ => {}
            }
            at += size;
        }
        self.position(TAIL_AT).store(head, Release);
    }

    fn sample(&self, word: impl Fn(u64) -> u64) -> RawSample {
        // Number of values, two times, the value of each event of the group: first that which samples.
        let counts = self.counted.then(|| RawCounts {
            enabled_ns: word(5),
            running_ns: word(6),
            instructions: word(8),
            cycles: word(9),
        });
        RawSample { address: word(1), time_ns: word(2), period_ns: word(3), counts }
    }

    /// The word at a position, which only ever grows: a multiple of eight.
    fn word(&self, position: u64) -> u64 {
        let offset = PAGE + (position as usize & (self.bytes - 1) & !7);
        // SAFETY: within the mapping, whose samples are a power of two of bytes.
        unsafe { self.pages.start.as_ptr().add(offset).cast::<u64>().read_volatile() }
    }

    fn position(&self, at: usize) -> &AtomicU64 {
        // SAFETY: an aligned word of the first page, which is there as long as the event.
        unsafe { AtomicU64::from_ptr(self.pages.start.as_ptr().add(at).cast()) }
    }

    /// Goes on for ever: giving back its memory needs a system call that may not be made.
    pub fn leave(self) {
        std::mem::forget(self);
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: our own mapping, which nothing refers to any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

impl Descriptor {
    /// The mapping for so many bytes of samples, or half of them, or half of that, and for how many: the memory is locked, of which a user
    /// has little.
    fn map_at_most(&self, most: usize) -> io::Result<(Mapping, usize)> {
        let mut bytes = most;
        loop {
            match self.map(PAGE + bytes) {
                Ok(mapping) => return Ok((mapping, bytes)),
                Err(error) if bytes <= PAGE => return Err(error),
                Err(_) => bytes /= 2,
            }
        }
    }

    fn map(&self, bytes: usize) -> io::Result<Mapping> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at a place that the system chooses.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, libc::MAP_SHARED, self.as_raw_fd(), 0) };
        match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => Ok(Mapping { start, bytes }),
            _ => Err(io::Error::last_os_error()),
        }
    }
}
