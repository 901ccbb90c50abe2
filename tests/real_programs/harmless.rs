//! Programs that end in all ways, and processes in which all goes wrong: with the recorder they end and print as without it,
//! and what was recorded until then is in the report.
//!
//! [`lbprof_tests::unharmed`] says what the heads of the programs in programs/harmless say.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus, Output};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use lbprof_collector::folder::RunFolder;
use lbprof_collector::options::SETTINGS;
use lbprof_collector::reader::LogItem;
use lbprof_collector::{Operation, ProblemKind};
use lbprof_tests::launch::{Job, Outcome, without_settings};
use lbprof_tests::mpi::{self, Family, Mpi};
use lbprof_tests::program::{Program, shared_object};
use lbprof_tests::suite::{self, ProgramCheck};
use lbprof_tests::unharmed::{NO_RUN, is_end_line, lb_report, lines_of_recorder, must_say, with_and_without_the_same};
use lbprof_tests::{known_outcome, place, run};
use libtest_mimic::Trial;

fn a_folder_that_cannot_be_made_is_reported_once(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    let file = folder.join("file");
    fs::write(&file, "")?;
    let job = Job::new(mpi, 2, program, folder);
    let bare = known_outcome::of_bare(&job)?.must_succeed()?;
    for dir in [Path::new("/proc/lbprof/logs"), &file.join("logs"), Path::new("/proc/self/mem")] {
        let recorded = job.clone().with_env("LBPROF_DIR", dir).recorded()?;
        recorded.must_equal(&bare, mpi)?;
        must_say(&recorded, &[1])?;
        ensure!(recorded.stderr.contains("nothing is recorded"), "{}", recorded.stderr);
    }
    Ok(())
}

fn nonsense_is_reported_once_and_the_defaults_hold(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    let bare = known_outcome::of_bare(&Job::new(mpi, 2, program, folder))?.must_succeed()?;
    let mut job = Job::new(mpi, 2, program, folder).with_env("LBPROF_NO_SUCH_SETTING", "1");
    let others = SETTINGS.iter().filter(|setting| setting.name != "LBPROF_DIR");
    let mut expected = 1;
    for setting in others {
        job = job.with_env(setting.name, "\u{1b}[31m%s%n\u{fffd} -1e99");
        expected += 1;
    }
    let recorded = job.recorded()?;
    recorded.must_equal(&bare, mpi)?;
    must_say(&recorded, &[expected])?;
    let report = run::report(&job.run_folder()?)?;
    let bad = report["run"]["problems"].as_array().context("problems")?.iter().find(|one| one["kind"] == "BadSetting");
    ensure!(bad.is_some(), "the report does not name the settings: {}", report["run"]["problems"]);
    let dump = run::dump(&job.run_folder()?)?;
    for rank in 0..2 {
        ensure!(dump.count_of(rank, "Allreduce") == 1000);
    }
    Ok(())
}

/// Words before the program that have a shell command run first on one rank.
fn on_rank(rank: u32, command: &str) -> Vec<OsString> {
    let script = format!("if [ \"${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}}\" = {rank} ]; then {command}; fi; exec \"$@\"");
    ["sh", "-c", &script, "sh"].map(OsString::from).to_vec()
}

fn a_rank_where_recording_is_off_lets_the_others_go_on(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    for (off, on) in [(0, 1), (1, 0)] {
        let folder = place::subfolder(folder, &format!("off-{off}"))?;
        let mut job = Job::new(mpi, 2, program, &folder);
        job.wrapper = on_rank(off, "export LBPROF_MODE=off");
        job.recorded_as_bare()?.must_succeed()?;
        let dump = run::dump(&job.run_folder()?)?;
        ensure!(dump.count_of(on, "Allreduce") == 1000);
        ensure!(dump.calls_of(off).is_empty());
    }
    Ok(())
}

/// Coupled codes of which one is recorded, `mpirun -n 1 ./a : -n 3 lb-run ./b`, in either order; and a script that leaves out ranks in the
/// middle. `first` ranks run before those with the recorder, `last` after them.
fn ranks_without_the_recorder_hold_nobody_up(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    let bare = Job::new(mpi, 4, program, folder).bare()?.must_succeed()?;
    for (first, last, left_out, missing) in
        [(1, 0, None, "0"), (0, 1, None, "3"), (1, 2, None, "0, 2, 3"), (0, 0, Some(2), "2")]
    {
        let folder = place::subfolder(folder, &format!("{first}-{last}"))?;
        fs::create_dir_all(&folder)?;
        let mut coupled = mpi.clone();
        if first > 0 {
            let words = ["-n".into(), first.to_string(), program.display().to_string(), ":".into()];
            coupled.launcher.extend(words);
        }
        let mut job = Job::new(&coupled, 4 - first - last, program, &folder);
        if last > 0 {
            job.command.extend([":".into(), "-n".into(), last.to_string().into(), program.into()]);
        }
        if let Some(rank) = left_out {
            job.wrapper = on_rank(rank, "unset LD_PRELOAD");
        }
        // Nobody is waited for.
        let begin = Instant::now();
        let recorded = job.recorded()?;
        recorded.must_equal(&bare, mpi)?;
        must_say(&recorded, &[0])?;
        ensure!(begin.elapsed() < Duration::from_secs(8), "{first}-{last} took {:?}", begin.elapsed());
        only_these_are_missing(&job.logs(), missing)?;
    }
    Ok(())
}

fn only_these_are_missing(logs: &Path, missing: &str) -> anyhow::Result<()> {
    let report = run::report(logs)?;
    let problems = report["run"]["problems"].as_array().context("problems")?;
    let of_kind = |kind: &str| problems.iter().find(|one| one["kind"] == kind);
    let said = of_kind("MissingRank").context("no rank is missing")?["details"][0].as_str();
    // Rank 2 alone is between ranks of its host.
    let hosts = match missing {
        "2" => "the ranks before and after ran on the same host and have logs",
        _ => "all logs here are from host ",
    };
    let expected = format!("of 4 ranks: {missing}; {hosts}");
    ensure!(said.is_some_and(|said| said.starts_with(&expected)), "{said:?}, not {expected}");
    ensure!(of_kind("ClocksUnknown").is_none(), "{problems:?}");
    let dump = run::dump(logs)?;
    for rank in 0..4 {
        let calls = dump.count_of(rank, "Allreduce");
        let expected = if missing.split(", ").any(|one| one == rank.to_string()) { 0 } else { 1000 };
        ensure!(calls == expected, "rank {rank} has {calls} calls");
    }
    Ok(())
}

fn jobs_at_the_same_time_have_a_folder_each(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    const JOBS: usize = 4;
    let logs = folder.join("logs");
    let run_one = &|number: usize| {
        let folder = place::subfolder(folder, &format!("job-{number}"))?;
        Job::new(mpi, 3, program, &folder).with_env("LBPROF_DIR", &logs).recorded()?.must_succeed()
    };
    std::thread::scope(|scope| {
        let jobs: Vec<_> = (0..JOBS).map(|number| scope.spawn(move || run_one(number))).collect();
        jobs.into_iter().try_for_each(|job| match job.join() {
            Ok(outcome) => outcome.map(|_| ()),
            Err(_) => bail!("a job panicked"),
        })
    })?;
    let runs = run::runs_in(folder)?;
    ensure!(runs.len() == JOBS, "{runs:?}");
    for run in runs {
        let report = run::report(&run)?;
        ensure!(report["run"]["ranks_present"] == 3, "{}: {}", run.display(), report["run"]);
        ensure!(!run::problems(&report).iter().any(|kind| kind == "OtherRun" || kind == "MissingRank"));
    }
    Ok(())
}

fn a_launcher_of_another_mpi_is_reported_once(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    // The launcher's variables on all processes, as that of another MPI sets them, which need not be installed.
    let (rank, size) = match mpi.family {
        Family::OpenMpi => ("PMI_RANK", "PMI_SIZE"),
        Family::Mpich => ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    };
    // In place of `mpirun -n 3 PROGRAM`.
    let script = format!("shift 2; for rank in 0 1 2; do env {rank}=$rank {size}=3 \"$@\" || exit; done");
    let mut foreign = mpi.clone();
    foreign.launcher = ["sh", "-c", &script, "sh"].map(str::to_owned).to_vec();
    let job = Job::new(&foreign, 3, program, folder);
    let recorded = job.recorded_as_bare()?.must_succeed()?;
    must_say(&recorded, &[1])?;
    ensure!(recorded.stderr.contains("the launcher started 3 processes, but MPI has 1 rank in each"));
    for name in ["logs", "logs-2", "logs-3"] {
        let report = run::report(&folder.join(name))?;
        let problems = run::problems(&report);
        ensure!(problems.iter().any(|kind| kind == "ForeignLauncher"), "{name}: {problems:?}");
    }
    Ok(())
}

fn a_process_without_mpi_is_left_alone(mpi: &Mpi, _: &Path, folder: &Path) -> anyhow::Result<()> {
    // How many lines it gets: one that says that MPI was not started, where anything can be said.
    let lines: [(&[&str], usize); 4] = [
        // The launcher of MPICH may be ended by SIGPIPE, bare, where a process ends at once.
        (&["bash", "-c", "sleep 0.2; true"], 1),
        (&["bash", "-c", "echo out; echo err >&2; (exit 3); exit 4"], 1),
        (&["env", "-i", "bash", "-c", "echo $LD_PRELOAD"], 0),
        (&["sh", "-c", "kill -9 $$"], 0),
    ];
    for (words, said) in lines {
        let mut job = Job::new(mpi, 1, Path::new(words[0]), folder).with_env("LBPROF_VERBOSE", "1");
        job.command.extend(words[1..].iter().map(OsString::from));
        let recorded = job.recorded_as_bare()?;
        must_say(&recorded, &[said])?;
        // What failed by itself is not asked whether it is an MPI program.
        let asks = lines_of_recorder(&recorded.stderr).iter().any(|line| line.contains('?'));
        ensure!(asks == (words[0] == "bash" && recorded.code == Some(0)), "{words:?}: {}", recorded.stderr);
        let left = run::runs_in(folder)?;
        ensure!(left.is_empty(), "{words:?} left {left:?}");
    }
    Ok(())
}

/// A launcher that mounts a small file system on `$LBTEST_DISK`, for itself alone, and keeps what lies on it in the end in
/// `$LBTEST_KEPT`.
fn on_a_small_disk(mpi: &Mpi, unshare: &str, size: &str) -> Mpi {
    let script = format!(
        "mount -t tmpfs -o size={size} none \"$LBTEST_DISK\" || exit 99; \"$@\"; code=$?; \
         cp -a \"$LBTEST_DISK\"/. \"$LBTEST_KEPT\"; exit $code"
    );
    let mut small = mpi.clone();
    small.launcher = ["unshare", unshare, "sh", "-c", &script, "sh"].map(str::to_owned).to_vec();
    small.launcher.extend(mpi.launcher.iter().cloned());
    small
}

/// How this user may mount something, or why he may not.
fn mounting() -> Result<&'static str, String> {
    let mut said = String::new();
    for option in ["-m", "-rm"] {
        match Command::new("unshare").args([option, "mount", "-t", "tmpfs", "none", "/mnt"]).output() {
            Ok(output) if output.status.success() => return Ok(option),
            Ok(output) => said = String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) => said = error.to_string(),
        }
    }
    Err(said)
}

fn run_on_a_small_disk(mpi: &Mpi, folder: &Path, size: &str, ranks: usize) -> anyhow::Result<(Outcome, Outcome)> {
    let unshare = mounting().map_err(anyhow::Error::msg)?;
    let program = Program::read(Path::new("harmless/fills_disk.c"))?.compiled(mpi)?;
    let small = on_a_small_disk(mpi, unshare, size);
    let (disk, kept) = (place::subfolder(folder, "disk")?, place::subfolder(folder, "kept")?);
    let job = Job::new(&small, ranks, &program, folder)
        .with_env("LBTEST_DISK", &disk)
        .with_env("LBTEST_KEPT", &kept)
        .with_env("LBPROF_DIR", disk.join("logs"))
        .with_env("LBPROF_BUFFER", "32K");
    let bare = job.bare()?.must_succeed()?;
    let recorded = job.recorded()?;
    recorded.must_equal(&bare, mpi)?;
    Ok((bare, recorded))
}

/// Also under two ranks: `size` is a disk's, which their logs fill up.
fn a_disk_fills_up(mpi: &Mpi, folder: &Path, size: &str, ranks: usize) -> anyhow::Result<()> {
    /// Calls of the program, on each rank.
    const CALLS: u64 = 300 * (20 + 400);
    let all = CALLS * ranks as u64;
    let (_, recorded) = run_on_a_small_disk(mpi, folder, size, ranks)?;
    must_say(&recorded, &[1, ranks])?;
    let logs = folder.join("kept/logs");
    let (code, text) = lb_report(&logs)?;
    ensure!(code == 4, "lb-report ends with {code}:\n{text}");
    let report = run::report(&logs)?;
    let problems = run::problems(&report);
    ensure!(problems.iter().any(|kind| kind == "Dropped"), "{problems:?}");
    let number = |name: &str| report["run"][name].as_u64().context(name.to_owned());
    let (calls, dropped) = (number("calls")?, number("dropped_events")?);
    ensure!(calls < all && dropped > 0, "{calls} of {all} calls are there, {dropped} records dropped");
    // A record dropped is a call, or the receiving half of one, or a flush.
    ensure!(number("events")? + dropped >= all, "{} + {dropped} records for {all} calls", number("events")?);
    ensure!(report["ranks"][0]["end"] == "finalize", "{}", report["ranks"][0]);
    Ok(())
}

fn a_disk_that_is_full_from_the_start_records_nothing(mpi: &Mpi, _: &Path, folder: &Path) -> anyhow::Result<()> {
    // No room for the log, and none for the ring.
    for size in ["8k", "16k"] {
        let folder = place::subfolder(folder, size)?;
        let (_, recorded) = run_on_a_small_disk(mpi, &folder, size, 1)?;
        let lines = lines_of_recorder(&recorded.stderr);
        let is_reason = |line: &str| line.contains("recorded") && line.contains("no space is left on the disk");
        ensure!(lines.iter().any(|line| is_reason(line)), "{lines:?}");
        ensure!(!lines.iter().any(|line| line.contains("read it with") || line.contains("os error")), "{lines:?}");
        let (code, text) = lb_report(&folder.join("kept/logs"))?;
        ensure!(code == NO_RUN && !text.contains(" hosts"), "lb-report ends with {code}:\n{text}");
    }
    Ok(())
}

/// A rank that the others do not find is recorded in their folder: here because its sockets are in a network of its own. Open MPI needs
/// the network to start.
fn a_rank_that_is_not_found_is_recorded(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    /// Calls of MPI_Allreduce that normal.c makes on each rank.
    const CALLS: usize = 1000;
    let mut job = Job::new(mpi, 4, program, folder);
    let script = "if [ \"$PMI_RANK\" = 2 ]; then exec unshare -n \"$@\"; fi; exec \"$@\"";
    job.wrapper = ["sh", "-c", script, "sh"].map(Into::into).to_vec();
    let bare = job.bare()?.must_succeed()?;
    job.recorded()?.must_equal(&bare, mpi)?;
    let dump = run::dump(&job.run_folder()?)?;
    dump.check_invariants()?;
    for rank in 0..4 {
        let calls = dump.count_of(rank, "Allreduce");
        ensure!(calls == CALLS, "{calls} calls of rank {rank}");
    }
    Ok(())
}

fn spawned_under_lb_run_is_a_run_of_its_own(mpi: &Mpi, _: &Path, folder: &Path) -> anyhow::Result<()> {
    let program = Program::read(Path::new("harmless/spawns.c"))?;
    if !program.runs_under(mpi) {
        return Ok(());
    }
    let binary = program.compiled(mpi)?;
    let job = Job::new(mpi, 2, &binary, folder).with_env_of(&program);
    let bare = known_outcome::of_bare(&job)?.must_succeed()?;
    let recorded = job.clone().with_env("LBTEST_RECORDER", place::built("lb-run")?).recorded()?;
    recorded.must_equal(&bare, mpi)?;
    // Where the logs of the second run go.
    must_say(&recorded, &[1])?;
    let runs = run::runs_in(folder)?;
    ensure!(runs.len() == 2, "there should be two runs: {runs:?}");
    for (run, calls) in runs.iter().zip([10, 20]) {
        let dump = run::dump(run)?;
        dump.check_invariants()?;
        for rank in 0..2 {
            let found = dump.count_of(rank, "Allreduce");
            ensure!(found == calls, "{} has {found} calls of rank {rank}, not {calls}", run.display());
        }
    }
    let of = |run: usize| runs.get(run).context("a run").and_then(|run| run::report(run));
    let (parent, children) = (of(0)?, of(1)?);
    let problems = parent["run"]["problems"].as_array().context("problems")?;
    let spawned = problems.iter().find(|problem| problem["kind"] == "Spawned");
    let spawned =
        spawned.with_context(|| format!("the parents' report does not say what they spawned: {problems:?}"))?;
    let said = spawned["details"][0].as_str().context("no detail")?;
    ensure!(said.starts_with("2 processes of ") && said.ends_with("lb-run"), "{said}");
    let name = runs[1].file_name().unwrap_or_default().to_string_lossy();
    let said =
        spawned["details"][1].as_str().context("the parents' report does not say where the children were recorded")?;
    ensure!(said == format!("recorded in {name}, beside this folder"), "{said}");
    ensure!(!run::problems(&children).iter().any(|kind| kind == "Spawned" || kind == "MissingRank"));
    Ok(())
}

/// A rank that is killed at the end of MPI_Init, before its log has a header.
fn a_rank_that_ends_in_init_is_reported_as_that(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    let tool = shared_object(&["cc".into()], "programs/harmless/dies_in_init.c", mpi)?;
    let mut job = Job::new(mpi, 2, program, folder);
    job.wrapper =
        ["sh", "-c", "LD_PRELOAD=\"$LD_PRELOAD:$0\"; export LD_PRELOAD; exec \"$@\""].map(OsString::from).to_vec();
    job.wrapper.push(tool.into());
    let recorded = job.recorded()?;
    ensure!(recorded.code != Some(0), "it was not killed");
    let report = run::report(&job.run_folder()?)?;
    let problems = report["run"]["problems"].as_array().context("problems")?;
    let of_kind = |kind: &str| problems.iter().find(|one| one["kind"] == kind);
    let ended = of_kind("EndedInInit").with_context(|| format!("{problems:?}"))?;
    ensure!(ended["ranks"][0] == 1 && ended["count"] == 1, "{ended}");
    for wrong in ["Damaged", "Truncated", "MissingRank"] {
        ensure!(of_kind(wrong).is_none(), "{problems:?}");
    }
    Ok(())
}

/// How often a run is repeated whose ring may be emptied at any instant: of a flush, about a third of all instants, or of filling a record.
const EMPTYINGS: u32 = 10;

/// A ring is emptied while records are added and while it is written: what the log gets of it are records that are whole.
fn what_is_left_of_an_emptied_ring_is_whole(mpi: &Mpi, _: &Path, folder: &Path) -> anyhow::Result<()> {
    let program = Program::read(Path::new("harmless/fills_disk.c"))?.compiled(mpi)?;
    for run in 0..EMPTYINGS {
        let folder = place::subfolder(folder, &run.to_string())?;
        let mode = if run % 4 == 3 { "profile" } else { "events" };
        let job = Job::new(mpi, 1, &program, &folder).with_env("LBPROF_BUFFER", "32K").with_env("LBPROF_MODE", mode);
        while_rings_are_emptied(&job, 0)?.must_succeed()?;
        let mut log = RunFolder::list(&job.run_folder()?)?.open(0)?;
        let (mut last, mut calls) = (0, 0);
        while let Some(item) = log.next_item() {
            match item {
                LogItem::Records { records, .. } => {
                    for record in records {
                        let unknown = record.operation().is_none();
                        ensure!(
                            !unknown && last <= record.begin && record.begin <= record.end,
                            "run {run}: {record:?}"
                        );
                        last = record.begin;
                        calls += u64::from(record.is_call());
                    }
                }
                LogItem::Profile(batch) => {
                    ensure!(batch.profile.backwards == 0 && batch.profile.unfinished == 0, "run {run}: {batch:?}");
                    calls += batch.profile.calls;
                }
                LogItem::Problem(problem) => ensure!(problem.kind == ProblemKind::RingLost, "run {run}: {problem:?}"),
                _ => {}
            }
        }
        // All but a ring of 512.
        ensure!(300 * (20 + 400) - 512 <= calls, "run {run}: {calls} calls are there");
    }
    Ok(())
}

fn rings_emptied_from_outside_cost_records_and_no_more(mpi: &Mpi, _: &Path, folder: &Path) -> anyhow::Result<()> {
    // Much that is recorded; and many rings.
    for (name, ranks) in [("fills_disk", 1), ("threads_end", 2)] {
        let program = Program::read(&Path::new("harmless").join(name).with_extension("c"))?.compiled(mpi)?;
        let folder = place::subfolder(folder, name)?;
        let job = Job::new(mpi, ranks, &program, &folder).with_env("LBPROF_BUFFER", "32K");
        let bare = known_outcome::of_bare(&job)?.must_succeed()?;
        let recorded = while_rings_are_emptied(&job, ranks)?;
        recorded.must_equal(&bare, mpi)?;
        must_say(&recorded, &[ranks])?;
        let report = run::report(&job.run_folder()?)?;
        let problems = run::problems(&report);
        let has = |kind: &str| problems.iter().any(|one| one == kind);
        ensure!(has("RingLost") && !has("Damaged") && !has("ClockBackwards"), "{name}: {problems:?}");
        let ended = |rank: &serde_json::Value| rank["end"] == "finalize";
        ensure!(report["ranks"].as_array().is_some_and(|ranks| ranks.iter().all(ended)), "{}", report["ranks"]);
    }
    Ok(())
}

/// Runs a job until rings were emptied that were in use, so that the recorder says at least `least` lines: on a busy machine the thread that empties them may come
/// too late.
fn while_rings_are_emptied(job: &Job, least: usize) -> anyhow::Result<Outcome> {
    for _ in 0..20 {
        let over = AtomicBool::new(false);
        let recorded = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Relaxed) {
                    empty_rings(&job.logs());
                    std::thread::sleep(Duration::from_micros(500));
                }
            });
            let recorded = job.recorded();
            over.store(true, Relaxed);
            recorded
        })?;
        if lines_of_recorder(&recorded.stderr).len() >= least {
            return Ok(recorded);
        }
        fs::remove_dir_all(job.logs())?;
    }
    bail!("no ring was emptied in time")
}

fn empty_rings(logs: &Path) {
    for entry in fs::read_dir(logs).into_iter().flatten().flatten() {
        // Those of first threads, and the files of all others.
        if entry.file_name().to_string_lossy().contains(".ring") {
            // It may be gone by now.
            let _ = fs::File::options().write(true).open(entry.path()).and_then(|file| file.set_len(0));
        }
    }
}

/// What the program and the MPI's own handlers say, with the stack: without processes, addresses and numbers of frames, which differ from
/// run to run. Our frames are there where the program's handler calls what was there before.
fn said_of_signal(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned();
    let what = |line: &str| {
        let line = if line.starts_with('[') { line.split_once("] ").map_or(line, |(_, rest)| rest) } else { line };
        let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || "[] ".contains(c));
        line.split("[0x").next().unwrap_or_default().trim().to_owned()
    };
    // A signal that was sent "fails" at the number of the process.
    let varies = |line: &str| {
        ["(tid:", "liblbprof.so"].iter().any(|part| line.contains(part))
            || line.contains("Failing at") && !line.ends_with("0x500000000008")
    };
    text.lines().filter(|line| !varies(line) && !is_end_line(line)).map(what).collect()
}

/// Runs a program that takes one argument, without and with the recorder, on one rank without a launcher; `before` it the words of another program that
/// starts it. Both must end alike and say the same. Returns how each ended.
fn end_as_without(
    mpi: &Mpi,
    program: &Path,
    how: &str,
    before: &[&str],
    folder: &Path,
) -> anyhow::Result<[ExitStatus; 2]> {
    let words: Vec<OsString> = before.iter().map(OsString::from).chain([program.into(), how.into()]).collect();
    let (first, others) = words.split_first().context("no program")?;
    let mut command = Command::new(first);
    without_settings(&mut command);
    command.args(others).current_dir(folder).envs(mpi.env.iter().map(|(name, value)| (name, value)));
    let bare = command.output()?;
    command.env("LD_PRELOAD", place::built("liblbprof.so")?).env("LBPROF_DIR", folder.join(how));
    let recorded = command.env("LBPROF_BUFFER", "32K").output()?;
    let (own, others) = (said_of_signal(&recorded), said_of_signal(&bare));
    ensure!(own == others, "{how}: recorded it says\n{}\nbare\n{}", own.join("\n"), others.join("\n"));
    Ok([recorded.status, bare.status])
}

fn a_bus_error_of_the_program_ends_it_as_without(mpi: &Mpi, _: &Path, folder: &Path) -> anyhow::Result<()> {
    let program = Program::read(Path::new("harmless/ends_by_bus_error.c"))?.compiled(mpi)?;
    for how in ["fault", "raise", "ignored", "once", "child", "called"] {
        let [recorded, bare] = end_as_without(mpi, &program, how, &[], folder)?;
        ensure!(recorded == bare, "{how}: {recorded} and bare {bare}");
        let report = run::report(&folder.join(how))?;
        let end = &report["ranks"][0]["end"];
        ensure!((end == "finalize") == (how == "child"), "{how}: it ended by {end}");
    }
    Ok(())
}

fn interrupted_calls_keep_their_paths(mpi: &Mpi, _: &Path, folder: &Path) -> anyhow::Result<()> {
    const CALLS: usize = 404;
    let program = Program::read(Path::new("harmless/calls_while_entered.c"))?.compiled(mpi)?;
    let job = Job::new(mpi, 1, &program, folder);
    job.recorded_as_bare()?.must_succeed()?;
    let mut log = RunFolder::list(&job.run_folder()?)?.open(0)?;
    let mut paths = Vec::new();
    while let Some(item) = log.next_item() {
        if let LogItem::Records { records, .. } = item {
            let interrupted = records.iter().filter(|record| record.operation() == Some(Operation::Send));
            paths.extend(interrupted.map(|record| record.call_site));
        }
    }
    let first = paths.first().copied();
    let n_there = paths.iter().filter(|&&path| Some(path) == first).count();
    ensure!(
        paths.len() == CALLS && n_there == CALLS,
        "{n_there} of {CALLS} calls have the path of the first: {paths:?}"
    );
    Ok(())
}

/// Words before a program that is to be the first process of a namespace.
const NEW_NAMESPACE: [&str; 2] = ["unshare", "-pf"];

fn can_have_namespace_of_processes() -> Result<(), String> {
    let [program, option] = NEW_NAMESPACE;
    let tried = Command::new(program).args([option, "true"]).output().map_err(|error| error.to_string())?;
    if tried.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&tried.stderr).into_owned()) }
}

fn threads_of_a_namespace_of_processes_are_sampled(mpi: &Mpi, _: &Path, folder: &Path) -> anyhow::Result<()> {
    if let Err(why) = can_have_namespace_of_processes() {
        eprintln!("not tried, for there can be no namespace of processes here: {why}");
        return Ok(());
    }
    // It has eight threads that compute and make no calls.
    let program = Program::read(Path::new("harmless/locked_share.c"))?.compiled(mpi)?;
    for (how, option) in [("outer-proc", None), ("own-proc", Some("--mount-proc"))] {
        let folder = place::subfolder(folder, how)?;
        let mut job = Job::new(mpi, 1, &program, &folder).with_env("LBPROF_SAMPLE", "200");
        job.command.push("400".into());
        job.wrapper = NEW_NAMESPACE.into_iter().chain(option).map(OsString::from).collect();
        if let Err(why) = job.bare()?.must_succeed() {
            eprintln!("not tried, for {} does not start in a namespace of processes: {why:#}", mpi.name);
            return Ok(());
        }
        job.recorded()?.must_succeed()?;
        let dump = run::dump(&job.run_folder()?)?;
        let samples = dump.others.get("sample").map(Vec::as_slice).unwrap_or_default();
        let threads: BTreeSet<_> = samples.iter().filter_map(|sample| sample["sampled_thread"].as_u64()).collect();
        ensure!(threads.len() >= 8, "{how}: of eight threads that compute only {threads:?} were sampled");
    }
    Ok(())
}

const RMPI: &str = "/usr/lib/R/site-library/Rmpi";

fn r_works_with_mpi_as_without(mpi: &Mpi, _: &Path, folder: &Path) -> anyhow::Result<()> {
    // Debian's is linked with its Open MPI. scripts/setup installs it where tests are run.
    if mpi.name != "openmpi" || !Path::new(RMPI).exists() {
        return Ok(());
    }
    let mut job = Job::new(mpi, 3, Path::new("Rscript"), folder);
    job.command.extend(["--vanilla".into(), place::programs().join("harmless/rmpi.R").into()]);
    let bare = job.bare()?.must_succeed()?;
    ensure!(bare.stdout.iter().filter(|line| line.contains("RESULT")).count() == 3, "{:?}", bare.stdout);
    for mode in ["events", "profile"] {
        let job = job.clone().with_env("LBPROF_MODE", mode).with_env("LBPROF_DIR", folder.join(mode));
        let recorded = job.recorded()?;
        recorded.must_equal(&bare, mpi)?;
        must_say(&recorded, &[0])?;
        // The calls of Rmpi's functions in C are counted, those of its own functions are none of MPI's.
        let report = run::report(&folder.join(mode))?;
        ensure!(report["run"]["calls"].as_u64().is_some_and(|calls| calls > 15), "{}", report["run"]["calls"]);
    }
    Ok(())
}

fn special(mpi: &Mpi, name: &str, check: ProgramCheck) -> Trial {
    suite::of_program(mpi, name, "harmless/normal.c", check)
}
pub fn trials() -> anyhow::Result<Vec<Trial>> {
    let mut trials = suite::cases("harmless", "harmless", with_and_without_the_same)?;
    let specials: [(&str, ProgramCheck); 15] = [
        ("a_folder_that_cannot_be_made_is_reported_once", a_folder_that_cannot_be_made_is_reported_once),
        ("nonsense_is_reported_once_and_the_defaults_hold", nonsense_is_reported_once_and_the_defaults_hold),
        ("a_rank_where_recording_is_off_lets_the_others_go_on", a_rank_where_recording_is_off_lets_the_others_go_on),
        ("ranks_without_the_recorder_hold_nobody_up", ranks_without_the_recorder_hold_nobody_up),
        ("jobs_at_the_same_time_have_a_folder_each", jobs_at_the_same_time_have_a_folder_each),
        ("a_launcher_of_another_mpi_is_reported_once", a_launcher_of_another_mpi_is_reported_once),
        ("a_process_without_mpi_is_left_alone", a_process_without_mpi_is_left_alone),
        ("spawned_under_lb_run_is_a_run_of_its_own", spawned_under_lb_run_is_a_run_of_its_own),
        ("rings_emptied_from_outside_cost_records_and_no_more", rings_emptied_from_outside_cost_records_and_no_more),
        ("what_is_left_of_an_emptied_ring_is_whole", what_is_left_of_an_emptied_ring_is_whole),
        ("a_rank_that_ends_in_init_is_reported_as_that", a_rank_that_ends_in_init_is_reported_as_that),
        ("threads_of_a_namespace_of_processes_are_sampled", threads_of_a_namespace_of_processes_are_sampled),
        ("a_bus_error_of_the_program_ends_it_as_without", a_bus_error_of_the_program_ends_it_as_without),
        ("interrupted_calls_keep_their_paths", interrupted_calls_keep_their_paths),
        ("r_works_with_mpi_as_without", r_works_with_mpi_as_without),
    ];
    let disks: [(&str, ProgramCheck); 3] = [
        ("a_disk_that_fills_up_costs_records_and_no_more", |mpi, _, folder| a_disk_fills_up(mpi, folder, "200k", 1)),
        ("a_disk_that_fills_up_under_two_ranks_costs_records_and_no_more", |mpi, _, folder| {
            a_disk_fills_up(mpi, folder, "400k", 2)
        }),
        ("a_disk_that_is_full_from_the_start_records_nothing", a_disk_that_is_full_from_the_start_records_nothing),
    ];
    let may_not_mount = mounting().err();
    if let Some(why) = &may_not_mount {
        eprintln!("tests of a full disk are ignored, for nothing can be mounted here: {why}");
    }
    let own_network = Command::new("unshare").args(["-n", "true"]).status().is_ok_and(|status| status.success());
    for mpi in mpi::all()? {
        if mpi.family == Family::Mpich {
            let late = special(&mpi, "a_rank_that_is_not_found_is_recorded", a_rank_that_is_not_found_is_recorded);
            trials.push(late.with_ignored_flag(!own_network));
        }
        trials.extend(specials.iter().map(|(name, check)| special(&mpi, name, *check)));
        trials.extend(
            disks.iter().map(|(name, check)| special(&mpi, name, *check).with_ignored_flag(may_not_mount.is_some())),
        );
    }
    Ok(trials)
}
