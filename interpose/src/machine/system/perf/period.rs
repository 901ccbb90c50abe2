//! The period of an event, which the recorder changes while the event goes on.
//!
//! A new event would be given the lowest free descriptor for a moment, which a thread of the program may count on. So the first event's descriptor
//! stays open, under a high number. The kernel goes on to write the period that the event was opened with into its samples; which period a sample
//! had follows from its time.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use crate::machine::system::files::descriptors;
use crate::machine::system::files::descriptors::Identity;

/// The period of an event, and the one that it had before.
#[derive(Debug)]
pub struct SamplePeriod {
    current_ns: u64,
    previous_ns: u64,
    /// Begin of the current period, in nanoseconds of the event's clock.
    since_ns: u64,
    event: Option<KeptEvent>,
}

/// The descriptor of an event, kept open under a high number.
#[derive(Debug)]
struct KeptEvent {
    number: RawFd,
    identity: Identity,
    /// The kernel's number of the event.
    event_id: u64,
}

// linux/perf_event.h.
const SET_PERIOD: libc::c_ulong = 0x4008_2404;
const GET_ID: libc::c_ulong = 0x8008_2407;

impl SamplePeriod {
    /// Returns the period of an event that was opened with it. It can be changed later if `is_changeable`, and a descriptor is free for that.
    pub fn new(event: &OwnedFd, period_ns: u64, is_changeable: bool) -> SamplePeriod {
        let event = is_changeable.then(|| KeptEvent::new(event)).flatten();
        SamplePeriod { current_ns: period_ns, previous_ns: period_ns, since_ns: 0, event }
    }

    /// Changes the period at a time of the event's clock, after which nothing has been read yet. Without effect if the system refuses, or if the
    /// program has closed the descriptor.
    pub fn change(&mut self, period_ns: u64, now_ns: u64) {
        if self.event.as_ref().is_some_and(|event| event.set_period(period_ns)) {
            (self.previous_ns, self.current_ns, self.since_ns) = (self.current_ns, period_ns, now_ns);
        }
    }

    /// Returns the period of samples from now on, in nanoseconds.
    pub fn current_ns(&self) -> u64 {
        self.current_ns
    }

    /// Returns the period, in nanoseconds, of a sample that was taken at a time of the event's clock.
    pub fn period_at(&self, time_ns: u64) -> u64 {
        if time_ns < self.since_ns { self.previous_ns } else { self.current_ns }
    }
}

impl KeptEvent {
    fn new(event: &OwnedFd) -> Option<KeptEvent> {
        let number = descriptors::duplicate_high(event.as_raw_fd()).ok()?;
        let kept = descriptors::identify_file(number).ok().zip(event_id(number));
        let Some(((identity, _), event_id)) = kept else {
            // SAFETY: a descriptor that was made above.
            unsafe { libc::close(number) };
            return None;
        };
        Some(KeptEvent { number, identity, event_id })
    }

    /// Returns whether the number still stands for this event: the program may have closed it, and use it for a file of its own.
    fn is_open(&self) -> bool {
        let is_of_its_kind =
            descriptors::identify_file(self.number).is_ok_and(|(identity, _)| identity == self.identity);
        is_of_its_kind && event_id(self.number) == Some(self.event_id)
    }

    fn set_period(&self, period_ns: u64) -> bool {
        // SAFETY: reads a live word; the descriptor belongs to an event.
        self.is_open() && unsafe { libc::ioctl(self.number, SET_PERIOD, &raw const period_ns) } == 0
    }
}

impl Drop for KeptEvent {
    fn drop(&mut self) {
        if self.is_open() {
            // SAFETY: our own descriptor, as was just asked.
            unsafe { libc::close(self.number) };
        }
    }
}

/// Returns the kernel's number of the event that is open under a descriptor.
fn event_id(number: RawFd) -> Option<u64> {
    let mut id = 0_u64;
    // SAFETY: writes a live word, if what is open there is an event.
    let result = unsafe { libc::ioctl(number, GET_ID, &raw mut id) };
    (result == 0).then_some(id)
}
