//! No panic leaves the library; what goes wrong is reported once on stderr and counted.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering::Relaxed};

use lbprof_collector::problem::ProblemKind;
use lbprof_collector::ring::{MAX_PROBLEMS, RingHead};

use crate::harmless::memory;
use crate::harmless::signals::{self, InVain};
use crate::mpi::nesting;
use crate::state::stage::{self, disabled};
use crate::state::thread::{self, RecorderThread};
use crate::system::descriptors;

/// Number of occurrences of each kind of problem, by its number.
static COUNTS: [AtomicU64; MAX_PROBLEMS] = [const { AtomicU64::new(0) }; MAX_PROBLEMS];

/// Bit by kind: it was reported on stderr.
static REPORTED: AtomicU64 = AtomicU64::new(0);

/// The rank for messages; `u32::MAX` before it is known.
static RANK: AtomicU32 = AtomicU32::new(u32::MAX);

/// Runs what is rare and not trivial. A panic in it ends recording, never the program.
#[cold]
#[inline(never)]
pub fn guarded<T: Default>(work: impl FnOnce() -> T) -> T {
    if disabled() { T::default() } else { caught(work) }
}

/// Catches panics like [`guarded`], but works even if recording was given up: for work that other ranks wait for.
#[cold]
#[inline(never)]
pub fn caught<T: Default>(work: impl FnOnce() -> T) -> T {
    let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|cause| {
        let what = cause.downcast_ref::<&str>().copied().or_else(|| cause.downcast_ref::<String>().map(String::as_str));
        disable(format_args!("internal error: {}", what.unwrap_or("no message")));
        // What a panic carries may itself panic when dropped.
        std::mem::forget(cause);
        T::default()
    });
    report_waits();
    if memory::exhausted() && !stage::disable() {
        // SAFETY: the calling thread's state.
        if memory::was_interrupted() && !unsafe { is_still_at_work(thread::current()) } {
            give_up_after_jump();
            return result;
        }
        report(ProblemKind::NoMemory, format_args!("no memory is left; recording stops, the program goes on"));
    }
    result
}

/// Reports that a thread has waited for another one in vain, where that is not reported yet.
pub fn report_waits() {
    match signals::waited_in_vain() {
        Some(InVain::Silent) => report(
            ProblemKind::LeftByJump,
            format_args!(
                "a thread has kept others waiting for 2 s without doing anything, probably because a signal handler left the recorder by \
                 siglongjmp; recording stops, the program goes on"
            ),
        ),
        Some(InVain::NoAnswer) => report(
            ProblemKind::DiskSilent,
            format_args!("the disk of the log has not answered for 60 s; recording stops, the program goes on"),
        ),
        None => {}
    }
}

/// Returns whether the outermost frame of the recorder that is at work on the thread is on its stack.
unsafe fn is_still_at_work(thread: *mut RecorderThread) -> bool {
    // SAFETY: the caller's: the calling thread's own state.
    unsafe { nesting::frame_is_there((*thread).first_at_work, thread as usize) }
}

/// Gives up: nothing is recorded from here on. Reported once.
pub fn disable(why: fmt::Arguments) {
    stage::disable();
    report(ProblemKind::InternalError, why);
}

/// A signal's handler has left the recorder by siglongjmp: recording ends, reported once.
pub fn give_up_after_jump() {
    stage::disable();
    report(
        ProblemKind::LeftByJump,
        format_args!("a signal handler left the recorder by siglongjmp; recording stops, the program goes on"),
    );
}

/// The head of the first ring, once there is one: counts are kept there, too, so that they outlive the process.
static MIRROR: AtomicPtr<RingHead> = AtomicPtr::new(std::ptr::null_mut());

/// Keeps the counts in a ring's head from here on. The ring is never unmapped.
pub fn mirror(head: &RingHead) {
    for (kind, times) in counts() {
        if let Some(counter) = head.problems.get(kind as usize) {
            counter.store(times, Relaxed);
        }
    }
    MIRROR.store(std::ptr::from_ref(head).cast_mut(), Relaxed);
}

/// The head that [`mirror`] was given.
pub fn mirrored() -> Option<&'static RingHead> {
    // SAFETY: the first ring's mapping lasts as long as the process.
    unsafe { MIRROR.load(Relaxed).as_ref() }
}

/// Forgets the head: the log is closed; or the process is a fork, and the ring its parent's.
pub fn unmirror() {
    MIRROR.store(std::ptr::null_mut(), Relaxed);
}

/// Counts a problem.
pub fn count(kind: ProblemKind, times: u64) {
    if let Some(counter) = COUNTS.get(kind as usize) {
        counter.fetch_add(times, Relaxed);
    }
    if let Some(counter) = mirrored().and_then(|head| head.problems.get(kind as usize)) {
        counter.fetch_add(times, Relaxed);
    }
}

/// The kinds of problems that were met so far, and how often.
pub fn counts() -> impl Iterator<Item = (ProblemKind, u64)> {
    ProblemKind::ALL.iter().filter_map(|&kind| {
        let n = COUNTS.get(kind as usize)?.load(Relaxed);
        (n != 0).then_some((kind, n))
    })
}

/// Counts a problem and shows it on stderr, in one line, the first time that its kind is met.
pub fn report(kind: ProblemKind, what: fmt::Arguments) {
    count(kind, 1);
    let bit = 1 << (kind as u64 & 63);
    if REPORTED.fetch_or(bit, Relaxed) & bit == 0 {
        say(what);
    }
}

/// Reports, once, that the log was removed while it was written.
pub fn report_removed(path: &Path) {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    if !REPORTED.swap(true, Relaxed) {
        say(format_args!("{} was removed while the program runs; what is recorded is lost", path.display()));
    }
}

/// Makes the rank known for messages.
pub fn set_rank(rank: u32) {
    RANK.store(rank, Relaxed);
}

/// True if the process began with a stderr.
static HAS_STDERR: AtomicBool = AtomicBool::new(false);
/// Device and number of the file of stderr. If the program has closed it, 2 is the number of a file that it has opened for something else.
static STDERR: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// Runs when the dynamic loader has loaded the recorder, before the program.
#[ctor::ctor(unsafe)]
fn at_load() {
    if let Ok(((device, inode), _)) = descriptors::identify(2) {
        for (word, value) in STDERR.iter().zip([device, inode]) {
            word.store(value, Relaxed);
        }
        HAS_STDERR.store(true, Relaxed);
    }
}

/// Returns whether what is open as stderr is what the process began with.
fn stderr_is_there() -> bool {
    let [device, inode] = &STDERR;
    HAS_STDERR.load(Relaxed)
        && descriptors::identify(2).is_ok_and(|(now, _)| now == (device.load(Relaxed), inode.load(Relaxed)))
}

/// Writes one line to stderr in one write, because ranks share a terminal.
pub fn say(what: fmt::Arguments) {
    let line = match RANK.load(Relaxed) {
        u32::MAX => format!("lbprof: {what}\n"),
        rank => format!("lbprof: rank {rank}: {what}\n"),
    };
    write_line(&line);
}

/// The line itself, without any allocation.
pub fn write_line(line: &str) {
    if stderr_is_there() {
        // Nobody may be listening: that is no reason not to go on.
        // SAFETY: stderr is there.
        let _ = unsafe { descriptors::write_quietly(2, line.as_bytes()) };
    }
}
