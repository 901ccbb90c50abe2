//! Programs whose debug information was made to harm whoever reads it: it costs their lines at most, in bounded time and memory.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use lbprof_analysis::model::code::sites::CallSiteTable;
use lbprof_analysis::read::definitions::RankDefinitions;
use lbprof_analysis::structure::code::code_readers::CodeReaders;
use lbprof_analysis::structure::code::symbols::{ResolvedNames, resolve_names};
use lbprof_collector::definition::{CallSite, Module};
use lbprof_collector::{Definition, ProblemKind};
use object::{Object, ObjectSymbol};
use tempfile::TempDir;

/// The processor time that names may take here: half of it for the first file.
const NAMES_WITHIN: Duration = Duration::from_secs(10);

const SOURCE: &str = "\
__attribute__((noinline)) void target(void);
void target(void) { __asm__ volatile(\"\"); }
int main(void) { target(); return 0; }
";

/// The first bytes of a unit of DWARF 4: its length, which comes before, does not count.
const UNIT_HEADER: [u8; 7] = [4, 0, 0, 0, 0, 0, 8];
/// The entry that describes the unit: its name, its code from an address on, its line table.
const UNIT_ENTRY: u8 = 1;
/// A function with a name, and with entries in it.
const FUNCTION: u8 = 2;
/// An inlined function with entries in it: its code, and the entry of the function that it is.
const INLINED: u8 = 3;
/// An inlined function whose code is a list of ranges.
const IN_RANGES: u8 = 4;

/// Where the first entry in the unit is, from the begin of the unit.
const FIRST_ENTRY: u32 = 4 + 7 + 1 + 4 + 8 + 8 + 4;

/// What the numbers of entries stand for: tag, whether there are entries in it, and its attributes with their forms.
fn abbreviations() -> Vec<u8> {
    let code: [u8; 4] = [0x11, 0x01, 0x12, 0x07];
    let abbreviation = |number: u8, tag: u8, has_children: u8, attributes: &[u8]| {
        [&[number, tag, has_children], attributes, &[0, 0]].concat()
    };
    let unit = [&[0x03, 0x08], &code[..], &[0x10, 0x17]].concat();
    let mut all = abbreviation(UNIT_ENTRY, 0x11, 1, &unit);
    all.extend(abbreviation(FUNCTION, 0x2e, 1, &[&[0x03, 0x08], &code[..]].concat()));
    all.extend(abbreviation(INLINED, 0x1d, 1, &[&code[..], &[0x31, 0x13]].concat()));
    all.extend(abbreviation(IN_RANGES, 0x1d, 0, &[0x55, 0x17]));
    all.push(0);
    all
}

/// Code in which all of a program's functions lie.
#[derive(Clone, Copy)]
struct CodeRange {
    begin: u64,
    size: u64,
}

impl CodeRange {
    fn bytes(self) -> Vec<u8> {
        [self.begin.to_le_bytes(), self.size.to_le_bytes()].concat()
    }

    /// A unit with these entries.
    fn unit(self, entries: &[u8]) -> Vec<u8> {
        let own = [&[UNIT_ENTRY], &b"a.c\0"[..], &self.bytes(), &[0; 4]].concat();
        let unit = [&UNIT_HEADER[..], &own, entries].concat();
        [&u32::try_from(unit.len()).unwrap().to_le_bytes()[..], &unit].concat()
    }

    fn function(self) -> Vec<u8> {
        [&[FUNCTION], &b"named\0"[..], &self.bytes()].concat()
    }

    fn inlined(self, function: u32) -> Vec<u8> {
        [&[INLINED][..], &self.bytes(), &function.to_le_bytes()].concat()
    }

    /// A table of lines with so many rows.
    fn lines(self, rows: usize) -> Vec<u8> {
        let header = b"\x01\x01\x01\xfb\x0e\x0d\0\x01\x01\x01\x01\0\0\0\x01\0\0\x01\0calls.c\0\0\0\0\0";
        let first = [&[0, 9, 2], &self.begin.to_le_bytes()[..]].concat();
        let program = [first, vec![0x0e; rows], vec![2, 0x7f, 0, 1, 1]].concat();
        let rest = [&[4, 0][..], &(header.len() as u32).to_le_bytes(), header, &program].concat();
        [&u32::try_from(rest.len()).unwrap().to_le_bytes()[..], &rest].concat()
    }
}

#[derive(Default)]
struct DebugSections {
    info: Vec<u8>,
    lines: Vec<u8>,
    ranges: Vec<u8>,
}

/// Compiles a program with the debug information that `sections` makes for its code. Gives its folder, its path, and the address that the call of `target`
/// returns to or one near it.
fn program(sections: impl FnOnce(CodeRange) -> DebugSections) -> (TempDir, PathBuf, u64) {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("calls.c");
    std::fs::write(&source, SOURCE).unwrap();
    let path = dir.path().join("calls");
    run(Command::new("cc").args(["-O1", "-fno-pie", "-no-pie", "-o"]).arg(&path).arg(&source));
    let (target, main) = (symbol(&path, "target"), symbol(&path, "main"));
    let code = CodeRange { begin: target.min(main), size: 64 };
    let DebugSections { info, lines, ranges } = sections(code);
    let mut command = Command::new("objcopy");
    for (name, content) in [("info", info), ("abbrev", abbreviations()), ("line", lines), ("ranges", ranges)] {
        let file = dir.path().join(name);
        std::fs::write(&file, content).unwrap();
        command.arg("--add-section").arg(format!(".debug_{name}={}", file.display()));
    }
    run(command.arg("--compress-debug-sections=zlib").arg(&path));
    (dir, path, main + 5)
}

#[track_caller]
fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}

fn symbol(path: &Path, name: &str) -> u64 {
    let data = std::fs::read(path).unwrap();
    let file = object::File::parse(&*data).unwrap();
    file.symbols().find(|symbol| symbol.name() == Ok(name)).unwrap().address()
}

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lb-report"));
    command.arg("--code-reader");
    command
}

/// What is known of a call that returns to an address of the program, and the files that were used.
fn resolved(files: &[(&Path, u64)]) -> ResolvedNames {
    let mut definitions = RankDefinitions::default();
    for (id, &(path, address)) in (0..).zip(files) {
        let path = path.to_str().unwrap().to_owned();
        definitions.add(Definition::Module(Module { id, path, build_id: Vec::new(), base: 0, end: u64::MAX }));
        definitions.add(Definition::CallSite(CallSite::alone(id, id, address)));
    }
    let mut sites = CallSiteTable::default();
    sites.enter(&definitions);
    resolve_names(&sites, &CodeReaders::apart(command), NAMES_WITHIN)
}

/// Asserts that a program is given up after a bounded time, that the symbol table names its function all the same, and that the report says so.
#[track_caller]
fn assert_costs_lines_alone(sections: impl FnOnce(CodeRange) -> DebugSections) {
    let (_dir, path, address) = program(sections);
    let begun = Instant::now();
    let ResolvedNames { places, problems, .. } = resolved(&[(&path, address)]);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    assert_eq!((places[0].function.as_deref(), places[0].line), (Some("main"), None));
    let [problem] = &problems[..] else { panic!("{problems:?}") };
    assert_eq!(problem.kind, ProblemKind::NamesDropped);
    assert!(problem.detail.contains("calls: its debug information"), "{problem:?}");
    assert!(problem.detail.contains("no lines of it are shown"), "{problem:?}");
}

#[test]
fn functions_inlined_into_one_another_without_end_cost_lines_alone() {
    assert_costs_lines_alone(|code| {
        const DEPTH: usize = 1_000_000;
        let entries = [code.function(), code.inlined(FIRST_ENTRY).repeat(DEPTH), vec![0; DEPTH + 2]].concat();
        DebugSections { info: code.unit(&entries), lines: code.lines(1), ..DebugSections::default() }
    });
}

#[test]
fn many_functions_with_many_ranges_each_cost_lines_alone() {
    assert_costs_lines_alone(|code| {
        let range = [code.begin.to_le_bytes(), (code.begin + code.size).to_le_bytes()].concat();
        let entries = [code.function(), [IN_RANGES, 0, 0, 0, 0].repeat(2_000_000), vec![0; 2]].concat();
        let ranges = [range.repeat(200_000), vec![0; 16]].concat();
        DebugSections { info: code.unit(&entries), lines: code.lines(1), ranges }
    });
}

#[test]
fn a_function_that_is_itself_and_tables_of_millions_of_lines_are_survived() {
    let (_dir, circular, at) = program(|code| {
        let entries = [code.inlined(FIRST_ENTRY), vec![0; 2]].concat();
        DebugSections { info: code.unit(&entries), lines: code.lines(1), ..DebugSections::default() }
    });
    let (_other, long, at_long) = program(|code| {
        let info = code.unit(&[code.function(), vec![0; 2]].concat());
        DebugSections { info, lines: code.lines(10_000_000), ..DebugSections::default() }
    });
    let (_third, deep, at_deep) = program(|code| {
        let entries = [code.function(), code.inlined(FIRST_ENTRY).repeat(1_000_000), vec![0; 1_000_002]].concat();
        DebugSections { info: code.unit(&entries), lines: code.lines(1), ..DebugSections::default() }
    });
    let ResolvedNames { places, problems, .. } = resolved(&[(&circular, at), (&deep, at_deep), (&long, at_long)]);
    let functions: Vec<Option<&str>> = places.iter().map(|place| place.function.as_deref()).collect();
    assert_eq!(
        functions,
        [Some("main"), Some("main"), Some("named")],
        "one that ends its reader leaves the others their names"
    );
    assert_eq!(problems.len(), 1, "{problems:?}");
}
