//! Limits memory and processor time of this process and its worker, so that damaged, hostile or large runs cannot bring the machine down.
//!
//! The limits are the system's (setrlimit), so that counting costs nothing. If memory runs out, lb-report says so and ends.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Once;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};
use std::time::Duration;

use lbprof_collector::options;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

use crate::exit::{self, ReportExit};

const HELP: &str =
    "less is needed with --no-blocking, or for some ranks (--ranks) or a part of the time (--from, --to)";

/// Variable with the user's limit: bytes, with K, M, G; 0 means none. The default is three quarters of the machine's memory.
const VARIABLE: &str = "LB_REPORT_MAX_MEMORY";

/// Memory limit of the worker. A program with 2 GB of debug information needs a tenth of that.
const MAX_MEMORY_OF_WORKER: u64 = 2 << 30;

const CONTROL_GROUPS: &str = "/sys/fs/cgroup";

/// The limit in force in bytes, or 0 if there is none.
static LIMIT: AtomicU64 = AtomicU64::new(0);

#[global_allocator]
static MEMORY: CheckedAllocator = CheckedAllocator;

/// The system's allocator, which ends the process with a message if memory runs out.
struct CheckedAllocator;

/// Limits the memory of this process, on the first call.
pub fn limit_memory() {
    static DONE: Once = Once::new();
    DONE.call_once(|| {
        #[cfg(target_env = "gnu")]
        limit_arenas();
        let given = std::env::var(VARIABLE).ok().and_then(|text| options::parse_byte_count(text.trim()));
        let limit = given.or_else(|| available_bytes().map(|bytes| bytes / 4 * 3));
        let Some(limit) = limit.filter(|&limit| limit > 0) else { return };
        let is_lower = getrlimit(Resource::Data).current.is_none_or(|current| limit < current);
        if is_lower && set_limit(Resource::Data, limit) {
            LIMIT.store(limit, Relaxed);
        }
    });
}

/// Limits the worker that reads programs. It dies without a core file if it needs more.
pub fn limit_worker() {
    let memory = available_bytes().map_or(MAX_MEMORY_OF_WORKER, |bytes| MAX_MEMORY_OF_WORKER.min(bytes / 4));
    set_limit(Resource::Data, memory);
    set_limit(Resource::Core, 0);
}

/// Limits further processor time, plus a second or two because the system counts seconds.
pub fn limit_processor_time(further: Duration) {
    let taken = clock_gettime(ClockId::ProcessCPUTime).try_into().unwrap_or(Duration::ZERO);
    set_limit(Resource::Cpu, taken.saturating_add(further).as_secs().saturating_add(2));
}

/// Raises the limit of open files: a replay has all logs open. Errors show up when a log cannot be opened.
pub fn raise_open_files() {
    set_limit(Resource::Nofile, u64::MAX);
}

/// Sets a limit, bounded by the hard limit. Returns whether it was set.
fn set_limit(resource: Resource, limit: u64) -> bool {
    let Rlimit { maximum, .. } = getrlimit(resource);
    let limit = maximum.map_or(limit, |maximum| limit.min(maximum));
    setrlimit(resource, Rlimit { current: Some(limit), maximum }).is_ok()
}

/// Lets threads share as many malloc arenas as there are workers. Free memory in an arena is only reused by its threads, and the main thread with its
/// own arena rests while workers work: separate arenas took a quarter more memory with one worker.
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
fn end_without_memory() {
    static ENDS: AtomicBool = AtomicBool::new(false);
    if ENDS.swap(true, SeqCst) {
        return;
    }
    let name = exit::program_name();
    let mut line = [0u8; 320];
    let mut rest = &mut line[..];
    let _ = match LIMIT.load(Relaxed) >> 20 {
        0 => writeln!(rest, "{name}: there is no memory left"),
        mib => writeln!(
            rest,
            "{name}: this needs more memory than the {mib} MiB of {VARIABLE} (by default three quarters of what this machine has; 0: no limit); {HELP}"
        ),
    };
    let length = 320 - rest.len();
    let _ = io::stderr().write_all(&line[..length]);
    std::process::exit(ReportExit::NoData as i32)
}

fn or_end(pointer: *mut u8) -> *mut u8 {
    if pointer.is_null() {
        end_without_memory();
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

/// Returns the memory that this process may use.
fn available_bytes() -> Option<u64> {
    let built_in = bytes_built_in(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().filter_map(|line| limit_of_group(Path::new(CONTROL_GROUPS), line));
    Some(limits.fold(built_in, u64::min))
}

/// Parses the first line of /proc/meminfo (proc_meminfo(5)).
fn bytes_built_in(text: &str) -> Option<u64> {
    let kilobytes = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?.trim().strip_suffix("kB")?;
    kilobytes.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the lowest limit of a control group and its parents, from its line `NUMBER:CONTROLLERS:PATH` in /proc/self/cgroup (cgroups(7)). A container
/// may see its own group as the root.
fn limit_of_group(root: &Path, line: &str) -> Option<u64> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (controllers, path) = (fields.next()?, fields.next()?.trim_start_matches('/'));
    let (root, file) = match controllers {
        "" => (root.to_owned(), "memory.max"),
        _ if controllers.split(',').any(|one| one == "memory") => (root.join("memory"), "memory.limit_in_bytes"),
        _ => return None,
    };
    let groups = Path::new(path).ancestors().map(|group| root.join(group).join(file));
    groups.filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok()).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_memory_is_read_in_bytes() {
        assert_eq!(bytes_built_in("MemTotal:       16384 kB\nMemFree: 1 kB\n"), Some(16 << 20));
        assert_eq!(bytes_built_in("MemFree: 1 kB\n"), None);
    }

    #[test]
    fn the_lowest_limit_of_a_group_and_those_around_it_holds() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            fs::create_dir_all(root.path().join(name).parent().unwrap()).unwrap();
            fs::write(root.path().join(name), text).unwrap();
        };
        write("a/memory.max", "5000\n");
        write("a/b/memory.max", "max\n");
        write("memory/c/memory.limit_in_bytes", "700\n");
        assert_eq!(limit_of_group(root.path(), "0::/a/b"), Some(5000));
        assert_eq!(limit_of_group(root.path(), "0::/elsewhere"), None);
        assert_eq!(limit_of_group(root.path(), "4:cpu,memory:/c/d"), Some(700));
        assert_eq!(limit_of_group(root.path(), "4:cpu:/c"), None);
    }
}
