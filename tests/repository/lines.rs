//! A ratchet on what a call costs with cold caches: the cache lines and pages that recording adds to a call are no more than the committed ones.
//!
//! `tests/repository/lines.json` holds the committed figures; `UPDATE_LINES=1 cargo test -p lbprof-tests --test repository lines -- --ignored` replaces them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use lbprof_tests::launch::Job;
use lbprof_tests::mpi::Mpi;
use lbprof_tests::place;
use lbprof_tests::program::Program;

/// Figures by name: `code_lines`, `data_pages` and so on.
type TouchFigures = BTreeMap<String, i64>;

const MPIS: [&str; 2] = ["openmpi", "mpich"];
const KINDS: [&str; 3] = ["allreduce", "sendrecv", "nonblocking"];

/// How much a figure may be above the committed one, because code, the stack and records do not begin at the same place of a line or page in every build and run.
fn slack(figure: &str) -> i64 {
    match figure {
        "instructions" => 3,
        "code_pages" => 1,
        _ => 2,
    }
}

fn committed() -> PathBuf {
    place::workspace().join("tests/repository/lines.json")
}

fn parse_figures(stdout: &[String]) -> anyhow::Result<TouchFigures> {
    let line = stdout.iter().find(|line| line.starts_with('{')).context("touched-lines printed nothing")?;
    Ok(serde_json::from_str(line)?)
}

fn measure_added(mpi: &Mpi, kind: &str) -> anyhow::Result<TouchFigures> {
    let program = Program::read(Path::new("bench/touch.c"))?.compiled(mpi)?;
    let folder = place::fresh_folder(&format!("lines::{}::{kind}", mpi.name))?;
    let mut job = Job::new(mpi, 1, &program, &folder);
    job.command.extend([kind.into(), "40".into()]);
    job.wrapper = vec![env!("CARGO_BIN_EXE_touched-lines").into()];
    let bare = parse_figures(&job.bare()?.must_succeed()?.stdout)?;
    let recorded = parse_figures(&job.recorded()?.must_succeed()?.stdout)?;
    let mut added = TouchFigures::new();
    for (name, figure) in recorded {
        // Where MPI's own data begin in a line is another thing in each run, so all data of two runs are not comparable.
        if !name.starts_with("data_") {
            added.insert(name.clone(), figure - bare[&name]);
        }
    }
    Ok(added)
}

#[test]
#[ignore = "takes long: scripts/test --all"]
fn a_call_touches_no_more_lines_than_committed() {
    let mut measured: BTreeMap<String, TouchFigures> = BTreeMap::new();
    for name in MPIS {
        let mpi = Mpi::named(name).expect("both MPIs are installed");
        for kind in KINDS {
            let added = measure_added(&mpi, kind).unwrap_or_else(|error| panic!("{name}, {kind}: {error:#}"));
            measured.insert(format!("{name} {kind}"), added);
        }
    }
    if std::env::var_os("UPDATE_LINES").is_some() {
        let text = serde_json::to_string_pretty(&measured).expect("figures are plain numbers");
        std::fs::write(committed(), text + "\n").expect("tests/repository/lines.json is writable");
        return;
    }
    let text = std::fs::read_to_string(committed()).expect("tests/repository/lines.json is there");
    let limits: BTreeMap<String, TouchFigures> =
        serde_json::from_str(&text).expect("tests/repository/lines.json is JSON");
    let mut worse = Vec::new();
    for (call, figures) in &measured {
        for (figure, added) in figures {
            let limit = limits.get(call).and_then(|limits| limits.get(figure)).unwrap_or(&0);
            if *added > limit + slack(figure) {
                worse.push(format!("{call}: {figure} rose from {limit} to {added}"));
            }
        }
    }
    assert!(worse.is_empty(), "{}\n`scripts/bench lines --list` shows the lines", worse.join("\n"));
}
