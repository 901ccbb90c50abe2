//! The runs that a run has started by MPI_Comm_spawn: folders beside its own.

use std::fs;
use std::io::Read;
use std::path::Path;

use lbprof_collector::log_paths::open_file;
use lbprof_collector::problem::{Problem, ProblemKind};
use lbprof_collector::starter::{RunStarter, STARTER_FILE};

/// Reads the file in a run's folder that names its starter.
fn starter_of(run: &Path) -> Option<RunStarter> {
    // The file has two short lines.
    const LONGEST: u64 = 64;
    let mut text = String::new();
    // A device has no length, and a named pipe no end.
    let read = open_file(&run.join(STARTER_FILE)).ok()?.take(LONGEST + 1).read_to_string(&mut text).ok()?;
    if read as u64 > LONGEST {
        return None;
    }
    RunStarter::parse(&text)
}

/// Returns the folders of recorded spawned processes, as a detail of the problem that reports them, or `None` if there are none here.
pub fn where_recorded(run: &Path, problems: &[Problem]) -> Option<Problem> {
    if !problems.iter().any(|problem| problem.kind == ProblemKind::Spawned) {
        return None;
    }
    let run = fs::canonicalize(run).ok()?;
    let own = starter_of(&run)?;
    let beside = fs::read_dir(run.parent()?).ok()?.flatten().map(|entry| entry.path());
    let mut names: Vec<String> = beside
        .filter(|other| *other != run)
        .filter(|other| starter_of(other).is_some_and(|other| other.spawned && other.number == own.number))
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    let detail = format!("recorded in {}, beside this folder", names.join(", "));
    (!names.is_empty()).then_some(Problem { kind: ProblemKind::Spawned, rank: None, count: 0, detail })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn runs_of_the_same_starter_that_were_spawned_are_found() -> std::io::Result<()> {
        let base = std::env::temp_dir().join(format!("lbprof-spawned-{}", std::process::id()));
        for (name, text) in [
            ("logs", "00a1\nstarted\n"),
            ("logs-2", "00a1\nspawned\n"),
            ("logs-3", "00a2\nspawned\n"),
            ("logs-4", "00a1\nstarted\n"),
            ("logs-5", "00a1\nspawned\n"),
        ] {
            fs::create_dir_all(base.join(name))?;
            fs::write(base.join(name).join(".starter"), text)?;
        }
        // A file that blocks for ever, and one that never ends.
        for name in ["logs-6", "logs-7"] {
            fs::create_dir_all(base.join(name))?;
        }
        assert!(Command::new("mkfifo").arg(base.join("logs-6/.starter")).status()?.success());
        std::os::unix::fs::symlink("/dev/zero", base.join("logs-7/.starter"))?;
        let spawned = Problem { kind: ProblemKind::Spawned, rank: Some(0), count: 1, detail: "2 processes".into() };
        let found = where_recorded(&base.join("logs"), std::slice::from_ref(&spawned)).map(|problem| problem.detail);
        let without = where_recorded(&base.join("logs"), &[]);
        fs::remove_dir_all(&base)?;
        assert_eq!(found.as_deref(), Some("recorded in logs-2, logs-5, beside this folder"));
        assert_eq!(without, None);
        Ok(())
    }
}
