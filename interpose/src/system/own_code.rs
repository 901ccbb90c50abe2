//! This library's own code, by its addresses: frames that the program does not know of.
//!
//! The functions in the way of OpenMP's calls are in a section of their own. A chain of calls goes on beyond them: what the program computes in a
//! parallel region is called by them.

use std::ops::Range;
use std::sync::OnceLock;

use crate::system::objects;

/// The section of the functions through which OpenMP's run-time library calls the program, and the program that library.
macro_rules! openmp_section {
    () => {
        "lbprof_openmp"
    };
}
pub(crate) use openmp_section;

// The linker defines them: where the section begins and ends.
unsafe extern "C" {
    static __start_lbprof_openmp: u8;
    static __stop_lbprof_openmp: u8;
}

/// Returns the addresses of this library.
pub fn bounds() -> Range<usize> {
    static BOUNDS: OnceLock<(usize, usize)> = OnceLock::new();
    let (begin, end) = *BOUNDS.get_or_init(|| {
        objects::look_at(bounds as *const () as usize, |own| own.bounds()).flatten().unwrap_or_default()
    });
    begin..end
}

/// Returns whether an address is in a function of this library that calls MPI, or does something else than to pass on a call of OpenMP's.
pub fn is_wrapper(address: usize) -> bool {
    let openmp = &raw const __start_lbprof_openmp as usize..=&raw const __stop_lbprof_openmp as usize;
    bounds().contains(&address) && !openmp.contains(&address)
}
