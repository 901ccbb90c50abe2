//! Limits the memory of lb-report to a part of the machine's, so that a damaged, hostile or large run cannot bring the machine down.
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

use crate::exit::{self, ReportExit};
use crate::machine_memory;

/// The part of the machine's memory that is used at most: so many of so many.
const PARTS_OF_MACHINE: (u64, u64) = (3, 4);

/// Advice on needing less memory.
const HELP: &str =
    "less is needed with --no-blocking, or for some ranks (--ranks) or a part of the time (--from, --to)";

/// The limit in force, in bytes; 0: none of ours yet.
static LIMIT: AtomicU64 = AtomicU64::new(0);
/// True if the user has set it.
static IS_GIVEN: AtomicBool = AtomicBool::new(false);

#[global_allocator]
static MEMORY: CheckedAllocator = CheckedAllocator;

/// The system's memory; where there is no more of it, the process ends with a message that says why.
struct CheckedAllocator;

/// The variable with the user's own limit: bytes, with K, M, G; 0: none.
const VARIABLE: &str = "LB_REPORT_MAX_MEMORY";

/// Limits the memory of this process, on the first call: to the user's limit, or else to a part of the machine's memory.
pub fn bound() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        #[cfg(target_env = "gnu")]
        limit_arenas();
        let given = std::env::var(VARIABLE).ok().and_then(|text| options::bytes(text.trim()));
        let limit = given
            .or_else(|| machine_memory::available_bytes().map(|bytes| bytes / PARTS_OF_MACHINE.1 * PARTS_OF_MACHINE.0));
        let Some(limit) = limit.filter(|&bytes| bytes > 0) else { return };
        let Ok((soft, hard)) = rlimit::Resource::DATA.get() else { return };
        if limit < soft && rlimit::Resource::DATA.set(limit, hard).is_ok() {
            LIMIT.store(limit, Relaxed);
            IS_GIVEN.store(given.is_some(), Relaxed);
        }
    });
}

/// Lets threads share as many arenas of the C library as there are workers. What is free in an arena only its own threads take again, and the main thread,
/// which has an arena, rests while workers work: with an arena for each, one worker took a quarter more memory.
#[cfg(target_env = "gnu")]
fn limit_arenas() {
    let given = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.trim().parse().ok()).filter(|&n| n > 0);
    let workers = given.or_else(|| std::thread::available_parallelism().ok().and_then(|n| n.get().try_into().ok()));
    if let Some(workers) = workers {
        // SAFETY: it may be called at any time, and what it returns is whether it knows the parameter.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, workers) };
    }
}

/// Reports that memory is exhausted, without allocating, and ends the process.
fn exhausted() {
    static ENDS: AtomicBool = AtomicBool::new(false);
    if ENDS.swap(true, SeqCst) {
        return;
    }
    let mib = LIMIT.load(Relaxed) >> 20;
    let name = exit::name();
    let mut line = [0u8; 320];
    let mut rest = &mut line[..];
    let _ = match (mib, IS_GIVEN.load(Relaxed)) {
        (0, false) => writeln!(rest, "{name}: there is no memory left"),
        (_, true) => writeln!(rest, "{name}: this needs more memory than the {mib} MiB of {VARIABLE}; {HELP}"),
        (_, false) => writeln!(
            rest,
            "{name}: this needs more than {mib} MiB of memory, three quarters of what this machine has; {VARIABLE} sets another limit, 0 none; {HELP}"
        ),
    };
    let length = 320 - rest.len();
    let _ = io::stderr().write_all(&line[..length]);
    std::process::exit(ReportExit::NoData as i32)
}

fn or_end(pointer: *mut u8) -> *mut u8 {
    if pointer.is_null() {
        exhausted();
    }
    pointer
}

// SAFETY: all blocks are the system's.
unsafe impl GlobalAlloc for CheckedAllocator {
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
