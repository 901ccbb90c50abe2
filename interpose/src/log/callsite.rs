//! Call sites: return addresses → ids in the log, as module and offset, which hold wherever the module is loaded next time.

use std::collections::HashMap;
use std::ffi::{CStr, c_void};

use lbprof_collector::Definition;
use lbprof_collector::definition::{CallSite, Module};
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::NONE;

use crate::harmless::guard;
use crate::unwind::{End, Path};

/// Call sites that a log may have: generated code could call from ever new places.
const MAX_SITES: u32 = 1 << 20;

/// What distinguishes call sites: from where the function around it was called, its return address, and, of the outermost, whether that is where
/// the program begins.
type Key = (u32, usize, bool);

/// The call sites and modules that the log knows.
pub struct Sites {
    ids: HashMap<Key, u32, foldhash::fast::FixedState>,
    /// Modules by id, also those that were unloaded.
    modules: Vec<Module>,
    /// Ids of those that are loaded.
    loaded: Vec<u32>,
    /// How many objects were loaded and unloaded when the modules were last looked at.
    loads: (u64, u64),
    next_site: u32,
}

impl Sites {
    /// None yet.
    pub fn new() -> Self {
        Sites { ids: HashMap::default(), modules: Vec::new(), loaded: Vec::new(), loads: (0, 0), next_site: 0 }
    }

    /// The id of a path's innermost call site; `None`: there are too many. Definitions that the log lacks are pushed to `new`.
    pub fn path(&mut self, path: &Path, new: &mut Vec<Definition>) -> Option<u32> {
        self.refresh(new);
        let mut cut = path.end == End::Cut;
        let mut parent = NONE;
        for &address in path.callers.iter().rev() {
            parent = self.site((parent, address, std::mem::take(&mut cut)), new)?;
        }
        Some(parent)
    }

    fn site(&mut self, key: Key, new: &mut Vec<Definition>) -> Option<u32> {
        if let Some(&id) = self.ids.get(&key) {
            return Some(id);
        }
        if self.next_site >= MAX_SITES {
            guard::report(
                ProblemKind::TooMany,
                format_args!("more than {MAX_SITES} call sites; further ones have no name"),
            );
            return None;
        }
        let (parent, address, cut) = key;
        let mut loaded = self.loaded.iter().filter_map(|&id| self.modules.get(id as usize));
        let module = loaded.find(|module| (module.base..module.end).contains(&(address as u64)));
        let id = self.next_site;
        self.next_site += 1;
        self.ids.insert(key, id);
        let (module, base) = module.map_or((NONE, 0), |module| (module.id, module.base));
        new.push(Definition::CallSite(CallSite { id, module, offset: address as u64 - base, parent, cut }));
        Some(id)
    }

    /// Looks whether objects were loaded or unloaded; pushes new modules, and forgets sites whose addresses may have changed hands.
    pub fn refresh(&mut self, new: &mut Vec<Definition>) {
        let known = if self.modules.is_empty() { (0, 0) } else { self.loads };
        let mut found = Found { objects: Vec::new(), loads: known };
        // SAFETY: the callback gets `found`, which lives here. The loader's lock is held meanwhile: the callback only copies.
        if unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut found).cast()) } != 0 {
            return;
        }
        if found.loads.1 != self.loads.1 {
            self.ids.clear();
        }
        self.loads = found.loads;
        self.loaded.clear();
        for object in found.objects {
            let is_same =
                |known: &&Module| known.base == object.base && known.end == object.end && known.path == object.path;
            let id = self.modules.iter().find(is_same).map_or(self.modules.len() as u32, |known| known.id);
            if id as usize == self.modules.len() {
                let module = Module { id, ..object };
                new.push(Definition::Module(module.clone()));
                self.modules.push(module);
            }
            self.loaded.push(id);
        }
    }
}

struct Found {
    objects: Vec<Module>,
    /// As in [`Sites`]: at first, of the objects that are known.
    loads: (u64, u64),
}

/// Stops with 1 where nothing was loaded or unloaded.
unsafe extern "C" fn collect(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> i32 {
    // SAFETY: dl_iterate_phdr passes a valid description of a loaded object, and our own pointer.
    unsafe {
        let info = &*info;
        let found = &mut *found.cast::<Found>();
        let loads = (info.dlpi_adds, info.dlpi_subs);
        if found.objects.is_empty() && found.loads == loads {
            return 1;
        }
        found.loads = loads;
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
