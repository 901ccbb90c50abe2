//! Bounds the memory for the debug information of a file, before it is unpacked.
//!
//! A log may name any file of this machine, so a file may be damaged or made to fill the memory. Then its source lines are not shown, and the
//! report names the file. Names from its symbol tables and all other files are still used.

use std::fs::File;
use std::path::Path;

use object::read::ReadCache;
use object::{CompressionFormat, Object, ObjectSection};

/// Unpacked bytes that any file may have, and the number of further bytes for each byte of the file. Compilers' debug information grows by a factor
/// of less than 10; a factor of hundreds was made to keep its reader busy.
const MAX_UNPACKED: (u64, u64) = (64 << 20, 32);

/// Maximum number of unpacked bytes of any file.
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
