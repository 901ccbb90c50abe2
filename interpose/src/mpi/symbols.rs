//! Finding functions and variables of the MPI library by name.
//!
//! Undefined symbols would break every program that inherits LD_PRELOAD, so all are looked up at run time.

use std::ffi::{CStr, CString, c_void};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

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

/// Looks through libraries that were loaded RTLD_LOCAL (by a plugin loader, by Python), which global look-ups do not see.
fn in_local_libraries(name: &CStr) -> usize {
    let mut paths: Vec<CString> = Vec::new();
    unsafe extern "C" fn collect(info: *mut libc::dl_phdr_info, _: usize, paths: *mut c_void) -> i32 {
        // SAFETY: dl_iterate_phdr passes a valid description and our own pointer.
        unsafe {
            let name = (*info).dlpi_name;
            if !name.is_null() && name.read() != 0 {
                (*paths.cast::<Vec<CString>>()).push(CStr::from_ptr(name).to_owned());
            }
        }
        0
    }
    // SAFETY: the callback gets the vector that lives here. Libraries are opened after the walk, which holds a lock.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut paths).cast()) };
    for path in paths {
        if !path.to_bytes().windows(3).any(|part| part == b"mpi") {
            continue;
        }
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
