//! Any bytes are looked up as a program of a run without a panic, in limited time (start from small programs with debug information).
#![no_main]

use std::fs;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use lbprof_analysis::model::code::sites::CallSiteTable;
use lbprof_analysis::read::definitions::RankDefinitions;
use lbprof_analysis::structure::code::code_readers::CodeReaders;
use lbprof_analysis::structure::code::symbols::resolve_names;
use lbprof_collector::Definition;
use lbprof_collector::definition::{CallSite, Module};
use libfuzzer_sys::fuzz_target;

/// The program's file, in memory where the system has such a folder.
static FILE: LazyLock<String> = LazyLock::new(|| format!("/dev/shm/lbprof-fuzz-{}.binary", std::process::id()));

/// Places at which small programs have code, and between them.
const STEP: usize = 37;
const LAST: u64 = 0x2400;

/// A panic of the reader of debug information is caught, and costs names only: the fuzzer's own hook would end the process.
static HOOK: LazyLock<()> = LazyLock::new(|| std::panic::set_hook(Box::new(|_| {})));

fuzz_target!(|bytes: &[u8]| {
    LazyLock::force(&HOOK);
    fs::write(&*FILE, bytes).expect("a file can be written");
    let mut definitions = RankDefinitions::default();
    let module = Module { id: 0, path: FILE.clone(), build_id: Vec::new(), base: 0, end: u64::MAX };
    definitions.add(Definition::Module(module));
    let offsets = (0..LAST).step_by(STEP).chain([u64::MAX, 1 << 40]);
    for (id, offset) in (0..).zip(offsets) {
        definitions.add(Definition::CallSite(CallSite::alone(id, 0, offset)));
    }
    let mut sites = CallSiteTable::default();
    sites.enter(&definitions);
    let begin = Instant::now();
    let resolved = resolve(&sites, &CodeReaders::default(), Duration::from_millis(200));
    assert_eq!(resolved.places.len(), sites.call_sites.len());
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
});
