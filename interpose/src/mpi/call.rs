//! Calls of MPI's functions by the recorder, by name.

use std::ffi::CStr;
use std::sync::atomic::{
    AtomicUsize,
    Ordering::{AcqRel, Acquire, Release},
};

use crate::machine::word::Word;
use crate::mpi::abi::current_abi;
use crate::mpi::symbols::find_symbol;

const SLOTS: usize = 64;

/// Addresses of functions that were called by name, by the address of the name. An entry is made once and stays.
///
/// A look-up by name takes a thousand instructions, and a new communicator needs six functions.
static CALLED: [(AtomicUsize, AtomicUsize); SLOTS] = [const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; SLOTS];

/// In place of an address, if the MPI library is there and has no such function.
const MISSING: usize = usize::MAX;

/// Returns the address of the function of this name, or 0.
fn called_function(name: &'static CStr) -> usize {
    let key = name.as_ptr() as usize;
    for at in 0..SLOTS {
        let Some((known, address)) = CALLED.get(((key >> 4) + at) % SLOTS) else { break };
        if let Err(owner) = known.compare_exchange(0, key, AcqRel, Acquire)
            && owner != key
        {
            continue;
        }
        match address.load(Acquire) {
            0 => {}
            MISSING => return 0,
            found => return found,
        }
        let found = find_symbol(name);
        if found != 0 {
            address.store(found, Release);
        } else if find_symbol(c"PMPI_Init") != 0 {
            address.store(MISSING, Release);
        }
        return found;
    }
    find_symbol(name)
}

/// Asks MPI by a local look-up, and returns what the function stores at the address that is its last argument; `missing` if it stores nothing. The handles
/// among the others are ones that MPI has given, and the function exists in the form that the standard gives it, or not at all.
pub fn ask_mpi<T: Copy, const N: usize>(name: &'static CStr, arguments: [Word; N], missing: T) -> T {
    let mut found = missing;
    let mut all = [0; 8];
    for (place, word) in all.iter_mut().zip(arguments.into_iter().chain([&raw mut found as Word])) {
        *place = word;
    }
    // SAFETY: as above; `found` has the type that the function stores.
    unsafe { call_mpi(name, all) };
    found
}

/// Frees an object that the recorder has made.
pub fn free_handle(name: &'static CStr, mut handle: Word) {
    // SAFETY: the address of the handle.
    unsafe { call2(name, &raw mut handle as Word, 0) };
}

/// Calls a function with two arguments, see [`call_mpi`].
///
/// # Safety
/// As [`call_mpi`].
pub unsafe fn call2(name: &'static CStr, a: Word, b: Word) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { call_mpi(name, [a, b, 0, 0, 0, 0, 0, 0]) }
}

/// Calls an MPI function with up to eight arguments. It does not look at arguments beyond its own. Returns MPI_ERR_OTHER if it does not exist. The name is
/// looked up once.
///
/// # Safety
/// The arguments suit the function.
pub unsafe fn call_mpi(name: &'static CStr, arguments: [Word; 8]) -> i32 {
    match called_function(name) {
        0 => current_abi().err_other,
        // SAFETY: the caller's promise.
        address => unsafe { call_at(address, arguments) },
    }
}

/// Calls a function that [`find_symbol`] has found, see [`call_mpi`].
///
/// # Safety
/// As [`call_mpi`]; `address` is the function's.
pub unsafe fn call_at(address: usize, [a, b, c, d, e, f, g, h]: [Word; 8]) -> i32 {
    // SAFETY: the C calling convention lets a caller pass more arguments than the callee takes.
    unsafe {
        let function: unsafe extern "C-unwind" fn(Word, Word, Word, Word, Word, Word, Word, Word) -> i32 =
            std::mem::transmute(address);
        function(a, b, c, d, e, f, g, h)
    }
}
