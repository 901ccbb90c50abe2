//! A master that hands out work, and is idle while its workers do it.
//!
//! It is the one rank with code of its own. As many messages leave it as the others receive, and the other way round, several for each worker; and
//! it computes for a small part of its time. Its waiting is no loss of the workers: they have something to do all the time.
//!
//! The same holds for a rank that hosts the counter from which all others take their tasks ([`crate::balance::task_givers`]).

use lbprof_analysis::model::{Model, RankModel};
use lbprof_analysis::profile::operation_name;
use lbprof_thresholds::verdict::{MAX_COMPUTATION_OF_IDLE_MASTER, MAX_DIFFERENCE_OF_MESSAGES, MIN_MESSAGES_OF_MASTER};

use super::verdict::Verdict;
use crate::balance::clusters::{ClusterRow, ClusterTable};

/// A master that is idle most of the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleMaster {
    /// The master.
    pub rank: u32,
    /// The ranks to which it hands out work.
    pub workers: Vec<u32>,
    /// True if it does so by a counter in its window.
    pub hosts_counter: bool,
}

/// Calls that send and receive messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct MessageCalls {
    sends: u64,
    receives: u64,
}

impl IdleMaster {
    /// Returns the master of a run whose workers lose little to one another, or `None` if it has none.
    pub(crate) fn find(model: &Model, clusters: &ClusterTable, verdict: &Verdict) -> Option<IdleMaster> {
        let are_balanced = verdict.is_good() || verdict.is_mostly_communication();
        let ([workers], [master]) = (clusters.rows.as_slice(), clusters.alone.as_slice()) else { return None };
        let &[rank] = master.ranks.as_slice() else { return None };
        let is_idle = master.efficiency.parallel.is_some_and(|share| share <= MAX_COMPUTATION_OF_IDLE_MASTER);
        let hosts_counter = model.followed.as_ref().is_some_and(|followed| followed.on_demand.hosts == [rank]);
        (are_balanced && is_idle && (hosts_counter || hands_out(model, rank, workers))).then(|| IdleMaster {
            rank,
            workers: workers.ranks.clone(),
            hosts_counter,
        })
    }
}

/// Returns whether the workers seem to exchange all messages with the master, judged by the numbers of messages.
fn hands_out(model: &Model, master: u32, workers: &ClusterRow) -> bool {
    let (of_master, of_workers): (Vec<&RankModel>, Vec<&RankModel>) =
        model.ranks.iter().partition(|rank| rank.rank == master);
    if of_workers.len() != workers.rank_count {
        return false;
    }
    let (master, workers) = (MessageCalls::count(&of_master), MessageCalls::count(&of_workers));
    master.sends >= MIN_MESSAGES_OF_MASTER * of_workers.len() as u64
        && is_near(master.sends, workers.receives)
        && is_near(master.receives, workers.sends)
}

fn is_near(a: u64, b: u64) -> bool {
    a.abs_diff(b) as f64 <= MAX_DIFFERENCE_OF_MESSAGES * a.max(b) as f64
}

impl MessageCalls {
    fn count(ranks: &[&RankModel]) -> MessageCalls {
        let mut calls = MessageCalls::default();
        for (key, cell) in ranks.iter().flat_map(|rank| rank.sites.iter().chain(&rank.other_sites)) {
            let name = operation_name(key.operation).to_ascii_lowercase();
            match name.as_str() {
                "sendrecv" | "isendrecv" | "sendrecv_replace" => {
                    calls.sends += cell.calls;
                    calls.receives += cell.calls;
                }
                name if name.ends_with("send") => calls.sends += cell.calls,
                name if name.ends_with("recv") => calls.receives += cell.calls,
                _ => {}
            }
        }
        calls
    }
}
