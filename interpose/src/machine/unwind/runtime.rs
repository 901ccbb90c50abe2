//! The unwinder of the C++ run-time, in the libraries that Rust's own panics need.
//!
//! It is slower than [`super::walk_stack`] and does not report the words that it has read.

use std::ffi::{c_int, c_void};

pub enum UnwinderContext {}

// From unwind.h (Itanium C++ ABI, exception handling, §1.3).
unsafe extern "C" {
    /// Calls `step` for each frame, the innermost first, with `data`, until it gives something other than 0.
    pub fn _Unwind_Backtrace(
        step: unsafe extern "C" fn(*mut UnwinderContext, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    /// The address at which a frame's code continues.
    pub fn _Unwind_GetIP(context: *mut UnwinderContext) -> usize;
    /// A frame's canonical frame address.
    pub fn _Unwind_GetCFA(context: *mut UnwinderContext) -> usize;
}
