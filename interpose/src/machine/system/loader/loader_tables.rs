//! The tables of an object that the loader works with (ELF specification, "Dynamic Section").

use std::ffi::c_char;

use crate::machine::system::loader::objects::LoadedObject;

/// A word that the loader fills (ELF specification, "Relocation").
#[repr(C)]
pub struct ElfRelocation {
    /// Place of the word, relative to the object's address.
    pub offset: u64,
    /// Kind of the relocation, and in the upper half the symbol.
    pub info: u64,
    pub addend: u64,
}

/// The head of a table by which symbols are found (GNU's extension of ELF, `DT_GNU_HASH`). After it come the filter's words, the buckets and the chains.
#[repr(C)]
pub struct GnuHashHead {
    pub buckets: u32,
    /// The first symbol that the table has. All that the object does not define are before it.
    pub first_symbol: u32,
    pub filter_words: u32,
    /// Bits by which a hash is shifted for the filter's second bit.
    pub filter_shift: u32,
}

/// A table of relocations, and its bytes; null: there is none.
type RelocationTable = (*const ElfRelocation, usize);

/// An object's tables: of symbols, of their names, and of relocations.
pub struct LoaderTables {
    pub symbols: *const libc::Elf64_Sym,
    /// The names, each of which ends with a zero.
    pub strings: *const c_char,
    pub strings_bytes: usize,
    /// The table by which the loader finds the symbols that the object defines; null: it has another one.
    pub gnu_hash: *const GnuHashHead,
    /// The words that the loader fills, but for those that calls jump through; and these.
    relocations: [RelocationTable; 2],
}

impl LoaderTables {
    /// Returns all symbols. Nothing says how many there are, but linkers place their names after them.
    ///
    /// # Safety
    /// The object stays loaded.
    pub unsafe fn all_symbols(&self) -> &'static [libc::Elf64_Sym] {
        let bytes = (self.strings as usize).saturating_sub(self.symbols as usize);
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(self.symbols, bytes / size_of::<libc::Elf64_Sym>()) }
    }

    /// Returns the words that the loader fills. The object is loaded.
    pub fn relocations(&self) -> impl Iterator<Item = &ElfRelocation> {
        self.relocations.iter().filter(|(first, _)| !first.is_null()).flat_map(|&(first, bytes)| {
            // SAFETY: the dynamic section says where they are and how long they are.
            unsafe { std::slice::from_raw_parts(first, bytes / size_of::<ElfRelocation>()) }
        })
    }
}

impl LoadedObject<'_> {
    /// Returns the tables, or `None` if the object has no dynamic symbols.
    pub fn loader_tables(&self) -> Option<LoaderTables> {
        const DT_PLTRELSZ: usize = 2;
        const DT_STRTAB: usize = 5;
        const DT_SYMTAB: usize = 6;
        const DT_RELA: usize = 7;
        const DT_RELASZ: usize = 8;
        const DT_STRSZ: usize = 10;
        const DT_JMPREL: usize = 23;
        const DT_GNU_HASH: usize = 0x6fff_fef5;
        let tables = LoaderTables {
            symbols: self.dynamic_address(DT_SYMTAB) as *const libc::Elf64_Sym,
            strings: self.dynamic_address(DT_STRTAB) as *const c_char,
            strings_bytes: self.dynamic_value(DT_STRSZ),
            gnu_hash: self.dynamic_address(DT_GNU_HASH) as *const GnuHashHead,
            relocations: [(DT_RELA, DT_RELASZ), (DT_JMPREL, DT_PLTRELSZ)]
                .map(|(table, size)| (self.dynamic_address(table) as *const ElfRelocation, self.dynamic_value(size))),
        };
        (!tables.symbols.is_null() && !tables.strings.is_null()).then_some(tables)
    }

    /// Returns the value of the entry with this tag in the dynamic section, or 0.
    fn dynamic_value(&self, tag: usize) -> usize {
        self.dynamic_entries().find(|entry| entry[0] == tag).map_or(0, |[_, value]| value)
    }

    /// Returns the address in the entry with this tag, or 0.
    fn dynamic_address(&self, tag: usize) -> usize {
        match self.dynamic_value(tag) {
            0 => 0,
            // The loader has added the object's address, except where the section cannot be written.
            value if value < self.base() => value + self.base(),
            value => value,
        }
    }

    pub fn dynamic_entries(&self) -> impl Iterator<Item = [usize; 2]> + use<> {
        let first =
            self.segments(libc::PT_DYNAMIC).next().map_or(std::ptr::null(), |(begin, _)| begin as *const [usize; 2]);
        (0..)
            // SAFETY: the section of a loaded object ends with an entry of tag 0.
            .map_while(move |at| if first.is_null() { None } else { Some(unsafe { *first.add(at) }) })
            .take_while(|[tag, _]| *tag != 0)
    }
}
