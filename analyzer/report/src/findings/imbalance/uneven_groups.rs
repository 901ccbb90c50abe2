//! A group of ranks computes longer than others, which run different code.

use super::slowest;
use crate::Report;
use crate::findings::phrases::ranks::{factor_in_words, named_ranks};
use crate::findings::shared::loss_parts::LossParts;
use crate::losses::finding::{Finding, FindingAdvice};
use crate::losses::names::region_name;
use crate::losses::uneven_groups::CodeGroup;
use crate::rows::words::escape_name;

/// Detects that one group of ranks runs code that takes longer than the code of the others.
pub fn find_uneven_code_groups(report: &Report, parts: &LossParts) -> Option<Finding> {
    let groups = report.uneven_groups.as_ref()?;
    let mean_s = report.verdict.worst.as_ref().map_or(0.0, |worst| worst.mean_s);
    let factor = factor_in_words(groups.slow.mean_s / mean_s.max(f64::MIN_POSITIVE));
    let others: Vec<String> = groups.others.iter().map(group_in_words).collect();
    let wait = if matches!(groups.others.as_slice(), [one] if one.ranks.len() == 1) { "waits" } else { "wait" };
    let has = if groups.slow.ranks.len() > 1 { "each have" } else { "has" };
    let because = format!(
        "{} {has} {factor} the average work, and {} {wait} for them",
        group_in_words(&groups.slow),
        others.join(" and ")
    );
    let slow = named_ranks(&groups.slow.ranks);
    Some(Finding {
        ranks: groups.slow.ranks.clone(),
        advice: Some(FindingAdvice::LookAt(format!(
            "how ranks are divided among these codes: give that of {slow} more ranks, or less work"
        ))),
        ..slowest::slow_rank_finding(report, "uneven groups", parts.imbalance_s, because)
    })
}

/// Returns a group of ranks with the function that they alone run: `ranks 0-3 (in atmosphere)`.
fn group_in_words(group: &CodeGroup) -> String {
    let ranks = named_ranks(&group.ranks);
    let Some(code) = &group.code else { return ranks };
    let own = match &code.region {
        Some(region) => region_name(region),
        None => escape_name(code.place.short_function()),
    };
    format!("{ranks} (in {own})")
}
