//! Detects MPI calls that bypass this library, as far as the dynamic loader's symbols show them.
//!
//! The standard's profiling interface (MPI-4.1 §15.2) has one layer: a tool defines MPI_Send and calls PMPI_Send. Several tools work on top
//! of each other if each calls the next definition, as this library does ([`crate::forward`]). Functions that the program itself defines, or
//! a library loaded before this one, are bound there: their wrappers call PMPI_Send, and nothing arrives here.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use lbprof_collector::definition::Definition;
use lbprof_collector::problem::ProblemKind;

use crate::harmless::guard;
use crate::machine::system::loader::dynamic_symbols::{ObjectSymbols, defined_symbols, undefined_symbols};
use crate::machine::system::loader::foreign;
use crate::machine::system::loader::objects;
use crate::mpi::symbols::{is_c, is_of_mpi};
use crate::mpi::{nesting, symbols};
use crate::run::launcher;
use crate::{forward, log};

/// Looks for functions whose calls will not be seen. The log names them, and the first rank reports them.
pub fn look_for_bypasses(rank: i32) {
    let wrapped = wrapped_before();
    if let Some((_, object)) = wrapped.first() {
        let names: Vec<&str> = wrapped.iter().map(|(name, _)| *name).collect();
        let detail = format!("{} in {object}", shorten_list(&names));
        if rank == 0 {
            guard::say_line(format_args!(
                "calls are not recorded that another wrapper gets first: {detail} (docs/supported.md)"
            ));
        }
        log::define_now(Definition::Problem(ProblemKind::WrappedBefore as u16, wrapped.len() as u64, detail));
    }
    let wrapped: BTreeSet<&str> = wrapped.iter().map(|(name, _)| *name).collect();
    let undefined = undefined_in_program();
    let direct: Vec<&str> = forward::wrapper_names()
        .filter(|(profiling, own)| {
            is_c(own) && undefined.contains(*profiling) && !own.to_str().is_ok_and(|own| wrapped.contains(own))
        })
        .filter_map(|(profiling, _)| profiling.to_str().ok())
        .collect();
    if !direct.is_empty() {
        let detail = shorten_list(&direct);
        log::define_now(Definition::Problem(ProblemKind::DirectCalls as u16, direct.len() as u64, detail));
    }
}

/// Returns the functions that are defined before this library's and whose calls do not arrive here, each with the object that defines it. A
/// function of Fortran, which has up to ten names, is listed once.
fn wrapped_before() -> Vec<(&'static str, String)> {
    // Asking the loader for each of some thousand names would take milliseconds.
    let before = defined_in_objects_before();
    if before.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<(&str, String)> = Vec::new();
    let mut stems = BTreeSet::new();
    // Fortran's names come after C's.
    let mut in_c = c"";
    for (profiling, own) in forward::wrapper_names() {
        if is_c(own) {
            in_c = own;
        }
        let Some(object) = before.contains(own).then(|| defined_before(own)).flatten() else { continue };
        let behind = symbols::find_symbol(profiling);
        // A function that MPI does not have is the program's own.
        if behind == 0 {
            continue;
        }
        let name = own.to_str().unwrap_or_default();
        // MPICH's functions of Fortran call C's by their own names, and these calls are recorded.
        let is_new = is_c(own) || stems.insert(name.trim_end_matches('_').to_lowercase());
        if is_new && (is_c(own) || !is_imported(behind, in_c)) {
            found.push((name, object));
        }
    }
    found
}

/// Returns the names of MPI's functions in the objects that the loader searches before this library.
fn defined_in_objects_before() -> BTreeSet<&'static CStr> {
    let (mut names, mut is_before_us) = (BTreeSet::new(), true);
    objects::visit_objects(None, |object| {
        is_before_us &= !object.bounds().is_some_and(|(begin, _)| nesting::is_here(begin));
        if is_before_us {
            // SAFETY: the program and what was loaded with it first, which stay.
            names.extend(unsafe { defined_symbols(object) }.map(|(_, name)| name).filter(|name| is_of_mpi(name)));
        }
    });
    names
}

/// Returns the first names of a list, and the number of the others.
fn shorten_list(names: &[&str]) -> String {
    const SHOWN: usize = 4;
    let first = names.get(..names.len().min(SHOWN)).unwrap_or_default().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Returns the object that defines a function before this library does, or `None` if this library's definition is the first. A program
/// that is not position-independent and takes a function's address has a stub of the function at it, which is no definition.
fn defined_before(name: &CStr) -> Option<String> {
    let address = foreign::visible_definition(name);
    if address == 0 || nesting::is_here(address) {
        return None;
    }
    objects::look_at(address, |object| ObjectSymbols::of_other(object)?.definition(name)).flatten()?;
    // SAFETY: dladdr(3) fills the structure, or returns 0.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let is_found = libc::dladdr(address as *const c_void, &mut info) != 0 && !info.dli_fname.is_null();
        is_found.then(|| CStr::from_ptr(info.dli_fname).to_string_lossy().into_owned())
    }
}

/// Returns whether the object with the function at `address` takes the function `name` from another object.
fn is_imported(address: usize, name: &CStr) -> bool {
    // SAFETY: the object of a function of MPI stays.
    let found =
        objects::look_at(address, |object| unsafe { undefined_symbols(object) }.any(|(_, known)| known == name));
    found.unwrap_or(false)
}

/// Returns the names of the functions that the program's own file takes from libraries.
fn undefined_in_program() -> BTreeSet<&'static CStr> {
    let mut names = None;
    objects::visit_objects(None, |object| {
        // SAFETY: the first object is the program's, which stays.
        names.get_or_insert_with(|| unsafe { undefined_symbols(object) }.map(|(_, name)| name).collect());
    });
    names.unwrap_or_default()
}

/// Returns PMPI_Initialized of an MPI library that was loaded while the program ran, out of sight of look-ups by name (RTLD_LOCAL), or 0.
///
/// Reads symbol tables itself, because the loader's look-ups allocate if they find nothing.
fn initialized_of_local_library() -> usize {
    let mut address = None;
    objects::visit_objects(None, |object| {
        if address.is_none() && symbols::is_named_as_mpi(object.path()) {
            address = ObjectSymbols::of_other(object).and_then(|symbols| symbols.definition(c"PMPI_Initialized"));
        }
    });
    address.unwrap_or(0)
}

/// PMPI_Initialized, if the process has a visible MPI from the start; else 0.
static INITIALIZED: AtomicUsize = AtomicUsize::new(0);
/// True if this process reports facts that hold for all ranks.
static SAYS: AtomicBool = AtomicBool::new(false);

/// Remembers what may not be asked at exit. Called before the program runs.
pub fn remember_visible_mpi() {
    SAYS.store(launcher::launcher_rank().is_none_or(|rank| rank == 0), Relaxed);
    // Looked up now, because at exit the loader's look-ups may not be used: they may allocate.
    let address = foreign::visible_definition(c"PMPI_Initialized");
    if address != 0 {
        INITIALIZED.store(address, Relaxed);
    }
}

/// Reports, when the process exits, that MPI was initialised unseen, and returns whether it was. May run in a signal handler.
pub fn report_unseen() -> bool {
    const WRAPPED: &str = "lbprof: MPI was started, but its start was not seen (the program, or a library before liblbprof.so, wraps \
                        MPI_Init or calls PMPI_Init): nothing is recorded (docs/supported.md)\n";
    const LOCAL: &str = "lbprof: MPI was started, but its start was not seen (the program looks MPI's functions up in a library that it \
                         loads itself): nothing is recorded (docs/supported.md)\n";
    if !SAYS.load(Relaxed) {
        return false;
    }
    let (address, text) = match INITIALIZED.load(Relaxed) {
        0 => (initialized_of_local_library(), LOCAL),
        visible => (visible, WRAPPED),
    };
    if address == 0 {
        return false;
    }
    let mut initialized: c_int = 0;
    // SAFETY: MPI_Initialized may be called at any time (MPI-4.1 §11.2.3).
    unsafe {
        let ask: unsafe extern "C" fn(*mut c_int) -> c_int = std::mem::transmute(address);
        ask(&mut initialized);
    }
    if initialized != 0 {
        guard::write_line(text);
    }
    initialized != 0
}
