//! The rank's clock: the processor's counter of time where it is steady, else CLOCK_MONOTONIC in nanoseconds.

use std::cell::UnsafeCell;

use lbprof_collector::definition::ClockPair;
use lbprof_collector::format::ClockSource;

use crate::processor;

/// The choice of CLOCK_MONOTONIC for ticks. Not an atomic, whose load and test are one instruction more, twice a call.
struct ClockChoice(UnsafeCell<bool>);
// SAFETY: written by `choose` alone, before MPI_Init, when no thread records yet.
unsafe impl Sync for ClockChoice {}
static MONOTONIC: ClockChoice = ClockChoice(UnsafeCell::new(false));

/// The present instant, in ticks.
#[inline(always)]
pub fn ticks() -> u64 {
    // SAFETY: see `Choice`.
    if unsafe { *MONOTONIC.0.get() } { monotonic_ns() } else { processor::counter() }
}

/// CLOCK_MONOTONIC in nanoseconds.
#[cold]
#[inline(never)]
pub fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes to `now` alone; this clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The clock of which [`sample_instant`] gives the time: nanoseconds that follow from the time stamp counter by one factor, if that is the clock
/// of both the rank and the kernel; or the rank's clock itself.
pub fn sample_clock() -> libc::clockid_t {
    match source() {
        ClockSource::Tsc => libc::CLOCK_MONOTONIC_RAW,
        ClockSource::Monotonic => libc::CLOCK_MONOTONIC,
    }
}

/// Reads the clock of the samples, in nanoseconds.
pub fn sample_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes to `now` alone; these clocks exist on every Linux that has perf events.
    unsafe { libc::clock_gettime(sample_clock(), &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Reads the rank's clock and that of the samples at the same instant: ticks, nanoseconds, and the bound of the error in ticks. Of several
/// readings the one that took the shortest time counts.
pub fn sample_instant() -> (u64, u64, u64) {
    let mut best = (0, 0, u64::MAX);
    for _ in 0..8 {
        let before = ticks();
        let ns = sample_ns();
        let took = ticks().saturating_sub(before);
        if took < best.2 {
            best = (before + took / 2, ns, took);
        }
    }
    (best.0, best.1, best.2.div_ceil(2))
}

/// Chooses the clock: `wanted` where it is given, else the counter if it is invariant and the kernel trusts it.
pub fn choose(wanted: Option<ClockSource>) -> ClockSource {
    let source = wanted.unwrap_or_else(|| {
        if processor::has_steady_counter() && is_trusted_by_kernel() {
            ClockSource::Tsc
        } else {
            ClockSource::Monotonic
        }
    });
    // SAFETY: see `Choice`.
    unsafe { *MONOTONIC.0.get() = source == ClockSource::Monotonic };
    source
}

/// The clock in use.
pub fn source() -> ClockSource {
    // SAFETY: see `Choice`.
    if unsafe { *MONOTONIC.0.get() } { ClockSource::Monotonic } else { ClockSource::Tsc }
}

/// The kernel drops the counter from its clock sources when it finds that the cores' counters differ.
fn is_trusted_by_kernel() -> bool {
    match std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/available_clocksource") {
        Ok(sources) => sources.split_whitespace().any(|source| source == processor::COUNTER_NAME),
        // No such file in some containers; the processor's word must do.
        Err(_) => true,
    }
}

/// Reads both clocks at the same instant: of several readings the one that took the shortest time counts.
pub fn instant() -> ClockPair {
    let mut best = (u64::MAX, ClockPair { ticks: 0, monotonic_ns: 0 });
    for _ in 0..8 {
        let before = ticks();
        let monotonic_ns = monotonic_ns();
        let took = ticks().saturating_sub(before);
        if took < best.0 {
            best = (took, ClockPair { ticks: before + took / 2, monotonic_ns });
        }
    }
    best.1
}
