//! Weak references to functions that the MPI library does not have.
//!
//! A program may ask whether a function is there: it refers to it weakly, and compares its address with null (mpi4py does so with all
//! functions of later standards). This library has every function, so all of them would seem to be there. So such references are made null
//! again, as the loader leaves them without this library: before the program starts in the objects that the process starts with, and when
//! MPI is initialised in the objects loaded since. Objects loaded later keep their references.
//!
//! Only words that a program compares are changed: words of the loader's table that hold addresses (GLOB_DAT, 64), not words that calls jump
//! through (JUMP_SLOT).

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::sync::atomic::{
    AtomicBool, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::harmless::signals;
use crate::machine::processor::{TABLE_RELOCATION, WORD_RELOCATION};
use crate::machine::system::loader::dynamic_symbols::{
    SymbolReference, filled_words, is_undefined_weak, undefined_symbols,
};
use crate::machine::system::loader::objects;
use crate::machine::system::loader::objects::{LoadedObject, ObjectChanges};
use crate::mpi::symbols;

/// Counts of loads and unloads when references were last looked at.
static LOOKED: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
/// True if a thread looks. Others do not wait for it: it waits for the loader's lock, which they may hold while they load an object that
/// initialises MPI.
static IS_BUSY: AtomicBool = AtomicBool::new(false);

/// Makes references null that would be null without this library, if objects were loaded since the last time.
pub fn clear_missing_references() {
    signals::run_critical_section(|| {
        if !IS_BUSY.swap(true, Acquire) {
            look_again();
            IS_BUSY.store(false, Release);
        }
    });
}

/// A thread that loads an object meanwhile holds the loader's lock, and may still have to fill the object's words. Each look-up by name waits for
/// that lock, so an object that is there before the look-ups is complete after them, unless more were loaded in between.
fn look_again() {
    const ATTEMPTS: usize = 4;
    let Some(ours) = objects::look_at(clear_missing_references as fn() as usize, |object| object.bounds()).flatten()
    else {
        return;
    };
    let [loaded, unloaded] = &LOOKED;
    let known = ObjectChanges { loaded: loaded.load(Relaxed), unloaded: unloaded.load(Relaxed) };
    for _ in 0..ATTEMPTS {
        let mut is_there: BTreeMap<CString, bool> = BTreeMap::new();
        let found = objects::visit_objects(Some(known), |object| {
            each_reference(object, ours, |name, _| {
                is_there.entry(name.to_owned()).or_insert(true);
            });
        });
        let Some(changes) = found else { return };
        for (name, there) in &mut is_there {
            *there = symbols::find_function(&profiling_name(name), name) != 0;
        }
        let mut is_complete = true;
        if is_there.values().any(|there| !there) {
            objects::visit_objects(None, |object| {
                is_complete &= object.changes() == changes;
                if is_complete {
                    each_reference(object, ours, |name, word| {
                        if is_there.get(name) == Some(&false) {
                            set_word(object, word, 0);
                        }
                    });
                }
            });
        }
        if is_complete {
            loaded.store(changes.loaded, Relaxed);
            unloaded.store(changes.unloaded, Relaxed);
            return;
        }
    }
}

/// Returns the name for profiling: MPI_Send → PMPI_Send, mpi_send_ → pmpi_send_.
fn profiling_name(name: &CStr) -> CString {
    let first = if name.to_bytes().starts_with(b"M") { b'P' } else { b'p' };
    CString::new([&[first], name.to_bytes()].concat()).unwrap_or_default()
}

/// Calls `then` for an object's weak references to functions of MPI that are bound to `ours`, with the name and the word that holds the
/// address.
fn each_reference(object: &LoadedObject, ours: (usize, usize), mut then: impl FnMut(&CStr, *const AtomicUsize)) {
    // SAFETY: the loader's lock is held.
    let mut missing = unsafe { undefined_symbols(object) }.filter(|(symbol, _)| is_undefined_weak(symbol));
    // An object may have a hundred thousand relocations, and few symbols that may be missing.
    let has_any = missing.any(|(_, name)| symbols::is_of_mpi(name));
    let Some(tables) = object.loader_tables().filter(|_| has_any) else { return };
    for SymbolReference { relocation, symbol, word } in filled_words(*object, &tables) {
        let kind = relocation.info & 0xffff_ffff;
        let is_whole = kind == TABLE_RELOCATION || kind == WORD_RELOCATION && relocation.addend == 0;
        // SAFETY: the word lies in the object's data; the loader's tables are as it needs them.
        unsafe {
            if is_whole && is_undefined_weak(symbol) && (ours.0..ours.1).contains(&(*word).load(Relaxed)) {
                let name = CStr::from_ptr(tables.strings.add(symbol.st_name as usize));
                if symbols::is_of_mpi(name) {
                    then(name, word);
                }
            }
        }
    }
}

/// Changes the address in a word by which an object refers to another one. If the loader has made its page read-only, as it does once an
/// object is complete, the page is read-only again afterwards.
pub fn set_word(object: &LoadedObject, word: *const AtomicUsize, address: usize) {
    // SAFETY: no arguments but a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let begin = word as usize / page * page;
    let is_read_only = object
        .segments(libc::PT_GNU_RELRO)
        .any(|(first, last)| (first / page * page..last / page * page).contains(&(word as usize)));
    // SAFETY: the page of a word of a loaded object, which nothing else changes any more.
    unsafe {
        let page_of_word = begin as *mut libc::c_void;
        if is_read_only && libc::mprotect(page_of_word, page, libc::PROT_READ | libc::PROT_WRITE) != 0 {
            return;
        }
        (*word).store(address, Relaxed);
        if is_read_only {
            libc::mprotect(page_of_word, page, libc::PROT_READ);
        }
    }
}
