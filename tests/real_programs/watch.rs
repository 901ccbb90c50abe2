//! What users see of a job while it runs, and directly after: `lb-report --watch`, `lb-run --report`.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use lbprof_tests::launch::Job;
use lbprof_tests::mpi::{self, Mpi};
use lbprof_tests::place;
use lbprof_tests::suite::{self, ProgramCheck};
use libtest_mimic::Trial;

/// How long a job may take to begin, and a process to end.
const PATIENCE: Duration = Duration::from_secs(60);

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) -> anyhow::Result<()> {
    let begin = Instant::now();
    while !holds() {
        ensure!(begin.elapsed() < PATIENCE, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Returns the percentage after `name` in a line: `load balance 67 %`.
fn percentage(line: &str, name: &str) -> Option<f64> {
    line.split_once(name)?.1.trim_start().split_once(" %")?.0.parse().ok()
}

fn a_running_job_is_shown_until_it_ends(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    let job = Job::new(mpi, 2, program, folder);
    // Before the job: it waits for the run's folder.
    let watch = |dir: &Path| {
        let output = Command::new(place::built("lb-report")?).arg(dir).arg("--watch=0.5").stdin(Stdio::null()).output();
        output.context("lb-report --watch")
    };
    ensure!(!job.logs().exists(), "the run's folder is there before the run");
    let (outcome, watched) = thread::scope(|scope| {
        let watching = scope.spawn(|| watch(&job.logs()));
        thread::sleep(Duration::from_millis(500));
        // So often that samples soon fill a block of the log.
        (job.recorded_with(&["--sample=1000"]), watching.join())
    });
    outcome?.must_succeed()?;
    let watched = watched.ok().context("a panic")??;
    let text = String::from_utf8_lossy(&watched.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&watched.stderr);
    ensure!(watched.status.success() && stderr.lines().count() == 1, "{watched:?}");
    ensure!(stderr.contains("no run in ") && stderr.contains("waiting for it to start"), "{stderr}");
    let looks: Vec<&str> = text.lines().filter(|line| line.contains("; so far")).collect();
    ensure!(looks.len() >= 3, "{text}");
    let last = looks.last().context("no look")?;
    let balance = percentage(last, "load balance").context("no load balance")?;
    ensure!((60.0..=73.0).contains(&balance), "67 % is true: {last}");
    ensure!(last.contains("rank 0 has 1.") && last.contains("calls of Allreduce"), "{last}");
    ensure!(last.contains(" of it in refine"), "the function of the slowest rank: {last}");
    ensure!(text.lines().any(|line| line.contains("ended: parallel efficiency")), "{text}");
    ensure!(text.contains("the run has ended; read it with: lb-report"), "{text}");
    Ok(())
}

fn the_report_follows_the_run(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    let mut job = Job::new(mpi, 2, program, folder);
    for code in ["0", "3"] {
        job.command = vec![program.into(), code.into(), "30".into()];
        let bare = job.bare()?;
        let _ = fs::remove_dir_all(job.logs());
        let recorded = job.recorded_with(&["--report"])?;
        ensure!(recorded.code == bare.code && recorded.stdout == bare.stdout, "{code}: {recorded:?}, {bare:?}");
        let stderr = &recorded.stderr;
        // Also if the launcher ends the job because of the code.
        ensure!(stderr.contains("rank 0") && stderr.contains("2 ranks on 1 host"), "{code}: {stderr}");
    }
    Ok(())
}

/// `lb-run --report` of a program without MPI: how it ends, and what it leaves.
fn the_parent_ends_as_the_program_does() -> anyhow::Result<()> {
    let lb_run = place::built("lb-run")?;
    let folder = place::fresh_folder("watch::parent")?;
    let run = |script: &str| {
        Command::new(&lb_run).args(["--report", "sh", "-c", script]).current_dir(&folder).env("TMPDIR", &folder).spawn()
    };
    ensure!(run("exit 7")?.wait()?.code() == Some(7));
    ensure!(run("kill -KILL $$")?.wait()?.signal() == Some(libc::SIGKILL));
    ensure!(run("exec /no/such/program")?.wait()?.code() == Some(127));
    // A signal reaches the program, which may do with it what it likes.
    let mut child = run("trap 'exit 9' USR1; echo >ready; while :; do sleep 0.05; done")?;
    wait_until("the program", || folder.join("ready").exists())?;
    // SAFETY: a process of our own that was not waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGUSR1) };
    ensure!(child.wait()?.code() == Some(9));
    // A launcher that ends lb-run by force means the program.
    let mut child = run("echo $$ >number; while :; do sleep 0.05; done")?;
    let number = || fs::read_to_string(folder.join("number")).unwrap_or_default().trim().to_owned();
    wait_until("the program's number", || !number().is_empty())?;
    child.kill()?;
    child.wait()?;
    let stat = format!("/proc/{}/stat", number());
    wait_until("the program's end", || !fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")))?;
    let left: Vec<_> = fs::read_dir(&folder)?.flatten().map(|entry| entry.file_name()).collect();
    let of_ours = left.iter().filter(|name| name.to_string_lossy().starts_with("lbprof")).count();
    ensure!(of_ours <= 1, "only the one of the parent that was killed: {left:?}");
    Ok(())
}

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    let mut trials =
        vec![suite::trial("the_parent_ends_as_the_program_does".to_owned(), the_parent_ends_as_the_program_does)];
    let tests: [(&str, ProgramCheck); 2] = [
        ("a_running_job_is_shown_until_it_ends", a_running_job_is_shown_until_it_ends),
        ("the_report_follows_the_run", the_report_follows_the_run),
    ];
    for mpi in mpi::all()? {
        trials.extend(tests.map(|(name, check)| suite::of_program(&mpi, name, "watch/steps.c", check)));
    }
    Ok(trials)
}
