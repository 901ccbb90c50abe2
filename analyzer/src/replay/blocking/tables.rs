//! Sums of waits and of their causes.

use rustc_hash::FxHashMap;

use super::history::StateTime;
use super::states::ThreadStates;
use crate::model::region_state::Ns;
use crate::model::waits::{Blocking, WaitKey, WaitSums};

/// Sums that are being made.
#[derive(Debug, Default)]
pub(super) struct WaitTotals {
    waits: FxHashMap<WaitKey, WaitSums>,
    /// Nanoseconds that the first thread waited because of the second.
    pairs: FxHashMap<(u32, u32), f64>,
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
        let all = self.waits.entry(key).or_default();
        all.count += sums.count;
        all.waiting += sums.waiting;
        all.delay += sums.delay;
        self.caused.resize(states.all().len(), 0.0);
        for part in causes {
            self.caused[part.state.at()] += part.ns * share;
            let (thread, _) = states.get(part.state);
            *self.pairs.entry((key.thread, thread)).or_default() += part.ns * share;
        }
    }

    /// The sums.
    pub fn finish(self, states: &ThreadStates) -> Blocking {
        let caused = states.all().iter().copied().zip(self.caused).filter(|&(_, ns)| ns > 0.0);
        Blocking {
            causes: caused.collect(),
            waits: self.waits.into_iter().collect(),
            pairs: self.pairs.into_iter().collect(),
        }
    }
}
