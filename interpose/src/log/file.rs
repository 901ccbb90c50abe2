//! The file of a rank's log: its own, or its node's, to which it appends frames.
//!
//! A program may close all descriptors and open files of its own under the same numbers: before each write we look whose file it is, and
//! open our own again.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use lbprof_collector::node::frame::frame_into;

use crate::harmless::{guard, signals};
use crate::system::descriptors::{self, Identity, identify, out_of_the_way};
use crate::system::owned_files::open_owned;
use crate::system::sandbox;

/// The log's file.
pub struct LogFile {
    /// Not dropped as it is: its number may be another file's.
    file: ManuallyDrop<File>,
    path: PathBuf,
    identity: Identity,
    /// In a node's file.
    frames: Option<RankFrames>,
}

/// Bytes of a frame for which there is memory from the start: most need less.
const FRAME_MEMORY: usize = 64 << 10;

/// The frames of a rank in its node's file.
struct RankFrames {
    run_id: u64,
    rank: u32,
    /// Bytes of the rank's log so far.
    offset: u64,
    /// Memory for a frame.
    memory: Vec<u8>,
}

impl LogFile {
    /// Opens the node's file for a rank.
    ///
    /// Errors: what the system says; NotFound where it is another file.
    pub fn of_node(path: &Path, identity: Identity, run_id: u64, rank: u32) -> io::Result<Self> {
        let file = out_of_the_way(open_owned(path, libc::O_WRONLY | libc::O_APPEND)?)?;
        if identify(file.as_raw_fd())?.0 != identity {
            return Err(io::ErrorKind::NotFound.into());
        }
        let frames = Some(RankFrames { run_id, rank, offset: 0, memory: Vec::with_capacity(FRAME_MEMORY) });
        Ok(LogFile { file: ManuallyDrop::new(file), path: path.to_owned(), identity, frames })
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// In a node's file: the run's id, the rank, and how long its log is.
    pub fn end_in_node(&self) -> Option<(u64, u32, u64)> {
        self.frames.as_ref().map(|frames| (frames.run_id, frames.rank, frames.offset))
    }

    /// Makes the file, which must not exist.
    ///
    /// Errors: what the system says.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = out_of_the_way(open_owned(path, libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT)?)?;
        let (identity, _) = identify(file.as_raw_fd())?;
        Ok(LogFile { file: ManuallyDrop::new(file), path: path.to_owned(), identity, frames: None })
    }

    /// Sets its length. Into a node's file others may have written meanwhile: a part of a frame stays there. Errors: what the system says.
    pub fn set_len(&mut self, length: u64) -> io::Result<()> {
        if self.frames.is_some() {
            return Ok(());
        }
        ours(&mut self.file, &self.path, self.identity)?.set_len(length)
    }
}

/// The file, opened anew where the program has closed it.
fn ours<'a>(file: &'a mut ManuallyDrop<File>, path: &Path, identity: Identity) -> io::Result<&'a mut File> {
    let known = identify(file.as_raw_fd()).ok().filter(|(found, _)| *found == identity);
    let names = match known {
        Some((_, names)) => names,
        // Opening a file may be what the filter ends the process for.
        None if sandbox::is_filtered() => {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "the program closed it, and has a system call filter",
            ));
        }
        None => {
            // The program may have another user by now: what counts is that it is the same file.
            let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
            let new = out_of_the_way(OpenOptions::new().append(true).custom_flags(flags).open(path)?)?;
            let (found, names) = identify(new.as_raw_fd())?;
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

impl RankFrames {
    /// Appends `bytes` to `file` as a frame, in one call: all of it, or nothing that counts.
    fn append(&mut self, file: &mut File, bytes: &[u8]) -> io::Result<usize> {
        // As often as a system that writes in parts may need; on a full disk the first part is followed by an error.
        const TRIES: u32 = 8;
        if !frame_into(&mut self.memory, self.run_id, self.rank, self.offset, bytes) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        for _ in 0..TRIES {
            let written = descriptors::quietly(|| signals::writing(|| file.write(&self.memory)))?;
            if written == self.memory.len() {
                self.offset += bytes.len() as u64;
                return Ok(bytes.len());
            }
        }
        Err(io::ErrorKind::StorageFull.into())
    }
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = ours(&mut self.file, &self.path, self.identity)?;
        if let Some(frames) = &mut self.frames {
            return frames.append(file, bytes);
        }
        descriptors::quietly(|| signals::writing(|| file.write(bytes)))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogFile {
    fn drop(&mut self) {
        if !sandbox::is_filtered()
            && identify(self.file.as_raw_fd()).is_ok_and(|(identity, _)| identity == self.identity)
        {
            // SAFETY: the file is not used any more, and the number is still its own.
            unsafe { ManuallyDrop::drop(&mut self.file) };
        }
    }
}
