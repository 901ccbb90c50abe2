//! The program and its shared objects, as the loader has them now.

use std::ffi::{CStr, c_int, c_void};

/// A loaded object, while all of them are visited.
pub struct Object<'a>(&'a libc::dl_phdr_info);

/// How many objects were loaded and unloaded so far. Where another object has come to the place of one, both have changed.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Changes {
    /// Objects loaded.
    pub loaded: u64,
    /// Objects unloaded.
    pub unloaded: u64,
}

/// Visits all of them, unless nothing has changed since `known`, or the loader has stopped. Gives what has changed until now; `None`: they
/// were not visited. The loader's lock is held meanwhile: `visit` only copies.
pub fn visit<F: FnMut(&Object)>(known: Option<Changes>, visit: F) -> Option<Changes> {
    let mut walk = Walk { known, changes: None, visit };
    // SAFETY: the callback gets `walk`, which lives here.
    unsafe { libc::dl_iterate_phdr(Some(step::<F>), (&raw mut walk).cast()) };
    walk.changes
}

struct Walk<F> {
    known: Option<Changes>,
    changes: Option<Changes>,
    visit: F,
}

/// Stops with 1 where nothing has changed.
unsafe extern "C" fn step<F: FnMut(&Object)>(info: *mut libc::dl_phdr_info, _: usize, walk: *mut c_void) -> c_int {
    // SAFETY: dl_iterate_phdr passes a valid description of a loaded object, and our own pointer.
    let (info, walk) = unsafe { (&*info, &mut *walk.cast::<Walk<F>>()) };
    let changes = Object(info).changes();
    if walk.known == Some(changes) {
        return 1;
    }
    walk.changes = Some(changes);
    (walk.visit)(&Object(info));
    0
}

impl Object<'_> {
    /// What addresses in its file are relative to.
    pub fn base(&self) -> usize {
        self.0.dlpi_addr as usize
    }

    /// Its first address, and one past its last.
    pub fn bounds(&self) -> Option<(usize, usize)> {
        self.segments(libc::PT_LOAD).reduce(|all, next| (all.0.min(next.0), all.1.max(next.1)))
    }

    /// What has changed until now.
    pub fn changes(&self) -> Changes {
        Changes { loaded: self.0.dlpi_adds, unloaded: self.0.dlpi_subs }
    }

    /// Its file; empty: the program itself, or the kernel's own object.
    pub fn path(&self) -> &CStr {
        // SAFETY: a string that lives as long as the description.
        if self.0.dlpi_name.is_null() { c"" } else { unsafe { CStr::from_ptr(self.0.dlpi_name) } }
    }

    /// Its segments of a kind: the first address of each, and one past its last.
    pub fn segments(&self, kind: u32) -> impl Iterator<Item = (usize, usize)> {
        self.all().iter().filter(move |segment| segment.p_type == kind).map(|segment| self.bounds_of(segment))
    }

    /// Its segments of data.
    pub fn writable(&self) -> impl Iterator<Item = (usize, usize)> {
        let is_data =
            |segment: &&libc::Elf64_Phdr| segment.p_type == libc::PT_LOAD && segment.p_flags & libc::PF_W != 0;
        self.all().iter().filter(is_data).map(|segment| self.bounds_of(segment))
    }

    fn all(&self) -> &[libc::Elf64_Phdr] {
        // SAFETY: the loader's table, which lives as long as the description.
        unsafe { std::slice::from_raw_parts(self.0.dlpi_phdr, usize::from(self.0.dlpi_phnum)) }
    }

    fn bounds_of(&self, segment: &libc::Elf64_Phdr) -> (usize, usize) {
        let begin = self.base() + segment.p_vaddr as usize;
        (begin, begin + segment.p_memsz as usize)
    }
}
