//! The threads that record, and their rings.

use std::ffi::c_void;
use std::io;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr};

use lbprof_collector::definition::Definition;
use lbprof_collector::format::{BatchHead, ClockSource};
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::Record;
use lbprof_collector::ring::MAX_RINGS;
use lbprof_collector::words::SystemError;

use crate::harmless::guard;
use crate::harmless::signals::HandlerLock;
use crate::log::{LOG, define_now, rings};
use crate::machine::system::clock::{self, read_ticks};
use crate::machine::system::{faults, sandbox};
use crate::mpi::abi::current_abi;
use crate::recording::call_path;
use crate::recording::filled_slots::filled_records;
use crate::recording::flush::close_ring;
use crate::sampling;
use crate::state::phases::OpenPhases;
use crate::state::stage::{self, RecordingState, recording_state};
use crate::state::thread::{CLOCK_MONOTONIC, NEXT_FREQUENT, RecorderThread};
use crate::state::thread_log::ThreadLog;

/// The threads that record, and their rings.
pub struct ThreadRegistry {
    /// States of threads that have a ring. Each is there until [`give_back`] has taken it out; [`ThreadRegistry::visit`] looks at them.
    recording: Vec<*const RecorderThread>,
    /// Rings of threads that ended, for those to come: making one takes a millisecond, and many programs make many threads.
    pub idle: Vec<ThreadLog>,
    /// Numbers given so far.
    numbers: u32,
}

// SAFETY: other threads reach states only to invalidate caches and to close rings; see the walkers.
unsafe impl Send for ThreadRegistry {}

impl ThreadRegistry {
    /// Visits the states of the threads that have a ring, until a thread has ended without the list.
    pub fn visit(&self, mut visit: impl FnMut(&RecorderThread)) {
        for &thread in &self.recording {
            VISITED.store(thread.cast_mut(), SeqCst);
            let is_there = !UNLISTED.load(SeqCst);
            if is_there {
                // SAFETY: a listed state is there, and stays while it is visited.
                visit(unsafe { &*thread });
            }
            VISITED.store(std::ptr::null_mut(), SeqCst);
            if !is_there {
                return;
            }
        }
    }
}

static VISITED: AtomicPtr<RecorderThread> = AtomicPtr::new(std::ptr::null_mut());

/// True if a thread has ended that could not be taken out of the list: nothing that is in it may be looked at any more.
static UNLISTED: AtomicBool = AtomicBool::new(false);

/// Taken before the log's lock, where both are.
pub static THREADS: HandlerLock<ThreadRegistry> =
    HandlerLock::new(ThreadRegistry { recording: Vec::new(), idle: Vec::new(), numbers: 0 });

/// Threads that may record at one time.
const MAX_THREADS: u32 = MAX_RINGS as u32;

pub fn for_each_thread(mut visit: impl FnMut(&RecorderThread)) {
    if let Some(threads) = THREADS.lock() {
        threads.visit(&mut visit);
    }
}

/// A shared object was unloaded: call paths found so far are unknown from here on. A thread that gets its ring meanwhile finds the new key.
pub fn forget_call_paths() {
    call_path::outdate_paths();
    // The list may be locked for ever in the child of a fork, which records nothing.
    if recording_state() == RecordingState::Recording {
        for_each_thread(call_path::renew_key);
    }
}

/// The key whose destructor runs when a thread that records ends.
static KEY: HandlerLock<Option<libc::pthread_key_t>> = HandlerLock::new(None);

/// Has `end` called when a thread that records ends, with the thread's state.
pub fn at_thread_ends(end: unsafe extern "C" fn(*mut c_void)) {
    let Some(mut key) = KEY.lock() else { return };
    let mut new = 0;
    // SAFETY: a plain call of the threads library with live arguments.
    if key.is_none() && unsafe { libc::pthread_key_create(&mut new, Some(end)) } == 0 {
        *key = Some(new);
    }
}

/// Gives the calling thread a ring.
pub fn attach_ring(thread: &RecorderThread) {
    let is_filtered = sandbox::is_filtered();
    if thread.id.get() == 0 && !is_filtered {
        // SAFETY: gettid has no preconditions.
        thread.id.set(unsafe { libc::gettid() });
    }
    let mut log = match find_ring(is_end_known(thread), is_filtered) {
        Ok(log) => log,
        Err(error) => return refuse_thread(thread, &error),
    };
    sampling::note_recording_thread(thread.id.get(), log.number);
    let mut threads = THREADS.lock().filter(|_| recording_state() != RecordingState::Done);
    let Some(threads) = threads.as_deref_mut() else {
        // No other thread closes it any more; it may hold records of a thread that has ended.
        close_ring(None, &mut log);
        if filled_records(None, &log).is_empty() && !sandbox::is_filtered() {
            rings::give_back(1);
        }
        return;
    };
    thread.cursor.set(log.paused.take().unwrap_or(log.ring.slots()));
    log.checks = sampling::is_on().then(|| (1, read_ticks()));
    thread.limit.set(log.check_point(thread.cursor.get()));
    thread.poll.set(std::ptr::null_mut());
    call_path::attach_paths(thread);
    thread.forget_comms();
    thread.unusual.set(if clock::clock_source() == ClockSource::Monotonic { CLOCK_MONOTONIC } else { 0 });
    for (own, next) in thread.next_frequent.iter().chain(&thread.next_most_frequent).zip(&NEXT_FREQUENT) {
        own.set(next.load(Relaxed));
    }
    thread.status_ignore.set(current_abi().status_ignore);
    thread.interface.set(current_abi().kind);
    // The ring lives as long as its log, which is not freed while the thread may record.
    thread.log.set(Box::into_raw(Box::new(log)));
    threads.recording.push(thread);
}

/// Notes that a thread can have no ring, and why.
fn refuse_thread(thread: &RecorderThread, error: &io::Error) {
    thread.refused.set(true);
    // A thread that comes while the log is being closed calls MPI beside or after MPI_Finalize, which is reported as that.
    if stage::is_disabled() || recording_state() == RecordingState::Done {
        return;
    }
    let reason = SystemError(error).to_string();
    let is_first = recording_state() != RecordingState::Recording;
    let what = if is_first { "nothing is recorded" } else { "a thread is not recorded" };
    guard::report_problem(ProblemKind::ThreadLost, format_args!("{what}: {reason}"));
    define_now(Definition::Problem(ProblemKind::ThreadLost as u16, 1, reason));
}

/// Returns a ring for a thread: the ring of one that has ended, or a new one. `is_end_known` says whether the thread's end will be known,
/// `is_filtered` whether the program is under a system call filter.
///
/// Errors: why there can be none.
fn find_ring(is_end_known: bool, is_filtered: bool) -> io::Result<ThreadLog> {
    if !is_end_known {
        return Err(io::Error::other("the system would not report its end"));
    }
    let number = {
        let Some(mut threads) = THREADS.lock() else { return Err(io::Error::other("recording was given up")) };
        if let Some(log) = threads.idle.pop() {
            return Ok(log);
        }
        if threads.numbers != 0 && is_filtered {
            return Err(io::Error::other("the program has put itself under a system call filter"));
        }
        if threads.numbers >= MAX_THREADS {
            return Err(io::Error::other(format!("{MAX_THREADS} others are")));
        }
        threads.numbers += 1;
        threads.numbers - 1
    };
    // Other threads make theirs at the same time.
    make_ring(number).inspect_err(|_| {
        if let Some(mut threads) = THREADS.lock()
            && threads.numbers == number + 1
        {
            threads.numbers = number;
        }
    })
}

/// Makes the ring of this number.
///
/// Errors: why there can be none.
fn make_ring(number: u32) -> io::Result<ThreadLog> {
    let of_log = LOG.with(|log| (log.dir.clone(), log.buffer + size_of::<Record>(), log.rank, log.run_id));
    let (dir, bytes, rank, run_id) = of_log.ok_or_else(|| io::Error::other("the log is closed"))?;
    let ring = rings::make_ring_memory(&dir, bytes, rank, number, run_id)?;
    let (start, bytes) = ring.pages();
    faults::look_after(number, start, bytes);
    faults::cover_sigbus();
    // SAFETY: gettid has no preconditions.
    let tid = unsafe { libc::gettid() };
    let defined = LOG.with(|log| {
        log.define(&[Definition::Thread(number, tid as u32)]);
        (log.summaries.is_folding_events(), log.bytes())
    });
    let (sums_events, facts_end) = defined.ok_or_else(|| io::Error::other("the log is closed"))?;
    let now = read_ticks();
    ring.head().previous_end.store(now, Relaxed);
    if number == 0 {
        ring.head().facts_end.store(facts_end, Relaxed);
        guard::mirror_counts(ring.head());
    }
    Ok(ThreadLog {
        ring,
        number,
        head: BatchHead { thread: number, first: 0, previous_end: now, open: Vec::new(), paused: false },
        fold: None,
        cpu_samples: Vec::new(),
        folded_at: now,
        saved_at: now,
        saves_second: false,
        is_fold_logged: false,
        sums_events,
        summary: None,
        phases: OpenPhases::default(),
        paused: None,
        in_pause: false,
        closed: false,
        checks: None,
    })
}

/// Returns whether the end of the calling thread will be known.
fn is_end_known(thread: &RecorderThread) -> bool {
    // Destructors of other keys may call MPI after ours has run; it then runs once more, but not after the last round.
    const ROUNDS: u8 = 4;
    let Some(key) = KEY.lock() else { return false };
    let state = std::ptr::from_ref(thread).cast();
    // SAFETY: a plain call of the threads library.
    thread.ends.get() < ROUNDS && key.is_some_and(|key| unsafe { libc::pthread_setspecific(key, state) } == 0)
}

/// Takes the thread, which has a log, off the list, and its ring away. `end_records` ends its records while the list is locked, and returns whether another
/// thread may have its ring.
pub fn give_back(thread: &RecorderThread, end_records: fn(&RecorderThread) -> bool) {
    // While the list is locked no thread closes its ring.
    let Some(mut threads) = THREADS.lock() else { return leave_list(thread) };
    threads.recording.retain(|&other| !std::ptr::eq(other, thread));
    let stays = guard::run_guarded(|| end_records(thread));
    // SAFETY: the log that `attach_ring` has made.
    let mut log = unsafe { Box::from_raw(thread.log.replace(std::ptr::null_mut())) };
    if stays {
        log.paused = Some(thread.cursor.get());
        threads.idle.push(*log);
    } else if log.number == 0 {
        // Its head counts problems until the end.
        Box::leak(log);
    }
}

/// Ends a thread without taking it off the list, because recording was given up: no thread looks at the list from here on. Its ring stays as it is.
fn leave_list(thread: &RecorderThread) {
    UNLISTED.store(true, SeqCst);
    THREADS.wait_while(|| std::ptr::eq(VISITED.load(SeqCst), thread));
    thread.log.set(std::ptr::null_mut());
}
