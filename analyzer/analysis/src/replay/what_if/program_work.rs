//! The work of a run that scenarios change: the program's own, without the recorder's time where that disturbed the run.
//!
//! ```text
//!   measured            |== 10, of which 4 recorder ==|call|== 12, of which 4 recorder ==|call|
//!   as predictions see  |== 6 ==|call|== 8 ==|call|                 the same calls in the same order
//! ```

use std::borrow::Cow;
use std::sync::Arc;

use super::conditions::ScenarioConditions;
use super::scenarios;
use crate::model::recorder_time::RecorderShares;
use crate::model::what_if::WhatIfScenario;
use crate::model::{Model, RegionIdx};

pub struct ProgramWork<'a> {
    /// The model, with the program's own computation.
    model: Cow<'a, Model>,
    /// The recorder's part of the measured computation; `None`: it disturbed nothing.
    recorder: Option<Arc<RecorderShares>>,
}

impl<'a> ProgramWork<'a> {
    pub fn new(model: &'a Model) -> ProgramWork<'a> {
        let recorder = RecorderShares::from_model(model).map(Arc::new);
        let own = recorder.as_ref().map(|shares| Cow::Owned(shares.own_work(model)));
        ProgramWork { model: own.unwrap_or(Cow::Borrowed(model)), recorder }
    }

    /// Lists the default scenarios of a run, then the user's.
    pub fn plan(&self, asked: &[WhatIfScenario]) -> Vec<WhatIfScenario> {
        let mut scenarios = scenarios::plan_scenarios(&self.model, asked);
        if self.recorder.is_some() {
            scenarios.extend([WhatIfScenario::IdealAsRecorded, WhatIfScenario::WithoutRecorder]);
        }
        scenarios
    }

    /// Lists the default scenarios of a region, then the user's.
    pub fn plan_within(&self, region: RegionIdx, asked: &[WhatIfScenario]) -> Vec<WhatIfScenario> {
        let mut scenarios = scenarios::plan_within(&self.model, region, asked);
        if self.recorder.is_some() {
            scenarios.push(WhatIfScenario::WithoutRecorder);
        }
        scenarios
    }

    pub fn conditions(&self, scenarios: &[WhatIfScenario]) -> Vec<(WhatIfScenario, ScenarioConditions<'_>)> {
        scenarios.iter().map(|&scenario| (scenario, self.condition(scenario))).collect()
    }

    fn condition(&self, scenario: WhatIfScenario) -> ScenarioConditions<'_> {
        let condition = scenarios::scenario_condition(scenario, &self.model);
        match scenario {
            WhatIfScenario::Measured | WhatIfScenario::IdealAsRecorded => condition,
            _ => ScenarioConditions { without_recorder: self.recorder.clone(), ..condition },
        }
    }
}
