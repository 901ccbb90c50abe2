//! Running a program under an MPI, bare or recorded, for a bounded time.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::mpi::{self, Family, Mpi};
use crate::place;
use crate::program::{Program, shared_object};
use crate::stored::{self, FilesBefore, RunSource};
use crate::suite::{self, Case};

#[derive(Clone, Debug)]
pub struct Job<'a> {
    pub mpi: &'a Mpi,
    pub ranks: usize,
    pub command: Vec<OsString>,
    /// The folder to run it in; output and logs go there, too.
    pub folder: PathBuf,
    /// Environment beside the tests' own. No other `LBPROF_*` variable reaches the program.
    pub env: Vec<(String, OsString)>,
    /// Shell words before the program on each rank, such as `prlimit --nofile=8`.
    pub wrapper: Vec<OsString>,
    pub timeout: Duration,
    /// Whether what it takes is judged: it gets a core before other work of the machine, as far as the user may ask for that, and no other such job
    /// runs at the same time.
    pub urgent: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// The launcher's exit code; `None`: a signal ended the launcher.
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// Lines of the standard output, sorted, for ranks print in any order.
    pub stdout: Vec<String>,
    pub stderr: String,
}

impl<'a> Job<'a> {
    pub fn new(mpi: &'a Mpi, ranks: usize, program: &Path, folder: &Path) -> Self {
        Job {
            mpi,
            ranks,
            command: vec![program.into()],
            folder: folder.to_path_buf(),
            env: Vec::new(),
            wrapper: Vec::new(),
            timeout: Duration::from_secs(90),
            urgent: false,
        }
    }

    /// A case's program, compiled or by its interpreter, in a fresh folder of the case's name.
    pub fn of_case(case: &'a Case) -> anyhow::Result<Job<'a>> {
        let (program, folder) = (case.program.compiled(&case.mpi)?, place::fresh_folder(&case.name)?);
        Ok(Job::new(&case.mpi, case.ranks, &program, &folder).run_by_interpreter_of(&case.program))
    }
    pub fn with_env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// The same of a script, by its interpreter, with the modules that scripts use.
    pub fn run_by_interpreter_of(mut self, program: &Program) -> Self {
        if !program.is_script() {
            return self;
        }
        self.command.insert(0, mpi::PYTHON.into());
        let modules = [place::workspace().join("python"), place::programs()];
        let modules = modules.map(|folder| folder.display().to_string()).join(":");
        self.with_env("PYTHONPATH", modules).with_env("PYTHONDONTWRITEBYTECODE", "1")
    }

    /// The same with the variables that the `env:` lines of a program's head give.
    pub fn with_env_of(mut self, program: &Program) -> Self {
        let assignments = program.values("env").filter_map(|line| line.split_once('='));
        self.env.extend(assignments.map(|(name, value)| (name.to_owned(), value.into())));
        self
    }

    /// Where its logs go, unless `LBPROF_DIR` was given.
    pub fn logs(&self) -> PathBuf {
        self.folder.join("logs")
    }

    /// The folder that the run has made: that of [`Job::logs`], or the only one whose name begins so.
    pub fn run_folder(&self) -> anyhow::Result<PathBuf> {
        if self.logs().exists() {
            return Ok(self.logs());
        }
        let mut runs = crate::run::runs_in(&self.folder)?;
        ensure!(runs.len() == 1, "there should be one run in {}: {runs:?}", self.folder.display());
        Ok(runs.remove(0))
    }

    pub fn bare(&self) -> anyhow::Result<Outcome> {
        self.run(&[], "bare")
    }

    pub fn recorded(&self) -> anyhow::Result<Outcome> {
        self.recorded_with(&[])
    }

    pub fn recorded_with(&self, options: &[&str]) -> anyhow::Result<Outcome> {
        place::built("liblbprof.so")?;
        let mut words: Vec<OsString> = vec![place::built("lb-run")?.into()];
        words.extend(options.iter().map(OsString::from));
        self.run(&words, "recorded")
    }

    /// Runs it without and with the recorder; both must end alike and print the same. Returns how it ended with the recorder.
    pub fn recorded_as_bare(&self) -> anyhow::Result<Outcome> {
        let (bare, recorded) = (crate::known_outcome::of_bare(self)?, self.recorded()?);
        recorded.must_equal(&bare, self.mpi)?;
        Ok(recorded)
    }

    /// Runs it under `lb-run` to a good end; returns the report.
    pub fn report(&self) -> anyhow::Result<serde_json::Value> {
        self.recorded()?.must_succeed()?;
        crate::run::report(&self.run_folder()?)
    }

    fn run(&self, recorder: &[OsString], how: &str) -> anyhow::Result<Outcome> {
        match stored::source() {
            RunSource::Stored => stored::take_run(),
            RunSource::Launched => self.launch(recorder, how),
            RunSource::Storing => {
                let before = FilesBefore::of(self)?;
                let outcome = self.launch(recorder, how)?;
                before.keep(self, &outcome)?;
                Ok(outcome)
            }
        }
    }

    fn launch(&self, recorder: &[OsString], how: &str) -> anyhow::Result<Outcome> {
        let (launcher, first) = self.mpi.launcher.split_first().context("an MPI without a launcher")?;
        let mut command = Command::new(launcher);
        command.args(first).arg("-n").arg(self.ranks.to_string());
        command.args(recorder).args(&self.wrapper).args(&self.command);
        without_settings(&mut command);
        command.envs(self.mpi.env.iter().map(|(name, value)| (name, value)));
        command.env("LD_PRELOAD", shared_object(&["cc".into()], "support/yielding.c", self.mpi)?);
        if !recorder.is_empty() {
            command.env("LBPROF_DIR", self.logs());
            if !suite::defaults().samples {
                command.env("LBPROF_SAMPLE", "0");
            }
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        let (stdout, stderr) = (self.folder.join(format!("{how}.stdout")), self.folder.join(format!("{how}.stderr")));
        command.stdin(Stdio::null()).stdout(File::create(&stdout)?).stderr(File::create(&stderr)?);
        command.current_dir(&self.folder).process_group(0);
        if self.urgent {
            // SAFETY: one system call between fork and exec, which may be made there; that it may fail is of no concern.
            unsafe {
                command.pre_exec(|| {
                    libc::setpriority(libc::PRIO_PROCESS, 0, -15);
                    Ok(())
                });
            }
        }
        let alone = if self.urgent { Some(place::lock("urgent")?) } else { None };
        let child = command.spawn().with_context(|| format!("{command:?}"))?;
        let status = self.wait(child);
        drop(alone);
        let text = |path| Ok::<_, std::io::Error>(String::from_utf8_lossy(&fs::read(path)?).into_owned());
        let stderr = text(&stderr)?;
        let Some(status) = status? else {
            bail!("still running after {:?}: {command:?}\n{}", self.timeout, last_lines(&stderr));
        };
        let mut lines: Vec<String> = text(&stdout)?.lines().map(str::to_owned).collect();
        lines.sort();
        Ok(Outcome { code: status.code(), signal: status.signal(), stdout: lines, stderr })
    }

    /// Waits for the launcher; `None`: its time was over and it was ended, with all that it had started.
    fn wait(&self, mut child: Child) -> anyhow::Result<Option<ExitStatus>> {
        let begin = Instant::now();
        let mut asked = false;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok((!asked).then_some(status));
            }
            let waited = begin.elapsed();
            if waited > self.timeout && !asked {
                // Launchers pass this on to the ranks, which are in process groups of their own.
                signal(&child, libc::SIGTERM);
                asked = true;
            }
            if waited > self.timeout + Duration::from_secs(5) {
                signal(&child, libc::SIGKILL);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

pub fn is_root() -> bool {
    // SAFETY: has no preconditions.
    unsafe { libc::geteuid() == 0 }
}

/// Removes the recorder's settings from a command's environment.
pub fn without_settings(command: &mut Command) {
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("LBPROF_")) {
        command.env_remove(name);
    }
}

fn signal(child: &Child, signal: libc::c_int) {
    if let Ok(group) = libc::pid_t::try_from(child.id()) {
        // SAFETY: a plain system call; the child is not waited for yet, so the group is its own.
        unsafe { libc::kill(-group, signal) };
    }
}

pub fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}

/// Returns the bytes of all lines, sorted: the same for lines that were written into one another.
fn sorted_bytes(lines: &[&str]) -> Vec<u8> {
    let mut bytes: Vec<u8> = lines.iter().flat_map(|line| line.bytes()).collect();
    bytes.sort_unstable();
    bytes
}

impl Outcome {
    pub fn must_succeed(self) -> anyhow::Result<Outcome> {
        ensure!(self.code == Some(0), "ended with {}\n{}", self.how(), last_lines(&self.stderr));
        Ok(self)
    }

    pub fn must_equal(&self, bare: &Outcome, mpi: &Mpi) -> anyhow::Result<()> {
        // Hydra's code is the bitwise or of its ranks' codes. Ranks that it kills when another one has died are killed by signal
        // 9, or end by themselves first, in a race.
        let killed =
            |code: Option<i32>| code.map(|code| if mpi.family == Family::Mpich && code != 0 { code | 9 } else { code });
        ensure!(
            (killed(self.code), self.signal) == (killed(bare.code), bare.signal),
            "recorded it ended with {}, bare with {}\n{}\nbare\n{}",
            self.how(),
            bare.how(),
            last_lines(&self.stderr),
            last_lines(&bare.stderr)
        );
        let (own, others) = (self.program_lines(mpi), bare.program_lines(mpi));
        // Hydra forwards what ranks print in pieces, between which another rank's may come, rarely within a line.
        let is_shuffled = mpi.family == Family::Mpich && sorted_bytes(&own) == sorted_bytes(&others);
        ensure!(own == others || is_shuffled, "recorded it printed\n{}\nbare\n{}", own.join("\n"), others.join("\n"));
        Ok(())
    }

    /// Lines that the program printed: the launchers of MPICH report a crash on the standard output, with process ids.
    fn program_lines<'a>(&'a self, mpi: &Mpi) -> Vec<&'a str> {
        let launcher = |line: &&String| {
            mpi.family == Family::Mpich && (line.starts_with('=') || line.starts_with("YOUR APPLICATION"))
        };
        self.stdout.iter().filter(|line| !launcher(line)).map(String::as_str).collect()
    }

    fn how(&self) -> String {
        match (self.code, self.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "neither code nor signal".into(),
        }
    }
}
