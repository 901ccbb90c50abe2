//! Call sites: return addresses → ids in the log, as module and offset, which hold wherever the module is loaded next time.

use std::collections::HashMap;
use std::ffi::{CStr, c_void};

use lbprof_collector::Definition;
use lbprof_collector::definition::{CallSite, Module};
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::NONE;

use crate::harmless::guard;

const CACHE: usize = 512;
/// Call sites that a log may have: generated code could call from ever new places.
const MAX_SITES: u32 = 1 << 20;

/// The call sites and modules that the log knows.
pub struct Sites {
    cache: Box<[(u64, u32); CACHE]>,
    ids: HashMap<u64, u32, foldhash::fast::FixedState>,
    modules: Vec<Module>,
    /// How many objects were loaded and unloaded when the modules were last looked at.
    loads: (u64, u64),
    next_site: u32,
}

impl Sites {
    /// None yet.
    pub fn new() -> Self {
        Sites {
            cache: Box::new([(0, NONE); CACHE]),
            ids: HashMap::default(),
            modules: Vec::new(),
            loads: (0, 0),
            next_site: 0,
        }
    }

    /// The id of a call site; 0, no address, has none. Definitions that the log lacks are pushed to `new`.
    #[inline]
    pub fn id(&mut self, address: u64, new: &mut Vec<Definition>) -> u64 {
        let slot = (address >> 2 ^ address >> 11) as usize & (CACHE - 1);
        match self.cache.get(slot) {
            Some(&(known, id)) if known == address && id != NONE => u64::from(id),
            _ => self.look_up(address, slot, new),
        }
    }

    #[cold]
    #[inline(never)]
    fn look_up(&mut self, address: u64, slot: usize, new: &mut Vec<Definition>) -> u64 {
        if address == 0 {
            return u64::MAX;
        }
        let id = match self.ids.get(&address) {
            Some(&id) => id,
            None if self.next_site >= MAX_SITES => {
                guard::report(
                    ProblemKind::TooMany,
                    format_args!("more than {MAX_SITES} call sites; further ones have no name"),
                );
                return u64::MAX;
            }
            None => {
                self.refresh(new);
                let module = self.modules.iter().rev().find(|module| (module.base..module.end).contains(&address));
                let id = self.next_site;
                self.next_site += 1;
                self.ids.insert(address, id);
                new.push(Definition::CallSite(CallSite {
                    id,
                    module: module.map_or(NONE, |module| module.id),
                    offset: address - module.map_or(0, |module| module.base),
                }));
                id
            }
        };
        if let Some(cached) = self.cache.get_mut(slot) {
            *cached = (address, id);
        }
        u64::from(id)
    }

    /// Looks whether objects were loaded or unloaded; pushes new modules, and forgets sites whose addresses may have changed hands.
    pub fn refresh(&mut self, new: &mut Vec<Definition>) {
        let mut found = Found { objects: Vec::new(), loads: (0, 0) };
        // SAFETY: the callback gets `found`, which lives here. The loader's lock is held meanwhile: the callback only copies.
        unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut found).cast()) };
        if found.loads == self.loads && !self.modules.is_empty() {
            return;
        }
        if found.loads.1 != self.loads.1 {
            self.cache.fill((0, NONE));
            self.ids.clear();
        }
        self.loads = found.loads;
        for object in found.objects {
            let known = self
                .modules
                .iter()
                .any(|known| known.base == object.base && known.end == object.end && known.path == object.path);
            if !known {
                let module = Module { id: self.modules.len() as u32, ..object };
                new.push(Definition::Module(module.clone()));
                self.modules.push(module);
            }
        }
    }
}

struct Found {
    objects: Vec<Module>,
    loads: (u64, u64),
}

unsafe extern "C" fn collect(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> i32 {
    // SAFETY: dl_iterate_phdr passes a valid description of a loaded object, and our own pointer.
    unsafe {
        let info = &*info;
        let found = &mut *found.cast::<Found>();
        found.loads = (info.dlpi_adds, info.dlpi_subs);
        let base = info.dlpi_addr;
        let mut end = base;
        let mut build_id = Vec::new();
        for i in 0..usize::from(info.dlpi_phnum) {
            let segment = &*info.dlpi_phdr.add(i);
            if segment.p_type == libc::PT_LOAD {
                end = end.max(base + segment.p_vaddr + segment.p_memsz);
            } else if segment.p_type == libc::PT_NOTE {
                let notes = std::slice::from_raw_parts((base + segment.p_vaddr) as *const u8, segment.p_memsz as usize);
                if let Some(id) = gnu_build_id(notes) {
                    build_id = id;
                }
            }
        }
        let path = if info.dlpi_name.is_null() || info.dlpi_name.read() == 0 {
            if !found.objects.is_empty() {
                // The kernel's own object has no name either, and no calls.
                return 0;
            }
            crate::system::process::executable().to_string_lossy().into_owned()
        } else {
            CStr::from_ptr(info.dlpi_name).to_string_lossy().into_owned()
        };
        found.objects.push(Module { id: 0, path, build_id, base, end });
    }
    0
}

/// The build id in a segment of ELF notes: | name bytes u32 | id bytes u32 | type 3 u32 | "GNU\0" | id |.
fn gnu_build_id(mut notes: &[u8]) -> Option<Vec<u8>> {
    let word = |bytes: &[u8], at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    loop {
        let (name, size, kind) = (word(notes, 0)?, word(notes, 4)?, word(notes, 8)?);
        let id_at = 12 + name.next_multiple_of(4);
        if kind == 3 && notes.get(12..16)? == b"GNU\0" {
            return Some(notes.get(id_at..id_at + size)?.to_vec());
        }
        notes = notes.get(id_at + size.next_multiple_of(4)..)?;
    }
}
