//! The names that a loaded object defines for others, and those that it takes from others (ELF specification, "Dynamic Section", "Symbol Table").
//!
//! The loader's look-ups answer for one name, and allocate where they find nothing. To read the tables answers for all names, and neither allocates nor
//! locks.

use std::ffi::CStr;

use crate::system::objects::LoadedObject;

/// A symbol and its name.
pub type NamedSymbol = (&'static libc::Elf64_Sym, &'static CStr);

/// The symbols that an object defines.
///
/// # Safety
/// The object stays loaded.
pub unsafe fn defined(object: &LoadedObject) -> impl Iterator<Item = NamedSymbol> {
    // SAFETY: the caller's promise.
    unsafe {
        let table = SymbolTable::of_object(object);
        table.named(table.all, |symbol| symbol.st_shndx != 0)
    }
}

/// The symbols that an object leaves for others to define.
///
/// # Safety
/// The object stays loaded.
pub unsafe fn undefined(object: &LoadedObject) -> impl Iterator<Item = NamedSymbol> {
    // SAFETY: the caller's promise.
    unsafe {
        let table = SymbolTable::of_object(object);
        table.named(table.before_defined, is_undefined)
    }
}

/// The undefined symbols that may be missing: then their address is null.
///
/// # Safety
/// The object stays loaded.
pub unsafe fn undefined_weak(object: &LoadedObject) -> impl Iterator<Item = NamedSymbol> {
    // SAFETY: the caller's promise.
    unsafe {
        let table = SymbolTable::of_object(object);
        table.named(table.before_defined, is_undefined_weak)
    }
}

fn is_undefined(symbol: &libc::Elf64_Sym) -> bool {
    symbol.st_shndx == 0
}

/// Returns whether a symbol may be missing.
pub fn is_undefined_weak(symbol: &libc::Elf64_Sym) -> bool {
    const WEAK: u8 = 2;
    is_undefined(symbol) && symbol.st_info >> 4 == WEAK
}

/// An object's dynamic symbols, and where the table of their names begins and how long it is.
struct SymbolTable {
    all: &'static [libc::Elf64_Sym],
    /// Those before the first that the object is known to define.
    before_defined: &'static [libc::Elf64_Sym],
    strings: usize,
    strings_bytes: usize,
}

impl SymbolTable {
    /// # Safety
    /// The object stays loaded.
    unsafe fn of_object(object: &LoadedObject) -> SymbolTable {
        let none = SymbolTable { all: &[], before_defined: &[], strings: 0, strings_bytes: 0 };
        let Some(tables) = object.loader_tables() else { return none };
        let (strings, symbols) = (tables.strings as usize, tables.symbols as usize);
        // Nothing says how many symbols there are, but linkers place their names after them.
        if strings <= symbols {
            return none;
        }
        // SAFETY: the caller's promise.
        unsafe {
            let all = std::slice::from_raw_parts(tables.symbols, (strings - symbols) / size_of::<libc::Elf64_Sym>());
            let first = tables.gnu_hash.as_ref().map(|head| head.first_symbol as usize);
            // A table without symbols gives 1 for the first, whatever that is.
            let first = first.filter(|&at| all.get(at).is_some_and(|symbol| symbol.st_shndx != 0));
            let before_defined = first.and_then(|first| all.get(..first)).unwrap_or(all);
            SymbolTable { all, before_defined, strings, strings_bytes: tables.strings_bytes }
        }
    }

    /// Returns those of `some` symbols that are `wanted`, with their names.
    ///
    /// # Safety
    /// The object stays loaded.
    unsafe fn named<F: Fn(&libc::Elf64_Sym) -> bool>(
        &self,
        some: &'static [libc::Elf64_Sym],
        wanted: F,
    ) -> impl Iterator<Item = NamedSymbol> + use<F> {
        let SymbolTable { strings, strings_bytes, .. } = *self;
        some.iter()
            .filter(move |symbol| wanted(symbol) && symbol.st_name != 0 && (symbol.st_name as usize) < strings_bytes)
            // SAFETY: names lie in the table of strings, and end with a zero.
            .map(move |symbol| (symbol, unsafe { CStr::from_ptr((strings + symbol.st_name as usize) as *const _) }))
    }
}
