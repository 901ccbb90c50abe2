//! A rank computes longer than the mean in the control of parallelism.

use crate::Report;
use crate::findings::phrases::ranks::named_ranks;
use crate::findings::shared::loss_parts::LossParts;
use crate::losses::finding::{Finding, FindingCause, FindingPlace};
use crate::losses::names::region_name;

/// Detects that ranks wait for the control of parallelism by others.
pub fn find_control_loss(report: &Report, parts: &LossParts) -> Option<Finding> {
    let loss = report.loss_facts.control.first()?;
    let place = loss.region.as_ref().map(|path| FindingPlace {
        region: Some(path.clone()),
        ..FindingPlace::in_words(format!("in region {}", region_name(path)))
    });
    let mut ranks: Vec<u32> = loss.ranks.iter().map(|&(rank, _)| rank).collect();
    ranks.sort_unstable();
    let cause = FindingCause::To("waiting for the control of parallelism", format!("by {}", named_ranks(&ranks)));
    Some(Finding { ranks, place, ..Finding::part("control of parallelism", parts.control_s, cause) })
}
