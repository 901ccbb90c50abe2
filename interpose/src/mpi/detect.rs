//! Detects which MPI the process has. Its symbols show the interface, not its file's name, because builds under many names share one
//! interface.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::machine::word::Word;
use crate::mpi::abi;
use crate::mpi::call::ask_mpi;
use crate::mpi::symbols::find_symbol;
use crate::mpi::{fortran, predefined};

static DETECTED: AtomicBool = AtomicBool::new(false);

/// Finds out which interface the process has, and its predefined handles. Returns false if there is no MPI.
pub fn detect_mpi() -> bool {
    if DETECTED.load(Relaxed) {
        return true;
    }
    let chosen = if is_standard_abi() {
        abi::STANDARD
    } else if find_symbol(c"ompi_mpi_comm_world") != 0 {
        abi::OPEN_MPI
    } else if find_symbol(c"PMPI_Init") != 0 {
        abi::MPICH
    } else {
        return false;
    };
    abi::choose_abi(chosen);
    predefined::look_up();
    DETECTED.store(true, Relaxed);
    fortran::look_up();
    true
}

/// Returns whether the library has the standard ABI, which MPI_Abi_get_version shows (MPI-5.0 §20.2). With their native interface, MPICH 5
/// and Intel MPI have the function, too, but it gives −1.
fn is_standard_abi() -> bool {
    let mut major = -1i32;
    // It may be called before MPI_Init.
    ask_mpi(c"PMPI_Abi_get_version", [&raw mut major as Word], -1i32);
    major >= 1
}
