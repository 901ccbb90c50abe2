//! Phase markers: the functions behind lbprof.h, and the stack of open phases of each thread.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_double, c_int};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use foldhash::fast::FixedState;
use lbprof_collector::Operation;
use lbprof_collector::definition::{Definition, Region, RegionKind};
use lbprof_collector::format::OpenRegion;
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::{NONE, Record};
use parking_lot::Mutex;

use crate::harmless::guard;
use crate::harmless::signals::Lock;
use crate::recording::flush::{self, State, state};
use crate::recording::thread::{self, Thread};
use crate::system::clock::{monotonic_ns, ticks};
use crate::system::process;

/// Regions that a log may have.
const MAX_REGIONS: u32 = 1 << 16;
/// Phases that may be open at once. Ending and beginning as many fits into the smallest ring ([`catch_up`]).
const MAX_DEPTH: usize = lbprof_collector::format::MAX_OPEN_REGIONS;
/// Parameters that may be given before MPI_Init.
const MAX_EARLY_PARAMS: usize = 4096;
/// Least time between two samples of memory.
const MEMORY_PERIOD_NS: u64 = 100_000_000;

/// The regions and counters that the log knows.
#[derive(Default)]
struct Names {
    /// Ids by parent, then by name.
    regions: HashMap<u32, HashMap<Arc<str>, u32, FixedState>, FixedState>,
    counters: HashMap<String, u32, FixedState>,
}

static NAMES: Mutex<Option<Names>> = Mutex::new(None);
static NEXT_REGION: AtomicU32 = AtomicU32::new(1);

/// Phases begun before MPI_Init, outermost first: they are open when the window begins.
static EARLY: Lock<Vec<(String, RegionKind, bool)>> = Lock::new(Vec::new());

/// Parameters given before MPI_Init.
static EARLY_PARAMS: Lock<Vec<(String, f64)>> = Lock::new(Vec::new());

/// Whether recording was stopped before MPI_Init.
static EARLY_PAUSE: AtomicBool = AtomicBool::new(false);

/// A phase that the program has open.
#[derive(Clone)]
struct Phase {
    region: OpenRegion,
    name: Arc<str>,
    /// When it was begun, in ticks.
    begun: u64,
}

/// A thread's open phases.
///
/// While recording is paused the program goes on to begin and end phases. These are followed, but leave no records; what
/// has changed when recording goes on is written then ([`catch_up`]), with the times of the changes.
#[derive(Default)]
pub struct Phases {
    /// As the program has them, outermost first.
    stack: Vec<Phase>,
    /// As the records have them. Unless recording is paused, the same as `stack`.
    recorded: Vec<OpenRegion>,
    /// While paused: when the innermost of `recorded` was ended, then the one around it, and so on.
    ended: Option<Vec<u64>>,
    /// Iterations begun, by region.
    iterations: HashMap<u32, u32, FixedState>,
}

impl Phases {
    /// The regions that are open by the records so far, outermost first.
    pub fn open(&self) -> Vec<OpenRegion> {
        self.recorded.clone()
    }

    /// From here on there are no records.
    pub fn pause(&mut self) {
        self.ended = Some(Vec::new());
    }

    fn paused(&self) -> bool {
        self.ended.is_some()
    }

    /// How many records [`catch_up`] would write.
    pub fn changes_in_pause(&self) -> usize {
        let ended = self.ended.as_ref().map_or(0, Vec::len);
        (ended + self.stack.len() + ended).saturating_sub(self.recorded.len())
    }

    fn innermost(&self) -> u32 {
        self.stack.last().map_or(0, |phase| phase.region.region)
    }

    /// A phase ends while recording is paused.
    fn pop_unrecorded(&mut self) {
        self.stack.pop();
        if let Some(ended) = self.ended.as_mut()
            && self.stack.len() + ended.len() < self.recorded.len()
        {
            ended.push(ticks());
        }
    }
}

/// The id of region `name` inside `parent`, and its name to keep; defined in the log when it is new. Where there are too many:
/// the parent's.
fn region(parent: u32, name: &str, kind: RegionKind, iterated: bool) -> (u32, Arc<str>) {
    let mut names = NAMES.lock();
    let inside = names.get_or_insert_default().regions.entry(parent).or_default();
    if let Some((name, &id)) = inside.get_key_value(name) {
        return (id, name.clone());
    }
    let kept: Arc<str> = name.into();
    let id = NEXT_REGION.load(Relaxed);
    if id >= MAX_REGIONS {
        guard::tell(
            ProblemKind::TooMany,
            format_args!("more than {MAX_REGIONS} phases; further ones count to the phase around them"),
        );
        return (parent, kept);
    }
    NEXT_REGION.store(id + 1, Relaxed);
    inside.insert(kept.clone(), id);
    flush::define(Definition::Region(Region { id, parent, name: name.to_owned(), kind, iterated }));
    (id, kept)
}

fn counter(name: &str) -> u32 {
    let mut names = NAMES.lock();
    let names = names.get_or_insert_default();
    if let Some(&id) = names.counters.get(name) {
        return id;
    }
    let id = names.counters.len() as u32;
    names.counters.insert(name.to_owned(), id);
    flush::define(Definition::Counter(id, name.to_owned()));
    id
}

/// Runs a marker on the calling thread, unless it comes from within an MPI call. The thread has its ring by then.
fn marked(work: impl FnOnce(*mut Thread)) {
    let thread = thread::current();
    let frame = thread::Canary::uninit();
    // SAFETY: the thread's own state.
    unsafe {
        if state() != State::Recording {
            return;
        }
        if (*thread).busy != 0 {
            thread::found_at_work(thread);
            return;
        }
        if thread::in_call(thread, &frame) {
            guard::count(ProblemKind::MarkerInsideCall, 1);
            return;
        }
        flush::recording(thread, || {
            if !(*thread).log.is_null() || !flush::refill(thread).is_null() {
                work(thread);
            }
        });
    }
}

/// Writes a marker's record.
fn mark(thread: *mut Thread, record: Record) {
    // SAFETY: the thread's own state.
    unsafe { thread::append(thread, record) };
}

/// The stack of the thread. The reference must not live across a [`mark`], which may flush.
fn phases<'a>(thread: *mut Thread) -> Option<&'a mut Phases> {
    // SAFETY: the thread's own log.
    unsafe { (*thread).log.as_mut().map(|log| &mut log.phases) }
}

fn enter(thread: *mut Thread, name: &str, kind: RegionKind, iterated: bool) {
    let Some(open) = phases(thread) else { return };
    // The next iteration begins where the one before was not ended.
    if iterated && open.stack.last().is_some_and(|last| *last.name == *name && last.region.iteration != NONE) {
        leave(thread, name);
    }
    let Some(open) = phases(thread) else { return };
    if open.stack.len() >= MAX_DEPTH {
        guard::tell(
            ProblemKind::PhaseMismatch,
            format_args!("more than {MAX_DEPTH} phases are open: is one never ended?"),
        );
        return;
    }
    let (region, name) = region(open.innermost(), name, kind, iterated);
    let iteration = if iterated {
        let next = open.iterations.entry(region).or_default();
        *next += 1;
        *next - 1
    } else {
        NONE
    };
    let (region, begun) = (OpenRegion { region, iteration }, ticks());
    open.stack.push(Phase { region, name, begun });
    if !open.paused() {
        enter_record(thread, region, begun);
    }
}

/// Writes that a region begins. A flush in it takes the region as not open yet, which is what the records before it say.
fn enter_record(thread: *mut Thread, region: OpenRegion, begun: u64) {
    let OpenRegion { region: id, iteration } = region;
    mark(thread, Record { request: id, count: iteration, ..Record::new(Operation::RegionEnter, begun) });
    if let Some(open) = phases(thread) {
        open.recorded.push(region);
    }
}

/// Writes that the innermost recorded region ended.
fn leave_record(thread: *mut Thread, region: OpenRegion, ended: u64) {
    let OpenRegion { region: id, iteration } = region;
    mark(thread, Record { request: id, count: iteration, ..Record::new(Operation::RegionLeave, ended) });
    if let Some(open) = phases(thread) {
        open.recorded.pop();
    }
}

fn leave(thread: *mut Thread, name: &str) {
    let Some(open) = phases(thread) else { return };
    let Some(depth) = open.stack.iter().rposition(|phase| *phase.name == *name) else {
        guard::count(ProblemKind::PhaseMismatch, 1);
        return;
    };
    if depth + 1 != open.stack.len() {
        // Inner phases left open end with it.
        guard::count(ProblemKind::PhaseMismatch, 1);
    }
    while let Some(open) = phases(thread).filter(|open| open.stack.len() > depth) {
        if open.paused() {
            open.pop_unrecorded();
        } else if let Some(Phase { region, .. }) = open.stack.pop() {
            leave_record(thread, region, ticks());
            sample_memory(thread, region.region);
        }
    }
}

/// Recording goes on: writes which phases were ended and begun meanwhile and are still so, at the times when that was. Ends
/// come before begins, for a phase that is open lies inside of those that stayed open.
pub fn catch_up(thread: *mut Thread) {
    let Some(open) = phases(thread) else { return };
    let ended = open.ended.take().unwrap_or_default();
    let kept = open.recorded.len().saturating_sub(ended.len());
    let begun = open.stack.get(kept..).unwrap_or_default().to_vec();
    let over: Vec<OpenRegion> = open.recorded.iter().rev().copied().collect();
    for (region, ended) in over.into_iter().zip(ended) {
        leave_record(thread, region, ended);
    }
    for phase in begun {
        enter_record(thread, phase.region, phase.begun);
    }
}

/// The thread ends, and with it the phases that it has open.
pub fn end_all(thread: *mut Thread) {
    while let Some(Phase { region, .. }) = phases(thread).and_then(|open| open.stack.pop()) {
        leave_record(thread, region, ticks());
    }
    if let Some(open) = phases(thread) {
        *open = Phases::default();
    }
}

/// Notes the memory in use, at a bounded rate.
fn sample_memory(thread: *mut Thread, region: u32) {
    static SAMPLED: AtomicU64 = AtomicU64::new(0);
    let now = monotonic_ns();
    let last = SAMPLED.load(Relaxed);
    if now.saturating_sub(last) < MEMORY_PERIOD_NS || SAMPLED.compare_exchange(last, now, Relaxed, Relaxed).is_err() {
        return;
    }
    let begin = ticks();
    let (resident, swapped) = process::memory();
    mark(
        thread,
        Record {
            end: ticks(),
            sent: resident,
            received: swapped,
            request: region,
            ..Record::new(Operation::Memory, begin)
        },
    );
}

/// Opens on the first thread what was begun before MPI_Init, writes the parameters given before, and stops recording if that
/// was asked for.
pub fn replay_early(thread: *mut Thread) {
    for (name, kind, iterated) in EARLY.lock().map(|mut early| std::mem::take(&mut *early)).unwrap_or_default() {
        enter(thread, &name, kind, iterated);
    }
    for (name, value) in EARLY_PARAMS.lock().map(|mut early| std::mem::take(&mut *early)).unwrap_or_default() {
        flush::define(Definition::Param(name, value));
    }
    if EARLY_PAUSE.load(Relaxed) {
        // SAFETY: the thread's own state.
        unsafe { flush::pause(thread) };
    }
}

/// A phase begins.
pub fn begin(name: &str, kind: RegionKind, iterated: bool) {
    match state() {
        State::Idle => {
            let Some(mut early) = EARLY.lock() else { return };
            if early.len() < MAX_DEPTH {
                early.push((name.to_owned(), kind, iterated));
            }
        }
        State::Recording => marked(|thread| enter(thread, name, kind, iterated)),
        State::Done => {}
    }
}

/// A phase ends.
pub fn end(name: &str) {
    match state() {
        State::Idle => {
            let Some(mut early) = EARLY.lock() else { return };
            if let Some(depth) = early.iter().rposition(|(open, ..)| open == name) {
                early.truncate(depth);
            }
        }
        State::Recording => marked(|thread| leave(thread, name)),
        State::Done => {}
    }
}

/// Recording stops or goes on, on the calling thread; before MPI_Init on the one that will call it.
pub fn record(on: bool) {
    if state() == State::Idle {
        EARLY_PAUSE.store(!on, Relaxed);
        return;
    }
    marked(|thread| {
        // SAFETY: the thread's own state.
        unsafe { if on { flush::resume(thread) } else { flush::pause(thread) } }
    });
}

/// MPI_Pcontrol (MPI-4.1 §15.2.4): 0 stops, 1 starts, 2 flushes; n ≥ 5 begins and −n ends phase n.
pub fn control(level: i32) {
    match level {
        0 => record(false),
        1 => record(true),
        2 => marked(|thread| {
            // SAFETY: the thread's own state.
            unsafe { flush::flush_now(thread) }
        }),
        5.. => begin(&format!("phase {level}"), RegionKind::Useful, false),
        ..=-5 => end(&format!("phase {}", level.unsigned_abs())),
        _ => {}
    }
}

/// MPI_Pcontrol in the dialect of labels: (1, "name") begins, (−1, "name") ends a phase; else as [`control`].
///
/// # Safety
/// `label` is a string where `level` is 1 or −1.
pub unsafe fn control_labelled(level: i32, label: *const c_char) {
    // Other levels come without a label: what is in its place then may not be looked at.
    let label = if level.unsigned_abs() == 1 { label } else { std::ptr::null() };
    // SAFETY: the caller's promise.
    match (level, unsafe { text(label) }) {
        (1, Some(name)) => begin(&name, RegionKind::Useful, false),
        (-1, Some(name)) => end(&name),
        _ => control(level),
    }
}

/// A C string as text; bytes that are not UTF-8 are replaced.
unsafe fn text<'a>(name: *const c_char) -> Option<Cow<'a, str>> {
    // SAFETY: the program passes a C string or null, and keeps it while the marker runs.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy())
}

/// Gives a marker's name to `work`, where it has one and something is recorded or will be.
unsafe fn named(name: *const c_char, work: impl FnOnce(Cow<str>)) {
    if state() == State::Done {
        return;
    }
    // SAFETY: the caller's promise, as `text` wants it.
    guard::guarded(|| unsafe { text(name) }.map_or((), work));
}

/// The functions that lbprof.h calls, in its order.
#[repr(C)]
pub struct Api {
    size: usize,
    phase_begin: unsafe extern "C" fn(*const c_char, c_int),
    phase_end: unsafe extern "C" fn(*const c_char),
    iteration_begin: unsafe extern "C" fn(*const c_char),
    iteration_end: unsafe extern "C" fn(*const c_char),
    work: unsafe extern "C" fn(c_double, c_double),
    count: unsafe extern "C" fn(*const c_char, c_double),
    param: unsafe extern "C" fn(*const c_char, c_double),
    record: unsafe extern "C" fn(c_int),
}

static API: Api = Api {
    size: size_of::<Api>(),
    phase_begin: api_phase_begin,
    phase_end: api_phase_end,
    iteration_begin: api_iteration_begin,
    iteration_end: api_phase_end,
    work: api_work,
    count: api_count,
    param: api_param,
    record: api_record,
};

/// The entry that lbprof.h looks up; null for a version that this library does not have.
#[unsafe(no_mangle)]
pub extern "C" fn lbprof_api(version: c_int) -> *const Api {
    if version == 1 { &API } else { std::ptr::null() }
}

unsafe extern "C" fn api_phase_begin(name: *const c_char, kind: c_int) {
    let kind = match kind {
        1 => RegionKind::Control,
        2 => RegionKind::Serial,
        _ => RegionKind::Useful,
    };
    // SAFETY: the header passes the program's string.
    unsafe { named(name, |name| begin(&name, kind, false)) };
}

unsafe extern "C" fn api_phase_end(name: *const c_char) {
    // SAFETY: the header passes the program's string.
    unsafe { named(name, |name| end(&name)) };
}

unsafe extern "C" fn api_iteration_begin(name: *const c_char) {
    // SAFETY: the header passes the program's string.
    unsafe { named(name, |name| begin(&name, RegionKind::Useful, true)) };
}

unsafe extern "C" fn api_work(operations: c_double, quanta: c_double) {
    marked(|thread| {
        let region = phases(thread).map_or(0, |open| open.innermost());
        mark(
            thread,
            Record {
                sent: operations.to_bits(),
                received: quanta.to_bits(),
                request: region,
                ..Record::new(Operation::Work, ticks())
            },
        );
    });
}

unsafe extern "C" fn api_count(name: *const c_char, value: c_double) {
    marked(|thread| {
        // SAFETY: the header passes the program's string.
        if let Some(name) = unsafe { text(name) } {
            let id = counter(&name);
            mark(thread, Record { sent: value.to_bits(), request: id, ..Record::new(Operation::Counter, ticks()) });
        }
    });
}

unsafe extern "C" fn api_param(name: *const c_char, value: c_double) {
    let set = |name: Cow<str>| match state() {
        State::Idle => {
            let Some(mut early) = EARLY_PARAMS.lock() else { return };
            if early.len() < MAX_EARLY_PARAMS {
                early.push((name.into_owned(), value));
            }
        }
        State::Recording => flush::define(Definition::Param(name.into_owned(), value)),
        State::Done => {}
    };
    // SAFETY: the header passes the program's string.
    unsafe { named(name, set) };
}

unsafe extern "C" fn api_record(on: c_int) {
    record(on != 0);
}
