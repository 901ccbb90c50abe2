//! Ranks wait for access to the memory of a rank that computes meanwhile.

use lbprof_analysis::model::replayed::waits::WaitState;

use crate::Report;
use crate::findings::phrases::ranks::waiting_ranks;
use crate::findings::shared::loss_parts::LossParts;
use crate::findings::shared::windows::{WindowWait, longest_wait, most_awaited};
use crate::losses::finding::{Finding, FindingAdvice, FindingCause};

/// Detects that ranks wait for busy targets.
pub fn find_busy_target(report: &Report, parts: &LossParts) -> Option<Finding> {
    if parts.windows != Some(WindowWait::Target) {
        return None;
    }
    let target = most_awaited(report);
    let because = match target {
        Some(rank) => {
            let (ranks, wait) = waiting_ranks(report, &[rank]);
            format!("rank {rank} computes while {ranks} {wait} for access to a window of its memory")
        }
        None => "ranks compute while others wait for access to a window of their memory".to_owned(),
    };
    Some(Finding {
        ranks: target.into_iter().collect(),
        place: longest_wait(report, WaitState::Target),
        advice: Some(FindingAdvice::Try(
            "let MPI answer while that rank computes: call MPI there more often, or use the library's asynchronous progress (MPICH_ASYNC_PROGRESS=1); \
             or keep the window on a rank that does not compute"
                .to_owned(),
        )),
        ..Finding::part("busy target", parts.windows_s, FindingCause::Because(because))
    })
}
