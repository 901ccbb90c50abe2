//! The period of a thread's samples changes while the event goes on.

use std::hint::black_box;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::sync::Mutex;
use std::time::Duration;

use crate::machine::system::files::descriptors;
use crate::machine::system::perf::{EventOptions, KernelRecord, PAGE, PerfEvent};

const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;
/// Held by each test: one looks at all descriptors of the process.
static DESCRIPTORS: Mutex<()> = Mutex::new(());

const MS: u64 = 1_000_000;

/// Opens an event of the calling thread, or returns `None` where the system allows none.
fn open_event(period_ns: u64) -> Option<PerfEvent> {
    // SAFETY: gettid has no preconditions.
    let thread = unsafe { libc::gettid() };
    let options = EventOptions {
        period_ns,
        has_changing_period: true,
        clock: CLOCK,
        counted: false,
        bytes: 16 * PAGE,
        copies: None,
        woken_as: None,
    };
    let event = PerfEvent::open(thread, options);
    if let Err(refused) = &event {
        eprintln!("skipped: {refused:?}");
    }
    event.ok()
}

fn time_ns(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes a live structure.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Computes for so long, in CPU time of the calling thread, and returns the samples' weights.
fn sample_computation(event: &mut PerfEvent, duration: Duration) -> Vec<u64> {
    let end = time_ns(libc::CLOCK_THREAD_CPUTIME_ID) + duration.as_nanos() as u64;
    while time_ns(libc::CLOCK_THREAD_CPUTIME_ID) < end {
        for i in 0..100_000 {
            black_box(i);
        }
    }
    let mut weights = Vec::new();
    event.read(|written| {
        if let KernelRecord::Sample(raw, _) = written {
            weights.push(raw.period_ns);
        }
    });
    weights
}

#[test]
fn samples_after_a_change_weigh_the_new_period() {
    let _alone = DESCRIPTORS.lock();
    let Some(mut event) = open_event(MS) else { return };
    let before = sample_computation(&mut event, Duration::from_millis(100));
    event.change_period(4 * MS, time_ns(CLOCK));
    let after = sample_computation(&mut event, Duration::from_millis(400));
    assert!(before.iter().all(|&weight| weight == MS));
    // One may have come between the reading above and the change.
    assert!(after.iter().skip(1).all(|&weight| weight == 4 * MS), "{after:?}");
    // Some 100 of each, and 400 if the period had not changed. The kernel's time, which is more on a busy machine, takes some away, and timers that are late are
    // made up for.
    assert!((40..=160).contains(&before.len()), "{}", before.len());
    assert!((40..=160).contains(&after.len()), "{}", after.len());
}

#[test]
fn a_file_that_took_the_number_of_the_event_is_left_alone() {
    let _alone = DESCRIPTORS.lock();
    let Some(mut event) = open_event(MS) else { return };
    let other = open_event(MS).map(std::mem::ManuallyDrop::new);
    let number = high_number_of_last_event();
    // As a program that closes what it does not know, and opens files of its own.
    let file = std::fs::File::open("/proc/self/status").unwrap();
    // SAFETY: both are descriptors of this test.
    assert_eq!(unsafe { libc::dup2(file.as_raw_fd(), number) }, number);
    drop(other.map(std::mem::ManuallyDrop::into_inner));
    assert!(is_open(number), "the file was closed with the event");
    event.change_period(2 * MS, time_ns(CLOCK));
    let weights = sample_computation(&mut event, Duration::from_millis(50));
    assert!(weights.iter().skip(1).all(|&weight| weight == 2 * MS), "the other event is not affected: {weights:?}");
    let _ = file.into_raw_fd();
}

/// Returns the highest descriptor of this process, which the event that was opened last has.
fn high_number_of_last_event() -> libc::c_int {
    let entries = std::fs::read_dir("/proc/self/fd").unwrap();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).max().unwrap()
}

fn is_open(number: libc::c_int) -> bool {
    descriptors::identify_file(number).is_ok()
}
