//! How much memory a run may take: what is small on disk must not fill the machine's memory when it is read.
//!
//! The limit is the system's own (RLIMIT_DATA), so that counting costs nothing. Where it is reached, lb-report says so and ends.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

use lbprof_collector::options;

use crate::exit::{self, Exit};
use crate::on_disk::OnDisk;

/// What such a run may take, whatever its number of ranks: 4,096 ranks of 250 records each take 320 MB, 16,000 of 75 each take 890 MB.
const BYTES: u64 = 1 << 30;

/// The limit in force, in bytes; 0: none of ours yet.
static LIMIT: AtomicU64 = AtomicU64::new(0);

#[global_allocator]
static MEMORY: Bounded = Bounded;

/// The system's memory; where there is no more of it, the process ends with a message that says why.
struct Bounded;

/// The variable with the user's own limit: bytes, with K, M, G; 0: none.
const VARIABLE: &str = "LB_REPORT_MAX_MEMORY";

/// Bounds this process by what a small run may take, while it is not known yet which run is read.
pub fn bound() {
    set(Some(BYTES));
}

/// Bounds this process by what the runs read so far, and one that takes so much on disk, may take; `None`: that is not known.
pub fn bound_by(run: Option<OnDisk>) {
    set(run.and_then(of_run));
}

/// Sets the limit, unless one as large is set; `None`: none of ours.
fn set(limit: Option<u64>) {
    // What limit there was before ours.
    static BEFORE: OnceLock<u64> = OnceLock::new();
    let given = std::env::var(VARIABLE).ok().and_then(|text| options::bytes(text.trim()));
    let limit = given.map_or(limit, |bytes| Some(bytes).filter(|&bytes| bytes > 0));
    let Ok((soft, hard)) = rlimit::Resource::DATA.get() else { return };
    let most = *BEFORE.get_or_init(|| soft);
    let limit = limit.unwrap_or(u64::MAX);
    if LIMIT.load(Relaxed) < limit && rlimit::Resource::DATA.set(limit.min(most), hard).is_ok() {
        LIMIT.store(limit, Relaxed);
    }
}

/// What a run may take; `None`: anything.
fn of_run(run: OnDisk) -> Option<u64> {
    run.is_small().then_some(BYTES)
}

/// Says why, without any memory, and ends.
fn exhausted() {
    static ENDS: AtomicBool = AtomicBool::new(false);
    if ENDS.swap(true, SeqCst) {
        return;
    }
    let limit = LIMIT.load(Relaxed);
    let mib = if limit == u64::MAX { 0 } else { limit >> 20 };
    let name = exit::name();
    let mut line = [0u8; 320];
    let mut rest = &mut line[..];
    let _ = match mib {
        0 => writeln!(rest, "{name}: there is no memory left"),
        _ => writeln!(
            rest,
            "{name}: the run needs more than {mib} MiB of memory, though its logs are small: they are damaged, were made so, or are those \
             of more than 16,000 ranks. {VARIABLE}=8G allows more, 0 all"
        ),
    };
    let length = 320 - rest.len();
    let _ = io::stderr().write_all(&line[..length]);
    std::process::exit(Exit::NoData as i32)
}

fn or_end(pointer: *mut u8) -> *mut u8 {
    if pointer.is_null() {
        exhausted();
    }
    pointer
}

// SAFETY: all blocks are the system's.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        or_end(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        or_end(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        or_end(unsafe { System.realloc(pointer, layout, size) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_run_may_take_a_gibibyte_and_a_large_one_anything() {
        assert_eq!(of_run(OnDisk { bytes: 0 }), Some(1 << 30));
        assert_eq!(of_run(OnDisk { bytes: 99_999_999 }), Some(1 << 30));
        assert_eq!(of_run(OnDisk { bytes: 100_000_000 }), None);
    }
}
