//! The file beside the rank's log with the sums that it lacks, in case that the process is killed.
//!
//! If it cannot be written nothing is lost while the process lives.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use lbprof_collector::saved_sums::{SavedSums, place_of};

use crate::machine::system::files::descriptors::run_without_signals;
use crate::machine::system::files::kept_file::KeptFile;
use crate::machine::system::files::owned_files::open_owned;
use crate::machine::system::sandbox;

pub struct SavedSumsFile {
    path: PathBuf,
    run_id: u64,
    file: KeptFile,
    /// True if it was made, or that was tried: it is never made again.
    is_made: bool,
    /// Memory for a place.
    bytes: Vec<u8>,
}

impl SavedSumsFile {
    pub fn new(path: PathBuf, run_id: u64) -> Self {
        SavedSumsFile { path, run_id, file: KeptFile::new(), is_made: false, bytes: Vec::new() }
    }

    /// Writes a thread's sums into its first place or its second one, and returns whether they are there.
    pub fn save(&mut self, sums: &SavedSums, in_second: bool) -> bool {
        if !sums.encode(self.run_id, &mut self.bytes) {
            return false;
        }
        let at = place_of(sums.batch.head.thread, in_second);
        let was_made = std::mem::replace(&mut self.is_made, true);
        run_without_signals(|| self.file.file(|| self.make_file(was_made))?.write_all_at(&self.bytes, at)).is_ok()
    }

    /// Makes the file, once: if the program has closed it, what it has stays as it is.
    fn make_file(&self, was_made: bool) -> io::Result<File> {
        match was_made || sandbox::is_filtered() {
            true => Err(io::ErrorKind::NotFound.into()),
            false => open_owned(&self.path, libc::O_WRONLY | libc::O_CREAT),
        }
    }

    /// Removes the file: the log has everything.
    pub fn remove(&self) {
        if self.is_made {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
