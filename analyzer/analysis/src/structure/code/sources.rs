//! Functions and lines of a file's code, from its debug information and its symbol tables.
//!
//! The file may be damaged or hostile: reading it may take any time and memory, and may end the process. So reports have it read by separate
//! processes ([`super::code_readers`]).

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use addr2line::Loader;
use bincode::{Decode, Encode};
use object::Object;
use object::read::ReadCache;

use super::code_place::{CodePlace, SourcePosition, base_name};
use super::demangled_name::demangled_name;
use super::frames::{is_runtime_library, is_system_file};
use super::function_symbols::function_names;
use super::source_name::source_name;

#[derive(Clone, Debug, Default, Encode, Decode)]
pub(super) struct NamedCall {
    pub place: CodePlace,
    pub position: SourcePosition,
    pub is_in_main: bool,
}

pub(super) struct SymbolSources {
    debug: Option<Loader>,
    own: Option<Loader>,
    /// The functions of addresses by the symbol tables of both.
    functions: HashMap<u64, String>,
    /// The files that were not fully read, with the reasons.
    pub(super) faults: Vec<String>,
}

impl SymbolSources {
    /// Reads the names of `addresses`, only from the symbol tables if not `has_lines` or if the file is a run-time library. Returns `None` if the
    /// file has another build id, unless `build_id` is empty.
    pub(in crate::structure) fn open(
        path: &Path,
        build_id: &[u8],
        addresses: &[u64],
        has_lines: bool,
    ) -> Option<SymbolSources> {
        let facts = DebugFacts::read(path);
        let found = facts.as_ref().map_or(&[][..], |facts| &facts.build_id);
        if !build_id.is_empty() && found != build_id {
            return None;
        }
        let is_code = facts.is_some();
        let debug_path = facts.filter(|facts| !facts.has_dwarf).and_then(|facts| facts.debug_file(path));
        // The debug information of the C library takes longer to unpack than most programs' to read, and users do not change its lines.
        let has_lines = has_lines && is_code && !is_runtime_library(&path.to_string_lossy());
        let mut faults = Vec::new();
        let mut functions = function_names(path, addresses, &mut faults);
        let debug = debug_path.and_then(|path| {
            functions.extend(function_names(&path, addresses, &mut faults));
            let alternate = DebugFacts::read(&path).and_then(|facts| facts.alternate_file(&path));
            has_lines.then(|| open_loader(&path, alternate, &mut faults)).flatten()
        });
        let own = has_lines.then(|| open_loader(path, None, &mut faults)).flatten();
        Some(SymbolSources { debug, own, functions, faults })
    }

    pub(super) fn named_call(&self, address: u64) -> NamedCall {
        let mut positions = self.debug.iter().chain(&self.own).map(|loader| dwarf_position(loader, address));
        let mut position = positions.find(|position| own_place(position).is_some()).unwrap_or_default();
        let mut place = own_place(&position).cloned().unwrap_or_default();
        let symbol = self.functions.get(&address).map(String::as_str);
        let outermost = position.last().map(|(place, _)| place.function_label());
        let is_in_main = outermost.is_some_and(|name| {
            name == "main" || name.ends_with("::main") || symbol.is_some_and(|symbol| MAIN_PROGRAMS.contains(&symbol))
        });
        let symbol = symbol.map(|name| source_name(demangled_name(name, None), None));
        place.function = place.function.or_else(|| symbol.clone());
        if let Some((outermost, _)) = position.last_mut().filter(|(frame, _)| frame.function.is_none()) {
            outermost.function = symbol;
        }
        NamedCall { place, position, is_in_main }
    }
}

/// Opens the debug information of a file, and of the `alternate` file that several files share, or notes in `faults` why it cannot be read.
fn open_loader(path: &Path, alternate: Option<PathBuf>, faults: &mut Vec<String>) -> Option<Loader> {
    let loader = Loader::new_with_sup(path, alternate);
    faults.extend(loader.as_ref().err().map(|error| format!("{}: {error}: no lines of it are shown", path.display())));
    loader.ok()
}

/// Fortran's main programs in the symbol tables of gfortran, NVIDIA's compiler and flang.
const MAIN_PROGRAMS: [&str; 3] = ["MAIN__", "MAIN_", "_QQmain"];

/// Returns the source position of the call at `address`, the innermost frame first; empty if nothing is known.
fn dwarf_position(loader: &Loader, address: u64) -> SourcePosition {
    let mut position = Vec::new();
    let Ok(mut frames) = loader.find_frames(address) else { return position };
    while let Ok(Some(frame)) = frames.next() {
        let location = frame.location.as_ref();
        let file = location.and_then(|location| location.file).map(str::to_owned);
        let line = location.and_then(|location| location.line).filter(|&line| line > 0);
        let column = location.and_then(|location| location.column);
        let function = frame.function.and_then(|function| {
            Some(source_name(demangled_name(&function.raw_name().ok()?, function.language), function.language))
        });
        position.push((CodePlace { function, file, line, ..CodePlace::default() }, column));
    }
    position
}

/// Returns the innermost place in the user's code, or else the innermost one; `None` if nothing is known of it.
fn own_place(position: &SourcePosition) -> Option<&CodePlace> {
    let mut places = position.iter().map(|(place, _)| place);
    let own = places
        .clone()
        .find(|place| place.file.as_deref().is_some_and(|file| !is_system_file(file)))
        .or_else(|| places.next());
    own.filter(|place| **place != CodePlace::default())
}

/// The location of a file's debug information, as stated in the file.
struct DebugFacts {
    build_id: Vec<u8>,
    has_dwarf: bool,
    /// Name and CRC of its separate debug file.
    link: Option<(String, u32)>,
    /// Path and build id of the file that several debug files share.
    alternate: Option<(String, Vec<u8>)>,
}

const DEBUG_ROOT: &str = "/usr/lib/debug";

impl DebugFacts {
    fn read(path: &Path) -> Option<DebugFacts> {
        let cache = ReadCache::new(File::open(path).ok()?);
        let file = object::File::parse(&cache).ok()?;
        Some(DebugFacts {
            build_id: file.build_id().ok().flatten().unwrap_or_default().to_vec(),
            has_dwarf: file.has_debug_symbols(),
            link: file.gnu_debuglink().ok().flatten().map(|(name, crc)| (lossy_text(name), crc)),
            alternate: file.gnu_debugaltlink().ok().flatten().map(|(name, id)| (lossy_text(name), id.to_vec())),
        })
    }

    fn debug_file(&self, path: &Path) -> Option<PathBuf> {
        let by_id = build_id_path(&self.build_id).filter(|path| path.is_file() && self.has_same_build_id(path));
        by_id.or_else(|| {
            let (name, crc) = self.link.as_ref()?;
            let folder = fs::canonicalize(path).ok()?.parent()?.to_owned();
            let installed = Path::new(DEBUG_ROOT).join(folder.strip_prefix("/").ok()?);
            // A hostile link could be a path.
            let name = base_name(name);
            let candidates = [folder.join(name), folder.join(".debug").join(name), installed.join(name)];
            let mut files = candidates.into_iter().filter(|file| file.is_file());
            files.find(|file| self.has_same_build_id(file) || file_crc(file) == Some(*crc))
        })
    }

    fn has_same_build_id(&self, path: &Path) -> bool {
        !self.build_id.is_empty() && DebugFacts::read(path).is_some_and(|other| other.build_id == self.build_id)
    }

    fn alternate_file(&self, path: &Path) -> Option<PathBuf> {
        let (name, build_id) = self.alternate.as_ref()?;
        let beside = path.parent()?.join(name);
        [Some(beside), build_id_path(build_id)].into_iter().flatten().find(|file| file.is_file())
    }
}

fn lossy_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn build_id_path(build_id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = build_id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(Path::new(DEBUG_ROOT).join(format!(".build-id/{first:02x}/{rest}.debug")))
}

/// Computes the CRC with which a debug link identifies its file.
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
