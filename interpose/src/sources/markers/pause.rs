//! Stops and resumes recording on one thread.

use lbprof_collector::Operation;
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::Record;

use crate::harmless::signals::run_critical_section;
use crate::harmless::{enter, guard};
use crate::machine::system::clock::read_ticks;
use crate::recording::flush::hand_over;
use crate::recording::room::{append_record, set_aside};
use crate::sampling;
use crate::sources::markers::stack;
use crate::state::thread::RecorderThread;

/// Stops recording on the calling thread.
pub fn pause_recording(thread: &RecorderThread) {
    let paused = thread.log().is_some_and(|log| log.paused.is_some());
    if paused || !append_record(thread, Record::new(Operation::Pause, read_ticks())) {
        return;
    }
    if let Some(log) = thread.log() {
        guard::count_problem(ProblemKind::Paused, 1);
        log.paused = Some(thread.cursor.get());
        log.in_pause = true;
        log.phases.pause();
        set_aside(thread);
        enter::enter_recording(|| sampling::pause_sampling(thread.id.get()));
        thread.poll.set(std::ptr::null_mut());
    }
}

/// Resumes recording on the calling thread.
pub fn resume_recording(thread: &RecorderThread) {
    if let Some(log) = thread.log()
        && let Some(mut cursor) = log.paused
    {
        // These records are about the past. No flush may come between, because its record is about the present.
        let limit = log.limit();
        let n_free = (limit as usize).saturating_sub(cursor as usize) / size_of::<Record>();
        if n_free < log.phases.changes_in_pause() + 1 {
            enter::enter_cold(|| run_critical_section(|| hand_over(Some(thread), log, read_ticks())));
            cursor = log.ring.slots();
        }
        log.paused = None;
        thread.cursor.set(cursor);
        thread.limit.set(limit);
        thread.poll.set(std::ptr::null_mut());
        stack::catch_up(thread);
        append_record(thread, Record::new(Operation::Resume, read_ticks()));
        enter::enter_recording(|| sampling::resume_sampling(thread.id.get()));
        if let Some(log) = thread.log() {
            thread.limit.set(log.check_point(thread.cursor.get()));
        }
    }
    if let Some(log) = thread.log() {
        log.in_pause = false;
    }
}
