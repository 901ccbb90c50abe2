//! Classes of causes (§3.2 of the paper), and the parts of imbalance (docs/metrics.md §3).

use lbprof_collector::Activity;
use lbprof_collector::definition::RegionKind;
use serde::Serialize;

use crate::metrics::spread::imbalance::ImbalanceSplit;
use crate::model::Region;
use crate::model::code::region_state::RegionState;

/// The cause of a wait (§3.2 of the paper).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CauseClass {
    /// Time in communication that is no waiting itself.
    #[serde(rename = "communication")]
    Communication,
    /// Messages in transit.
    #[serde(rename = "message delay")]
    MessageDelay,
    /// Computation that only parallel work needs.
    #[serde(rename = "control of parallelism")]
    Control,
    /// Useful or serial work.
    #[serde(rename = "workload imbalance")]
    Imbalance,
    /// The recorder's own work, and time that no record covers: not the program's.
    #[serde(rename = "recorder")]
    Recorder,
}

impl CauseClass {
    /// The classes, in the order of reports.
    pub const ALL: [CauseClass; 5] = [
        CauseClass::Communication,
        CauseClass::MessageDelay,
        CauseClass::Control,
        CauseClass::Imbalance,
        CauseClass::Recorder,
    ];

    /// Classifies a thread state in one of `regions`.
    pub fn classify(regions: &[Region], kind: RegionState) -> CauseClass {
        let region = regions.get(kind.region() as usize).map(|region| region.kind);
        match kind.activity() {
            _ if kind.is_delay() => CauseClass::MessageDelay,
            None | Some(Activity::Recorder) => CauseClass::Recorder,
            Some(Activity::Computation) if region == Some(RegionKind::Control) => CauseClass::Control,
            Some(Activity::Computation) => CauseClass::Imbalance,
            Some(_) => CauseClass::Communication,
        }
    }

    /// The name in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            CauseClass::Communication => "communication",
            CauseClass::MessageDelay => "message delay",
            CauseClass::Control => "control of parallelism",
            CauseClass::Imbalance => "workload imbalance",
            CauseClass::Recorder => "recorder",
        }
    }
}

/// Takes up to `most_s` seconds away from `rest_s`, and returns what it took.
fn take_up_to(rest_s: &mut f64, most_s: f64) -> f64 {
    let taken_s = most_s.min(*rest_s);
    *rest_s -= taken_s;
    taken_s
}

/// Seconds of waiting by what they are caused by. They sum to all waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitsByClass {
    /// Time in MPI that is no waiting itself.
    #[serde(rename = "communication")]
    pub communication_s: f64,
    /// Messages in transit.
    #[serde(rename = "message_delay")]
    pub message_delay_s: f64,
    /// Computation in regions marked as control of parallelism.
    #[serde(rename = "control")]
    pub control_s: f64,
    /// Imbalance from other computation: while one rank works alone.
    #[serde(rename = "imbalance_amdahl")]
    pub amdahl_s: f64,
    /// Imbalance from other computation: because some ranks have more to do in the sum.
    #[serde(rename = "imbalance_global")]
    pub global_s: f64,
    /// Imbalance from other computation: because different ranks have more to do in turn.
    #[serde(rename = "imbalance_temporal")]
    pub temporal_s: f64,
    /// Imbalance from other computation: because ranks depend on each other in chains within iterations.
    #[serde(rename = "imbalance_chains")]
    pub chains_s: f64,
    /// Imbalance from other computation: the rest, where iterations or the ideal time are not known.
    #[serde(rename = "imbalance_unsplit")]
    pub unsplit_s: f64,
    /// The recorder's own work, and time without records.
    #[serde(rename = "recorder")]
    pub recorder_s: f64,
}

impl WaitsByClass {
    pub(super) fn map(&self, of: impl Fn(f64) -> f64) -> WaitsByClass {
        WaitsByClass {
            communication_s: of(self.communication_s),
            message_delay_s: of(self.message_delay_s),
            control_s: of(self.control_s),
            amdahl_s: of(self.amdahl_s),
            global_s: of(self.global_s),
            temporal_s: of(self.temporal_s),
            chains_s: of(self.chains_s),
            unsplit_s: of(self.unsplit_s),
            recorder_s: of(self.recorder_s),
        }
    }

    pub(super) fn add(&mut self, class: CauseClass, seconds: f64) {
        *match class {
            CauseClass::Communication => &mut self.communication_s,
            CauseClass::MessageDelay => &mut self.message_delay_s,
            CauseClass::Control => &mut self.control_s,
            CauseClass::Imbalance => &mut self.unsplit_s,
            CauseClass::Recorder => &mut self.recorder_s,
        } += seconds;
    }

    /// Splits what is caused by workload imbalance, which is all in `unsplit_s`, in the parts of docs/metrics.md §3: as much as one rank works
    /// alone, then as much as follows from the ranks' sums, then from the iterations'; the rest are chains. Where no more is known than
    /// the estimate from iterations, the rest counts as theirs.
    pub(super) fn split(&mut self, split: &ImbalanceSplit) {
        let mut rest_s = std::mem::take(&mut self.unsplit_s);
        self.amdahl_s = take_up_to(&mut rest_s, split.amdahl_s.unwrap_or(0.0));
        self.global_s = take_up_to(&mut rest_s, split.global_s);
        (self.temporal_s, self.chains_s, self.unsplit_s) = match (split.temporal_s, split.chains_s) {
            (Some(temporal_s), Some(_)) => (take_up_to(&mut rest_s, temporal_s), rest_s, 0.0),
            (Some(_), None) => (rest_s, 0.0, 0.0),
            (None, _) => (0.0, 0.0, rest_s),
        };
    }

    /// Returns the waiting that workload imbalance causes.
    pub fn imbalance_s(&self) -> f64 {
        self.amdahl_s + self.global_s + self.temporal_s + self.chains_s + self.unsplit_s
    }

    /// Returns the sum of all classes.
    pub fn total_s(&self) -> f64 {
        self.communication_s + self.message_delay_s + self.control_s + self.imbalance_s() + self.recorder_s
    }
}
