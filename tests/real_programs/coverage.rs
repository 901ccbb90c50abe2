//! Every function that the recorder wraps is called by a test program that says what its record must hold, or is listed with the
//! reason why none calls it. Every name that the recorder exports is listed with the reason why it harms no other function of this name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use anyhow::{Context, ensure};
use lbprof_tests::launch::Job;
use lbprof_tests::program::calls_of_table;
use lbprof_tests::suite;
use lbprof_tests::{expected, mpi, place, program, run};
use libtest_mimic::Trial;

/// tests/not-called.txt: function → MPI that has it (`-`: none of those that the tests know), for functions that no MPI of a
/// Debian system has or can call.
fn not_called() -> anyhow::Result<BTreeMap<String, String>> {
    let text = fs::read_to_string(place::workspace().join("tests/not-called.txt"))?;
    let mut listed = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        ensure!(words.len() > 2, "tests/not-called.txt: a reason is missing: {line}");
        ensure!(listed.insert(words[0].to_owned(), words[1].to_owned()).is_none(), "listed twice: {}", words[0]);
    }
    Ok(listed)
}

/// The functions that the programs in tests/programs/records call, under all MPIs that are tested.
fn called() -> anyhow::Result<BTreeSet<String>> {
    let mut called = BTreeSet::new();
    for mpi in mpi::all()? {
        for program in program::programs_in("records")? {
            if !program.runs_under(&mpi) || program.value("coverage") == Some("no") {
                continue;
            }
            let ranks = *program.ranks().first().context("no ranks")?;
            let folder = place::fresh_folder(&format!("coverage::{}::{}", program.name, mpi.name))?;
            let lines = folder.join("expected");
            let binary = program.compiled(&mpi)?;
            let job = Job::new(&mpi, ranks, &binary, &folder).with_env_of(&program);
            job.with_env(expected::VARIABLE, &lines).bare()?.must_succeed()?;
            called.extend(expected::functions(&lines, ranks)?);
        }
    }
    Ok(called)
}

fn every_wrapped_function_is_called_or_listed() -> anyhow::Result<()> {
    let (wrapped, listed, called) = (calls_of_table()?, not_called()?, called()?);
    let tested = mpi::names();
    let unknown: Vec<_> = listed.keys().filter(|function| !wrapped.contains(*function)).collect();
    ensure!(unknown.is_empty(), "listed in tests/not-called.txt, but not wrapped: {unknown:?}");
    // A function that an MPI has which is tested now must be called.
    let excused = |function: &String| listed.get(function).is_some_and(|has| !tested.contains(has));
    let missing: Vec<_> = wrapped.iter().filter(|function| !called.contains(*function) && !excused(function)).collect();
    ensure!(
        missing.is_empty(),
        "wrapped, but neither called by a test nor listed in tests/not-called.txt: {missing:?}"
    );
    let both: Vec<_> = wrapped.iter().filter(|function| called.contains(*function) && excused(function)).collect();
    ensure!(both.is_empty(), "called by a test, and yet listed in tests/not-called.txt: {both:?}");
    Ok(())
}

/// The rows of interpose/exports.table: the names, and all that is said of them.
fn reasons() -> anyhow::Result<Vec<(Vec<String>, String)>> {
    let path = place::workspace().join("interpose/exports.table");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let rows = text.split("\n\n").map(|row| row.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>());
    let rows = rows.filter(|lines| !lines.is_empty()).map(|lines| {
        let (names, said) = lines.split_first().context("a row without names")?;
        Ok((names.split_whitespace().map(str::to_owned).collect(), said.join(" ")))
    });
    rows.collect()
}

fn means(row: &str, exported: &str) -> bool {
    match (row.strip_suffix("Xxx*"), row.strip_suffix('*')) {
        (Some(prefix), _) => exported.starts_with(prefix) && exported.bytes().any(|byte| byte.is_ascii_lowercase()),
        (None, Some(prefix)) => exported.starts_with(prefix),
        (None, None) => exported == row,
    }
}

fn every_exported_name_has_a_reason() -> anyhow::Result<()> {
    let listed = run::printed(Command::new("nm").args(["-D", "--defined-only"]).arg(place::built("liblbprof.so")?))?;
    let exported: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().last()).collect();
    ensure!(exported.len() > 2000, "nm lists {} names", exported.len());
    let mut rows: Vec<(Vec<String>, String)> = reasons()?;
    for (names, said) in &rows {
        ensure!(said.trim_start().starts_with("next: ") && said.len() > 40, "no reason is given for {names:?}");
    }
    let without: Vec<_> =
        exported.iter().filter(|one| !rows.iter().any(|(names, _)| names.iter().any(|row| means(row, one)))).collect();
    ensure!(without.is_empty(), "not in interpose/exports.table: {without:?}");
    rows.retain_mut(|(names, _)| {
        names.retain(|row| !exported.iter().any(|one| means(row, one)));
        !names.is_empty()
    });
    ensure!(rows.is_empty(), "in interpose/exports.table, but not exported: {rows:?}");
    Ok(())
}

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    let reasons = suite::trial("every_exported_name_has_a_reason".into(), every_exported_name_has_a_reason);
    let test =
        suite::trial("every_wrapped_function_is_called_or_listed".into(), every_wrapped_function_is_called_or_listed);
    Ok(vec![test, reasons])
}
