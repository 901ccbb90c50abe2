//! The functions of OpenMP's run-time libraries.
//!
//! A call goes where it would go without us: to the next definition that all can see; else, for an extension that was loaded with RTLD_LOCAL,
//! to a definition in the libraries that the calling object depends on, whatever their names are. Python's packages bring libraries of their own, so
//! there may be several in one process, and threads of one must never meet at the barrier of another.

use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::harmless::enter;
use crate::harmless::signals::run_critical_section;
use crate::system::by_caller::AddressesByCaller;
use crate::system::foreign;
use crate::system::objects;

/// A function of a run-time library.
#[repr(C)]
pub struct RuntimeFunction {
    /// Its address if all objects can see it; 0: that is not known. First, for an entry that reads it.
    visible: AtomicUsize,
    /// Its name, which ends with a zero.
    name: &'static str,
    /// Its addresses for objects that were loaded with RTLD_LOCAL.
    local: AddressesByCaller<1>,
}

pub static GET_THREAD_NUM: RuntimeFunction = RuntimeFunction::named("omp_get_thread_num\0");
pub static GET_MAX_THREADS: RuntimeFunction = RuntimeFunction::named("omp_get_max_threads\0");
pub static GET_LEVEL: RuntimeFunction = RuntimeFunction::named("omp_get_level\0");
pub static GET_TEAM_SIZE: RuntimeFunction = RuntimeFunction::named("omp_get_team_size\0");

impl RuntimeFunction {
    /// The function of a name that ends with a zero.
    pub const fn named(name: &'static str) -> Self {
        RuntimeFunction { visible: AtomicUsize::new(0), name, local: AddressesByCaller::new() }
    }

    /// The address of the function that a call from `caller` is meant for; 0: there is none.
    #[inline(always)]
    pub fn address(&self, caller: usize) -> usize {
        match self.visible.load(Relaxed) {
            0 => self.local_address(caller),
            address => address,
        }
    }

    #[cold]
    #[inline(never)]
    fn local_address(&self, caller: usize) -> usize {
        match self.local.find(0, caller) {
            0 => enter::enter_quietly(|| run_critical_section(|| self.look_up(caller))),
            known => known,
        }
    }

    fn look_up(&self, caller: usize) -> usize {
        let name = CStr::from_bytes_with_nul(self.name.as_bytes()).unwrap_or_default();
        let visible = foreign::next_definition(name);
        if visible != 0 {
            self.visible.store(visible, Relaxed);
            return visible;
        }
        let seen = objects::look_at(caller, |object| (object.path().to_owned(), object.bounds()));
        let Some((path, Some(bounds))) = seen else { return 0 };
        let found = find_in(&path, name);
        if found != 0 {
            self.local.keep(0, bounds, found);
        }
        found
    }
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
