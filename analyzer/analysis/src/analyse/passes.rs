//! The three passes over a run's records, made by this process alone or with others.

use std::fmt::Debug;
use std::sync::Arc;

use bincode::{Decode, Encode};

use super::observers::RunObservers;
use crate::model::Model;
use crate::model::replayed::replay_results::ReplayResults;
use crate::profile::{GatherInput, gather_run};
use crate::read::open::RecordedRun;
use crate::read::pass::ProgressReport;
use crate::replay::{ReplayOptions, ScopeObserver, SurveyedRun, replay_run};
use crate::structure::survey::{CallSurvey, survey_run};

/// Why a pass was not made: a process that takes part in it failed.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, thiserror::Error)]
#[error("process {process} failed: {what}")]
pub struct ProcessFailure {
    /// The process.
    pub process: usize,
    /// Description of the failure.
    pub what: String,
}

/// The passes over a run's records. Whoever makes them, the results are the same.
pub(crate) trait RunPasses: Debug + Send + Sync {
    /// Makes the first pass.
    fn survey(&self, run: &RecordedRun, progress: ProgressReport) -> Result<CallSurvey, ProcessFailure>;

    /// Makes the second pass.
    fn gather(&self, run: &RecordedRun, input: GatherInput, progress: ProgressReport) -> Result<Model, ProcessFailure>;

    /// Makes the third pass.
    fn follow(
        &self,
        surveyed: SurveyedRun,
        options: ReplayOptions,
        observer: Option<&mut ScopeObserver<RunObservers>>,
        progress: ProgressReport,
    ) -> Result<ReplayResults, ProcessFailure>;
}

/// A handle of whoever makes the passes; by default this process alone.
#[derive(Clone, Debug)]
pub struct PassRunner(Arc<dyn RunPasses>);

impl PassRunner {
    pub(crate) fn new(passes: Arc<dyn RunPasses>) -> PassRunner {
        PassRunner(passes)
    }

    pub(super) fn get(&self) -> &dyn RunPasses {
        &*self.0
    }
}

impl Default for PassRunner {
    fn default() -> PassRunner {
        PassRunner(Arc::new(LocalPasses))
    }
}

#[derive(Debug)]
pub(crate) struct LocalPasses;

impl RunPasses for LocalPasses {
    fn survey(&self, run: &RecordedRun, progress: ProgressReport) -> Result<CallSurvey, ProcessFailure> {
        Ok(survey_run(run, progress))
    }

    fn gather(&self, run: &RecordedRun, input: GatherInput, progress: ProgressReport) -> Result<Model, ProcessFailure> {
        Ok(gather_run(run, input, progress))
    }

    fn follow(
        &self,
        surveyed: SurveyedRun,
        options: ReplayOptions,
        observer: Option<&mut ScopeObserver<RunObservers>>,
        progress: ProgressReport,
    ) -> Result<ReplayResults, ProcessFailure> {
        Ok(replay_run(surveyed, options, observer, progress))
    }
}
