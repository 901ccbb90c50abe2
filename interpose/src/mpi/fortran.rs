//! Variables of Fortran that stand for MPI_STATUS_IGNORE and the like.

use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::machine::word::Word;
use crate::mpi::symbols::find_symbol;

#[derive(Clone, Copy)]
#[repr(usize)]
pub enum FortranPlace {
    StatusIgnore,
    StatusesIgnore,
    InPlace,
}

/// The symbols of each [`FortranPlace`]: Open MPI's, which the compiler mangles; MPICH's common block of mpif.h and the offset in it; MPICH's
/// of mpi_f08.
const FORTRAN_NAMES: [(&str, &CStr, usize, &CStr); 3] = [
    ("mpi_fortran_status_ignore", c"mpipriv1_", 8, c"MPIR_F08_MPI_STATUS_IGNORE_OBJ"),
    ("mpi_fortran_statuses_ignore", c"mpipriv2_", 0, c"MPIR_F08_MPI_STATUSES_IGNORE_OBJ"),
    ("mpi_fortran_in_place", c"mpipriv1_", 4, c"MPIR_F08_MPI_IN_PLACE"),
];

/// Addresses of each [`FortranPlace`], filled by [`look_up`].
static FORTRAN_ADDRESSES: [[AtomicUsize; 6]; 3] = [const { [const { AtomicUsize::new(0) }; 6] }; 3];

pub fn look_up() {
    for (known, (open_mpi, common, offset, f08)) in FORTRAN_ADDRESSES.iter().zip(FORTRAN_NAMES) {
        let mangled = [format!("{open_mpi}_"), open_mpi.into(), format!("{open_mpi}__"), open_mpi.to_uppercase()];
        let mangled = mangled.map(|name| (CString::new(name).unwrap_or_default(), 0));
        let mpich = [(common.to_owned(), offset), (f08.to_owned(), 0)];
        for (known, (name, offset)) in known.iter().zip(mangled.into_iter().chain(mpich)) {
            let address = find_symbol(&name);
            known.store(if address == 0 { 0 } else { address + offset }, Relaxed);
        }
    }
}

pub fn is_fortran_place(place: FortranPlace, address: Word) -> bool {
    address != 0
        && FORTRAN_ADDRESSES
            .get(place as usize)
            .is_some_and(|known| known.iter().any(|known| known.load(Relaxed) == address))
}
