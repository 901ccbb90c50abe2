//! Looks up the activity of a rank that others waited for.

use std::collections::{HashMap, VecDeque};

use lbprof_analysis::model::ranks::interval::TimeInterval;
use lbprof_analysis::replay::StateInterval;

const MOST: usize = 64;

/// Shorter intervals are not shown: a wait's time is divided by this.
const LEAST: i64 = 10;

/// The last intervals of the ranks' first threads.
#[derive(Debug, Default)]
pub struct LastIntervals {
    by_rank: HashMap<u32, VecDeque<StateInterval>>,
}

impl LastIntervals {
    /// Adds the next interval of a rank. It is joined to the last one if both are of the same kind.
    pub fn add(&mut self, rank: u32, state: &StateInterval) {
        let own = self.by_rank.entry(rank).or_default();
        match own.back_mut() {
            Some(last) if is_same(last, state) => last.interval.end = state.interval.end,
            _ => {
                if own.len() == MOST {
                    own.pop_front();
                }
                own.push_back(*state);
            }
        }
    }

    /// Returns the intervals of a rank within `time`, as far as they are kept, without short ones.
    pub fn within(&self, rank: u32, time: TimeInterval) -> Vec<(StateInterval, TimeInterval)> {
        let own = self.by_rank.get(&rank).into_iter().flatten();
        let inside = own.map(|state| (*state, state.interval.within(time)));
        inside.filter(|(_, part)| part.ns() > 0 && part.ns() * LEAST >= time.ns()).collect()
    }
}

fn is_same(one: &StateInterval, other: &StateInterval) -> bool {
    one.kind == other.kind && one.operation == other.operation && one.interval.end == other.interval.begin
}
