//! Bounds what the debug information of a file may take, before it is unpacked.
//!
//! A log may name any file of this machine, so a file may be damaged or made to fill the memory. Then it gives no source lines, and the report
//! says which file it is; names from its symbol tables and all other files are not touched.

use std::fs::File;
use std::path::Path;

use object::read::ReadCache;
use object::{CompressionFormat, Object, ObjectSection};

/// Unpacked bytes that any file may have, and so many more for each byte of the file. Compilers' debug information grows by less than 10; what
/// grows by hundreds was made to keep its reader busy.
const MAX_UNPACKED: (u64, u64) = (64 << 20, 32);

/// Unpacked bytes of the largest file.
const MAX_UNPACKED_EVER: u64 = 512 << 20;

/// Returns the reason why the compressed debug information of the file at `path` cannot be used. Returns `None` if it can be used, or is not compressed.
pub(super) fn find_fault(path: &Path) -> Option<String> {
    let file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let cache = ReadCache::new(file);
    let file = object::File::parse(&cache).ok()?;
    let mut unpacked = 0_u64;
    for section in file.sections() {
        let Ok(name) = section.name() else { continue };
        if !name.starts_with(".debug_") && !name.starts_with(".zdebug_") {
            continue;
        }
        let Ok(range) = section.compressed_file_range() else { return Some(damaged_section(name)) };
        if range.format == CompressionFormat::None {
            continue;
        }
        unpacked = unpacked.saturating_add(range.uncompressed_size);
        let (any, for_each) = MAX_UNPACKED;
        if unpacked > any.saturating_add(length.saturating_mul(for_each)).min(MAX_UNPACKED_EVER) {
            return Some(format!("its debug information claims more than {} MB when unpacked", unpacked >> 20));
        }
        if section.uncompressed_data().is_err() {
            return Some(damaged_section(name));
        }
    }
    None
}

fn damaged_section(name: &str) -> String {
    format!("its section {name} is damaged")
}
