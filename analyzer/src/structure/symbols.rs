//! Call sites → function, file and line, from the files that the program was loaded from.
//!
//! A call site is a return address: the call is the instruction before it, so that the address less one is looked up. The
//! log stores it less the module's load address, which makes position-independent programs and shared objects the same as
//! all others. What is known of a place, best first:
//!
//! 1. function, file and line from DWARF, in the file itself or in its separate debug file (by build id or debug link);
//!    of functions inlined into one another the innermost that is not a system header's;
//! 2. the function from the symbol table, static or dynamic;
//! 3. module and offset, always.
//!
//! A file that is not the one recorded (its build id differs) gives no names: they would be wrong.
//!
//! Names are worth only so much time: a log may name any file of this machine, each by as many paths as it likes. Once that time is over,
//! the call sites that are left have no names, and the report says so.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use addr2line::Loader;
use lbprof_collector::{Problem, ProblemKind};
use object::Object;
use object::read::ReadCache;
use rayon::prelude::*;
use rustix::time::{ClockId, clock_gettime};
use serde::{Serialize, Serializer};

use crate::model::Module;
use crate::model::sites::Sites;

/// What is known of a place in a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CodePlace {
    /// The function that calls.
    pub function: Option<String>,
    /// Its source file.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// Path of the executable or library; null where the address lies in none.
    pub module: Option<String>,
    /// The address that the call returns to, as the module's own tables state it; the raw address where there is no module; null if it is
    /// not known.
    #[serde(serialize_with = "known_address")]
    #[cfg_attr(test, schemars(with = "Option<u64>"))]
    pub offset: u64,
}

/// An address; no call returns to 0, which stands for none.
fn known_address<S: Serializer>(address: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    Some(*address).filter(|&address| address > 0).serialize(serializer)
}

impl CodePlace {
    /// The function's name without return type and parameters; empty where it is not known.
    pub fn function_label(&self) -> &str {
        self.function.as_deref().map_or("", name_alone)
    }

    /// The shortest name that distinguishes it from others: `force (lj.c:120)`, `force (+0x1234)` where the line is not known, or
    /// `lmp+0x1234`. The function's return type and parameters are left out.
    pub fn label(&self) -> String {
        let source = self.file.as_deref().map(|file| match self.line {
            Some(line) => format!("{}:{line}", base_name(file)),
            None => base_name(file).to_owned(),
        });
        let module = self.module.as_deref().map(base_name);
        match (self.function.as_deref().map(name_alone), source, module) {
            (Some(function), Some(source), _) => format!("{function} ({source})"),
            (Some(function), None, _) => format!("{function} (+{:#x})", self.offset),
            (None, Some(source), _) => source,
            (None, None, Some(module)) => format!("{module}+{:#x}", self.offset),
            (None, None, None) => format!("{:#x}", self.offset),
        }
    }
}

/// A function's name as its source has it: without return type, parameters, and what a compiler appends to the name of a copy:
/// `double sum<double>(double const*) [clone .isra.0]` is `sum<double>`.
fn name_alone(function: &str) -> &str {
    const COPIES: [&str; 5] = [" [clone", ".constprop.", ".isra.", ".part.", ".cold"];
    let end = COPIES.iter().filter_map(|mark| function.find(mark)).filter(|&at| at > 0).min();
    without_return_type(without_arguments(&function[..end.unwrap_or(function.len())]))
}

/// A qualified name without the type before it, as names of C++ templates have it.
fn without_return_type(name: &str) -> &str {
    // Operators have blanks and brackets of their own.
    let end = name.rfind("operator").unwrap_or(name.len());
    let mut depth = 0_i32;
    let mut from = 0;
    for (at, byte) in name.bytes().enumerate().take(end) {
        match byte {
            b'<' | b'(' | b'{' | b'[' => depth += 1,
            b'>' | b')' | b'}' | b']' => depth -= 1,
            b' ' if depth == 0 => from = at + 1,
            _ => {}
        }
    }
    if depth == 0 { name[from..].trim_start_matches(['*', '&']) } else { name }
}

/// The name that gfortran gives to a procedure of a module, `__module_MOD_procedure`, as `module::procedure`; others as they are.
fn fortran_name(name: String) -> String {
    let parts = name.strip_prefix("__").and_then(|rest| rest.split_once("_MOD_"));
    match parts.filter(|(module, procedure)| !module.is_empty() && !procedure.is_empty()) {
        Some((module, procedure)) => format!("{}::{procedure}", module.replace("_SMOD_", "::")),
        None => name,
    }
}

/// A function's name without the list of its arguments, as C++ names have it: `Pair::compute(int) const` is `Pair::compute`.
fn without_arguments(function: &str) -> &str {
    let name = function.strip_suffix(" const").unwrap_or(function);
    if !name.ends_with(')') {
        return function;
    }
    let mut depth = 0;
    for (at, char) in name.char_indices().rev() {
        match char {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return if at > 0 { &name[..at] } else { function };
        }
    }
    function
}

/// The last part of a path.
pub fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// For each place the index of the first one on its source line; its own where the line is not known.
pub fn first_on_line(places: &[CodePlace]) -> Vec<u32> {
    let mut first: BTreeMap<CodePlace, u32> = BTreeMap::new();
    let index = |(at, place): (u32, &CodePlace)| match place.line {
        Some(_) => *first.entry(CodePlace { offset: 0, ..place.clone() }).or_insert(at),
        None => at,
    };
    (0..).zip(places).map(index).collect()
}

/// What is known of call sites.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    /// Their places, at the same indices.
    pub places: Vec<CodePlace>,
    /// For each the first one that is the same call of the source, inlined into the same calls: compilers copy a call where they
    /// unroll a loop or let branches end apart. Its own index where the line is not known.
    pub first_copy: Vec<u32>,
    /// Whether each of them is in `main`, functions inlined into it included: `main` runs once, so that what is called there is called
    /// from one place of the program's run. Not where that is not known.
    pub in_main: Vec<bool>,
    /// What kept names from being found.
    pub problems: Vec<Problem>,
}

/// Processor time that names are worth by default: a program of 2 GB with debug information takes a few seconds.
pub const MOST_TIME: Duration = Duration::from_secs(8);

/// When looking up names ends, by the processor time of this process.
#[derive(Clone, Copy)]
struct Deadline(Duration);

impl Deadline {
    /// When so much more of it will have been used.
    fn within(time: Duration) -> Deadline {
        Deadline(Self::now().saturating_add(time))
    }

    fn is_over(self) -> bool {
        Self::now() > self.0
    }

    fn now() -> Duration {
        Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
    }
}

/// What is known of the call sites `all`, and can be found out in so much processor time.
pub fn resolve(all: &Sites, within: Duration) -> Resolved {
    let deadline = Deadline::within(within);
    let mut places = unresolved(all);
    let mut first_copy: Vec<u32> = (0..places.len() as u32).collect();
    let mut in_main = vec![false; places.len()];
    let mut by_module: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (idx, site) in all.call_sites.iter().enumerate() {
        if let Some(module) = site.module {
            by_module.entry(module).or_default().push(idx);
        }
    }
    let modules: Vec<(u32, Vec<usize>)> = by_module.into_iter().collect();
    let found: Vec<_> = modules
        .par_iter()
        .map(|(module, sites)| {
            let offsets: Vec<u64> = sites.iter().map(|&site| places[site].offset).collect();
            all.modules.get(*module as usize).map(|module| resolve_module(module, &offsets, deadline))
        })
        .collect();
    let mut problems = Vec::new();
    for ((_, sites), result) in modules.iter().zip(found) {
        match result {
            Some(Ok(names)) => {
                let mut first: BTreeMap<Position, u32> = BTreeMap::new();
                for (&site, Found { place: name, position, is_in_main }) in sites.iter().zip(names) {
                    in_main[site] = is_in_main;
                    places[site] =
                        CodePlace { module: places[site].module.take(), offset: places[site].offset, ..name };
                    if position.first().is_some_and(|(place, _)| place.line.is_some()) {
                        first_copy[site] = *first.entry(position).or_insert(site as u32);
                    }
                }
            }
            Some(Err(problem)) => problems.push(Problem { count: sites.len() as u64, ..problem }),
            None => {}
        }
    }
    Resolved { places, first_copy, in_main, problems }
}

/// The same where no names are to be looked up.
pub fn unnamed(all: &Sites) -> Resolved {
    let places = unresolved(all);
    let n = places.len();
    Resolved { first_copy: (0..n as u32).collect(), places, in_main: vec![false; n], problems: Vec::new() }
}

/// The places of call sites by module and offset alone.
pub fn unresolved(all: &Sites) -> Vec<CodePlace> {
    let module = |idx: u32| all.modules.get(idx as usize).map(|module| module.path.clone());
    let place = |site: &crate::model::CallSite| CodePlace {
        module: site.module.and_then(module),
        offset: site.offset,
        ..CodePlace::default()
    };
    all.call_sites.iter().map(place).collect()
}

/// Where a call stands in the source: its place and column, then those of the calls that it was inlined into, up to a function
/// of the program. Places are without module and offset.
type Position = Vec<(CodePlace, Option<u32>)>;

/// What is found of a call site.
struct Found {
    place: CodePlace,
    position: Position,
    is_in_main: bool,
}

/// The names and positions of the calls that return to `offsets` in `module`; of all of them or of none.
fn resolve_module(module: &Module, offsets: &[u64], deadline: Deadline) -> Result<Vec<Found>, Problem> {
    let path = Path::new(&module.path);
    let problem = |kind, detail: String| Problem { kind, rank: None, count: 0, detail };
    let late = || {
        let detail = format!("{}: looking up names took too long (LB_REPORT_MAX_CPU=0 allows any time)", module.path);
        problem(ProblemKind::BinaryMissing, detail)
    };
    if deadline.is_over() {
        return Err(late());
    }
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    if !is_file || !path.is_absolute() {
        return Err(problem(ProblemKind::BinaryMissing, module.path.clone()));
    }
    // Debug information may be damaged in ways that its reader does not expect; names are worth no crash.
    let names = catch_unwind(AssertUnwindSafe(|| {
        let sources = Sources::open(path, &module.build_id)?;
        let mut names = Vec::with_capacity(offsets.len());
        for &offset in offsets {
            if deadline.is_over() {
                return Some(None);
            }
            names.push(sources.place(offset.wrapping_sub(1)));
        }
        Some(Some(names))
    }));
    match names {
        Ok(Some(Some(names))) => Ok(names),
        Ok(Some(None)) => Err(late()),
        Ok(None) => Err(problem(ProblemKind::BinaryChanged, module.path.clone())),
        Err(_) => {
            Err(problem(ProblemKind::BinaryMissing, format!("{}: its debug information is damaged", module.path)))
        }
    }
}

/// A file's own names and those of its separate debug file.
struct Sources {
    debug: Option<Loader>,
    own: Option<Loader>,
}

impl Sources {
    /// `None` where the file is not the one with `build_id` (if that is known).
    fn open(path: &Path, build_id: &[u8]) -> Option<Sources> {
        let facts = DebugFacts::read(path);
        let found = facts.as_ref().map_or(&[][..], |facts| &facts.build_id);
        if !build_id.is_empty() && found != build_id {
            return None;
        }
        let debug_path = facts.filter(|facts| !facts.has_dwarf).and_then(|facts| facts.debug_file(path));
        let debug = debug_path.and_then(|path| {
            let alternate = DebugFacts::read(&path).and_then(|facts| facts.alternate_file(&path));
            Loader::new_with_sup(&path, alternate).ok()
        });
        Some(Sources { debug, own: Loader::new(path).ok() })
    }

    fn place(&self, address: u64) -> Found {
        let loaders = || self.debug.iter().chain(&self.own);
        let position =
            loaders().map(|loader| dwarf_position(loader, address)).find(|position| own_place(position).is_some());
        let position = position.unwrap_or_default();
        let mut place = own_place(&position).cloned().unwrap_or_default();
        let symbol = loaders().find_map(|loader| loader.find_symbol(address));
        // A symbol alone may be the nearest that a stripped file has kept.
        let outermost = position.last().map(|(place, _)| place.function_label());
        let is_in_main = outermost.is_some_and(|name| {
            name == "main" || name.ends_with("::main") || symbol.is_some_and(|symbol| MAIN_PROGRAMS.contains(&symbol))
        });
        if place.function.is_none() {
            place.function = symbol.map(|name| fortran_name(addr2line::demangle_auto(name.into(), None).into_owned()));
        }
        Found { place, position, is_in_main }
    }
}

/// Fortran's main programs in the symbol tables of gfortran, NVIDIA's compiler and flang.
const MAIN_PROGRAMS: [&str; 3] = ["MAIN__", "MAIN_", "_QQmain"];

/// Where the call at `address` stands in the source, from the inside out; empty where nothing is known.
fn dwarf_position(loader: &Loader, address: u64) -> Position {
    let mut position = Vec::new();
    let Ok(mut frames) = loader.find_frames(address) else { return position };
    while let Ok(Some(frame)) = frames.next() {
        let location = frame.location.as_ref();
        let file = location.and_then(|location| location.file).map(str::to_owned);
        let line = location.and_then(|location| location.line).filter(|&line| line > 0);
        let column = location.and_then(|location| location.column);
        let function = frame.function.and_then(|function| Some(fortran_name(function.demangle().ok()?.into_owned())));
        position.push((CodePlace { function, file, line, ..CodePlace::default() }, column));
    }
    position
}

/// The innermost place that is the user's own, else the innermost; `None` where nothing is known of it.
fn own_place(position: &Position) -> Option<&CodePlace> {
    let is_own = |place: &&CodePlace| place.file.as_deref().is_some_and(|file| !is_system_file(file));
    let mut places = position.iter().map(|(place, _)| place);
    let own = places.clone().find(is_own).or_else(|| places.next());
    own.filter(|place| **place != CodePlace::default())
}

/// Whether a source file belongs to a library or a compiler: MPI's inline C++ bindings, Rust crates, system headers.
fn is_system_file(file: &str) -> bool {
    const PARTS: [&str; 6] =
        ["/usr/include/", "/usr/lib/", "/include/openmpi/", "/rustc/", "/.cargo/registry/", "/.rustup/toolchains/"];
    PARTS.iter().any(|part| file.contains(part))
}

/// Where debug information may be, as a file says itself.
struct DebugFacts {
    build_id: Vec<u8>,
    has_dwarf: bool,
    /// Name and CRC of its separate debug file.
    link: Option<(String, u32)>,
    /// Path and build id of the file with what several debug files share.
    alternate: Option<(String, Vec<u8>)>,
}

/// Where distributions install debug files.
const DEBUG_ROOT: &str = "/usr/lib/debug";

impl DebugFacts {
    fn read(path: &Path) -> Option<DebugFacts> {
        let cache = ReadCache::new(File::open(path).ok()?);
        let file = object::File::parse(&cache).ok()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Some(DebugFacts {
            build_id: file.build_id().ok().flatten().unwrap_or_default().to_vec(),
            has_dwarf: file.has_debug_symbols(),
            link: file.gnu_debuglink().ok().flatten().map(|(name, crc)| (text(name), crc)),
            alternate: file.gnu_debugaltlink().ok().flatten().map(|(name, id)| (text(name), id.to_vec())),
        })
    }

    fn debug_file(&self, path: &Path) -> Option<PathBuf> {
        let by_id = build_id_path(&self.build_id).filter(|path| path.is_file() && self.is_mine(path));
        by_id.or_else(|| {
            let (name, crc) = self.link.as_ref()?;
            let folder = fs::canonicalize(path).ok()?.parent()?.to_owned();
            let installed = Path::new(DEBUG_ROOT).join(folder.strip_prefix("/").ok()?);
            // A link is a name, wherever a hostile one would like to point.
            let name = base_name(name);
            let candidates = [folder.join(name), folder.join(".debug").join(name), installed.join(name)];
            let mut files = candidates.into_iter().filter(|file| file.is_file());
            files.find(|file| self.is_mine(file) || file_crc(file) == Some(*crc))
        })
    }

    /// Whether the file at `path` has the same build id.
    fn is_mine(&self, path: &Path) -> bool {
        !self.build_id.is_empty() && DebugFacts::read(path).is_some_and(|other| other.build_id == self.build_id)
    }

    fn alternate_file(&self, path: &Path) -> Option<PathBuf> {
        let (name, build_id) = self.alternate.as_ref()?;
        let beside = path.parent()?.join(name);
        [Some(beside), build_id_path(build_id)].into_iter().flatten().find(|file| file.is_file())
    }
}

/// Where the debug file of a build id is installed.
fn build_id_path(build_id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = build_id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(Path::new(DEBUG_ROOT).join(format!(".build-id/{first:02x}/{rest}.debug")))
}

/// The CRC by which a debug link knows its file.
fn file_crc(path: &Path) -> Option<u32> {
    let mut file = File::open(path).ok()?;
    let mut hasher = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(hasher.finalize()),
            n => hasher.update(&buffer[..n]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_says_the_best_that_is_known() {
        let mut place = CodePlace { module: Some("/opt/app/lmp".into()), offset: 0x1234, ..CodePlace::default() };
        assert_eq!(place.label(), "lmp+0x1234");
        place.function = Some("force".into());
        assert_eq!(place.label(), "force (+0x1234)");
        place.file = Some("/home/u/app/src/lj.c".into());
        place.line = Some(120);
        assert_eq!(place.label(), "force (lj.c:120)");
    }

    #[test]
    fn a_name_stands_alone() {
        assert_eq!(name_alone("void sum<double>(double const*, int)"), "sum<double>");
        assert_eq!(name_alone("std::vector<int, std::allocator<int> > a::f<int>(int)"), "a::f<int>");
        assert_eq!(name_alone("(anonymous namespace)::halo(int)"), "(anonymous namespace)::halo");
        assert_eq!(name_alone("bool ns::operator< <int>(A<int> const&, B)"), "ns::operator< <int>");
        assert_eq!(name_alone("Comm::operator bool() const"), "Comm::operator bool");
        assert_eq!(name_alone("exchange(Domain&) [clone .isra.0]"), "exchange");
        assert_eq!(name_alone("exchange.constprop.0"), "exchange");
        assert_eq!(name_alone("<app::Grid as app::Halo>::swap"), "<app::Grid as app::Halo>::swap");
        assert_eq!(name_alone("solve_"), "solve_");
    }

    #[test]
    fn procedures_of_fortran_modules_are_named_by_both() {
        let of = |name: &str| fortran_name(name.to_owned());
        assert_eq!(of("__solver_MOD_iterate"), "solver::iterate");
        assert_eq!(of("__solver_SMOD_inner_MOD_iterate"), "solver::inner::iterate");
        assert_eq!(
            (of("MAIN__"), of("__libc_start_main"), of("__MOD_")),
            ("MAIN__".into(), "__libc_start_main".into(), "__MOD_".into())
        );
    }

    #[test]
    fn a_label_leaves_out_the_arguments() {
        assert_eq!(without_arguments("lj::Pair::compute(int, std::function<void (int)>) const"), "lj::Pair::compute");
        assert_eq!(without_arguments("Pair::operator()(int)"), "Pair::operator()");
        assert_eq!(without_arguments("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
        assert_eq!(without_arguments("core::ops::call"), "core::ops::call");
        assert_eq!(without_arguments("odd)"), "odd)");
        assert_eq!(without_arguments("()"), "()");
    }

    #[test]
    fn inline_code_of_libraries_is_not_the_users() {
        assert!(is_system_file("/usr/lib/x86_64-linux-gnu/openmpi/include/openmpi/ompi/mpi/cxx/comm_inln.h"));
        assert!(is_system_file("/rustc/0123/library/core/src/ops/function.rs"));
        assert!(is_system_file("/home/u/.cargo/registry/src/index/mpi-0.8.0/src/point_to_point.rs"));
        assert!(!is_system_file("/home/u/app/src/main.rs"));
        assert!(!is_system_file("lj.c"));
    }
}
