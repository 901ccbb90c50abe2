//! Recording ends: MPI_Finalize, exit, MPI_Abort.

use crate::forward::bypass;
use crate::harmless::{enter, guard, signals};
use crate::lifecycle::process_state::{LEFT_INIT, MODELS, OPEN, PID, at_work};
use crate::lifecycle::{end_line, exit_status, finalize, mpi_not_started};
use crate::log::{self, LOG, closed_log};
use crate::machine::system::clock::{self, read_ticks};
use crate::machine::system::{faults, process};
use crate::mpi::world;
use crate::recording::flush::{self, DROPPED};
use crate::recording::{call_path, close};
use crate::run::offsets;
use crate::sampling;
use crate::sources;
use crate::state::stage::{self, RecordingState, recording_state, set_state};
use crate::state::thread::{self, RecorderThread};
use lbprof_collector::definition::{Definition, EndReason};
use lbprof_collector::operation::Operation;
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::Record;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// Records of a rank that makes no call: the start of recording, and MPI_Finalize.
const RECORDS_WITHOUT_CALLS: u64 = 2;

/// Stops recording at the entry of MPI_Finalize, or at the last session's end. Collective as MPI_Finalize is.
pub fn on_finalize(thread: &RecorderThread) {
    if MODELS.fetch_sub(1, SeqCst) > 1 {
        return;
    }
    let end = read_ticks();
    let recorded = at_work() && {
        let call_site = call_path::current_or_none(thread);
        let window_end = Record { call_site, ..Record::new(Operation::Finalize, end) };
        if let Some(head) = guard::mirrored_head() {
            head.window_end.store(end, Relaxed);
        }
        if thread.busy.get() != 0 || signals::in_critical(thread) || stage::is_disabled() {
            // From a handler that has interrupted the recorder; or recording was given up.
            end_in_ring(thread, EndReason::Finalize, window_end);
            false
        } else {
            enter::enter_cold(|| {
                signals::run_critical_section(|| {
                    sources::drain(LOG.lock().as_deref_mut());
                    close::close_all(thread, window_end);
                    log::define_now(Definition::WindowEnd(end));
                    report_silence(end);
                });
                true
            })
        }
    };
    // Even if this rank records nothing, the others wait for it here.
    let offset = enter::enter_quietly(|| guard::catch_panic(offsets::measure_last));
    if recorded {
        enter::enter_cold(|| {
            signals::run_critical_section(|| {
                if let Some(offset) = offset {
                    log::define_now(Definition::ClockOffset(offset));
                }
                close_log(EndReason::Finalize);
            });
            world::free_group();
        });
    }
}

/// Says on the first rank that no call was seen in a long window, which ends at `end` in ticks.
fn report_silence(end: u64) {
    let is_long = LOG.with(|log| log.rank == 0 && log.second_has_passed(LEFT_INIT.load(Relaxed), end));
    if is_long == Some(true) && flush::RECORDED.load(Relaxed) <= RECORDS_WITHOUT_CALLS {
        guard::say_line(format_args!(
            "no MPI call was seen between MPI_Init and MPI_Finalize; if the program makes any, it looks them up in the MPI library itself (dlsym): \
             such calls cannot be recorded (docs/supported.md)"
        ));
    }
}

/// Ends recording at the entry of MPI_Abort.
pub fn on_abort(thread: &RecorderThread, code: i32) {
    end_early(thread, EndReason::Abort(code));
}

/// Runs when the process exits, after the program's own atexit functions and static destructors, which may call MPI.
extern "C" fn at_exit() {
    if !OPEN.load(Relaxed) {
        finalize::note_exit();
        if mpi_not_started::is_unstarted() && !bypass::report_unseen() {
            mpi_not_started::note_exit();
        }
        return;
    }
    enter::enter_quietly(|| end_early(thread::current_thread(), EndReason::Exit));
}

/// The functions that the dynamic loader calls at exit.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

/// Ends recording because the process ends without MPI_Finalize. It may do so in a signal handler, while this thread and others are in malloc, in MPI, or
/// in the recorder itself. So the end is noted in the rings, which stay as they are.
fn end_early(thread: &RecorderThread, reason: EndReason) {
    if !OPEN.load(Relaxed) || PID.load(Relaxed) != std::process::id() {
        return;
    }
    guard::report_waits();
    end_in_ring(thread, reason, Record::new(Operation::ProgramEnd, read_ticks()));
}

/// Ends recording; the rings keep what they hold, for the reader. Only the sums of profile mode are written: the recorder's heap
/// and locks are never taken by a thread that a handler has interrupted.
fn end_in_ring(thread: &RecorderThread, reason: EndReason, last: Record) {
    // A critical section that a handler has interrupted has the thread's log and the locks.
    let whole = !signals::in_critical(thread);
    if whole && recording_state() == RecordingState::Recording {
        close::last_record(thread, last);
    }
    stamp_end(reason, last.begin);
    set_state(RecordingState::Done);
    if whole {
        close::write_sums();
        sources::drain(LOG.lock_at_end().as_deref_mut());
        sampling::end_at_exit();
        end_line::report_end(LOG.lock_at_end().as_deref().and_then(Option::as_ref), last.begin);
    }
}

/// Notes in the first ring's head how and when the process ended, unless that is there already.
fn stamp_end(reason: EndReason, end: u64) {
    let Some(head) = guard::mirrored_head() else { return };
    if head.end_reason.load(Relaxed) != 0 {
        return;
    }
    let (number, code) = match reason {
        EndReason::Finalize => (1, 0),
        EndReason::Exit => (2, 0),
        EndReason::Abort(code) => (3, code),
    };
    let instant = clock::read_instant();
    head.end_ticks.store(end, Relaxed);
    store_words(&head.end_instant, [instant.ticks, instant.monotonic_ns]);
    if let Some((usage, _)) = process::resource_usage() {
        store_words(&head.end_usage, usage.to_bytes().as_chunks().0.iter().copied().map(u64::from_le_bytes));
    }
    if let Some(status) = exit_status::exit_status() {
        head.exit_status.store(status, Relaxed);
        head.has_exit_status.store(1, Relaxed);
    }
    head.abort_code.store(code, Relaxed);
    head.end_reason.store(number, SeqCst);
}

fn store_words(words: &[AtomicU64], values: impl IntoIterator<Item = u64>) {
    for (word, value) in words.iter().zip(values) {
        word.store(value, Relaxed);
    }
}

/// Writes the log's last definitions and closes it.
fn close_log(reason: EndReason) {
    let end = read_ticks();
    stamp_end(reason, end);
    let mut last = log::usage_facts();
    last.push(Definition::Instant(clock::read_instant()));
    use ProblemKind::{Dropped, LimitReached, RingLost, ThreadLost};
    // These are in the log since they were met.
    let unwritten =
        guard::problem_counts().filter(|(kind, _)| ![LimitReached, Dropped, ThreadLost, RingLost].contains(kind));
    last.extend(unwritten.map(|(kind, times)| Definition::Problem(kind as u16, times, String::new())));
    let dropped = DROPPED.load(Relaxed);
    if dropped != 0 {
        last.push(Definition::Problem(ProblemKind::Dropped as u16, dropped, String::new()));
    }
    last.push(Definition::End(reason, end));
    if let Some(mut log) = LOG.lock().and_then(|mut log| log.take()) {
        log.end(&last);
        closed_log::note_closed_log(log.file().path());
        end_line::report_end(Some(&log), end);
    }
    // No page of a ring is touched any more.
    guard::stop_mirroring();
    faults::uncover_sigbus();
    OPEN.store(false, Relaxed);
}
