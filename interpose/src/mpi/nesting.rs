//! Checks whether a call is made from inside another one, since the mark in the thread's state may be a stale one.
//!
//! A call from an MPI library is nested: another wrapper called that. One from the program's code is nested where MPI has called
//! the program back (an error handler, a reduction, a copy of an attribute); but the wrapper may also have been left by longjmp
//! or by an exception, or wait on the stack of another coroutine. Then only the frames on the stack show.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{
    AtomicUsize,
    Ordering::{Relaxed, Release},
};

use crate::mpi::symbols;
use crate::system::objects;
use crate::unwind::runtime::{_Unwind_Backtrace, _Unwind_GetCFA, _Unwind_GetIP, UnwinderContext};

/// Addresses from the first on, as many as the second says.
struct CodeRange([AtomicUsize; 2]);

impl CodeRange {
    const fn empty() -> Self {
        CodeRange([AtomicUsize::new(0), AtomicUsize::new(0)])
    }

    #[inline(always)]
    fn contains(&self, address: usize) -> bool {
        let [begin, bytes] = &self.0;
        address.wrapping_sub(begin.load(Relaxed)) < bytes.load(Relaxed)
    }

    /// The object that holds `address`.
    fn set(&self, address: usize) {
        if let Some((begin, end)) = object_of(address) {
            let [first, bytes] = &self.0;
            first.store(begin, Relaxed);
            bytes.store(end - begin, Release);
        }
    }
}

/// The library of MPI's Fortran functions, which may call those of C; where there is none, that of C.
static FORTRAN: CodeRange = CodeRange::empty();
/// The libraries of MPI's functions.
static MPI: [CodeRange; 3] = [const { CodeRange::empty() }; 3];
/// This library.
static OURS: CodeRange = CodeRange::empty();

/// Learns where MPI's code is. Called once, before a call is recorded.
pub fn find_mpi() {
    let names = [c"PMPI_Init", c"pmpi_init_", c"pmpi_init_f08_"];
    for (code, name) in MPI.iter().zip(names) {
        code.set(symbols::symbol(name));
    }
    let fortran = symbols::symbol(c"pmpi_init_");
    FORTRAN.set(if fortran == 0 { symbols::symbol(c"PMPI_Init") } else { fortran });
    OURS.set(find_mpi as *const () as usize);
}

/// From where to where the object that holds `address` is loaded.
fn object_of(address: usize) -> Option<(usize, usize)> {
    let mut found = None;
    objects::visit(None, |object| {
        found = found.or_else(|| object.bounds().filter(|&(begin, end)| (begin..end).contains(&address)));
    });
    found
}

/// Returns whether a return address lies in the library whose calls are nested most often.
#[inline(always)]
pub fn is_mpi(address: usize) -> bool {
    FORTRAN.contains(address)
}

/// Returns whether a return address lies in any of MPI's libraries, or here.
pub fn is_any_mpi(address: usize) -> bool {
    MPI.iter().any(|code| code.contains(address)) || OURS.contains(address)
}

/// Returns whether an address lies in this library.
pub fn is_here(address: usize) -> bool {
    OURS.contains(address)
}

/// Returns whether the frame with a canary at address `canary`, of this value, is one of this library's on the present stack.
///
/// Where frames do not show how to leave them (code that was compiled without tables for that), the search ends too early and
/// finds nothing: such a call counts as one of its own.
pub fn frame_is_there(canary: usize, value: usize) -> bool {
    if !is_mapped(canary) {
        return false;
    }
    // SAFETY: a word on a mapped page.
    if unsafe { (canary as *const usize).read_volatile() } != value {
        return false;
    }
    let mut search = StackSearch { canary, code: 0, left: false, there: false };
    // SAFETY: the callback gets the search that lives here.
    unsafe { _Unwind_Backtrace(step, (&raw mut search).cast()) };
    search.there
}

/// Returns whether there is memory at an address: a stack that was left may be gone.
fn is_mapped(address: usize) -> bool {
    let mut resident = 0u8;
    // SAFETY: a constant of the C library's; then asks about a page, whatever is there.
    unsafe {
        let page_bytes = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap_or(4096);
        libc::mincore((address & !(page_bytes - 1)) as *mut c_void, 1, &mut resident) == 0
    }
}

/// A walk up the stack.
struct StackSearch {
    canary: usize,
    /// Address at which the last frame's code goes on.
    code: usize,
    /// True if it has left this library, whose first frames are of the call that looks: they may lie where the canary once was.
    left: bool,
    there: bool,
}

/// A frame reaches from the address that is given with it to the one that is given with its caller.
unsafe extern "C" fn step(context: *mut UnwinderContext, search: *mut c_void) -> c_int {
    /// `_URC_NO_REASON`.
    const ON: c_int = 0;
    /// `_URC_END_OF_STACK`.
    const STOP: c_int = 5;
    // SAFETY: the unwinder passes its own context, and our pointer.
    unsafe {
        let search = &mut *search.cast::<StackSearch>();
        if search.canary < _Unwind_GetCFA(context) {
            search.there = search.left && OURS.contains(search.code);
            return STOP;
        }
        search.left |= search.code != 0 && !OURS.contains(search.code);
        search.code = _Unwind_GetIP(context);
    }
    ON
}
