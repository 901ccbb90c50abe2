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

use crate::{flush, forward, guard, launcher, nesting};

/// Looks for functions whose calls will not be seen; the log tells which, and the first rank says so.
pub fn look(rank: i32) {
    let wrapped: Vec<(&str, String)> = forward::c_names()
        .filter_map(|(profiling, own)| {
            let object = defined_before(own)?;
            (forward::symbol(profiling) != 0).then(|| (own.to_str().unwrap_or_default(), object))
        })
        .collect();
    if let Some((_, object)) = wrapped.first() {
        let names: Vec<&str> = wrapped.iter().map(|(name, _)| *name).collect();
        let detail = format!("{} in {object}", listed(&names));
        if rank == 0 {
            guard::say(format_args!(
                "calls are not recorded that another wrapper gets first: {detail} (README, Other tools)"
            ));
        }
        flush::define(Definition::Problem(ProblemKind::WrappedBefore as u16, wrapped.len() as u64, detail));
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
        flush::define(Definition::Problem(ProblemKind::DirectCalls as u16, direct.len() as u64, detail));
    }
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
    // SAFETY: a look-up by name.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize;
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
    let with_symbol = forward::symbol(c"dladdr1");
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

/// Names of the functions that the program's own file takes from libraries.
fn undefined_in_program() -> BTreeSet<&'static CStr> {
    let mut names = BTreeSet::new();
    unsafe extern "C" fn first(object: *mut libc::dl_phdr_info, _: usize, names: *mut c_void) -> c_int {
        // SAFETY: dl_iterate_phdr passes a valid description, the program's first, and our own pointer.
        unsafe { undefined_in(&*object, &mut *names.cast()) };
        1
    }
    // SAFETY: the callback gets the set that lives here.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut names).cast()) };
    names
}

/// Adds what an object's dynamic symbols (ELF specification, "Dynamic Section", "Symbol Table") leave undefined.
///
/// # Safety
/// `object` describes an object that stays loaded.
unsafe fn undefined_in(object: &libc::dl_phdr_info, names: &mut BTreeSet<&'static CStr>) {
    const DT_STRTAB: u64 = 5;
    const DT_SYMTAB: u64 = 6;
    const DT_STRSZ: u64 = 10;
    // SAFETY: the caller's promise. The dynamic section ends with an entry of tag 0.
    unsafe {
        let segments = std::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum));
        let Some(dynamic) = segments.iter().find(|segment| segment.p_type == libc::PT_DYNAMIC) else { return };
        let mut entry = (object.dlpi_addr + dynamic.p_vaddr) as *const [u64; 2];
        let (mut strings, mut symbols, mut bytes) = (0, 0, 0);
        loop {
            let [tag, value] = *entry;
            if tag == 0 {
                break;
            }
            // The loader has added the object's address, except where the section cannot be written.
            let address = if value < object.dlpi_addr { value + object.dlpi_addr } else { value };
            match tag {
                DT_STRTAB => strings = address,
                DT_SYMTAB => symbols = address,
                DT_STRSZ => bytes = value,
                _ => {}
            }
            entry = entry.add(1);
        }
        // Nothing says how many symbols there are, but linkers place their names behind them.
        if symbols == 0 || strings <= symbols {
            return;
        }
        let n = (strings - symbols) as usize / size_of::<libc::Elf64_Sym>();
        for symbol in std::slice::from_raw_parts(symbols as *const libc::Elf64_Sym, n) {
            if symbol.st_shndx == 0 && symbol.st_name != 0 && u64::from(symbol.st_name) < bytes {
                names.insert(CStr::from_ptr((strings + u64::from(symbol.st_name)) as *const _));
            }
        }
    }
}

/// PMPI_Initialized, where the process has an MPI from the start; 0: none.
static INITIALIZED: AtomicUsize = AtomicUsize::new(0);
/// Whether this process is to say what holds for all ranks.
static SAYS: AtomicBool = AtomicBool::new(false);

extern "C" fn at_load() {
    // Looked up now, for at exit no lock may be taken.
    // SAFETY: a look-up by name.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"PMPI_Initialized".as_ptr()) } as usize;
    if address != 0 {
        INITIALIZED.store(address, Relaxed);
        SAYS.store(launcher::rank().is_none_or(|rank| rank == 0), Relaxed);
    }
}

/// The functions that the dynamic loader calls first of all.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;

/// The process exits, and no initialisation of MPI was seen: says so if there was one all the same. May run in a signal handler.
pub fn tell_unseen() {
    const TEXT: &str = "lbprof: MPI was started, but its start was not seen (the program, or a library before liblbprof.so, wraps \
                        MPI_Init or calls PMPI_Init): nothing is recorded (README, Other tools)\n";
    let address = INITIALIZED.load(Relaxed);
    if address == 0 || !SAYS.load(Relaxed) {
        return;
    }
    let mut initialized: c_int = 0;
    // SAFETY: MPI_Initialized may be called at any time (MPI-4.1 §11.2.3).
    unsafe {
        let ask: unsafe extern "C" fn(*mut c_int) -> c_int = std::mem::transmute(address);
        ask(&mut initialized);
    }
    if initialized != 0 {
        guard::write_line(TEXT);
    }
}
