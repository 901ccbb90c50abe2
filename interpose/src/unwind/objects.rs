//! The program and its shared objects, as the loader has them: where their tables for unwinding are.

use std::ffi::{c_int, c_void};

/// A loaded object with tables for unwinding.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// Its first address, and one past its last.
    pub begin: usize,
    pub end: usize,
    /// Its `.eh_frame_hdr`.
    pub header: &'static [u8],
    /// Up to where its `.eh_frame` may reach: the end of the segment with the header.
    pub tables_end: usize,
}

/// All of them.
#[derive(Default)]
pub struct Objects {
    loaded: Vec<Object>,
    /// How many objects were loaded and unloaded so far.
    changes: (u64, u64),
}

impl Objects {
    /// The one that holds `address`.
    pub fn at(&mut self, address: usize) -> Option<Object> {
        self.refresh();
        self.loaded.iter().find(|object| (object.begin..object.end).contains(&address)).copied()
    }

    fn refresh(&mut self) {
        let mut found =
            Found { objects: Objects { loaded: Vec::new(), changes: self.changes }, known: !self.loaded.is_empty() };
        // SAFETY: the callback gets `found`, which lives here. The loader's lock is held meanwhile: the callback only copies.
        let changed = unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut found).cast()) } == 0;
        if changed {
            *self = found.objects;
        }
    }
}

struct Found {
    objects: Objects,
    /// Whether the objects are known if nothing has changed since.
    known: bool,
}

/// Stops with 1 where nothing has changed.
unsafe extern "C" fn collect(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
    // SAFETY: dl_iterate_phdr passes a valid description of a loaded object, and our own pointer. Tables stay as long as the object.
    unsafe {
        let (info, found) = (&*info, &mut *found.cast::<Found>());
        let changes = (info.dlpi_adds, info.dlpi_subs);
        if found.known && changes == found.objects.changes {
            return 1;
        }
        found.known = false;
        found.objects.changes = changes;
        let base = info.dlpi_addr as usize;
        let segments = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        let bounds = |segment: &libc::Elf64_Phdr| {
            let begin = base + segment.p_vaddr as usize;
            (begin, begin + segment.p_memsz as usize)
        };
        let loaded = || segments.iter().filter(|segment| segment.p_type == libc::PT_LOAD).map(bounds);
        let whole = loaded().reduce(|all, next| (all.0.min(next.0), all.1.max(next.1)));
        let header = segments.iter().find(|segment| segment.p_type == libc::PT_GNU_EH_FRAME).map(bounds);
        if let (Some((begin, end)), Some((at, header_end))) = (whole, header)
            && let Some((_, tables_end)) = loaded().find(|(begin, end)| (*begin..*end).contains(&at))
            && header_end <= tables_end
        {
            let header = std::slice::from_raw_parts(at as *const u8, header_end - at);
            found.objects.loaded.push(Object { begin, end, header, tables_end });
        }
    }
    0
}
