//! The program and its shared objects, as the loader has them: where their tables for unwinding are.

use crate::system::objects;

/// A loaded object with tables for unwinding.
#[derive(Clone, Copy, Debug)]
pub struct UnwindObject {
    /// Its first address, and one past its last.
    pub begin: usize,
    pub end: usize,
    /// Its `.eh_frame_hdr`.
    pub header: &'static [u8],
    /// Up to where its `.eh_frame` may reach: the end of the segment with the header.
    pub tables_end: usize,
}

/// The one that holds `address`.
pub fn object_at(address: usize) -> Option<UnwindObject> {
    objects::look_at(address, with_tables).flatten()
}

/// The tables of an object, or `None` if it has none.
fn with_tables(object: &objects::LoadedObject) -> Option<UnwindObject> {
    let (begin, end) = object.bounds()?;
    let (at, header_end) = object.segments(libc::PT_GNU_EH_FRAME).next()?;
    let (_, tables_end) = object.segments(libc::PT_LOAD).find(|(begin, end)| (*begin..*end).contains(&at))?;
    (header_end <= tables_end).then(|| {
        // SAFETY: mapped for as long as the object is loaded.
        let header = unsafe { std::slice::from_raw_parts(at as *const u8, header_end - at) };
        UnwindObject { begin, end, header, tables_end }
    })
}
