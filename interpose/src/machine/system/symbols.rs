//! Names in the program's own table of symbols, `.symtab`, which the loader does not know: of the variables that compilers make for critical sections. A
//! stripped file has none.
//!
//! Source: System V ABI, chapter 4 (object files).

use std::ffi::CStr;
use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::machine::system::sandbox;

/// Bytes of symbols at most; larger tables are not read, so that a look-up stays quick.
const MAX_BYTES: u64 = 128 << 20;

/// A symbol of a file of 64 bits, and its bytes.
const SYMBOL_BYTES: usize = 24;

/// Bytes that are read at once: few, for the process may be near its limit of memory.
const PIECE: usize = (1 << 16) / SYMBOL_BYTES * SYMBOL_BYTES;

/// Returns what `choose` makes of the name of a symbol at an address, relative to the program's base. Under a system call filter nothing is read.
pub fn find_in_program<T>(address: usize, choose: impl Fn(&str) -> Option<T>) -> Option<T> {
    if sandbox::is_filtered() {
        return None;
    }
    find_in_file(&File::open("/proc/self/exe").ok()?, address as u64, choose)
}

fn number_at<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let mut whole = [0; 8];
    whole.get_mut(..N)?.copy_from_slice(bytes.get(at..at.checked_add(N)?)?);
    Some(u64::from_le_bytes(whole))
}

/// Reads the head of the file or of a section, which both have 64 bytes.
fn read_head(file: &File, at: u64) -> Option<[u8; 64]> {
    let mut head = [0; 64];
    file.read_exact_at(&mut head, at).ok()?;
    Some(head)
}

/// Reads the head of a section, by the head of the file.
fn read_section(file: &File, head: &[u8; 64], idx: u64) -> Option<[u8; 64]> {
    read_head(file, number_at::<8>(head, 40)?.checked_add(idx * number_at::<2>(head, 58)?)?)
}

fn find_in_file<T>(file: &File, address: u64, choose: impl Fn(&str) -> Option<T>) -> Option<T> {
    /// Type of a section with all symbols.
    const SYMTAB: u64 = 2;
    /// Longest name that is looked at.
    const MAX_NAME: usize = 256;
    let head = read_head(file, 0)?;
    if head.get(..5)? != b"\x7fELF\x02" {
        return None;
    }
    let mut sections = (0..number_at::<2>(&head, 60)?).filter_map(|idx| read_section(file, &head, idx));
    let symtab = sections.find(|header| number_at::<4>(header, 4) == Some(SYMTAB))?;
    let names_at = number_at::<8>(&read_section(file, &head, number_at::<4>(&symtab, 40)?)?, 24)?;
    let (symbols_at, length) = (number_at::<8>(&symtab, 24)?, number_at::<8>(&symtab, 32)?.min(MAX_BYTES));
    let mut piece = vec![0; PIECE];
    for done in (0..length).step_by(PIECE) {
        let symbols = piece.get_mut(..(length - done).min(PIECE as u64) as usize)?;
        file.read_exact_at(symbols, symbols_at.checked_add(done)?).ok()?;
        for symbol in symbols.chunks_exact(SYMBOL_BYTES) {
            let is_defined = number_at::<2>(symbol, 6)? != 0;
            if !is_defined || number_at::<8>(symbol, 8)? != address {
                continue;
            }
            let mut name = [0; MAX_NAME];
            file.read_at(&mut name, names_at.checked_add(number_at::<4>(symbol, 0)?)?).ok()?;
            let name = CStr::from_bytes_until_nul(&name).ok().and_then(|name| name.to_str().ok());
            if let Some(chosen) = name.and_then(&choose) {
                return Some(chosen);
            }
        }
    }
    None
}
