//! Samples that wake a thread of ours, which reads at once the data that the kernel does not copy.
//!
//! Each event is in a set (epoll(7)), where it stays as long as its mapping, though its descriptor is closed. The set and a counter that wakes the thread
//! for good are open under high numbers. The program may close them and use the numbers for files of its own: they are ours if the counter is in the set.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};

use crate::machine::system::files::descriptors;

/// The descriptors of the set and of the counter; -1: there are none.
static SET: AtomicI32 = AtomicI32::new(-1);
static COUNTER: AtomicI32 = AtomicI32::new(-1);

/// A thread of which a sample was taken: the number that was given for it, and its number in the system.
pub type SampledNow = (u32, libc::pid_t);

/// Threads of which samples are taken at a time. The others are given the next time.
const MAX_AT_ONCE: usize = 64;

const SAMPLED: u32 = libc::EPOLLIN as u32;

/// In place of a thread's numbers: the counter.
const TO_END: u64 = u64::MAX;

pub fn open_wake_set() -> io::Result<()> {
    // SAFETY: plain system calls; a new descriptor is ours alone.
    let [set, counter] = unsafe {
        [libc::epoll_create1(libc::EPOLL_CLOEXEC), libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK)]
            .map(|number| if number < 0 { Err(io::Error::last_os_error()) } else { Ok(File::from_raw_fd(number)) })
    };
    let (set, counter) = (descriptors::out_of_the_way(set?)?, descriptors::out_of_the_way(counter?)?);
    control_set(set.as_raw_fd(), libc::EPOLL_CTL_ADD, counter.as_raw_fd(), TO_END)?;
    COUNTER.store(counter.into_raw_fd(), SeqCst);
    SET.store(set.into_raw_fd(), SeqCst);
    Ok(())
}

fn control_set(set: RawFd, operation: libc::c_int, number: RawFd, data: u64) -> io::Result<()> {
    // Once for each sample: the event of a thread that has ended is ready for ever.
    let mut event = libc::epoll_event { events: SAMPLED | libc::EPOLLET as u32, u64: data };
    // SAFETY: a live description.
    match unsafe { libc::epoll_ctl(set, operation, number, &mut event) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The descriptor of the set, if it is ours still.
fn own_set() -> Option<RawFd> {
    let (set, counter) = (SET.load(SeqCst), COUNTER.load(SeqCst));
    (set >= 0 && control_set(set, libc::EPOLL_CTL_MOD, counter, TO_END).is_ok()).then_some(set)
}

/// Has each sample of an event wake the thread that waits, if a number for the sampled thread is given.
pub(super) fn add_to_set(event: &OwnedFd, id: Option<u32>, thread: libc::pid_t) {
    if let Some((id, set)) = id.zip(own_set()) {
        let _ = control_set(set, libc::EPOLL_CTL_ADD, event.as_raw_fd(), u64::from(id) << 32 | thread as u64);
    }
}

/// Returns whether the set is there still.
pub fn is_open() -> bool {
    own_set().is_some()
}

/// Waits for samples and returns the threads; `None`: the wait is over for good. The set [is open](is_open).
pub fn wait_for_samples() -> Option<Vec<SampledNow>> {
    let mut events = [libc::epoll_event { events: 0, u64: 0 }; MAX_AT_ONCE];
    // SAFETY: fills the buffer.
    let n = unsafe { libc::epoll_wait(SET.load(SeqCst), events.as_mut_ptr(), MAX_AT_ONCE as libc::c_int, -1) };
    let n = match usize::try_from(n) {
        Ok(n) => n,
        Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => 0,
        Err(_) => return None,
    };
    let found = events.into_iter().take(n).filter(|event| event.events & SAMPLED != 0).map(|event| event.u64);
    found.map(|data| (data != TO_END).then_some(((data >> 32) as u32, data as libc::pid_t))).collect()
}

/// Ends the wait, or the next one, until [`forget_end`].
pub fn end_wait() {
    let one = 1_u64;
    if own_set().is_some() {
        // SAFETY: writes a live word to our own counter.
        unsafe { libc::write(COUNTER.load(SeqCst), (&raw const one).cast(), size_of::<u64>()) };
    }
}

/// A thread may wait again.
pub fn forget_end() {
    let mut value = 0_u64;
    if own_set().is_some() {
        // SAFETY: fills a live word; does not wait.
        unsafe { libc::read(COUNTER.load(SeqCst), (&raw mut value).cast(), size_of::<u64>()) };
    }
}
