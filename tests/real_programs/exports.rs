//! Exports of real programs: other programs read them, and find what the programs did.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::ensure;
use lbprof_tests::launch::Job;
use lbprof_tests::suite::{self, Case};
use lbprof_tests::{place, run};
use libtest_mimic::Trial;

/// Counts the events of an OTF2 archive by the names that otf2-print has for them.
fn events(archive: &Path) -> anyhow::Result<BTreeMap<String, usize>> {
    let mut counts = BTreeMap::new();
    for line in run::printed(Command::new("otf2-print").arg(archive))?.lines() {
        *counts.entry(line.split(' ').next().unwrap_or_default().to_owned()).or_default() += 1;
    }
    Ok(counts)
}

fn an_archive_of_otf2_has_the_events_that_the_program_says(case: &Case) -> anyhow::Result<()> {
    let job = Job::of_case(case)?;
    let folder = &job.folder;
    job.recorded()?.must_succeed()?;
    let (logs, trace) = (job.run_folder()?, folder.join("trace"));
    run::printed(
        Command::new(place::built("lb-report")?).args(["export", "otf2", "--quiet"]).arg(&logs).arg("-o").arg(&trace),
    )?;

    let found = events(&trace.join("traces.otf2"))?;
    for expected in case.program.values("events") {
        let (kind, n) = expected.split_once(' ').unwrap_or((expected, ""));
        let n_found = found.get(kind).copied().unwrap_or(0);
        ensure!(n_found.to_string() == n, "{kind}: {n_found} events, the program says {n}");
    }

    // The figures of the report and all records, by OTF2's bindings for Python, which are Debian's.
    let report = folder.join("report.json");
    fs::write(&report, run::report_asking(&logs, &["--full"])?.to_string())?;
    let records = folder.join("records.jsonl");
    fs::write(&records, run::printed(Command::new(place::built("lb-report")?).args(["dump", "--quiet"]).arg(&logs))?)?;
    let reader = place::workspace().join("tests/readers/read_otf2.py");
    run::printed(
        Command::new("/usr/bin/python3").arg(reader).arg(trace.join("traces.otf2")).arg(&report).arg(&records),
    )?;
    Ok(())
}

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    suite::cases("exports", "exports", an_archive_of_otf2_has_the_events_that_the_program_says)
}
