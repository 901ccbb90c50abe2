//! Facts of the process: host, program, resources used.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering::Relaxed};

use lbprof_collector::definition::ResourceUsage;
use lbprof_collector::live_process::host_name;
use lbprof_collector::off_core::ThreadUsage;

use crate::machine::system::clock::{clock_ns, read_ticks};
use crate::machine::system::files::kept_file::KeptFile;
use crate::machine::system::sandbox;

pub fn host_of_process() -> String {
    host_name().unwrap_or_else(|| "unknown".into())
}

pub fn command_line() -> Vec<String> {
    let bytes = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let words = bytes.split_inclusive(|&byte| byte == 0);
    words.map(|word| String::from_utf8_lossy(word.strip_suffix(b"\0").unwrap_or(word)).into_owned()).collect()
}

pub fn executable_path() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| std::fs::read_link("/proc/self/exe").unwrap_or_default()).clone()
}

/// Folder in which the process was started, as far as its environment says; else the one when recording started.
static STARTED_IN: OnceLock<PathBuf> = OnceLock::new();

/// Notes where the process and its program are. Reads the environment, which other threads of the program may change later, and asks the system while
/// no filter forbids it.
pub fn note_folder() {
    executable_path();
    let named = std::env::var_os("PWD").map(PathBuf::from).filter(|folder| folder.is_absolute());
    if let Some(folder) = named.or_else(|| std::env::current_dir().ok()) {
        let _ = STARTED_IN.set(folder);
    }
}

/// Returns a file's path from the root on. The loader keeps paths as they were given, relative to where the process was at that time: as a rule where it
/// was started, else where it is now.
pub fn resolve_path(path: &Path) -> PathBuf {
    if path.is_absolute() {
        return path.to_owned();
    }
    let started = STARTED_IN.get().map(|folder| folder.join(path));
    if sandbox::is_filtered() {
        return started.unwrap_or_else(|| path.to_owned());
    }
    let now = std::env::current_dir().ok().map(|folder| folder.join(path));
    [started, now].into_iter().flatten().find(|place| place.exists()).unwrap_or_else(|| path.to_owned())
}

/// Returns the number of cores on which at least one thread of the process may run; 0: it is not known.
///
/// A run-time library binds the first thread, too, so its own mask says little.
pub fn allowed_cores() -> u32 {
    if sandbox::is_filtered() {
        return 0;
    }
    let mut all = [0_u64; size_of::<libc::cpu_set_t>() / size_of::<u64>()];
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return 0 };
    let numbers = threads.flatten().filter_map(|thread| thread.file_name().to_str()?.parse::<libc::pid_t>().ok());
    for number in numbers {
        let mut mask = [0_u64; size_of::<libc::cpu_set_t>() / size_of::<u64>()];
        // SAFETY: fills at most the mask.
        unsafe { libc::sched_getaffinity(number, size_of_val(&mask), mask.as_mut_ptr().cast()) };
        for (sum, word) in all.iter_mut().zip(mask) {
            *sum |= word;
        }
    }
    all.iter().map(|word| word.count_ones()).sum()
}

/// Returns the number of cores of the host; 0: it is not known.
pub fn host_cores() -> u32 {
    // SAFETY: a plain question to the C library.
    u32::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }).unwrap_or(0)
}

pub fn program_name() -> String {
    executable_path().file_name().map_or("unknown".into(), |name| name.to_string_lossy().into_owned())
}

/// Returns the resources that the process and the calling thread have used so far, and what the kernel has done for that thread, or `None` where a
/// system call filter may not allow to ask.
pub fn resource_usage() -> Option<(ResourceUsage, ThreadUsage)> {
    let (process, thread) = (used_by(libc::RUSAGE_SELF)?, used_by(libc::RUSAGE_THREAD)?);
    let used = ResourceUsage {
        ticks: read_ticks(),
        user_ns: timeval_ns(process.ru_utime),
        system_ns: timeval_ns(process.ru_stime),
        thread_ns: timeval_ns(thread.ru_utime) + timeval_ns(thread.ru_stime),
        voluntary_switches: process.ru_nvcsw as u64,
        involuntary_switches: process.ru_nivcsw as u64,
        thread_involuntary_switches: thread.ru_nivcsw as u64,
        thread_delayed_ns: delayed_ns(),
        max_resident: process.ru_maxrss as u64 * 1024,
        // In blocks of 512 bytes, whatever the file system's are (getrusage(2)).
        read_bytes: process.ru_inblock as u64 * 512,
        written_bytes: process.ru_oublock as u64 * 512,
    };
    let by_kernel = ThreadUsage {
        system_ns: timeval_ns(thread.ru_stime),
        page_faults: (thread.ru_minflt + thread.ru_majflt) as u64,
    };
    Some((used, by_kernel))
}

/// Returns the page faults of the process so far that had to wait for a disk; 0 where a system call filter may not allow to ask.
pub fn major_faults() -> u64 {
    used_by(libc::RUSAGE_SELF).map_or(0, |used| used.ru_majflt as u64)
}

/// Returns the resources that the process, or the calling thread, has used so far, or `None` where a system call filter may not allow to ask.
fn used_by(who: libc::c_int) -> Option<libc::rusage> {
    if sandbox::is_filtered() {
        return None;
    }
    // SAFETY: a plain structure, which the call fills.
    unsafe {
        let mut used: libc::rusage = std::mem::zeroed();
        libc::getrusage(who, &mut used);
        Some(used)
    }
}

/// Returns the time since the system started the process, to a hundredth of a second, or `None` if the system does not say.
pub fn age_ns() -> Option<u64> {
    let (_, start) = lbprof_launch::job::parent_and_start("self")?;
    // SAFETY: sysconf has no preconditions.
    let per_second = u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).ok().filter(|&hz| hz > 0)?;
    let start_ns = start.checked_mul(1_000_000_000)? / per_second;
    // The start is counted on this clock.
    clock_ns(libc::CLOCK_BOOTTIME).checked_sub(start_ns)
}

/// The system's counts of the thread that called MPI_Init.
static FIRST_SCHEDSTAT: KeptFile = KeptFile::new();

/// The number of that thread; 0: none.
static FIRST_THREAD: AtomicI32 = AtomicI32::new(0);

const SCHEDSTAT: &str = "/proc/thread-self/schedstat";

/// Opens what is needed each time that the calling thread asks for its usage.
pub fn watch_usage() {
    let _ = FIRST_SCHEDSTAT.file(|| File::open(SCHEDSTAT));
    // SAFETY: gettid has no preconditions.
    FIRST_THREAD.store(unsafe { libc::gettid() }, Relaxed);
}

/// Returns the time in which the calling thread could have run but had no core, so far: the second number of schedstat; 0 where the kernel does not
/// count it.
fn delayed_ns() -> u64 {
    let mut bytes = [0; 128];
    // SAFETY: gettid has no preconditions.
    let is_first = unsafe { libc::gettid() } == FIRST_THREAD.load(Relaxed);
    // Without an allocation: this is called at the end of the process, which may be in a handler.
    let length = match is_first {
        true => FIRST_SCHEDSTAT.file(|| File::open(SCHEDSTAT)).and_then(|file| file.read_at(&mut bytes, 0)),
        false => File::open(SCHEDSTAT).and_then(|mut file| file.read(&mut bytes)),
    };
    let schedstat = bytes.get(..length.unwrap_or(0)).and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default();
    schedstat.split_whitespace().nth(1).and_then(|delay| delay.parse().ok()).unwrap_or(0)
}

/// Returns the limit that holds for the process's use of a resource of getrlimit(2); 0 where the system does not say.
pub fn resource_limit(resource: libc::__rlimit_resource_t) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a live structure, which stays as it is where the call fails.
    unsafe { libc::getrlimit(resource, &raw mut limit) };
    limit.rlim_cur
}

/// Returns whether no limit of locked memory holds for this process; `false` also where that is not known.
pub fn may_lock_all() -> bool {
    const CAP_IPC_LOCK: u64 = 14;
    // In a namespace of users a capability does not count against the limits of the system's user.
    let ids = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let capabilities = status_field(&status, "CapEff:").and_then(|text| u64::from_str_radix(text, 16).ok());
    let capabilities = capabilities.unwrap_or(0);
    ids.split_whitespace().eq(["0", "0", "4294967295"]) && capabilities >> CAP_IPC_LOCK & 1 == 1
}

/// Returns whether threads have the numbers in /proc that system calls give them. They have others if /proc belongs to a PID namespace outside of the
/// one that this process runs in; `true` also where there is no /proc. Allocates nothing.
pub fn is_proc_of_own_namespace() -> bool {
    /// 0: not looked at yet; 1: it is; 2: it is not.
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    let known = KNOWN.load(Relaxed);
    if known != 0 {
        return known == 1;
    }
    let mut bytes = [0u8; 64];
    // SAFETY: system calls; the first one fills at most the buffer.
    let (length, own) = unsafe {
        let length = libc::readlink(c"/proc/thread-self".as_ptr(), bytes.as_mut_ptr().cast(), bytes.len());
        (usize::try_from(length).unwrap_or(0), libc::gettid())
    };
    // "PROCESS/task/THREAD"
    let number = bytes.get(..length).and_then(|link| link.rsplit(|&byte| byte == b'/').next());
    let number = number.and_then(|number| str::from_utf8(number).ok()?.parse::<libc::pid_t>().ok());
    let is_own = number.is_none_or(|number| number == own);
    KNOWN.store(if is_own { 1 } else { 2 }, Relaxed);
    is_own
}

/// Returns the number for system calls of a thread of this process that has `number` in /proc, or `None` if it has ended.
pub fn number_in_own_namespace(number: libc::pid_t) -> Option<libc::pid_t> {
    let status = std::fs::read_to_string(format!("/proc/self/task/{number}/status")).ok()?;
    // One number for each namespace, the innermost last.
    status_field(&status, "NSpid:")?.split_whitespace().last()?.parse().ok()
}

/// Returns a field of a status (proc_pid_status(5)).
fn status_field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadActivity {
    /// The thread runs, or would if it had a core, or waits for a page of memory.
    Runs,
    /// The thread waits in a system call of this number, with this stack pointer.
    Waits(libc::c_long, usize),
}

/// Returns the activity of a thread of this process, or `None` if there is none or the system does not say. Allocates nothing.
pub fn thread_activity(thread: i32) -> Option<ThreadActivity> {
    let (mut path, mut bytes) = ([0; 64], [0; 256]);
    write!(&mut path[..], "/proc/self/task/{thread}/syscall").ok()?;
    let path = path.split(|&byte| byte == 0).next().and_then(|path| str::from_utf8(path).ok())?;
    let length = File::open(path).and_then(|mut file| file.read(&mut bytes)).ok()?;
    // "running", or the call's number (-1: none), its arguments, the stack pointer, where the program goes on (proc(5)).
    let mut words = str::from_utf8(bytes.get(..length)?).ok()?.split_whitespace();
    let call = words.next()?;
    if ["running", "-1"].contains(&call) {
        return Some(ThreadActivity::Runs);
    }
    let stack = words.rev().nth(1)?.strip_prefix("0x")?;
    Some(ThreadActivity::Waits(call.parse().ok()?, usize::from_str_radix(stack, 16).ok()?))
}

fn timeval_ns(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000
}

/// Returns the resident and the swapped memory of the process, in bytes.
pub fn memory_use() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let [resident_kb, swapped_kb] =
        ["VmRSS:", "VmSwap:"].map(|name| status_field(&status, name)?.strip_suffix("kB")?.trim().parse::<u64>().ok());
    (resident_kb.unwrap_or(0) * 1024, swapped_kb.unwrap_or(0) * 1024)
}
