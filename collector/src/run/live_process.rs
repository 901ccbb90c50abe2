//! Processes of this host that record a run: those that have its files mapped.

use std::fs;
use std::path::Path;

/// Returns the name of this host, as logs have it.
pub fn host_name() -> Option<String> {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim_end().to_owned())
}

/// Returns whether the process `pid` runs on this host and has files of the run in `folder`, a canonical path, mapped.
pub fn is_recording(pid: u32, folder: &Path) -> bool {
    let maps = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    let path = folder.as_os_str().as_encoded_bytes();
    maps.split(|&byte| byte == b'\n').any(|line| line.windows(path.len()).any(|part| part == path))
}
