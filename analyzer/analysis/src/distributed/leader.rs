//! Process 0: it opens runs and makes the passes over them together with the other processes.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bincode::{Decode, Encode};
use lbprof_collector::folder::{RunFileNames, RunFolder};
use parking_lot::Mutex;

use super::jobs::{encode_gather_job, encode_replay_job};
use super::process_group::ProcessGroup;
use super::protocol::{OpenRun, ProcessCommand, RecordPass};
use super::replay::DistributedReplay;
use crate::analyse::observers::RunObservers;
use crate::analyse::{LocalPasses, PassRunner, ProcessFailure, ReplayRequest, RunPasses};
use crate::model::Model;
use crate::model::replay_results::ReplayResults;
use crate::partial_result::PartialResult;
use crate::profile::{GatherInput, finish, gather_ranks};
use crate::read::files::{LogInventory, RemoteLogs, RunFiles};
use crate::read::open::{RecordedRun, RunError, is_folder, unreadable};
use crate::read::pass::{FoldProgress, ProgressReport};
use crate::replay::ScopeObserver;
use crate::replay::segments::surveyed_run::LookupTables;
use crate::structure::survey::{CallSurvey, survey_ranks};

/// Process 0 of a process group.
pub struct LeaderProcess {
    team: ProcessGroup,
    /// The run that was opened last.
    opened: Mutex<DistributedRun>,
}

/// A run that all processes have opened.
#[derive(Debug, Default)]
struct DistributedRun {
    /// Number of the run, counted from 1.
    number: u64,
    /// The files that the others have opened, as the run has them; `None` where it could not be opened.
    others: Option<Arc<RemoteLogs>>,
}

impl std::fmt::Debug for LeaderProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "leader of {} processes", self.team.processes())
    }
}

/// Why a run could not be opened by several processes.
#[derive(Debug, thiserror::Error)]
pub enum DistributedOpenError {
    /// An error that a single process would report as well.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A process failed.
    #[error(transparent)]
    Failure(#[from] ProcessFailure),
}

/// The files of a run as the processes have opened them.
struct OpenedShares {
    /// The files that process 0 has opened.
    folder: RunFolder,
    /// The logs that each process has found.
    found: Vec<LogInventory>,
}

impl LeaderProcess {
    /// Creates the leader of `team`, which is process 0.
    pub fn new(team: ProcessGroup) -> LeaderProcess {
        LeaderProcess { team, opened: Mutex::default() }
    }

    /// Returns the handle by which analyses make their passes with all processes.
    pub fn passes(self: &Arc<Self>) -> PassRunner {
        PassRunner::new(self.clone())
    }

    /// Lets the other processes end.
    ///
    /// Errors: one is not there any more.
    pub fn end(&self) -> Result<(), ProcessFailure> {
        self.team.broadcast(&ProcessCommand::End)
    }

    /// Opens the run in `dir`; each process opens its share of the files.
    ///
    /// Errors: as of one process; a process failed.
    pub fn open(&self, dir: &Path) -> Result<RecordedRun, DistributedOpenError> {
        is_folder(dir)?;
        let names = RunFileNames::list(dir).map_err(|error| unreadable(dir, error))?;
        let OpenedShares { folder, found } = self.open_shares(dir, &names)?;
        let (files, others) = RunFiles::share(folder, dir, names, &found);
        let (run, chosen) = RecordedRun::of_logs(dir, files, found)?;
        self.team.broadcast(&ProcessCommand::Choose(chosen.clone()))?;
        others.choose(chosen);
        self.opened.lock().others = Some(others);
        Ok(run)
    }

    /// Lets each process open its share of the files.
    fn open_shares(&self, dir: &Path, names: &RunFileNames) -> Result<OpenedShares, ProcessFailure> {
        let number = self.opened.lock().number + 1;
        *self.opened.lock() = DistributedRun { number, others: None };
        let run = OpenRun::new(number, dir, names);
        self.team.broadcast(&ProcessCommand::Open(run.clone()))?;
        let folder = run.share(&self.team);
        let found = folder.as_ref().map(LogInventory::of_all_ranks).map_err(Clone::clone);
        let found = self.team.gather(found)?.unwrap_or_default();
        if let (Ok(folder), true) = (folder, are_apart(&found)) {
            return Ok(OpenedShares { folder, found });
        }
        // The ranks of a node do not follow one another: all open all files, and each takes some of the ranks.
        self.team.broadcast(&ProcessCommand::OpenByRank)?;
        let (folder, own) = run.by_rank(&self.team);
        let mut found = self.team.gather(Ok(LogInventory::of_ranks(&folder, own)))?.unwrap_or_default();
        // All see the same files.
        for share in found.iter_mut().skip(1) {
            (share.of_rings, share.of_nodes) = Default::default();
        }
        Ok(OpenedShares { folder, found })
    }

    /// Lets the other processes begin a pass over a part of the run that was opened last. `false`: it is of another run, which this process reads alone.
    ///
    /// Errors: a process is not there any more.
    fn begin(
        &self,
        pass: RecordPass,
        run: &RecordedRun,
        input: impl FnOnce() -> Vec<u8>,
    ) -> Result<bool, ProcessFailure> {
        let opened = self.opened.lock();
        if !opened.others.as_ref().is_some_and(|others| run.files.are_shared_with(others)) {
            return Ok(false);
        }
        let (number, part, input) = (opened.number, run.part(), input());
        self.team.broadcast(&ProcessCommand::Pass { number, pass, part, input })?;
        Ok(true)
    }

    /// Merges this process's part of a pass, which `fold` makes, with those of the others.
    ///
    /// Errors: a process failed.
    fn merged<T: PartialResult + Encode + Decode<()>>(
        &self,
        run: &RecordedRun,
        progress: ProgressReport,
        fold: impl FnOnce(ProgressReport) -> Option<T>,
    ) -> Result<Option<T>, ProcessFailure> {
        let scale = ProgressScale::new(run.own_headers().len(), run.headers.len());
        let own = fold(&|done| scale.show(done, progress));
        Ok(self.team.reduce(Ok(own), Option::merge)?.flatten())
    }
}

/// Returns whether the ranks of each share are above those of all before it.
fn are_apart(shares: &[LogInventory]) -> bool {
    let ranks: Vec<_> = shares.iter().filter_map(LogInventory::ranks).collect();
    ranks.windows(2).all(|pair| pair[0].end() < pair[1].start())
}

impl RunPasses for LeaderProcess {
    fn survey(&self, run: &RecordedRun, progress: ProgressReport) -> Result<CallSurvey, ProcessFailure> {
        if !self.begin(RecordPass::Survey, run, Vec::new)? {
            return LocalPasses.survey(run, progress);
        }
        let merged = self.merged(run, progress, |progress| survey_ranks(run, run.own_headers(), progress))?;
        Ok(merged.unwrap_or_default().sorted())
    }

    fn gather(&self, run: &RecordedRun, input: GatherInput, progress: ProgressReport) -> Result<Model, ProcessFailure> {
        if !self.begin(RecordPass::Profile, run, || encode_gather_job(input))? {
            return LocalPasses.gather(run, input, progress);
        }
        let merged = self.merged(run, progress, |progress| gather_ranks(run, run.own_headers(), input, progress))?;
        Ok(finish(run, input, merged))
    }

    fn follow(
        &self,
        request: ReplayRequest,
        observer: Option<&mut ScopeObserver<RunObservers>>,
        progress: ProgressReport,
    ) -> Result<ReplayResults, ProcessFailure> {
        let ReplayRequest { surveyed, ref options, wishes } = request;
        let is_shared = wishes.is_shared && self.team.processes() > 1 && options.can_cut(surveyed.model);
        if !is_shared
            || !self.begin(RecordPass::Follow, surveyed.run, || encode_replay_job(surveyed, options.code, wishes))?
        {
            return LocalPasses.follow(request, observer, progress);
        }
        let tables = LookupTables::new(surveyed.model);
        let ids = tables.ids(surveyed, observer.is_some());
        match DistributedReplay::start(&self.team, surveyed, ids, options)? {
            Some(replay) => replay.follow(request.options, observer, progress),
            None => LocalPasses.follow(request, observer, progress),
        }
    }
}

/// Progress of one of several processes, shown as if the others were as far.
struct ProgressScale {
    own: u64,
    all: u64,
    done: AtomicU64,
}

impl ProgressScale {
    fn new(own: usize, all: usize) -> ProgressScale {
        ProgressScale { own: own.max(1) as u64, all: all as u64, done: AtomicU64::new(0) }
    }

    fn show(&self, done: FoldProgress, progress: ProgressReport) {
        match done {
            FoldProgress::Records(n) => progress(FoldProgress::Records(n.saturating_mul(self.all) / self.own)),
            FoldProgress::Rank => {
                let before = self.done.fetch_add(1, Relaxed);
                for _ in before * self.all / self.own..(before + 1) * self.all / self.own {
                    progress(FoldProgress::Rank);
                }
            }
        }
    }
}
