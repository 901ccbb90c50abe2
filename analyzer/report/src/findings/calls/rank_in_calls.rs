//! Ranks wait for the calls of one rank.

use super::messages;
use crate::Report;
use crate::findings::phrases::ranks::waiting_ranks;
use crate::findings::shared::loss_parts::LossParts;
use crate::losses::finding::{Finding, FindingAdvice, FindingCause, FindingPlace, FindingSubject};

/// Detects that most of the time in calls is waiting for the calls of one rank.
pub fn find_rank_in_calls(report: &Report, parts: &LossParts) -> Option<Finding> {
    let loss = report.loss_facts.communication.as_ref()?;
    let (at, &(rank, _)) = loss.at.as_ref().zip(loss.ranks.first())?;
    let (ranks, wait) = waiting_ranks(report, &[rank]);
    let because = format!("{ranks} {wait} for rank {rank}, which is mostly in MPI_{}", at.operation);
    (!report.has_unrecorded_partners()).then(|| Finding {
        subject: FindingSubject::Messages,
        ranks: vec![rank],
        place: Some(FindingPlace::from_call(at)),
        gain: messages::gain_of_network(report),
        advice: messages::certain_advice(
            report,
            FindingAdvice::LookAt(
                "whether other ranks can take a part of what that rank sends and receives, or go on meanwhile"
                    .to_owned(),
            ),
        ),
        ..Finding::part("rank in calls", parts.calls_s, FindingCause::Because(because))
    })
}
