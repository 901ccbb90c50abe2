//! Ranks access files through MPI, or wait for those that do.

use crate::Report;
use crate::finding::{Finding, FindingAdvice, FindingCause, FindingPlace};
use crate::findings::loss_parts::{LossParts, loss_of};
use crate::loss_kind::LossKind;
use crate::phrases::ranks::who_waits;

/// Detects that time is lost to access to files.
pub fn detect(report: &Report, parts: &LossParts) -> Option<Finding> {
    if parts.files_s <= 0.0 {
        return None;
    }
    let loss = loss_of(report, LossKind::FileAccess)?;
    let only = loss.single_cause();
    let cause = match only {
        Some(rank) => FindingCause::Because(format!("rank {rank} accesses files, and {}", who_waits(report, &[rank]))),
        None => FindingCause::To("access to files", String::new()),
    };
    let advice = match only {
        Some(_) => FindingAdvice::Try(
            "let all ranks access files together, or one of them in the background; a better network saves nothing"
                .to_owned(),
        ),
        None => FindingAdvice::LookAt(
            "how often files are accessed, and in which pieces; a better network saves nothing".to_owned(),
        ),
    };
    Some(Finding {
        ranks: only.into_iter().collect(),
        place: loss.at.as_ref().map(FindingPlace::from_call),
        advice: Some(advice),
        ..Finding::part("file access", parts.files_s, cause)
    })
}
