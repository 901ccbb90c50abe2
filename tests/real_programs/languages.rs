//! Every language and way of calling MPI: the same calls give the same records, the same markers the same report.
//!
//! [`lbprof_tests::unharmed`] says what the heads of the programs in programs/languages say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use lbprof_tests::launch::Job;
use lbprof_tests::program::Program;
use lbprof_tests::run::{self, Dump, Record};
use lbprof_tests::suite::{self, Case};
use lbprof_tests::{place, unharmed};
use libtest_mimic::Trial;
use serde_json::{Value, json};

fn is_recorded_as_its_head_says(case: &Case) -> anyhow::Result<()> {
    unharmed::with_and_without_the_same(case)?;
    let logs = place::run_of(&case.name).join("logs");
    let name = case.program.name.as_str();
    match name.split('_').next() {
        Some("exchange") => {
            has_the_records_of_c(case, &run::dump(&logs)?)?;
            let compiled = !case.program.is_script();
            if compiled { has_its_lines(&case.program, &run::report(&logs)?) } else { Ok(()) }
        }
        Some("markers") => has_the_regions(&run::report(&logs)?),
        Some("threads") => has_all_of_each_thread(&run::dump(&logs)?),
        Some("rsmpi") => has_its_loop_and_call_sites(&run::report(&logs)?),
        _ => Ok(()),
    }
}

/// What a record says whatever the language; the flag `fortran` says which it was. The completion of a send is left out: MPICH gives no request of its own to a send
/// that is complete at once.
fn facts(dump: &Dump, rank: u32) -> Vec<String> {
    let calls = dump.calls_of(rank);
    let kept = calls.iter().filter(|call| call.operation != "Completed" || call.received != 0);
    kept.map(|record| {
        let Record { operation, activity, comm_uid, comm_size, peer, tag, sent, received, flags, .. } = record;
        let flags: Vec<&String> = flags.iter().filter(|flag| *flag != "fortran").collect();
        format!("{operation} {activity} {comm_uid:?} {comm_size:?} {peer:?} {tag:?} {sent} {received} {flags:?}")
    })
    .collect()
}

fn has_the_records_of_c(case: &Case, dump: &Dump) -> anyhow::Result<()> {
    let folder = place::fresh_folder(&format!("{}::c", case.name))?;
    let program = Program::read(Path::new("languages/exchange_c.c"))?.compiled(&case.mpi)?;
    let job = Job::new(&case.mpi, case.ranks, &program, &folder);
    job.recorded()?.must_succeed()?;
    let in_c = run::dump(&job.run_folder()?)?;
    for rank in 0..case.ranks as u32 {
        let (found, expected) = (facts(dump, rank), facts(&in_c, rank));
        ensure!(found == expected, "rank {rank} has\n{}\nin C\n{}", found.join("\n"), expected.join("\n"));
        // What the source says, lest both be wrong: operation, peer, tag, bytes sent and received.
        let other = Some(1 - rank);
        let first = if rank == 0 { ("Send", other, Some(11), 40, 0) } else { ("Recv", other, Some(11), 0, 40) };
        let truth = [
            first,
            ("Isend", other, Some(12), 48, 0),
            ("Completed", other, Some(12), 0, 48),
            ("Allreduce", None, None, 24, 24),
            ("Bcast", None, None, if rank == 1 { 28 } else { 0 }, if rank == 1 { 0 } else { 28 }),
            ("Allreduce", None, None, 16, 16),
        ];
        for (operation, peer, tag, sent, received) in truth {
            let is = |call: &&Record| {
                call.operation == operation && (call.tag, call.sent, call.received) == (tag, sent, received)
            };
            let calls = dump.calls_of(rank);
            let matching: Vec<_> = calls.into_iter().filter(is).collect();
            ensure!(
                matching.len() == 1 && (peer.is_none() || matching[0].peer == peer),
                "rank {rank}: {operation} with tag {tag:?}, {sent} and {received} bytes to {peer:?}: {matching:?}"
            );
        }
    }
    Ok(())
}

/// The call sites of the report are the lines of the source that call MPI.
///
/// `without-lines:` in a program's head names calls of which the debug information may say the line where the program begins.
fn has_its_lines(program: &Program, report: &Value) -> anyhow::Result<()> {
    const NOT_RECORDED: [&str; 2] = ["Init", "Comm_rank"];
    let source = fs::read_to_string(&program.source)?;
    let without_lines: Vec<&str> = program.value("without-lines").unwrap_or("").split_whitespace().collect();
    let begin = (1u64..).zip(source.lines()).find(|(_, line)| line.starts_with("program ")).map(|(number, _)| number);
    let mut expected = BTreeSet::new();
    for (number, line) in (1u64..).zip(source.lines()) {
        if let Some((_, call)) = line.split_once(" MPI_")
            && let Some((operation, _)) = call.split_once('(')
            && operation.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !NOT_RECORDED.contains(&operation)
        {
            expected.insert((operation.to_owned(), number));
        }
    }
    let name = program.source.file_name().context("a source without a name")?.to_string_lossy().into_owned();
    let mut found = BTreeSet::new();
    for site in report["callsites"].as_array().context("callsites")? {
        if site["file"].as_str().is_some_and(|file| file.ends_with(&name)) {
            let operation = site["operation"].as_str().context("operation")?;
            let mut line = site["line"].as_u64().context("line")?;
            if Some(line) == begin && without_lines.contains(&operation) {
                let of_operation = expected.iter().find(|(known, _)| known == operation);
                line = of_operation.map_or(line, |(_, line)| *line);
            }
            if operation != "Completed" {
                found.insert((operation.to_owned(), line));
            }
        }
    }
    ensure!(found == expected, "the report has\n{found:?}\nthe source\n{expected:?}");
    Ok(())
}

fn has_the_regions(report: &Value) -> anyhow::Result<()> {
    ensure!(
        report["run"]["params"] == json!({ "before MPI": 0.5, "n": 42.0 }),
        "parameters: {}",
        report["run"]["params"]
    );
    let mut regions = BTreeMap::new();
    for region in report["regions"].as_array().context("regions")? {
        let facts =
            ["kind", "iterated", "iterations", "invocations", "operations", "quanta"].map(|key| region[key].clone());
        regions.insert(region["path"].as_str().context("path")?.to_owned(), facts);
    }
    // operations: 100·(0 + 1 + 2) on each of 2 ranks; quanta: 10 each time
    let expected: BTreeMap<String, [Value; 6]> = [
        ("main/all", "useful", false, json!(null), 2, 0.0, 0.0),
        ("main/all/setup", "serial", false, json!(null), 2, 0.0, 0.0),
        ("main/all/step", "useful", true, json!(3), 6, 0.0, 0.0),
        ("main/all/step/force", "useful", false, json!(null), 6, 600.0, 60.0),
        ("main/all/step/balance", "control", false, json!(null), 6, 0.0, 0.0),
    ]
    .into_iter()
    .map(|(path, kind, iterated, iterations, invocations, operations, quanta)| {
        let facts = [json!(kind), json!(iterated), iterations, json!(invocations), json!(operations), json!(quanta)];
        (path.to_owned(), facts)
    })
    .collect();
    regions.remove("main");
    ensure!(regions == expected, "regions:\n{regions:#?}\nexpected:\n{expected:#?}");
    let mut counters: Vec<Value> = report["counters"].as_array().context("counters")?.clone();
    counters.sort_by_key(|counter| counter["region"].to_string());
    // pairs: 1.5·i + rank, i = 0, 1, 2, ranks 0 and 1: 0, 1.5, 3, 1, 2.5, 4
    let expected = [
        json!({ "name": "pairs", "region": "main/all", "n": 2, "sum": -2.0, "mean": -1.0, "min": -1.0, "max": -1.0 }),
        json!({ "name": "pairs", "region": "main/all/step/force", "n": 6, "sum": 12.0, "mean": 2.0, "min": 0.0, "max": 4.0 }),
    ];
    ensure!(counters == expected, "counters: {counters:?}");
    let iterations = &report["iterations"];
    ensure!(
        iterations["source"] == "marked" && iterations["count"] == 3 && iterations["region"] == "main/all/step",
        "{iterations}"
    );
    // The barriers between LBPROF_RECORD(0) and (1) are not recorded, the others are: 3 on each rank.
    let sites = report["callsites"].as_array().context("callsites")?;
    let barriers: u64 =
        sites.iter().filter(|site| site["operation"] == "Barrier").filter_map(|site| site["calls"].as_u64()).sum();
    ensure!(barriers == 6, "{barriers} barriers");
    Ok(())
}

type Exchanges = BTreeMap<(Option<i32>, Option<String>), usize>;

/// Thread t of threads.c makes 700 (t + 1) exchanges with tag 100 + t.
fn has_all_of_each_thread(dump: &Dump) -> anyhow::Result<()> {
    for rank in 0..2 {
        let mut threads: BTreeMap<u32, Exchanges> = BTreeMap::new();
        for record in dump.records.iter().filter(|record| record.rank == rank && record.operation == "Sendrecv") {
            ensure!(record.sent == 4 && record.peer == Some(1 - rank) && record.end_s.is_some(), "{record:?}");
            let kind = (record.tag, record.comm_uid.clone());
            *threads.entry(record.thread).or_default().entry(kind).or_default() += 1;
        }
        ensure!(threads.len() == 4 && !threads.contains_key(&0), "rank {rank}: {threads:?}");
        let mut counts: Vec<(Option<i32>, usize)> = Vec::new();
        for of_thread in threads.values() {
            ensure!(of_thread.len() == 1, "a thread has exchanges of another: {of_thread:?}");
            counts.extend(of_thread.iter().map(|((tag, _), count)| (*tag, *count)));
        }
        counts.sort_unstable();
        let expected: Vec<_> = (0..4).map(|t| (Some(100 + t), 700 * (t as usize + 1))).collect();
        ensure!(counts == expected, "rank {rank}: {counts:?}");
    }
    Ok(())
}

/// The loop of rsmpi.rs, its slow rank, and its call sites: where the crate `mpi` calls MPI, by the names and lines of its source.
fn has_its_loop_and_call_sites(report: &Value) -> anyhow::Result<()> {
    let iterations = &report["iterations"];
    ensure!(iterations["source"] == "found" && iterations["count"] == 12, "{iterations}");
    let ranks = report["ranks"].as_array().context("ranks")?;
    let computation: Vec<f64> = ranks.iter().filter_map(|rank| rank["computation_s"].as_f64()).collect();
    // It sleeps for 12 · 20 ms, the others for 12 · 4 ms; a sleep may be longer, but is never shorter.
    ensure!(
        computation.len() == 3 && computation[2] >= 0.240 && computation.iter().all(|&s| s <= computation[2]),
        "the ranks compute {computation:?} s"
    );
    let mut found = BTreeMap::new();
    for site in report["callsites"].as_array().context("callsites")? {
        let text = |key: &str| site[key].as_str().with_context(|| format!("{key} of {site}"));
        let (operation, file) = (text("operation")?, text("file")?);
        let line = site["line"].as_u64().and_then(|line| usize::try_from(line).ok()).context("line")?;
        let source = fs::read_to_string(file).with_context(|| file.to_owned())?;
        let at = source.lines().nth(line - 1).with_context(|| format!("{file} has no line {line}"))?.trim();
        ensure!(at.starts_with(&format!("ffi::MPI_{operation}(")), "{operation} is reported at {file}:{line}: {at}");
        found.insert(operation.to_owned(), text("function")?.to_owned());
    }
    let expected = [
        ("Allreduce", "mpi::collective::CommunicatorCollectives::all_reduce_into"),
        ("Barrier", "mpi::collective::CommunicatorCollectives::barrier"),
        ("Bcast", "mpi::collective::Root::broadcast_into"),
        ("Finalize", "<mpi::environment::Universe as core::ops::drop::Drop>::drop"),
        ("Sendrecv", "mpi::point_to_point::send_receive_into_with_tags::{{closure}}"),
    ];
    let expected: BTreeMap<_, _> = expected.map(|(operation, name)| (operation.to_owned(), name.to_owned())).into();
    ensure!(found == expected, "call sites\n{found:#?}\nexpected\n{expected:#?}");
    Ok(())
}

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    suite::cases("languages", "languages", is_recorded_as_its_head_says)
}
