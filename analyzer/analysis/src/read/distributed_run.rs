//! A run that several processes read together: what process 0 asks of the others.
//!
//! ```text
//!   process 0                                     the others ([`crate::serve`])
//!   Open: folder, names of its files       ─→     open their share, look whose logs are in it
//!                                          ←─     what they found
//!   Choose: which logs are the run's       ─→
//!   Pass: which one, over what part        ─→     first and second pass: fold their ranks
//!                                          ←─     their parts, joined by a tree in the order of ranks
//!                                                 third pass: what replay/segments/distributed.rs says
//!   End                                    ─→     end
//! ```
//!
//! Shares are ranks that follow one another, ascending with the processes' numbers, so that parts can be joined.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Range;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bincode::{Decode, Encode};
use lbprof_collector::folder::{RunFileNames, RunFolder};
use lbprof_collector::polling::PollGapRule;

use crate::read::files::LogInventory;
use crate::read::span::TickSpan;
use crate::transport::{ProcessGroup, TransportFailure};

/// A request from process 0 to the others.
#[derive(Debug, Encode, Decode)]
pub(crate) enum ProcessCommand {
    /// Open the run of this number.
    Open(OpenRun),
    /// Open all files, and look at some of the ranks: shares of the files overlap.
    OpenByRank,
    /// Sets the logs of the run: ranks, and numbers among those of the rank.
    Choose(Vec<(u32, usize)>),
    /// Do a pass over the run of this number.
    Pass {
        /// The run's number.
        number: u64,
        /// The pass.
        pass: RecordPass,
        /// Over what.
        part: RunPart,
        /// The encoded input of the pass.
        input: Vec<u8>,
    },
    /// Ends the process's work.
    End,
}

/// A run to open.
#[derive(Debug, Encode, Decode)]
pub(crate) struct OpenRun {
    number: u64,
    dir: Vec<u8>,
    names: RunFileNames,
    /// Size on disk, if known.
    pub(crate) bytes_on_disk: Option<u64>,
}

/// A pass over the records of all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) enum RecordPass {
    /// [`crate::structure::survey`].
    Survey,
    /// [`crate::profile`].
    Profile,
    /// [`crate::replay`].
    Follow,
}

/// The part of a run that a pass is over.
#[derive(Clone, Debug, Encode, Decode)]
pub(crate) struct RunPart {
    /// Ranks, ascending; `None`: all.
    pub(crate) ranks: Option<Vec<u32>>,
    pub(crate) spans: BTreeMap<u32, TickSpan>,
    pub(crate) polling: PollGapRule,
    /// True if ranks' summaries are read in place of their events.
    pub(crate) is_first_look: bool,
}

impl OpenRun {
    /// The number by which passes name the run.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Its folder.
    pub(crate) fn dir(&self) -> PathBuf {
        PathBuf::from(OsString::from_vec(self.dir.clone()))
    }

    /// Opens the share of the run's files that is this process's.
    ///
    /// Errors: the folder is another one here than where process 0 is.
    pub(crate) fn share(&self, team: &ProcessGroup) -> Result<RunFolder, TransportFailure> {
        let dir = self.dir();
        let share = self.names.shares(team.processes()).swap_remove(team.process());
        let missing = share.files().find_map(|name| Some((std::fs::symlink_metadata(dir.join(&name)).err()?, name)));
        if let Some((error, name)) = missing {
            let what = "process 0 sees this file. Is the folder on a file system that all nodes share?";
            return Err(team.failure(format!("{}: {error}; {what}", dir.join(name).display())));
        }
        Ok(RunFolder::with_names(&dir, share))
    }

    /// Opens all of its files, and finds the ranks that are this process's.
    pub(crate) fn by_rank(&self, team: &ProcessGroup) -> (RunFolder, Range<usize>) {
        let folder = RunFolder::with_names(&self.dir(), self.names.clone());
        let n = folder.ranks().count();
        let [first, end] = [team.process(), team.process() + 1].map(|process| n * process / team.processes());
        (folder, first..end)
    }
}

/// Process 0 of a team.
pub struct LeaderProcess {
    team: ProcessGroup,
    opened: AtomicU64,
}

impl std::fmt::Debug for LeaderProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "leader of {} processes", self.team.processes())
    }
}

/// The processes that opened a run.
#[derive(Clone, Debug)]
pub(crate) struct DistributedRun {
    pub(crate) leader: Arc<LeaderProcess>,
    pub(crate) number: u64,
}

impl LeaderProcess {
    /// Creates the leader of `team`, which is process 0.
    pub fn new(team: ProcessGroup) -> LeaderProcess {
        LeaderProcess { team, opened: AtomicU64::new(0) }
    }

    /// Lets the other processes end.
    ///
    /// Errors: one is not there any more.
    pub fn end(&self) -> Result<(), TransportFailure> {
        self.team.broadcast(&ProcessCommand::End)
    }

    /// Opens a run: its number, what this process has of it, what each has found.
    pub(crate) fn open(
        &self,
        dir: &Path,
        names: &RunFileNames,
        bytes_on_disk: Option<u64>,
    ) -> Result<(u64, RunFolder, Vec<LogInventory>), TransportFailure> {
        let number = self.opened.fetch_add(1, Relaxed) + 1;
        let absolute = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
        let dir = absolute.as_os_str().as_bytes().to_vec();
        let run = OpenRun { number, dir, names: names.clone(), bytes_on_disk };
        let command = ProcessCommand::Open(run);
        self.team.broadcast(&command)?;
        let ProcessCommand::Open(run) = command else { unreachable!("it was made above") };
        let folder = run.share(&self.team);
        let found = folder.as_ref().map(LogInventory::of_all_ranks).map_err(Clone::clone);
        let shares = self.team.gather(found)?.unwrap_or_default();
        let (Ok(folder), true) = (folder, are_apart(&shares)) else {
            // The ranks of a node do not follow one another: all open all files, and each takes some of the ranks.
            self.team.broadcast(&ProcessCommand::OpenByRank)?;
            let (folder, own) = run.by_rank(&self.team);
            let mut shares = self.team.gather(Ok(LogInventory::of_ranks(&folder, own)))?.unwrap_or_default();
            // All see the same files.
            for share in shares.iter_mut().skip(1) {
                (share.of_rings, share.of_nodes) = Default::default();
            }
            return Ok((number, folder, shares));
        };
        Ok((number, folder, shares))
    }

    pub(crate) fn choose(&self, chosen: &[(u32, usize)]) -> Result<(), TransportFailure> {
        self.team.broadcast(&ProcessCommand::Choose(chosen.to_vec()))
    }
}

/// Returns whether the ranks of each share are above those of all before it.
fn are_apart(shares: &[LogInventory]) -> bool {
    let ranks: Vec<_> = shares.iter().filter_map(LogInventory::ranks).collect();
    ranks.windows(2).all(|pair| pair[0].end() < pair[1].start())
}

impl DistributedRun {
    /// The processes; `None`: the others have opened another run since.
    pub(crate) fn team(&self) -> Option<&ProcessGroup> {
        let DistributedRun { leader, number } = self;
        (leader.opened.load(Relaxed) == *number).then_some(&leader.team)
    }

    /// Lets the other processes begin a pass: all of them. `None`: they have opened another run since.
    ///
    /// Errors: a process is not there any more.
    pub(crate) fn begin(
        &self,
        pass: RecordPass,
        part: RunPart,
        input: Vec<u8>,
    ) -> Result<Option<&ProcessGroup>, TransportFailure> {
        let Some(team) = self.team() else { return Ok(None) };
        team.broadcast(&ProcessCommand::Pass { number: self.number, pass, part, input })?;
        Ok(Some(team))
    }
}
