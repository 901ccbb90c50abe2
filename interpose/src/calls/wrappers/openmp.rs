//! The functions of OpenMP's run-time library that a program calls: regions, waits and tasks (see [`crate::sources::openmp`]).
//!
//! Other functions are left out: those that hand out the iterations of a loop, because they are called too often; `GOMP_single_start` and
//! `GOMP_taskyield`, which return at once; `GOMP_teams_reg`, which runs the teams one after the other on the calling thread, so that their
//! regions are ordinary ones; and `GOMP_parallel_start`, with which GCC before 4.9 starts regions.
//!
//! `tests/programs/threads/every_start.c` and `every_wait.c` call each of the functions here.

use crate::machine::processor::{entry, launch_entry};
use crate::machine::system::loader::own_code::openmp_section;
use crate::machine::word::Word;
use crate::sources::TimeSource;
use crate::sources::openmp::runtime::RuntimeFunction;
use crate::sources::openmp::tasks::{self, TaskCall};
use crate::sources::openmp::team::{self, Outlined};
use crate::sources::openmp::waits::{WaitKind, wait_for_mutex, wait_if, wait_in_region};
use crate::sources::openmp::{OpenmpRegions, RegionStart};
use crate::sources::openmp::{ompt, reporting};
use crate::state::parallel::AwaitedMutex;
use crate::state::{entered, thread};
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

/// A function of ours in place of the run-time library's. The call was made at `caller`, and is meant for `next` at `address`. If there is none it gives
/// `missing`.
macro_rules! in_place_of {
    ($name:ident, ($($argument:ident),*), missing: $missing:expr, |$caller:ident, $address:ident, $next:ident| $call:expr) => {
        const _: () = {
            static NEXT: RuntimeFunction = RuntimeFunction::named(concat!(stringify!($name), "\0"));
            unsafe extern "C-unwind" fn body($($argument: Word),*) -> Word {
                let thread = thread::current_thread();
                let $caller = thread.caller.get();
                let $address = NEXT.address($caller);
                entered::leave_entry_state(thread);
                // SAFETY: the program's own arguments, or a task of ours that runs the program's, go to the function that it meant to call.
                unsafe {
                    if $address == 0 {
                        return $missing;
                    }
                    let $next: unsafe extern "C-unwind" fn($(word!($argument)),*) -> Word = std::mem::transmute($address);
                    $call
                }
            }
            entry!(stringify!($name), body);
        };
    };
}

/// Functions that start a region: their arguments are the region's function, its data, the number of threads, and the others.
macro_rules! launchers {
    ($($name:ident($($argument:ident),*);)*) => { $(const _: () = {
        static NEXT: RuntimeFunction = RuntimeFunction::named(concat!(stringify!($name), "\0"));
        #[unsafe(link_section = openmp_section!())]
        unsafe extern "C-unwind" fn body(function: Word, data: Word, threads: Word, $($argument: Word),*) -> Word {
            let thread = thread::current_thread();
            let address = NEXT.address(thread.caller.get());
            // SAFETY: the program's own arguments go to the function that it meant to call, which gets a function of ours and its
            // argument in place of the region's. The frame is there until it returns.
            unsafe {
                let frame = match address {
                    0 => None,
                    address if reporting::is_owned(address) => {
                        ompt::note_site(thread, function);
                        None
                    }
                    _ => OpenmpRegions::enter(thread, RegionStart { function, data, threads }),
                };
                entered::leave_entry_state(thread);
                if address == 0 {
                    return run_alone(function, data);
                }
                let next: unsafe extern "C-unwind" fn(Word, Word, Word, $(word!($argument)),*) -> Word =
                    std::mem::transmute(address);
                let Some(mut frame) = frame else { return next(function, data, threads, $($argument),*) };
                let member = team::member as *const () as Word;
                let result = next(member, &raw mut frame as Word, threads, $($argument),*);
                OpenmpRegions::leave(thread, &frame);
                result
            }
        }
        entry!(stringify!($name), body);
    };)* };
}

/// Makes a call in which the library itself reports that the thread waits.
#[inline(always)]
fn wait_reported(_: WaitKind, call: impl FnOnce() -> Word) -> Word {
    call()
}

/// Functions in which a thread waits: how the call is made if a library reports by itself, and the arguments. Functions that wait for
/// iterations of nested loops (`doacross`) have an argument for each loop: further words on the stack are the caller's, and are not looked
/// at.
macro_rules! waiting {
    ($wait_of_owned:path, $arguments:tt: $($name:ident $kind:ident,)*) => {
        $(waiting!(@one $wait_of_owned, $arguments, $name, $kind);)*
    };
    (@one $wait_of_owned:path, ($($argument:ident),*), $name:ident, $kind:ident) => {
        in_place_of!($name, ($($argument),*), missing: 0, |caller, address, next| match reporting::is_owned(address) {
            true => $wait_of_owned(WaitKind::$kind, || next($($argument),*)),
            false => wait_in_region(WaitKind::$kind, || next($($argument),*)),
        });
    };
}

/// Functions that acquire a mutex, at the address that is an argument, or one without an address. If the library reports by itself, the
/// mutex is noted first: the report has neither the program's address nor its call.
macro_rules! acquiring {
    ($($name:ident $kind:ident |$argument:ident, $other:ident| $address:expr;)*) => {
        $(in_place_of!($name, ($argument, b, $other, d, e, f), missing: 0, |caller, address, next| {
            let mutex = AwaitedMutex { kind: MutexKind::$kind, address: $address, caller };
            if !reporting::is_owned(address) {
                return wait_for_mutex(mutex, || next($argument, b, $other, d, e, f));
            }
            thread::current_thread().team.mutex.set(mutex);
            let result = next($argument, b, $other, d, e, f);
            thread::current_thread().team.mutex.set(AwaitedMutex::NONE);
            result
        });)*
    };
}

/// Functions that make a task, or the tasks of a loop: the arguments after those that describe a task, when the task may be wrapped, and
/// when the thread may wait for tasks.
macro_rules! task_makers {
    ($($name:ident($($argument:ident),*), of_loop: $of_loop:literal, wraps: $wraps:expr, waits: $waits:expr;)*) => {
        $(in_place_of!(
            $name, (function, data, copier, bytes, alignment, $($argument),*),
            missing: if $of_loop { 0 } else { run_alone(function, data) },
            |caller, address, next| {
                let call = TaskCall { function, data, copier, bytes, alignment, bounds: $of_loop };
                let task = if $wraps && !reporting::is_owned(address) { tasks::wrap_task(call) } else { None };
                let Some(task) = task else { return next(function, data, copier, bytes, alignment, $($argument),*) };
                let (run, copy) = (tasks::run as *const () as Word, tasks::copy as *const () as Word);
                let (source, bytes, alignment) = (&raw const task.source as Word, task.bytes, task.alignment);
                // The library has copied its arguments when it returns.
                wait_if($waits, WaitKind::Tasks, || next(run, source, copy, bytes, alignment, $($argument),*))
            }
        );)*
    };
}

launchers! {
    GOMP_parallel(flags);
    GOMP_parallel_reductions(flags);
    GOMP_parallel_sections(count, flags);
    GOMP_parallel_loop_static(from, to, by, chunk, flags);
    GOMP_parallel_loop_dynamic(from, to, by, chunk, flags);
    GOMP_parallel_loop_guided(from, to, by, chunk, flags);
    GOMP_parallel_loop_runtime(from, to, by, flags);
    GOMP_parallel_loop_nonmonotonic_dynamic(from, to, by, chunk, flags);
    GOMP_parallel_loop_nonmonotonic_guided(from, to, by, chunk, flags);
    GOMP_parallel_loop_nonmonotonic_runtime(from, to, by, flags);
    GOMP_parallel_loop_maybe_nonmonotonic_runtime(from, to, by, flags);
}

waiting! { wait_reported, (a, b, c, d, e, f):
    GOMP_barrier Barrier,
    GOMP_barrier_cancel Barrier,
    GOMP_loop_end Barrier,
    GOMP_loop_end_cancel Barrier,
    GOMP_sections_end Barrier,
    GOMP_sections_end_cancel Barrier,
    GOMP_single_copy_start Barrier,
    GOMP_workshare_task_reduction_unregister Barrier,
    GOMP_ordered_start Ordered,
    GOMP_taskwait Tasks,
    GOMP_taskwait_depend Tasks,
    GOMP_taskgroup_end Tasks,
}
waiting! { ompt::wait_unreported, (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p):
    GOMP_doacross_wait Ordered,
    GOMP_doacross_ull_wait Ordered,
}
waiting! { ompt::wait_unreported, (a, b, c): __kmpc_doacross_wait Ordered, }
waiting! { ompt::wait_unreported, (a, b, c, d, e, f): __kmpc_omp_wait_deps Tasks, }
waiting! { ompt::wait_unreported, (a, b, c, d, e, f, g): __kmpc_omp_taskwait_deps_51 Tasks, }

acquiring! {
    GOMP_critical_start Critical |a, c| 0;
    GOMP_critical_name_start Critical |a, c| a;
    GOMP_atomic_start Atomic |a, c| 0;
    omp_set_lock Lock |a, c| a;
    omp_set_nest_lock Lock |a, c| a;
    omp_set_lock_ Lock |a, c| a;
    omp_set_nest_lock_ Lock |a, c| a;
    __kmpc_critical Critical |a, c| c;
    __kmpc_critical_with_hint Critical |a, c| c;
}

/// The flag of a task that depends on others: a task that runs at once may have to wait for them.
const DEPENDS: Word = 8;

// A task that ends by an event (`detach`) keeps the address of its arguments.
task_makers! {
    GOMP_task(condition, flags, depend, priority, detach), of_loop: false, wraps: detach == 0, waits: flags & DEPENDS != 0;
    GOMP_taskloop(flags, count, priority, from, to, by), of_loop: true, wraps: true, waits: true;
    GOMP_taskloop_ull(flags, count, priority, from, to, by), of_loop: true, wraps: true, waits: true;
}

/// The function with which LLVM's and Intel's compilers start regions. Its arguments are a location, the number of the region's arguments,
/// the region's function, and those arguments.
mod fork_call {
    use super::{RuntimeFunction, launch_entry};
    use crate::state::thread::LAUNCH_OFFSET;

    static NEXT: RuntimeFunction = RuntimeFunction::named("__kmpc_fork_call\0");

    unsafe extern "C" fn resolve(caller: usize) -> usize {
        NEXT.address(caller)
    }

    launch_entry!("__kmpc_fork_call", LAUNCH_OFFSET, NEXT, resolve);
}
