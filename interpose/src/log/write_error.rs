//! The last error in making or writing files of the run: the reason why nothing was recorded, if nothing was.

use std::io;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

/// The number of the error; 0: there was none.
static NUMBER: AtomicI32 = AtomicI32::new(0);

/// Notes that a file of the run could not be made or written.
pub fn note_write_error(error: &io::Error) {
    NUMBER.store(error.raw_os_error().unwrap_or(0), Relaxed);
}

pub fn last_write_error() -> Option<io::Error> {
    Some(NUMBER.load(Relaxed)).filter(|&number| number != 0).map(io::Error::from_raw_os_error)
}
