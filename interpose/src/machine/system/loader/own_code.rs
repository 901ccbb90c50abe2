//! This library's own code, by its addresses: frames that the program does not know of.
//!
//! The functions through which OpenMP's calls pass are in a section of their own, because they call the code of the program's parallel regions.

use std::ops::Range;
use std::sync::OnceLock;

use crate::machine::system::loader::objects;

/// The section of the functions through which OpenMP's run-time library calls the program, and the program that library.
macro_rules! openmp_section {
    () => {
        "lbprof_openmp"
    };
}
pub(crate) use openmp_section;

// Defined by the linker.
unsafe extern "C" {
    static __start_lbprof_openmp: u8;
    static __stop_lbprof_openmp: u8;
}

/// Returns the addresses of this library.
pub fn own_code_bounds() -> Range<usize> {
    static BOUNDS: OnceLock<Range<usize>> = OnceLock::new();
    BOUNDS.get_or_init(|| objects::bounds_at(own_code_bounds as *const () as usize)).clone()
}

/// Returns whether an address is in a function of this library that does more than pass on a call of OpenMP's.
pub fn is_wrapper(address: usize) -> bool {
    let openmp = &raw const __start_lbprof_openmp as usize..=&raw const __stop_lbprof_openmp as usize;
    own_code_bounds().contains(&address) && !openmp.contains(&address)
}
