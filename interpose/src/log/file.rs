//! The file of a rank's log.
//!
//! A program may close all descriptors and open files of its own under the same numbers. So each write first checks which file is open, and
//! opens ours again if need be.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::harmless::{guard, signals};
use crate::machine::system::files::descriptors;
use crate::machine::system::files::descriptors::{Identity, identify_file, out_of_the_way};
use crate::machine::system::files::owned_files::open_owned;
use crate::machine::system::sandbox;

pub struct LogFile {
    /// Not dropped as it is: its number may be another file's.
    file: ManuallyDrop<File>,
    path: PathBuf,
    identity: Identity,
}

impl LogFile {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the file, which must not exist.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = out_of_the_way(open_owned(path, libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT)?)?;
        let (identity, _) = identify_file(file.as_raw_fd())?;
        Ok(LogFile { file: ManuallyDrop::new(file), path: path.to_owned(), identity })
    }

    pub fn set_len(&mut self, length: u64) -> io::Result<()> {
        reopen_own_file(&mut self.file, &self.path, self.identity)?.set_len(length)
    }
}

/// The file, opened anew where the program has closed it.
fn reopen_own_file<'a>(file: &'a mut ManuallyDrop<File>, path: &Path, identity: Identity) -> io::Result<&'a mut File> {
    let known = identify_file(file.as_raw_fd()).ok().filter(|(found, _)| *found == identity);
    let names = match known {
        Some((_, names)) => names,
        // Opening a file may be what the filter ends the process for.
        None if sandbox::is_filtered() => {
            let reason = "the program closed it, and has a system call filter";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
        }
        None => {
            // The program may have another user by now: what counts is that it is the same file.
            let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
            let new = out_of_the_way(OpenOptions::new().append(true).custom_flags(flags).open(path)?)?;
            let (found, names) = identify_file(new.as_raw_fd())?;
            if found != identity {
                return Err(io::Error::new(io::ErrorKind::NotFound, "the log was replaced"));
            }
            // The old number is not ours any more, to close it neither.
            *file = ManuallyDrop::new(new);
            names
        }
    };
    if names == 0 {
        guard::report_removed(path);
    }
    Ok(file)
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = reopen_own_file(&mut self.file, &self.path, self.identity)?;
        descriptors::run_without_signals(|| signals::note_writing(|| file.write(bytes)))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogFile {
    fn drop(&mut self) {
        if !sandbox::is_filtered()
            && identify_file(self.file.as_raw_fd()).is_ok_and(|(identity, _)| identity == self.identity)
        {
            // SAFETY: the file is not used any more, and the number is still its own.
            unsafe { ManuallyDrop::drop(&mut self.file) };
        }
    }
}
