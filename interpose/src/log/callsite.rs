//! Call sites: return addresses → ids in the log, as module and offset, which hold wherever the module is loaded next time.
//!
//! Only modules with a call site or a sample are defined: a program has a hundred and more, whose names and build ids take as much room as
//! thousands of calls.

use std::collections::HashMap;
use std::path::Path;

use lbprof_collector::Definition;
use lbprof_collector::definition::{CallSite, InterpretedFunction, Module};
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::NONE;
use lbprof_collector::sample::{CodeAddress, Sample};

use crate::harmless::guard;
use crate::machine::system::loader::objects;
use crate::machine::system::loader::objects::LoadedObject;
use crate::machine::system::process;
use crate::machine::unwind::PathCall;

/// Call sites that a log may have: generated code could call from ever new places.
const MAX_SITES: u32 = 1 << 20;

/// Calls on the way to samples that a log may have; samples beyond them have no chain. Programs have thousands.
const MAX_CALLERS: u32 = 1 << 17;

/// The identity of a call: the id of the call around it, its location, and, for the outermost, whether there may be more around it.
type Key = (u32, CallLocation, bool);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum CallLocation {
    Address(usize),
    /// The call is in an interpreted function, on this line and column.
    Line(u32, u32, u32),
}

#[derive(Default)]
pub struct CallSiteTable {
    ids: HashMap<Key, u32, foldhash::fast::FixedState>,
    /// Modules, also those that were unloaded. Those that are not defined have the id [`NONE`].
    modules: Vec<Module>,
    /// Places in `modules` of the loaded ones in which something was found.
    loaded: Vec<usize>,
    next_module: u32,
    /// Count of unloads when `loaded` was last emptied.
    unloads: u64,
    next_site: u32,
    /// Calls on the way to samples.
    callers: HashMap<Key, u32, foldhash::fast::FixedState>,
    next_caller: u32,
    /// Interpreted functions by name and file.
    functions: HashMap<(String, String), u32, foldhash::fast::FixedState>,
    pub new: Vec<Definition>,
}

impl CallSiteTable {
    /// Returns the id of the innermost call site of a path, whose calls come innermost first, or `None` if there are too many.
    pub fn path(&mut self, calls: &[PathCall], is_cut: bool) -> Option<u32> {
        self.innermost(calls, is_cut, Self::site)
    }

    /// Returns the id of the innermost of the calls on the way to a sample, like [`CallSiteTable::path`].
    pub fn chain(&mut self, callers: &[PathCall], is_cut: bool) -> Option<u32> {
        self.innermost(callers, is_cut, Self::caller)
    }

    /// Returns the id of a call within the one with the id `parent`, or [`NONE`], like [`CallSiteTable::path`].
    pub fn within(&mut self, parent: u32, call: &PathCall) -> Option<u32> {
        self.refresh();
        let location = self.location(call);
        self.site((parent, location, false))
    }

    /// Returns the id of the innermost call, by a function that returns the id of a call whose key holds the id of the call around it.
    fn innermost(&mut self, calls: &[PathCall], is_cut: bool, find: fn(&mut Self, Key) -> Option<u32>) -> Option<u32> {
        self.refresh();
        let (mut cut, mut parent) = (is_cut, NONE);
        for call in calls.iter().rev() {
            let location = self.location(call);
            parent = find(self, (parent, location, std::mem::take(&mut cut)))?;
        }
        Some(parent)
    }

    fn caller(&mut self, key: Key) -> Option<u32> {
        let (parent, location, cut) = key;
        // Functions and their lines are enough here.
        let location = match location {
            CallLocation::Line(function, line, _) => CallLocation::Line(function, line, NONE),
            address @ CallLocation::Address(_) => address,
        };
        let key = (parent, location, cut);
        if let Some(&id) = self.callers.get(&key) {
            return Some(id);
        }
        let id = Some(self.next_caller).filter(|&id| id < MAX_CALLERS)?;
        self.next_caller += 1;
        self.callers.insert(key, id);
        let caller = self.describe_call(id, key);
        self.new.push(Definition::SampleCaller(caller));
        Some(id)
    }

    fn site(&mut self, key: Key) -> Option<u32> {
        if let Some(&id) = self.ids.get(&key) {
            return Some(id);
        }
        if self.next_site >= MAX_SITES {
            let what = format_args!("more than {MAX_SITES} call sites; further ones have no name");
            guard::report_problem(ProblemKind::TooMany, what);
            return None;
        }
        let id = self.next_site;
        self.next_site += 1;
        self.ids.insert(key, id);
        let site = self.describe_call(id, key);
        self.new.push(Definition::CallSite(site));
        Some(id)
    }

    fn location(&mut self, call: &PathCall) -> CallLocation {
        match call {
            PathCall::To(address) => CallLocation::Address(*address),
            PathCall::Python(line) => {
                let function = self.function(&line.function, &line.file);
                CallLocation::Line(function, line.line, line.column.unwrap_or(NONE))
            }
        }
    }

    fn describe_call(&mut self, id: u32, key: Key) -> CallSite {
        let (parent, location, cut) = key;
        match location {
            CallLocation::Address(address) => {
                let (module, base) = self.module_at(address as u64).map_or((NONE, 0), |at| self.define_module(at));
                let offset = address as u64 - base;
                CallSite { id, module, offset, parent, cut, function: NONE, column: NONE }
            }
            CallLocation::Line(function, line, column) => {
                CallSite { id, module: NONE, offset: u64::from(line), parent, cut, function, column }
            }
        }
    }

    /// Replaces the addresses of samples by locations in modules.
    pub fn locate(&mut self, samples: &mut [Sample]) {
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
                let (module, base) = self.define_module(at);
                sample.location = CodeAddress { module, offset: address - base };
            }
        }
    }

    fn holds(&self, at: usize, address: u64) -> bool {
        self.modules.get(at).is_some_and(|module| (module.base..module.end).contains(&address))
    }

    /// Returns the place of the module that an address is in, if it was looked at before.
    fn known_module_at(&self, address: u64) -> Option<usize> {
        self.loaded.iter().copied().find(|&at| self.holds(at, address))
    }

    fn module_at(&mut self, address: u64) -> Option<usize> {
        if let Some(at) = self.known_module_at(address) {
            return Some(at);
        }
        let object = objects::look_at(address as usize, describe_module)?;
        let mut known = self.modules.iter().map(|known| (known.base, known.end, &known.path));
        let at = known.position(|known| known == (object.base, object.end, &object.path));
        let at = at.unwrap_or(self.modules.len());
        if at == self.modules.len() {
            self.modules.push(object);
        }
        self.loaded.push(at);
        Some(at)
    }

    /// Returns id and base of a module, which the log has from now on.
    fn define_module(&mut self, at: usize) -> (u32, u64) {
        let Some(module) = self.modules.get_mut(at) else { return (NONE, 0) };
        if module.id == NONE {
            module.id = self.next_module;
            self.next_module += 1;
            self.new.push(Definition::Module(module.clone()));
        }
        (module.id, module.base)
    }

    /// Returns the id of an interpreted function.
    fn function(&mut self, name: &str, file: &str) -> u32 {
        let id = self.functions.len() as u32;
        *self.functions.entry((name.to_owned(), file.to_owned())).or_insert_with(|| {
            self.new.push(Definition::Function(InterpretedFunction {
                id,
                name: name.to_owned(),
                file: file.to_owned(),
            }));
            id
        })
    }

    /// Forgets sites whose addresses may have changed hands, if objects were unloaded.
    pub fn refresh(&mut self) {
        let unloads = objects::count_unloads();
        if unloads != self.unloads {
            self.unloads = unloads;
            self.ids.clear();
            self.callers.clear();
            self.loaded.clear();
        }
    }
}

/// Describes a loaded object for the log. The loader names neither the program nor the kernel's own object, whose functions read the clocks.
fn describe_module(object: &LoadedObject) -> Module {
    let path = match object.path().to_string_lossy() {
        path if path.starts_with("linux-vdso") => "[vdso]".to_owned(),
        path if !path.is_empty() => process::resolve_path(Path::new(&*path)).to_string_lossy().into_owned(),
        _ if object.is_program() => process::executable_path().to_string_lossy().into_owned(),
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

/// Returns the build id in a segment of ELF notes: | name bytes u32 | id bytes u32 | type 3 u32 | "GNU\0" | id |.
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
