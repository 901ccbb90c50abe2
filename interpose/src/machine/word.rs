//! A word: a register-wide argument of an MPI function, whatever its type. This module uses no other.

/// A register-wide argument of an MPI function: an integer, an address or a handle. Of an int only the lower half counts.
pub type Word = usize;

/// The int at an address: a flag or a number that MPI has stored.
///
/// # Safety
/// `address` is that of an int.
#[inline(always)]
pub unsafe fn int_at(address: Word) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { (address as *const i32).read() }
}
