//! The rank's clock: the processor's time stamp counter where it is steady, else CLOCK_MONOTONIC in nanoseconds.

use std::cell::UnsafeCell;

use lbprof_collector::definition::ClockPair;
use lbprof_collector::format::ClockSource;

use crate::machine::processor;

/// The choice of CLOCK_MONOTONIC for ticks. Not an atomic, because loading and testing one takes one more instruction, twice per call.
struct ClockChoice(UnsafeCell<bool>);
// SAFETY: written by `choose` alone, before MPI_Init, when no thread records yet.
unsafe impl Sync for ClockChoice {}
static MONOTONIC: ClockChoice = ClockChoice(UnsafeCell::new(false));

/// Reads the rank's clock, in ticks.
#[inline(always)]
pub fn read_ticks() -> u64 {
    // SAFETY: see `ClockChoice`.
    if unsafe { *MONOTONIC.0.get() } { monotonic_ns() } else { processor::read_counter() }
}

/// Reads CLOCK_MONOTONIC, in nanoseconds.
#[cold]
#[inline(never)]
pub fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// Reads a clock that exists on every Linux that the recorder supports, in nanoseconds.
#[inline(always)]
pub fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes to `now` alone.
    unsafe { libc::clock_gettime(clock, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Returns the clock for the times of samples: one that follows from the time stamp counter by a single factor if both the rank and the kernel
/// use that counter, else the rank's own.
pub fn sample_clock() -> libc::clockid_t {
    match clock_source() {
        ClockSource::Tsc => libc::CLOCK_MONOTONIC_RAW,
        ClockSource::Monotonic => libc::CLOCK_MONOTONIC,
    }
}

/// Reads the clock of the samples, in nanoseconds.
pub fn sample_ns() -> u64 {
    clock_ns(sample_clock())
}

/// Reads the rank's clock and the clock of the samples at the same instant. Returns both, and the bound of the error in ticks.
pub fn sample_instant() -> (ClockPair, u64) {
    let (took, pair) = read_both(sample_ns);
    (pair, took.div_ceil(2))
}

/// Chooses the clock: `wanted` if given, else the counter if it is invariant and the kernel trusts it.
pub fn choose_clock(wanted: Option<ClockSource>) {
    let is_steady = processor::has_steady_counter() && is_trusted_by_kernel();
    let source = wanted.unwrap_or(if is_steady { ClockSource::Tsc } else { ClockSource::Monotonic });
    // SAFETY: see `ClockChoice`.
    unsafe { *MONOTONIC.0.get() = source == ClockSource::Monotonic };
}

pub fn clock_source() -> ClockSource {
    // SAFETY: see `ClockChoice`.
    if unsafe { *MONOTONIC.0.get() } { ClockSource::Monotonic } else { ClockSource::Tsc }
}

/// Returns whether the kernel offers the counter as a clock source. It stops doing so when it finds that the counters of the cores differ.
fn is_trusted_by_kernel() -> bool {
    match std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/available_clocksource") {
        Ok(sources) => sources.split_whitespace().any(|source| source == processor::COUNTER_NAME),
        // Some containers have no such file.
        Err(_) => true,
    }
}

/// Reads the rank's clock and CLOCK_MONOTONIC at the same instant.
pub fn read_instant() -> ClockPair {
    read_both(monotonic_ns).1
}

/// Reads the rank's clock and another one, several times; returns the pair that took the shortest time, and that time in ticks.
fn read_both(read_ns: fn() -> u64) -> (u64, ClockPair) {
    let mut best = (u64::MAX, ClockPair { ticks: 0, monotonic_ns: 0 });
    for _ in 0..8 {
        let before = read_ticks();
        let monotonic_ns = read_ns();
        let took = read_ticks().saturating_sub(before);
        if took < best.0 {
            best = (took, ClockPair { ticks: before + took / 2, monotonic_ns });
        }
    }
    best
}
