//! Python's functions in samples.
//!
//! The kernel copies the stack with a sample, but Python's functions have their frames elsewhere, and the next instruction may change them. So each sample wakes a thread of the
//! recorder, which reads them without stopping the one that was sampled ([`RunningFrames`]), and notes when it did so:
//!
//! ```text
//!   the thread's samples   x          x          x          x
//!   its frames were read    r          r                r    r
//!                           taken      taken     not taken: too late
//! ```
//!
//! Where a read takes the thread long, because the processor's caches are full of other data or the stacks are deep, the samples' period grows
//! ([`affordable_period`]).
//!
//! There is such a thread only where an interpreter is initialised. All signals are blocked in it. A fork ends it before, for Python warns where a process that forks has several
//! threads; it is started again when samples are looked at.

use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::time::Duration;

use lbprof_collector::definition::Definition;
use lbprof_collector::problem::ProblemKind;

use crate::harmless::guard;
use crate::harmless::signals::HandlerLock;
use crate::log;
use crate::machine::system::clock::{clock_ns, sample_ns};
use crate::machine::system::loader::foreign::NextFunction;
use crate::machine::system::perf::wakes;
use crate::machine::system::sandbox;
use crate::machine::unwind::python::running::RunningFrames;
use crate::machine::unwind::python::{self, EvalLoopFrames, PythonInterpreter};
use crate::state::thread;

/// The state of the thread: no samples wake it; it is not there; it reads; it is to end; it ended by itself, and is not started again.
static STATE: AtomicU8 = AtomicU8::new(UNWANTED);
const UNWANTED: u8 = 0;
const ABSENT: u8 = 1;
const READING: u8 = 2;
const ENDING: u8 = 3;
const OVER: u8 = 4;

/// The thread's number in the system; 0: there is none.
static NUMBER: AtomicI32 = AtomicI32::new(0);

/// Frames that were read and not fetched yet.
static READS: HandlerLock<Vec<PythonRead>> = HandlerLock::new(Vec::new());

/// More are not kept.
const MAX_READS: usize = 8192;

/// Time between two looks whether the thread may make system calls still.
const LOOK_NS: u64 = 100_000_000;

/// CPU time of the thread for each read so far, and the longest that is affordable, in nanoseconds: 1 % of a core at 200 samples per second, each eighth
/// of which wakes the thread twice. The period grows to [`MAX_PERIODS`] of the requested ones at most.
static READ_NS: AtomicU64 = AtomicU64::new(0);
const AFFORDABLE_NS: u64 = 44_000;
const MAX_PERIODS: u64 = 4;

/// Time for which a fork waits for the thread's end at most, in steps.
const STEP: Duration = Duration::from_micros(50);
const MAX_STEPS: u32 = 400;

static CREATE: NextFunction = NextFunction::named(c"pthread_create");

/// Frames of a thread that were read.
struct PythonRead {
    id: u32,
    /// The time at which reading began, in nanoseconds of the samples' clock.
    at_ns: u64,
    /// The runs of the interpreter, the innermost first; empty: the frames changed too often.
    runs: Vec<EvalLoopFrames>,
}

/// The frames of one sampled thread, in the order of time.
#[derive(Default)]
pub struct PythonReads {
    reads: VecDeque<PythonRead>,
    /// True if the thread is known to run Python's functions.
    is_python: bool,
    /// Number of samples of such a thread that got none.
    missed: u64,
}

/// Prepares the process for samples with Python's functions, where there may be an interpreter.
pub fn prepare_reader() {
    let Some(python) = python::python_interpreter() else { return };
    if CREATE.address() != 0 && python.number_at.is_some() && wakes::open_wake_set().is_ok() {
        STATE.store(ABSENT, SeqCst);
    } else {
        let reason = "the system does not let the recorder copy memory".to_owned();
        log::define_now(Definition::Problem(ProblemKind::PythonMissed as u16, 1, reason));
    }
}

/// Returns whether samples are to wake the thread.
pub fn is_wanted() -> bool {
    STATE.load(SeqCst) != UNWANTED
}

/// Returns the period of samples of which one is wanted in each `period_ns`: a longer one where reads take long.
pub fn affordable_period(period_ns: u64) -> u64 {
    period_ns * READ_NS.load(Relaxed).clamp(AFFORDABLE_NS, AFFORDABLE_NS * MAX_PERIODS) / AFFORDABLE_NS
}

/// Returns whether this is the thread's number.
pub fn is_reader(number: libc::pid_t) -> bool {
    NUMBER.load(SeqCst) == number
}

/// Starts the thread if it is wanted and not there, and an interpreter is initialised.
pub fn start_reader() {
    if STATE.load(SeqCst) == ABSENT
        && python::python_interpreter().is_some_and(PythonInterpreter::is_initialized)
        && !sandbox::is_filtered()
    {
        wakes::forget_end();
        STATE.store(READING, SeqCst);
        if !create_reader() {
            STATE.store(OVER, SeqCst);
        }
    }
}

/// The thread is to end.
pub fn end_reader() {
    if STATE.compare_exchange(READING, ENDING, SeqCst, SeqCst).is_ok() {
        wakes::end_wait();
    }
}

/// Ends the thread before the process forks. Neither allocates nor takes a lock.
pub fn end_reader_before_fork() {
    end_reader();
    for _ in 0..MAX_STEPS {
        if STATE.load(SeqCst) != ENDING {
            return;
        }
        std::thread::sleep(STEP);
    }
}

/// In the child of a fork: neither thread nor set are its own.
pub fn abandon_reader() {
    STATE.store(UNWANTED, SeqCst);
}

/// Returns whether the thread was started. Signals of the program are not for it.
fn create_reader() -> bool {
    type Run = extern "C" fn(*mut c_void) -> *mut c_void;
    type Create = unsafe extern "C" fn(*mut libc::pthread_t, *const c_void, Run, *mut c_void) -> c_int;
    let (mut new, mut all, mut kept) = (MaybeUninit::uninit(), MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: the C library's function of this type; plain calls with live arguments, which are filled before they are read.
    unsafe {
        let create = std::mem::transmute::<usize, Create>(CREATE.address());
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), kept.as_mut_ptr());
        let result = create(new.as_mut_ptr(), null(), run_reader, null_mut());
        libc::pthread_sigmask(libc::SIG_SETMASK, kept.as_ptr(), null_mut());
        result == 0
    }
}

extern "C" fn run_reader(_: *mut c_void) -> *mut c_void {
    // SAFETY: the thread's own state and name; plain system calls.
    unsafe {
        let number = libc::gettid();
        thread::current_thread().id.set(number);
        NUMBER.store(number, SeqCst);
        libc::pthread_detach(libc::pthread_self());
        libc::prctl(libc::PR_SET_NAME, c"lbprof".as_ptr());
    }
    guard::run_guarded(read_samples);
    NUMBER.store(0, SeqCst);
    if STATE.compare_exchange(ENDING, ABSENT, SeqCst, SeqCst).is_err() {
        STATE.store(OVER, SeqCst);
    }
    null_mut()
}

/// Reads the frames of each thread of which a sample is taken.
fn read_samples() {
    let Some(python) = python::python_interpreter() else { return };
    let mut frames = RunningFrames::new(python);
    let (mut looked_ns, mut n_reads) = (0, 0);
    while let Some(mut sampled) = wakes::wait_for_samples() {
        // A thread may have two events.
        sampled.dedup();
        n_reads += sampled.len() as u64;
        let mut at_ns = sample_ns();
        if at_ns.saturating_sub(looked_ns) > LOOK_NS {
            looked_ns = at_ns;
            READ_NS.store(clock_ns(libc::CLOCK_THREAD_CPUTIME_ID) / n_reads.max(1), Relaxed);
            if sandbox::is_filtered() || !wakes::is_open() || python::python_interpreter().is_none() {
                return;
            }
        }
        for (id, number) in sampled {
            if STATE.load(SeqCst) != READING || !python.is_initialized() {
                break;
            }
            let runs = match frames.read(id, number) {
                Ok(None) => continue,
                Ok(Some(runs)) => runs,
                Err(_) => Vec::new(),
            };
            if let Some(mut reads) = READS.lock().filter(|reads| reads.len() < MAX_READS) {
                reads.push(PythonRead { id, at_ns, runs });
            }
            at_ns = sample_ns();
        }
    }
}

impl PythonReads {
    /// Fetches what was read of the thread with this id since the last time.
    pub fn fetch(&mut self, id: u32) {
        if is_wanted()
            && let Some(mut reads) = READS.lock()
        {
            self.reads.extend(reads.extract_if(.., |read| read.id == id));
            self.is_python |= !self.reads.is_empty();
        }
    }

    /// Counts the samples that got none since the last time.
    pub fn count_missed(&mut self) {
        guard::count_problem(ProblemKind::PythonMissed, std::mem::take(&mut self.missed));
    }

    /// Takes the runs of a sample of this time, with this time to the next one; none, if they were read too late or not at all. Samples come in the order of time.
    pub fn take(&mut self, time_ns: u64, period_ns: u64) -> Vec<EvalLoopFrames> {
        while self.reads.front().is_some_and(|read| read.at_ns < time_ns) {
            self.reads.pop_front();
        }
        let is_own = self.reads.front().is_some_and(|read| read.at_ns - time_ns < period_ns / 8 * 7);
        let runs = if is_own { self.reads.pop_front().map(|read| read.runs) } else { None }.unwrap_or_default();
        self.missed += u64::from(self.is_python && runs.is_empty());
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_those_of_the_sample_after_which_they_were_read() {
        let read = |at_ns, mark| PythonRead { id: 0, at_ns, runs: vec![EvalLoopFrames { mark, lines: Vec::new() }] };
        let reads = [read(990, 1), read(1010, 2), read(2950, 3), read(3000, 4), read(4500, 5)].into();
        let mut reads = PythonReads { reads, is_python: true, missed: 0 };
        let marks = [1000, 2000, 3000, 4000, 5000].map(|time_ns| reads.take(time_ns, 1000).first().map(|run| run.mark));
        assert_eq!(marks, [Some(2), None, Some(4), Some(5), None]);
        assert_eq!(reads.missed, 2);
    }
}
