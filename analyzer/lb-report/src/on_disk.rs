//! What a run takes on disk, by which its memory and processor time are bounded.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Runs that take less on disk are bounded by the same, however much less it is.
const SMALL_RUN: u64 = 100_000_000;

/// What the files in a run's folder take.
#[derive(Clone, Copy)]
pub struct OnDisk {
    /// Bytes, holes left out.
    pub bytes: u64,
}

impl OnDisk {
    /// That of the run in `dir`; `None` where the folder cannot be read.
    pub fn of(dir: &Path) -> Option<OnDisk> {
        let mut all = OnDisk { bytes: 0 };
        for facts in fs::read_dir(dir).ok()?.flatten().filter_map(|entry| entry.metadata().ok()) {
            all.bytes += facts.blocks() * 512;
        }
        Some(all)
    }

    /// Whether it is so little that no honest run needs much for it.
    pub fn is_small(self) -> bool {
        self.bytes < SMALL_RUN
    }
}
