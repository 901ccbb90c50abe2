//! Stops and resumes recording on one thread.

use lbprof_collector::Operation;
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::Record;

use crate::harmless::signals::run_critical_section;
use crate::harmless::{enter, guard};
use crate::markers::stack;
use crate::recording::flush::hand_over;
use crate::recording::room::{append_record, set_aside};
use crate::sampling;
use crate::state::thread::RecorderThread;
use crate::system::clock::read_ticks;

/// Stops recording on the calling thread.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn pause_recording(thread: *mut RecorderThread) {
    // SAFETY: the thread's own state.
    unsafe {
        let paused = (*thread).log.as_ref().is_some_and(|log| log.paused.is_some());
        if paused || !append_record(thread, Record::new(Operation::Pause, read_ticks())) {
            return;
        }
        if let Some(log) = (*thread).log.as_mut() {
            guard::count_problem(ProblemKind::Paused, 1);
            log.paused = Some((*thread).cursor);
            log.in_pause = true;
            log.phases.pause();
            set_aside(thread);
            enter::enter_recording(thread, || sampling::pause_sampling((*thread).id));
            (*thread).poll = std::ptr::null_mut();
        }
    }
}

/// Resumes recording on the calling thread.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn resume_recording(thread: *mut RecorderThread) {
    // SAFETY: the thread's own state.
    unsafe {
        if let Some(log) = (*thread).log.as_mut()
            && let Some(mut cursor) = log.paused
        {
            // These records are about the past. No flush may come between, because its record is about the present.
            let limit = log.limit();
            if limit.offset_from(cursor) < log.phases.changes_in_pause() as isize + 1 {
                enter::enter_cold(thread, || run_critical_section(|| hand_over(thread, log, read_ticks())));
                cursor = log.ring.slots();
            }
            log.paused = None;
            ((*thread).cursor, (*thread).limit) = (cursor, limit);
            (*thread).poll = std::ptr::null_mut();
            stack::catch_up(thread);
            append_record(thread, Record::new(Operation::Resume, read_ticks()));
            enter::enter_recording(thread, || sampling::resume_sampling((*thread).id));
            if let Some(log) = (*thread).log.as_ref() {
                (*thread).limit = log.check_point((*thread).cursor);
            }
        }
        if let Some(log) = (*thread).log.as_mut() {
            log.in_pause = false;
        }
    }
}
