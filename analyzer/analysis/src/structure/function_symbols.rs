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

/// Bytes of the longest name: those of C++ templates have some thousands. Taking apart a longer one could take for ever.
const MAX_NAME: usize = 64 << 10;

/// Bytes of all names that are read of a file. Each is kept as it is read, and a file of some megabytes can have names of terabytes, which overlap.
const MAX_NAME_BYTES: usize = 128 << 20;

/// Most memory of its decompression, in KiB.
const MAX_MEMORY_KIB: u32 = 64 << 10;

/// The names of functions around addresses, as a file's tables have them, by address.
///
/// What is dropped, because names are longer than a compiler makes them, is noted in `faults`.
pub(super) fn function_names(path: &Path, addresses: &[u64], faults: &mut Vec<String>) -> HashMap<u64, String> {
    let mut found = SymbolLookup::new(addresses);
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
    if found.n_long > 0 {
        faults.push(format!(
            "{}: names of functions in it are too long or damaged: {} are not used",
            path.display(),
            found.n_long
        ));
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
struct SymbolLookup {
    /// Ascending.
    addresses: Vec<u64>,
    best: Vec<Option<FunctionSymbol>>,
    /// Bytes of names that may still be read.
    left: usize,
    /// Number of names that were too long.
    n_long: u64,
}

/// A function.
struct FunctionSymbol {
    begin: u64,
    is_global: bool,
    name: String,
}

impl SymbolLookup {
    fn new(addresses: &[u64]) -> SymbolLookup {
        let mut addresses = addresses.to_vec();
        addresses.sort_unstable();
        addresses.dedup();
        let best = addresses.iter().map(|_| None).collect();
        SymbolLookup { addresses, best, left: MAX_NAME_BYTES, n_long: 0 }
    }

    fn add<'data, R: ReadRef<'data>>(&mut self, file: &object::File<'data, R>) {
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            if symbol.kind() != SymbolKind::Text || symbol.is_undefined() {
                continue;
            }
            let (begin, end) = (symbol.address(), symbol.address().saturating_add(symbol.size()));
            let from = self.addresses.partition_point(|&address| address < begin);
            let to = self.addresses.partition_point(|&address| address < end);
            if from >= to {
                continue;
            }
            if self.left == 0 {
                self.n_long += 1;
                continue;
            }
            // What is longer than ReadCache reads is an error, too.
            let Ok(name) = symbol.name() else {
                self.n_long += 1;
                continue;
            };
            self.left = self.left.saturating_sub(name.len());
            if name.len() > MAX_NAME {
                self.n_long += 1;
                continue;
            }
            for best in self.best.get_mut(from..to).into_iter().flatten() {
                let is_global = symbol.is_global();
                // The innermost; of several names of one function a public one.
                if !name.is_empty()
                    && best.as_ref().is_none_or(|known| {
                        (begin, is_global, known.name.as_str()) > (known.begin, known.is_global, name)
                    })
                {
                    *best = Some(FunctionSymbol { begin, is_global, name: name.to_owned() });
                }
            }
        }
    }

    fn names(self) -> HashMap<u64, String> {
        let known = self.addresses.into_iter().zip(self.best);
        known.filter_map(|(address, best)| Some((address, best?.name))).collect()
    }
}
