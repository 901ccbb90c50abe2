//! Pools: the threads that the process starts with one routine, and how many of them there are at a time.
//!
//! ```text
//!   pthread_create(work)   ->  find: the pool of `work`
//!   new thread                 enter: one more; of which pool the thread is
//!   end of the thread          leave, as the destructor of a key
//! ```
//!
//! All threads of `std::thread` have one routine, of the library of C++: the function that it runs decides their pool. Threads that were started before
//! MPI_Init count, too: only atomic numbers are changed here.

use std::ffi::c_void;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};

use lbprof_collector::definition::Definition;
use lbprof_collector::parallel::TeamPlacement;
use lbprof_collector::record::NONE;
use lbprof_collector::sample::ThreadPool;

use crate::harmless::enter;
use crate::harmless::signals::run_critical_section;
use crate::log::OpenLog;
use crate::machine::system::clock::clock_ns;
use crate::machine::system::loader::objects;
use crate::machine::system::process;
use crate::machine::unwind::PathCall;

pub struct PoolCounts {
    /// Address of the routine; 0: none yet.
    routine: AtomicUsize,
    started: AtomicU64,
    running: AtomicU32,
    /// The most that ran at a time.
    most: AtomicU32,
    /// CPU time of its threads that have ended.
    ended_cpu_ns: AtomicU64,
    /// Sum of `started` and `ended_cpu_ns` of which the log knows.
    written: AtomicU64,
}

const MAX_POOLS: usize = 64;
static POOLS: [PoolCounts; MAX_POOLS] = [const {
    PoolCounts {
        routine: AtomicUsize::new(0),
        started: AtomicU64::new(0),
        running: AtomicU32::new(0),
        most: AtomicU32::new(0),
        ended_cpu_ns: AtomicU64::new(0),
        written: AtomicU64::new(0),
    }
}; MAX_POOLS];

/// The threads that are there, each as its number in the system × 2³² + place of its pool + 1; 0: a free place. The pools of further threads are not known.
const MAX_THREADS: usize = 1024;
static THREADS: [AtomicU64; MAX_THREADS] = [const { AtomicU64::new(0) }; MAX_THREADS];

/// Routines of the library of C++ that run the function of a `std::thread`, of its present and its former interface.
static CPP_ROUTINES: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// The key whose destructor is [`leave_pool`], plus 1; 0: none.
static KEY: AtomicU32 = AtomicU32::new(0);

impl PoolCounts {
    /// Counts the calling thread, of this number in the system, which begins.
    pub fn enter(&'static self, id: libc::pid_t) {
        self.started.fetch_add(1, Relaxed);
        let Some(key) = KEY.load(Relaxed).checked_sub(1) else { return };
        // SAFETY: a plain call of the threads library; the key's destructor gets a pool.
        if unsafe { libc::pthread_setspecific(key, std::ptr::from_ref(self).cast()) } != 0 {
            return;
        }
        self.most.fetch_max(self.running.fetch_add(1, Relaxed) + 1, Relaxed);
        let place = POOLS.iter().position(|pool| std::ptr::eq(pool, self)).unwrap_or(0) as u64;
        let thread = (id as u64) << 32 | (place + 1);
        let _ = THREADS.iter().find(|free| free.compare_exchange(0, thread, Relaxed, Relaxed).is_ok());
    }
}

/// Counts a thread of a pool that ends.
unsafe extern "C" fn leave_pool(pool: *mut c_void) {
    // SAFETY: what `enter` has kept; a plain system call.
    let (pool, id) = unsafe { (pool.cast::<PoolCounts>().as_ref(), libc::gettid()) };
    if let Some(pool) = pool {
        pool.running.fetch_sub(1, Relaxed);
        pool.ended_cpu_ns.fetch_add(clock_ns(libc::CLOCK_THREAD_CPUTIME_ID), Relaxed);
    }
    if let Some(own) = THREADS.iter().find(|one| one.load(Relaxed) >> 32 == id as u64) {
        own.store(0, Relaxed);
    }
}

/// Returns the pool of threads that are started with this routine and argument; `None`: there are too many pools.
///
/// # Safety
/// As the program passes them to `pthread_create`.
pub unsafe fn find_pool(routine: usize, argument: *const c_void) -> Option<&'static PoolCounts> {
    if let Some(known) = POOLS.iter().find(|pool| pool.routine.load(Acquire) == routine) {
        return Some(known);
    }
    if !is_of_cpp(routine) {
        enter::enter_quietly(|| run_critical_section(|| look_at(routine)));
    }
    // SAFETY: the caller's promise.
    let own = if is_of_cpp(routine) { unsafe { function_of_cpp(argument) } } else { routine };
    for pool in &POOLS {
        match pool.routine.compare_exchange(0, own, AcqRel, Acquire) {
            Ok(_) => return Some(pool),
            Err(other) if other == own => return Some(pool),
            Err(_) => {}
        }
    }
    None
}

fn is_of_cpp(routine: usize) -> bool {
    CPP_ROUTINES.iter().any(|known| known.load(Relaxed) == routine)
}

/// Looks in which object a new routine lies, and makes the key.
fn look_at(routine: usize) {
    let is_cpp =
        objects::look_at(routine, |object| object.path().to_bytes().windows(9).any(|part| part == b"libstdc++"));
    if is_cpp == Some(true) {
        let _ = CPP_ROUTINES.iter().find(|free| free.compare_exchange(0, routine, Relaxed, Relaxed).is_ok());
    }
    let mut key = 0;
    // SAFETY: plain calls of the threads library with live arguments.
    unsafe {
        if KEY.load(Relaxed) == 0
            && libc::pthread_key_create(&mut key, Some(leave_pool)) == 0
            && KEY.compare_exchange(0, key + 1, Relaxed, Relaxed).is_err()
        {
            libc::pthread_key_delete(key);
        }
    }
}

/// Returns the function that a `std::thread` runs: the third virtual one of its state (`_M_run`, after two destructors), to which `argument` points.
///
/// # Safety
/// `argument` belongs to a routine of the library of C++.
unsafe fn function_of_cpp(argument: *const c_void) -> usize {
    // SAFETY: the caller's promise: an object with virtual functions.
    unsafe { argument.cast::<*const usize>().read().add(2).read() }
}

/// Returns the id of the pool of the thread of this number in the system, or [`NONE`].
pub fn pool_of(thread: libc::pid_t) -> u32 {
    let own = THREADS.iter().map(|one| one.load(Relaxed)).find(|one| one >> 32 == thread as u64);
    own.map_or(NONE, |own| (own as u32).wrapping_sub(1))
}

/// Forgets the CPU time of the threads that ended before the recorded time.
pub fn forget_ended_threads() {
    for pool in &POOLS {
        pool.ended_cpu_ns.store(0, Relaxed);
    }
}

/// The most threads of a pool for which the log has the cores on which they may run.
static PLACED: AtomicU32 = AtomicU32::new(0);

/// Writes the pools of which the log lacks anything.
pub fn write_pools(log: &mut OpenLog) {
    let threads = POOLS.iter().map(|pool| pool.most.load(Relaxed)).max().unwrap_or(0);
    if threads > 1 && PLACED.fetch_max(threads, Relaxed) < threads {
        let cores = process::allowed_cores();
        // Where they may run on all cores of the host, no binding is at fault.
        if cores < process::host_cores() {
            log.define(&[Definition::TeamPlacement(TeamPlacement {
                team: threads,
                cores,
                ..TeamPlacement::default()
            })]);
        }
    }
    for (id, pool) in (0..).zip(&POOLS) {
        let (started, ended_cpu_ns) = (pool.started.load(Relaxed), pool.ended_cpu_ns.load(Relaxed));
        if pool.written.swap(started + ended_cpu_ns, Relaxed) != started + ended_cpu_ns {
            // As if the routine's first instruction had made a call.
            let routine = log.call_path(&[PathCall::To(pool.routine.load(Relaxed) + 1)], true).unwrap_or(NONE);
            log.define(&[Definition::ThreadPool(ThreadPool {
                id,
                routine,
                threads: pool.most.load(Relaxed),
                started,
                ended_cpu_ns,
            })]);
        }
    }
}
