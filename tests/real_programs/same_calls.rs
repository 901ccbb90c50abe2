//! Programs whose runs are stored ([`lbprof_tests::stored`]): today's recorder writes the same calls of them, with the same peers, tags and bytes.
//!
//! So what is proven of stored runs holds for what is recorded now. Polls are not compared, for their number depends on time; nor are the calls of
//! programs that poll or hand out work on demand, but for the functions that a rank calls.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, ensure};
use lbprof_collector::Operation;
use lbprof_collector::folder::RunFolder;
use lbprof_collector::reader::LogItem;
use lbprof_tests::launch::Job;
use lbprof_tests::mpi::Mpi;
use lbprof_tests::program::{Program, programs_in};
use lbprof_tests::{place, stored, suite};
use libtest_mimic::Trial;

/// Records that depend on how much memory there is and how fast it fills.
const OF_THE_RECORDER: [u16; 2] = [Operation::Flush as u16, Operation::Memory as u16];

/// Programs whose ranks call what is next, or as often as there is time.
const BY_CHANCE: [&str; 6] =
    ["master_workers", "polling", "spinning_windows", "unmarked_master", "unmarked_polls", "unmarked_servers"];

/// A record less its times and ids: operation, peer, tag, bytes sent and received, count.
type ComparedCall = (u16, i32, i32, u64, u64, u32);

type ThreadCalls = BTreeMap<u32, Vec<ComparedCall>>;

fn calls_of(folder: &Path, rank: u32) -> anyhow::Result<ThreadCalls> {
    let mut log = RunFolder::list(folder)?.open(rank)?;
    let mut calls = ThreadCalls::new();
    while let Some(item) = log.next_item() {
        let LogItem::Records { head, records } = item else { continue };
        let of_thread = calls.entry(head.thread).or_default();
        for record in records {
            if !Operation::polls(record.operation) && !OF_THE_RECORDER.contains(&record.operation) {
                let (sent, received) = (record.sent, record.received);
                of_thread.push((record.operation, record.peer, record.tag, sent, received, record.count));
            }
        }
    }
    Ok(calls)
}

fn functions_of(calls: &ThreadCalls) -> BTreeSet<u16> {
    calls.values().flatten().map(|call| call.0).collect()
}

fn the_same_calls_are_recorded(program: &Program, mpi: &Mpi, ranks: usize) -> anyhow::Result<()> {
    let test = format!("{}::{}::{ranks}", program.name, mpi.name);
    let folder = place::fresh_folder(&format!("same_calls::{test}"))?;
    let job = Job::new(mpi, ranks, &program.compiled(mpi)?, &folder).with_env_of(program);
    job.recorded()?.must_succeed()?;
    let known = folder.join("stored");
    stored::write_logs(&format!("truth::{test}"), &known)?;
    for rank in 0..ranks as u32 {
        let (found, known) = (calls_of(&job.run_folder()?, rank)?, calls_of(&known, rank)?);
        if BY_CHANCE.contains(&program.name.as_str()) {
            let (found, known) = (functions_of(&found), functions_of(&known));
            ensure!(found == known, "rank {rank} calls {found:?}, stored are {known:?}");
            continue;
        }
        ensure!(found.keys().eq(known.keys()), "rank {rank} has other threads than what is stored of it");
        for (thread, found) in &found {
            let known = known.get(thread).context("a thread")?;
            let differs = found.iter().zip(known).position(|(found, known)| found != known);
            let at = differs.unwrap_or(found.len().min(known.len()));
            ensure!(
                differs.is_none() && found.len() == known.len(),
                "rank {rank}, thread {thread}: call {at} is {:?}, stored is {:?}: if that is meant, run scripts/store-runs",
                found.get(at),
                known.get(at)
            );
        }
    }
    Ok(())
}

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    // The MPI under which runs are stored.
    let mpi = Mpi::named("openmpi")?;
    let mut trials = Vec::new();
    for program in programs_in("truth")? {
        let ranks = *program.ranks().first().context("no ranks")?;
        let name = format!("{}::{}::{ranks}", program.name, mpi.name);
        let needs_plugin = program.value("plugin").is_some();
        if stored::is_stored(&format!("truth::{name}")) && !needs_plugin {
            let mpi = mpi.clone();
            trials.push(suite::trial(name, move || the_same_calls_are_recorded(&program, &mpi, ranks)));
        }
    }
    Ok(trials)
}
