//! Phases begin and end on a thread: its stack of open phases, and their records.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use lbprof_collector::Operation;
use lbprof_collector::definition::RegionKind;
use lbprof_collector::format::OpenRegion;
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::{NONE, Record};

use crate::harmless::guard;
use crate::markers::regions::region;
use crate::recording::room;
use crate::state::phases::{OpenPhase, OpenPhases};
use crate::state::thread::RecorderThread;
use crate::system::clock::{monotonic_ns, ticks};
use crate::system::process;

/// Phases that may be open at once. Ending and beginning as many fits into the smallest ring ([`catch_up`]).
pub const MAX_DEPTH: usize = lbprof_collector::format::MAX_OPEN_REGIONS;

/// Least time between two samples of memory.
const MEMORY_PERIOD_NS: u64 = 100_000_000;

/// Writes a marker's record.
pub fn mark(thread: *mut RecorderThread, record: Record) {
    // SAFETY: the thread's own state.
    unsafe { room::append(thread, record) };
}

/// The stack of the thread. The reference must not live across a [`mark`], which may flush.
pub fn phases<'a>(thread: *mut RecorderThread) -> Option<&'a mut OpenPhases> {
    // SAFETY: the thread's own log.
    unsafe { (*thread).log.as_mut().map(|log| &mut log.phases) }
}

/// A phase begins.
pub fn enter(thread: *mut RecorderThread, name: &str, kind: RegionKind, iterated: bool) {
    let Some(open) = phases(thread) else { return };
    // The next iteration begins where the one before was not ended.
    if iterated && open.stack.last().is_some_and(|last| *last.name == *name && last.region.iteration != NONE) {
        leave(thread, name);
    }
    let Some(open) = phases(thread) else { return };
    if open.stack.len() >= MAX_DEPTH {
        guard::report(
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
    open.stack.push(OpenPhase { region, name, begun });
    if !open.paused() {
        enter_record(thread, region, begun);
    }
}

/// Writes that a region begins. A flush in it takes the region as not open yet, which is what the records before it say.
fn enter_record(thread: *mut RecorderThread, region: OpenRegion, begun: u64) {
    let OpenRegion { region: id, iteration } = region;
    mark(thread, Record { request: id, count: iteration, ..Record::new(Operation::RegionEnter, begun) });
    if let Some(open) = phases(thread) {
        open.recorded.push(region);
    }
}

/// Writes that the innermost recorded region ended.
fn leave_record(thread: *mut RecorderThread, region: OpenRegion, ended: u64) {
    let OpenRegion { region: id, iteration } = region;
    mark(thread, Record { request: id, count: iteration, ..Record::new(Operation::RegionLeave, ended) });
    if let Some(open) = phases(thread) {
        open.recorded.pop();
    }
}

/// A phase ends, and with it those inside of it.
pub fn leave(thread: *mut RecorderThread, name: &str) {
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
        } else if let Some(OpenPhase { region, .. }) = open.stack.pop() {
            leave_record(thread, region, ticks());
            sample_memory(thread, region.region);
        }
    }
}

/// Recording goes on: writes which phases were ended and begun meanwhile and are still so, at the times when that was. Ends
/// come before begins, for a phase that is open lies inside of those that stayed open.
pub fn catch_up(thread: *mut RecorderThread) {
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
pub fn end_all(thread: *mut RecorderThread) {
    while let Some(OpenPhase { region, .. }) = phases(thread).and_then(|open| open.stack.pop()) {
        leave_record(thread, region, ticks());
    }
    if let Some(open) = phases(thread) {
        *open = OpenPhases::default();
    }
}

/// Notes the memory in use, at a bounded rate.
fn sample_memory(thread: *mut RecorderThread, region: u32) {
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
