//! Ranks on a line that exchange in one of many styles: whoever makes all others wait is blamed for that, in whatever style.
//!
//! The program (programs/styles/styles.c) sleeps for its work by a schedule, and says for how long its ranks wait by that.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, ensure};
use lbprof_tests::launch::Job;
use lbprof_tests::mpi::{self, Mpi};
use lbprof_tests::own_clock::{self, OwnClocks};
use lbprof_tests::program::Program;
use lbprof_tests::suite;
use lbprof_tests::{place, run};
use libtest_mimic::Trial;
use serde_json::Value;

const STYLES: &str = "waitall waitany sendrecv isend-recv persistent neighbourhood partitioned post-start fence locks \
                      allreduce";

/// Who is slow: the number of ranks and steps, the arguments that say so, and the fraction of the waiting that each of these ranks causes.
struct Pattern {
    name: &'static str,
    n_ranks: usize,
    n_steps: usize,
    slow: &'static [&'static str],
    fractions: &'static [(u64, f64)],
}

/// Patterns for all styles: one slow rank, in the middle.
const FOR_ALL: Pattern = Pattern { name: "one", n_ranks: 6, n_steps: 12, slow: &["3:12:1:0"], fractions: &[(3, 1.0)] };

/// Two slow ranks, which are blamed in the ratio of their excess.
const UNEQUAL: Pattern = Pattern {
    name: "unequal",
    n_ranks: 4,
    n_steps: 12,
    slow: &["1:20:2:0", "2:10:2:1"],
    fractions: &[(1, 2.0 / 3.0), (2, 1.0 / 3.0)],
};

const FOR_SOME: [(&str, Pattern); 5] = [
    ("waitall", Pattern { name: "two", n_ranks: 2, n_steps: 12, slow: &["0:12:1:0"], fractions: &[(0, 1.0)] }),
    ("sendrecv", Pattern { name: "end", n_ranks: 8, n_steps: 12, slow: &["7:12:1:0"], fractions: &[(7, 1.0)] }),
    // Each has reached all others when it is the other's turn.
    (
        "waitall",
        Pattern {
            name: "moving",
            n_ranks: 5,
            n_steps: 18,
            slow: &["1:24:12:1", "3:24:12:7"],
            fractions: &[(1, 2.0 / 3.0), (3, 1.0 / 3.0)],
        },
    ),
    ("allreduce", UNEQUAL),
    ("fence", UNEQUAL),
];

/// How far the waiting that a rank causes may be from the truth, as a fraction of all waiting.
const TOLERANCE: f64 = 0.05;

/// Returns the seconds of each rank in `rows`, of what is done in the program's steps.
fn seconds_by_rank(rows: &Value, seconds: &str) -> anyhow::Result<BTreeMap<u64, f64>> {
    let mut by_rank = BTreeMap::new();
    for row in rows.as_array().context("rows")? {
        if row["activity"] == "computation" && row["region"].as_str().is_some_and(|region| !region.contains("init_")) {
            let rank = row["rank"].as_u64().context("rank")?;
            *by_rank.entry(rank).or_insert(0.0) += row[seconds].as_f64().context("seconds")?;
        }
    }
    Ok(by_rank)
}

fn find_most(by_rank: &BTreeMap<u64, f64>) -> Option<u64> {
    by_rank.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(&rank, _)| rank)
}

/// Checks that ranks cause as much waiting as they should, and that the critical path is mainly on the one that causes the most.
fn check_report(pattern: &Pattern, waits_s: f64, report: &Value, astray_s: f64) -> anyhow::Result<()> {
    let caused_s = seconds_by_rank(&report["blocking"]["causes"], "caused_s")?;
    let room_s = TOLERANCE * waits_s + astray_s * pattern.n_ranks as f64;
    for rank in 0..pattern.n_ranks as u64 {
        let found_s = caused_s.get(&rank).copied().unwrap_or(0.0);
        let fraction = pattern.fractions.iter().find(|slow| slow.0 == rank).map_or(0.0, |slow| slow.1);
        let truth_s = fraction * waits_s;
        ensure!(
            (found_s - truth_s).abs() <= room_s,
            "rank {rank} causes {found_s:.4} s, the truth is {truth_s:.4} ± {room_s:.4} s: {caused_s:.4?}"
        );
    }
    if let [(slow, _)] = pattern.fractions {
        let on_path_s = seconds_by_rank(&report["critical_path"]["parts"], "time_s")?;
        ensure!(find_most(&on_path_s) == Some(*slow), "the critical path is on {on_path_s:.4?}");
    }
    Ok(())
}

fn check(mpi: &Mpi, style: &str, pattern: &Pattern, name: &str) -> anyhow::Result<()> {
    let program = Program::read(Path::new("styles/styles.c"))?.compiled(mpi)?;
    let waits_s = Cell::new(0.0);
    let recorded = || {
        let folder = place::fresh_folder(name)?;
        let own = folder.join("own-clock");
        let mut job = Job::new(mpi, pattern.n_ranks, &program, &folder).with_env(own_clock::VARIABLE, &own);
        job.command.extend([style.into(), pattern.n_steps.to_string().into()]);
        job.command.extend(pattern.slow.iter().map(Into::into));
        job.urgent = true;
        let said = job.recorded()?.must_succeed()?.stdout;
        waits_s
            .set(said.iter().find_map(|line| line.parse().ok()).context("the program did not say how long it waits")?);
        let report = run::report(&job.run_folder()?)?;
        run::check_report(&report)?;
        Ok((OwnClocks::read(&own, pattern.n_ranks)?, report))
    };
    own_clock::judge(recorded, |_, report, astray_s| check_report(pattern, waits_s.get(), report, astray_s))
}

/// Returns whether the MPI has a style: partitioned communication came with MPI 4.
fn has_style(mpi: &Mpi, style: &str) -> anyhow::Result<bool> {
    if style != "partitioned" {
        return Ok(true);
    }
    let program = Program::read(Path::new("styles/styles.c"))?.compiled(mpi)?;
    let folder = place::fresh_folder(&format!("styles::{style}::{}", mpi.name))?;
    let mut job = Job::new(mpi, 2, &program, &folder);
    job.command.extend([style.into(), "1".into()]);
    Ok(job.bare()?.must_succeed()?.stdout.iter().all(|line| line != "no such style"))
}

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    let mut trials = Vec::new();
    for mpi in mpi::all()? {
        let for_some = FOR_SOME.iter().map(|(style, pattern)| (*style, pattern));
        for (style, pattern) in STYLES.split(' ').map(|style| (style, &FOR_ALL)).chain(for_some) {
            let (mpi, name) = (mpi.clone(), format!("{style}::{}::{}", pattern.name, mpi.name));
            let folder = format!("styles::{name}");
            trials.push(suite::trial(name, move || match has_style(&mpi, style)? {
                true => check(&mpi, style, pattern, &folder),
                false => Ok(()),
            }));
        }
    }
    Ok(trials)
}
