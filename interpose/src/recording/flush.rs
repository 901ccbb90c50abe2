//! All that is rare in a thread's life: its first call, a full ring, its end.
//!
//! A flush mends records that never ended, hands the batch to the rank's log, clears the ring's slots, moves its head on,
//! and leaves a record of itself. The order keeps every record in the log or in the ring at each instant; see
//! [`lbprof_collector::ring`]. A signal's handler may come at any instant and end the process, or call MPI ([`crate::harmless::signals`]): while
//! a flush is under way the thread has no free slot.
//!
//! The last slot of a ring is kept free for the record that says that the program ends ([`last_record`]): that must go in
//! without a flush.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU64,
    Ordering::{Relaxed, Release, SeqCst},
    compiler_fence, fence,
};

use lbprof_collector::Operation;
use lbprof_collector::definition::Definition;
use lbprof_collector::fold::Fold;
use lbprof_collector::format::BatchHead;
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::{Flags, Record};
use lbprof_collector::ring::{MAX_OPEN, Ring};

use crate::harmless::guard;
use crate::harmless::signals::{Lock, critical};
use crate::lifecycle::finalize;
use crate::log::file;
use crate::log::{LOG, RankLog};
use crate::markers::phases::Phases;
use crate::mpi::nesting;
use crate::recording::thread::{self, Thread};
use crate::system::clock::{monotonic_ns, ticks};
use crate::system::{faults, sandbox};

/// What the process is doing about recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// MPI has not started.
    Idle = 0,
    /// Calls are recorded.
    Recording = 1,
    /// Nothing is recorded any more, or was asked for.
    Done = 2,
}

static STATE: AtomicU8 = AtomicU8::new(State::Idle as u8);

/// The state of the process.
#[inline]
pub fn state() -> State {
    match STATE.load(Relaxed) {
        0 => State::Idle,
        1 => State::Recording,
        _ => State::Done,
    }
}

/// Moves the state on.
pub fn set_state(state: State) {
    STATE.store(state as u8, SeqCst);
}

/// What a recording thread needs besides the hot state.
pub struct ThreadLog {
    ring: Ring,
    path: PathBuf,
    /// Number of the thread in the log.
    pub number: u32,
    /// Where the ring's first slot stands.
    head: BatchHead,
    /// Sums of what is not written as events; `None` in events mode.
    fold: Option<Fold>,
    /// When the sums were last written.
    folded_at: u64,
    /// Open phases.
    pub phases: Phases,
    /// While recording is paused, or no thread has the ring: the ring's cursor.
    paused: Option<*mut Record>,
    /// Whether the records so far end within a pause.
    in_pause: bool,
    /// Whether recording ended, and the log has what the ring held.
    closed: bool,
}

impl Drop for ThreadLog {
    fn drop(&mut self) {
        faults::forget(self.number);
    }
}

impl ThreadLog {
    /// One past the last slot that is for calls.
    fn limit(&self) -> *mut Record {
        self.ring.slots().wrapping_add(self.ring.capacity() - 1)
    }
}

/// The threads that record, and their rings.
struct Threads {
    /// States of threads that have a ring. Each is there until [`end_thread`] has taken it out.
    recording: Vec<*mut Thread>,
    /// Rings of threads that ended, for those to come: making one takes a millisecond, and many programs make many threads.
    idle: Vec<ThreadLog>,
    /// Numbers given so far.
    numbers: u32,
}

// SAFETY: states are reached by other threads only to invalidate caches and to close rings; see the walkers.
unsafe impl Send for Threads {}

/// Taken before the log's lock, where both are.
static THREADS: Lock<Threads> = Lock::new(Threads { recording: Vec::new(), idle: Vec::new(), numbers: 0 });

/// Threads that may record at one time.
const MAX_THREADS: u32 = faults::MAX_RINGS as u32;

/// How long the end of recording waits for other threads that are in the recorder.
const PATIENCE_NS: u64 = 1_000_000_000;

/// Records handed over in this process.
pub static RECORDED: AtomicU64 = AtomicU64::new(0);

/// Whether there are sums that the log may lack.
static SUMS: AtomicBool = AtomicBool::new(false);

/// Whether the last sums were written, for the process ends. Changed with the log locked.
static SUMS_ENDED: AtomicBool = AtomicBool::new(false);

/// Records dropped in this process.
pub static DROPPED: AtomicU64 = AtomicU64::new(0);

/// Visits the state of every recording thread.
pub fn for_each_thread(mut visit: impl FnMut(*mut Thread)) {
    if let Some(threads) = THREADS.lock() {
        threads.recording.iter().for_each(|&thread| visit(thread));
    }
}

/// Writes a definition to the rank's log, now: what the ring holds may refer to it if the process is killed.
pub fn define(definition: Definition) {
    if let Some(mut guard) = LOG.lock()
        && let Some(log) = guard.as_mut()
    {
        log.define(&[definition]);
    }
}

/// The ring of the calling thread is full, or the thread makes its first call, or nothing is to be recorded. Gives the next
/// free slot, or null.
///
/// # Safety
/// `thread` is the calling thread's state.
#[cold]
#[inline(never)]
pub unsafe fn make_room(thread: *mut Thread) -> *mut Record {
    // SAFETY: the thread's own state.
    unsafe {
        let is_recording = state() == State::Recording;
        if is_recording && (*thread).busy == 0 && !(*thread).refused && !guard::disabled() {
            return refill(thread);
        }
        // Also where recording ended while the thread had a ring: its slots must not be reused.
        (*thread).cursor = (*thread).limit;
        if is_recording || finalize::is_under_way() {
            left_out(thread, is_recording);
        }
    }
    std::ptr::null_mut()
}

/// A call that has no slot, but is not one of a process that records nothing: it may have to be counted.
#[cold]
#[inline(never)]
unsafe fn left_out(thread: *mut Thread, is_recording: bool) {
    // SAFETY: the thread's own state.
    unsafe {
        if is_recording && (*thread).busy != 0 && !nesting::is_any_mpi((*thread).caller) {
            thread::found_at_work(thread);
        }
        finalize::count(thread);
    }
}

/// As [`make_room`], also from within the recorder.
///
/// # Safety
/// `thread` is the calling thread's state.
#[cold]
#[inline(never)]
pub unsafe fn refill(thread: *mut Thread) -> *mut Record {
    // SAFETY: the thread's own state.
    unsafe {
        if (*thread).log.as_ref().is_some_and(|log| log.paused.is_some()) {
            return set_aside(thread);
        }
        let (caller, next) = ((*thread).caller, (*thread).next);
        recording(thread, || {
            critical(|| {
                if (*thread).log.is_null() {
                    attach(thread);
                }
                // Also the ring of a thread that has ended may be full.
                if let Some(log) = (*thread).log.as_mut()
                    && (*thread).cursor == (*thread).limit
                {
                    flush(thread, log);
                }
            });
        });
        ((*thread).caller, (*thread).next) = (caller, next);
        if (*thread).cursor == (*thread).limit { std::ptr::null_mut() } else { (*thread).cursor }
    }
}

/// Has the next record written to where nobody reads it.
unsafe fn set_aside(thread: *mut Thread) -> *mut Record {
    // SAFETY: the thread's own state.
    unsafe {
        let aside = (&raw mut (*thread).aside).cast::<Record>();
        (*thread).cursor = aside;
        (*thread).limit = aside.add(1);
        aside
    }
}

/// Runs `work`, which may use the thread's log, as [`thread::cold`] does, unless recording has ended: then the log is no
/// longer the thread's own, see [`close_others`].
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn recording(thread: *mut Thread, work: impl FnOnce()) {
    // SAFETY: the caller's promise.
    unsafe {
        thread::cold(thread, || {
            // Either we see here that recording has ended, or who ended it sees that we are busy, and waits.
            fence(SeqCst);
            if state() == State::Recording {
                work();
            }
        });
    }
}

/// Gives the calling thread a ring.
pub unsafe fn attach(thread: *mut Thread) {
    // SAFETY: the thread's own state; the ring lives as long as its ThreadLog, which is not freed while the thread may record.
    unsafe {
        let Some(mut threads) = THREADS.lock() else { return };
        if state() == State::Done {
            return;
        }
        let found = if at_thread_end(thread) {
            ring(&mut threads)
        } else {
            Err(io::Error::other("the system would not tell of its end"))
        };
        let mut log = match found {
            Ok(log) => log,
            Err(error) => {
                (*thread).refused = true;
                define(Definition::Problem(ProblemKind::ThreadLost as u16, 1, String::new()));
                guard::tell(ProblemKind::ThreadLost, format_args!("a thread is not recorded: {error}"));
                return;
            }
        };
        let slots = log.ring.slots();
        (*thread).cursor = log.paused.take().unwrap_or(slots);
        (*thread).limit = log.limit();
        (*thread).poll = std::ptr::null_mut();
        crate::handles::comms::forget_cached(thread);
        (*thread).log = Box::into_raw(Box::new(log));
        threads.recording.push(thread);
    }
}

/// A ring for a thread: that of one that has ended, or a new one.
///
/// Errors: why there can be none.
fn ring(threads: &mut Threads) -> io::Result<ThreadLog> {
    if let Some(log) = threads.idle.pop() {
        return Ok(log);
    }
    let number = threads.numbers;
    if number != 0 && sandbox::is_filtered() {
        return Err(io::Error::other("the program has put itself under a system call filter"));
    }
    if number >= MAX_THREADS {
        return Err(io::Error::other(format!("{MAX_THREADS} others are")));
    }
    let mut guard = LOG.lock();
    let log = guard.as_deref_mut().and_then(Option::as_mut).ok_or_else(|| io::Error::other("the log is closed"))?;
    let path = log.dir().join(lbprof_collector::format::ring_name(log.rank(), number));
    let ring =
        file::quietly(|| Ring::create(&path, log.buffer() + size_of::<Record>(), log.rank(), number, log.run_id()))
            .map_err(|error| io::Error::new(error.kind(), format!("cannot make {}: {error}", path.display())))?;
    let (start, bytes) = ring.pages();
    faults::look_after(number, start, bytes);
    faults::cover();
    threads.numbers += 1;
    // SAFETY: gettid has no preconditions.
    let tid = unsafe { libc::gettid() };
    log.define(&[Definition::Thread(number, tid as u32)]);
    let now = ticks();
    ring.head().previous_end.store(now, Relaxed);
    if number == 0 {
        guard::mirror(ring.head());
    }
    Ok(ThreadLog {
        ring,
        path,
        number,
        head: BatchHead { thread: number, first: 0, previous_end: now, open: Vec::new(), paused: false },
        fold: None,
        folded_at: now,
        phases: Phases::default(),
        paused: None,
        in_pause: false,
        closed: false,
    })
}

/// The analysed window begins now, on the thread that called MPI_Init.
pub unsafe fn begin_window(thread: *mut Thread) {
    // SAFETY: the thread's own state.
    unsafe {
        if let Some(log) = (*thread).log.as_mut() {
            let now = ticks();
            log.head.previous_end = now;
            log.ring.head().previous_end.store(now, Relaxed);
            define(Definition::WindowBegin(now));
            // Writing it is the recorder's time, not the program's.
            thread::append(thread, Record { end: ticks(), ..Record::new(Operation::Flush, now) });
        }
    }
}

/// Has [`end_thread`] called when the calling thread ends; false where that cannot be.
unsafe fn at_thread_end(thread: *mut Thread) -> bool {
    // Destructors of other keys may call MPI after ours has run; it then runs once more, but not after the last round.
    const ROUNDS: u8 = 4;
    static KEY: Lock<Option<libc::pthread_key_t>> = Lock::new(None);
    unsafe extern "C" fn end(thread: *mut libc::c_void) {
        // SAFETY: the value stored for this thread: its own state.
        unsafe { end_thread(thread.cast()) };
    }
    let Some(mut key) = KEY.lock() else { return false };
    // SAFETY: plain calls of the threads library with live arguments.
    unsafe {
        if key.is_none() {
            let mut new = 0;
            if libc::pthread_key_create(&mut new, Some(end)) == 0 {
                *key = Some(new);
            }
        }
        (*thread).ends < ROUNDS && key.is_some_and(|key| libc::pthread_setspecific(key, thread.cast()) == 0)
    }
}

/// The calling thread ends: its ring is another one's from now on.
unsafe fn end_thread(thread: *mut Thread) {
    // SAFETY: the thread's own state, still there while its destructors run. What it calls afterwards attaches it anew.
    unsafe {
        (*thread).ends = (*thread).ends.saturating_add(1);
        if !(*thread).log.is_null() {
            thread::quiet(thread, || give_back(thread));
        }
        (*thread).cursor = std::ptr::null_mut();
        (*thread).limit = std::ptr::null_mut();
        (*thread).poll = std::ptr::null_mut();
        libc::free((*thread).requests.cast());
        libc::free((*thread).statuses.cast());
        ((*thread).requests, (*thread).requests_room) = (std::ptr::null_mut(), 0);
        ((*thread).statuses, (*thread).statuses_bytes) = (std::ptr::null_mut(), 0);
    }
}

/// Takes the thread off the list, and its ring away.
unsafe fn give_back(thread: *mut Thread) {
    // SAFETY: the caller's promise: the thread's own state, with a log. While the list is locked nobody closes its ring.
    unsafe {
        let Some(mut threads) = THREADS.lock() else { return };
        threads.recording.retain(|&other| other != thread);
        let stays = guard::guarded(|| end_records(thread));
        let log = std::mem::replace(&mut (*thread).log, std::ptr::null_mut());
        if stays {
            (*log).paused = Some((*thread).cursor);
            threads.idle.push(*Box::from_raw(log));
        } else if (*log).number != 0 {
            drop(Box::from_raw(log));
        }
    }
}

/// The thread writes no more records. Whether another one may go on in its ring, where they stay; else the log has them.
unsafe fn end_records(thread: *mut Thread) -> bool {
    // SAFETY: the thread's own state.
    unsafe {
        let Some(log) = (*thread).log.as_mut() else { return false };
        // The first thread's records make the rank's time, and its ring's head is the process's. Where recording has just ended
        // the ring may be open still.
        if log.number == 0 || log.paused.is_some() || state() != State::Recording {
            if !log.closed {
                close_ring(thread, log);
            }
            return false;
        }
        if let Some(last) = batch(thread, log).last_mut() {
            mend(std::slice::from_mut(last), ticks());
        }
        crate::markers::phases::end_all(thread);
        true
    }
}

/// The records in the ring, in order. The cursor of a paused thread, or of none (null), is kept aside.
unsafe fn batch<'a>(thread: *mut Thread, log: &ThreadLog) -> &'a mut [Record] {
    let slots = log.ring.slots();
    // SAFETY: the slots between the ring's first and the cursor were filled by this thread.
    unsafe {
        let cursor = log.paused.or(thread.as_ref().map(|thread| thread.cursor)).unwrap_or(slots);
        let filled = if cursor.is_null() { 0 } else { cursor.offset_from(slots).max(0) as usize };
        std::slice::from_raw_parts_mut(slots, filled.min(log.ring.capacity()))
    }
}

/// Hands the ring's records to the log, and begins it anew with a record of that.
unsafe fn flush(thread: *mut Thread, log: &mut ThreadLog) {
    let begin = ticks();
    // SAFETY: the thread's own ring. Until the last store it has no free slot, so that a handler's calls find none.
    unsafe {
        (*thread).limit = (*thread).cursor;
        let Some(written) = hand_over(thread, log, begin) else { return };
        let slots = log.ring.slots();
        let record = Record { end: ticks(), count: written, ..Record::new(Operation::Flush, begin) };
        thread::store(slots, record);
        compiler_fence(Release);
        // In this order: the slots between the two are free at each instant.
        (&raw mut (*thread).cursor).write_volatile(slots.add(1));
        (&raw mut (*thread).limit).write_volatile(log.limit());
    }
}

/// Hands the ring's records to the log; gives how many. The cursor is left where it is, but that of a pause. `None`: the log is
/// closed, and they stay in the ring.
unsafe fn hand_over(thread: *mut Thread, log: &mut ThreadLog, now: u64) -> Option<u32> {
    // SAFETY: the thread's own ring.
    let records = unsafe {
        look_at_file(thread, log);
        let records = batch(thread, log);
        if mend(records, now) {
            records
        } else {
            leave_out_unbegun(thread, log);
            batch(thread, log)
        }
    };
    let count = records.len();
    if count != 0 {
        match LOG.lock().as_deref_mut().and_then(Option::as_mut).filter(|_| !SUMS_ENDED.load(Relaxed)) {
            Some(rank_log) => write(rank_log, log, records, now),
            // The log is closed, or the process ends: they stay in the ring, for the reader.
            None => return None,
        }
        RECORDED.fetch_add(count as u64, Relaxed);
        log.head.first += count as u64;
        log.head.previous_end = records.last().map_or(now, |last| last.end);
        log.head.open = log.phases.open();
        // The log has them (or they are counted as dropped, or its sums do): only now may the slots be taken again. Who ends the process
        // in between leaves the reader a part of them, and sums may be lost.
        log.ring.head().handed_over.store(log.head.first, SeqCst);
        compiler_fence(SeqCst);
        for record in records.iter_mut() {
            (record.begin, record.end) = (0, 0);
        }
        let head = log.ring.head();
        head.previous_end.store(log.head.previous_end, Relaxed);
        for (slot, open) in head.open.iter().zip(&log.head.open) {
            slot.0.store(open.region, Relaxed);
            slot.1.store(open.iteration, Relaxed);
        }
        head.n_open.store(log.head.open.len().min(MAX_OPEN) as u32, Relaxed);
        head.paused.store(u32::from(log.in_pause), Relaxed);
        head.first.store(log.head.first, SeqCst);
    }
    log.head.paused = log.in_pause;
    // SAFETY: the thread's own state.
    unsafe {
        if log.paused.is_some() {
            log.paused = Some(log.ring.slots());
        }
        if let Some(thread) = thread.as_mut() {
            thread.poll = std::ptr::null_mut();
        }
    }
    Some(count as u32)
}

/// Where the ring has lost its file, so are records that it held: those that are left become the batch, and that is told.
unsafe fn look_at_file(thread: *mut Thread, log: &mut ThreadLog) {
    if !faults::cover() {
        faults::try_pages(log.number);
    }
    if !log.ring.is_set_up() {
        faults::give_up_file(log.number);
    }
    if !faults::is_newly_lost(log.number) {
        return;
    }
    // SAFETY: the caller's, as in `hand_over`.
    let lost = unsafe {
        let lost = leave_out_unbegun(thread, log);
        if log.paused.is_none()
            && let Some(thread) = thread.as_mut()
        {
            // As `flush` has it: no slot is free until the batch is handed over.
            thread.limit = thread.cursor;
        }
        lost
    };
    guard::tell(
        ProblemKind::RingLost,
        format_args!(
            "{} was truncated or its disk failed; {lost} records are lost, recording continues in memory",
            log.path.display()
        ),
    );
    let detail = format!("thread {}: {lost} records are lost", log.number);
    define(Definition::Problem(ProblemKind::RingLost as u16, 1, detail));
}

/// Gives an end to calls that were left by longjmp or an exception: the begin of what came next. Whether all slots are filled.
fn mend(records: &mut [Record], now: u64) -> bool {
    let (mut next, mut filled) = (now, true);
    for record in records.iter_mut().rev() {
        // One comparison, for this is done to all records: whole ones have a begin that is not 0 nor after their end.
        if record.begin.wrapping_sub(1) < record.end {
            next = record.begin;
            continue;
        }
        if record.begin == 0 {
            filled = false;
            continue;
        }
        if record.end == 0 {
            record.end = next;
            record.flags |= Flags::UNFINISHED;
            guard::count(ProblemKind::Unfinished, 1);
        }
        next = record.begin;
    }
    filled
}

/// Writes a batch as the log's mode has it; what cannot be written is counted.
fn write(rank_log: &mut RankLog, log: &mut ThreadLog, records: &[Record], now: u64) {
    if rank_log.events() {
        let failed = rank_log.records(&log.head, records);
        if failed {
            DROPPED.fetch_add(records.len() as u64, Relaxed);
            log.ring.head().dropped.fetch_add(records.len() as u64, Relaxed);
        }
    } else {
        SUMS.store(true, Relaxed);
        let fold = log.fold.get_or_insert_with(|| rank_log.new_fold(&log.head));
        rank_log.define_sites(records);
        rank_log.fold(fold, records);
        // A killed process loses what is not written, at most this long.
        if rank_log.second_has_passed(log.folded_at, now) {
            write_fold(rank_log, log, now);
        }
    }
    rank_log.sample_usage(now);
}

fn write_fold(rank_log: &mut RankLog, log: &mut ThreadLog, now: u64) {
    if let Some(fold) = log.fold.as_mut() {
        let batch = fold.take();
        if batch.profile.records != 0 && rank_log.profile(&batch) {
            DROPPED.fetch_add(batch.profile.records, Relaxed);
            log.ring.head().dropped.fetch_add(batch.profile.records, Relaxed);
        }
        log.folded_at = now;
    }
}

/// Takes out slots that were reserved for a call which did not begin: a signal came first, and its handler ends the process; or that
/// were lost. Gives how many.
unsafe fn leave_out_unbegun(thread: *mut Thread, log: &mut ThreadLog) -> usize {
    // SAFETY: the caller's, as in `close_ring`.
    unsafe {
        let records = batch(thread, log);
        let mut begun = 0;
        for at in 0..records.len() {
            if records.get(at).is_some_and(|record| record.begin != 0) {
                records.swap(begun, at);
                begun += 1;
            }
        }
        let unbegun = records.len() - begun;
        if unbegun != 0 {
            let cursor = log.ring.slots().add(begun);
            match log.paused.as_mut() {
                Some(paused) => *paused = cursor,
                None => (*thread).cursor = cursor,
            }
        }
        unbegun
    }
}

/// Hands over all that the ring holds; where the log took everything, its file goes when the log is closed. `thread`: whose it
/// is, null: nobody's.
unsafe fn close_ring(thread: *mut Thread, log: &mut ThreadLog) {
    let now = ticks();
    // SAFETY: the caller's: the thread's own ring, or one whose thread makes no calls any more.
    unsafe {
        faults::try_pages(log.number);
        look_at_file(thread, log);
        leave_out_unbegun(thread, log);
        hand_over(thread, log, now);
    }
    if let Some(rank_log) = LOG.lock().as_deref_mut().and_then(Option::as_mut) {
        write_fold(rank_log, log, now);
        if log.ring.head().dropped.load(Relaxed) == 0 {
            rank_log.has_all_of(std::mem::take(&mut log.path));
        }
    }
}

/// The program ends, maybe in a handler that has interrupted this thread anywhere but in a critical section: `record` goes to
/// the slot that is kept for it, and the ring stays as it is.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn last_record(thread: *mut Thread, record: Record) {
    // SAFETY: the thread's own state; slots from the cursor on are free.
    unsafe {
        let Some(log) = (*thread).log.as_ref() else { return };
        let slots = log.ring.slots();
        let cursor = log.paused.unwrap_or((*thread).cursor);
        if !log.closed && (slots..slots.wrapping_add(log.ring.capacity())).contains(&cursor) {
            thread::store(cursor, record);
        }
        (*thread).cursor = (*thread).limit;
    }
}

/// The program ends: the sums of all threads that the log does not have yet go there, as far as that can be done now. In profile
/// mode alone there are any.
pub fn write_sums() {
    if !SUMS.load(Relaxed) {
        return;
    }
    // Sums are made with the log locked.
    let Some(mut threads) = THREADS.lock_at_end() else { return };
    let Some(mut guard) = LOG.lock_at_end() else { return };
    let Some(rank_log) = guard.as_mut() else { return };
    SUMS_ENDED.store(true, Relaxed);
    let now = ticks();
    for &thread in &threads.recording {
        // SAFETY: registered states are there, and their logs, too.
        unsafe { write_fold(rank_log, &mut *(*thread).log, now) };
    }
    for log in &mut threads.idle {
        write_fold(rank_log, log, now);
    }
}

/// Writes the calling thread's ring to the log now (MPI_Pcontrol(2)).
pub unsafe fn flush_now(thread: *mut Thread) {
    // SAFETY: the thread's own state.
    unsafe {
        if state() == State::Recording
            && let Some(log) = (*thread).log.as_mut()
            && log.paused.is_none()
        {
            critical(|| {
                flush(thread, log);
                if let Some(rank_log) = LOG.lock().as_deref_mut().and_then(Option::as_mut) {
                    write_fold(rank_log, log, ticks());
                }
            });
        }
    }
}

/// Stops recording on the calling thread.
pub unsafe fn pause(thread: *mut Thread) {
    // SAFETY: the thread's own state.
    unsafe {
        let paused = (*thread).log.as_ref().is_some_and(|log| log.paused.is_some());
        if paused || !thread::append(thread, Record::new(Operation::Pause, ticks())) {
            return;
        }
        if let Some(log) = (*thread).log.as_mut() {
            guard::count(ProblemKind::Paused, 1);
            log.paused = Some((*thread).cursor);
            log.in_pause = true;
            log.phases.pause();
            set_aside(thread);
            (*thread).poll = std::ptr::null_mut();
        }
    }
}

/// Resumes recording on the calling thread.
pub unsafe fn resume(thread: *mut Thread) {
    // SAFETY: the thread's own state.
    unsafe {
        if let Some(log) = (*thread).log.as_mut()
            && let Some(mut cursor) = log.paused
        {
            // What is written now happened in the past: no flush, whose record tells of the present, may come between.
            let limit = log.limit();
            if limit.offset_from(cursor) < log.phases.changes_in_pause() as isize + 1 {
                thread::cold(thread, || critical(|| hand_over(thread, log, ticks())));
                cursor = log.ring.slots();
            }
            log.paused = None;
            ((*thread).cursor, (*thread).limit) = (cursor, limit);
            (*thread).poll = std::ptr::null_mut();
            crate::markers::phases::catch_up(thread);
            thread::append(thread, Record::new(Operation::Resume, ticks()));
        }
        if let Some(log) = (*thread).log.as_mut() {
            log.in_pause = false;
        }
    }
}

/// Recording ends with MPI_Finalize: every ring goes to the log, this thread's with `last` as its last record. The other threads
/// make no MPI calls at this point.
pub unsafe fn close_all(thread: *mut Thread, last: Record) {
    // SAFETY: the thread's own state; for the others see below.
    unsafe {
        if let Some(log) = (*thread).log.as_mut() {
            if let Some(cursor) = log.paused.take() {
                // The pause lasts until here.
                ((*thread).cursor, (*thread).limit) = (cursor, log.limit());
            }
            if (*thread).cursor == (*thread).limit && hand_over(thread, log, last.begin).is_some() {
                ((*thread).cursor, (*thread).limit) = (log.ring.slots(), log.limit());
            }
            thread::append(thread, last);
        }
        let idle = {
            let mut threads = THREADS.lock();
            set_state(State::Done);
            threads.as_mut().map(|threads| std::mem::take(&mut threads.idle)).unwrap_or_default()
        };
        for mut log in idle {
            close_ring(std::ptr::null_mut(), &mut log);
        }
        if let Some(log) = (*thread).log.as_mut() {
            close_ring(thread, log);
            log.closed = true;
            (*thread).cursor = (*thread).limit;
        }
        close_others();
    }
}

/// Closes the rings of the threads that have one still. They make no MPI calls, but they may mark phases, and they may end.
///
/// While the list is locked none of them ends. One that is in the recorder is waited for: it entered before recording ended,
/// and leaves soon; one that enters later finds that recording has ended ([`recording`]).
unsafe fn close_others() {
    let patience = monotonic_ns() + PATIENCE_NS;
    loop {
        fence(SeqCst);
        let Some(threads) = THREADS.lock() else { return };
        let mut waiting = false;
        for &other in &threads.recording {
            // SAFETY: registered states are there, and their logs, too. What is not busy does not touch its log any more.
            unsafe {
                if (*(*other).log).closed {
                } else if thread::busy(other) != 0 {
                    waiting = true;
                } else {
                    let log = &mut *(*other).log;
                    close_ring(other, log);
                    log.closed = true;
                    (*other).cursor = (*other).limit;
                }
            }
        }
        drop(threads);
        if !waiting || monotonic_ns() > patience {
            return;
        }
        std::thread::yield_now();
    }
}

/// The process is a fork: what it inherited belongs to its parent, whose ring it must never touch.
pub unsafe fn abandon(thread: *mut Thread) {
    // SAFETY: the only thread of the new process.
    unsafe {
        (*thread).cursor = std::ptr::null_mut();
        (*thread).limit = std::ptr::null_mut();
        (*thread).log = std::ptr::null_mut();
        (*thread).poll = std::ptr::null_mut();
    }
}

/// Makes room for `count` kept requests.
#[cold]
#[inline(never)]
pub unsafe fn grow_requests(thread: *mut Thread, count: usize) {
    // SAFETY: the thread's own buffer, by the C allocator; where it has none left the old one stays.
    unsafe {
        let room = count.next_power_of_two().max(64);
        let new = libc::realloc((*thread).requests.cast(), room * size_of::<usize>());
        if !new.is_null() {
            ((*thread).requests, (*thread).requests_room) = (new.cast(), room);
        }
    }
}

/// Makes room for `bytes` of statuses.
#[cold]
#[inline(never)]
pub unsafe fn grow_statuses(thread: *mut Thread, bytes: usize) {
    // SAFETY: as above.
    unsafe {
        let room = bytes.next_power_of_two().max(2048);
        let new = libc::realloc((*thread).statuses.cast(), room);
        if !new.is_null() {
            ((*thread).statuses, (*thread).statuses_bytes) = (new.cast(), room);
        }
    }
}
