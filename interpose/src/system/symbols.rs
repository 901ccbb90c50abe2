//! Reads the program's own table of symbols for OpenMP: names of critical sections, and whether a run-time library is linked into it.
//!
//! Compilers make a variable of each named critical section, which no loader knows: it is in the file's `.symtab` alone. The file is read once, when
//! recording starts, in pieces; a stripped one says nothing.
//!
//! Source: System V ABI, chapter 4 (object files); names by GCC and LLVM.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

/// The findings in the table of symbols.
#[derive(Debug, Default)]
pub struct OpenmpSymbols {
    /// Critical sections: the address of each, relative to the program's base, and its name, which may be empty.
    sections: Vec<(usize, String)>,
    /// True if a run-time library is linked into the program.
    pub has_runtime: bool,
}

/// The name of the program's file.
static PROGRAM: OnceLock<String> = OnceLock::new();

static SYMBOLS: OnceLock<OpenmpSymbols> = OnceLock::new();

/// Parts of the name of a critical section's variable: before its name, and after it with LLVM.
const SECTION_PREFIXES: [&str; 2] = [".gomp_critical_user_", "_gomp_critical_user_"];
const SECTION_SUFFIX: &str = ".var";

/// Functions that start regions: a program that defines one has a run-time library in itself.
const LAUNCHERS: [&[u8]; 2] = [b"GOMP_parallel", b"__kmpc_fork_call"];

/// Bytes of names at most; larger tables are not read, so that starting stays quick.
const MAX_NAMES: u64 = 32 << 20;

/// A symbol of a file of 64 bits, and its bytes.
const SYMBOL_BYTES: usize = 24;

/// Reads the program's file, once.
pub fn read() -> &'static OpenmpSymbols {
    let program = || std::env::current_exe().ok()?.file_name().map(|name| name.to_string_lossy().into_owned());
    PROGRAM.get_or_init(|| program().unwrap_or_default());
    SYMBOLS.get_or_init(|| File::open("/proc/self/exe").ok().and_then(|file| read_file(&file)).unwrap_or_default())
}

/// Returns the name of the program's file, if it was read.
pub fn program() -> Option<&'static str> {
    PROGRAM.get().map(String::as_str).filter(|name| !name.is_empty())
}

/// Returns the name of the critical section whose variable has this address, relative to the program's base.
pub fn critical_section(offset: usize) -> Option<String> {
    let sections = &SYMBOLS.get()?.sections;
    sections.iter().find(|(address, _)| *address == offset).map(|(_, name)| name.clone())
}

/// Returns the bytes of a file at a position.
fn bytes_at(file: &File, at: u64, length: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    file.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

/// Returns the little-endian number of `N` bytes at a position.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let mut whole = [0; 8];
    whole.get_mut(..N)?.copy_from_slice(bytes.get(at..at.checked_add(N)?)?);
    Some(u64::from_le_bytes(whole))
}

/// Finds the symbols in a file. `None`: it has no table of symbols, or not one that can be read.
fn read_file(file: &File) -> Option<OpenmpSymbols> {
    /// Type of a section with all symbols.
    const SYMTAB: u64 = 2;
    let head = bytes_at(file, 0, 64)?;
    if head.get(..5)? != b"\x7fELF\x02" {
        return None;
    }
    let (table_at, entry_bytes, n) = (number::<8>(&head, 40)?, number::<2>(&head, 58)?, number::<2>(&head, 60)?);
    let table = bytes_at(file, table_at, entry_bytes * n)?;
    let sections: Vec<&[u8]> = table.chunks_exact((entry_bytes as usize).max(64)).collect();
    let symtab = sections.iter().find(|section| number::<4>(section, 4) == Some(SYMTAB))?;
    let names = sections.get(number::<4>(symtab, 40)? as usize)?;
    let (names_at, names_bytes) = (number::<8>(names, 24)?, number::<8>(names, 32)?);
    let (symbols_at, symbols_bytes) = (number::<8>(symtab, 24)?, number::<8>(symtab, 32)?);
    if names_bytes > MAX_NAMES || symbols_bytes > 4 * MAX_NAMES {
        return None;
    }
    let names = bytes_at(file, names_at, names_bytes)?;
    // Most programs have none of these names, so that their symbols need not be read.
    let has_any = LAUNCHERS.iter().copied().chain([&b"gomp_critical_user_"[..]]).any(|name| contains(&names, name));
    if !has_any {
        return Some(OpenmpSymbols::default());
    }
    let symbols = bytes_at(file, symbols_at, symbols_bytes)?;
    let mut found = OpenmpSymbols::default();
    for symbol in symbols.chunks_exact(SYMBOL_BYTES) {
        let name_at = number::<4>(symbol, 0)? as usize;
        let is_defined = number::<2>(symbol, 6)? != 0;
        let name = names.get(name_at..)?.split(|&byte| byte == 0).next()?;
        if is_defined && LAUNCHERS.contains(&name) {
            found.has_runtime = true;
        } else if is_defined && let Some(section) = section_name(name) {
            found.sections.push((number::<8>(symbol, 8)? as usize, section));
        }
    }
    Some(found)
}

/// Returns the name of a critical section by that of its variable; empty if it has none in the source.
fn section_name(variable: &[u8]) -> Option<String> {
    let variable = std::str::from_utf8(variable).ok()?;
    let name = SECTION_PREFIXES.iter().find_map(|prefix| variable.strip_prefix(prefix))?;
    let name = name.strip_suffix(SECTION_SUFFIX).unwrap_or(name);
    Some(name.to_owned())
}

/// Returns whether bytes contain others.
fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    // SAFETY: both are read only, as long as they are.
    !unsafe { libc::memmem(bytes.as_ptr().cast(), bytes.len(), wanted.as_ptr().cast(), wanted.len()) }.is_null()
}
