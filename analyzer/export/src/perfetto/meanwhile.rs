//! Looks up the activity of a rank that others waited for.

use std::collections::{HashMap, VecDeque};

use lbprof_analysis::model::interval::TimeInterval;
use lbprof_analysis::replay::StateInterval;

/// So many intervals of each rank are kept.
const MOST: usize = 64;

/// Less of a wait is not shown, as a share of it.
const LEAST: i64 = 10;

/// The last things that the ranks' first threads did.
#[derive(Debug, Default)]
pub struct LastIntervals {
    by_rank: HashMap<u32, VecDeque<StateInterval>>,
}

impl LastIntervals {
    /// A rank did something more; what it did in one region in one way is one interval.
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

    /// Returns what a rank did in a time, as far as it is known, without what is short.
    pub fn within(&self, rank: u32, time: TimeInterval) -> Vec<(StateInterval, TimeInterval)> {
        let own = self.by_rank.get(&rank).into_iter().flatten();
        let inside = own.map(|state| (*state, state.interval.within(time)));
        inside.filter(|(_, part)| part.ns() > 0 && part.ns() * LEAST >= time.ns()).collect()
    }
}

fn is_same(one: &StateInterval, other: &StateInterval) -> bool {
    one.kind == other.kind && one.operation == other.operation && one.interval.end == other.interval.begin
}
