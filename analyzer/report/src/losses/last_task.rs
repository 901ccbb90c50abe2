//! The last task of a pool of workers, for which the others wait because no tasks are left.
//!
//! ```text
//!   rank 1   |task|task|task|task|.................|
//!   rank 2   |task|task|task|===== last task ======|   started late, and longer than the others
//!   rank 3   |task|task|task|task|.................|
//! ```

use lbprof_analysis::model::replayed::replay_results::ReplayResults;
use lbprof_thresholds::verdict::{MIN_EXCESS_OF_LAST_TASKS, MIN_FACTOR_OF_LONG_TASK};

use super::verdict::Verdict;

/// The last tasks of the rank that computes longest, after which the other workers wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AwaitedTask {
    /// The rank.
    pub rank: u32,
    /// Number of last tasks: times that no tasks were left.
    pub rounds: u64,
    /// Seconds of such a task, on average.
    pub task_s: f64,
    /// Seconds of all tasks, on average.
    pub mean_task_s: f64,
}

impl AwaitedTask {
    /// Returns the awaited tasks if they explain why a rank computes longest.
    pub(crate) fn find(followed: Option<&ReplayResults>, verdict: &Verdict) -> Option<AwaitedTask> {
        let followed = followed.filter(|followed| followed.counts.hands_out_work)?;
        let worst = verdict.worst.as_ref().filter(|_| verdict.is_mostly_imbalance())?;
        let tasks = &followed.on_demand;
        let last = tasks.last.iter().find(|last| last.rank == worst.rank)?;
        (last.total_s >= MIN_EXCESS_OF_LAST_TASKS * worst.over_mean_s).then(|| AwaitedTask {
            rank: last.rank,
            rounds: last.tasks,
            task_s: last.total_s / last.tasks as f64,
            mean_task_s: tasks.total_s / tasks.tasks.max(1) as f64,
        })
    }

    /// Returns whether the task is much longer than the mean.
    pub fn is_long(&self) -> bool {
        self.task_s >= MIN_FACTOR_OF_LONG_TASK * self.mean_task_s
    }
}
