//! Checks whether a call is made from inside another one, because the mark in the thread's state may be stale.
//!
//! A call from an MPI library is nested, because another wrapper called the library. A call from the program's code is nested if MPI has
//! called the program back (an error handler, a reduction, a copy of an attribute). But the wrapper may also have been left by longjmp or by
//! an exception, or wait on the stack of another coroutine. Then only the frames on the stack decide.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{
    AtomicUsize,
    Ordering::{Relaxed, Release},
};

use crate::machine::system::loader::objects;
use crate::machine::unwind::runtime::{_Unwind_Backtrace, _Unwind_GetCFA, _Unwind_GetIP, UnwinderContext};
use crate::mpi::symbols;

/// The first address of some code, and its bytes.
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

    /// Sets the range to the object that holds `address`.
    fn set(&self, address: usize) {
        if let Some((begin, end)) = objects::look_at(address, |object| object.bounds()).flatten() {
            let [first, bytes] = &self.0;
            first.store(begin, Relaxed);
            bytes.store(end - begin, Release);
        }
    }
}

/// The library of MPI's Fortran functions, which may call C's; if there is none, C's library.
static FORTRAN: CodeRange = CodeRange::empty();
/// The libraries of MPI's functions.
static MPI: [CodeRange; 3] = [const { CodeRange::empty() }; 3];
static OURS: CodeRange = CodeRange::empty();

/// Learns where MPI's code is. The recorder calls it once, before it records a call.
pub fn find_mpi() {
    let names = [c"PMPI_Init", c"pmpi_init_", c"pmpi_init_f08_"];
    for (code, name) in MPI.iter().zip(names) {
        code.set(symbols::find_symbol(name));
    }
    let fortran = symbols::find_symbol(c"pmpi_init_");
    FORTRAN.set(if fortran == 0 { symbols::find_symbol(c"PMPI_Init") } else { fortran });
    OURS.set(find_mpi as *const () as usize);
}

/// Returns whether a return address lies in the library whose calls are nested most often.
#[inline(always)]
pub fn is_mpi(address: usize) -> bool {
    FORTRAN.contains(address)
}

/// Returns whether a return address lies in any of MPI's libraries or in this one.
pub fn is_any_mpi(address: usize) -> bool {
    MPI.iter().any(|code| code.contains(address)) || OURS.contains(address)
}

pub fn is_here(address: usize) -> bool {
    OURS.contains(address)
}

/// Returns whether the frame with a canary of this value at address `canary` is one of this library's on the present stack.
///
/// If code was compiled without tables for unwinding, the search ends too early and finds nothing: such a call counts as not nested.
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
    unsafe { _Unwind_Backtrace(search_frame, (&raw mut search).cast()) };
    search.there
}

/// Returns whether there is memory at an address: a stack that was left may be gone.
fn is_mapped(address: usize) -> bool {
    let mut resident = 0u8;
    // SAFETY: a constant of the C library's. Any page may be asked about.
    unsafe {
        let page_bytes = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap_or(4096);
        libc::mincore((address & !(page_bytes - 1)) as *mut c_void, 1, &mut resident) == 0
    }
}

struct StackSearch {
    canary: usize,
    /// Address at which the last frame's code goes on.
    code: usize,
    /// True if it has left this library, whose first frames belong to the call that searches: they may lie where the canary once was.
    left: bool,
    there: bool,
}

/// Looks at a frame, which reaches from its own address to its caller's.
unsafe extern "C" fn search_frame(context: *mut UnwinderContext, search: *mut c_void) -> c_int {
    const ON: c_int = 0;
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
