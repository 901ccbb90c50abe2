//! The input that another process needs to replay segments for process 0.

use super::observers::{RequiredObservers, RunObservers};
use crate::model::Model;
use crate::model::what_if::WhatIfScenario;
use crate::read::open::RecordedRun;
use crate::replay::what_if::ProgramWork;
use crate::replay::{ReplayOptions, ReplayScope, ScopeObserver, SurveyedRun, follow_share};
use crate::structure::RunStructure;
use crate::structure::sampled_code::SampledCode;
use crate::structure::survey::CallSurvey;
use crate::transport::codec::{decoded, encoded};
use crate::transport::{ProcessGroup, TransportFailure};

/// The model, the options and the length of segments, as process 0 knows them.
pub(crate) struct ReplayJob {
    model: Model,
    structure: RunStructure,
    code: Option<SampledCode>,
    scenarios: Vec<WhatIfScenario>,
    observers: RequiredObservers,
    segment_steps: Option<usize>,
}

/// The desired output of a replay.
pub(super) struct ReplayWishes {
    pub(super) observers: RequiredObservers,
    pub(super) scenarios: Vec<WhatIfScenario>,
    /// True if other processes may replay a part of the run.
    pub(super) is_shared: bool,
    /// Steps of all ranks together in a segment; `None`: as many as serve best.
    pub(super) segment_steps: Option<usize>,
}

/// Encodes a job for [`ReplayJob::new`].
pub(super) fn encode_job(
    model: &Model,
    structure: &RunStructure,
    code: Option<&SampledCode>,
    wishes: &ReplayWishes,
) -> Vec<u8> {
    encoded(&(model, structure, code, &wishes.scenarios, wishes.observers, wishes.segment_steps))
}

impl ReplayJob {
    /// From what process 0 sent; `None`: the bytes are not that.
    pub(crate) fn new(bytes: &[u8]) -> Option<ReplayJob> {
        let (model, structure, code, scenarios, observers, segment_steps) = decoded(bytes)?;
        Some(ReplayJob { model, structure, code, scenarios, observers, segment_steps })
    }

    /// Follows segments of `run`, which has the ranks of this process, in whose logs it found `own`.
    ///
    /// Errors: another process is not there any more. Process 0 gets to know what fails here.
    pub(crate) fn follow(
        &self,
        team: &ProcessGroup,
        run: &RecordedRun,
        own: &CallSurvey,
    ) -> Result<(), TransportFailure> {
        let ReplayJob { model, structure, code, scenarios, segment_steps, .. } = self;
        let survey = own.with_sites(model.sites.clone());
        let scope = ReplayScope::whole_run(model);
        let observers = RunObservers::new(model, self.observers);
        let observer = (!observers.is_empty()).then(|| ScopeObserver::new(&scope, observers));
        let work = ProgramWork::new(model);
        let options = ReplayOptions {
            scenarios: work.conditions(scenarios),
            code: code.as_ref(),
            segment_steps: *segment_steps,
            ..ReplayOptions::new(&scope)
        };
        follow_share(team, SurveyedRun { run, survey: &survey, structure, model }, options, observer.as_ref())
    }
}
