//! The start and end of phases on a thread: its stack of open phases, and their records.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use lbprof_collector::Operation;
use lbprof_collector::definition::RegionKind;
use lbprof_collector::format::OpenRegion;
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::{NONE, Record};

use crate::harmless::guard;
use crate::machine::system::clock::{monotonic_ns, read_ticks};
use crate::machine::system::process;
use crate::recording::room::append_record;
use crate::sources::markers::regions::intern_region;
use crate::state::phases::{OpenPhase, OpenPhases};
use crate::state::thread::RecorderThread;

/// Phases that may be open at once. The smallest ring has room to end and start as many ([`catch_up`]).
pub const MAX_DEPTH: usize = lbprof_collector::format::MAX_OPEN_REGIONS;

const MEMORY_PERIOD_NS: u64 = 100_000_000;

/// Returns the stack of the thread. The reference must not live across an [`append_record`], which may flush.
pub fn open_phases(thread: &RecorderThread) -> Option<&mut OpenPhases> {
    thread.log().map(|log| &mut log.phases)
}

pub fn enter_phase(thread: &RecorderThread, name: &str, kind: RegionKind, iterated: bool) {
    let Some(open) = open_phases(thread) else { return };
    // The next iteration ends the previous one, if that is still open.
    if iterated && open.stack.last().is_some_and(|last| *last.name == *name && last.region.iteration != NONE) {
        leave_phase(thread, name);
    }
    let Some(open) = open_phases(thread) else { return };
    if open.stack.len() >= MAX_DEPTH {
        let what = format_args!("more than {MAX_DEPTH} phases are open: is one never ended?");
        guard::report_problem(ProblemKind::PhaseMismatch, what);
        return;
    }
    let (region, name) = intern_region(open.innermost(), name, kind, iterated);
    let iteration = if iterated {
        let next = open.iterations.entry(region).or_default();
        *next += 1;
        *next - 1
    } else {
        NONE
    };
    let (region, begun) = (OpenRegion { region, iteration }, read_ticks());
    open.stack.push(OpenPhase { region, name, begun });
    if !open.paused() {
        enter_record(thread, region, begun);
    }
}

/// Writes that a region starts. A flush meanwhile takes the region as not open yet, which agrees with the records before it.
fn enter_record(thread: &RecorderThread, region: OpenRegion, begun: u64) {
    append_record(thread, region_record(Operation::RegionEnter, region, begun));
    if let Some(open) = open_phases(thread) {
        open.recorded.push(region);
    }
}

/// Writes that the innermost recorded region ended.
fn leave_record(thread: &RecorderThread, region: OpenRegion, ended: u64) {
    append_record(thread, region_record(Operation::RegionLeave, region, ended));
    if let Some(open) = open_phases(thread) {
        open.recorded.pop();
    }
}

fn region_record(operation: Operation, region: OpenRegion, ticks: u64) -> Record {
    Record { request: region.region, count: region.iteration, ..Record::new(operation, ticks) }
}

/// Ends a phase and the phases inside it.
pub fn leave_phase(thread: &RecorderThread, name: &str) {
    let Some(open) = open_phases(thread) else { return };
    let Some(depth) = open.stack.iter().rposition(|phase| *phase.name == *name) else {
        guard::count_problem(ProblemKind::PhaseMismatch, 1);
        return;
    };
    if depth + 1 != open.stack.len() {
        guard::count_problem(ProblemKind::PhaseMismatch, 1);
    }
    while let Some(open) = open_phases(thread).filter(|open| open.stack.len() > depth) {
        if open.paused() {
            open.pop_unrecorded();
        } else if let Some(OpenPhase { region, .. }) = open.stack.pop() {
            leave_record(thread, region, read_ticks());
            sample_memory(thread, region.region);
        }
    }
}

/// Writes, when recording goes on, the phases that were ended and started meanwhile and are still so, with their times. Ends come before
/// starts, because a new open phase lies inside those that stayed open.
pub fn catch_up(thread: &RecorderThread) {
    let Some(open) = open_phases(thread) else { return };
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

/// Ends the open phases of a thread that ends.
pub fn end_all(thread: &RecorderThread) {
    while let Some(OpenPhase { region, .. }) = open_phases(thread).and_then(|open| open.stack.pop()) {
        leave_record(thread, region, read_ticks());
    }
    if let Some(open) = open_phases(thread) {
        *open = OpenPhases::default();
    }
}

/// Records the memory in use, at a bounded rate.
fn sample_memory(thread: &RecorderThread, region: u32) {
    static SAMPLED: AtomicU64 = AtomicU64::new(0);
    let now = monotonic_ns();
    let last = SAMPLED.load(Relaxed);
    if now.saturating_sub(last) < MEMORY_PERIOD_NS || SAMPLED.compare_exchange(last, now, Relaxed, Relaxed).is_err() {
        return;
    }
    let begin = read_ticks();
    let (resident, swapped) = process::memory_use();
    let record = Record { end: read_ticks(), request: region, ..Record::new(Operation::Memory, begin) };
    append_record(thread, Record { sent: resident, received: swapped, ..record });
}
