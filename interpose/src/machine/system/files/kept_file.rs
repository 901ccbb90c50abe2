//! Files that are opened once, when recording starts, and stay open.
//!
//! The system gives a new file the lowest free number, and a thread of the program that closes a descriptor may count on getting the same one again. So
//! a file that is needed more than once stays open under a high number. The program may close that all the same, and use the number for a file of its
//! own, so each use checks first which file it is.

use std::ffi::c_int;
use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, IntoRawFd};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI32, AtomicU64};

use crate::machine::system::files::descriptors;
use crate::machine::system::files::descriptors::Identity;

pub struct KeptFile {
    /// Its descriptor; -1: none.
    number: AtomicI32,
    /// Device and number of the file.
    identity: [AtomicU64; 2],
}

impl KeptFile {
    /// Creates an empty place for a file.
    pub const fn new() -> Self {
        KeptFile { number: AtomicI32::new(-1), identity: [const { AtomicU64::new(0) }; 2] }
    }

    pub fn is_open(&self) -> bool {
        self.number.load(Acquire) >= 0
    }

    pub fn keep(&self, file: File) -> io::Result<c_int> {
        let number = descriptors::out_of_the_way(file)?.into_raw_fd();
        let ((device, inode), _) = descriptors::identify_file(number)?;
        self.identity[0].store(device, Relaxed);
        self.identity[1].store(inode, Relaxed);
        self.number.store(number, Release);
        Ok(number)
    }

    /// Returns the descriptor, unless the program has closed it and uses its number for something else. Allocates nothing and takes no lock.
    pub fn number(&self) -> Option<c_int> {
        let number = self.number.load(Acquire);
        let (identity, _) = descriptors::identify_file(number).ok()?;
        (identity == self.identity()).then_some(number)
    }

    /// Returns device and number of the file that was opened last.
    pub fn identity(&self) -> Identity {
        let [device, inode] = &self.identity;
        (device.load(Relaxed), inode.load(Relaxed))
    }

    /// Returns the file, opened by `open` if it is not open any more.
    ///
    /// Errors: whatever `open` or the system reports.
    pub fn file(&self, open: impl FnOnce() -> io::Result<File>) -> io::Result<ManuallyDrop<File>> {
        let number = match self.number() {
            Some(number) => number,
            None => self.keep(open()?)?,
        };
        // SAFETY: an open descriptor of ours, which is not closed here.
        Ok(ManuallyDrop::new(unsafe { File::from_raw_fd(number) }))
    }
}
