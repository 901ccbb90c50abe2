//! A rank that hosts the counter from which all others take their tasks, and waits for the end:
//!
//! ```text
//!   rank 0   |barrier ........................................|   its window holds the counter
//!   rank 1   |fetch 0|== task ==|fetch 0|== task ==|..|barrier|
//!   rank 2   |fetch 0|==== task ====|fetch 0|= task =|.|barrier|
//! ```

use lbprof_analysis::model::Model;
use lbprof_collector::Activity;
use lbprof_thresholds::verdict::{MAX_COMPUTATION_OF_IDLE_MASTER, MIN_TASKS_OF_POOL};

/// Returns the index of an idle rank whose window holds the counter from which all others, at least two, take nearly all of their work as tasks.
pub(super) fn idle_host(model: &Model) -> Option<usize> {
    let tasks = &model.followed.as_ref()?.on_demand;
    let host = tasks.host_without_tasks()?;
    let at = model.ranks.iter().position(|rank| rank.rank == host)?;
    let is_pool = model.ranks.len() > 2
        && tasks.last.len() + 1 == model.ranks.len()
        && tasks.total_s >= MIN_TASKS_OF_POOL * tasks.computed_s;
    let computation = model.inclusive_s(0, Activity::Computation);
    let is_idle = *computation.get(at)? <= MAX_COMPUTATION_OF_IDLE_MASTER * model.elapsed_s();
    (is_pool && is_idle).then_some(at)
}
