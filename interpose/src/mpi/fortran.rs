//! Places in Fortran that stand for MPI_STATUS_IGNORE and the like.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::mpi::symbols::symbol;
use crate::word::Word;

/// Places in Fortran that mean MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE, MPI_IN_PLACE: symbols and offsets in them. The first
/// four of each are Open MPI's by name mangling, then MPICH's of mpif.h (members of common blocks) and of mpi_f08.
const FORTRAN_NAMES: &[&[(&CStr, usize)]] = &[
    &[
        (c"mpi_fortran_status_ignore_", 0),
        (c"mpi_fortran_status_ignore", 0),
        (c"mpi_fortran_status_ignore__", 0),
        (c"MPI_FORTRAN_STATUS_IGNORE", 0),
        (c"mpipriv1_", 8),
        (c"MPIR_F08_MPI_STATUS_IGNORE_OBJ", 0),
    ],
    &[
        (c"mpi_fortran_statuses_ignore_", 0),
        (c"mpi_fortran_statuses_ignore", 0),
        (c"mpi_fortran_statuses_ignore__", 0),
        (c"MPI_FORTRAN_STATUSES_IGNORE", 0),
        (c"mpipriv2_", 0),
        (c"MPIR_F08_MPI_STATUSES_IGNORE_OBJ", 0),
    ],
    &[
        (c"mpi_fortran_in_place_", 0),
        (c"mpi_fortran_in_place", 0),
        (c"mpi_fortran_in_place__", 0),
        (c"MPI_FORTRAN_IN_PLACE", 0),
        (c"mpipriv1_", 4),
        (c"MPIR_F08_MPI_IN_PLACE", 0),
    ],
];

/// Their addresses, filled by [`look_up`].
static FORTRAN_ADDRESSES: [[AtomicUsize; 6]; 3] = [const { [const { AtomicUsize::new(0) }; 6] }; 3];

/// Finds the places.
pub fn look_up() {
    for (known, names) in FORTRAN_ADDRESSES.iter().zip(FORTRAN_NAMES) {
        for (known, &(name, offset)) in known.iter().zip(*names) {
            let address = symbol(name);
            known.store(if address == 0 { 0 } else { address + offset }, Relaxed);
        }
    }
}

/// Special places of Fortran, by index in the tables above.
#[derive(Clone, Copy)]
#[repr(usize)]
pub enum FortranPlace {
    /// MPI_STATUS_IGNORE
    StatusIgnore,
    /// MPI_STATUSES_IGNORE
    StatusesIgnore,
    /// MPI_IN_PLACE
    InPlace,
}

/// Returns whether a Fortran argument is the special place.
pub fn is_fortran_place(place: FortranPlace, address: Word) -> bool {
    address != 0
        && FORTRAN_ADDRESSES
            .get(place as usize)
            .is_some_and(|known| known.iter().any(|known| known.load(Relaxed) == address))
}
