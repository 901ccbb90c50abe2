//! Chooses the calls to write if there are too many: those with the longest waits, then the longest ones.
//!
//! Calls are first counted by how long they wait, in classes of about 6 %, then chosen from the longest class on. So the ranks are followed
//! twice, and memory does not grow with calls.

use lbprof_collector::Activity;

use lbprof_analysis::model::region_state::Ns;
use lbprof_analysis::replay::StateInterval;

/// Number of classes of an octave, and of a time.
const PER_OCTAVE: usize = 16;
const CLASSES: usize = 64 * PER_OCTAVE;

/// Chooses calls.
#[derive(Debug)]
pub struct CallFilter {
    most: u64,
    /// Calls by class; those that do not wait, by their length, before those that do.
    counts: Vec<u64>,
    /// The class from which on all are kept, and how many are kept of the one before it; `None` while they are being counted.
    chosen: Option<(usize, u64)>,
    written: u64,
}

impl CallFilter {
    /// Counts calls, of which `most` will be kept.
    pub fn counting(most: u64) -> CallFilter {
        CallFilter { most, counts: vec![0; 2 * CLASSES], chosen: None, written: 0 }
    }

    /// Counts a call while calls are being counted. Returns false if they no longer are.
    pub fn counts(&mut self, state: &StateInterval) -> bool {
        if self.chosen.is_none() && is_filtered(state) {
            self.counts[call_class(state)] += 1;
        }
        self.chosen.is_none()
    }

    /// Chooses among the calls that were counted. Returns false if that was done before.
    pub fn choose(&mut self) -> bool {
        if self.chosen.is_some() {
            return false;
        }
        let mut left = self.most;
        let mut first = self.counts.len();
        while first > 0 && self.counts[first - 1] <= left {
            first -= 1;
            left -= self.counts[first];
        }
        self.chosen = Some((first, left));
        true
    }

    /// Returns whether an interval is written. All but calls are.
    pub fn keeps(&mut self, state: &StateInterval) -> bool {
        let Some((from, left)) = self.chosen.as_mut().filter(|_| is_filtered(state)) else { return true };
        let class = call_class(state);
        let is_kept = class >= *from || class + 1 == *from && *left > 0;
        *left -= u64::from(is_kept && class < *from);
        self.written += u64::from(is_kept);
        is_kept
    }

    /// Returns the number of written calls and of all calls.
    pub fn written(&self) -> (u64, u64) {
        (self.written, self.counts.iter().sum())
    }
}

/// Returns whether an interval is of those that may be left out: a call, or computation in a state that was recorded.
fn is_filtered(state: &StateInterval) -> bool {
    state.kind.core_state().is_some()
        || state.operation != 0 && state.kind.activity().is_some_and(|activity| activity != Activity::Recorder)
}

/// The class of a call: the larger, the longer it waits.
fn call_class(state: &StateInterval) -> usize {
    let waits = state.waiting().ns();
    if waits > 0 { CLASSES + class_of(waits) } else { class_of(state.interval.ns()) }
}

/// The class of a time: two that differ by more than a sixteenth have different ones.
fn class_of(ns: Ns) -> usize {
    let ns = ns.max(0) as u64;
    let octave = ns.max(1).ilog2() as usize;
    let within = if octave < 4 { ns << (4 - octave) } else { ns >> (octave - 4) } as usize % PER_OCTAVE;
    octave * PER_OCTAVE + within
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_ascend_with_time() {
        let mut last = class_of(1);
        for ns in [2, 3, 15, 16, 17, 31, 32, 1000, 1100, 1 << 40, Ns::MAX] {
            let class = class_of(ns);
            assert!(class > last && class < CLASSES, "{ns}: {class} after {last}");
            last = class;
        }
    }
}
