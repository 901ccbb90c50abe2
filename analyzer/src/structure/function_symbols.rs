//! Functions by the symbol tables of a file: the static one, that of `.gnu_debugdata` (symbols of a stripped file in compressed form, which
//! some distributions keep), and the dynamic one.
//!
//! An address has the name of the function that it lies in, not of the nearest one that a stripped file has kept.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use lzma_rust2::XzReader;
use object::read::ReadCache;
use object::{Object, ObjectSection, ObjectSymbol, ReadRef, SymbolKind};

/// Most bytes of the file in `.gnu_debugdata`; those of a program of a gigabyte have some ten megabytes.
const MAX_BYTES: u64 = 256 << 20;

/// Most memory of its decompression, in KiB.
const MAX_MEMORY_KIB: u32 = 64 << 10;

/// The names of functions around addresses, as a file's tables have them, by address.
pub(super) fn function_names(path: &Path, addresses: &[u64]) -> HashMap<u64, String> {
    let mut found = Found::new(addresses);
    if addresses.is_empty() {
        return HashMap::new();
    }
    let Ok(file) = File::open(path) else { return HashMap::new() };
    let cache = ReadCache::new(file);
    if let Ok(file) = object::File::parse(&cache) {
        found.add(&file);
        let kept = file.section_by_name(".gnu_debugdata").and_then(|section| decompressed(section.data().ok()?));
        if let Some(Ok(kept)) = kept.as_deref().map(object::File::parse) {
            found.add(&kept);
        }
    }
    found.names()
}

/// The file in `.gnu_debugdata`; `None` where it is damaged or too large.
fn decompressed(section: &[u8]) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    let reader = XzReader::new_mem_limit(section, true, MAX_MEMORY_KIB);
    reader.take(MAX_BYTES + 1).read_to_end(&mut data).ok()?;
    Some(data).filter(|data| data.len() as u64 <= MAX_BYTES)
}

/// The best symbol of each address.
struct Found {
    /// Ascending.
    addresses: Vec<u64>,
    best: Vec<Option<Symbol>>,
}

/// A function.
struct Symbol {
    begin: u64,
    is_global: bool,
    name: String,
}

impl Found {
    fn new(addresses: &[u64]) -> Found {
        let mut addresses = addresses.to_vec();
        addresses.sort_unstable();
        addresses.dedup();
        let best = addresses.iter().map(|_| None).collect();
        Found { addresses, best }
    }

    fn add<'data, R: ReadRef<'data>>(&mut self, file: &object::File<'data, R>) {
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            if symbol.kind() != SymbolKind::Text || symbol.is_undefined() {
                continue;
            }
            let (begin, end) = (symbol.address(), symbol.address().saturating_add(symbol.size()));
            let from = self.addresses.partition_point(|&address| address < begin);
            let to = self.addresses.partition_point(|&address| address < end);
            for best in self.best.get_mut(from..to).into_iter().flatten() {
                let Ok(name) = symbol.name() else { continue };
                let is_global = symbol.is_global();
                // The innermost; of several names of one function a public one.
                let is_better =
                    |known: &Symbol| (begin, is_global, known.name.as_str()) > (known.begin, known.is_global, name);
                if !name.is_empty() && best.as_ref().is_none_or(is_better) {
                    *best = Some(Symbol { begin, is_global, name: name.to_owned() });
                }
            }
        }
    }

    fn names(self) -> HashMap<u64, String> {
        let known = self.addresses.into_iter().zip(self.best);
        known.filter_map(|(address, best)| Some((address, best?.name))).collect()
    }
}
