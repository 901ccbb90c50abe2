//! Reads the program's own table of symbols for OpenMP: names of critical sections, and whether a run-time library is linked into it.
//!
//! Compilers make a variable of each named critical section, which no loader knows: it is in the file's `.symtab` alone. The file is read once, when
//! a name is needed, in pieces; a stripped one says nothing.
//!
//! Source: System V ABI, chapter 4 (object files); names by GCC and LLVM.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use crate::system::sandbox;

#[derive(Debug, Default)]
pub struct OpenmpSymbols {
    /// Critical sections: the address of each, relative to the program's base, and its name, which may be empty.
    sections: Vec<(usize, String)>,
    /// True if a run-time library is linked into the program.
    pub has_runtime: bool,
}

static SYMBOLS: OnceLock<OpenmpSymbols> = OnceLock::new();

/// Parts of the name of a critical section's variable: before its name, and after it with LLVM.
const SECTION_PREFIXES: [&str; 2] = [".gomp_critical_user_", "_gomp_critical_user_"];
const SECTION_SUFFIX: &str = ".var";

/// Functions that start regions: a program that defines one has a run-time library in itself.
const LAUNCHERS: [&[u8]; 2] = [b"GOMP_parallel", b"__kmpc_fork_call"];

/// Bytes of names at most; larger tables are not read, so that starting stays quick.
const MAX_NAMES: u64 = 32 << 20;

/// Bytes that are read at once: few, for the process may be near its limit of memory.
const PIECE: usize = 1 << 16;

/// Most names that are kept.
const MAX_KEPT: usize = 1024;

/// A symbol of a file of 64 bits, and its bytes.
const SYMBOL_BYTES: usize = 24;

/// Reads the program's file, once. Under a system call filter nothing is read.
pub fn read_openmp_symbols() -> &'static OpenmpSymbols {
    SYMBOLS.get_or_init(|| {
        if sandbox::is_filtered() {
            return OpenmpSymbols::default();
        }
        File::open("/proc/self/exe").ok().and_then(|file| read_file(&file)).unwrap_or_default()
    })
}

/// Returns the name of the critical section whose variable has this address, relative to the program's base.
pub fn critical_section(offset: usize) -> Option<String> {
    let sections = &read_openmp_symbols().sections;
    sections.iter().find(|(address, _)| *address == offset).map(|(_, name)| name.clone())
}

fn number_at<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let mut whole = [0; 8];
    whole.get_mut(..N)?.copy_from_slice(bytes.get(at..at.checked_add(N)?)?);
    Some(u64::from_le_bytes(whole))
}

#[derive(Clone, Copy)]
struct FilePart {
    at: u64,
    length: u64,
}

impl FilePart {
    fn of_section(header: &[u8]) -> Option<FilePart> {
        Some(FilePart { at: number_at::<8>(header, 24)?, length: number_at::<8>(header, 32)? })
    }
}

/// Reads the head of the file or of a section, which both have 64 bytes.
fn read_head(file: &File, at: u64) -> Option<[u8; 64]> {
    let mut head = [0; 64];
    file.read_exact_at(&mut head, at).ok()?;
    Some(head)
}

/// Finds the symbols in a file, or returns `None` if it has no table of symbols that can be read.
fn read_file(file: &File) -> Option<OpenmpSymbols> {
    /// Type of a section with all symbols.
    const SYMTAB: u64 = 2;
    let head = read_head(file, 0)?;
    if head.get(..5)? != b"\x7fELF\x02" {
        return None;
    }
    let (table_at, entry_bytes, n) =
        (number_at::<8>(&head, 40)?, number_at::<2>(&head, 58)?, number_at::<2>(&head, 60)?);
    let symtab = (0..n)
        .filter_map(|idx| read_head(file, table_at.checked_add(idx * entry_bytes)?))
        .find(|header| number_at::<4>(header, 4) == Some(SYMTAB))?;
    let names_at = table_at.checked_add(number_at::<4>(&symtab, 40)? * entry_bytes)?;
    let (names, symbols) = (FilePart::of_section(&read_head(file, names_at)?)?, FilePart::of_section(&symtab)?);
    if names.length > MAX_NAMES || symbols.length > 4 * MAX_NAMES {
        return None;
    }
    let names = find_names(file, names)?;
    // Most programs have none of these names, so that their symbols need not be read.
    if names.is_empty() { Some(OpenmpSymbols::default()) } else { find_symbols(file, symbols, &names) }
}

/// Finds the names of run-time libraries' functions and of critical sections in a table of names, each with its position there, ascending.
fn find_names(file: &File, table: FilePart) -> Option<Vec<(u64, Vec<u8>)>> {
    let mut found = Vec::new();
    let mut piece = vec![0; PIECE];
    let mut done = 0;
    while done < table.length {
        let length = (table.length - done).min(PIECE as u64) as usize;
        let bytes = piece.get_mut(..length)?;
        file.read_exact_at(bytes, table.at.checked_add(done)?).ok()?;
        // A name that the piece cuts off is read again with the next one, unless it is longer than a piece.
        let whole = bytes.iter().rposition(|&byte| byte == 0).map_or(length, |last| last + 1);
        let names = bytes.get(..whole)?;
        if LAUNCHERS.iter().copied().chain([&b"gomp_critical_user_"[..]]).any(|name| contains_bytes(names, name)) {
            let mut at = done;
            for name in names.split(|&byte| byte == 0) {
                let is_wanted = LAUNCHERS.contains(&name) || section_name(name).is_some();
                if is_wanted && found.len() < MAX_KEPT {
                    found.push((at, name.to_vec()));
                }
                at += name.len() as u64 + 1;
            }
        }
        done += whole as u64;
    }
    Some(found)
}

fn find_symbols(file: &File, table: FilePart, names: &[(u64, Vec<u8>)]) -> Option<OpenmpSymbols> {
    let mut found = OpenmpSymbols::default();
    let mut piece = vec![0; PIECE / SYMBOL_BYTES * SYMBOL_BYTES];
    let mut done = 0;
    while done < table.length {
        let length = (table.length - done).min(piece.len() as u64) as usize;
        let symbols = piece.get_mut(..length)?;
        file.read_exact_at(symbols, table.at.checked_add(done)?).ok()?;
        for symbol in symbols.chunks_exact(SYMBOL_BYTES) {
            let name_at = number_at::<4>(symbol, 0)?;
            let is_defined = number_at::<2>(symbol, 6)? != 0;
            let Ok(idx) = names.binary_search_by_key(&name_at, |(at, _)| *at) else { continue };
            let name = names.get(idx)?.1.as_slice();
            if is_defined && LAUNCHERS.contains(&name) {
                found.has_runtime = true;
            } else if is_defined && let Some(section) = section_name(name) {
                found.sections.push((number_at::<8>(symbol, 8)? as usize, section));
            }
        }
        done += length as u64;
    }
    Some(found)
}

/// Returns the name of a critical section by the name of its variable; empty if it has none in the source.
fn section_name(variable: &[u8]) -> Option<String> {
    let variable = std::str::from_utf8(variable).ok()?;
    let name = SECTION_PREFIXES.iter().find_map(|prefix| variable.strip_prefix(prefix))?;
    let name = name.strip_suffix(SECTION_SUFFIX).unwrap_or(name);
    Some(name.to_owned())
}

fn contains_bytes(bytes: &[u8], wanted: &[u8]) -> bool {
    // SAFETY: both are read only, as long as they are.
    !unsafe { libc::memmem(bytes.as_ptr().cast(), bytes.len(), wanted.as_ptr().cast(), wanted.len()) }.is_null()
}
