//! Ranks compute while they hold a lock of a window that others wait for.

use lbprof_analysis::model::replayed::waits::WaitState;

use crate::Report;
use crate::findings::phrases::ranks::who_waits;
use crate::findings::shared::loss_parts::LossParts;
use crate::findings::shared::windows::{WindowWait, longest_wait, most_awaited};
use crate::losses::finding::{Finding, FindingAdvice, FindingCause};

/// Detects that ranks wait for locks that are held while their holders compute.
pub fn find_held_lock(report: &Report, parts: &LossParts) -> Option<Finding> {
    if parts.windows != Some(WindowWait::Lock) {
        return None;
    }
    let holder = most_awaited(report);
    let because = match holder {
        Some(rank) => {
            format!("rank {rank} computes while it holds a lock of a window, and {}", who_waits(report, &[rank]))
        }
        None => "ranks compute while they hold a lock of a window, and the others wait for it".to_owned(),
    };
    Some(Finding {
        ranks: holder.into_iter().collect(),
        place: longest_wait(report, WaitState::Lock),
        advice: Some(FindingAdvice::Try(
            "compute before the lock is taken or after it is given back; or divide the data among several windows or targets; or use operations that \
             need no exclusive lock (MPI_Accumulate, MPI_Fetch_and_op)"
                .to_owned(),
        )),
        ..Finding::part("held lock", parts.windows_s, FindingCause::Because(because))
    })
}
