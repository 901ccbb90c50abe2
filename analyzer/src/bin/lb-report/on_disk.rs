//! What a run takes on disk, by which its memory and processor time are bounded.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What the files in a run's folder take.
#[derive(Clone, Copy)]
pub struct OnDisk {
    /// Bytes, holes left out.
    pub bytes: u64,
    /// Files.
    pub files: u64,
}

impl OnDisk {
    /// That of the run in `dir`; `None` where the folder cannot be read.
    pub fn of(dir: &Path) -> Option<OnDisk> {
        let mut all = OnDisk { bytes: 0, files: 0 };
        for facts in fs::read_dir(dir).ok()?.flatten().filter_map(|entry| entry.metadata().ok()) {
            all.bytes += facts.blocks() * 512;
            all.files += 1;
        }
        Some(all)
    }
}
