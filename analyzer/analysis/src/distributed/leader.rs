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
use super::replay::{follow_as_leader, start_replay};
use crate::analyse::observers::RunObservers;
use crate::analyse::{LocalPasses, PassRunner, ProcessFailure, RunPasses};
use crate::model::Model;
use crate::model::replayed::replay_results::ReplayResults;
use crate::partial_result::PartialResult;
use crate::profile::{GatherInput, finish_model, gather_ranks};
use crate::read::files::{OpenedLog, RankShare, RunFiles};
use crate::read::open::{RecordedRun, RunError, is_folder, read_error};
use crate::read::pass::{FoldProgress, ProgressReport};
use crate::replay::segments::surveyed_run::LookupTables;
use crate::replay::{ReplayOptions, ScopeObserver, SurveyedRun};
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
    /// The ranks of process 0, which the run shares, or `None` if the run could not be opened.
    share: Option<Arc<RankShare>>,
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
    /// Errors: a process has ended.
    pub fn end(&self) -> Result<(), ProcessFailure> {
        self.team.broadcast(&ProcessCommand::End)
    }

    /// Opens the run in `dir`; each process opens its share of the files.
    ///
    /// Errors: as of one process; a process failed.
    pub fn open(&self, dir: &Path) -> Result<RecordedRun, DistributedOpenError> {
        is_folder(dir)?;
        let names = RunFileNames::list(dir).map_err(|error| read_error(dir, error))?;
        let shares = self.open_shares(dir, &names)?;
        #[expect(clippy::reversed_empty_ranges, reason = "no ranks at all")]
        let own = shares.first().and_then(|own| Some(own.first()?.rank..=own.last()?.rank)).unwrap_or(1..=0);
        let share = Arc::new(own);
        let files = RunFiles { folder: RunFolder::with_names(dir, names), share: Some(share.clone()) };
        let run = RecordedRun::of_logs(dir, files, shares.into_iter().flatten().collect())?;
        let ranks = run.headers.iter().map(|header| header.rank).collect();
        self.team.broadcast(&ProcessCommand::Choose(ranks))?;
        self.opened.lock().share = Some(share);
        Ok(run)
    }

    /// Lets each process open its share of the files. Returns the logs in each.
    fn open_shares(&self, dir: &Path, names: &RunFileNames) -> Result<Vec<Vec<OpenedLog>>, ProcessFailure> {
        let number = self.opened.lock().number + 1;
        *self.opened.lock() = DistributedRun { number, share: None };
        let run = OpenRun::new(number, dir, names);
        self.team.broadcast(&ProcessCommand::Open(run.clone()))?;
        let own = run.share(&self.team).map(|folder| OpenedLog::open_all(&folder));
        Ok(self.team.gather(own)?.unwrap_or_default())
    }

    /// Lets the other processes start a pass over a part of the run that was opened last. Returns `false` if `run` is a part of another run,
    /// which this process reads alone.
    ///
    /// Errors: a process has ended.
    fn begin(
        &self,
        pass: RecordPass,
        run: &RecordedRun,
        input: impl FnOnce() -> Vec<u8>,
    ) -> Result<bool, ProcessFailure> {
        let opened = self.opened.lock();
        let is_shared = opened.share.as_ref().zip(run.files.share.as_ref()).is_some_and(|(a, b)| Arc::ptr_eq(a, b));
        if !is_shared {
            return Ok(false);
        }
        let (number, part, input) = (opened.number, run.part.clone(), input());
        self.team.broadcast(&ProcessCommand::Pass { number, pass, part, input })?;
        Ok(true)
    }

    /// Merges this process's result of a pass, from `fold`, with the results of the other processes.
    ///
    /// Errors: a process failed.
    fn merged<T: PartialResult + Encode + Decode<()>>(
        &self,
        run: &RecordedRun,
        progress: ProgressReport,
        fold: impl FnOnce(ProgressReport) -> Option<T>,
    ) -> Result<Option<T>, ProcessFailure> {
        // Progress is shown as if the other processes were as far.
        let (own_ranks, all_ranks) = (run.own_headers().len().max(1) as u64, run.headers.len() as u64);
        let done = AtomicU64::new(0);
        let own = fold(&|one| match one {
            FoldProgress::Records(n) => progress(FoldProgress::Records(n.saturating_mul(all_ranks) / own_ranks)),
            FoldProgress::Rank => {
                let before = done.fetch_add(1, Relaxed);
                for _ in before * all_ranks / own_ranks..(before + 1) * all_ranks / own_ranks {
                    progress(FoldProgress::Rank);
                }
            }
        });
        Ok(self.team.reduce(Ok(own), Option::merge)?.flatten())
    }
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
        Ok(finish_model(run, input, merged))
    }

    fn follow(
        &self,
        surveyed: SurveyedRun,
        options: ReplayOptions,
        observer: Option<&mut ScopeObserver<RunObservers>>,
        progress: ProgressReport,
    ) -> Result<ReplayResults, ProcessFailure> {
        let is_shared = options.is_shared && self.team.processes() > 1 && options.can_cut(surveyed.model);
        let required = observer.as_ref().map(|observer| observer.inner().required()).unwrap_or_default();
        if !is_shared
            || !self.begin(RecordPass::Follow, surveyed.run, || encode_replay_job(surveyed, &options, required))?
        {
            return LocalPasses.follow(surveyed, options, observer, progress);
        }
        let tables = LookupTables::new(surveyed.model);
        let ids = tables.ids(surveyed, observer.is_some());
        match start_replay(&self.team, surveyed, ids, &options)? {
            Some(ranks) => follow_as_leader(&self.team, surveyed, ids, ranks, options, observer, progress),
            None => LocalPasses.follow(surveyed, options, observer, progress),
        }
    }
}
