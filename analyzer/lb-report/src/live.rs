//! Checks whether a run that has not ended still runs, as far as this host shows: the processes of its ranks exist, and have its files
//! mapped.

use std::fs;
use std::path::Path;

use lbprof_analysis::model::Model;
use rustix::time::{ClockId, clock_gettime};

/// Returns the present time on the run's clock in seconds if a rank that has not ended still runs on this host.
pub fn running_until(model: &Model, folder: &Path) -> Option<f64> {
    let host = host_name()?;
    let folder = fs::canonicalize(folder).ok()?;
    let mut unended = model.ranks.iter().filter(|rank| rank.end_reason.is_none() && rank.host == host);
    let rank = unended.find(|rank| is_recording(rank.pid, &folder))?;
    Some(rank.run_seconds(monotonic_ns()) - model.window_s().0)
}

/// Returns the name of this host, as logs have it.
pub fn host_name() -> Option<String> {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim_end().to_owned())
}

/// Returns the present time on this host's CLOCK_MONOTONIC.
pub fn monotonic_ns() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.saturating_mul(1_000_000_000).saturating_add(now.tv_nsec)
}

/// Returns whether the process `pid` runs on this host and has files of the run in `folder`, a canonical path, mapped.
pub fn is_recording(pid: u32, folder: &Path) -> bool {
    let maps = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    let path = folder.as_os_str().as_encoded_bytes();
    maps.split(|&byte| byte == b'\n').any(|line| line.windows(path.len()).any(|part| part == path))
}
