//! Functions and variables of other objects, found by name by the dynamic loader.

use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The function of a name that this library defines, too, in an object loaded after it: the one that the program would call without the recorder.
#[repr(C)]
pub struct NextFunction {
    /// 0: it has not been found. First, for an entry that reads it.
    address: AtomicUsize,
    pub name: &'static CStr,
}

impl NextFunction {
    /// The function of a name, not looked up yet.
    pub const fn named(name: &'static CStr) -> Self {
        NextFunction { address: AtomicUsize::new(0), name }
    }

    /// Returns its address; 0: there is none. The first call looks it up.
    pub fn address(&self) -> usize {
        match self.known_address() {
            0 => {
                let found = next_definition(self.name);
                self.address.store(found, Relaxed);
                found
            }
            known => known,
        }
    }

    /// Returns its address if it has been found; else 0. May be called where the loader may not be asked.
    #[inline(always)]
    pub fn known_address(&self) -> usize {
        self.address.load(Relaxed)
    }
}

/// Returns the address of a name in an object loaded after this library, or 0.
pub fn next_definition(name: &CStr) -> usize {
    // SAFETY: a look-up by name.
    unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) as usize }
}

/// Returns the address of a name as the program sees it, or 0.
pub fn visible_definition(name: &CStr) -> usize {
    // SAFETY: a look-up by name.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) as usize }
}

/// Returns the address of a name as a loaded object sees it, or 0. Its code is running, so that it stays loaded.
pub fn definition_seen_by(path: &CStr, name: &CStr) -> usize {
    let handle = hold_object(path);
    if handle.is_null() {
        return 0;
    }
    // SAFETY: a look-up by name. The handle is closed by the C library's own function: nothing is unloaded.
    unsafe {
        let found = libc::dlsym(handle, name.as_ptr()) as usize;
        let close = next_definition(c"dlclose");
        if close != 0 {
            let close: unsafe extern "C" fn(*mut c_void) -> c_int = std::mem::transmute(close);
            close(handle);
        }
        found
    }
}

/// Returns a handle to a loaded object, or null. While the handle is open the object stays.
pub fn hold_object(path: &CStr) -> *mut c_void {
    // SAFETY: NOLOAD only gives a handle to what is loaded.
    unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) }
}
