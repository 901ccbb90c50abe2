//! The code that depends on the processor: entries of wrappers, the thread pointer, the counter of time, registers for unwinding, and special
//! instructions.
//!
//! Each processor has a file with the same items. Another one needs such a file, a line here, and a counterpart of `scripts/tests/arm64`.
//! Everything else in this library compiles for any 64-bit Linux with little-endian words of 8 bytes.

#[cfg(not(all(target_os = "linux", target_pointer_width = "64", target_endian = "little")))]
compile_error!(
    "lbprof records on 64-bit little-endian Linux only: a word of a register has 8 bytes in logs, and stacks are read as such"
);

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::*;

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::*;

#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
compile_error!(
    "lbprof does not know this processor yet: interpose/src/machine/processor needs a file for it, with the items of x86_64.rs and aarch64.rs. lb-report \
     (cargo build -p lb-report) runs on any 64-bit processor"
);

/// The word after the function to forward to, in the table that entries in Fortran read, if all calls are meant for MPI
/// (`forward/fortran_names.rs`).
pub const ROUTE_MPI: usize = 1;

/// Marks a rare branch. Its code lies apart, so that the other branches take fewer cache lines.
#[cold]
#[inline]
pub const fn rare_branch() {}

/// A call as the entry of its wrapper notes it, at the beginning of a thread's state. The number of parked calls comes after it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct EnteredCall {
    pub caller: usize,
    /// The place of the function of Fortran to forward to, or a note of the function if several share a body.
    pub next: usize,
    pub sp: usize,
    pub bp: usize,
}

/// Calls that handlers can interrupt at one time while they are being entered. Their notes lie before a thread's state.
pub const MAX_PARKED: usize = 4;

pub const PARKED_BYTES: usize = MAX_PARKED * size_of::<EnteredCall>();
