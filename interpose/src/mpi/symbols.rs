//! Finding functions and variables of the MPI library by name.
//!
//! Undefined symbols would break every program that inherits LD_PRELOAD, so all are looked up at run time.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_void};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::system::dynamic_symbols::defined;
use crate::system::objects;

/// Address of a symbol that this library does not define itself, or 0.
pub fn symbol(name: &CStr) -> usize {
    // SAFETY: a look-up by name.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize;
    if address != 0 || is_visible() { address } else { in_local_libraries(name) }
}

/// The function called by the wrapper `own`, whose profiling name is `profiling`; 0 where there is none.
///
/// That is the next function of the same name: another tool's, which wraps it and calls the profiling name, or MPI's own. Fortran's may
/// have no other: mpi_f08's has twins under names that differ by library, and Intel's for 8-byte integers has none that converts them.
pub fn find(profiling: &CStr, own: &CStr) -> usize {
    match next_symbol(own) {
        0 => match symbol(profiling) {
            // C's may be visible to all while a library in Fortran was loaded RTLD_LOCAL, with that of Fortran's functions.
            0 if !is_of_c(own) => in_local_libraries(own),
            found => found,
        },
        found => found,
    }
}

/// Returns whether a function is one of C: those of Fortran are all in one case.
fn is_of_c(own: &CStr) -> bool {
    own.to_bytes().starts_with(b"MPI_") && own.to_bytes().iter().any(u8::is_ascii_lowercase)
}

/// Address of a symbol that this library defines, too, in a library loaded after it, or 0.
fn next_symbol(name: &CStr) -> usize {
    // SAFETY: a look-up by name.
    let address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) } as usize;
    if address != 0 || is_visible() { address } else { in_local_libraries(name) }
}

/// Returns whether MPI is visible to all: then what is missing there is missing. A walk for each missing function takes milliseconds.
fn is_visible() -> bool {
    /// Set once it was: a program does not take MPI away. Asking the loader again for each missing function would take as long as all else.
    static IS_VISIBLE: AtomicBool = AtomicBool::new(false);
    if IS_VISIBLE.load(Relaxed) {
        return true;
    }
    // SAFETY: a look-up by name.
    let is_visible = !unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"PMPI_Init".as_ptr()) }.is_null();
    IS_VISIBLE.store(is_visible, Relaxed);
    is_visible
}

/// Returns whether an MPI library is loaded. Allocates nothing.
pub fn is_mpi_loaded() -> bool {
    let mut is_loaded = false;
    objects::visit(None, |object| is_loaded |= is_named_as_mpi(object.path()));
    is_loaded
}

/// The names of functions that the MPI libraries in the process define, in C and Fortran. To ask the loader for each of two thousand takes 50 ms where
/// half of them are not there.
pub fn defined_by_mpi() -> BTreeSet<&'static CStr> {
    let mut names = BTreeSet::new();
    objects::visit(None, |object| {
        if is_named_as_mpi(object.path()) {
            // SAFETY: MPI libraries are not unloaded.
            names.extend(unsafe { defined(object) }.map(|(_, name)| name).filter(|name| is_of_mpi(name)));
        }
    });
    names
}

/// Returns whether a library's file has "mpi" in its name, as all MPI libraries have.
pub fn is_named_as_mpi(path: &CStr) -> bool {
    let file = path.to_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    file.windows(3).any(|part| part == b"mpi")
}

/// Returns whether a name begins as those of MPI's functions do, in any language.
pub fn is_of_mpi(name: &CStr) -> bool {
    name.to_bytes().get(..4).is_some_and(|first| first.eq_ignore_ascii_case(b"mpi_"))
}

/// Looks through libraries that were loaded RTLD_LOCAL (by a plugin loader, by Python), which global look-ups do not see.
fn in_local_libraries(name: &CStr) -> usize {
    let mut paths: Vec<CString> = Vec::new();
    // Opened after the walk, which holds a lock.
    objects::visit(None, |object| {
        if is_named_as_mpi(object.path()) {
            paths.push(object.path().to_owned());
        }
    });
    for path in paths {
        // SAFETY: NOLOAD only gives a handle to what is loaded; the handle is kept open, so the library stays.
        unsafe {
            let handle = libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if !handle.is_null() {
                let address = libc::dlsym(handle, name.as_ptr()) as usize;
                if address != 0 && !is_ours(address) {
                    return address;
                }
            }
        }
    }
    0
}

/// Returns whether `address` lies in this library.
fn is_ours(address: usize) -> bool {
    base_of_object(address) == base_of_object(is_ours as *const () as usize)
}

/// The base of the loaded object at `address`; 0 if there is none.
fn base_of_object(address: usize) -> usize {
    // SAFETY: dladdr fills the structure or returns 0.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address as *const c_void, &mut info) == 0 { 0 } else { info.dli_fbase as usize }
    }
}
