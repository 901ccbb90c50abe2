//! The program and its shared objects, as the loader has them now.
//!
//! [`visit_objects`] takes the loader's lock. A fork in another thread at that moment leaves the lock taken in the child for ever, and what the child
//! loads then hangs. So once recording has started, objects are found by [`look_at`] alone: by a function of the loader that takes no lock, or, where it has none,
//! in the list that it keeps for debuggers.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};

use crate::machine::system::loader::foreign;
use crate::machine::system::memory::{MemoryReader, ReadMemory};

/// The loader's function that finds an object without a lock; 0: it has none, as before version 2.35 of the GNU C library.
pub static FIND: AtomicUsize = AtomicUsize::new(0);

/// Number of times that the program has unloaded something.
static UNLOADS: AtomicU64 = AtomicU64::new(0);

/// Address of the loader's list for debuggers (`_r_debug` of link.h); 0: not known.
static LIST: AtomicUsize = AtomicUsize::new(0);

/// Finds out how objects can be found. May take the loader's lock.
pub fn find_out() {
    FIND.store(foreign::visible_definition(c"_dl_find_object"), Relaxed);
    LIST.store(foreign::visible_definition(c"_r_debug"), Relaxed);
}

/// Calls of dlclose that are under way.
static UNLOADING: AtomicUsize = AtomicUsize::new(0);

/// Notes that the program may be about to unload something: code that no thread executes at this moment may vanish while it is looked at.
pub fn begin_unload() {
    UNLOADING.fetch_add(1, SeqCst);
}

pub fn end_unload() {
    UNLOADING.fetch_sub(1, SeqCst);
}

/// Returns whether objects may vanish.
pub fn is_unloading() -> bool {
    UNLOADING.load(SeqCst) != 0
}

/// Notes that the program has unloaded something: what was found may lie there no more.
pub fn note_unload() {
    UNLOADS.fetch_add(1, SeqCst);
}

/// Returns how often the program has unloaded an object.
pub fn count_unloads() -> u64 {
    UNLOADS.load(SeqCst)
}

/// The structure that `_dl_find_object` fills (dlfcn.h).
#[repr(C)]
struct ObjectLookup {
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
    dynamic: usize,
    next: usize,
}

/// The first members of what the loader keeps for debuggers (link.h).
#[repr(C)]
struct DebuggersList {
    version: c_int,
    first: usize,
}

/// Returns the addresses of the object that holds an address; empty if there is none.
pub fn bounds_at(address: usize) -> Range<usize> {
    let (begin, end) = look_at(address, |object| object.bounds()).flatten().unwrap_or_default();
    begin..end
}

pub fn look_at<T>(address: usize, look: impl FnOnce(&LoadedObject) -> T) -> Option<T> {
    let (map, (segments, n)) = match FIND.load(Relaxed) {
        0 if LIST.load(Relaxed) == 0 => return look_in_all(address, look),
        0 => find_listed_object(address)?,
        find => {
            // SAFETY: the loader's function of this type, which fills the structure where it gives 0. Its description of the object lives as long
            // as the object.
            let found = unsafe {
                let find: unsafe extern "C" fn(usize, *mut ObjectLookup) -> c_int = std::mem::transmute(find);
                let mut found: ObjectLookup = std::mem::zeroed();
                if find(address, &mut found) != 0 {
                    return None;
                }
                found
            };
            (found.map, segments_of(found.begin..found.end).or_else(|| segments_of_program(found.map))?)
        }
    };
    // SAFETY: the loader's description of a loaded object; a plain structure.
    let (map, mut info): (&LinkMap, libc::dl_phdr_info) = unsafe { (&*map, std::mem::zeroed()) };
    (info.dlpi_addr, info.dlpi_name) = (map.base as u64, map.name);
    (info.dlpi_phdr, info.dlpi_phnum) = (segments as *const libc::Elf64_Phdr, n);
    Some(look(&LoadedObject(&info)))
}

/// Looks at objects like [`look_at`], with the loader's lock.
fn look_in_all<T>(address: usize, look: impl FnOnce(&LoadedObject) -> T) -> Option<T> {
    let mut look = Some(look);
    let mut result = None;
    visit_objects(None, |object| {
        if object.holds(address) {
            result = look.take().map(|look| look(object));
        }
    });
    result
}

/// The loader's description of an object, and address and number of its segments.
type Described = (*const LinkMap, (usize, u16));

/// Finds the object that holds an address in the list for debuggers. Another thread may change the list meanwhile: what is read is looked at before, and
/// counts only if it leads to the head of an object.
fn find_listed_object(address: usize) -> Option<Described> {
    /// No program has as many objects.
    const MOST: usize = 1 << 16;
    const FIRST_AT: usize = std::mem::offset_of!(DebuggersList, first);
    const NEXT_AT: usize = std::mem::offset_of!(LinkMap, next);
    let mut readable = MemoryReader::default();
    let mut map = readable.word(LIST.load(Relaxed) + FIRST_AT)?;
    for _ in 0..MOST {
        if map == 0 || !map.is_multiple_of(align_of::<usize>()) {
            return None;
        }
        let base = readable.word(map)?;
        let segments = if base == 0 { Some(own_segments()) } else { segments_of(base..usize::MAX) };
        if let Some((begin, end)) = segments.and_then(|segments| bounds_of_segments(base, segments))
            && (begin..end).contains(&address)
        {
            return Some((map as *const LinkMap, segments?));
        }
        map = readable.word(map + NEXT_AT)?;
    }
    None
}

/// Returns address and number of the segments of an object with unmapped pages between them, as a program may be: there the loader finds each
/// segment, but not the head before the first.
fn segments_of_program(map: *const LinkMap) -> Option<(usize, u16)> {
    // SAFETY: the loader's description of a loaded object.
    match unsafe { (*map).base } {
        0 => Some(own_segments()),
        base => segments_of(base..usize::MAX),
    }
}

/// Returns address and number of the program's own segments.
fn own_segments() -> (usize, u16) {
    // SAFETY: plain queries.
    unsafe { (libc::getauxval(libc::AT_PHDR) as usize, libc::getauxval(libc::AT_PHNUM) as u16) }
}

/// Returns the first address of an object with these segments, and one past its last.
fn bounds_of_segments(base: usize, table: (usize, u16)) -> Option<(usize, usize)> {
    let (segments, n) = table;
    let mut readable = MemoryReader::default();
    let mut bounds: Option<(usize, usize)> = None;
    for at in 0..usize::from(n) {
        let mut bytes = [0; size_of::<libc::Elf64_Phdr>()];
        if !readable.fill(segments.checked_add(at * bytes.len())?, &mut bytes) {
            return None;
        }
        // SAFETY: a structure of numbers.
        let segment: libc::Elf64_Phdr = unsafe { bytes.as_ptr().cast::<libc::Elf64_Phdr>().read_unaligned() };
        if segment.p_type == libc::PT_LOAD {
            let begin = base.checked_add(segment.p_vaddr as usize)?;
            let end = begin.checked_add(segment.p_memsz as usize)?;
            bounds = Some(bounds.map_or((begin, end), |(first, last)| (first.min(begin), last.max(end))));
        }
    }
    bounds
}

/// Returns address and number of the segments of an object, by the head at its beginning.
fn segments_of(object: Range<usize>) -> Option<(usize, u16)> {
    let mut bytes = [0; size_of::<libc::Elf64_Ehdr>()];
    // Another thread may be unloading what a sample has hit.
    if bytes.len() > object.len() || !MemoryReader::default().fill(object.start, &mut bytes) {
        return None;
    }
    // SAFETY: a structure of numbers.
    let head: libc::Elf64_Ehdr = unsafe { bytes.as_ptr().cast::<libc::Elf64_Ehdr>().read_unaligned() };
    let segments = object.start.checked_add(head.e_phoff as usize)?;
    let end = segments.checked_add(usize::from(head.e_phnum) * size_of::<libc::Elf64_Phdr>())?;
    let is_whole = bytes.starts_with(b"\x7fELF") && usize::from(head.e_phentsize) == size_of::<libc::Elf64_Phdr>();
    (is_whole && segments.is_multiple_of(8) && end <= object.end).then_some((segments, head.e_phnum))
}

#[derive(Clone, Copy)]
pub struct LoadedObject<'a>(&'a libc::dl_phdr_info);

/// The numbers of objects loaded and unloaded so far. If another object has come to the place of one, both have changed.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct ObjectChanges {
    pub loaded: u64,
    pub unloaded: u64,
}

/// Visits all objects, unless nothing has changed since `known`. Returns the changes until now, or `None` if no object was visited. The loader's
/// lock is held meanwhile, so `visit` may only copy.
pub fn visit_objects<F: FnMut(&LoadedObject)>(known: Option<ObjectChanges>, visit: F) -> Option<ObjectChanges> {
    let mut walk = ObjectWalk { known, changes: None, visit };
    // SAFETY: the callback gets `walk`, which lives here.
    unsafe { libc::dl_iterate_phdr(Some(visit_step::<F>), (&raw mut walk).cast()) };
    walk.changes
}

/// Returns the numbers of objects loaded and unloaded until now. Takes the loader's lock.
pub fn object_changes() -> ObjectChanges {
    visit_objects(None, |_| {}).unwrap_or_default()
}

struct ObjectWalk<F> {
    known: Option<ObjectChanges>,
    changes: Option<ObjectChanges>,
    visit: F,
}

/// Stops with 1 where nothing has changed.
unsafe extern "C" fn visit_step<F: FnMut(&LoadedObject)>(
    info: *mut libc::dl_phdr_info,
    _: usize,
    walk: *mut c_void,
) -> c_int {
    // SAFETY: dl_iterate_phdr passes a valid description of a loaded object, and our own pointer.
    let (info, walk) = unsafe { (&*info, &mut *walk.cast::<ObjectWalk<F>>()) };
    let changes = LoadedObject(info).changes();
    if walk.known == Some(changes) {
        return 1;
    }
    walk.changes = Some(changes);
    (walk.visit)(&LoadedObject(info));
    0
}

impl<'a> LoadedObject<'a> {
    /// Wraps the loader's description of an object.
    pub fn new(info: &'a libc::dl_phdr_info) -> Self {
        LoadedObject(info)
    }
}

impl LoadedObject<'_> {
    /// Returns the loader's description of the object.
    pub fn description(&self) -> libc::dl_phdr_info {
        *self.0
    }

    /// Returns the address that the addresses in its file are relative to.
    pub fn base(&self) -> usize {
        self.0.dlpi_addr as usize
    }

    /// Returns its first address, and one past its last.
    pub fn bounds(&self) -> Option<(usize, usize)> {
        self.segments(libc::PT_LOAD).reduce(|all, next| (all.0.min(next.0), all.1.max(next.1)))
    }

    /// Returns the numbers of objects loaded and unloaded so far.
    pub fn changes(&self) -> ObjectChanges {
        ObjectChanges { loaded: self.0.dlpi_adds, unloaded: self.0.dlpi_subs }
    }

    /// Returns the path of its file; empty: the program itself, or the kernel's own object.
    pub fn path(&self) -> &CStr {
        // SAFETY: a string that lives as long as the description.
        if self.0.dlpi_name.is_null() { c"" } else { unsafe { CStr::from_ptr(self.0.dlpi_name) } }
    }

    /// Returns whether an address lies between its first and its last.
    pub fn holds(&self, address: usize) -> bool {
        self.bounds().is_some_and(|(begin, end)| (begin..end).contains(&address))
    }

    pub fn is_program(&self) -> bool {
        let (segments, _) = own_segments();
        self.segments(libc::PT_LOAD).any(|(begin, end)| (begin..end).contains(&segments))
    }

    /// Returns its segments of a kind: the first address of each, and one past its last.
    pub fn segments(&self, kind: u32) -> impl Iterator<Item = (usize, usize)> {
        self.segments_with(kind, 0)
    }

    /// Returns its segments of data.
    pub fn writable(&self) -> impl Iterator<Item = (usize, usize)> {
        self.segments_with(libc::PT_LOAD, libc::PF_W)
    }

    fn segments_with(&self, kind: u32, flags: u32) -> impl Iterator<Item = (usize, usize)> {
        // SAFETY: the loader's table, which lives as long as the description.
        let headers = unsafe { std::slice::from_raw_parts(self.0.dlpi_phdr, usize::from(self.0.dlpi_phnum)) };
        let wanted = headers.iter().filter(move |segment| segment.p_type == kind && segment.p_flags & flags == flags);
        wanted.map(|segment| {
            let begin = self.base() + segment.p_vaddr as usize;
            (begin, begin + segment.p_memsz as usize)
        })
    }
}
