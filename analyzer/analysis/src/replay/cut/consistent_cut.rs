//! Consistent cuts: ends of collectives that synchronise all ranks, at which a run can be split into segments.
//!
//! ```text
//!   rank 0   ──|== compute ==|Allreduce ....:..|── compute ──          each rank resumes at its own end of the collective
//!   rank 1   ──|====== compute =======|Allreduce|── compute ──         :  all ranks are synchronised from here on: no cause of a
//!   rank 2   ──|=== compute ===|Allreduce ..:.|── compute ──              later wait lies before it, and the critical path crosses
//!                                           :                             it only through the rank that entered last
//! ```
//!
//! The run can be cut there if, in addition, no message is in transit, no request is open and no clock was corrected. The replay of what
//! follows then needs no further knowledge of the past. This holds for what-if scenarios, too: a rank that leaves the collective has waited
//! for the latest clock of all ranks, so that the clocks differ only by the time of the call itself. The predicted time of a run is
//! therefore the sum of the predicted times of its segments.

use std::sync::Arc;

use bincode::{Decode, Encode};
use lbprof_collector::Operation;
use lbprof_collector::semantics::{CommunicationPattern, SynchronisesWith};

use crate::model::Model;
use crate::model::code::region_state::{Ns, RegionState};
use crate::replay::comm_members::CommMembers;
use crate::replay::timeline::{CommEvent, CommRole, TimelineStep};

/// The end of a collective that all ranks entered.
#[derive(Clone, Debug, Encode, Decode)]
pub struct ConsistentCut {
    pub comm: u32,
    /// Time at which the last rank entered.
    pub last: Ns,
    pub ranks: Vec<RankAtCut>,
}

#[derive(Clone, Debug, Encode, Decode)]
pub struct RankAtCut {
    pub end: Ns,
    pub kind: RegionState,
    /// Number of steps up to the cut.
    pub steps: usize,
    pub lists: Vec<Arc<[u32]>>,
}

pub fn communicators_of_all(model: &Model, members: &CommMembers) -> Vec<bool> {
    let n_ranks = model.ranks.len() as u64;
    let of_all = (0..).zip(&model.communicators).map(|(index, comm)| {
        // The lists of members are made on demand, and most are never needed.
        comm.group.len().saturating_add(comm.remote.len()) >= n_ranks
            && model.ranks.iter().all(|rank| members.contains(index, rank.rank))
    });
    of_all.collect()
}

/// Returns the communicator of a call if the run may be cut at its end. `of_all`: see [`communicators_of_all`].
pub fn may_cut(of_all: &[bool], step: &TimelineStep, events: &[CommEvent]) -> Option<u32> {
    let [CommEvent { role: CommRole::Collective(CommunicationPattern::AllToAll), comm, tag: 0, .. }] = *events else {
        return None;
    };
    let waits_for_all = Operation::synchronises(step.operation) == SynchronisesWith::Members;
    (waits_for_all && of_all.get(comm as usize) == Some(&true)).then_some(comm)
}
