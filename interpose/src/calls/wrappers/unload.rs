//! `dlclose`: afterwards other code may lie at the addresses of known call paths.

use std::ffi::{c_int, c_void};

use crate::forward::fortran_names;
use crate::harmless::{enter, signals};
use crate::machine::system::loader::foreign::NextFunction;
use crate::machine::system::loader::objects;
use crate::recording::registry;
use crate::sampling;
use crate::state::thread;

static NEXT: NextFunction = NextFunction::named(c"dlclose");

/// Unloads as the C library does, then forgets the call paths found so far.
#[unsafe(export_name = "dlclose")]
unsafe extern "C-unwind" fn dlclose(handle: *mut c_void) -> c_int {
    let next = NEXT.address();
    if next == 0 {
        // No function could have loaded it.
        return -1;
    }
    let (thread, mut has_begun) = (thread::current_thread(), false);
    // Attributes the samples so far to the objects that are loaded now.
    if sampling::is_on() && thread.busy.get() == 0 && !signals::in_critical(thread) {
        enter::enter_recording(|| has_begun = sampling::begin_unloading());
    }
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
