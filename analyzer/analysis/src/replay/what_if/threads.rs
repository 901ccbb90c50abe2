//! The time that a change of ranks' threads would take off their computation.
//!
//! ```text
//!   thread 0  |serial|== 20 ==|.......|serial|     threads that work equally long: the instance lasts 40, which saves 20
//!   thread 1         |====== 60 ======|            serial code on both threads: half of its time is saved
//!   computes  |======================= ... ==|     the step that is shortened by that
//! ```

use std::sync::Arc;

use crate::model::RegionIdx;
use crate::model::code::region_state::Ns;
use crate::replay::timeline::ParallelPart;

/// A change of what ranks' threads do.
#[derive(Clone, Debug, PartialEq)]
pub enum ThreadChange {
    /// In parallel regions all threads work equally long. By index of the call site that stands for one: whether it is meant; `None`: all are.
    Balanced(Option<Arc<[bool]>>),
    /// Code outside of parallel regions runs on all threads. By index of the region without inner ones, and by place of the rank: the share of the time
    /// outside of parallel regions that is saved; regions without shares are as they were.
    Spread(Vec<Vec<f64>>),
}

impl ThreadChange {
    /// Returns the nanoseconds that the change saves in `ns` nanoseconds of a rank's computation in a region.
    pub fn saved_ns(&self, rank: u32, region: RegionIdx, ns: Ns, parallel: &[ParallelPart]) -> f64 {
        let teams = parallel.iter().filter(|part| part.is_of_team());
        let saved = match self {
            ThreadChange::Balanced(meant) => {
                let meant = teams
                    .filter(|part| meant.as_ref().is_none_or(|meant| meant.get(part.site as usize) == Some(&true)));
                meant.map(|part| part.excess as f64).sum()
            }
            ThreadChange::Spread(shares) => {
                let share = shares.get(region as usize).and_then(|by_rank| by_rank.get(rank as usize)).copied();
                let serial = ns as f64 - teams.map(|part| part.elapsed as f64).sum::<f64>();
                serial.max(0.0) * share.unwrap_or(0.0)
            }
        };
        saved.clamp(0.0, ns.max(0) as f64)
    }
}

#[cfg(test)]
mod tests {
    use lbprof_collector::record::NONE;

    use super::*;

    const PARTS: [ParallelPart; 2] = [
        ParallelPart { site: 0, begin: 10, elapsed: 60, team: 2, excess: 20, thread: NONE },
        ParallelPart { site: 2, begin: 80, elapsed: 20, team: 4, excess: 5, thread: NONE },
    ];

    #[test]
    fn regions_are_shorter_by_what_their_heaviest_threads_exceed() {
        let saved = |meant: Option<&[bool]>| ThreadChange::Balanced(meant.map(Arc::from)).saved_ns(0, 0, 100, &PARTS);
        assert_eq!((saved(None), saved(Some(&[false, true, true])), saved(Some(&[]))), (25.0, 5.0, 0.0));
    }

    #[test]
    fn code_outside_of_regions_is_shared_by_the_threads() {
        let change = ThreadChange::Spread(vec![vec![0.5, 0.25]]);
        let saved = |rank, region, ns| change.saved_ns(rank, region, ns, &PARTS);
        assert_eq!((saved(0, 0, 100), saved(1, 0, 100), saved(0, 7, 100), saved(0, 0, 70)), (10.0, 5.0, 0.0, 0.0));
    }
}
