//! The functions of OpenMP's run-time libraries.
//!
//! A call goes where it would go without us: to the next definition that all can see; else, for an extension that was loaded with RTLD_LOCAL,
//! to a definition in the libraries that the calling object depends on, whatever their names are. Python's packages bring libraries of their own, so
//! there may be several in one process, and threads of one must never meet at the barrier of another.

use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::harmless::enter;
use crate::harmless::signals::run_critical_section;
use crate::state::thread;
use crate::system::by_caller::AddressesByCaller;
use crate::system::foreign;
use crate::system::objects;

macro_rules! functions {
    ($($name:ident,)*) => {
        /// A function of a run-time library.
        #[derive(Clone, Copy)]
        #[expect(non_camel_case_types, reason = "the names of the functions")]
        pub enum RuntimeFunction { $($name,)* }

        impl RuntimeFunction {
            const NAMES: &[&CStr] = &[$(
                // SAFETY: a literal that ends with the only NUL.
                unsafe { CStr::from_bytes_with_nul_unchecked(concat!(stringify!($name), "\0").as_bytes()) },
            )*];
        }
    };
}

functions! {
    omp_get_thread_num,
    omp_get_max_threads,
    omp_get_level,
    omp_get_team_size,
    GOMP_parallel,
    GOMP_parallel_reductions,
    GOMP_parallel_sections,
    GOMP_parallel_loop_static,
    GOMP_parallel_loop_dynamic,
    GOMP_parallel_loop_guided,
    GOMP_parallel_loop_runtime,
    GOMP_parallel_loop_nonmonotonic_dynamic,
    GOMP_parallel_loop_nonmonotonic_guided,
    GOMP_parallel_loop_nonmonotonic_runtime,
    GOMP_parallel_loop_maybe_nonmonotonic_runtime,
    GOMP_task,
    GOMP_taskloop,
    GOMP_taskloop_ull,
    GOMP_barrier,
    GOMP_barrier_cancel,
    GOMP_loop_end,
    GOMP_loop_end_cancel,
    GOMP_sections_end,
    GOMP_sections_end_cancel,
    GOMP_single_copy_start,
    GOMP_workshare_task_reduction_unregister,
    GOMP_critical_start,
    GOMP_critical_name_start,
    GOMP_atomic_start,
    GOMP_ordered_start,
    GOMP_doacross_wait,
    GOMP_doacross_ull_wait,
    GOMP_taskwait,
    GOMP_taskwait_depend,
    GOMP_taskgroup_end,
    omp_set_lock,
    omp_set_nest_lock,
    omp_set_lock_,
    omp_set_nest_lock_,
    __kmpc_fork_call,
    __kmpc_critical,
    __kmpc_critical_with_hint,
    __kmpc_doacross_wait,
    __kmpc_omp_wait_deps,
    __kmpc_omp_taskwait_deps_51,
}

const N_FUNCTIONS: usize = RuntimeFunction::NAMES.len();

/// Addresses by function; 0: not known yet.
pub type Addresses = [AtomicUsize; N_FUNCTIONS];

/// Functions that all objects can see.
pub static VISIBLE: Addresses = [const { AtomicUsize::new(0) }; N_FUNCTIONS];

/// Functions visible to objects that were loaded with RTLD_LOCAL.
static LOCAL: AddressesByCaller<N_FUNCTIONS> = AddressesByCaller::new();

/// The address of the function that a call from `caller` is meant for; 0: there is none.
#[inline(always)]
pub fn next_runtime_function(function: RuntimeFunction, caller: usize) -> usize {
    match VISIBLE.get(function as usize).map_or(0, |address| address.load(Relaxed)) {
        0 => next_local(function, caller),
        address => address,
    }
}

#[cold]
#[inline(never)]
fn next_local(function: RuntimeFunction, caller: usize) -> usize {
    let known = LOCAL.find(function as usize, caller);
    if known != 0 {
        return known;
    }
    // SAFETY: the calling thread's state.
    unsafe {
        enter::enter_quietly(thread::current_thread(), || {
            run_critical_section(|| find_runtime_function(function, caller))
        })
    }
}

fn find_runtime_function(function: RuntimeFunction, caller: usize) -> usize {
    let Some(name) = RuntimeFunction::NAMES.get(function as usize) else { return 0 };
    let visible = foreign::next_definition(name);
    if visible != 0 {
        if let Some(place) = VISIBLE.get(function as usize) {
            place.store(visible, Relaxed);
        }
        return visible;
    }
    let seen = objects::look_at(caller, |object| (object.path().to_owned(), object.bounds()));
    let Some((path, Some(bounds))) = seen else { return 0 };
    let found = find_in(&path, name);
    if found != 0 {
        LOCAL.keep(function as usize, bounds, found);
    }
    found
}

/// Returns the function of this name that an object sees, or 0.
fn find_in(path: &CStr, name: &CStr) -> usize {
    // SAFETY: look-ups by name; NOLOAD returns a handle to a loaded object, whose code is running. It is closed by the C library's own function:
    // nothing is unloaded.
    unsafe {
        let handle = libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if handle.is_null() {
            return 0;
        }
        let found = libc::dlsym(handle, name.as_ptr()) as usize;
        let close = foreign::next_definition(c"dlclose");
        if close != 0 {
            let close: unsafe extern "C" fn(*mut c_void) -> c_int = std::mem::transmute(close);
            close(handle);
        }
        found
    }
}
