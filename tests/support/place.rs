//! Where things are: the sources, the build under test, the folder of a test.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use crate::stored::{self, RunSource};

pub fn workspace() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests).to_path_buf()
}

pub fn programs() -> PathBuf {
    workspace().join("tests/programs")
}

fn scratch() -> PathBuf {
    workspace().join("target")
}

pub fn binaries(mpi: &str) -> PathBuf {
    match stored::source() {
        RunSource::Launched => scratch().join("tests-bin").join(mpi),
        RunSource::Storing | RunSource::Stored => Path::new(stored::PROGRAMS).join(mpi),
    }
}

pub fn known_outcomes() -> PathBuf {
    scratch().join("tests-bin/outcomes")
}

pub fn runs() -> PathBuf {
    scratch().join("tests-run")
}

/// A file of the build under test: `LBPROF_BUILD_DIR`, or `target/release` here.
pub fn built(name: &str) -> anyhow::Result<PathBuf> {
    let dir = std::env::var_os("LBPROF_BUILD_DIR").map_or_else(|| workspace().join("target/release"), PathBuf::from);
    let path = dir.join(name);
    ensure!(path.exists(), "{} is not there: run `cargo build --release`, or set LBPROF_BUILD_DIR", path.display());
    Ok(path)
}

pub fn run_of(test: &str) -> PathBuf {
    runs().join(test.replace("::", "/"))
}

pub fn fresh_folder(test: &str) -> anyhow::Result<PathBuf> {
    let path = run_of(test);
    match fs::remove_dir_all(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("removing {}", path.display()));
        }
        _ => {}
    }
    fs::create_dir_all(&path).with_context(|| format!("making {}", path.display()))?;
    Ok(path)
}

/// An empty folder `name` in the folder of a test.
pub fn subfolder(folder: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let path = folder.join(name);
    fs::create_dir_all(&path).with_context(|| format!("making {}", path.display()))?;
    Ok(path)
}

/// A lock on a file, held until dropped; other processes that want it wait.
pub struct Lock(#[expect(dead_code, reason = "closing the file gives the lock back")] File);

pub fn lock(name: &str) -> anyhow::Result<Lock> {
    let folder = scratch().join("tests-bin");
    fs::create_dir_all(&folder)?;
    let file = File::create(folder.join(format!("{name}.lock")))?;
    while let Err(error) = file.lock() {
        ensure!(error.kind() == io::ErrorKind::Interrupted, "locking {name}: {error}");
    }
    Ok(Lock(file))
}
