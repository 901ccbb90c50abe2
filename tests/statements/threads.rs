//! Ranks with threads: what the report says of regions and cores, against the programs' own clocks and what their heads state.
//!
//! What a thread worked in a region must agree with its own clock within 1 %, whether it sleeps or, where there are enough cores, spins. The shares that are lost are nominal: a busy machine
//! delays threads, so that a disturbed run is repeated, and judged in the end by how much longer it took.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use lbprof_tests::launch::Job;
use lbprof_tests::own_clock::{self, OwnClocks};
use lbprof_tests::program::{Program, shared_object};
use lbprof_tests::run::Dump;
use lbprof_tests::stored::{self, RunSource};
use lbprof_tests::suite::{self, Case};
use lbprof_tests::{place, run};
use libtest_mimic::Trial;
use serde_json::{Value, json};

/// Threads of a rank whose program's head does not have their number (`threads: 3`).
const THREADS: usize = 2;
/// How far a thread's work may be from its own clock.
const TOLERANCE: f64 = 0.01;
/// Seconds of entering and leaving regions, all instances of a program together.
const ENTERING_S: f64 = 0.003;
/// How far a share that is lost may be from the nominal one.
const SHARE: f64 = 0.012;

/// Runs of a program of which the shortest counts.
const RUNS: usize = 5;
/// How far a prediction may be from the change made for real, of the run's time.
const TOLERANCE_OF_PREDICTIONS: f64 = 0.03;

/// Seconds by function and thread, all ranks together.
type Works = BTreeMap<(String, u64), f64>;

/// What the threads say of themselves.
struct OwnWorks {
    works: Works,
    /// Of the longest rank.
    elapsed_s: f64,
    /// How much was not planned: the longest rank's time, and computations, were longer than nominal.
    astray_s: f64,
}

fn own_works(truth: &Path, ranks: usize, nominal_s: f64) -> anyhow::Result<OwnWorks> {
    let mut own = OwnWorks { works: Works::new(), elapsed_s: 0.0, astray_s: 0.0 };
    for rank in 0..ranks {
        for line in fs::read_to_string(truth.with_extension(rank.to_string()))?.lines() {
            let [function, thread, seconds] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
            let seconds: f64 = seconds.parse()?;
            match function {
                "elapsed" => own.elapsed_s = own.elapsed_s.max(seconds),
                "astray" => own.astray_s += seconds,
                _ => *own.works.entry((function.to_owned(), thread.parse()?)).or_default() += seconds,
            }
        }
    }
    own.astray_s = own.astray_s.max((own.elapsed_s - nominal_s).abs());
    Ok(own)
}

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

fn check_works(works: &Works, reported: &Works, astray_s: f64) -> anyhow::Result<()> {
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

/// The markers of instances say what the sums of their regions do.
fn check_marks(dump: &Dump, report: &Value) -> anyhow::Result<()> {
    let mut marked: BTreeMap<(String, u64), (u64, f64, f64)> = BTreeMap::new();
    for record in dump.records.iter().filter(|record| record.operation == "ParallelEnd") {
        let value = record.value.as_ref().context("what the marker says")?;
        let function = record.place.as_deref().unwrap_or_default();
        // GCC names the function of a region after the one that it is in.
        let function = function.split(['.', ' ']).next().unwrap_or_default();
        let team = value["threads"].as_u64().context("the size of a team")?;
        let (instances, useful_s, longest_s) = marked.entry((function.to_owned(), team)).or_default();
        *instances += 1;
        *useful_s += number_of(&value["useful_s"])?;
        *longest_s += number_of(&value["longest_s"])?;
    }
    for region in report["threads"]["regions"].as_array().context("threads.regions")? {
        let function = region["function"].as_str().unwrap_or_default();
        let team = region["team"].as_u64().context("the size of a team")?;
        // A thread without MPI calls has no records.
        if region["of_first_thread"] == false && !marked.contains_key(&(function.to_owned(), team)) {
            continue;
        }
        let &(instances, useful_s, longest_s) =
            marked.get(&(function.to_owned(), team)).with_context(|| format!("no marker of {function}"))?;
        ensure!(region["instances"] == instances, "{instances} ends of {function} are marked: {region}");
        for (marked_s, key) in [(useful_s, "useful_s"), (longest_s, "longest_s")] {
            let sum_s = number_of(&region[key])?;
            ensure!(
                (marked_s - sum_s).abs() < 1e-4 * sum_s + 1e-6,
                "{key} of {function}: {marked_s} by its markers, {sum_s}"
            );
        }
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

/// TALP's figures are those of the report, and multiply as TALP's do.
fn check_talp(talp: &Value, report: &Value) -> anyhow::Result<()> {
    let (global, threads) = (&talp["Application"]["Global"], &report["threads"]);
    ensure!(talp["resources"]["numCpus"] == threads["cores"] && global["numCpus"] == threads["cores"], "{talp}");
    let product = |names: &[&str]| names.iter().map(|name| number_of(&global[*name])).product::<anyhow::Result<f64>>();
    let mpi = ["mpiCommunicationEfficiency", "mpiLoadBalanceIn", "mpiLoadBalanceOut"];
    let threads_of_rank = ["ompLoadBalance", "ompSchedulingEfficiency", "ompSerializationEfficiency"];
    for (name, factors, own) in [
        ("parallelEfficiency", &["mpiParallelEfficiency", "ompParallelEfficiency"][..], "parallel"),
        ("mpiParallelEfficiency", &mpi[..], "mpi"),
        ("ompParallelEfficiency", &threads_of_rank[..], "threads"),
    ] {
        let (found, product, own) = (number_of(&global[name])?, product(factors)?, number_of(&threads[own])?);
        ensure!((found - product).abs() < 1e-9 && (found - own).abs() < 1e-9, "{name} {found}: {product}, {own}");
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
    Ok(())
}

/// The thread that the head names works longest, as many times as long as the other as their own clocks say: `heavy: FUNCTION THREAD`.
fn check_heavy_threads(program: &Program, works: &Works, report: &Value) -> anyhow::Result<()> {
    let losses = report["threads"]["losses"].as_array().context("threads.losses")?;
    for line in program.values("heavy") {
        let (function, thread) = line.split_once(' ').context("a function and a thread")?;
        let thread: u64 = thread.parse()?;
        let loss = losses.iter().find(|loss| loss["at"]["function"] == function).context("no such loss")?;
        let heavy = &loss["heavy_thread"];
        ensure!(heavy["thread"] == thread, "the heavy thread of {function} is {heavy}");
        let own = |thread: u64| works.get(&(function.to_owned(), thread)).copied().unwrap_or(0.0);
        let (found, factor) = (number_of(&heavy["against_others"])?, own(thread) / own(1 - thread));
        ensure!((found / factor - 1.0).abs() <= 0.03, "it works {found} times as long, by its own clock {factor}");
    }
    Ok(())
}

/// What the head names threads wait for in a region: `mutex: FUNCTION KIND NAME SECONDS`, or FUNCTION*TEAM; the name of an address contains +0x.
fn check_mutexes(program: &Program, report: &Value, astray_s: f64) -> anyhow::Result<()> {
    let regions = report["threads"]["regions"].as_array().context("threads.regions")?;
    for line in program.values("mutex") {
        let [function, kind, name, seconds] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        let (function, team) = function.split_once('*').unwrap_or((function, ""));
        let is_of_team = |region: &&Value| team.is_empty() || region["team"].as_u64() == team.parse().ok();
        let mut of_function = regions.iter().filter(|region| region["function"] == function);
        let region = of_function.find(is_of_team).context("no such region")?;
        let is_meant = |mutex: &&Value| {
            let found = mutex["name"].as_str().unwrap_or("-");
            mutex["kind"] == kind && (found == name || name == "+0x" && found.contains(name))
        };
        let mutexes = region["mutexes"].as_array().context("mutexes of a region")?;
        let mutex = mutexes.iter().find(is_meant).with_context(|| format!("no {kind} {name} in {region}"))?;
        let (found_s, nominal_s) = (number_of(&mutex["wait_s"])?, seconds.parse::<f64>()?);
        let room_s = TOLERANCE * nominal_s + ENTERING_S + astray_s;
        ensure!((found_s - nominal_s).abs() <= room_s, "{name}: {found_s:.4} s, not {nominal_s:.4} ± {room_s:.4}");
        let file = mutex["at"]["file"].as_str().unwrap_or_default();
        ensure!(file.ends_with(".c") && mutex["at"]["line"].is_u64(), "threads wait for it at {}", mutex["at"]);
        let loss = report["threads"]["losses"].as_array().context("threads.losses")?.iter();
        let mut named = loss.filter(|loss| loss["kind"] == "mutex" && loss["at"]["function"] == function);
        ensure!(named.any(|loss| loss["mutex"] == mutexes[0]), "no loss of {function} names {}", mutexes[0]);
    }
    Ok(())
}

/// The two programs that call every function import all that are wrapped: each name of the recorder's list that is not of LLVM's or only asks.
fn every_function_is_called(case: &Case) -> anyhow::Result<()> {
    let folder = case.program.source.parent().context("a program without a folder")?;
    let mut imported = String::new();
    for name in ["every_start", "every_wait"] {
        let program = Program::read(&folder.join(format!("{name}.c")))?;
        let symbols = Command::new("nm").args(["-D", "--undefined-only"]).arg(program.compiled(&case.mpi)?).output()?;
        imported += &String::from_utf8(symbols.stdout)?;
    }
    let wrappers = fs::read_to_string(place::workspace().join("interpose/src/calls/wrappers/openmp.rs"))?;
    let code = wrappers.lines().filter(|line| !line.trim_start().starts_with("//"));
    let names = code.flat_map(|line| line.split(|char: char| !char.is_alphanumeric() && char != '_'));
    let wrapped = names.filter(|name| name.starts_with("GOMP_") || name.starts_with("omp_set_"));
    let imported: BTreeSet<&str> =
        imported.split_whitespace().map(|name| name.split('@').next().unwrap_or(name)).collect();
    let missing: Vec<&str> = wrapped.clone().filter(|name| !imported.contains(name)).collect();
    ensure!(missing.is_empty() && wrapped.count() > 30, "no program calls {missing:?}");
    Ok(())
}

/// Threads that spin while they wait compute nothing: functions of the program, which sleep here for their work, have next to no CPU time.
fn spinning_waits(case: &Case, program: &Path) -> anyhow::Result<()> {
    let folder = place::fresh_folder(&case.name)?;
    let job = Job::new(&case.mpi, case.ranks, program, &folder)
        // Bound to one core, threads would not spin.
        .with_env("OMPI_MCA_hwloc_base_binding_policy", "none")
        .with_env("OMP_WAIT_POLICY", "active")
        .with_env("GOMP_SPINCOUNT", "infinite")
        .with_env("KMP_BLOCKTIME", "infinite")
        .with_env("KMP_USE_YIELD", "0")
        .with_env("LBPROF_SAMPLE", "1000");
    let report = job.report()?;
    let others = &report["functions"]["other_threads"][0];
    let (cpu_s, waiting_s) = (number_of(&others["cpu_s"])?, number_of(&others["waiting_s"])?);
    ensure!(cpu_s > 0.05 && waiting_s > 0.9 * cpu_s, "other threads wait {waiting_s} of {cpu_s} s");
    let program = &report["functions"]["program"];
    let mut in_wait_code = 0.0;
    for row in program["functions"].as_array().context("functions")? {
        let module = row["module"].as_str().unwrap_or_default();
        if ["libgomp", "libomp"].iter().any(|name| module.contains(name)) || row["function"] == "sched_yield" {
            in_wait_code += number_of(&row["share"])?;
        }
    }
    ensure!(in_wait_code > 0.8, "{in_wait_code} of the computation of first threads is waiting: {program}");
    Ok(())
}

/// A tool that the user has named gets the reports of the run-time library, and ours says so.
fn another_tool_comes_first(case: &Case) -> anyhow::Result<()> {
    let program = case.program.compiled_by_clang(&case.mpi)?;
    let tool = shared_object(&["clang".to_owned()], "support/openmp_tool.c", &case.mpi)?;
    let folder = place::fresh_folder(&case.name)?;
    let job = Job::new(&case.mpi, case.ranks, &program, &folder).with_env("OMP_TOOL_LIBRARIES", &tool);
    let output = job.recorded()?.must_succeed()?;
    ensure!(output.stderr.contains("the other tool is used"), "{}", output.stderr);
    let report = run::report(&job.run_folder()?)?;
    let is_reported = report["run"]["problems"].to_string().contains("OtherOpenmpTool");
    ensure!(is_reported && report["threads"].is_null(), "{} {}", report["run"]["problems"], report["threads"]);
    Ok(())
}

/// What a change of threads would save is what the program takes less with the change made for real (`what-if: SCENARIO`).
fn predictions_come_true(case: &Case) -> anyhow::Result<()> {
    let asked = case.program.value("what-if").context("what-if")?;
    let program = case.program.compiled(&case.mpi)?;
    let folder = place::fresh_folder(&case.name)?;
    let truth = folder.join("truth");
    let folders = (0..2 * RUNS).map(|number| place::fresh_folder(&format!("{}-{number}", case.name)));
    let folders = folders.collect::<anyhow::Result<Vec<_>>>()?;
    let job = |folder| {
        let job = Job::new(&case.mpi, case.ranks, &program, folder).with_env(own_clock::VARIABLE, &truth);
        Job { urgent: true, ..job.with_env("OMP_WAIT_POLICY", "passive") }
    };
    // A busy machine makes runs longer, never shorter.
    let shortest_s = |change: bool| -> anyhow::Result<f64> {
        let mut shortest_s = f64::INFINITY;
        for _ in 0..RUNS {
            let job = job(&folder);
            let job = if change { job.with_env("LBTEST_CHANGE", "1") } else { job };
            job.bare()?.must_succeed()?;
            shortest_s = shortest_s.min(own_works(&truth, case.ranks, 0.0)?.elapsed_s);
        }
        Ok(shortest_s)
    };
    let (before_s, after_s) = (shortest_s(false)?, shortest_s(true)?);
    let mut found = Vec::new();
    for folder in &folders {
        let job = job(folder);
        job.recorded_with(&["--sample", "1000"])?.must_succeed()?;
        let report = run::report_asking(&job.run_folder()?, &["--what-if", asked])?;
        let scenario = if asked.starts_with("parallel") { "function on all threads" } else { "threads balanced" };
        let rows = report["predictions"].as_array().context("predictions")?;
        let name = asked.split_once('=').map(|(_, name)| name);
        let row = rows.iter().find(|row| row["scenario"] == scenario && row["region"].as_str() == name);
        let saved_s = number_of(&row.with_context(|| format!("no prediction of {asked}"))?["saved_s"])?;
        if (saved_s - (before_s - after_s)).abs() <= TOLERANCE_OF_PREDICTIONS * before_s {
            return Ok(());
        }
        found.push(saved_s);
    }
    anyhow::bail!("{asked}: {before_s:.4} → {after_s:.4} s, but predicted to save {found:.4?} s")
}

fn killed_ranks_leave_their_regions(case: &Case) -> anyhow::Result<()> {
    let nominal_s: f64 = case.program.value("nominal-s").context("nominal-s")?.parse()?;
    let job = Job::of_case(case)?.with_env("LBTEST_KILL", "1").with_env("OMP_WAIT_POLICY", "passive");
    let truth = job.folder.join("truth");
    let job = job.with_env(own_clock::VARIABLE, &truth);
    job.recorded()?;
    let report = run::report(&job.run_folder()?)?;
    let OwnWorks { works, astray_s, .. } = own_works(&truth, case.ranks, nominal_s)?;
    check_sums(&report)?;
    check_works(&works, &reported_works(&report)?, astray_s)
}

/// Each thread's own markers say what it worked in all instances, those of an instance what its end says, and a timeline has a track of each thread.
fn each_thread_of(case: &Case, program: &Path) -> anyhow::Result<()> {
    let nominal_s: f64 = case.program.value("nominal-s").context("nominal-s")?.parse()?;
    let folder = place::fresh_folder(&case.name)?;
    let truth = folder.join("truth");
    let job = Job::new(&case.mpi, case.ranks, program, &folder)
        .with_env(own_clock::VARIABLE, &truth)
        .with_env("LBPROF_OPENMP", "threads")
        .with_env("OMP_WAIT_POLICY", "passive")
        .with_env("KMP_BLOCKTIME", "0");
    job.recorded()?.must_succeed()?;
    let run = job.run_folder()?;
    let OwnWorks { works, astray_s, .. } = own_works(&truth, case.ranks, nominal_s)?;
    let dump = run::dump(&run)?;
    let (mut found, mut of_instance) = (Works::new(), BTreeMap::<u32, f64>::new());
    for record in &dump.records {
        let Some(value) = &record.value else { continue };
        let function = record.place.as_deref().unwrap_or_default();
        let function = function.split(['.', ' ']).next().unwrap_or_default().to_owned();
        match record.operation.as_str() {
            "ParallelThread" if !value["useful_s"].is_null() => {
                let useful_s = number_of(&value["useful_s"])?;
                *of_instance.entry(record.rank).or_default() += useful_s;
                let thread = value["thread"].as_u64().context("a thread's number")?;
                *found.entry((function, thread)).or_default() += useful_s;
            }
            "ParallelEnd" => {
                let (whole_s, parts_s) =
                    (number_of(&value["useful_s"])?, of_instance.remove(&record.rank).unwrap_or(0.0));
                ensure!((whole_s - parts_s).abs() < 1e-7, "{function}: threads work {parts_s} s of {whole_s}");
            }
            _ => {}
        }
    }
    check_works(&works, &found, astray_s)?;
    let timeline = run::export(&run, "perfetto")?;
    let has_track = |name: &str| timeline.windows(name.len()).any(|bytes| bytes == name.as_bytes());
    ensure!(has_track("thread 1 of teams of main"), "the timeline has no track of thread 1");
    check_paraver(&run, dump.records.iter().filter(|record| record.operation == "ParallelEnd").count())?;
    Ok(())
}

/// A trace of Paraver has a line for thread 1 of each rank's teams, on which each instance is a state and has two events.
fn check_paraver(run: &Path, instances: usize) -> anyhow::Result<()> {
    let prv = String::from_utf8(run::export(run, "paraver").context("the trace")?)?;
    let on_thread_1 = |kind: &str, what: &str| {
        let of_thread = |fields: &[&str]| fields[0] == kind && fields[4] == "2";
        let lines = prv.lines().map(|line| line.split(':').collect::<Vec<_>>());
        lines.filter(|fields| fields.len() > 6 && of_thread(fields) && fields[6..].contains(&what)).count()
    };
    let (states, events) = (on_thread_1("1", "1"), on_thread_1("2", "60000018"));
    ensure!(states == instances && events == 2 * instances, "{states} states and {events} events of {instances}");
    let rows = fs::read_to_string(run.with_extension("paraver.row")).context("its lines")?;
    ensure!(rows.contains("rank 0 thread 1 of its teams"), "{rows}");
    Ok(())
}

fn check_cores(case: &Case, program: &Path) -> anyhow::Result<()> {
    let nominal_s: f64 = case.program.value("nominal-s").context("nominal-s")?.parse()?;
    // Threads that spin without a core of their own take turns, so that their own clocks do not state what they worked.
    let cores = std::thread::available_parallelism()?.get();
    let threads = case.program.value("threads").map_or(Ok(THREADS), str::parse)?;
    // What is stored must not depend on the machine that reads it.
    let has_cores = cores >= threads * case.ranks && stored::source() == RunSource::Launched;
    if !has_cores {
        eprintln!(
            "{cores} cores for {} ranks of {threads} threads: they sleep for their work, and do not spin",
            case.ranks
        );
    }
    for how in if has_cores { &["sleep", "spin"][..] } else { &["sleep"] } {
        let recorded = || {
            let folder = place::fresh_folder(&format!("{}-{how}", case.name))?;
            let truth = folder.join("truth");
            let mut job = Job::new(&case.mpi, case.ranks, program, &folder)
                .with_env(own_clock::VARIABLE, &truth)
                .with_env("LBTEST_WORK", how)
                // Threads that wait must not take the cores of those that work.
                .with_env("OMP_WAIT_POLICY", "passive")
                .with_env("KMP_BLOCKTIME", "0");
            job.urgent = true;
            let report = job.report()?;
            run::check_report(&report)?;
            check_talp(&run::talp(&job.run_folder()?)?, &report)?;
            check_marks(&run::dump(&job.run_folder()?)?, &report)?;
            let OwnWorks { works, astray_s, .. } = own_works(&truth, case.ranks, nominal_s)?;
            let own = OwnClocks { computations_s: Vec::new(), astray_s };
            let works: Vec<_> = works.into_iter().collect();
            Ok((own, json!({ "report": report, "works": works })))
        };
        own_clock::judge(recorded, |_, found, astray_s| {
            let works: Vec<((String, u64), f64)> = serde_json::from_value(found["works"].clone())?;
            let report = &found["report"];
            check_sums(report)?;
            // A thread may lose its core between its clock's reading and the region's end.
            let works: Works = works.into_iter().collect();
            check_works(&works, &reported_works(report)?, astray_s)?;
            check_heavy_threads(&case.program, &works, report)?;
            check_mutexes(&case.program, report, astray_s)?;
            check_losses(&case.program, report, astray_s / nominal_s)
        })
        .with_context(|| (*how).to_owned())?;
    }
    Ok(())
}

/// How far the work of a pool may be from its threads' own clocks, beside the error that the report states: samples are taken in user space alone.
const IN_THE_SYSTEM: f64 = 0.1;

/// Pools that no run-time library reports have names, sizes, and a utilization that is that of their threads' own clocks within four times its error.
fn pools_are_used(case: &Case) -> anyhow::Result<()> {
    let job = Job::of_case(case)?.with_env("LBPROF_SAMPLE", "1000");
    let truth = job.folder.join("truth");
    let report = job.with_env(own_clock::VARIABLE, &truth).report()?;
    let pools = report["thread_pools"].as_array().context("thread_pools")?;
    let text = fs::read_to_string(truth.with_extension("0"))?;
    let elapsed = text.lines().find_map(|line| line.strip_prefix("elapsed ")).context("no elapsed time")?;
    let elapsed_s: f64 = elapsed.parse()?;
    let mut n_pools = 0;
    for line in text.lines().filter(|line| !line.starts_with("elapsed")) {
        let [threads, started, cpu_s, name] = line.splitn(4, ' ').collect::<Vec<_>>()[..] else { continue };
        let pool =
            pools.iter().find(|pool| pool["name"] == name).with_context(|| format!("no {name} in {pools:#?}"))?;
        let (threads, started): (u64, u64) = (threads.parse()?, started.parse()?);
        ensure!(pool["threads"] == threads && pool["started"] == started, "{line}: {pool}");
        let (found, error) =
            (number_of(&pool["program"]["utilization"])?, number_of(&pool["program"]["utilization_error"])?);
        let own = cpu_s.parse::<f64>()? / (threads as f64 * elapsed_s);
        ensure!(
            error < 0.1 && (found - own).abs() <= 4.0 * error + IN_THE_SYSTEM * own,
            "{name}: {found} ± {error}, {own}"
        );
        let regions = pool["regions"].as_array().context("regions of a pool")?;
        let shares =
            regions.iter().map(|region| number_of(&region["utilization"])).collect::<anyhow::Result<Vec<_>>>()?;
        ensure!(!shares.is_empty() && shares.iter().all(|share| *share < 1.2), "of regions: {regions:#?}");
        n_pools += 1;
    }
    ensure!(n_pools == 2 && pools.len() == 2, "{pools:#?}");
    Ok(())
}

/// Further checks of programs in threads/: the first part of the tests' names, of which programs, and what is checked.
type CheckCase = fn(&Case) -> anyhow::Result<()>;

const FURTHER: [(&str, &[&str], CheckCase); 9] = [
    ("by_clang::", &[""], |case| check_cores(case, &case.program.compiled_by_clang(&case.mpi)?)),
    ("another_tool::", &["rank_imbalance"], another_tool_comes_first),
    ("spinning::", &["all_kinds"], |case| spinning_waits(case, &case.program.compiled(&case.mpi)?)),
    ("reported_spinning::", &["all_kinds"], |case| spinning_waits(case, &case.program.compiled_by_clang(&case.mpi)?)),
    ("imports::", &["every_wait"], every_function_is_called),
    ("killed::", &["all_kinds"], killed_ranks_leave_their_regions),
    ("each_thread::", &["all_kinds"], |case| each_thread_of(case, &case.program.compiled(&case.mpi)?)),
    ("each_reported_thread::", &["all_kinds"], |case| {
        each_thread_of(case, &case.program.compiled_by_clang(&case.mpi)?)
    }),
    ("what_if::", &["late_team", "serial_function", "thread_imbalance"], predictions_come_true),
];

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    let mut trials = suite::cases("threads", "threads", |case| check_cores(case, &case.program.compiled(&case.mpi)?))?;
    trials.extend(suite::cases("pools", "pools", pools_are_used)?);
    for (variant, programs, check) in FURTHER {
        let of_variant = suite::cases_of_variant("threads", variant, "threads", check)?;
        trials.extend(of_variant.into_iter().filter(|trial| programs.iter().any(|name| trial.name().contains(name))));
    }
    Ok(trials)
}
