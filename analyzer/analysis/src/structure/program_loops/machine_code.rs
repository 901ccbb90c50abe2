//! The machine code of functions, from the file that a program was loaded from.
//!
//! Functions are taken from the file's table for exceptions (`.eh_frame`), which stripped files have, too.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use addr2line::gimli::{BaseAddresses, EhFrame, EhFrameHdr, LittleEndian, UnwindSection};
use object::read::ReadCache;
use object::{Architecture, Object, ObjectSection};

/// Maximum size of a function that is decoded.
const MAX_FUNCTION_BYTES: u64 = 1 << 20;

/// Maximum size of a table of functions that is read.
const MAX_TABLE_BYTES: u64 = 256 << 20;

pub(super) struct MachineCode {
    file: File,
    /// Addresses of `.eh_frame_hdr` and `.eh_frame`.
    bases: BaseAddresses,
    header: Vec<u8>,
    frames: Vec<u8>,
    sections: Vec<CodeSection>,
}

struct CodeSection {
    begin: u64,
    size: u64,
    offset: u64,
}

impl MachineCode {
    /// Opens a file, or returns `None` if it is no x86-64 file with a table of functions.
    pub(in crate::structure) fn open(path: &Path) -> Option<MachineCode> {
        let cache = ReadCache::new(File::open(path).ok()?);
        let object = object::File::parse(&cache).ok()?;
        if object.architecture() != Architecture::X86_64 {
            return None;
        }
        let (header_address, header) = read_table(&object, ".eh_frame_hdr")?;
        let (frames_address, frames) = read_table(&object, ".eh_frame")?;
        let text = object.section_by_name(".text").map_or(0, |section| section.address());
        let bases =
            BaseAddresses::default().set_eh_frame_hdr(header_address).set_eh_frame(frames_address).set_text(text);
        let sections = object.sections().filter_map(|section| {
            let (offset, size) = section.file_range()?;
            Some(CodeSection { begin: section.address(), size, offset }).filter(|section| section.begin > 0)
        });
        let sections = sections.collect();
        Some(MachineCode { file: File::open(path).ok()?, bases, header, frames, sections })
    }

    /// Returns the start and the bytes of the function around an address, or `None` if it is not known or too large.
    pub(super) fn function(&self, address: u64) -> Option<(u64, Vec<u8>)> {
        let header = EhFrameHdr::new(&self.header, LittleEndian).parse(&self.bases, 8).ok()?;
        let frames = EhFrame::new(&self.frames, LittleEndian);
        let entry = header.table()?.fde_for_address(&frames, &self.bases, address, EhFrame::cie_from_offset).ok()?;
        let (begin, size) = (entry.initial_address(), entry.len());
        let section = self.sections.iter().filter(|_| size <= MAX_FUNCTION_BYTES).find(|section| {
            begin.checked_sub(section.begin).is_some_and(|before| before.saturating_add(size) <= section.size)
        })?;
        let mut bytes = vec![0; size as usize];
        self.file.read_exact_at(&mut bytes, section.offset.checked_add(begin - section.begin)?).ok()?;
        Some((begin, bytes))
    }
}

/// Reads a section that is no larger than a table of functions may be: its address and bytes.
fn read_table<'data>(object: &impl Object<'data>, name: &str) -> Option<(u64, Vec<u8>)> {
    let section = object.section_by_name(name).filter(|section| section.size() <= MAX_TABLE_BYTES)?;
    Some((section.address(), section.data().ok()?.to_vec()))
}
