//! Writes the sums of regions and mutexes to the log, once a slot of sums ([`OpenLog::slot`]) and at the end: a killed process loses what was added since.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::harmless::enter;

use crate::log::{LOG, OpenLog};
use crate::sources::openmp::{mutexes, sums};

/// Time at which sums are to be written again, in ticks.
static NEXT_WRITE: AtomicU64 = AtomicU64::new(0);

pub fn write_openmp_sums(log: &mut OpenLog) {
    let mut unwritten = sums::unwritten_region_sums();
    unwritten.extend(mutexes::unwritten_mutex_sums());
    if !unwritten.is_empty() {
        log.define(&unwritten);
    }
}

/// Writes the sums if a slot is over at `now`.
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
            NEXT_WRITE.store(now + log.slot(now), Relaxed);
            write_openmp_sums(log);
        });
    });
}
