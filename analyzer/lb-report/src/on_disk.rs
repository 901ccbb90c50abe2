//! Sizes of a run's files, which bound the memory and processor time that it may take.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Runs that take less on disk are bounded by the same, however much less it is.
const SMALL_RUN: u64 = 100_000_000;

/// The sizes of the files in a run's folder.
#[derive(Clone, Copy)]
pub struct OnDisk {
    /// Bytes, holes left out.
    pub bytes: u64,
}

impl OnDisk {
    /// Measures the run in `dir`. Returns `None` if the folder cannot be read.
    pub fn of_folder(dir: &Path) -> Option<OnDisk> {
        let mut all = OnDisk { bytes: 0 };
        for facts in fs::read_dir(dir).ok()?.flatten().filter_map(|entry| entry.metadata().ok()) {
            all.bytes += facts.blocks() * 512;
        }
        Some(all)
    }

    /// Returns whether it is so little that its analysis cannot take much memory.
    pub fn is_small(self) -> bool {
        self.bytes < SMALL_RUN
    }
}
