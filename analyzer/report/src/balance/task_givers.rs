//! Ranks that hand out the work of all others, and take none of it: they answer requests, or host the counter from which tasks are taken.
//!
//! ```text
//!   rank 0   |recv any|send 1|recv any|send 2| …              it answers whoever asks first
//!   rank 0   |barrier ........................................|   its window holds the counter
//!   rank 1   |fetch 0|== task ==|fetch 0|== task ==|..|barrier|
//!   rank 2   |fetch 0|==== task ====|fetch 0|= task =|.|barrier|
//! ```

use std::collections::BTreeSet;

use lbprof_analysis::model::Model;
use lbprof_analysis::model::replayed::replay_results::RequestServer;
use lbprof_collector::Activity;
use lbprof_thresholds::verdict::{
    MAX_COMPUTATION_OF_IDLE_MASTER, MAX_DIFFERENCE_OF_MESSAGES, MIN_MESSAGES_OF_MASTER, MIN_TASKS_OF_POOL,
};

/// Returns the ranks that hand out nearly all work of all others, at least two, and take none. The host of a counter must be idle.
pub(crate) fn find_task_givers(model: &Model) -> BTreeSet<u32> {
    let Some(tasks) = model.followed.as_ref().map(|followed| &followed.on_demand) else { return BTreeSet::new() };
    let computation: Vec<(u32, f64)> =
        model.ranks.iter().map(|rank| rank.rank).zip(model.inclusive_s(0, Activity::Computation)).collect();
    let most_s = MAX_COMPUTATION_OF_IDLE_MASTER * model.elapsed_s();
    let hosts = tasks.hosts.iter().copied().filter(|&host| {
        tasks.hosts.len() == 1 && computation.iter().any(|&(rank, own_s)| rank == host && own_s <= most_s)
    });
    let servers = tasks.servers.iter().filter(|server| has_answered_all(server)).map(|server| server.rank);
    let mut givers: BTreeSet<u32> = hosts.chain(servers).collect();
    givers.retain(|giver| !tasks.last.iter().any(|last| last.rank == *giver));
    let of_workers = computation.iter().filter(|(rank, _)| !givers.contains(rank));
    let workers_s: f64 = of_workers.map(|(_, own_s)| own_s).sum();
    let is_pool = model.ranks.len() > givers.len() + 1
        && tasks.last.len() + givers.len() == model.ranks.len()
        && tasks.total_s >= MIN_TASKS_OF_POOL * workers_s;
    if is_pool { givers } else { BTreeSet::new() }
}

/// Returns whether a rank answers nearly all messages that it receives.
fn has_answered_all(server: &RequestServer) -> bool {
    let unanswered = server.requests.saturating_sub(server.answers) as f64;
    server.answers >= MIN_MESSAGES_OF_MASTER && unanswered <= MAX_DIFFERENCE_OF_MESSAGES * server.requests as f64
}
