//! The scenarios that the replay can predict: how long would it take, if?

use bincode::{Decode, Encode};

use crate::model::code::region::RegionIdx;

/// A what-if scenario: a change whose effect the replay predicts.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub enum WhatIfScenario {
    /// On an ideal network: T_ideal.
    Ideal,
    /// The run as it was: the measured time, to see how far replays can be trusted.
    Measured,
    /// On a network with this latency in seconds, and bytes per second.
    Network(f64, f64),
    /// With a region balanced: each rank computes in it, inner regions included, what the mean of the ranks does.
    Balanced(RegionIdx),
    /// With an iterated region balanced in each iteration: each rank computes in it what the mean of the ranks does in that iteration.
    BalancedEach(RegionIdx),
    /// Each iteration balanced, including those outside of all others, and the computation at the edges of detected loops.
    RunBalancedEach,
    /// With every region balanced by itself: each rank computes in it, without inner regions, what the mean of the ranks does that compute in it.
    RegionsBalanced,
    /// With a rank that computes no more than the mean of the ranks, its place in the model.
    RankAsMean(u32),
    /// With a region that is computed faster by a factor, inner regions included.
    Faster(RegionIdx, f64),
    /// With a rank, by its place in the model, that computes several times as fast; infinite: its computation takes no time.
    RankFaster(u32, f64),
    /// With a function, and what it calls, that computes several times as fast: its index in [`crate::model::Model::asked_threads`].
    FunctionFaster(u32, f64),
    /// With threads that work equally long in each instance of all parallel regions, or of those with this index in [`crate::model::Model::asked_threads`].
    ThreadsBalanced(Option<u32>),
    /// With a function that runs on all threads, where one thread alone did: its index in [`crate::model::Model::asked_threads`].
    Spread(u32),
}

impl WhatIfScenario {
    /// Returns whether messages would take another time.
    pub fn is_network(self) -> bool {
        matches!(self, WhatIfScenario::Ideal | WhatIfScenario::Network(..))
    }

    /// Returns whether threads would do other parts of their rank's work.
    pub fn is_of_threads(self) -> bool {
        matches!(self, WhatIfScenario::ThreadsBalanced(_) | WhatIfScenario::Spread(_))
    }

    /// Returns whether other ranks would do parts of the work.
    pub fn is_redistribution(self) -> bool {
        use WhatIfScenario::{Balanced, BalancedEach, RankAsMean, RegionsBalanced, RunBalancedEach};
        matches!(self, Balanced(_) | BalancedEach(_) | RunBalancedEach | RegionsBalanced | RankAsMean(_))
    }
}
