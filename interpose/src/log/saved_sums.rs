//! The file beside the rank's log with the sums that it lacks, in case that the process is killed.
//!
//! If it cannot be written nothing is lost while the process lives.

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
    /// `None`: there is no such file yet.
    file: Option<KeptFile>,
    /// Memory for a place.
    bytes: Vec<u8>,
}

impl SavedSumsFile {
    pub fn new(path: PathBuf, run_id: u64) -> Self {
        SavedSumsFile { path, run_id, file: None, bytes: Vec::new() }
    }

    /// Writes a thread's sums into its first place or its second one, and returns whether they are there.
    pub fn save(&mut self, sums: &SavedSums, in_second: bool) -> bool {
        if !sums.encode(self.run_id, &mut self.bytes) {
            return false;
        }
        let SavedSumsFile { path, file, bytes, .. } = self;
        let at = place_of(sums.batch.head.thread, in_second);
        // If the program has closed the file, what it has stays as it is.
        let is_made = file.is_some();
        let open = || match is_made || sandbox::is_filtered() {
            true => Err(io::ErrorKind::NotFound.into()),
            false => open_owned(path, libc::O_WRONLY | libc::O_CREAT),
        };
        let file = file.get_or_insert_with(KeptFile::new);
        run_without_signals(|| file.file(open)?.write_all_at(bytes, at)).is_ok()
    }

    /// Removes the file: the log has everything.
    pub fn remove(&self) {
        if self.file.is_some() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
