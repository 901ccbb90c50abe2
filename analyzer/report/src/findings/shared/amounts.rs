//! The calls that a loss is attributed to: how many there are, and what they carry.

use std::collections::BTreeMap;

use lbprof_collector::ProblemKind;
use lbprof_thresholds::verdict::{MAX_BYTES_OF_SMALL_MESSAGE, MIN_LONG_REDUCTION_S};

use crate::Report;
use crate::losses::LossAt;

/// Number of calls that a loss is attributed to, and the bytes that they carry.
#[derive(Clone, Debug, PartialEq)]
pub struct CallAmounts {
    /// The ranks that make them, of those that the verdict is about, ascending.
    pub callers: Vec<u32>,
    /// Calls of a rank, the mean over the callers.
    pub calls_each: u64,
    /// Bytes sent or received by a call, whichever are more.
    pub bytes_each: u64,
    /// True if there are bytes at all.
    pub carries_data: bool,
    /// True if it completes what another call began.
    pub completes: bool,
    /// Time in a call, waiting included.
    pub seconds_each: f64,
}

impl CallAmounts {
    /// Adds up the calls at a place, or returns `None` if there are none.
    pub fn new(report: &Report, at: &LossAt) -> Option<CallAmounts> {
        let (mut calls, mut sent, mut received, mut seconds) = (0, 0, 0, 0.0);
        let cluster = report.verdict.cluster.as_ref();
        let mut callers: BTreeMap<u32, u64> = BTreeMap::new();
        for row in report.call_sites.iter().filter(|row| row.operation == at.operation && row.place == at.place) {
            calls += row.sum.calls;
            sent += row.sum.sent;
            received += row.sum.received;
            seconds += row.sum.seconds;
            for &(rank, own) in &row.callers {
                if cluster.is_none_or(|cluster| cluster.ranks.contains(&rank)) {
                    *callers.entry(rank).or_default() += own;
                }
            }
        }
        // In a broadcast the root sends once what all others receive.
        let bytes = sent.max(received);
        (calls > 0).then(|| CallAmounts {
            calls_each: callers.values().sum::<u64>() / callers.len().max(1) as u64,
            callers: callers.into_keys().collect(),
            bytes_each: bytes / calls,
            carries_data: bytes > 0,
            completes: at.operation.starts_with("Wait") || at.operation.starts_with("Test"),
            seconds_each: seconds / calls as f64,
        })
    }
}

/// Returns whether ranks may compute in the call with most communication: in a reduction of few bytes that takes long without waiting for any rank. The program's own
/// reduction function (`MPI_Op_create`) runs there; no log says whether there is one.
pub fn may_compute(report: &Report) -> bool {
    // The last call of a run that was killed or hung says only that it did not return.
    let facts = &report.loss_facts;
    let Some(loss) = facts.communication.as_ref().filter(|_| !report.is_only_described()) else { return false };
    let Some(at) = &loss.at else { return false };
    if !at.is_reduction() {
        return false;
    }
    let (Some(share), Some(amounts)) = (at.share, CallAmounts::new(report, at)) else { return false };
    let seconds_each = loss.lost_s * share / amounts.calls_each.max(1) as f64;
    let has_cores = !report.has_crowded_cores()
        && !report.problems.iter().any(|row| matches!(row.kind, ProblemKind::NoCore | ProblemKind::Preempted));
    facts.called_by_mpi.is_none()
        && has_cores
        && amounts.bytes_each < MAX_BYTES_OF_SMALL_MESSAGE
        && seconds_each >= MIN_LONG_REDUCTION_S
}
