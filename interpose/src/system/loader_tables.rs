//! The tables of an object that the loader works with (ELF specification, "Dynamic Section").

use std::ffi::c_char;

use crate::system::objects::LoadedObject;

/// A word that the loader fills (ELF specification, "Relocation").
#[repr(C)]
pub struct ElfRelocation {
    /// Place of the word, relative to the object's address.
    pub offset: u64,
    /// Kind of the relocation, and in the upper half the symbol.
    pub info: u64,
    /// Number that is added.
    pub addend: u64,
}

/// The head of a table by which symbols are found (GNU's extension of ELF, `DT_GNU_HASH`). After it come the filter's words, the buckets and the chains.
#[repr(C)]
pub struct GnuHashHead {
    /// Number of buckets.
    pub buckets: u32,
    /// The first symbol that the table has. All that the object does not define are before it.
    pub first_symbol: u32,
    /// Number of the filter's words.
    pub filter_words: u32,
    /// Bits by which a hash is shifted for the filter's second bit.
    pub filter_shift: u32,
}

/// An object's tables: of symbols, of their names, and of relocations.
pub struct LoaderTables {
    /// The dynamic symbols.
    pub symbols: *const libc::Elf64_Sym,
    /// The names, each of which ends with a zero.
    pub strings: *const c_char,
    /// The bytes of all names.
    pub strings_bytes: usize,
    /// The table by which the loader finds the symbols that the object defines; null: it has another one.
    pub gnu_hash: *const GnuHashHead,
    relocations: *const ElfRelocation,
    relocations_bytes: usize,
    jumps: *const ElfRelocation,
    jumps_bytes: usize,
}

impl LoaderTables {
    /// The words that calls jump through.
    ///
    /// The object is loaded.
    pub fn jumps(&self) -> &[ElfRelocation] {
        if self.jumps.is_null() {
            return &[];
        }
        // SAFETY: as in `relocations`.
        unsafe { std::slice::from_raw_parts(self.jumps, self.jumps_bytes / size_of::<ElfRelocation>()) }
    }

    /// The words that the loader fills, but for those that calls jump through.
    ///
    /// The object is loaded.
    pub fn relocations(&self) -> &[ElfRelocation] {
        if self.relocations.is_null() {
            return &[];
        }
        // SAFETY: the dynamic section says where they are and how long they are.
        unsafe { std::slice::from_raw_parts(self.relocations, self.relocations_bytes / size_of::<ElfRelocation>()) }
    }
}

impl LoadedObject<'_> {
    /// The tables; `None`: it has no dynamic symbols.
    pub fn loader_tables(&self) -> Option<LoaderTables> {
        const DT_STRTAB: usize = 5;
        const DT_SYMTAB: usize = 6;
        const DT_RELA: usize = 7;
        const DT_RELASZ: usize = 8;
        const DT_STRSZ: usize = 10;
        const DT_PLTRELSZ: usize = 2;
        const DT_JMPREL: usize = 23;
        const DT_GNU_HASH: usize = 0x6fff_fef5;
        let (mut strings, mut symbols, mut relocations, mut jumps, mut gnu_hash) = (0, 0, 0, 0, 0);
        let (mut strings_bytes, mut relocations_bytes, mut jumps_bytes) = (0, 0, 0);
        for [tag, value] in self.dynamic_entries() {
            // The loader has added the object's address, except where the section cannot be written.
            let address = if value < self.base() { value + self.base() } else { value };
            match tag {
                DT_STRTAB => strings = address,
                DT_SYMTAB => symbols = address,
                DT_STRSZ => strings_bytes = value,
                DT_RELA => relocations = address,
                DT_RELASZ => relocations_bytes = value,
                DT_JMPREL => jumps = address,
                DT_PLTRELSZ => jumps_bytes = value,
                DT_GNU_HASH => gnu_hash = address,
                _ => {}
            }
        }
        (strings != 0 && symbols != 0).then_some(LoaderTables {
            symbols: symbols as *const libc::Elf64_Sym,
            strings: strings as *const c_char,
            strings_bytes,
            gnu_hash: gnu_hash as *const GnuHashHead,
            relocations: relocations as *const ElfRelocation,
            relocations_bytes,
            jumps: jumps as *const ElfRelocation,
            jumps_bytes,
        })
    }

    /// The entries of the dynamic section: tags and values.
    pub fn dynamic_entries(&self) -> impl Iterator<Item = [usize; 2]> + use<> {
        let first =
            self.segments(libc::PT_DYNAMIC).next().map_or(std::ptr::null(), |(begin, _)| begin as *const [usize; 2]);
        (0..)
            // SAFETY: the section of a loaded object ends with an entry of tag 0.
            .map_while(move |at| if first.is_null() { None } else { Some(unsafe { *first.add(at) }) })
            .take_while(|[tag, _]| *tag != 0)
    }
}
