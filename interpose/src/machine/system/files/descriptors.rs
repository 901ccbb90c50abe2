//! Descriptors in a process that does with its files, limits and signals what it likes.
//!
//! - Ours are never 0, 1 or 2, which programs write to without asking, and stay clear of the lowest numbers, which programs expect to be
//!   given.
//! - Each use checks first which file is open under a number: the program may have closed ours.
//! - A write past RLIMIT_FSIZE raises SIGXFSZ, one to a closed pipe SIGPIPE, and both end a program that does not expect them.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};

/// Descriptors are taken from here on, where the limit allows.
const HIGH: libc::c_int = 200;

/// Device and number of a file.
pub type Identity = (u64, u64);

/// Runs `work` so that the signals that writing may raise do not reach the program. They come with an error, never without.
///
/// Errors: whatever `work` returns.
pub fn run_without_signals<T>(work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    // SAFETY: plain calls with live arguments; the mask of this thread alone is changed, and put back. What `work` raised is
    // taken away before, but not a signal that the program itself holds back.
    unsafe {
        let (mut ours, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        libc::sigemptyset(ours.as_mut_ptr());
        libc::sigaddset(ours.as_mut_ptr(), libc::SIGXFSZ);
        libc::sigaddset(ours.as_mut_ptr(), libc::SIGPIPE);
        if libc::pthread_sigmask(libc::SIG_BLOCK, ours.as_ptr(), before.as_mut_ptr()) != 0 {
            return work();
        }
        let result = work();
        if let Some(signal) = result.as_ref().err().and_then(signal_of)
            && libc::sigismember(before.as_ptr(), signal) != 1
        {
            let mut this = MaybeUninit::uninit();
            libc::sigemptyset(this.as_mut_ptr());
            libc::sigaddset(this.as_mut_ptr(), signal);
            let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            libc::sigtimedwait(this.as_ptr(), std::ptr::null_mut(), &now);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut());
        result
    }
}

/// The signal that the system raises along with an error (write(2)).
fn signal_of(error: &io::Error) -> Option<libc::c_int> {
    match error.raw_os_error() {
        Some(libc::EFBIG) => Some(libc::SIGXFSZ),
        Some(libc::EPIPE) => Some(libc::SIGPIPE),
        _ => None,
    }
}

/// Writes like write(2), without signals.
///
/// # Safety
/// Writing to whatever is open under `number` is right.
pub unsafe fn write_quietly(number: RawFd, bytes: &[u8]) -> io::Result<usize> {
    run_without_signals(|| {
        // SAFETY: a live buffer; the caller's promise.
        let written = unsafe { libc::write(number, bytes.as_ptr().cast(), bytes.len()) };
        usize::try_from(written).map_err(|_| io::Error::last_os_error())
    })
}

/// Returns whether a line can be written to what is open under `number` without waiting for a reader.
pub fn can_take_line(number: RawFd) -> bool {
    let mut asked = libc::pollfd { fd: number, events: libc::POLLOUT, revents: 0 };
    // SAFETY: one live structure, and no waiting. That the number may be closed is an answer.
    let found = unsafe { libc::poll(&mut asked, 1, 0) };
    found == 1 && asked.revents & libc::POLLOUT != 0
}

/// Moves the file to a number that no program counts on.
pub fn out_of_the_way(file: File) -> io::Result<File> {
    match duplicate_high(file.as_raw_fd()) {
        // SAFETY: a new descriptor, and ours alone.
        Ok(number) => Ok(unsafe { File::from_raw_fd(number) }),
        // No second number is free: the one that it has must do.
        Err(_) if file.as_raw_fd() > 2 => Ok(file),
        Err(error) => Err(error),
    }
}

/// Duplicates a descriptor to a number that no program counts on.
pub fn duplicate_high(number: RawFd) -> io::Result<RawFd> {
    // SAFETY: plain system calls; the caller's file is open.
    let mut copies = [HIGH, 3].into_iter().map(|least| unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, least) });
    copies.find(|&copy| copy >= 0).ok_or_else(io::Error::last_os_error)
}

/// Identifies the file that is open under a number, and counts its names in folders.
///
/// Errors: what the system says, such as that none is.
pub fn identify_file(number: RawFd) -> io::Result<(Identity, libc::nlink_t)> {
    let mut stat = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the structure is filled where the call succeeds. That the number may be closed is what is asked here.
    unsafe {
        if libc::fstat(number, stat.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        let stat = stat.assume_init();
        Ok(((stat.st_dev, stat.st_ino), stat.st_nlink))
    }
}
