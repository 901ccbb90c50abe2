//! The names that a loaded object defines for others, and those that it takes from others (ELF specification, "Dynamic Section", "Symbol Table").
//!
//! The loader's look-ups answer for one name, and allocate where they find nothing. To read the tables answers for all names, and neither allocates nor
//! locks.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::machine::system::loader::loader_tables::{ElfRelocation, GnuHashHead, LoaderTables};
use crate::machine::system::loader::objects;
use crate::machine::system::loader::objects::{LoadedObject, ObjectChanges};

pub type NamedSymbol = (&'static libc::Elf64_Sym, &'static CStr);

/// Returns the symbols that an object defines.
///
/// # Safety
/// The object stays loaded.
pub unsafe fn defined_symbols(object: &LoadedObject) -> impl Iterator<Item = NamedSymbol> + use<> {
    // SAFETY: the caller's promise.
    unsafe { named_symbols(object, false) }
}

/// Returns the symbols that an object leaves for others to define.
///
/// # Safety
/// The object stays loaded.
pub unsafe fn undefined_symbols(object: &LoadedObject) -> impl Iterator<Item = NamedSymbol> + use<> {
    // SAFETY: the caller's promise.
    unsafe { named_symbols(object, true) }
}

/// Returns the symbols with names that an object defines, or leaves undefined.
///
/// # Safety
/// The object stays loaded.
unsafe fn named_symbols(object: &LoadedObject, undefined: bool) -> impl Iterator<Item = NamedSymbol> + use<> {
    let tables = object.loader_tables();
    // SAFETY: the caller's promise.
    let all = tables.as_ref().map_or(&[][..], |tables| unsafe { tables.all_symbols() });
    // Those that the object does not define come first. A table without symbols gives 1 for the first that it defines, whatever that is.
    // SAFETY: as above.
    let head = tables.as_ref().and_then(|tables| unsafe { tables.gnu_hash.as_ref() }).filter(|_| undefined);
    let first_defined = head.map(|head| head.first_symbol as usize);
    let first_defined = first_defined.filter(|&at| all.get(at).is_some_and(|symbol| symbol.st_shndx != 0));
    let some = first_defined.and_then(|first| all.get(..first)).unwrap_or(all);
    let (strings, bytes) = tables.map_or((std::ptr::null(), 0), |tables| (tables.strings, tables.strings_bytes));
    some.iter()
        .filter(move |symbol| (symbol.st_shndx == 0) == undefined)
        .filter(move |symbol| symbol.st_name != 0 && (symbol.st_name as usize) < bytes)
        // SAFETY: names lie in the table of strings, and end with a zero.
        .map(move |symbol| (symbol, unsafe { CStr::from_ptr(strings.add(symbol.st_name as usize)) }))
}

/// Returns whether a symbol may be missing.
pub fn is_undefined_weak(symbol: &libc::Elf64_Sym) -> bool {
    const WEAK: u8 = 2;
    symbol.st_shndx == 0 && symbol.st_info >> 4 == WEAK
}

/// The loaded objects except this library, and what they define, while nothing is unloaded. For many look-ups it is much faster than the loader,
/// which takes longest for names that are missing.
pub struct LoadedSymbols {
    objects: Vec<ObjectSymbols>,
    changes: ObjectChanges,
}

pub struct ObjectSymbols {
    info: libc::dl_phdr_info,
    tables: LoaderTables,
    /// True if the loader searches this library first.
    is_after_us: bool,
}

impl LoadedSymbols {
    pub fn read() -> LoadedSymbols {
        let (mut objects, mut is_after_us) = (Vec::new(), false);
        let changes = objects::visit_objects(None, |object| match ObjectSymbols::of_other(object) {
            Some(symbols) => objects.push(ObjectSymbols { is_after_us, ..symbols }),
            None => is_after_us |= is_ours(object),
        });
        LoadedSymbols { objects, changes: changes.unwrap_or_default() }
    }

    /// Returns the numbers of objects loaded and unloaded before.
    pub fn changes(&self) -> ObjectChanges {
        self.changes
    }

    /// Returns the objects in the loader's order.
    pub fn objects(&self) -> impl Iterator<Item = &ObjectSymbols> {
        self.objects.iter()
    }

    pub fn object_at(&self, address: usize) -> Option<&ObjectSymbols> {
        self.objects().find(|object| object.contains(address))
    }

    pub fn definitions<'a>(&'a self, name: &'a CStr) -> impl Iterator<Item = (&'a ObjectSymbols, usize)> {
        let hash = gnu_hash(name);
        self.objects().filter_map(move |object| Some((object, object.find(name, hash)?)))
    }

    /// Returns the definitions of a name that come after this library's.
    pub fn next_definitions<'a>(&'a self, name: &'a CStr) -> impl Iterator<Item = (&'a ObjectSymbols, usize)> {
        self.definitions(name).filter(|(object, _)| object.is_after_us)
    }

    /// Returns the objects in which the loader looks for what `object` needs, besides those that all can see: the object and everything that it was
    /// linked with, directly or not; then the same for objects that were linked with it.
    pub fn scope<'a>(&'a self, object: &'a ObjectSymbols) -> Vec<&'a ObjectSymbols> {
        let mut scope = self.closure(object);
        for other in self.objects() {
            let closure = self.closure(other);
            if closure.iter().any(|one| std::ptr::eq(*one, object)) {
                scope.extend(closure);
            }
        }
        scope
    }

    /// Returns an object and everything that it was linked with, directly or not.
    fn closure<'a>(&'a self, object: &'a ObjectSymbols) -> Vec<&'a ObjectSymbols> {
        const DT_NEEDED: usize = 1;
        let mut closure = vec![object];
        let mut at = 0;
        while let Some(&next) = closure.get(at) {
            for name in next.dynamic_names(DT_NEEDED) {
                let needed = self.objects().find(|other| other.is_named(name));
                closure.extend(needed.filter(|needed| !closure.iter().any(|one| std::ptr::eq(*one, *needed))));
            }
            at += 1;
        }
        closure
    }
}

fn is_ours(object: &LoadedObject) -> bool {
    object.holds(is_ours as *const () as usize)
}

impl ObjectSymbols {
    /// Returns the symbols of an object, or `None` if it has none or is this library. They hold while the object is loaded.
    pub fn of_other(object: &LoadedObject) -> Option<ObjectSymbols> {
        let tables = object.loader_tables().filter(|_| !is_ours(object))?;
        Some(ObjectSymbols { info: object.description(), tables, is_after_us: false })
    }

    pub fn object(&self) -> LoadedObject<'_> {
        LoadedObject::new(&self.info)
    }

    pub fn contains(&self, address: usize) -> bool {
        self.object().holds(address)
    }

    /// Returns the address of the function or variable of this name that the object defines.
    pub fn definition(&self, name: &CStr) -> Option<usize> {
        self.find(name, gnu_hash(name))
    }

    /// Finds a name by its hash, as the loader does.
    fn find(&self, name: &CStr, hash: u32) -> Option<usize> {
        let Some(head) = std::ptr::NonNull::new(self.tables.gnu_hash.cast_mut()) else {
            // SAFETY: the object is loaded.
            let found =
                unsafe { defined_symbols(&self.object()) }.find(|(symbol, known)| is_address(symbol) && *known == name);
            return found.map(|(symbol, _)| self.object().base() + symbol.st_value as usize);
        };
        // SAFETY: the tables of a loaded object are as its linker made them: each bucket's chain ends with an odd hash.
        unsafe {
            let GnuHashHead { buckets, first_symbol, filter_words, filter_shift } = *head.as_ptr();
            if buckets == 0 || filter_words == 0 {
                return None;
            }
            let filter = head.as_ptr().add(1).cast::<u64>();
            let word = filter.add((hash / 64 % filter_words) as usize).read_unaligned();
            if word >> (hash % 64) & word >> ((hash >> filter_shift) % 64) & 1 == 0 {
                return None;
            }
            let bucket = filter.add(filter_words as usize).cast::<u32>();
            let chain = bucket.add(buckets as usize);
            let mut at = *bucket.add((hash % buckets) as usize);
            while at >= first_symbol {
                let known = *chain.add((at - first_symbol) as usize);
                let symbol = &*self.tables.symbols.add(at as usize);
                if known | 1 == hash | 1 && is_address(symbol) && self.string(symbol.st_name as usize) == name {
                    return Some(self.object().base() + symbol.st_value as usize);
                }
                if known & 1 == 1 {
                    break;
                }
                at += 1;
            }
        }
        None
    }

    /// Returns the names that the object takes from others.
    pub fn undefined_names(&self) -> impl Iterator<Item = &'static CStr> {
        // SAFETY: the object is loaded.
        unsafe { undefined_symbols(&self.object()) }.map(|(_, name)| name)
    }

    /// Returns whether the object refers to a name by its tables, its own or another object's.
    pub fn is_referring_to(&self, name: &CStr) -> bool {
        self.definition(name).is_some() || self.undefined_names().any(|undefined| undefined == name)
    }

    pub fn bound_words(&self, name: &CStr, address: usize) -> impl Iterator<Item = *const AtomicUsize> {
        let words = filled_words(self.object(), &self.tables);
        // SAFETY: a word of the object's data.
        let bound = words.filter(move |reference| unsafe { (*reference.word).load(Relaxed) } == address);
        bound
            .filter(move |reference| self.string(reference.symbol.st_name as usize) == name)
            .map(|reference| reference.word)
    }

    /// Returns whether other objects name it so when they are linked with it.
    fn is_named(&self, name: &CStr) -> bool {
        const DT_SONAME: usize = 14;
        let object = self.object();
        let path = object.path().to_bytes();
        path.rsplit(|&byte| byte == b'/').next() == Some(name.to_bytes())
            || path == name.to_bytes()
            || self.dynamic_names(DT_SONAME).any(|own| own == name)
    }

    fn dynamic_names(&self, tag: usize) -> impl Iterator<Item = &'static CStr> {
        self.object().dynamic_entries().filter(move |entry| entry[0] == tag).map(|[_, at]| self.string(at))
    }

    fn string(&self, at: usize) -> &'static CStr {
        // SAFETY: the tables give places of strings, which lie in the loaded object.
        unsafe { CStr::from_ptr(self.tables.strings.add(at)) }
    }
}

/// Returns whether a symbol is defined with an address in the object: thread-local variables have offsets, indirect functions resolvers.
fn is_address(symbol: &libc::Elf64_Sym) -> bool {
    const THREAD_VARIABLE: u8 = 6;
    const INDIRECT_FUNCTION: u8 = 10;
    symbol.st_shndx != 0 && ![THREAD_VARIABLE, INDIRECT_FUNCTION].contains(&(symbol.st_info & 15))
}

fn gnu_hash(name: &CStr) -> u32 {
    name.to_bytes().iter().fold(5381u32, |hash, &byte| hash.wrapping_mul(33).wrapping_add(u32::from(byte)))
}

/// A word of an object's data that the loader fills with the address of a symbol.
pub struct SymbolReference<'a> {
    pub relocation: &'a ElfRelocation,
    pub symbol: &'static libc::Elf64_Sym,
    pub word: *const AtomicUsize,
}

/// Returns the words of a loaded object, which has these tables, that the loader fills.
pub fn filled_words<'a>(
    object: LoadedObject<'a>,
    tables: &'a LoaderTables,
) -> impl Iterator<Item = SymbolReference<'a>> {
    tables.relocations().filter_map(move |relocation| {
        let word = object.base().wrapping_add(relocation.offset as usize) as *const AtomicUsize;
        let is_data = object.writable().any(|(begin, end)| (begin..end).contains(&(word as usize)));
        // SAFETY: the loader's tables are as it needs them.
        let symbol = unsafe { &*tables.symbols.add((relocation.info >> 32) as usize) };
        (is_data && word.is_aligned()).then_some(SymbolReference { relocation, symbol, word })
    })
}
