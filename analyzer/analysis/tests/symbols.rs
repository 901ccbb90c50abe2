//! Call sites of programs compiled for these tests, with debug information in all possible places.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use lbprof_analysis::model::code::sites::CallSiteTable;
use lbprof_analysis::read::definitions::RankDefinitions;
use lbprof_analysis::structure::code::code_readers::CodeReaders;
use lbprof_analysis::structure::code::symbols::{CodePlace, MOST_TIME, ResolvedNames, resolve_names};
use lbprof_collector::definition::{CallSite, InterpretedFunction, Module};
use lbprof_collector::record::NONE;
use lbprof_collector::{Definition, ProblemKind};
use object::{Object, ObjectSection, ObjectSymbol};
use tempfile::TempDir;

/// `outer` calls `target` at line 7, `inlined` (part of `outer`) at line 4.
const SOURCE: &str = "\
__attribute__((noinline)) void target(void);
void target(void) { __asm__ volatile(\"\"); }
static inline __attribute__((always_inline)) void inlined(void) {
    target();
}
void outer(void) {
    target();
    inlined();
    __asm__ volatile(\"\");
}
int main(void) { outer(); return 0; }
";

/// Compiles the source with more options. Returns the folder and the program in it.
fn program(options: &[&str]) -> (TempDir, PathBuf) {
    compiled("cc", "calls.c", SOURCE, options)
}

fn compiled(compiler: &str, name: &str, source: &str, options: &[&str]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(name);
    std::fs::write(&file, source).unwrap();
    let program = dir.path().join("calls");
    run(Command::new(compiler).args(["-O1", "-Wl,--build-id"]).args(options).arg("-o").arg(&program).arg(&file));
    (dir, program)
}

#[track_caller]
fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}

fn build_id(path: &Path) -> Vec<u8> {
    let data = std::fs::read(path).unwrap();
    object::File::parse(&*data).unwrap().build_id().unwrap().unwrap().to_vec()
}

/// Return addresses of the calls of `target` in `function`, in order: the ends of `call` instructions (e8 and a distance) with that target.
fn returns(path: &Path, function: &str, target: &str) -> Vec<u64> {
    let data = std::fs::read(path).unwrap();
    let file = object::File::parse(&*data).unwrap();
    let symbol = |name: &str| {
        let found = file.symbols().chain(file.dynamic_symbols()).find(|symbol| symbol.name() == Ok(name));
        found.map(|symbol| (symbol.address(), symbol.size())).unwrap()
    };
    let ((begin, size), (callee, _)) = (symbol(function), symbol(target));
    let text = file.section_by_name(".text").unwrap();
    let code = text.data_range(begin, size).unwrap().unwrap();
    let calls = (0..code.len().saturating_sub(4)).filter(|&at| {
        let distance = i32::from_le_bytes(code[at + 1..at + 5].try_into().unwrap());
        code[at] == 0xe8 && begin.wrapping_add(at as u64 + 5).wrapping_add_signed(i64::from(distance)) == callee
    });
    calls.map(|at| begin + at as u64 + 5).collect()
}

/// The places of `offsets` in the program, recorded with this build id.
fn places(path: &Path, build_id: Vec<u8>, offsets: &[u64]) -> (Vec<CodePlace>, Vec<ProblemKind>) {
    let ResolvedNames { places, problems, .. } = resolved(path, build_id, offsets);
    (places, problems.into_iter().map(|problem| problem.kind).collect())
}

/// The names of `offsets` in the program, recorded with this build id.
fn resolved(path: &Path, build_id: Vec<u8>, offsets: &[u64]) -> ResolvedNames {
    resolve_names(&sites(path, build_id, offsets), &CodeReaders::default(), MOST_TIME)
}

/// The call sites that return to `offsets`.
fn sites(path: &Path, build_id: Vec<u8>, offsets: &[u64]) -> CallSiteTable {
    let mut definitions = RankDefinitions::default();
    let path = path.to_str().unwrap().to_owned();
    definitions.add(Definition::Module(Module { id: 0, path, build_id, base: 0, end: u64::MAX }));
    definitions.extend((0..).zip(offsets).map(|(id, &offset)| Definition::CallSite(CallSite::alone(id, 0, offset))));
    let mut sites = CallSiteTable::default();
    sites.enter(&definitions);
    sites
}

fn described(place: &CodePlace) -> (Option<&str>, Option<&str>, Option<u32>) {
    let file = place.file.as_deref().and_then(|file| file.rsplit('/').next());
    (place.function.as_deref(), file, place.line)
}

#[test]
fn a_program_with_debug_information_gives_functions_and_lines() {
    for options in
        [&["-g", "-fPIE", "-pie"][..], &["-g", "-fno-pie", "-no-pie"], &["-g", "-fPIC", "-shared", "-Wl,-Bsymbolic"]]
    {
        let (_dir, path) = program(&[options, &["-fvisibility=hidden"]].concat());
        let offsets = returns(&path, "outer", "target");
        let (places, problems) = places(&path, build_id(&path), &offsets);
        assert_eq!(problems, []);
        let found: Vec<_> = places.iter().map(described).collect();
        let expected = [(Some("outer"), Some("calls.c"), Some(7)), (Some("inlined"), Some("calls.c"), Some(4))];
        assert_eq!(found, expected, "{options:?}: the last byte of a call is what a return address less one lies in");
    }
}

#[test]
fn without_time_call_sites_have_no_names_and_the_report_says_why() {
    let (_dir, path) = program(&["-g"]);
    let offsets = returns(&path, "outer", "target");
    let ResolvedNames { places, problems, .. } =
        resolve_names(&sites(&path, build_id(&path), &offsets), &CodeReaders::default(), Duration::ZERO);
    assert_eq!(places.iter().map(described).collect::<Vec<_>>(), [(None, None, None); 2]);
    assert!(places.iter().zip(&offsets).all(|(place, &offset)| place.module.is_some() && place.offset == offset));
    let [problem] = problems.as_slice() else { panic!("{problems:?}") };
    assert_eq!((problem.kind, problem.count), (ProblemKind::NamesDropped, 2));
    assert!(problem.detail.contains("looking up names took too long"), "{}", problem.detail);
}

#[test]
fn copies_of_one_call_are_known_as_such() {
    // The compiler unrolls the three rounds of the loop. The calls on the next line are two, and so are the calls in `inlined` from different lines of
    // `outer`.
    const COPIES: &str = "\
__attribute__((noinline)) void target(int);
void target(int n) { __asm__ volatile(\"\" : : \"r\"(n)); }
static inline __attribute__((always_inline)) void inlined(void) { target(7); }
void outer(void) {
    for (int i = 0; i < 3; i++) target(i);
    target(5); target(6);
    inlined();
    inlined();
    __asm__ volatile(\"\");
}
int main(void) { outer(); return 0; }
";
    let (_dir, path) = compiled("cc", "calls.c", COPIES, &["-g", "-O2", "-funroll-all-loops", "-fno-ipa-cp"]);
    let offsets = returns(&path, "outer", "target");
    assert_eq!(resolved(&path, build_id(&path), &offsets).first_copy, [0, 0, 0, 3, 4, 5, 6]);
}

#[test]
fn without_debug_information_the_symbol_table_gives_functions() {
    let (_dir, path) = program(&[]);
    let offsets = returns(&path, "outer", "target");
    let (places, _) = places(&path, build_id(&path), &offsets);
    assert_eq!(described(&places[0]), (Some("outer"), None, None));
    assert_eq!(places[0].label(), format!("outer (+{:#x})", offsets[0]));
}

#[test]
fn a_stripped_library_still_gives_what_it_exports() {
    let (_dir, path) = program(&["-fPIC", "-shared", "-Wl,-Bsymbolic"]);
    let offsets = returns(&path, "outer", "target");
    run(Command::new("strip").arg(&path));
    let (places, _) = places(&path, build_id(&path), &offsets[..1]);
    assert_eq!(described(&places[0]), (Some("outer"), None, None));
}

#[test]
fn what_a_stripped_program_keeps_in_compressed_form_gives_functions() {
    let (dir, path) = program(&[]);
    let offsets = returns(&path, "outer", "target");
    let kept = dir.path().join("kept");
    run(Command::new("objcopy").args(["--strip-debug", "--remove-section=.comment"]).arg(&path).arg(&kept));
    run(Command::new("xz").arg(&kept));
    run(Command::new("strip").arg(&path));
    let section = format!(".gnu_debugdata={}", dir.path().join("kept.xz").display());
    run(Command::new("objcopy").arg("--add-section").arg(section).arg(&path));
    let (places, problems) = places(&path, build_id(&path), &offsets[..1]);
    assert_eq!((described(&places[0]), problems.len()), ((Some("outer"), None, None), 0));
}

#[test]
fn a_function_that_a_stripped_library_does_not_export_has_not_the_name_of_the_one_before_it() {
    const HIDDEN: &str = "\
__attribute__((noinline)) static void target(int n) { __asm__ volatile(\"\" : : \"r\"(n)); }
void exported(void) { target(1); __asm__ volatile(\"\"); }
__attribute__((noinline, visibility(\"hidden\"))) void outer(void) { target(2); __asm__ volatile(\"\"); }
void last(void) { outer(); __asm__ volatile(\"\"); }
";
    let (_dir, path) = compiled("cc", "calls.c", HIDDEN, &["-fPIC", "-shared", "-fno-toplevel-reorder", "-fno-ipa-cp"]);
    let (own, others) = (returns(&path, "outer", "target"), returns(&path, "exported", "target"));
    run(Command::new("strip").arg(&path));
    let (places, _) = places(&path, build_id(&path), &[own[0], others[0]]);
    assert_eq!(described(&places[0]), (None, None, None));
    assert_eq!(described(&places[1]), (Some("exported"), None, None));
}

#[test]
fn the_library_of_a_run_time_gives_functions_without_lines() {
    let (dir, program) = program(&["-g"]);
    let library = dir.path().join("libm.so.6");
    std::fs::copy(program, &library).unwrap();
    let offsets = returns(&library, "outer", "target");
    let (found, problems) = places(&library, build_id(&library), &offsets);
    assert_eq!(found.iter().map(described).collect::<Vec<_>>(), [(Some("outer"), None, None); 2]);
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn a_stripped_program_gives_module_and_offset() {
    let (_dir, path) = program(&[]);
    let offsets = returns(&path, "outer", "target");
    run(Command::new("strip").arg(&path));
    let (places, problems) = places(&path, build_id(&path), &offsets[..1]);
    assert_eq!((described(&places[0]), problems), ((None, None, None), vec![ProblemKind::NoSymbols]));
    assert_eq!(places[0].label(), format!("calls+{:#x}", offsets[0]));
}

#[test]
fn a_separate_debug_file_is_found_by_its_link() {
    let (dir, path) = program(&["-g"]);
    let offsets = returns(&path, "outer", "target");
    let debug = dir.path().join("calls.debug");
    run(Command::new("objcopy").arg("--only-keep-debug").arg(&path).arg(&debug));
    run(Command::new("objcopy").arg("--strip-all").arg(format!("--add-gnu-debuglink={}", debug.display())).arg(&path));
    let (found, _) = places(&path, build_id(&path), &offsets[..1]);
    assert_eq!(described(&found[0]), (Some("outer"), Some("calls.c"), Some(7)));
}

#[test]
fn a_file_that_was_changed_since_gives_no_names() {
    let (_dir, path) = program(&["-g"]);
    let offsets = returns(&path, "outer", "target");
    let (places, problems) = places(&path, vec![1; 20], &offsets[..1]);
    assert_eq!((described(&places[0]), problems), ((None, None, None), vec![ProblemKind::BinaryChanged]));
}

#[test]
fn a_file_that_is_gone_or_no_file_gives_no_names() {
    for path in ["/nowhere/calls", "/dev/zero", "relative", "/tmp"] {
        let (places, problems) = places(Path::new(path), vec![1], &[0x10]);
        assert_eq!((described(&places[0]), problems), ((None, None, None), vec![ProblemKind::BinaryMissing]));
    }
}

/// The call sites of a script: `<module>` (app.py) calls `exchange` (halo.py:20) in lines 9 and 11, which calls mpi4py; and the call sites of a thread
/// that runs the interpreter with unknown functions.
#[test]
fn functions_of_a_script_stand_for_the_interpreter_and_for_what_calls_mpi_for_it() {
    let mut definitions = RankDefinitions::default();
    let modules = ["/usr/bin/python3.11", "/usr/lib/python3/dist-packages/mpi4py/MPI.cpython-311-x86_64-linux-gnu.so"];
    definitions.extend((0..).zip(modules).map(|(id, path)| {
        Definition::Module(Module { id, path: path.to_owned(), build_id: Vec::new(), base: 0, end: u64::MAX })
    }));
    let functions =
        [("<module>", "/home/u/app.py"), ("exchange", "/home/u/halo.py"), ("Comm.f", "/opt/mpi4py/util/pool.py")];
    definitions.extend((0..).zip(functions).map(|(id, (name, file))| {
        Definition::Function(InterpretedFunction { id, name: name.to_owned(), file: file.to_owned() })
    }));
    let native = |id, parent, module, offset| CallSite { parent, cut: false, ..CallSite::alone(id, module, offset) };
    let line = |id, parent, function, line| CallSite { function, column: 4, ..native(id, parent, NONE, line) };
    let sites = [
        native(0, NONE, 0, 0x100),
        line(1, 0, 0, 9),
        line(2, 1, 2, 70),
        line(3, 2, 1, 20),
        native(4, 3, 0, 0x200),
        native(5, 4, 1, 0x300),
        line(6, 0, 0, 11),
        line(7, 6, 1, 20),
        native(8, 7, 0, 0x200),
        native(9, 8, 1, 0x300),
        native(10, NONE, 0, 0x400),
        native(11, 10, 1, 0x300),
    ];
    definitions.extend(sites.map(Definition::CallSite));
    let mut all = CallSiteTable::default();
    all.enter(&definitions);
    for names in [
        resolve_names(&all, &CodeReaders::default(), MOST_TIME),
        lbprof_analysis::structure::code::symbols::sites_without_names(&all),
    ] {
        let labels = [5, 9].map(|site: usize| names.places[site].label());
        assert_eq!(
            labels,
            ["<module> (app.py:9) via exchange (halo.py:20)", "<module> (app.py:11) via exchange (halo.py:20)"]
        );
        assert_eq!(names.places[11].label(), "MPI.cpython-311-x86_64-linux-gnu.so+0x300");
        assert_eq!([5, 9, 11].map(|site| names.calls.is_whole(site)), [true, true, false]);
        assert_eq!(
            names.calls.node_of(5),
            names.calls.node_of(3),
            "mpi4py and the interpreter are no calls of the script"
        );
        assert_eq!((names.in_main[1], names.in_main[5]), (true, false));
    }
}

#[test]
fn damaged_compressed_debug_information_is_reported_with_its_file() {
    let (_dir, path) = program(&["-g", "-gz=zlib"]);
    let mut bytes = std::fs::read(&path).unwrap();
    let (begin, size) = {
        let file = object::File::parse(&*bytes).unwrap();
        file.section_by_name(".debug_info").unwrap().file_range().unwrap()
    };
    bytes[(begin + 26) as usize..(begin + size) as usize].fill(0xff);
    let offsets = returns(&path, "outer", "target");
    std::fs::write(&path, &bytes).unwrap();
    let ResolvedNames { places, problems, .. } = resolved(&path, build_id(&path), &offsets);
    assert_eq!(described(&places[0]), (Some("outer"), None, None), "the symbols are there");
    let [problem] = &problems[..] else { panic!("{problems:?}") };
    assert!(problem.detail.contains("calls: ") && problem.detail.contains(": no lines of it are shown"), "{problem:?}");
}

#[test]
fn a_name_of_megabytes_is_dropped_and_reported() {
    let (_dir, path) = program(&["-fno-pie", "-no-pie"]);
    let offsets = returns(&path, "outer", "target");
    let long = format!("_Z{}", "N".repeat(20 << 20));
    let names = path.with_extension("names");
    std::fs::write(&names, format!("outer {long}\n")).unwrap();
    run(Command::new("objcopy").arg("--redefine-syms").arg(&names).arg(&path));
    let begun = std::time::Instant::now();
    let ResolvedNames { places, problems, .. } = resolved(&path, build_id(&path), &offsets);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(described(&places[0]), (None, None, None));
    let [problem] = &problems[..] else { panic!("{problems:?}") };
    assert!(problem.detail.contains("calls: names of functions in it are too long"), "{problem:?}");
}

#[test]
fn damage_to_a_program_costs_names_at_most() {
    const FLIPS: u64 = 300;
    let (_dir, path) = program(&["-g"]);
    let offsets = returns(&path, "outer", "target");
    let (id, whole) = (build_id(&path), std::fs::read(&path).unwrap());
    let (expected, _) = places(&path, id.clone(), &offsets);
    let mut state = 1_u64;
    let mut n_named = 0;
    // Single bits, and then 80 bits at once.
    for round in 0..FLIPS + 200 {
        let mut bytes = whole.clone();
        for _ in 0..if round < FLIPS { 1 } else { 80 } {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let bit = (state >> 33) as usize % (whole.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        std::fs::write(&path, bytes).unwrap();
        let begin = std::time::Instant::now();
        let (found, _) = places(&path, id.clone(), &offsets);
        assert_eq!(found.len(), offsets.len(), "round {round}");
        assert!(begin.elapsed() < 2 * MOST_TIME, "round {round}: {:?}", begin.elapsed());
        n_named += u64::from(found == expected && round < FLIPS);
    }
    assert!((FLIPS / 2..FLIPS).contains(&n_named), "{n_named} of {FLIPS} had all names");
}
