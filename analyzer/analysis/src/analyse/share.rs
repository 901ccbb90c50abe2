//! What a process needs to know to follow segments of a run for process 0.

use super::watchers::{WantedWatchers, Watchers};
use crate::model::Model;
use crate::model::what_if::WhatIf;
use crate::read::open::Run;
use crate::replay::what_if::condition;
use crate::replay::{FollowOptions, PartWatcher, Scope, Surveyed, Watcher, follow_share};
use crate::structure::Structure;
use crate::structure::sampled_code::SampledCode;
use crate::structure::survey::Survey;
use crate::transport::codec::{decoded, encoded};
use crate::transport::{Failure, Team};

/// What process 0 knows of the run, what it asks, and how long segments are.
pub(crate) struct Share {
    model: Model,
    structure: Structure,
    code: Option<SampledCode>,
    scenarios: Vec<WhatIf>,
    watchers: WantedWatchers,
    segment_steps: Option<usize>,
}

/// The bytes that [`Share::new`] reads.
pub(super) fn input(
    (model, structure, code): (&Model, &Structure, Option<&SampledCode>),
    scenarios: &[WhatIf],
    watchers: WantedWatchers,
    segment_steps: Option<usize>,
) -> Vec<u8> {
    encoded(&(model, structure, code, scenarios, watchers, segment_steps))
}

impl Share {
    /// From what process 0 sent; `None`: the bytes are not that.
    pub(crate) fn new(bytes: &[u8]) -> Option<Share> {
        let (model, structure, code, scenarios, watchers, segment_steps) = decoded(bytes)?;
        Some(Share { model, structure, code, scenarios, watchers, segment_steps })
    }

    /// Follows segments of `run`, which has the ranks of this process, in whose logs it found `own`.
    ///
    /// Errors: another process is not there any more. Process 0 gets to know what fails here.
    pub(crate) fn follow(&self, team: &Team, run: &Run, own: &Survey) -> Result<(), Failure> {
        let Share { model, structure, code, scenarios, segment_steps, .. } = self;
        let survey = own.with_sites(model.sites.clone());
        let scope = Scope::all(model);
        let mut watchers = Watchers::new(model, self.watchers);
        let mut part = watchers.any().map(|watchers| PartWatcher::new(&scope, watchers));
        let options = FollowOptions {
            scenarios: scenarios.iter().map(|&scenario| (scenario, condition(scenario, model))).collect(),
            watcher: part.as_mut().map(|part| part as &mut dyn Watcher),
            code: code.as_ref(),
            segment_steps: *segment_steps,
            ..FollowOptions::new(&scope)
        };
        follow_share(team, Surveyed { run, survey: &survey, structure, model }, options)
    }
}
