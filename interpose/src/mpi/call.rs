//! Calling functions of MPI from the recorder, by name.

use std::ffi::CStr;
use std::sync::atomic::{
    AtomicUsize,
    Ordering::{AcqRel, Acquire, Release},
};

use crate::mpi::abi::abi;
use crate::mpi::symbols::symbol;
use crate::word::Word;

/// Addresses of functions that were called by name, by the address of the name: an entry is made once and stays.
///
/// A look-up by name takes a thousand instructions, and making a communicator needs six functions.
struct FunctionCache([(AtomicUsize, AtomicUsize); FunctionCache::SLOTS]);

static CALLED: FunctionCache =
    FunctionCache([const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; FunctionCache::SLOTS]);

impl FunctionCache {
    const SLOTS: usize = 64;
    /// In place of an address: the MPI library is there and has no such function.
    const MISSING: usize = usize::MAX;

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
                let known = address.load(Acquire);
                if known != 0 {
                    return if known == Self::MISSING { 0 } else { known };
                }
                let found = symbol(name);
                if found != 0 {
                    address.store(found, Release);
                } else if symbol(c"PMPI_Init") != 0 {
                    address.store(Self::MISSING, Release);
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

/// Calls a function with two arguments, see [`call3`].
///
/// # Safety
/// As [`call3`].
pub unsafe fn call2(name: &'static CStr, a: Word, b: Word) -> i32 {
    // SAFETY: as in `call3`.
    unsafe { call(name, [a, b, 0, 0, 0, 0, 0, 0]) }
}

/// Calls a function with up to eight arguments, see [`call3`]; it does not look at those beyond its own.
///
/// # Safety
/// As [`call3`].
pub unsafe fn call(name: &'static CStr, arguments: [Word; 8]) -> i32 {
    match CALLED.find(name) {
        0 => abi().err_other,
        // SAFETY: the caller's promise.
        address => unsafe { call_at(address, arguments) },
    }
}

/// Calls a function that [`symbol`] has found, see [`call`].
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
