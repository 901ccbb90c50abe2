//! Functions by the symbol tables of a file: the static one, the one in `.gnu_debugdata` (symbols of a stripped file in compressed form, which
//! some distributions keep), and the dynamic one.
//!
//! An address has the name of the function that it lies in, not of the nearest one that a stripped file has kept.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use lzma_rust2::XzReader;
use object::read::ReadCache;
use object::{Object, ObjectSection, ObjectSymbol, ReadRef, SymbolKind};

/// Maximum size of the file in `.gnu_debugdata`, in bytes; a program of a gigabyte has some ten megabytes.
const MAX_BYTES: u64 = 256 << 20;

/// Maximum length of a name in bytes: C++ templates have some thousands. Demangling a longer one could take for ever.
const MAX_NAME: usize = 64 << 10;

/// Maximum size of all names that are read from a file, in bytes. Each is kept as it is read, and the overlapping names in a file of some
/// megabytes can have terabytes.
const MAX_NAME_BYTES: usize = 128 << 20;

/// Maximum memory for decompression, in KiB.
const MAX_MEMORY_KIB: u32 = 64 << 10;

/// Returns the names of functions around addresses in a file's tables, by address.
///
/// Dropped names, which are longer than compilers make them, are noted in `faults`.
pub(super) fn function_names(path: &Path, addresses: &[u64], faults: &mut Vec<String>) -> HashMap<u64, String> {
    let best = addresses.iter().map(|&address| (address, None)).collect();
    let mut found = SymbolLookup { best, left: MAX_NAME_BYTES, n_long: 0 };
    let Some(file) = File::open(path).ok().filter(|_| !addresses.is_empty()) else { return HashMap::new() };
    let cache = ReadCache::new(file);
    if let Ok(file) = object::File::parse(&cache) {
        found.add(&file);
        let kept = file.section_by_name(".gnu_debugdata").and_then(|section| decompress_symbols(section.data().ok()?));
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
    found.best.into_iter().filter_map(|(address, best)| Some((address, best?.name))).collect()
}

/// Returns the file in `.gnu_debugdata`, or `None` if it is damaged or too large.
fn decompress_symbols(section: &[u8]) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    let reader = XzReader::new_mem_limit(section, true, MAX_MEMORY_KIB);
    reader.take(MAX_BYTES + 1).read_to_end(&mut data).ok()?;
    Some(data).filter(|data| data.len() as u64 <= MAX_BYTES)
}

struct SymbolLookup {
    /// The best symbol of each address.
    best: BTreeMap<u64, Option<FunctionSymbol>>,
    /// Bytes of names that may still be read.
    left: usize,
    n_long: u64,
}

struct FunctionSymbol {
    begin: u64,
    is_global: bool,
    name: String,
}

impl SymbolLookup {
    fn add<'data, R: ReadRef<'data>>(&mut self, file: &object::File<'data, R>) {
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            if symbol.kind() != SymbolKind::Text || symbol.is_undefined() {
                continue;
            }
            let (begin, end) = (symbol.address(), symbol.address().saturating_add(symbol.size()));
            if self.best.range(begin..end).next().is_none() {
                continue;
            }
            // A name that is longer than ReadCache reads is an error, too.
            let name = if self.left == 0 { None } else { symbol.name().ok() };
            self.left = self.left.saturating_sub(name.map_or(0, str::len));
            let Some(name) = name.filter(|name| name.len() <= MAX_NAME) else {
                self.n_long += 1;
                continue;
            };
            let is_global = symbol.is_global();
            for best in self.best.range_mut(begin..end).map(|(_, best)| best).filter(|_| !name.is_empty()) {
                // The innermost function counts, and a public one of its names.
                if best
                    .as_ref()
                    .is_none_or(|known| (begin, is_global, known.name.as_str()) > (known.begin, known.is_global, name))
                {
                    *best = Some(FunctionSymbol { begin, is_global, name: name.to_owned() });
                }
            }
        }
    }
}
