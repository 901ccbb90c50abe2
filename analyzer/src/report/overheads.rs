//! The table of overheads, with efficiency and speedup, and what ranks wait for each other's computation.

use lbprof_collector::Activity;

use super::efficiency::EfficiencyRow;
use crate::metrics::imbalance::{IdealTimes, ImbalanceSplit, split};
use crate::metrics::load_balance::is_above_elapsed;
use crate::metrics::overhead::{self, Overheads};
use crate::model::Model;
use crate::model::alone::Alone;

/// Overheads of the run.
#[derive(Clone, Debug)]
pub struct OverheadTable {
    /// Phases, time on one rank, efficiency and speedup.
    pub overheads: Overheads,
    /// Waiting that follows from imbalance, in its parts.
    pub imbalance: ImbalanceSplit,
    /// How long one rank works alone.
    pub alone: Result<Alone, NotAlone>,
}

/// Why it is not known how long one rank works alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAlone {
    /// There is but one.
    OneRank,
    /// Calls were recorded as sums.
    NoCalls,
    /// A region is selected, and what others do meanwhile outside of it is not told.
    OfRegion,
    /// The clocks of hosts cannot be compared.
    NoCommonClock,
}

impl OverheadTable {
    /// The overheads of `model`, whose efficiencies are `efficiency`.
    pub(super) fn new(model: &Model, efficiency: &EfficiencyRow) -> OverheadTable {
        let alone = match &model.alone {
            _ if model.ranks.len() < 2 => Err(NotAlone::OneRank),
            Some(alone) => Ok(alone.clone()),
            None if model.facts.selected.region.is_some() => Err(NotAlone::OfRegion),
            None if !model.facts.common_clock => Err(NotAlone::NoCommonClock),
            None => Err(NotAlone::NoCalls),
        };
        let serial_s = alone.as_ref().ok().map(Alone::serial_s);
        // An estimate above the elapsed time says that ranks do not wait for each other's iterations; how much they do, a replay says.
        let elapsed_s = efficiency.times.elapsed_s;
        let replay_s = efficiency.t_ideal_replay_s.map(|replay_s| replay_s.min(elapsed_s));
        let by_iteration_s = efficiency.t_ideal_phase_profile_s;
        let by_iteration_s =
            by_iteration_s.filter(|ideal_s| replay_s.is_some() || !is_above_elapsed(*ideal_s, elapsed_s));
        let ideal = IdealTimes { by_iteration_s: by_iteration_s.map(|ideal_s| ideal_s.min(elapsed_s)), replay_s };
        let computation = model.inclusive_s(0, Activity::Computation);
        OverheadTable {
            overheads: overhead::overheads(model, model.facts.t_seq_s),
            imbalance: split(&computation, ideal, serial_s),
            alone,
        }
    }
}
