//! Programs that are ended by a signal's handler at a random instant: while they allocate, while MPI or the recorder is at work,
//! while another thread writes the log. They end as they would without the recorder, and the log has all that they have done.
//!
//! In profile mode, sums that were made since they were last written (a second at most) are lost where the handler comes while records are
//! added up; the report then shows the gap.
//!
//! Threads that are cancelled asynchronously in MPI calls, and handlers that leave such calls by siglongjmp, do as little harm. MPI itself need not
//! survive either: MPICH does not, Open MPI does in MPI_Allreduce on MPI_COMM_SELF.
//!
//! Most runs are under an MPI that takes no time (support/instant_mpi.c), so that thousands of instants are tried.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use lbprof_collector::definition::EndReason;
use lbprof_collector::folder::RunFolder;
use lbprof_collector::reader::LogItem;
use lbprof_collector::{Definition, Operation, ProblemKind};
use lbprof_tests::launch::without_settings;
use lbprof_tests::mpi::{self, Family, Mpi};
use lbprof_tests::place;
use lbprof_tests::program::{Program, instant_mpi};
use lbprof_tests::suite;
use lbprof_tests::unharmed::lines_of_recorder;
use libtest_mimic::Trial;

/// Runs of each kind under the MPI that takes no time, and under each real one.
const RUNS: u32 = 300;
const REAL_RUNS: u32 = 8;

/// A run takes some milliseconds; under a real MPI some tenths of a second.
const PATIENCE: Duration = Duration::from_secs(20);

/// The program's exit code, whatever ends it.
const CODE: i32 = 7;

#[derive(Clone, Copy, Debug)]
struct Kind {
    how: &'static str,
    threads: usize,
    /// Blocks of memory that it gets between calls.
    blocks: usize,
    mode: &'static str,
    /// Whether MPI takes no time, and has no threads of its own.
    instant: bool,
}

const KINDS: [Kind; 6] = [
    Kind { how: "exit", threads: 1, blocks: 8, mode: "events", instant: true },
    Kind { how: "exit", threads: 2, blocks: 8, mode: "events", instant: true },
    Kind { how: "exit", threads: 2, blocks: 8, mode: "profile", instant: true },
    Kind { how: "abort", threads: 2, blocks: 8, mode: "events", instant: true },
    Kind { how: "finalize", threads: 1, blocks: 8, mode: "profile", instant: true },
    Kind { how: "finalize", threads: 2, blocks: 8, mode: "events", instant: true },
];

#[derive(Debug, Default)]
struct Said {
    /// Calls of MPI_Allreduce, by thread; in profile mode all calls count as thread 0's.
    calls: [u64; 2],
    problems: Vec<ProblemKind>,
    details: Vec<String>,
    end: Option<EndReason>,
    instants: usize,
}

fn read(folder: &Path) -> anyhow::Result<Said> {
    let mut log = RunFolder::list(folder)?.open(0)?;
    let mut said = Said::default();
    while let Some(item) = log.next_item() {
        match item {
            LogItem::Records { head, records } => {
                let calls = records.iter().filter(|record| record.operation == Operation::Allreduce as u16).count();
                // Threads that follow one another share a ring.
                *said.calls.get_mut(head.thread as usize).context("a third thread")? += calls as u64;
            }
            LogItem::Profile(batch) => said.calls[0] += batch.profile.calls,
            LogItem::Samples { .. } | LogItem::Polls(_) | LogItem::Summary(_) => {}
            LogItem::Problem(problem) => {
                said.problems.push(problem.kind);
                said.details.push(problem.detail);
            }
            LogItem::Definitions(definitions) => {
                for definition in definitions {
                    match definition {
                        Definition::End(reason, _) => said.end = Some(reason),
                        Definition::Instant(_) => said.instants += 1,
                        Definition::Problem(kind, ..) => said.problems.extend(ProblemKind::from_number(kind)),
                        _ => {}
                    }
                }
            }
        }
    }
    Ok(said)
}

/// How many calls each thread had made when the signal came.
fn made(stdout: &str) -> anyhow::Result<[u64; 2]> {
    let mut numbers = stdout.lines().map(str::parse);
    let mut next = || anyhow::Ok(numbers.next().context("the program says too little")??);
    Ok([next()?, next()?])
}

fn check(kind: Kind, stdout: &str, folder: &Path) -> anyhow::Result<()> {
    let [first, second] = made(stdout)?;
    let said = read(folder)?;
    let end = match kind.how {
        "exit" => EndReason::Exit,
        "abort" => EndReason::Abort(CODE),
        _ => EndReason::Finalize,
    };
    ensure!(said.end == Some(end), "it ended by {:?}, not {end:?}", said.end);
    ensure!(said.instants != 0, "the clocks at the end are not known");
    let expected = |problem| match problem {
        ProblemKind::Unfinished => true,
        ProblemKind::Gap => kind.mode == "profile",
        _ => false,
    };
    let unexpected = said.problems.iter().find(|&&problem| !expected(problem));
    ensure!(unexpected.is_none(), "{:?}: {:?}", said.problems, said.details);
    let [one, two] = said.calls;
    if said.problems.contains(&ProblemKind::Gap) {
        // The handler came while the recorder added up records: what was added up and not written yet is lost, and reported.
    } else if kind.mode == "profile" {
        // Threads go on until the process is gone; the call that was interrupted may count.
        let all = first + if kind.how == "finalize" { 0 } else { second };
        ensure!(one + two >= all, "{one} + {two} calls of {all}");
    } else {
        // The call that was interrupted may be there, or be counted already. Under a real MPI one of its helper threads may have run the
        // handler: the first thread went on meanwhile.
        let most = if kind.instant { first + 1 } else { u64::MAX };
        ensure!((first..=most).contains(&one), "{one} calls of the first thread, of {first}");
        // A program whose threads call MPI during MPI_Finalize is wrong.
        ensure!(kind.how == "finalize" || two >= second, "{two} calls of the second thread, of {second}");
    }
    Ok(())
}

struct Ended {
    status: ExitStatus,
    stdout: String,
    stderr: String,
}

fn run(command: &mut Command, mpi: &[(String, PathBuf)], mode: &str, logs: &Path) -> anyhow::Result<Ended> {
    without_settings(command);
    command.env("LD_PRELOAD", place::built("liblbprof.so")?).env("LBPROF_DIR", logs).env("LBPROF_BUFFER", "32K");
    command.env("LBPROF_MODE", mode).envs(mpi.iter().map(|(name, value)| (name, value)));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begin.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            bail!("it hangs");
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.stdout.context("stdout")?.read_to_string(&mut stdout)?;
    child.stderr.context("stderr")?.read_to_string(&mut stderr)?;
    Ok(Ended { status, stdout, stderr })
}

fn once(program: &Path, mpi: &[(String, PathBuf)], kind: Kind, seed: u32, folder: &Path) -> anyhow::Result<()> {
    let logs = folder.join(seed.to_string());
    let mut command = Command::new(program);
    command.args([&seed.to_string(), kind.how, &kind.threads.to_string(), &kind.blocks.to_string()]);
    let Ended { status, stdout, stderr } = run(&mut command, mpi, kind.mode, &logs)?;
    ensure!(status.code() == Some(CODE), "it ended with {status}: {stderr}");
    ensure!(lines_of_recorder(&stderr).is_empty(), "{stderr}");
    check(kind, &stdout, &logs)?;
    fs::remove_dir_all(&logs)?;
    Ok(())
}

fn many(name: &str, program: &Path, mpi: &[(String, PathBuf)], kind: Kind, runs: u32) -> anyhow::Result<()> {
    let folder = place::fresh_folder(name)?;
    let (next, failures) = (Mutex::new(1..=runs), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.lock().ok().and_then(|mut seeds| seeds.next());
                    let Some(seed) = seed else { return };
                    if let Err(error) = once(program, mpi, kind, seed, &folder)
                        && let Ok(mut failures) = failures.lock()
                    {
                        failures.push(format!("seed {seed}: {error:#}"));
                        if failures.len() == 5 {
                            return;
                        }
                    }
                }
            });
        }
    });
    let failures = failures.into_inner()?;
    ensure!(failures.is_empty(), "of {runs} runs:\n{}", failures.join("\n"));
    Ok(())
}

/// How threads leave MPI calls: (how, how often in a run, runs, MPI).
const LEAVING: [(&str, u32, u32, &str); 5] = [
    ("cancelled", 600, 1, "instant"),
    ("cancelled", 200, 1, "openmpi"),
    ("jumps", 1000, 1, "instant"),
    ("jumps", 200, 1, "openmpi"),
    // A section that was left once is found by a thread that waits for it.
    ("jumps", 1, 20, "instant"),
];

fn left(
    program: &Path,
    mpi: &[(String, PathBuf)],
    how: &str,
    times: u32,
    seed: u32,
    logs: &Path,
) -> anyhow::Result<()> {
    let is_instant = mpi.iter().any(|(name, _)| name == "LD_LIBRARY_PATH");
    let mut command = Command::new(program);
    let which = if is_instant { "all" } else { "self" };
    command.args([seed.to_string().as_str(), how, times.to_string().as_str(), which]);
    let Ended { status, stdout, stderr } = run(&mut command, mpi, "events", logs)?;
    ensure!(status.code() == Some(0), "it ended with {status}: {stderr}");
    let (done, rest) = stdout.split_once('\n').unwrap_or_default();
    // Of threads that are cancelled in Open MPI itself, some do not clean up without the recorder either: up to 6 of 200.
    let least = if is_instant { times } else { times - times / 20 };
    let is_done = match how {
        "cancelled" => (least..=times).any(|cleaned| done == format!("{times} cancelled, {cleaned} cleaned up")),
        _ => done == format!("left {times} times"),
    };
    ensure!(is_done && rest == "the thread can be cancelled: 1\n", "{stdout}");
    let said = read(logs)?;
    if how == "cancelled" {
        ensure!(lines_of_recorder(&stderr).is_empty(), "{stderr}");
        let calls = 3001 * if is_instant { 2 } else { 1 };
        ensure!(said.calls[0] == calls, "{} calls of the first thread, of {calls}", said.calls[0]);
        ensure!(said.end == Some(EndReason::Finalize), "it ended by {:?}", said.end);
    } else {
        // Recording goes on unless the recorder itself was left; then that is reported.
        let reports = lines_of_recorder(&stderr);
        let is_known = |line: &&str| line.contains("a signal handler left the recorder by siglongjmp");
        ensure!(reports.iter().all(is_known) && reports.len() < 2, "{stderr}");
        ensure!(reports.is_empty() || said.problems.contains(&ProblemKind::LeftByJump), "{:?}", said.problems);
    }
    Ok(())
}

/// The environment of a program under an MPI, or under the one that takes no time in its place.
fn env_of(mpi: &Mpi, is_instant: bool) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let mut env: Vec<(String, PathBuf)> = mpi.env.iter().map(|(name, value)| (name.clone(), value.into())).collect();
    if is_instant {
        env.push(("LD_LIBRARY_PATH".into(), instant_mpi()?));
    }
    Ok(env)
}

fn trial_of_leaving(how: &'static str, times: u32, runs: u32, mpi: Mpi, is_instant: bool) -> Trial {
    let name = format!("left::{how}::{times}::{}", if is_instant { "instant" } else { &mpi.name });
    suite::trial(name.clone(), move || {
        let program = Program::read(Path::new("interrupted/left.c"))?.compiled(&mpi)?;
        let env = env_of(&mpi, is_instant)?;
        let folder = place::fresh_folder(&format!("interrupted::{name}"))?;
        (1..=runs).try_for_each(|seed| {
            left(&program, &env, how, times, seed, &folder.join(seed.to_string()))
                .with_context(|| format!("seed {seed}"))
        })
    })
}

fn trial(name: String, mpi: Mpi, kind: Kind) -> Trial {
    suite::trial(name.clone(), move || {
        let program = Program::read(Path::new("interrupted/interrupted.c"))?.compiled(&mpi)?;
        let env = env_of(&mpi, kind.instant)?;
        many(&format!("interrupted::{name}"), &program, &env, kind, if kind.instant { RUNS } else { REAL_RUNS })
    })
}

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    let mut trials = Vec::new();
    for kind in KINDS {
        let name = format!("{}::{}::{}", kind.how, kind.threads, kind.mode);
        trials.push(trial(format!("{name}::instant"), Mpi::named("mpich")?, kind));
        if kind.how == "exit" {
            for mpi in mpi::all()? {
                // MPICH's own part of exit needs malloc: where a handler has interrupted that, it hangs without the recorder, too.
                let blocks = if mpi.family == Family::Mpich { 0 } else { kind.blocks };
                trials.push(trial(format!("{name}::{}", mpi.name), mpi, Kind { blocks, instant: false, ..kind }));
            }
        }
    }
    for (how, times, runs, name) in LEAVING {
        let is_instant = name == "instant";
        let mpi = Mpi::named(if is_instant { "mpich" } else { name })?;
        trials.push(trial_of_leaving(how, times, runs, mpi, is_instant));
    }
    Ok(trials)
}
