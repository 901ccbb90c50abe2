//! The functions of OpenMP's run-time library that a program calls: regions, waits and tasks (see [`crate::openmp`]).
//!
//! Not here, because no thread waits in them: functions that hand out the iterations of a loop, which are called too often; `GOMP_single_start` and
//! `GOMP_taskyield`, which return at once; `GOMP_teams_reg`, which runs the teams one after the other on the calling thread: regions in them are regions
//! like others. The functions by which GCC before 4.9 starts regions (`GOMP_parallel_start`) are not here either.
//!
//! `tests/programs/threads/every_start.c` and `every_wait.c` call each of the functions here.

use crate::openmp::runtime::{RuntimeFunction, next};
use crate::openmp::tasks::{self, TaskCall};
use crate::openmp::team::{self, Outlined};
use crate::openmp::waits::{WaitKind, wait, wait_for_mutex, wait_if};
use crate::openmp::{ompt, reporting};
use crate::processor::{entry, launch_entry};
use crate::sources::TimeSource;
use crate::sources::openmp::{OpenmpRegions, RegionStart};
use crate::state::parallel::AwaitedMutex;
use crate::state::{entered, thread};
use crate::system::own_code::openmp_section;
use crate::word::Word;
use lbprof_collector::parallel::MutexKind;

/// Runs a region's function on the calling thread alone: there is no run-time library.
///
/// # Safety
/// As the program passes them.
#[cold]
unsafe fn run_alone(function: Word, data: Word) -> Word {
    // SAFETY: the caller's promise.
    unsafe { std::mem::transmute::<Word, Outlined>(function)(data) };
    1
}

/// The address of the function that the call being entered is meant for, which is all that is used of what its entry has noted; 0: there is none.
///
/// # Safety
/// The thread has been entered by a stub of the wrappers.
#[inline]
unsafe fn meant_by_call(function: RuntimeFunction) -> Word {
    let thread = thread::current();
    // SAFETY: the thread's own state.
    unsafe {
        let address = next(function, (*thread).caller);
        entered::leave(thread);
        address
    }
}

/// A function that starts a region: its arguments are the region's function, its data, the number of threads, and others.
macro_rules! launcher {
    ($name:ident, $string:literal, ($($argument:ident),*)) => {
        const _: () = {
            #[unsafe(link_section = openmp_section!())]
            unsafe extern "C-unwind" fn body(function: Word, data: Word, threads: Word, $($argument: Word),*) -> Word {
                // SAFETY: the program's own arguments go to the function that it meant to call, which gets a function of ours and its argument in
                // place of the region's. The frame is there until it returns.
                unsafe {
                    let thread = thread::current();
                    let address = next(RuntimeFunction::$name, (*thread).caller);
                    let frame = match address {
                        0 => None,
                        address if reporting::is_owned(address) => {
                            ompt::note_site(thread, function);
                            None
                        }
                        _ => OpenmpRegions::enter(thread, RegionStart { function, data, threads }),
                    };
                    entered::leave(thread);
                    if address == 0 {
                        return run_alone(function, data);
                    }
                    let next: unsafe extern "C-unwind" fn(Word, Word, Word, $(launcher!(@word $argument)),*) -> Word =
                        std::mem::transmute(address);
                    match frame {
                        None => next(function, data, threads, $($argument),*),
                        Some(mut frame) => {
                            let member = team::member as *const () as Word;
                            let result = next(member, &raw mut frame as Word, threads, $($argument),*);
                            OpenmpRegions::leave(thread, &frame);
                            result
                        }
                    }
                }
            }
            entry!($string, body);
        };
    };
    (@word $argument:ident) => { Word };
}

/// Makes a call in which the library itself reports that the thread waits.
#[inline(always)]
fn wait_reported(_: WaitKind, call: impl FnOnce() -> Word) -> Word {
    call()
}

/// A function in which a thread waits: how its call is made where a library reports by itself ([`wait_reported`] if not given), and its arguments, which else
/// are in registers. Functions that wait for iterations of nested loops (`doacross`) have an argument per loop: what the stack has beyond those is the
/// caller's, and is not looked at.
macro_rules! waiting {
    ($name:ident, $string:literal, $kind:ident) => {
        waiting!($name, $string, $kind, wait_reported, (a, b, c, d, e, f));
    };
    ($name:ident, $string:literal, $kind:ident, $wait_of_owned:path, ($($argument:ident),*)) => {
        const _: () = {
            unsafe extern "C-unwind" fn body($($argument: Word),*) -> Word {
                // SAFETY: the program's own arguments go to the function that it meant to call.
                unsafe {
                    let address = meant_by_call(RuntimeFunction::$name);
                    if address == 0 {
                        return 0;
                    }
                    let next: unsafe extern "C-unwind" fn($(launcher!(@word $argument)),*) -> Word =
                        std::mem::transmute(address);
                    match reporting::is_owned(address) {
                        true => $wait_of_owned(WaitKind::$kind, || next($($argument),*)),
                        false => wait(WaitKind::$kind, || next($($argument),*)),
                    }
                }
            }
            entry!($string, body);
        };
    };
}

/// A function that acquires a mutex, at the address that is its first argument, or one without an address. Where the library reports by itself, what
/// it waits for is noted first: its report has neither the program's address nor its call.
macro_rules! acquiring {
    ($name:ident, $string:literal, $kind:ident, |$argument:ident, $other:ident| $address:expr) => {
        const _: () = {
            unsafe extern "C-unwind" fn body(
                $argument: Word,
                b: Word,
                $other: Word,
                d: Word,
                e: Word,
                f: Word,
            ) -> Word {
                // SAFETY: the program's own arguments go to the function that it meant to call.
                unsafe {
                    let caller = (*thread::current()).caller;
                    let address = meant_by_call(RuntimeFunction::$name);
                    if address == 0 {
                        return 0;
                    }
                    let next: unsafe extern "C-unwind" fn(Word, Word, Word, Word, Word, Word) -> Word =
                        std::mem::transmute(address);
                    let mutex = AwaitedMutex { kind: MutexKind::$kind, address: $address, caller };
                    if !reporting::is_owned(address) {
                        return wait_for_mutex(mutex, || next($argument, b, $other, d, e, f));
                    }
                    (*thread::current()).team.mutex = mutex;
                    let result = next($argument, b, $other, d, e, f);
                    (*thread::current()).team.mutex = AwaitedMutex::NONE;
                    result
                }
            }
            entry!($string, body);
        };
    };
}

launcher!(GOMP_parallel, "GOMP_parallel", (flags));
launcher!(GOMP_parallel_reductions, "GOMP_parallel_reductions", (flags));
launcher!(GOMP_parallel_sections, "GOMP_parallel_sections", (count, flags));
launcher!(GOMP_parallel_loop_static, "GOMP_parallel_loop_static", (from, to, by, chunk, flags));
launcher!(GOMP_parallel_loop_dynamic, "GOMP_parallel_loop_dynamic", (from, to, by, chunk, flags));
launcher!(GOMP_parallel_loop_guided, "GOMP_parallel_loop_guided", (from, to, by, chunk, flags));
launcher!(GOMP_parallel_loop_runtime, "GOMP_parallel_loop_runtime", (from, to, by, flags));
launcher!(
    GOMP_parallel_loop_nonmonotonic_dynamic,
    "GOMP_parallel_loop_nonmonotonic_dynamic",
    (from, to, by, chunk, flags)
);
launcher!(
    GOMP_parallel_loop_nonmonotonic_guided,
    "GOMP_parallel_loop_nonmonotonic_guided",
    (from, to, by, chunk, flags)
);
launcher!(GOMP_parallel_loop_nonmonotonic_runtime, "GOMP_parallel_loop_nonmonotonic_runtime", (from, to, by, flags));
launcher!(
    GOMP_parallel_loop_maybe_nonmonotonic_runtime,
    "GOMP_parallel_loop_maybe_nonmonotonic_runtime",
    (from, to, by, flags)
);

waiting!(GOMP_barrier, "GOMP_barrier", Barrier);
waiting!(GOMP_barrier_cancel, "GOMP_barrier_cancel", Barrier);
waiting!(GOMP_loop_end, "GOMP_loop_end", Barrier);
waiting!(GOMP_loop_end_cancel, "GOMP_loop_end_cancel", Barrier);
waiting!(GOMP_sections_end, "GOMP_sections_end", Barrier);
waiting!(GOMP_sections_end_cancel, "GOMP_sections_end_cancel", Barrier);
waiting!(GOMP_single_copy_start, "GOMP_single_copy_start", Barrier);
waiting!(GOMP_workshare_task_reduction_unregister, "GOMP_workshare_task_reduction_unregister", Barrier);
acquiring!(GOMP_critical_start, "GOMP_critical_start", Critical, |a, c| 0);
acquiring!(GOMP_critical_name_start, "GOMP_critical_name_start", Critical, |a, c| a);
acquiring!(GOMP_atomic_start, "GOMP_atomic_start", Atomic, |a, c| 0);
acquiring!(omp_set_lock, "omp_set_lock", Lock, |a, c| a);
acquiring!(omp_set_nest_lock, "omp_set_nest_lock", Lock, |a, c| a);
acquiring!(omp_set_lock_, "omp_set_lock_", Lock, |a, c| a);
acquiring!(omp_set_nest_lock_, "omp_set_nest_lock_", Lock, |a, c| a);
acquiring!(__kmpc_critical, "__kmpc_critical", Critical, |a, c| c);
acquiring!(__kmpc_critical_with_hint, "__kmpc_critical_with_hint", Critical, |a, c| c);
waiting!(GOMP_ordered_start, "GOMP_ordered_start", Ordered);
waiting!(
    GOMP_doacross_wait,
    "GOMP_doacross_wait",
    Ordered,
    ompt::wait,
    (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
);
waiting!(
    GOMP_doacross_ull_wait,
    "GOMP_doacross_ull_wait",
    Ordered,
    ompt::wait,
    (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
);
waiting!(__kmpc_doacross_wait, "__kmpc_doacross_wait", Ordered, ompt::wait, (a, b, c));
waiting!(__kmpc_omp_wait_deps, "__kmpc_omp_wait_deps", Tasks, ompt::wait, (a, b, c, d, e, f));
waiting!(__kmpc_omp_taskwait_deps_51, "__kmpc_omp_taskwait_deps_51", Tasks, ompt::wait, (a, b, c, d, e, f, g));
waiting!(GOMP_taskwait, "GOMP_taskwait", Tasks);
waiting!(GOMP_taskwait_depend, "GOMP_taskwait_depend", Tasks);
waiting!(GOMP_taskgroup_end, "GOMP_taskgroup_end", Tasks);

/// Function with which LLVM's and Intel's compilers start regions: location, number of the other arguments, the region's function, those
/// arguments.
mod fork_call {
    use super::{RuntimeFunction, launch_entry, next};
    use crate::openmp::runtime::VISIBLE;
    use crate::state::thread::LAUNCH_OFFSET;

    /// The function that a call from `caller` is meant for.
    unsafe extern "C" fn resolve(caller: usize) -> usize {
        next(RuntimeFunction::__kmpc_fork_call, caller)
    }

    const PLACE: usize = RuntimeFunction::__kmpc_fork_call as usize;
    launch_entry!("__kmpc_fork_call", LAUNCH_OFFSET, VISIBLE, PLACE, resolve);
}

const _: () = {
    unsafe extern "C-unwind" fn body(
        function: Word,
        data: Word,
        copier: Word,
        bytes: Word,
        alignment: Word,
        condition: Word,
        flags: Word,
        depend: Word,
        priority: Word,
        detach: Word,
    ) {
        type Next = unsafe extern "C-unwind" fn(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);
        /// The flag of a task that depends on others.
        const DEPENDS: Word = 8;
        // SAFETY: the program's own arguments go to the function that it meant to call, or those of a task that runs its own. The library has
        // copied what is passed to it when it returns.
        unsafe {
            let address = meant_by_call(RuntimeFunction::GOMP_task);
            if address == 0 {
                run_alone(function, data);
                return;
            }
            let next: Next = std::mem::transmute(address);
            let call = TaskCall { function, data, copier, bytes, alignment, bounds: false };
            // A task that ends by an event keeps the address of its arguments.
            let Some(task) = (if detach == 0 && !reporting::is_owned(address) { tasks::wrap(call) } else { None })
            else {
                next(function, data, copier, bytes, alignment, condition, flags, depend, priority, detach);
                return;
            };
            let (run, copy) = (tasks::run as *const () as Word, tasks::copy as *const () as Word);
            let (source, bytes, alignment) = (&raw const task.source as Word, task.bytes, task.alignment);
            // A task that runs at once may have to wait for those that it depends on.
            wait_if(flags & DEPENDS != 0, WaitKind::Tasks, || {
                next(run, source, copy, bytes, alignment, condition, flags, depend, priority, detach);
                0
            });
        }
    }
    entry!("GOMP_task", body);
};

/// A function that makes the tasks of a loop, and mostly waits for them.
macro_rules! taskloop {
    ($name:ident, $string:literal) => {
        const _: () = {
            unsafe extern "C-unwind" fn body(
                function: Word,
                data: Word,
                copier: Word,
                bytes: Word,
                alignment: Word,
                flags: Word,
                count: Word,
                priority: Word,
                from: Word,
                to: Word,
                by: Word,
            ) {
                type Next =
                    unsafe extern "C-unwind" fn(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);
                // SAFETY: as for GOMP_task.
                unsafe {
                    let address = meant_by_call(RuntimeFunction::$name);
                    if address == 0 {
                        return;
                    }
                    let next: Next = std::mem::transmute(address);
                    let call = TaskCall { function, data, copier, bytes, alignment, bounds: true };
                    let task = if reporting::is_owned(address) { None } else { tasks::wrap(call) };
                    let Some(task) = task else {
                        next(function, data, copier, bytes, alignment, flags, count, priority, from, to, by);
                        return;
                    };
                    let (run, copy) = (tasks::run as *const () as Word, tasks::copy as *const () as Word);
                    let (source, bytes, alignment) = (&raw const task.source as Word, task.bytes, task.alignment);
                    wait(WaitKind::Tasks, || {
                        next(run, source, copy, bytes, alignment, flags, count, priority, from, to, by);
                        0
                    });
                }
            }
            entry!($string, body);
        };
    };
}

taskloop!(GOMP_taskloop, "GOMP_taskloop");
taskloop!(GOMP_taskloop_ull, "GOMP_taskloop_ull");
