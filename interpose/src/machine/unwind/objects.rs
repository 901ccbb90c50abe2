//! Finds the unwinding tables of the program and its shared objects.

use crate::machine::system::loader::objects;

#[derive(Clone, Copy, Debug)]
pub struct UnwindObject {
    pub begin: usize,
    /// Its `.eh_frame_hdr`.
    pub header: &'static [u8],
    /// Up to where its `.eh_frame` may reach: the end of the segment with the header.
    pub tables_end: usize,
}

pub fn object_at(address: usize) -> Option<UnwindObject> {
    objects::look_at(address, with_tables).flatten()
}

fn with_tables(object: &objects::LoadedObject) -> Option<UnwindObject> {
    let (begin, _) = object.bounds()?;
    let (at, header_end) = object.segments(libc::PT_GNU_EH_FRAME).next()?;
    let (_, tables_end) = object.segments(libc::PT_LOAD).find(|(begin, end)| (*begin..*end).contains(&at))?;
    (header_end <= tables_end).then(|| {
        // SAFETY: mapped for as long as the object is loaded.
        let header = unsafe { std::slice::from_raw_parts(at as *const u8, header_end - at) };
        UnwindObject { begin, header, tables_end }
    })
}
