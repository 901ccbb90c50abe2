//! The code that depends on the processor: entries of wrappers, the thread pointer, the counter of time, registers for unwinding, and
//! instructions that are special.
//!
//! A processor is a file with the same items. Another one needs such a file, a line here, and `scripts/test-arm64` for it. Everything else in this library compiles for
//! any 64-bit Linux with little-endian words, of which 8 bytes are one register.

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
    "lbprof does not know this processor yet: interpose/src/processor needs a file for it, with the items of x86_64.rs and aarch64.rs. lb-report \
     (cargo build -p lb-report) runs on any 64-bit processor"
);

/// The word after the function to forward to, in the table that entries in Fortran read, if each call is meant for MPI (`forward/fortran_names.rs`).
pub const ROUTE_MPI: usize = 1;

/// Marks a branch as one that is seldom taken: its code lies apart from that of the others, so that these take fewer cache lines.
#[cold]
#[inline]
pub const fn rare_branch() {}

/// A call as the entry of its wrapper notes it, at the beginning of a thread's state. After it is the number of calls that are parked
/// there.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct EnteredCall {
    /// The return address.
    pub caller: usize,
    /// The place of the function of Fortran to forward to; where functions share a body, which of them it is.
    pub next: usize,
    /// The stack pointer.
    pub sp: usize,
    /// The frame pointer.
    pub bp: usize,
}

/// Calls that handlers can have interrupted at one time while they were entered. What was noted of them lies before a thread's state.
pub const MAX_PARKED: usize = 4;

/// Their bytes.
pub const PARKED_BYTES: usize = MAX_PARKED * size_of::<EnteredCall>();
