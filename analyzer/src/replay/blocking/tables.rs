//! Sums of waits and of their causes.

use crate::model::waits::Blocking;
use crate::model::waits::WaitKey;
use crate::model::waits::WaitSums;

use super::history::StateTime;
use super::states::ThreadStates;
use crate::model::region_state::Ns;

/// Sums that are being made.
#[derive(Debug, Default)]
pub(super) struct WaitTotals {
    blocking: Blocking,
    /// Nanoseconds of waiting caused, by number of what is done.
    caused: Vec<f64>,
}

impl WaitTotals {
    /// Adds as much of a wait of `all` nanoseconds as counts, with its causes in proportion.
    pub fn add(&mut self, states: &ThreadStates, key: WaitKey, (all, sums): (Ns, WaitSums), causes: &[StateTime]) {
        let counted = sums.waiting + sums.delay;
        if counted <= 0 {
            return;
        }
        let share = counted as f64 / all as f64;
        let all = self.blocking.waits.entry(key).or_default();
        all.count += sums.count;
        all.waiting += sums.waiting;
        all.delay += sums.delay;
        self.caused.resize(states.all().len(), 0.0);
        for part in causes {
            self.caused[part.state.at()] += part.ns * share;
            let (thread, _) = states.get(part.state);
            *self.blocking.pairs.entry((key.thread, thread)).or_default() += part.ns * share;
        }
    }

    /// The sums.
    pub fn finish(mut self, states: &ThreadStates) -> Blocking {
        let caused = states.all().iter().zip(self.caused).filter(|&(_, ns)| ns > 0.0);
        self.blocking.causes = caused.map(|(&state, ns)| (state, ns)).collect();
        self.blocking
    }
}
