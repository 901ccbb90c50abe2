//! Ranks with threads: what the report says of regions and cores, against the programs' own clocks and what their heads state.
//!
//! What a thread worked in a region must agree with its own clock within 1 %, whether it slept or spun. The shares that are lost are nominal: a busy machine
//! delays threads, so that a disturbed run is repeated, and judged in the end by how much longer it took.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use lbprof_tests::launch::Job;
use lbprof_tests::own_clock::{self, OwnClocks};
use lbprof_tests::program::Program;
use lbprof_tests::suite::{self, Case, Company};
use lbprof_tests::{place, run};
use serde_json::{Value, json};

/// How far a thread's work may be from its own clock.
const TOLERANCE: f64 = 0.01;
/// Seconds of entering and leaving regions, all instances of a program together.
const ENTERING_S: f64 = 0.003;
/// How far a share that is lost may be from the nominal one.
const SHARE: f64 = 0.012;

/// Seconds by function and thread, all ranks together.
type Works = BTreeMap<(String, u64), f64>;

/// What the threads say of themselves, and how long the longest rank took.
fn own_works(truth: &Path, ranks: usize) -> anyhow::Result<(Works, f64)> {
    let (mut works, mut elapsed_s) = (Works::new(), 0.0_f64);
    for rank in 0..ranks {
        for line in fs::read_to_string(truth.with_extension(rank.to_string()))?.lines() {
            let [function, thread, seconds] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
            match function {
                "elapsed" => elapsed_s = elapsed_s.max(seconds.parse()?),
                _ => *works.entry((function.to_owned(), thread.parse()?)).or_default() += seconds.parse::<f64>()?,
            }
        }
    }
    Ok((works, elapsed_s))
}

/// What the report says of the same.
fn reported_works(report: &Value) -> anyhow::Result<Works> {
    let mut works = Works::new();
    for region in report["threads"]["regions"].as_array().context("threads.regions")? {
        let function = region["function"].as_str().unwrap_or_default().to_owned();
        for thread in region["threads"].as_array().context("threads of a region")? {
            let number = thread["thread"].as_u64().context("a thread's number")?;
            *works.entry((function.clone(), number)).or_default() += number_of(&thread["useful_s"])?;
        }
    }
    Ok(works)
}

fn number_of(value: &Value) -> anyhow::Result<f64> {
    value.as_f64().with_context(|| format!("{value} is no number"))
}

fn check_works(works: &Works, report: &Value, astray_s: f64) -> anyhow::Result<()> {
    let reported = reported_works(report)?;
    for ((function, thread), &truth) in works.iter().filter(|((function, _), _)| function != "outside") {
        let found = reported.get(&(function.clone(), *thread)).copied().unwrap_or(0.0);
        let room = TOLERANCE * truth + ENTERING_S + astray_s;
        ensure!(
            (found - truth).abs() <= room,
            "thread {thread} worked {found:.4} s in {function}, by its own clock {truth:.4} ± {room:.4}"
        );
    }
    Ok(())
}

/// The product of the factors is the parallel efficiency, and thread time of each region is the sum of its parts.
fn check_sums(report: &Value) -> anyhow::Result<()> {
    let threads = &report["threads"];
    let product = |names: &[&str]| names.iter().map(|name| number_of(&threads[*name])).product::<anyhow::Result<f64>>();
    let parallel = number_of(&threads["parallel"])?;
    let factors = ["load_balance", "communication", "serial", "thread_balance", "waits", "fork_join"];
    for names in [&factors[..], &["mpi", "threads"]] {
        let product = product(names)?;
        ensure!((product - parallel).abs() < 1e-9, "{names:?} multiply to {product}, not {parallel}");
    }
    for region in threads["regions"].as_array().context("threads.regions")? {
        const PARTS: [&str; 8] =
            ["useful_s", "mpi_s", "idle_for_mpi_s", "imbalance_s", "mutex_s", "ordered_s", "tasks_s", "fork_join_s"];
        let parts = PARTS.iter().map(|name| number_of(&region[*name])).sum::<anyhow::Result<f64>>()?;
        let whole = number_of(&region["team"])? * number_of(&region["elapsed_s"])?;
        ensure!((parts - whole).abs() < 1e-6 + 1e-6 * whole, "parts of {region} add up to {parts}, not {whole}");
    }
    Ok(())
}

/// The losses that the head names: `loss: KIND FUNCTION SHARE`, `-` for no function.
fn check_losses(program: &Program, report: &Value, astray: f64) -> anyhow::Result<()> {
    let losses = report["threads"]["losses"].as_array().context("threads.losses")?;
    for line in program.values("loss") {
        let [kind, function, share] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        let is_meant =
            |loss: &&Value| loss["kind"] == kind && loss["at"]["function"].as_str().unwrap_or("-") == function;
        let found = losses.iter().find(is_meant).map_or(Ok(0.0), |loss| number_of(&loss["share"]))?;
        let (share, room): (f64, f64) = (share.parse()?, SHARE + astray);
        ensure!((found - share).abs() <= room, "{kind} in {function} loses {found:.4}, not {share:.4} ± {room:.4}");
    }
    for line in program.values("heavy") {
        let [function, thread, factor] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        let loss = losses.iter().find(|loss| loss["at"]["function"] == function).context("no such loss")?;
        let heavy = &loss["heavy_thread"];
        ensure!(heavy["thread"] == thread.parse::<u64>()?, "the heavy thread of {function} is {heavy}");
        let (found, factor): (f64, f64) = (number_of(&heavy["against_others"])?, factor.parse()?);
        ensure!((found / factor - 1.0).abs() <= 0.03 + astray, "it works {found} times as long, not {factor}");
    }
    Ok(())
}

fn cores_are_accounted_for(case: &Case) -> anyhow::Result<()> {
    let program = case.program.compiled(&case.mpi)?;
    let nominal_s: f64 = case.program.value("nominal-s").context("nominal-s")?.parse()?;
    for how in ["sleep", "spin"] {
        let recorded = || {
            let folder = place::fresh_folder(&format!("{}-{how}", case.name))?;
            let truth = folder.join("truth");
            let mut job = Job::new(&case.mpi, case.ranks, &program, &folder)
                .with_env(own_clock::VARIABLE, &truth)
                .with_env("LBTEST_WORK", how)
                // Threads that wait must not take the cores of those that work.
                .with_env("OMP_WAIT_POLICY", "passive");
            job.urgent = true;
            job.recorded()?.must_succeed()?;
            let report = run::report(&job.run_folder()?)?;
            run::check_report(&report)?;
            let (works, elapsed_s) = own_works(&truth, case.ranks)?;
            let own = OwnClocks { computations_s: Vec::new(), astray_s: (elapsed_s - nominal_s).abs() };
            let works: Vec<_> = works.into_iter().collect();
            Ok((own, json!({ "report": report, "works": works })))
        };
        own_clock::judge(recorded, |_, found, astray_s| {
            let works: Vec<((String, u64), f64)> = serde_json::from_value(found["works"].clone())?;
            let report = &found["report"];
            check_sums(report)?;
            // A thread may lose its core between its clock's reading and the region's end.
            check_works(&works.into_iter().collect(), report, astray_s)?;
            // Threads that share cores take turns.
            if how == "sleep" { check_losses(&case.program, report, astray_s / nominal_s) } else { Ok(()) }
        })
        .with_context(|| how.to_owned())?;
    }
    Ok(())
}

fn main() {
    suite::main(Company::Alone, suite::cases("threads", "threads", cores_are_accounted_for));
}
