//! Writes the sums of regions and mutexes to the log, once a second and at the end: a killed process loses what was added since.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::harmless::enter;

use crate::log::{LOG, OpenLog};
use crate::sources::openmp::{mutexes, sums};

/// Time at which sums are to be written again, in ticks.
static NEXT_WRITE: AtomicU64 = AtomicU64::new(0);

/// Seconds between two times.
const WRITE_S: f64 = 1.0;

pub fn write_openmp_sums(log: &mut OpenLog) {
    let mut unwritten = sums::unwritten_region_sums();
    unwritten.extend(mutexes::unwritten_mutex_sums());
    if !unwritten.is_empty() {
        log.define(&unwritten);
    }
}

/// Writes the sums if a second has passed at `now`.
#[inline(always)]
pub fn write_if_due(now: u64) {
    if now > NEXT_WRITE.load(Relaxed) {
        write_now(now);
    }
}

#[cold]
#[inline(never)]
fn write_now(now: u64) {
    enter::run_critical(|| {
        LOG.with(|log| {
            NEXT_WRITE.store(now + (WRITE_S * 1e9 * log.ticks_of_ns()) as u64, Relaxed);
            write_openmp_sums(log);
        });
    });
}
