//! Catches panics; reports problems once on stderr and counts them.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering::Relaxed};

use lbprof_collector::problem::ProblemKind;
use lbprof_collector::ring::{MAX_PROBLEMS, RingHead};

use crate::harmless::memory;
use crate::harmless::signals::{self, InVain};
use crate::machine::system::files::descriptors;
use crate::machine::system::files::descriptors::Identity;
use crate::mpi::nesting;
use crate::state::stage::{self, is_disabled};
use crate::state::thread;

/// Number of occurrences of each kind of problem, by its number.
static COUNTS: [AtomicU64; MAX_PROBLEMS] = [const { AtomicU64::new(0) }; MAX_PROBLEMS];

/// Bit by kind: it was reported on stderr.
static REPORTED: AtomicU64 = AtomicU64::new(0);

/// The rank for messages; `u32::MAX` before it is known.
pub static RANK: AtomicU32 = AtomicU32::new(u32::MAX);

/// Runs rare, non-trivial work. A panic in it ends recording, never the program.
#[cold]
#[inline(never)]
pub fn run_guarded<T: Default>(work: impl FnOnce() -> T) -> T {
    if is_disabled() { T::default() } else { catch_panic(work) }
}

/// Catches panics like [`run_guarded`], but works even if recording was given up: for work that other ranks wait for.
#[cold]
#[inline(never)]
pub fn catch_panic<T: Default>(work: impl FnOnce() -> T) -> T {
    let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|cause| {
        let what = cause.downcast_ref::<&str>().copied().or_else(|| cause.downcast_ref::<String>().map(String::as_str));
        stage::disable_recording();
        let what = what.unwrap_or("no message");
        report_problem(ProblemKind::InternalError, format_args!("internal error: {what}"));
        // A panic's payload may itself panic when dropped.
        std::mem::forget(cause);
        T::default()
    });
    report_waits();
    if memory::EXHAUSTED.load(Relaxed) && !stage::disable_recording() {
        let thread = thread::current_thread();
        // Its outermost frame in the recorder is on its stack unless a handler has left it.
        let is_at_work = nesting::frame_is_there(thread.first_at_work.get(), thread.address());
        if memory::INTERRUPTED.load(Relaxed) && !is_at_work {
            give_up_after_jump();
            return result;
        }
        report_problem(ProblemKind::NoMemory, format_args!("no memory is left; recording stops, the program goes on"));
    }
    result
}

/// Reports that a thread has waited for another one in vain, unless that is reported already.
pub fn report_waits() {
    let (kind, reason) = match signals::waited_in_vain() {
        Some(InVain::Silent) => (
            ProblemKind::LeftByJump,
            "a thread has kept others waiting for 2 s without doing anything, probably because a signal handler left the recorder by siglongjmp",
        ),
        Some(InVain::NoAnswer) => (ProblemKind::DiskSilent, "the disk of the log has not answered for 60 s"),
        None => return,
    };
    report_problem(kind, format_args!("{reason}; recording stops, the program goes on"));
}

/// Gives up recording because a signal's handler has left the recorder by siglongjmp, and reports that once.
pub fn give_up_after_jump() {
    stage::disable_recording();
    let what = format_args!("a signal handler left the recorder by siglongjmp; recording stops, the program goes on");
    report_problem(ProblemKind::LeftByJump, what);
}

/// The head of the first ring, once there is one: counts are kept there, too, so that they outlive the process.
static MIRROR: AtomicPtr<RingHead> = AtomicPtr::new(std::ptr::null_mut());

/// Keeps the counts in a ring's head from here on. The ring is never unmapped.
pub fn mirror_counts(head: &RingHead) {
    for (counter, count) in head.problems.iter().zip(&COUNTS) {
        counter.store(count.load(Relaxed), Relaxed);
    }
    MIRROR.store(std::ptr::from_ref(head).cast_mut(), Relaxed);
}

pub fn mirrored_head() -> Option<&'static RingHead> {
    // SAFETY: the first ring's mapping lasts as long as the process.
    unsafe { MIRROR.load(Relaxed).as_ref() }
}

/// Forgets the head: the log is closed; or the process is a fork, and the ring its parent's.
pub fn stop_mirroring() {
    MIRROR.store(std::ptr::null_mut(), Relaxed);
}

pub fn count_problem(kind: ProblemKind, times: u64) {
    if let Some(counter) = COUNTS.get(kind as usize) {
        counter.fetch_add(times, Relaxed);
    }
    if let Some(counter) = mirrored_head().and_then(|head| head.problems.get(kind as usize)) {
        counter.fetch_add(times, Relaxed);
    }
}

/// Returns the kinds of problems met so far, and how often.
pub fn problem_counts() -> impl Iterator<Item = (ProblemKind, u64)> {
    ProblemKind::ALL.iter().filter_map(|&kind| {
        let n = COUNTS.get(kind as usize)?.load(Relaxed);
        (n != 0).then_some((kind, n))
    })
}

/// Counts a problem and shows it on stderr, in one line, the first time that its kind is met.
pub fn report_problem(kind: ProblemKind, what: fmt::Arguments) {
    count_problem(kind, 1);
    let bit = 1 << (kind as u64 & 63);
    if REPORTED.fetch_or(bit, Relaxed) & bit == 0 {
        say_line(what);
    }
}

/// Reports once that the log was removed while it was written.
pub fn report_removed(path: &Path) {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    if !REPORTED.swap(true, Relaxed) {
        say_line(format_args!("{} was removed while the program runs; what is recorded is lost", path.display()));
    }
}

/// Device and number of the file with which the process began as stderr, if it had any. If the program has closed it, 2 may be another file.
static STDERR: OnceLock<Identity> = OnceLock::new();

/// Remembers it. Called before the program runs.
pub fn remember_stderr() {
    if let Ok((identity, _)) = descriptors::identify_file(2) {
        let _ = STDERR.set(identity);
    }
}

/// Writes one line to stderr in one write, because ranks share a terminal.
pub fn say_line(what: fmt::Arguments) {
    let line = match RANK.load(Relaxed) {
        u32::MAX => format!("lbprof: {what}\n"),
        rank => format!("lbprof: rank {rank}: {what}\n"),
    };
    write_line(&line);
}

/// Writes a line without any allocation.
pub fn write_line(line: &str) {
    let is_stderr = STDERR.get().is_some_and(|known| descriptors::identify_file(2).is_ok_and(|(now, _)| now == *known));
    if is_stderr {
        // A failure does not matter: there may be no reader.
        // SAFETY: stderr is there.
        let _ = unsafe { descriptors::write_quietly(2, line.as_bytes()) };
    }
}
