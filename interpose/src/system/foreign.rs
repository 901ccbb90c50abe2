//! Functions and variables of other objects, found by name by the dynamic loader.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The function of a name that this library defines, too, in an object loaded after it: the one that the program would call without the recorder.
pub struct NextFunction {
    name: &'static CStr,
    /// 0: it has not been found.
    address: AtomicUsize,
}

impl NextFunction {
    /// The function of a name, not looked up yet.
    pub const fn named(name: &'static CStr) -> Self {
        NextFunction { name, address: AtomicUsize::new(0) }
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
