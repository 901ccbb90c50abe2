//! `pthread_create`: a new thread is sampled from its first instruction on, however soon it ends, and counts in its pool.
//!
//! ```text
//!   pthread_create (ours) --> the C library's, with `start` and a StartingThread in place of the program's function and argument
//!     new thread: start --> begin: counts the thread, has it sampled, gives the program's function and argument
//!                       jumps to the function: no frame of ours is on the thread's stack
//! ```

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;

use crate::harmless::enter;
use crate::harmless::signals::run_critical_section;
use crate::machine::processor::begin_thread;
use crate::machine::system::loader::foreign::NextFunction;
use crate::sampling;
use crate::sampling::pools::{self, PoolCounts};
use crate::state::stage::{RecordingState, recording_state};

static NEXT: NextFunction = NextFunction::named(c"pthread_create");

/// Minimum bytes of a thread's stack. Threads with less are found later.
const MIN_STACK: usize = 64 << 10;

struct StartingThread {
    start: ThreadStart,
    pool: Option<&'static PoolCounts>,
}

/// The program's function and its argument, which a function returns in two registers.
#[repr(C)]
struct ThreadStart {
    function: usize,
    argument: *mut c_void,
}

#[unsafe(export_name = "pthread_create")]
unsafe extern "C-unwind" fn pthread_create(
    thread: *mut c_void,
    attributes: *const libc::pthread_attr_t,
    function: usize,
    argument: *mut c_void,
) -> c_int {
    let next = NEXT.address();
    if next == 0 {
        return libc::ENOSYS;
    }
    // SAFETY: the function of this name; the program's own arguments, or a thread of ours that goes on with them.
    unsafe {
        type Create =
            unsafe extern "C-unwind" fn(*mut c_void, *const libc::pthread_attr_t, usize, *mut c_void) -> c_int;
        let next = std::mem::transmute::<usize, Create>(next);
        if recording_state() == RecordingState::Done {
            return next(thread, attributes, function, argument);
        }
        let pool = pools::find_pool(function, argument);
        // Threads created before MPI_Init may be sampled later.
        let is_wanted = sampling::is_on() || recording_state() == RecordingState::Idle;
        let has_room = is_wanted && MIN_STACK <= stack_bytes(attributes);
        // From the program's heap, as the C library does itself: the thread may not wait for the recorder's heap here.
        let new = if has_room { libc::malloc(size_of::<StartingThread>()).cast() } else { std::ptr::null_mut() };
        let new: *mut StartingThread = new;
        if new.is_null() {
            return next(thread, attributes, function, argument);
        }
        new.write(StartingThread { start: ThreadStart { function, argument }, pool });
        let result = next(thread, attributes, begin_thread!(enter_new_thread) as *const () as usize, new.cast());
        if result != 0 {
            libc::free(new.cast());
        }
        result
    }
}

unsafe fn stack_bytes(attributes: *const libc::pthread_attr_t) -> usize {
    let mut bytes = MaybeUninit::new(usize::MAX);
    // SAFETY: the program's attributes.
    unsafe {
        if !attributes.is_null() {
            libc::pthread_attr_getstacksize(attributes, bytes.as_mut_ptr());
        }
        bytes.assume_init()
    }
}

/// Counts and samples a new thread from now on. Returns the program's function and its argument.
unsafe extern "C" fn enter_new_thread(new: *mut StartingThread) -> ThreadStart {
    // SAFETY: made above for this thread alone; the thread's own state.
    unsafe {
        let StartingThread { start, pool } = new.read();
        libc::free(new.cast());
        let id = libc::gettid();
        if let Some(pool) = pool {
            pool.enter(id);
        }
        if sampling::is_on() {
            enter::enter_recording(|| run_critical_section(|| sampling::thread_begins(id)));
        }
        start
    }
}
