//! Runs of scripts, and what the analyzer finds out about who waits for whom in them.

use std::collections::BTreeMap;

use lbprof_analysis::metrics::blocking::{BlockingSums, CauseClass, blocking_sums};
use lbprof_analysis::metrics::spread::imbalance::ImbalanceSplit;
use lbprof_analysis::model::Model;
use lbprof_analysis::model::replayed::replay_results::ReplayResults;
use lbprof_analysis::model::replayed::waits::WaitState;
use lbprof_analysis::model::replayed::what_if::WhatIfScenario;
use lbprof_collector::Activity;
use lbprof_collector::polling::PollGapRule;
use lbprof_simulator::scenario::Scenario;
use lbprof_simulator::script::Script;

use lbprof_test_runs::{found_model, model, model_asking, model_polling, report_on, written};

pub struct Run {
    pub model: Model,
}

impl Run {
    pub fn of(text: &str) -> Run {
        let script = Script::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        Run::of_script(&script)
    }

    pub fn of_script(script: &Script) -> Run {
        let scenario = script.scenario().unwrap_or_else(|error| panic!("{error}\n{}", script.text()));
        Run::of_scenario(scenario)
    }

    /// Reads a script and detects the loops in its calls.
    pub fn found(text: &str) -> Run {
        let script = Script::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let run = Run { model: found_model(script.scenario().unwrap()) };
        run.check();
        run.check_savings();
        run
    }

    pub fn asking_of(script: &Script, asked: &[&str]) -> Run {
        let run = Run { model: model_asking(written(script.scenario().unwrap()).path(), asked) };
        run.check();
        run
    }

    pub fn of_scenario_asking(scenario: Scenario, asked: &[&str]) -> Run {
        let run = Run { model: model_asking(written(scenario).path(), asked) };
        run.check();
        run
    }

    /// That of a scenario, as sums of which hold what holds for all.
    pub fn of_scenario(scenario: Scenario) -> Run {
        let run = Run { model: model(scenario) };
        run.check();
        run.check_savings();
        run
    }

    /// That of a script whose calls are taken one by one: no wait begins in a poll before the call that waits.
    pub fn of_single_calls(script: &Script) -> Run {
        let scenario = script.scenario().unwrap_or_else(|error| panic!("{error}\n{}", script.text()));
        let run = Run { model: model_polling(written(scenario).path(), PollGapRule::Computation) };
        run.check();
        run
    }

    /// Work that moves from rank to rank does not vanish: no change of it saves more than all that is lost.
    pub fn check_savings(&self) {
        let computed = self.model.inclusive_s(0, Activity::Computation);
        let least_s = computed.iter().sum::<f64>() / computed.len().max(1) as f64;
        for row in report_on(&self.model).what_if.rows.iter().filter(|row| row.scenario.is_redistribution()) {
            assert!(row.time_s >= least_s * (1.0 - 1e-6), "{row:?}, but ranks compute {computed:?} s");
        }
    }

    /// With nothing changed a replay takes as long as the run, or the window, did.
    pub fn check_nothing_changed(&self) {
        let (replayed_ms, elapsed_ms) = (self.replay_ms(WhatIfScenario::Measured), self.elapsed_ms());
        assert!((replayed_ms - elapsed_ms).abs() < 1e-5, "{replayed_ms} ms instead of {elapsed_ms} ms");
        let ideal_ms = self.replay_ms(WhatIfScenario::Ideal);
        assert!(ideal_ms <= elapsed_ms + 1e-5, "{ideal_ms} ms on an ideal network instead of {elapsed_ms} ms");
    }

    pub fn check(&self) {
        let (sums, followed) = (self.sums(), self.followed());
        let caused: f64 = sums.causes.iter().map(|cause| cause.caused_s).sum();
        assert!((caused - sums.total_s).abs() < 1e-9, "{caused} s caused of {} s", sums.total_s);
        assert!((sums.by_class.total_s() - sums.total_s).abs() < 1e-9, "{:?} of {} s", sums.by_class, sums.total_s);
        assert!(sums.causes.iter().all(|cause| cause.caused_s >= 0.0), "{:?}", sums.causes);
        assert!(sums.pairs.iter().all(|pair| pair.2 >= 0.0), "{:?}", sums.pairs);
        let waits = followed.blocking.waits.values();
        assert!(waits.clone().all(|wait| wait.waiting >= 0 && wait.delay >= 0), "{:?}", followed.blocking.waits);
        let path: f64 = followed.critical_path.iter().map(|part| part.ns).sum();
        let has_path = self.model.facts.selected.region.is_none();
        assert!(
            !has_path || (path - followed.elapsed as f64).abs() < 1.0,
            "a critical path of {path} ns of {}",
            followed.elapsed
        );
    }

    pub fn followed(&self) -> &ReplayResults {
        self.model.followed.as_ref().unwrap()
    }

    pub fn sums(&self) -> BlockingSums {
        blocking_sums(&self.model, self.followed(), &ImbalanceSplit::default())
    }

    /// Milliseconds of waiting that each (rank, region, class) causes.
    pub fn causes(&self) -> BTreeMap<(u32, String, CauseClass), f64> {
        let mut causes = BTreeMap::new();
        for cause in self.sums().causes {
            let region = self.followed().regions[cause.region as usize].path.trim_start_matches("main/").to_owned();
            *causes.entry((cause.rank, region, cause.class)).or_insert(0.0) += cause.caused_s * 1e3;
        }
        causes
    }

    /// Milliseconds that ranks wait in a state, with those in which a message was in transit.
    pub fn waits(&self, state: WaitState) -> f64 {
        self.sums().states.get(&state).map_or(0.0, |times| times.blocked_s() * 1e3)
    }

    pub fn elapsed_ms(&self) -> f64 {
        self.followed().elapsed as f64 * 1e-6
    }

    pub fn replay_ms(&self, scenario: WhatIfScenario) -> f64 {
        let found = self.followed().scenario_times.iter().find(|(one, _)| *one == scenario);
        found.unwrap_or_else(|| panic!("{scenario:?} was not asked")).1 * 1e3
    }
}
