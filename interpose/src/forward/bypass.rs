//! MPI calls that go past this library, as far as the dynamic loader's symbols show them.
//!
//! The standard's profiling interface (MPI-4.1 §15.2) has one layer: a tool defines MPI_Send and calls PMPI_Send. Several tools work on
//! top of each other where each calls the next definition, as this library does ([`crate::forward`]). Functions that the program
//! itself, or a library loaded before this one, defines are bound there: their wrappers call PMPI_Send, and nothing arrives here.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use lbprof_collector::definition::Definition;
use lbprof_collector::problem::ProblemKind;

use crate::forward::weak;
use crate::harmless::{enter, guard};
use crate::mpi::symbols::is_of_mpi;
use crate::mpi::{nesting, symbols};
use crate::run::launcher;
use crate::state::thread;
use crate::system::dynamic_symbols::{defined, undefined};
use crate::system::foreign;
use crate::system::objects::LoadedObject;
use crate::{forward, log};

/// Looks for functions whose calls will not be seen; the log says which, and the first rank says so.
pub fn look(rank: i32) {
    let wrapped = wrapped_before();
    if let Some((_, object)) = wrapped.first() {
        let names: Vec<&str> = wrapped.iter().map(|(name, _)| *name).collect();
        let detail = format!("{} in {object}", listed(&names));
        if rank == 0 {
            guard::say(format_args!(
                "calls are not recorded that another wrapper gets first: {detail} (docs/supported.md)"
            ));
        }
        log::define(Definition::Problem(ProblemKind::WrappedBefore as u16, wrapped.len() as u64, detail));
    }
    let wrapped: BTreeSet<&str> = wrapped.iter().map(|(name, _)| *name).collect();
    let undefined = undefined_in_program();
    let direct: Vec<&str> = forward::c_names()
        .filter(|(profiling, _)| undefined.contains(*profiling))
        .filter(|(_, own)| !own.to_str().is_ok_and(|own| wrapped.contains(own)))
        .filter_map(|(profiling, _)| profiling.to_str().ok())
        .collect();
    if !direct.is_empty() {
        let detail = listed(&direct);
        log::define(Definition::Problem(ProblemKind::DirectCalls as u16, direct.len() as u64, detail));
    }
}

/// Functions that are defined before this library's and whose calls do not arrive here, each with the object that defines it. A function
/// of Fortran, which has up to ten names, is there once.
fn wrapped_before() -> Vec<(&'static str, String)> {
    // To ask the loader for each of some thousand names would take milliseconds.
    let before = defined_in_objects_before();
    if before.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<(&str, String)> = Vec::new();
    let mut stems = BTreeSet::new();
    // The names of Fortran come after that of C.
    let mut in_c = c"";
    for (profiling, own) in forward::names() {
        if forward::is_c(own) {
            in_c = own;
        }
        let Some(object) = before.contains(own).then(|| defined_before(own)).flatten() else { continue };
        let behind = symbols::symbol(profiling);
        // What MPI does not have is the program's own.
        if behind == 0 {
            continue;
        }
        let name = own.to_str().unwrap_or_default();
        // MPICH's functions of Fortran call those of C by their own names, which is recorded.
        let is_new = forward::is_c(own) || stems.insert(name.trim_end_matches('_').to_lowercase());
        if is_new && (forward::is_c(own) || !is_imported(behind, in_c)) {
            found.push((name, object));
        }
    }
    found
}

/// Names of MPI's functions that the objects define which the loader searches before this library.
fn defined_in_objects_before() -> BTreeSet<&'static CStr> {
    let mut names = BTreeSet::new();
    unsafe extern "C" fn add_names(object: *mut libc::dl_phdr_info, _: usize, names: *mut c_void) -> c_int {
        // SAFETY: dl_iterate_phdr passes a valid description, of the program and what was loaded with it first, which stay; and our own pointer.
        unsafe {
            let (object, names) = (&*object, &mut *names.cast::<BTreeSet<&'static CStr>>());
            let object = LoadedObject::new(object);
            if object.bounds().is_some_and(|(begin, _)| nesting::is_here(begin)) {
                return 1;
            }
            names.extend(defined(&object).map(|(_, name)| name).filter(|name| is_of_mpi(name)));
        }
        0
    }
    // SAFETY: the callback gets the set that lives here.
    unsafe { libc::dl_iterate_phdr(Some(add_names), (&raw mut names).cast()) };
    names
}

/// The first names of a list, and how many more there are.
fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 4;
    let first = names.get(..names.len().min(SHOWN)).unwrap_or_default().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// The object that defines a function before this library does; `None`: this library's definition is the first.
fn defined_before(name: &CStr) -> Option<String> {
    let address = foreign::visible(name);
    if address == 0 || nesting::is_here(address) {
        return None;
    }
    let (object, is_definition) = origin(address)?;
    is_definition.then_some(object)
}

/// The object that holds `address`, and whether that is a function's own code. A program that is not position-independent and takes a
/// function's address has a stub of the function at it, which counts as an undefined symbol.
fn origin(address: usize) -> Option<(String, bool)> {
    type WithSymbol = unsafe extern "C" fn(*const c_void, *mut libc::Dl_info, *mut *mut c_void, c_int) -> c_int;
    const RTLD_DL_SYMENT: c_int = 1;
    // Not every C library has it.
    let with_symbol = symbols::symbol(c"dladdr1");
    // SAFETY: dladdr1(3) fills the structure and the pointer, or returns 0; it is asked for a symbol of the object's own table.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let mut symbol: *mut c_void = std::ptr::null_mut();
        let at = address as *const c_void;
        let found = if with_symbol == 0 {
            libc::dladdr(at, &mut info)
        } else {
            std::mem::transmute::<usize, WithSymbol>(with_symbol)(at, &mut info, &mut symbol, RTLD_DL_SYMENT)
        };
        if found == 0 || info.dli_fname.is_null() {
            return None;
        }
        let symbol = symbol.cast::<libc::Elf64_Sym>();
        let is_definition = symbol.is_null() || (*symbol).st_shndx != 0;
        Some((CStr::from_ptr(info.dli_fname).to_string_lossy().into_owned(), is_definition))
    }
}

/// Returns whether the object with the function at `address` takes the function `name` from another object.
fn is_imported(address: usize, name: &CStr) -> bool {
    struct ImportSearch<'a>(usize, &'a CStr, bool);
    unsafe extern "C" fn look(object: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
        // SAFETY: dl_iterate_phdr passes a valid description, and our own pointer.
        unsafe {
            let (object, search) = (&*object, &mut *search.cast::<ImportSearch>());
            let segments = std::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum));
            let at = (search.0 as u64).wrapping_sub(object.dlpi_addr);
            let mut loaded = segments.iter().filter(|segment| segment.p_type == libc::PT_LOAD);
            if !loaded.any(|segment| at.wrapping_sub(segment.p_vaddr) < segment.p_memsz) {
                return 0;
            }
            search.2 = undefined(&LoadedObject::new(object)).any(|(_, name)| name == search.1);
            1
        }
    }
    let mut search = ImportSearch(address, name, false);
    // SAFETY: the callback gets the search that lives here.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    search.2
}

/// Names of the functions that the program's own file takes from libraries.
fn undefined_in_program() -> BTreeSet<&'static CStr> {
    let mut names = BTreeSet::new();
    unsafe extern "C" fn list_names(object: *mut libc::dl_phdr_info, _: usize, names: *mut c_void) -> c_int {
        // SAFETY: dl_iterate_phdr passes a valid description, the program's first, which stays; and our own pointer.
        unsafe {
            (*names.cast::<BTreeSet<&'static CStr>>())
                .extend(undefined(&LoadedObject::new(&*object)).map(|(_, name)| name))
        };
        1
    }
    // SAFETY: the callback gets the set that lives here.
    unsafe { libc::dl_iterate_phdr(Some(list_names), (&raw mut names).cast()) };
    names
}

/// PMPI_Initialized of an MPI library that was loaded while the program ran, out of sight of look-ups by name (RTLD_LOCAL); 0: there is none.
///
/// Reads symbol tables itself: the loader's look-ups allocate where they find nothing.
fn initialized_of_local_library() -> usize {
    let mut address = 0usize;
    unsafe extern "C" fn look(object: *mut libc::dl_phdr_info, _: usize, address: *mut c_void) -> c_int {
        const FUNCTION: u8 = 2;
        // SAFETY: dl_iterate_phdr passes a valid description, whose object stays loaded meanwhile, and our own pointer.
        unsafe {
            let object = LoadedObject::new(&*object);
            if !symbols::is_named_as_mpi(object.path()) {
                return 0;
            }
            let mut functions = defined(&object).filter(|(symbol, _)| symbol.st_info & 15 == FUNCTION);
            match functions.find(|(_, name)| *name == c"PMPI_Initialized") {
                Some((symbol, _)) => {
                    *address.cast::<usize>() = object.base() + symbol.st_value as usize;
                    1
                }
                None => 0,
            }
        }
    }
    // SAFETY: the callback gets the number that lives here.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut address).cast()) };
    address
}

/// PMPI_Initialized, where the process has a visible MPI from the start; 0: none.
static INITIALIZED: AtomicUsize = AtomicUsize::new(0);
/// True if this process is to say what holds for all ranks.
static SAYS: AtomicBool = AtomicBool::new(false);

/// Runs when the dynamic loader has loaded the recorder, before the program.
#[ctor::ctor(unsafe)]
fn at_load() {
    SAYS.store(launcher::rank().is_none_or(|rank| rank == 0), Relaxed);
    // Looked up now, because at exit the loader's look-ups may not be used: they may allocate.
    let address = foreign::visible(c"PMPI_Initialized");
    if address != 0 {
        INITIALIZED.store(address, Relaxed);
    }
    // SAFETY: the calling thread's state.
    unsafe { enter::cold(thread::current(), weak::look) };
}

/// The process exits, and no initialisation of MPI was seen: says so if there was one all the same. Returns whether there was one. May run in a
/// signal handler.
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
