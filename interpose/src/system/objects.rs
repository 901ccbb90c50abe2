//! The program and its shared objects, as the loader has them now.
//!
//! [`visit`] takes the loader's lock. A fork in another thread at that moment leaves the lock taken in the child for ever, and what the child
//! loads then hangs. So once recording has started, objects are found by [`look_at`] alone.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};

use crate::system::memory::Readable;

/// The loader's function that finds an object without a lock; 0: it has none, as before version 2.35 of the GNU C library.
static FIND: AtomicUsize = AtomicUsize::new(0);

/// How often the program has unloaded something.
static UNLOADS: AtomicU64 = AtomicU64::new(0);

/// Finds out how objects can be found. May take the loader's lock.
pub fn find_out() {
    // SAFETY: a look-up by name.
    FIND.store(unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_dl_find_object".as_ptr()) } as usize, Relaxed);
}

/// Threads that are unloading something, as far as they have said so.
static UNLOADING: AtomicU64 = AtomicU64::new(0);

/// The program is about to unload something: tables for unwinding may vanish while they are read, unless they are those of code that runs.
pub fn note_unloading() {
    UNLOADING.fetch_add(1, SeqCst);
}

/// Whether the program is unloading something.
pub fn is_unloading() -> bool {
    UNLOADING.load(SeqCst) != 0
}

/// The program has unloaded something: what was found may lie there no more.
pub fn note_unload() {
    UNLOADS.fetch_add(1, SeqCst);
    // Who could not say that it begins does not say that it ends; there is never less than none.
    let _ = UNLOADING.fetch_update(SeqCst, SeqCst, |threads| threads.checked_sub(1));
}

/// How often the program has unloaded something.
pub fn unloads() -> u64 {
    UNLOADS.load(SeqCst)
}

/// The structure that `_dl_find_object` fills (dlfcn.h).
#[repr(C)]
struct Found {
    flags: u64,
    begin: usize,
    end: usize,
    map: *const LinkMap,
    tables: usize,
    reserved: [u64; 7],
}

/// The first members of an object's description (link.h).
#[repr(C)]
struct LinkMap {
    base: usize,
    name: *const c_char,
}

/// Looks at the object that holds an address; `None`: there is none.
pub fn look_at<T>(address: usize, look: impl FnOnce(&Object) -> T) -> Option<T> {
    let find = FIND.load(Relaxed);
    if find == 0 {
        let mut look = Some(look);
        let mut result = None;
        visit(None, |object| {
            if object.bounds().is_some_and(|(begin, end)| (begin..end).contains(&address)) {
                result = look.take().map(|look| look(object));
            }
        });
        return result;
    }
    // SAFETY: the loader's function of this type, which fills the structure where it gives 0. Its description of the object lives as long
    // as the object.
    let (found, map) = unsafe {
        let find: unsafe extern "C" fn(usize, *mut Found) -> c_int = std::mem::transmute(find);
        let mut found: Found = std::mem::zeroed();
        if find(address, &mut found) != 0 {
            return None;
        }
        (found.begin..found.end, &*found.map)
    };
    let (segments, n) = segments_of(found)?;
    // SAFETY: a plain structure.
    let mut info: libc::dl_phdr_info = unsafe { std::mem::zeroed() };
    (info.dlpi_addr, info.dlpi_name) = (map.base as u64, map.name);
    (info.dlpi_phdr, info.dlpi_phnum) = (segments as *const libc::Elf64_Phdr, n);
    Some(look(&Object(&info)))
}

/// Address and number of the segments of an object, by its head, which is at its beginning.
fn segments_of(object: std::ops::Range<usize>) -> Option<(usize, u16)> {
    let mut bytes = [0; size_of::<libc::Elf64_Ehdr>()];
    // Another thread may be unloading what a sample has hit.
    if bytes.len() > object.len() || !Readable::default().fill(object.start, &mut bytes) {
        return None;
    }
    // SAFETY: a structure of numbers.
    let head: libc::Elf64_Ehdr = unsafe { bytes.as_ptr().cast::<libc::Elf64_Ehdr>().read_unaligned() };
    let segments = object.start.checked_add(head.e_phoff as usize)?;
    let end = segments.checked_add(usize::from(head.e_phnum) * size_of::<libc::Elf64_Phdr>())?;
    let is_whole = bytes.starts_with(b"\x7fELF") && usize::from(head.e_phentsize) == size_of::<libc::Elf64_Phdr>();
    (is_whole && segments.is_multiple_of(8) && end <= object.end).then_some((segments, head.e_phnum))
}

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

    /// Whether it is the program.
    pub fn is_program(&self) -> bool {
        // SAFETY: a plain query.
        let segments = unsafe { libc::getauxval(libc::AT_PHDR) } as usize;
        self.segments(libc::PT_LOAD).any(|(begin, end)| (begin..end).contains(&segments))
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
