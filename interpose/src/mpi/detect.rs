//! Finding out which MPI the process has.
//!
//! The interface is found by the symbols that are there, never by a file's name: builds under many names share one interface.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::mpi::abi::{self, AbiFamily};
use crate::mpi::symbols::symbol;
use crate::mpi::{fortran, predefined};

static DETECTED: AtomicBool = AtomicBool::new(false);

/// Finds out which interface the process has, and its predefined handles; false where there is no MPI.
pub fn detect() -> bool {
    if DETECTED.load(Relaxed) {
        return true;
    }
    let kind = if is_standard_abi() {
        AbiFamily::Standard
    } else if symbol(c"ompi_mpi_comm_world") != 0 {
        AbiFamily::OpenMpi
    } else if symbol(c"PMPI_Init") != 0 {
        AbiFamily::Mpich
    } else {
        return false;
    };
    abi::choose(kind);
    predefined::look_up();
    DETECTED.store(true, Relaxed);
    fortran::look_up();
    true
}

/// Returns whether the library speaks the standard ABI: it says so through MPI_Abi_get_version (MPI-5.0 §20.2). In their native
/// interface MPICH 5 and Intel MPI have the function, too, and then give −1.
fn is_standard_abi() -> bool {
    let function = symbol(c"PMPI_Abi_get_version");
    if function == 0 {
        return false;
    }
    let (mut major, mut minor) = (-1, -1);
    // SAFETY: the standard's signature; it may be called before MPI_Init.
    unsafe {
        let get: unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int = std::mem::transmute(function);
        get(&mut major, &mut minor);
    }
    major >= 1
}
