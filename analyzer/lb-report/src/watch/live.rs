//! Checks whether processes of an unfinished run still exist on this host and have its files mapped.

use std::fs;
use std::path::Path;

use lbprof_analysis::model::Model;
use lbprof_collector::live_process::{host_name, is_recording};
use rustix::time::{ClockId, clock_gettime};

/// Returns the present time of the run in seconds if an unfinished rank still runs on this host.
pub fn running_until(model: &Model, folder: &Path) -> Option<f64> {
    let host = host_name()?;
    let folder = fs::canonicalize(folder).ok()?;
    let mut unended = model.ranks.iter().filter(|rank| rank.end_reason.is_none() && rank.host == host);
    let rank = unended.find(|rank| is_recording(rank.pid, &folder))?;
    Some(rank.run_seconds(monotonic_ns()) - model.window_s().0)
}

pub fn monotonic_ns() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.saturating_mul(1_000_000_000).saturating_add(now.tv_nsec)
}
