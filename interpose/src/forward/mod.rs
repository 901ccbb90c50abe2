//! Finding the function to forward to, and calling MPI from the recorder.
//!
//! A function is looked up when it is first called: undefined symbols would break every program that inherits LD_PRELOAD.

pub mod bypass;

use std::ffi::{CStr, CString, c_void};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};

use crate::harmless::guard;
use crate::recording::thread::{self, Word};

include!(concat!(env!("OUT_DIR"), "/names.rs"));

/// Addresses of the functions to forward to, by the index of their wrapper; 0 before the first call.
pub static NEXT: [AtomicUsize; NAMES.len()] = [const { AtomicUsize::new(0) }; NAMES.len()];

/// The function behind wrapper `index`.
#[inline(always)]
pub fn next(index: usize) -> usize {
    let address = match NEXT.get(index) {
        Some(slot) => slot.load(Relaxed),
        None => 0,
    };
    if address == 0 { resolve(index) } else { address }
}

/// The function behind wrapper `index` of C, while recording: [`resolve_c`] has looked them all up.
#[inline(always)]
pub fn resolved(index: usize) -> usize {
    // SAFETY: build.rs numbers the wrappers, and NEXT has a slot for each.
    unsafe { NEXT.get_unchecked(index) }.load(Relaxed)
}

/// Looks up all C functions, so that a recorded call need not ask whether its own is known.
pub fn resolve_c() {
    for (index, names) in NAMES.iter().enumerate() {
        if is_c(names.1) && NEXT.get(index).is_some_and(|slot| slot.load(Relaxed) == 0) {
            let found = match find(names.0, names.1) {
                0 => missing_recorded as *const () as usize,
                found => found,
            };
            if let Some(slot) = NEXT.get(index) {
                slot.store(found, Relaxed);
            }
        }
    }
}

/// Whether a name is a C function's: MPI_Xxx, where Fortran's are all in one case.
pub fn is_c(own: &CStr) -> bool {
    own.to_bytes().starts_with(b"MPI_") && own.to_bytes().iter().any(u8::is_ascii_lowercase)
}

/// The function behind the Fortran wrapper whose place in [`NEXT`] is at address `slot`.
#[inline(always)]
pub fn next_at(slot: usize) -> usize {
    // SAFETY: entry stubs pass addresses of elements of NEXT.
    let address = unsafe { &*(slot as *const AtomicUsize) }.load(Relaxed);
    if address == 0 { resolve((slot - NEXT.as_ptr() as usize) / size_of::<AtomicUsize>()) } else { address }
}

#[cold]
#[inline(never)]
fn resolve(index: usize) -> usize {
    let (Some(slot), Some(names)) = (NEXT.get(index), NAMES.get(index)) else { return missing as *const () as usize };
    let found = find(names.0, names.1);
    if found == 0 {
        tell_missing(index);
        let missing = if is_c(names.1) { missing as *const () } else { missing_in_fortran as *const () };
        return missing as usize;
    }
    slot.store(found, Relaxed);
    found
}

/// Says, once, that a function was called that the MPI library does not have. A program that looks it up by name finds this
/// library's, so it cannot know.
#[cold]
fn tell_missing(index: usize) {
    static TOLD: [AtomicBool; NAMES.len()] = [const { AtomicBool::new(false) }; NAMES.len()];
    if let (Some(told), Some(names)) = (TOLD.get(index), NAMES.get(index))
        && !told.swap(true, Relaxed)
    {
        guard::say(format_args!(
            "{} was called, which the MPI library does not have; the call gives MPI_ERR_OTHER",
            names.1.to_string_lossy()
        ));
    }
}

/// The function behind the wrapper `own`, whose profiling name is `profiling`; 0 where there is none.
///
/// That is the next function of the same name: another tool's, which wraps it and calls the profiling name, or MPI's own. Fortran's may
/// have no other: mpi_f08's has twins under names that differ by library, and Intel's for 8-byte integers has none that converts them.
pub fn find(profiling: &CStr, own: &CStr) -> usize {
    match next_symbol(own) {
        0 => symbol(profiling),
        found => found,
    }
}

/// The names of all functions in C and Fortran: for profiling, and their own.
pub fn names() -> impl Iterator<Item = (&'static CStr, &'static CStr)> {
    NAMES.iter().copied()
}

/// Those of the functions in C.
pub fn c_names() -> impl Iterator<Item = (&'static CStr, &'static CStr)> {
    names().filter(|names| is_c(names.1))
}

/// Stands for a function of C that the MPI library does not have.
extern "C" fn missing() -> Word {
    crate::mpi::abi::abi().err_other as Word
}

/// The same where [`resolve_c`] put it: the record of the call tells which it is.
extern "C" fn missing_recorded() -> Word {
    // SAFETY: the calling thread's own state; the slot before its cursor is that of the call under way.
    let operation = unsafe {
        let cursor = (*thread::current()).cursor;
        if cursor.is_null() { None } else { (*cursor.sub(1)).operation() }
    };
    let name = operation.map_or("", |operation| operation.name());
    let named = |names: &(&CStr, &CStr)| names.1.to_bytes().strip_prefix(b"MPI_") == Some(name.as_bytes());
    if let Some(index) = NAMES.iter().position(named) {
        // SAFETY: as above.
        unsafe { thread::cold(thread::current(), || tell_missing(index)) };
    }
    missing()
}

/// Stands for a function of Fortran that the MPI library does not have: sets ierror, which follows the arguments of C.
extern "C" fn missing_in_fortran(
    a: Word,
    b: Word,
    c: Word,
    d: Word,
    e: Word,
    f: Word,
    g: Word,
    h: Word,
    i: Word,
    j: Word,
    k: Word,
    l: Word,
    m: Word,
    n: Word,
) {
    // SAFETY: the entry has just stored the address of an element of NEXT; ierror is null or an INTEGER's address.
    unsafe {
        let index = ((*thread::current()).next - NEXT.as_ptr() as usize) / size_of::<AtomicUsize>();
        let ierror = ARGUMENTS
            .get(index)
            .and_then(|&at| [a, b, c, d, e, f, g, h, i, j, k, l, m, n].get(usize::from(at)).copied());
        if let Some(ierror) = ierror.filter(|&ierror| ierror != 0) {
            (ierror as *mut i32).write(crate::mpi::abi::abi().err_other);
        }
    }
}

/// Address of a symbol that this library does not define itself, or 0.
pub fn symbol(name: &CStr) -> usize {
    // SAFETY: a look-up by name.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize;
    if address == 0 { in_local_libraries(name) } else { address }
}

/// Address of a symbol that this library defines, too, in a library loaded after it, or 0.
fn next_symbol(name: &CStr) -> usize {
    // SAFETY: a look-up by name.
    let address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) } as usize;
    if address == 0 { in_local_libraries(name) } else { address }
}

/// Looks through libraries that were loaded RTLD_LOCAL (by a plugin loader, by Python), which global look-ups do not see.
fn in_local_libraries(name: &CStr) -> usize {
    // Where MPI is visible to all, what is missing there is missing. A walk for each missing function takes milliseconds.
    // SAFETY: a look-up by name.
    if !unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"PMPI_Init".as_ptr()) }.is_null() {
        return 0;
    }
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

/// Whether `address` lies in this library.
fn is_ours(address: usize) -> bool {
    let base = |address: usize| {
        // SAFETY: dladdr fills the structure or returns 0.
        unsafe {
            let mut info: libc::Dl_info = std::mem::zeroed();
            if libc::dladdr(address as *const c_void, &mut info) == 0 { 0 } else { info.dli_fbase as usize }
        }
    };
    base(address) == base(is_ours as *const () as usize)
}

/// Addresses of functions that were called by name, by the address of the name: an entry is made once and stays.
///
/// A look-up by name takes a thousand instructions, and making a communicator needs six functions.
struct Called([(AtomicUsize, AtomicUsize); Called::SLOTS]);

static CALLED: Called = Called([const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; Called::SLOTS]);

impl Called {
    const SLOTS: usize = 64;

    /// The address of the function of this name, or 0.
    fn find(&self, name: &'static CStr) -> usize {
        let key = name.as_ptr() as usize;
        for at in 0..Self::SLOTS {
            let Some((known, address)) = self.0.get(((key >> 4) + at) % Self::SLOTS) else { break };
            let owner = match known.compare_exchange(0, key, AcqRel, Acquire) {
                Ok(_) => key,
                Err(owner) => owner,
            };
            if owner == key {
                let mut found = address.load(Acquire);
                if found == 0 {
                    found = symbol(name);
                    address.store(found, Release);
                }
                return found;
            }
        }
        symbol(name)
    }
}

/// Calls an MPI function with three arguments; MPI_ERR_OTHER where it does not exist. The name is looked up once.
///
/// # Safety
/// The arguments are those of the function.
pub unsafe fn call3(name: &'static CStr, a: Word, b: Word, c: Word) -> i32 {
    // SAFETY: register-wide words serve for every integer and pointer argument; see the caller's promise.
    unsafe { call(name, [a, b, c, 0, 0, 0, 0, 0]) }
}

/// As [`call3`], with two arguments.
///
/// # Safety
/// As [`call3`].
pub unsafe fn call2(name: &'static CStr, a: Word, b: Word) -> i32 {
    // SAFETY: as in `call3`.
    unsafe { call(name, [a, b, 0, 0, 0, 0, 0, 0]) }
}

/// As [`call3`], with up to eight arguments; those beyond the function's own are not looked at by it.
///
/// # Safety
/// As [`call3`].
pub unsafe fn call(name: &'static CStr, arguments: [Word; 8]) -> i32 {
    match CALLED.find(name) {
        0 => crate::mpi::abi::abi().err_other,
        // SAFETY: the caller's promise.
        address => unsafe { call_at(address, arguments) },
    }
}

/// As [`call`], for a function that [`symbol`] has found.
///
/// # Safety
/// As [`call3`]; `address` is the function's.
pub unsafe fn call_at(address: usize, [a, b, c, d, e, f, g, h]: [Word; 8]) -> i32 {
    // SAFETY: the C calling convention lets a caller pass more arguments than the callee takes.
    unsafe {
        let function: unsafe extern "C-unwind" fn(Word, Word, Word, Word, Word, Word, Word, Word) -> i32 =
            std::mem::transmute(address);
        function(a, b, c, d, e, f, g, h)
    }
}
