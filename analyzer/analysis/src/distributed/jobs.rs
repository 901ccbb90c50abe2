//! The input of a pass that other processes need, as process 0 sends it.

use bincode::Decode;

use super::process_group::ProcessGroup;
use super::replay::follow_share;
use crate::analyse::ProcessFailure;
use crate::analyse::observers::{RequiredObservers, RunObservers};
use crate::codec::encode_value;
use crate::model::Model;
use crate::model::code::sites::CallSiteTable;
use crate::model::replayed::what_if::WhatIfScenario;
use crate::profile::{GatherInput, PartialModel, gather_ranks};
use crate::read::open::RecordedRun;
use crate::replay::what_if::replay_conditions;
use crate::replay::{ReplayOptions, ReplayScope, ScopeObserver, SurveyedRun};
use crate::structure::RunStructure;
use crate::structure::code::sampled_code::SampledCode;
use crate::structure::survey::CallSurvey;

#[derive(Decode)]
pub(super) struct GatherJob {
    sites: CallSiteTable,
    structure: RunStructure,
    code: SampledCode,
    most_iterations: usize,
}

pub(super) fn encode_gather_job(input: GatherInput) -> Vec<u8> {
    let GatherInput { survey, structure, code, most_iterations } = input;
    encode_value(&(&survey.sites, structure, code, most_iterations))
}

impl GatherJob {
    /// Folds the ranks of `run`, i.e. of this process, whose survey is `own`.
    pub(super) fn gather(self, run: &RecordedRun, own: &CallSurvey) -> Option<PartialModel> {
        let GatherJob { sites, structure, code, most_iterations } = self;
        let survey = own.with_sites(sites);
        let input = GatherInput { survey: &survey, structure: &structure, code: &code, most_iterations };
        gather_ranks(run, &run.headers, input, &|_| ())
    }
}

#[derive(Decode)]
pub(super) struct ReplayJob {
    model: Model,
    structure: RunStructure,
    code: Option<SampledCode>,
    scenarios: Vec<WhatIfScenario>,
    observers: RequiredObservers,
    segment_steps: Option<usize>,
}

pub(super) fn encode_replay_job(
    surveyed: SurveyedRun,
    options: &ReplayOptions,
    observers: RequiredObservers,
) -> Vec<u8> {
    let SurveyedRun { structure, model, .. } = surveyed;
    let scenarios: Vec<WhatIfScenario> = options.scenarios.iter().map(|(scenario, _)| *scenario).collect();
    encode_value(&(model, structure, options.code, scenarios, observers, options.segment_steps))
}

impl ReplayJob {
    /// Replays segments of `run`, which has the ranks of this process, whose survey is `own`.
    ///
    /// Errors: another process has ended. Failures of this process are reported to process 0.
    pub(super) fn follow(
        &self,
        team: &ProcessGroup,
        run: &RecordedRun,
        own: &CallSurvey,
    ) -> Result<(), ProcessFailure> {
        let ReplayJob { model, structure, code, scenarios, segment_steps, .. } = self;
        let survey = own.with_sites(model.sites.clone());
        let scope = ReplayScope::whole_run(model);
        let observers = RunObservers::new(model, self.observers);
        let observer = (!observers.is_empty()).then(|| ScopeObserver::new(&scope, observers));
        let options = ReplayOptions {
            scenarios: replay_conditions(scenarios, model),
            code: code.as_ref(),
            segment_steps: *segment_steps,
            ..ReplayOptions::new(&scope)
        };
        follow_share(team, SurveyedRun { run, survey: &survey, structure, model }, options, observer.as_ref())
    }
}
