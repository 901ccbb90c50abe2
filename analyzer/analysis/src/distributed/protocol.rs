//! The requests of process 0 to the others.
//!
//! ```text
//!   process 0                                     the others (worker.rs)
//!   Open: folder, names of its files       ─→     open their share, look whose logs are in it
//!                                          ←─     what they found
//!   Choose: which ranks are the run's      ─→
//!   Pass: which one, over what part        ─→     first and second pass: fold their ranks
//!                                          ←─     their parts, merged by a tree in the order of ranks
//!                                                 third pass: what replay.rs says
//!   End                                    ─→     end
//! ```
//!
//! Shares are ranks that follow one another, ascending with the processes' numbers, so that parts can be merged.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use bincode::{Decode, Encode};
use lbprof_collector::folder::{RunFileNames, RunFolder};
use lbprof_collector::words::SystemError;

use super::process_group::ProcessGroup;
use crate::analyse::ProcessFailure;
use crate::read::part::RunPart;

#[derive(Debug, Encode, Decode)]
pub(super) enum ProcessCommand {
    Open(OpenRun),
    /// Set the ranks of the run, ascending.
    Choose(Vec<u32>),
    /// Make a pass over the run with this number.
    Pass {
        number: u64,
        pass: RecordPass,
        part: RunPart,
        input: Vec<u8>,
    },
    End,
}

#[derive(Clone, Debug, Encode, Decode)]
pub(super) struct OpenRun {
    /// The number by which passes name the run.
    pub(super) number: u64,
    dir: Vec<u8>,
    names: RunFileNames,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub(super) enum RecordPass {
    /// [`crate::structure::survey`].
    Survey,
    /// [`crate::profile`].
    Profile,
    /// [`crate::replay`].
    Follow,
}

impl OpenRun {
    pub(super) fn new(number: u64, dir: &Path, names: &RunFileNames) -> OpenRun {
        let absolute = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
        OpenRun { number, dir: absolute.as_os_str().as_bytes().to_vec(), names: names.clone() }
    }

    pub(super) fn dir(&self) -> PathBuf {
        PathBuf::from(OsString::from_vec(self.dir.clone()))
    }

    /// Opens this process's share of the run's files.
    ///
    /// Errors: the folder is another one here than where process 0 is.
    pub(super) fn share(&self, team: &ProcessGroup) -> Result<RunFolder, ProcessFailure> {
        let dir = self.dir();
        let share = self.names.shares(team.processes()).swap_remove(team.process());
        let missing = share.files().find_map(|name| Some((std::fs::symlink_metadata(dir.join(&name)).err()?, name)));
        if let Some((error, name)) = missing {
            let what = "process 0 sees this file. Is the folder on a file system that all nodes share?";
            return Err(team.failure(format!("{}: {}; {what}", dir.join(name).display(), SystemError(&error))));
        }
        Ok(RunFolder::with_names(&dir, share))
    }
}
