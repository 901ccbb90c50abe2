//! Runs of programs that are kept as files, so that what a report states of a run is checked without running anything.
//!
//! A program that sleeps by a plan proves statements about time, but only on a machine that wakes it in time. So each of its runs was made once, on a
//! quiet machine, by `scripts/store-runs`. `tests/stored/TEST.run` has the runs of one test in the order in which it asks for them: the launcher's
//! outcome, and the files that program and recorder wrote. `tests/stored/programs/` has the programs, because a report names their code.
//! A suite takes stored runs if `LBTEST_SOURCE` is `stored`, and makes them if it is `store`. What a recorder writes today is compared with what is
//! stored by `tests/real_programs/same_calls.rs`.
//!
//! Programs of stored runs lie in [`PROGRAMS`], whatever machine and folder the tests run in: a log has its programs' paths.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context;
use bincode::{Decode, Encode};

use crate::launch::{Job, Outcome};
use crate::place;

pub const PROGRAMS: &str = "/tmp/lbprof-stored-programs";

/// Level of compression: stored once, read often.
const LEVEL: i32 = 19;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunSource {
    /// Programs are run.
    #[default]
    Launched,
    Storing,
    Stored,
}

impl RunSource {
    /// Returns the source that `LBTEST_SOURCE` names, for suites whose runs may be stored.
    pub fn from_env() -> RunSource {
        match std::env::var("LBTEST_SOURCE").as_deref() {
            Ok("stored") => RunSource::Stored,
            Ok("store") => RunSource::Storing,
            _ => RunSource::Launched,
        }
    }
}

#[derive(Encode, Decode)]
struct StoredRun {
    code: Option<i32>,
    signal: Option<i32>,
    stdout: Vec<String>,
    stderr: String,
    /// Contents by path below [`place::runs`].
    files: BTreeMap<String, Vec<u8>>,
}

#[derive(Default)]
struct TestRuns {
    source: RunSource,
    test: String,
    /// Runs still to be taken, the next one last; or runs made so far.
    runs: Vec<StoredRun>,
}

thread_local! {
    static CURRENT: RefCell<TestRuns> = RefCell::default();
}

pub fn source() -> RunSource {
    CURRENT.with_borrow(|current| current.source)
}

pub fn with_runs(source: RunSource, test: &str, check: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut runs = if source == RunSource::Stored { read_runs(test)? } else { Vec::new() };
    runs.reverse();
    CURRENT.set(TestRuns { source, test: test.to_owned(), runs });
    let outcome = check();
    let made = CURRENT.take();
    if source == RunSource::Storing && outcome.is_ok() {
        write_runs(test, &made.runs)?;
    }
    outcome
}

fn file_of(test: &str) -> PathBuf {
    place::workspace()
        .join("tests/stored")
        .join(format!("{}.run", test.replace("::", "-").replace([' ', '×', ','], "")))
}

fn read_runs(test: &str) -> anyhow::Result<Vec<StoredRun>> {
    let file = file_of(test);
    let packed = fs::read(&file).with_context(|| format!("{}: scripts/store-runs makes it", file.display()))?;
    let plain = zstd::decode_all(packed.as_slice())?;
    Ok(bincode::decode_from_slice(&plain, bincode::config::standard())?.0)
}

fn write_runs(test: &str, runs: &Vec<StoredRun>) -> anyhow::Result<()> {
    let plain = bincode::encode_to_vec(runs, bincode::config::standard())?;
    let file = file_of(test);
    fs::create_dir_all(file.parent().context("a file without a folder")?)?;
    Ok(fs::write(file, zstd::encode_all(plain.as_slice(), LEVEL)?)?)
}

/// Takes the next stored run of this thread's test in place of running `job`, and writes the files that the run left.
pub fn take_run() -> anyhow::Result<Outcome> {
    let run = CURRENT.with_borrow_mut(|current| {
        current.runs.pop().with_context(|| format!("{} asks for more runs than are stored", current.test))
    })?;
    for (name, content) in run.files {
        let path = place::runs().join(name);
        fs::create_dir_all(path.parent().context("a file without a folder")?)?;
        fs::write(path, content)?;
    }
    Ok(Outcome { code: run.code, signal: run.signal, stdout: run.stdout, stderr: run.stderr })
}

pub fn is_stored(test: &str) -> bool {
    file_of(test).exists()
}

/// Writes the logs of the last run that is stored of a test into `folder`.
///
/// Errors: no run of the test is stored, or its logs are not in a folder named `logs`.
pub fn write_logs(test: &str, folder: &Path) -> anyhow::Result<()> {
    let run = read_runs(test)?.pop().context("no run")?;
    let logs =
        run.files.into_iter().filter_map(|(name, content)| Some((name.rsplit_once("/logs/")?.1.to_owned(), content)));
    fs::create_dir_all(folder)?;
    for (name, content) in logs {
        fs::write(folder.join(name), content)?;
    }
    Ok(())
}

/// The files of a job's folders, before it is run, so that what it writes is known.
pub struct FilesBefore(BTreeMap<PathBuf, SystemTime>);

impl FilesBefore {
    pub fn of(job: &Job) -> anyhow::Result<FilesBefore> {
        Ok(FilesBefore(files_of(job)?))
    }

    pub fn keep(self, job: &Job, outcome: &Outcome) -> anyhow::Result<()> {
        let mut files = BTreeMap::new();
        for (path, changed) in files_of(job)? {
            let is_output = path.extension().is_some_and(|extension| extension == "stdout" || extension == "stderr");
            if !is_output && self.0.get(&path) != Some(&changed) {
                let name = path.strip_prefix(place::runs())?.to_string_lossy().into_owned();
                files.insert(name, fs::read(&path)?);
            }
        }
        let Outcome { code, signal, stdout, stderr } = outcome.clone();
        CURRENT.with_borrow_mut(|current| current.runs.push(StoredRun { code, signal, stdout, stderr, files }));
        Ok(())
    }
}

/// Returns the files in a job's folder and in the folder of its logs, with the times of their last changes.
fn files_of(job: &Job) -> anyhow::Result<BTreeMap<PathBuf, SystemTime>> {
    let logs = job.env.iter().find(|(name, _)| name == "LBPROF_DIR").map(|(_, folder)| PathBuf::from(folder));
    let mut folders: Vec<PathBuf> = std::iter::once(job.folder.to_path_buf()).chain(logs).collect();
    let mut files = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let (path, metadata) = entry.and_then(|entry| Ok((entry.path(), entry.metadata()?)))?;
            if metadata.is_dir() {
                folders.push(path);
            } else {
                files.insert(path, metadata.modified()?);
            }
        }
    }
    Ok(files)
}

/// Returns the file with a program, or another object of a test, that lies at `output`.
fn file_of_program(output: &Path) -> anyhow::Result<PathBuf> {
    let name = output.strip_prefix(PROGRAMS)?.to_string_lossy().replace('/', "-");
    Ok(place::workspace().join("tests/stored/programs").join(format!("{name}.zst")))
}

pub fn keep_program(output: &Path) -> anyhow::Result<()> {
    let file = file_of_program(output)?;
    fs::create_dir_all(file.parent().context("a file without a folder")?)?;
    Ok(fs::write(file, zstd::encode_all(fs::File::open(output)?, LEVEL)?)?)
}

/// Puts a stored program at `output`, unless it is there.
pub fn place_program(output: &Path) -> anyhow::Result<()> {
    let file = file_of_program(output)?;
    let _lock = place::lock("stored-programs")?;
    let packed = fs::read(&file).with_context(|| format!("{}: scripts/store-runs makes it", file.display()))?;
    let program = zstd::decode_all(packed.as_slice())?;
    if fs::read(output).is_ok_and(|placed| placed == program) {
        return Ok(());
    }
    let folder = output.parent().context("a program without a folder")?;
    fs::create_dir_all(folder).with_context(|| format!("{}: is it another user's?", folder.display()))?;
    // Another checkout's tests may look at it: it is there as a whole, or not at all.
    let begun = output.with_extension(std::process::id().to_string());
    fs::write(&begun, program).with_context(|| begun.display().to_string())?;
    fs::set_permissions(&begun, fs::Permissions::from_mode(0o755))?;
    Ok(fs::rename(begun, output)?)
}
