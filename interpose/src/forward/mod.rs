//! The function that each wrapper calls.
//!
//! A function is looked up when it is first called, because undefined symbols would break every program that inherits LD_PRELOAD. A program
//! that asks by a weak reference whether MPI has a function gets MPI's answer (`weak.rs`).

pub mod bypass;
pub mod fortran_names;
pub mod weak;

use std::ffi::CStr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use crate::harmless::{enter, guard};
use crate::machine::word::Word;
use crate::mpi::symbols::{find_function, is_c};
use crate::state::thread::{self, N_FREQUENT, N_MOST_FREQUENT, NEXT_FREQUENT};

include!(concat!(env!("OUT_DIR"), "/names.rs"));

/// The function that a wrapper forwards to.
///
/// The entries of wrappers in Fortran read both words, so they lie together.
#[repr(C)]
pub struct ForwardTarget {
    /// Its address; 0 before the first call.
    address: AtomicUsize,
    /// The way on of an entry in Fortran, see [`fortran_names`].
    route: AtomicUsize,
}

/// The functions to forward to, by the index of their wrapper.
pub static NEXT: [ForwardTarget; NAMES.len()] =
    [const { ForwardTarget { address: AtomicUsize::new(0), route: AtomicUsize::new(0) } }; NAMES.len()];

/// Returns the function called by wrapper `index` of C.
#[inline(always)]
pub fn next_function(index: usize) -> usize {
    let address = NEXT.get(index).map_or(0, |next| next.address.load(Relaxed));
    if address == 0 { resolve_next(index) } else { address }
}

/// Returns the function called by wrapper `index` of C while recording: [`resolve_c`] has looked them all up. `place` is its place in
/// [`NEXT_FREQUENT`], if it has one.
#[inline(always)]
pub fn resolved_function(index: usize, place: usize) -> usize {
    let thread = thread::current_thread();
    let (frequent, most_frequent) = (&thread.next_frequent, &thread.next_most_frequent);
    match frequent.get(place).or_else(|| most_frequent.get(place - frequent.len())) {
        Some(next) => next.get(),
        // SAFETY: build.rs numbers the wrappers, and NEXT has a slot for each.
        None => unsafe { NEXT.get_unchecked(index) }.address.load(Relaxed),
    }
}

/// Returns the function called by one of the last wrappers of [`NEXT_FREQUENT`], by its place there, while recording.
///
/// # Safety
/// `place` is one of the last [`N_MOST_FREQUENT`].
#[inline(always)]
pub unsafe fn resolved_most_frequent(place: usize) -> usize {
    const FIRST: usize = N_FREQUENT - N_MOST_FREQUENT;
    // SAFETY: the caller's promise.
    unsafe { (*thread::current_thread().next_most_frequent.as_ptr().wrapping_add(place).wrapping_sub(FIRST)).get() }
}

/// Looks up all C functions, so that a recorded call need not ask whether its own is known.
pub fn resolve_c() {
    for ((profiling, own), next) in NAMES.iter().zip(&NEXT) {
        if is_c(own) && next.address.load(Relaxed) == 0 {
            let found = match find_function(profiling, own) {
                0 => missing_recorded as *const () as usize,
                found => found,
            };
            next.address.store(found, Relaxed);
        }
    }
    for (frequent, &index) in NEXT_FREQUENT.iter().zip(FREQUENT) {
        if let Some(next) = NEXT.get(index) {
            frequent.store(next.address.load(Relaxed), Relaxed);
        }
    }
}

const _: () = assert!(FREQUENT.len() == NEXT_FREQUENT.len());

/// Returns the function called by the wrapper in Fortran whose place in [`NEXT`] is at address `next`. Its entry goes on only when that is
/// known.
#[inline(always)]
pub fn next_at(next: usize) -> usize {
    // SAFETY: entry stubs pass addresses of elements of NEXT.
    unsafe { &*(next as *const ForwardTarget) }.address.load(Relaxed)
}

#[cold]
#[inline(never)]
fn resolve_next(index: usize) -> usize {
    let (Some(next), Some(names)) = (NEXT.get(index), NAMES.get(index)) else {
        return missing_function as *const () as usize;
    };
    let found = find_function(names.0, names.1);
    if found == 0 {
        report_missing(index);
        return missing_function as *const () as usize;
    }
    next.address.store(found, Relaxed);
    found
}

/// Reports, once, that a function was called that the MPI library does not have. A program that looks it up by name finds this library's, so
/// it cannot know.
#[cold]
fn report_missing(index: usize) {
    static REPORTED: [AtomicBool; NAMES.len()] = [const { AtomicBool::new(false) }; NAMES.len()];
    if let (Some(reported), Some(names)) = (REPORTED.get(index), NAMES.get(index))
        && !reported.swap(true, Relaxed)
    {
        guard::say_line(format_args!(
            "{} was called, which the MPI library does not have; the call gives MPI_ERR_OTHER",
            names.1.to_string_lossy()
        ));
    }
}

/// Returns the names of the functions of the table in C and Fortran: for profiling, and their own.
pub fn wrapper_names() -> impl Iterator<Item = (&'static CStr, &'static CStr)> {
    NAMES.iter().take(N_IN_TABLE).copied()
}

extern "C" fn missing_function() -> Word {
    crate::mpi::abi::current_abi().err_other as Word
}

/// Stands for a missing function if [`resolve_c`] put it there. The record of the call names it.
extern "C" fn missing_recorded() -> Word {
    let cursor = thread::current_thread().cursor.get();
    // SAFETY: the slot before the cursor belongs to the call under way.
    let operation = if cursor.is_null() { None } else { unsafe { (*cursor.sub(1)).operation() } };
    let name = operation.map_or("", |operation| operation.name());
    let mut own_names = NAMES.iter().map(|(_, own)| own.to_bytes());
    if let Some(index) = own_names.position(|own| own.strip_prefix(b"MPI_") == Some(name.as_bytes())) {
        enter::enter_cold(|| report_missing(index));
    }
    missing_function()
}

/// Stands for a function of Fortran that the MPI library does not have. Sets ierror, which follows the arguments of C.
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
    // `fortran_names` has just put the function's index there.
    let at = ARGUMENTS.get(thread::current_thread().missing.get()).map_or(0, |&at| usize::from(at));
    let ierror = [a, b, c, d, e, f, g, h, i, j, k, l, m, n].get(at).map(|&ierror| ierror as *mut i32);
    // SAFETY: ierror is null or an INTEGER's address.
    if let Some(ierror) = unsafe { ierror.and_then(|ierror| ierror.as_mut()) } {
        *ierror = crate::mpi::abi::current_abi().err_other;
    }
}
