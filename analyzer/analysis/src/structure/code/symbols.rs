//! Call sites → function, file and line, from the files that the program was loaded from.
//!
//! A call site is a return address: the call is the instruction before it, so that the address less one is looked up. The
//! log stores it less the module's load address, which makes position-independent programs and shared objects the same as
//! all others. The sources of names, best first:
//!
//! 1. function, file and line from DWARF, in the file itself or in its separate debug file (by build id or debug link);
//!    for functions inlined into one another, the innermost that is not in a system header;
//! 2. the function from the symbol tables (`function_symbols.rs`);
//! 3. module and offset, always.
//!
//! Calls in functions of an interpreter have their names in the log.
//!
//! Addresses at which samples were taken are looked up with them, as they are ([`super::sampled_code`]).
//!
//! A file that is not the one recorded (its build id differs) gives no names: they would be wrong.
//!
//! Names may take a limited processor time: a log may name any file of this machine, each by any number of paths. A file takes at most half of
//! the time that is left, so that a hostile one leaves time for the others. Once little is left, call sites have no names, and the report says so.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::time::Duration;

use lbprof_collector::{Problem, ProblemKind};

use crate::model::Module;
use crate::model::code::sites::{CallSiteTable, ChainCall, SiteAddress};
use crate::structure::code::call_tree::{CallTree, MOST_SITES};
use crate::structure::code::code_place::SourcePosition;
pub use crate::structure::code::code_place::{Caller, CodePlace, base_name, first_on_line};
use crate::structure::code::code_readers::{CodeReaders, FileNames};
use crate::structure::code::frames::{is_binding, is_interpreter_file, is_mpi_library, is_python_library, is_runtime};
use crate::structure::code::sampled_code::{CodeBuilder, ProgramCalls, SampledCode, SampledFrame, is_recorder_file};
use crate::structure::code::sources::NamedCall;

/// The resolved names and places of call sites.
#[derive(Clone, Debug, Default)]
pub struct ResolvedNames {
    /// Their places, at the same indices.
    pub places: Vec<CodePlace>,
    /// The calls of the source that they are.
    pub calls: CallTree,
    /// For each call site, the first one that is the same call of the source, with the same path: compilers copy calls by loop unrolling and tail
    /// duplication. Its own index if the line is not known.
    pub first_copy: Vec<u32>,
    /// For each call site, true if it is known to be in `main`, including functions inlined into it: `main` runs once, so that its loop makes each
    /// of these calls.
    pub in_main: Vec<bool>,
    /// The code that samples hit.
    pub sampled: SampledCode,
    /// Problems that kept names from being found.
    pub problems: Vec<Problem>,
    /// Modules whose files exist and are the same as in the run.
    pub files: BTreeSet<u32>,
    pub(in crate::structure) readers: CodeReaders,
}

/// Default processor time for names: a program of 2 GB with debug information takes a few seconds.
pub const MOST_TIME: Duration = Duration::from_secs(16);

/// The fraction of that time below which no further file is read.
const MIN_FRACTION_LEFT: u32 = 64;

/// The processor time for names that no file has taken yet, and the least with which a file is read.
struct NamingTime {
    left: Duration,
    least: Duration,
}

/// Resolves the call sites `all` with `readers` in a limited processor time.
pub fn resolve_names(all: &CallSiteTable, readers: &CodeReaders, within: Duration) -> ResolvedNames {
    let mut places = unresolved_places(all);
    let mut by_module: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
    for site in &all.call_sites {
        if let Some(module) = site.module {
            by_module.entry(module).or_default().insert(site.offset);
        }
    }
    // Missing names in files that have only samples are visible in the table of functions.
    let calls_in: BTreeMap<u32, u64> =
        by_module.iter().map(|(&module, offsets)| (module, offsets.len() as u64)).collect();
    for (module, offset) in sampled_addresses(all) {
        by_module.entry(module).or_default().insert(offset);
    }
    let mut time = NamingTime { left: within, least: within / MIN_FRACTION_LEFT };
    let mut problems = Vec::new();
    let mut known: HashMap<(u32, u64), NamedCall> = HashMap::new();
    let mut files = BTreeSet::new();
    // Files that were read without faults.
    let mut whole_files = BTreeSet::new();
    for (module, offsets) in by_module {
        let Some(file) = all.modules.get(module as usize) else { continue };
        let (names, faults) = resolve_module(file, &offsets, readers, &mut time);
        if !names.is_empty() {
            files.insert(module);
            if faults.is_empty() {
                whole_files.insert(module);
            }
        }
        if let Some(&count) = calls_in.get(&module) {
            let faults = faults.into_iter();
            problems.extend(faults.map(|(kind, detail)| Problem { kind, rank: None, count, detail }));
        }
        known.extend(offsets.into_iter().map(|offset| (module, offset)).zip(names));
    }
    let found: Vec<Option<&NamedCall>> =
        all.call_sites.iter().map(|site| known.get(&(site.module?, site.offset))).collect();
    for (place, found) in places.iter_mut().zip(&found) {
        if let Some(found) = found {
            *place = CodePlace { module: place.module.take(), offset: place.offset, ..found.place.clone() };
        }
    }
    problems.extend(find_stripped(all, &places, &whole_files));
    let mut resolved = known_calls(
        all,
        places,
        |at| found[at].map_or(const { &Vec::new() }, |found| &found.position),
        |at| found[at].is_some_and(|found| found.is_in_main),
    );
    resolved.sampled = sampled_code(all, &resolved.places, |(module, offset)| {
        let module = module?;
        let (found, file) = known.get(&(module, offset)).zip(all.modules.get(module as usize))?;
        SampledFrame::new(&file.path, &found.place, &found.position)
    });
    resolved.problems.extend(problems);
    ResolvedNames { files, readers: readers.clone(), ..resolved }
}

/// Returns the modules and offsets to look up for samples, and for the calls that led to them.
fn sampled_addresses(all: &CallSiteTable) -> impl Iterator<Item = (u32, u64)> {
    let sampled = all.sampled.iter().filter_map(|&(module, offset)| Some((module?, return_to(offset))));
    let calls = all.chains.iter().flat_map(|chain| &chain.callers).filter_map(|call| match *call {
        ChainCall::To((module, offset)) => Some((module?, offset)),
        ChainCall::InScript(..) => None,
    });
    sampled.chain(calls)
}

fn return_address(sampled: SiteAddress) -> SiteAddress {
    (sampled.0, return_to(sampled.1))
}

/// Returns the code that samples hit. `frame_at` returns the frame of the call that returns to an address; `places` are the places of the call sites.
fn sampled_code(
    all: &CallSiteTable,
    places: &[CodePlace],
    frame_at: impl Fn(SiteAddress) -> Option<SampledFrame>,
) -> SampledCode {
    // The program and the libraries that call MPI.
    let of_program: BTreeSet<Option<u32>> = (all.call_sites.iter().zip(places))
        .filter(|(_, place)| !is_runtime(place) && !is_binding(place))
        .map(|(site, _)| site.module)
        .filter(Option::is_some)
        .collect();
    let mut code = CodeBuilder::new(&all.modules);
    for &address in &all.sampled {
        if let Some(found) = frame_at(return_address(address)) {
            code.add(address, &found);
        }
    }
    let mut by_chain: BTreeMap<u32, Vec<(SiteAddress, Option<SampledFrame>, bool)>> = BTreeMap::new();
    for &(address, chain) in &all.sampled_by {
        let file = address.0.and_then(|module| all.modules.get(module as usize));
        if !file.is_some_and(|file| is_recorder_file(&file.path)) {
            let code = (address, frame_at(return_address(address)), of_program.contains(&address.0));
            by_chain.entry(chain).or_default().push(code);
        }
    }
    for (chain, addresses) in by_chain {
        let Some(callers) = all.chains.get(chain as usize).map(|chain| &chain.callers) else { continue };
        let calls = ChainReader { all, of_program: &of_program }.program_calls(callers, &frame_at);
        code.add_called(chain, &calls, addresses.iter().map(|(address, found, is)| (*address, found.as_ref(), *is)));
    }
    code.finish()
}

/// The files of a run, and which of them are the program's: their calls in a chain are shown.
struct ChainReader<'a> {
    all: &'a CallSiteTable,
    of_program: &'a BTreeSet<Option<u32>>,
}

impl ChainReader<'_> {
    fn is_in(&self, call: &ChainCall, is_wanted: fn(&str) -> bool) -> bool {
        let ChainCall::To((Some(module), _)) = call else { return false };
        self.all.modules.get(*module as usize).is_some_and(|file| is_wanted(&file.path))
    }

    fn is_own(&self, call: &ChainCall) -> bool {
        match call {
            ChainCall::To(address) => self.of_program.contains(&address.0),
            ChainCall::InScript(function, _) => {
                self.all.functions.get(*function as usize).is_some_and(|function| !is_python_library(&function.file))
            }
        }
    }

    /// Returns the program's calls of a chain, which comes with the innermost call first. If no call is the program's own, all in scripts are.
    fn program_calls(
        &self,
        callers: &[ChainCall],
        frame_at: impl Fn(SiteAddress) -> Option<SampledFrame>,
    ) -> ProgramCalls {
        // The recorder leaves out calls within MPI, unless MPI calls the program.
        let mpi_call = callers.iter().position(|call| self.is_in(call, is_mpi_library));
        let is_any_own = callers.iter().any(|call| self.is_own(call));
        let is_script = callers.iter().any(|call| matches!(call, ChainCall::InScript(..)));
        let mut calls = ProgramCalls { is_script, ..ProgramCalls::default() };
        for (at, call) in callers.iter().enumerate().rev() {
            if mpi_call == Some(at) {
                calls.n_outside_mpi = Some(calls.frames.len());
                continue;
            }
            if is_script && self.is_in(call, is_interpreter_file) {
                continue;
            }
            let (frame, is_in_script) = match *call {
                ChainCall::To(address) => (frame_at(address), false),
                ChainCall::InScript(function, line) => {
                    let function = self.all.functions.get(function as usize);
                    (function.map(|function| SampledFrame::from_script(function, line)), true)
                }
            };
            if self.is_own(call) || is_in_script && !is_any_own {
                calls.libraries.clear();
                calls.frames.extend(frame);
            } else {
                calls.libraries.extend(frame);
            }
        }
        calls
    }
}

/// Reports files that have no symbols for any call site of the program in them, or returns `None` if all have. A call path may lead through
/// single places without a symbol, e.g. in handwritten assembly code, and a script's functions name a path through the script.
fn find_stripped(all: &CallSiteTable, places: &[CodePlace], files: &BTreeSet<u32>) -> Option<Problem> {
    let sites = all.call_sites.iter().zip(places).filter(|(site, _)| {
        let mut path = std::iter::successors(Some(*site), |site| all.call_sites.get(site.parent? as usize));
        !path.any(|around| around.function.is_some())
    });
    let with_names: BTreeSet<u32> =
        sites.clone().filter(|(_, place)| place.is_named()).filter_map(|(site, _)| site.module).collect();
    let mut unnamed: BTreeMap<&str, u64> = BTreeMap::new();
    for (site, place) in sites {
        let is_unnamed = site.module.is_some_and(|module| files.contains(&module) && !with_names.contains(&module))
            && !place.is_named()
            && !is_runtime(place);
        if let Some(path) = place.module.as_deref().filter(|_| is_unnamed) {
            *unnamed.entry(path).or_default() += 1;
        }
    }
    let count = unnamed.values().sum();
    let mut by_count: Vec<(&str, u64)> = unnamed.into_iter().collect();
    by_count.sort_by_key(|&(path, count)| (std::cmp::Reverse(count), path));
    let paths: Vec<&str> = by_count.iter().take(MAX_STRIPPED).map(|&(path, _)| path).collect();
    let more = if by_count.len() > paths.len() { " …" } else { "" };
    let detail = format!("no symbols in {}{more}", paths.join(", "));
    (count > 0).then_some(Problem { kind: ProblemKind::NoSymbols, rank: None, count, detail })
}

/// Maximum number of files without symbols that are listed.
const MAX_STRIPPED: usize = 3;

/// Returns the return address of a call at an address: return addresses are looked up less one.
fn return_to(address: u64) -> u64 {
    address.wrapping_add(1)
}

/// Returns call sites without looking up their names.
pub fn sites_without_names(all: &CallSiteTable) -> ResolvedNames {
    let calls = known_calls(all, unresolved_places(all), |_| const { &Vec::new() }, |_| false);
    ResolvedNames { sampled: CodeBuilder::new(&all.modules).finish(), ..calls }
}

fn known_calls<'a>(
    all: &CallSiteTable,
    places: Vec<CodePlace>,
    position: impl Fn(usize) -> &'a SourcePosition,
    is_in_main: impl Fn(usize) -> bool,
) -> ResolvedNames {
    // The positions of calls in interpreted functions.
    let scripts: Vec<Option<SourcePosition>> = (all.call_sites.iter().zip(&places))
        .map(|(site, place)| site.function.map(|_| vec![(place.clone(), site.column)]))
        .collect();
    let calls = CallTree::new(all, |at| (&places[at], (scripts[at].as_ref().unwrap_or_else(|| position(at)))));
    // A site that calls MPI for a script has the place of the script's own call.
    let shown: Vec<usize> = (0..).zip(&places).map(|(site, _)| calls.shown_as(site) as usize).collect();
    let in_main = (0..places.len())
        .map(|at| match &scripts[shown[at]] {
            Some(_) => places[shown[at]].function.as_deref() == Some(MAIN_SCRIPT),
            None => is_in_main(at),
        })
        .collect();
    let mut places: Vec<CodePlace> = shown.into_iter().map(|at| places[at].clone()).collect();
    for (site, place) in (0..).zip(&mut places) {
        let Some(node) = calls.node_of(site) else { continue };
        let mut around = calls.callers(node).to_vec();
        let is_around_named = around.iter().any(|&at| calls.node(at).is_some_and(|node| node.place.is_named()));
        if !place.is_named() && !is_around_named {
            let to_named = calls.callers_to_named(node);
            around = if to_named.is_empty() { around } else { to_named };
        }
        place.callers =
            around.iter().filter_map(|&at| calls.node(at)).map(|node| Caller::from_place(&node.place)).collect();
    }
    let mut problems = Vec::new();
    if places.len() > MOST_SITES {
        let detail = "call sites: which calls lead to them is not shown".to_owned();
        problems.push(Problem { kind: ProblemKind::TooMany, rank: None, count: places.len() as u64, detail });
    }
    ResolvedNames { first_copy: calls.first_copies(), calls, places, in_main, problems, ..ResolvedNames::default() }
}

/// The name that Python gives to the code of a file outside of its functions.
const MAIN_SCRIPT: &str = "<module>";

/// Returns the places of call sites by module and offset, or by interpreted functions in the log.
fn unresolved_places(all: &CallSiteTable) -> Vec<CodePlace> {
    let places = all.call_sites.iter().map(|site| match site.function.and_then(|at| all.functions.get(at as usize)) {
        Some(function) => CodePlace {
            function: Some(function.name.clone()),
            file: Some(function.file.clone()),
            line: u32::try_from(site.offset).ok().filter(|&line| line > 0),
            ..CodePlace::default()
        },
        None => {
            let module = site.module.and_then(|module| all.modules.get(module as usize));
            CodePlace { module: module.map(|module| module.path.clone()), offset: site.offset, ..CodePlace::default() }
        }
    });
    places.collect()
}

type NamingFault = (ProblemKind, String);

/// Returns the names and positions of all or none of the calls that return to `offsets` in `module`, with the faults that kept names from being
/// found, and takes the time that they need from `time`.
fn resolve_module(
    module: &Module,
    offsets: &BTreeSet<u64>,
    readers: &CodeReaders,
    time: &mut NamingTime,
) -> (Vec<NamedCall>, Vec<NamingFault>) {
    let file = &module.path;
    if time.left <= time.least {
        let detail = format!("{file}: looking up names took too long");
        return (Vec::new(), vec![(ProblemKind::NamesDropped, detail)]);
    }
    let path = Path::new(file);
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    if !is_file || !path.is_absolute() {
        return (Vec::new(), vec![(ProblemKind::BinaryMissing, file.clone())]);
    }
    let addresses = offsets.iter().map(|offset| offset.wrapping_sub(1)).collect();
    let (answer, taken) = readers.open(file, &module.build_id).names(addresses, time.left / 2);
    time.left = time.left.saturating_sub(taken);
    let fault = match answer {
        FileNames::Found { calls, faults } => {
            return (calls, faults.into_iter().map(|fault| (ProblemKind::NamesDropped, fault)).collect());
        }
        FileNames::Changed => (ProblemKind::BinaryChanged, file.clone()),
        FileNames::Unread(fault) => (ProblemKind::NamesDropped, format!("{file}: its debug information {fault}")),
    };
    (Vec::new(), vec![fault])
}
