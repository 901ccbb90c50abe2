//! Look-ups of the MPI library's functions and variables by name.
//!
//! Undefined symbols would break every program that inherits LD_PRELOAD, so all are looked up at run time.

use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use crate::machine::system::loader::dynamic_symbols::ObjectSymbols;
use crate::machine::system::loader::foreign;
use crate::machine::system::loader::objects;

/// Returns the address of a symbol that this library does not define itself, or 0.
pub fn find_symbol(name: &CStr) -> usize {
    let address = foreign::visible_definition(name);
    if address != 0 || is_visible() { address } else { in_local_libraries(name) }
}

/// Returns the function called by the wrapper `own`, whose name for profiling is `profiling`; 0 if there is none.
///
/// It is the next function of the same name: a tool's, which wraps MPI's and calls the name for profiling, or MPI's own. Fortran's may have
/// no other: mpi_f08's has twins whose names differ by library, and Intel's for 8-byte integers has none that converts them.
pub fn find_function(profiling: &CStr, own: &CStr) -> usize {
    match next_symbol(own) {
        0 => match find_symbol(profiling) {
            // C's may be visible to all while a library in Fortran was loaded RTLD_LOCAL, together with the library of Fortran's functions.
            0 if !is_c(own) => in_local_libraries(own),
            found => found,
        },
        found => found,
    }
}

/// Returns whether a name is a C function's, MPI_Xxx. Fortran's are all in one case.
pub fn is_c(own: &CStr) -> bool {
    own.to_bytes().starts_with(b"MPI_") && own.to_bytes().iter().any(u8::is_ascii_lowercase)
}

/// Returns the address of a symbol that this library defines, too, in a library loaded after it; 0 if there is none.
fn next_symbol(name: &CStr) -> usize {
    let address = foreign::next_definition(name);
    if address != 0 || is_visible() { address } else { in_local_libraries(name) }
}

/// Returns whether MPI is visible to all. Then a function that is not visible is missing. A walk for each missing function takes
/// milliseconds.
fn is_visible() -> bool {
    /// Set once it is visible, because a program does not take MPI away. To ask the loader for each missing function would take long.
    static IS_VISIBLE: AtomicBool = AtomicBool::new(false);
    if IS_VISIBLE.load(Relaxed) {
        return true;
    }
    let is_visible = foreign::visible_definition(c"PMPI_Init") != 0;
    IS_VISIBLE.store(is_visible, Relaxed);
    is_visible
}

/// Returns whether an MPI library is loaded. Allocates nothing.
pub fn is_mpi_loaded() -> bool {
    let mut is_loaded = false;
    objects::visit_objects(None, |object| is_loaded |= is_named_as_mpi(object.path()));
    is_loaded
}

/// Returns whether a library's file has "mpi" in its name, as all MPI libraries have.
pub fn is_named_as_mpi(path: &CStr) -> bool {
    let file = path.to_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    file.windows(3).any(|part| part == b"mpi")
}

/// Returns whether a name starts like MPI's functions, in any language.
pub fn is_of_mpi(name: &CStr) -> bool {
    name.to_bytes().get(..4).is_some_and(|first| first.eq_ignore_ascii_case(b"mpi_"))
}

/// Looks through libraries that were loaded RTLD_LOCAL (by a plugin loader, by Python), which global look-ups do not see. Libraries of MPI
/// come first.
///
/// Reads the libraries' tables, because asking the loader takes a hundred times as long.
fn in_local_libraries(name: &CStr) -> usize {
    let mut found: Option<(ObjectSymbols, usize)> = None;
    let mut is_mpi = false;
    objects::visit_objects(None, |object| {
        let is_named_so = is_named_as_mpi(object.path());
        if (found.is_none() || is_named_so && !is_mpi)
            && let Some(symbols) = ObjectSymbols::of_other(object)
            && let Some(address) = symbols.definition(name)
        {
            found = Some((symbols, address));
            is_mpi = is_named_so;
        }
    });
    let Some((symbols, address)) = found else { return 0 };
    keep_loaded(&symbols);
    address
}

/// Makes the loader keep a library whose functions are called from here.
pub fn keep_loaded(symbols: &ObjectSymbols) {
    static KEPT: [AtomicUsize; 8] = [const { AtomicUsize::new(0) }; 8];
    let key = symbols.object().base() | 1;
    for place in &KEPT {
        match place.compare_exchange(0, key, Relaxed, Relaxed) {
            Ok(_) => break,
            Err(known) if known == key => return,
            Err(_) => {}
        }
    }
    // Never closed.
    foreign::hold_object(symbols.object().path());
}

/// Returns whether an object's function of this name is MPI's in Fortran, or passes calls on to MPI's as a tool's wrapper does. Other
/// libraries have functions of their own with such names: R's Rmpi has `mpi_send` in C, and sequential programs have stubs.
///
/// MPI's functions come with a name for profiling (MPI-4.1 §15.2), which the wrappers of tools call. Wrappers that call C's name are known by
/// names that only a Fortran compiler makes.
pub fn is_fortran_mpi(object: &ObjectSymbols, own: &CStr) -> bool {
    let Some(function) = function_in_fortran(own) else { return false };
    let profiling = names_in_fortran("pmpi_", &function);
    if count_definitions(object, &profiling) > 0 {
        return true;
    }
    // No library in C has a function under three names.
    let names = names_in_fortran("mpi_", &function);
    if count_definitions(object, &names) >= 3 {
        return true;
    }
    let made_by_compiler: Vec<CString> = names.into_iter().filter(|name| name.to_bytes().ends_with(b"_")).collect();
    let may_wrap_c = count_definitions(object, &made_by_compiler) > 0;
    object.undefined_names().any(|name| {
        profiling.iter().any(|known| known.as_c_str() == name)
            || may_wrap_c && is_of_c_profiling(name, function.as_bytes())
    })
}

/// Returns the names of a function in Fortran, in each form that has a name for profiling.
fn names_in_fortran(prefix: &str, function: &str) -> Vec<CString> {
    let lower = ["", "_", "__", "_f08_", "_f08ts_"].map(|form| format!("{prefix}{function}{form}"));
    let upper = format!("{prefix}{function}").to_uppercase();
    lower.into_iter().chain([upper]).filter_map(|name| CString::new(name).ok()).collect()
}

fn count_definitions(object: &ObjectSymbols, names: &[CString]) -> usize {
    names.iter().filter(|name| object.definition(name).is_some()).count()
}

/// Returns whether a name is the one for profiling of a function in C: PMPI_Send for `send`.
fn is_of_c_profiling(name: &CStr, function: &[u8]) -> bool {
    name.to_bytes().strip_prefix(b"PMPI_").is_some_and(|rest| rest.eq_ignore_ascii_case(function))
}

/// Returns the function that a name in Fortran stands for, in lower case and without the compiler's additions: `send` for `mpi_send_`,
/// `MPI_SEND` and `mpi_send_c_f08ts_`.
fn function_in_fortran(own: &CStr) -> Option<String> {
    const ADDED: [&str; 8] = ["_f08ts_large_", "_f08_large_", "_c_f08ts_", "_c_f08_", "_f08ts_", "_f08_", "__", "_"];
    let name = own.to_str().ok()?.to_lowercase();
    let name = name.strip_prefix("mpi_")?;
    Some(ADDED.iter().find_map(|added| name.strip_suffix(added)).unwrap_or(name).to_owned())
}
