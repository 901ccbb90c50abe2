//! Files that are opened once, when recording starts, and stay open.
//!
//! The system gives a new file the lowest free number, and a thread of the program that closes a descriptor may count on being given the same one again. So
//! what is needed more than once is not opened each time: it stays open under a high number. The program may close that all the same, and use the
//! number for a file of its own; so whose it is is looked at each time.

use std::ffi::c_int;
use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, IntoRawFd};
use std::sync::atomic::{
    AtomicI32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::system::descriptors::{self, Identity};

/// A file that stays open.
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

    /// Returns whether a file was opened.
    pub fn is_open(&self) -> bool {
        self.number.load(Acquire) >= 0
    }

    /// Keeps `file` open from here on, and returns its descriptor.
    ///
    /// Errors: what the system says.
    pub fn keep(&self, file: File) -> io::Result<c_int> {
        let number = descriptors::out_of_the_way(file)?.into_raw_fd();
        let ((device, inode), _) = descriptors::identify(number)?;
        for (word, value) in self.identity.iter().zip([device, inode]) {
            word.store(value, Relaxed);
        }
        self.number.store(number, Release);
        Ok(number)
    }

    /// The descriptor, unless the program has closed it and uses its number for something else. Allocates nothing and takes no lock.
    pub fn number(&self) -> Option<c_int> {
        let number = self.number.load(Acquire);
        let (identity, _) = descriptors::identify(number).ok()?;
        (identity == self.identity()).then_some(number)
    }

    /// Device and number of the file that was opened last.
    pub fn identity(&self) -> Identity {
        let [device, inode] = &self.identity;
        (device.load(Relaxed), inode.load(Relaxed))
    }

    /// The file, as `open` gives it where it is not open any more.
    ///
    /// Errors: those of `open`, or what the system says.
    pub fn file(&self, open: impl FnOnce() -> io::Result<File>) -> io::Result<ManuallyDrop<File>> {
        let number = match self.number() {
            Some(number) => number,
            None => self.keep(open()?)?,
        };
        // SAFETY: an open descriptor of ours, which is not closed here.
        Ok(ManuallyDrop::new(unsafe { File::from_raw_fd(number) }))
    }
}
