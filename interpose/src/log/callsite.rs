//! Call sites: return addresses → ids in the log, as module and offset, which hold wherever the module is loaded next time.
//!
//! Only modules that a call site or a sample is in are defined: a program has a hundred and more, whose names and build ids are as long as
//! the log of thousands of calls.

use std::collections::HashMap;
use std::path::Path;

use lbprof_collector::Definition;
use lbprof_collector::definition::{CallSite, InterpretedFunction, Module};
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::NONE;
use lbprof_collector::sample::{CodeAddress, Sample, SampleCaller};

use crate::harmless::guard;
use crate::system::objects::{self, LoadedObject};
use crate::system::process;
use crate::unwind::PathCall;

/// Call sites that a log may have: generated code could call from ever new places.
const MAX_SITES: u32 = 1 << 20;

/// Calls on the way to samples that a log may have; samples beyond them have no chain. Programs have thousands.
const MAX_CALLERS: u32 = 1 << 17;

/// The identity of a call site: the site of the call of the function around it, its location, and, for the outermost, whether the program
/// begins there.
type Key = (u32, CallLocation, bool);

/// The location of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum CallLocation {
    /// The call returns to this address.
    Address(usize),
    /// The call is in an interpreted function, on this line and column.
    Line(u32, u32, u32),
}

/// The call sites and modules that the log knows.
pub struct CallSiteTable {
    ids: HashMap<Key, u32, foldhash::fast::FixedState>,
    /// Modules, also those that were unloaded. Those that are not defined have the id [`NONE`].
    modules: Vec<Module>,
    /// Places in `modules` of those that are loaded, as far as something was found in them.
    loaded: Vec<usize>,
    next_module: u32,
    /// Count of unloads when `loaded` was last emptied.
    unloads: u64,
    next_site: u32,
    /// Calls on the way to samples, by the caller around them, location, and whether there may be more around an outermost one.
    callers: HashMap<Key, u32, foldhash::fast::FixedState>,
    next_caller: u32,
    /// Interpreted functions by name and file.
    functions: HashMap<(String, String), u32, foldhash::fast::FixedState>,
}

impl CallSiteTable {
    /// Creates an empty table.
    pub fn new() -> Self {
        CallSiteTable {
            ids: HashMap::default(),
            modules: Vec::new(),
            loaded: Vec::new(),
            next_module: 0,
            unloads: 0,
            next_site: 0,
            callers: HashMap::default(),
            next_caller: 0,
            functions: HashMap::default(),
        }
    }

    /// The id of a path's innermost call site; `None`: there are too many. Definitions that the log lacks are pushed to `new`.
    pub fn path(&mut self, calls: &[PathCall], is_cut: bool, new: &mut Vec<Definition>) -> Option<u32> {
        self.refresh();
        let mut cut = is_cut;
        let mut parent = NONE;
        for call in calls.iter().rev() {
            let place = self.place(call, new);
            parent = self.site((parent, place, std::mem::take(&mut cut)), new)?;
        }
        Some(parent)
    }

    /// The id of the innermost of the calls on the way to a sample, the innermost first; `None`: there are too many.
    /// Definitions that the log lacks are pushed to `new`.
    pub fn chain(&mut self, callers: &[PathCall], is_cut: bool, new: &mut Vec<Definition>) -> Option<u32> {
        self.refresh();
        let mut cut = is_cut;
        let mut parent = NONE;
        for call in callers.iter().rev() {
            let place = match self.place(call, new) {
                // Functions and their lines are enough there.
                CallLocation::Line(function, line, _) => CallLocation::Line(function, line, NONE),
                address @ CallLocation::Address(_) => address,
            };
            parent = self.caller((parent, place, std::mem::take(&mut cut)), new)?;
        }
        Some(parent)
    }

    fn caller(&mut self, key: Key, new: &mut Vec<Definition>) -> Option<u32> {
        if let Some(&id) = self.callers.get(&key) {
            return Some(id);
        }
        let id = Some(self.next_caller).filter(|&id| id < MAX_CALLERS)?;
        self.next_caller += 1;
        self.callers.insert(key, id);
        let (parent, place, cut) = key;
        let (module, offset, function) = match place {
            CallLocation::Address(address) => {
                let (module, base) = self.module_at(address as u64).map_or((NONE, 0), |at| self.defined(at, new));
                (module, address as u64 - base, NONE)
            }
            CallLocation::Line(function, line, _) => (NONE, u64::from(line), function),
        };
        new.push(Definition::SampleCaller(SampleCaller { id, module, offset, parent, cut, function }));
        Some(id)
    }

    /// The id of a call within the one of this id, or [`NONE`]; as [`CallSiteTable::path`].
    pub fn within(&mut self, parent: u32, call: &PathCall, new: &mut Vec<Definition>) -> Option<u32> {
        self.refresh();
        let place = self.place(call, new);
        self.site((parent, place, false), new)
    }

    fn place(&mut self, call: &PathCall, new: &mut Vec<Definition>) -> CallLocation {
        match call {
            PathCall::To(address) => CallLocation::Address(*address),
            PathCall::Python(line) => {
                let function = self.function(&line.function, &line.file, new);
                CallLocation::Line(function, line.line, line.column.unwrap_or(NONE))
            }
        }
    }

    /// Makes locations in modules of addresses. Modules that the log lacks are pushed to `new`.
    pub fn locate(&mut self, samples: &mut [Sample], new: &mut Vec<Definition>) {
        self.refresh();
        let may_vanish = objects::is_unloading();
        let mut last = None;
        for sample in samples {
            let address = sample.location.offset;
            last = last.filter(|&at| self.holds(at, address)).or_else(|| match may_vanish {
                true => self.known_module_at(address),
                false => self.module_at(address),
            });
            if let Some(at) = last {
                let (module, base) = self.defined(at, new);
                sample.location = CodeAddress { module, offset: address - base };
            }
        }
    }

    /// Returns whether a module, by its place, holds an address.
    fn holds(&self, at: usize, address: u64) -> bool {
        self.modules.get(at).is_some_and(|module| (module.base..module.end).contains(&address))
    }

    /// The place of the module that an address is in, if it was looked at before.
    fn known_module_at(&self, address: u64) -> Option<usize> {
        self.loaded.iter().copied().find(|&at| self.holds(at, address))
    }

    /// The place of the module that an address is in.
    fn module_at(&mut self, address: u64) -> Option<usize> {
        if let Some(at) = self.known_module_at(address) {
            return Some(at);
        }
        let object = objects::look_at(address as usize, module)?;
        let mut known = self.modules.iter().map(|known| (known.base, known.end, &known.path));
        let at = known.position(|known| known == (object.base, object.end, &object.path));
        let at = at.unwrap_or(self.modules.len());
        if at == self.modules.len() {
            self.modules.push(object);
        }
        self.loaded.push(at);
        Some(at)
    }

    /// Id and base of a module, which the log has from now on.
    fn defined(&mut self, at: usize, new: &mut Vec<Definition>) -> (u32, u64) {
        let Some(module) = self.modules.get_mut(at) else { return (NONE, 0) };
        if module.id == NONE {
            module.id = self.next_module;
            self.next_module += 1;
            new.push(Definition::Module(module.clone()));
        }
        (module.id, module.base)
    }

    /// The id of an interpreted function.
    fn function(&mut self, name: &str, file: &str, new: &mut Vec<Definition>) -> u32 {
        let id = self.functions.len() as u32;
        *self.functions.entry((name.to_owned(), file.to_owned())).or_insert_with(|| {
            new.push(Definition::Function(InterpretedFunction { id, name: name.to_owned(), file: file.to_owned() }));
            id
        })
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
        let (parent, place, cut) = key;
        let id = self.next_site;
        self.next_site += 1;
        self.ids.insert(key, id);
        let site = match place {
            CallLocation::Address(address) => {
                let (module, base) = self.module_at(address as u64).map_or((NONE, 0), |at| self.defined(at, new));
                CallSite::alone(id, module, address as u64 - base)
            }
            CallLocation::Line(function, line, column) => {
                CallSite { function, column, ..CallSite::alone(id, NONE, u64::from(line)) }
            }
        };
        new.push(Definition::CallSite(CallSite { parent, cut, ..site }));
        Some(id)
    }

    /// Looks whether objects were unloaded; forgets sites whose addresses may have changed hands.
    pub fn refresh(&mut self) {
        let unloads = objects::unloads();
        if unloads != self.unloads {
            self.unloads = unloads;
            self.ids.clear();
            self.callers.clear();
            self.loaded.clear();
        }
    }
}

/// A loaded object as the log has it. The program has no name; nor has the kernel's own object, whose functions read the clocks.
fn module(object: &LoadedObject) -> Module {
    let path = match object.path().to_string_lossy() {
        path if path.starts_with("linux-vdso") => "[vdso]".to_owned(),
        path if !path.is_empty() => process::absolute(Path::new(&*path)).to_string_lossy().into_owned(),
        _ if object.is_program() => process::executable().to_string_lossy().into_owned(),
        _ => "[vdso]".to_owned(),
    };
    let segments_of_notes = object.segments(libc::PT_NOTE).filter_map(|(begin, end)| {
        // SAFETY: mapped while the object is visited.
        gnu_build_id(unsafe { std::slice::from_raw_parts(begin as *const u8, end - begin) })
    });
    let build_id = segments_of_notes.last();
    let base = object.base();
    let end = object.bounds().map_or(base, |(_, end)| end);
    Module { id: NONE, path, build_id: build_id.unwrap_or_default(), base: base as u64, end: end as u64 }
}

/// The build id in a segment of ELF notes: | name bytes u32 | id bytes u32 | type 3 u32 | "GNU\0" | id |.
fn gnu_build_id(mut notes: &[u8]) -> Option<Vec<u8>> {
    loop {
        let head: &[[u8; 4]] = notes.get(..12)?.as_chunks().0;
        let &[name, size, kind] = head else { return None };
        let [name, size, kind] = [name, size, kind].map(|word| u32::from_le_bytes(word) as usize);
        let id_at = 12 + name.next_multiple_of(4);
        if kind == 3 && notes.get(12..16)? == b"GNU\0" {
            return Some(notes.get(id_at..id_at + size)?.to_vec());
        }
        notes = notes.get(id_at + size.next_multiple_of(4)..)?;
    }
}
