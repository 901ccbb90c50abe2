//! `dlclose`: from then on other code may lie where call paths have been found.

use std::ffi::{c_int, c_void};

use crate::forward::fortran_names;
use crate::harmless::{enter, signals};
use crate::recording::registry;
use crate::sampling;
use crate::state::thread;
use crate::system::foreign::NextFunction;
use crate::system::objects;

/// The C library's.
static NEXT: NextFunction = NextFunction::named(c"dlclose");

/// Unloads as the C library does, then forgets the call paths found so far.
#[unsafe(export_name = "dlclose")]
unsafe extern "C-unwind" fn dlclose(handle: *mut c_void) -> c_int {
    let next = NEXT.address();
    if next == 0 {
        // There is nothing that could have loaded it.
        return -1;
    }
    let has_begun = before();
    // SAFETY: the function of this name; the program's own argument.
    let result = unsafe {
        let next: unsafe extern "C-unwind" fn(*mut c_void) -> c_int = std::mem::transmute(next);
        next(handle)
    };
    if has_begun {
        objects::end_unload();
    }
    objects::note_unload();
    fortran_names::forget_unloaded();
    registry::forget_call_paths();
    result
}

/// Attributes the samples so far to the objects that are loaded now. Returns false if nothing is sampled, or if a handler has
/// interrupted the recorder.
fn before() -> bool {
    let thread = thread::current();
    // SAFETY: the calling thread's state.
    unsafe {
        let mut has_begun = false;
        if sampling::is_on() && (*thread).busy == 0 && !signals::in_critical(thread) {
            enter::recording(thread, || has_begun = sampling::unloading());
        }
        has_begun
    }
}
