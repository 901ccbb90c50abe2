//! Reads statuses.

use crate::machine::word::Word;
use crate::mpi::abi::{AbiFamily, current_abi};
use crate::mpi::call::ask_mpi;
use crate::mpi::predefined::mpi_byte;

#[derive(Clone, Copy)]
pub struct ReceivedStatus {
    pub source: i32,
    pub tag: i32,
    pub bytes: u64,
    pub cancelled: bool,
}

/// Reads the status at `status`.
///
/// # Safety
/// `status` is the address of a status that MPI has filled.
#[inline(always)]
pub unsafe fn read_status(status: Word) -> ReceivedStatus {
    // SAFETY: the caller's promise.
    unsafe { read_status_of(current_abi().kind, status) }
}

/// Reads a status like [`read_status`]. The caller knows the interface in force.
///
/// # Safety
/// As [`read_status`].
#[inline(always)]
pub unsafe fn read_status_of(interface: AbiFamily, status: Word) -> ReceivedStatus {
    // SAFETY: the offsets lie within a status of the interface in force; statuses are at least int-aligned.
    unsafe {
        match interface {
            AbiFamily::OpenMpi => ReceivedStatus {
                source: int_at(status, 0),
                tag: int_at(status, 4),
                bytes: (status.wrapping_add(16) as *const u64).read_unaligned(),
                cancelled: int_at(status, 12) != 0,
            },
            // The count's high bits and the cancelled bit share the second word.
            AbiFamily::Mpich => ReceivedStatus {
                source: int_at(status, 8),
                tag: int_at(status, 12),
                bytes: u64::from(int_at(status, 0) as u32) | (int_at(status, 4) as u32 as u64 >> 1) << 32,
                cancelled: int_at(status, 4) & 1 != 0,
            },
            AbiFamily::Standard => {
                let (bytes, cancelled) = read_standard_status(status);
                ReceivedStatus { source: int_at(status, 0), tag: int_at(status, 4), bytes, cancelled }
            }
        }
    }
}

/// # Safety
/// As [`read_status`]; the status has an integer at `offset`.
#[inline(always)]
unsafe fn int_at(status: Word, offset: usize) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { (status.wrapping_add(offset) as *const i32).read_unaligned() }
}

/// Reads the bytes and whether the operation was cancelled. The standard ABI leaves their places to the library, so the library is asked.
#[cold]
#[inline(never)]
fn read_standard_status(status: Word) -> (u64, bool) {
    // Local look-ups on a filled status.
    let count = ask_mpi(c"PMPI_Get_count_c", [status, mpi_byte()], 0i64);
    let cancelled = ask_mpi(c"PMPI_Test_cancelled", [status], 0i32);
    (u64::try_from(count).unwrap_or(0), cancelled != 0)
}
