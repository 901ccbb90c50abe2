//! A rank works while the others have nothing to do.

use lbprof_analysis::read::definitions::WHOLE_PROGRAM;
use lbprof_collector::Activity;
use lbprof_thresholds::verdict::MAX_WORK_OF_OTHERS;

use super::slowest;
use crate::Report;
use crate::findings::phrases::ranks::who_waits;
use crate::findings::shared::loss_parts::LossParts;
use crate::losses::finding::Finding;
use crate::losses::longest_rank::LongestRank;
use crate::rows::words::seconds_like;

/// Detects that the rank that computes longest works alone where its excess lies.
pub fn find_serial_code_loss(report: &Report, parts: &LossParts) -> Option<Finding> {
    let worst = report.verdict.worst.as_ref()?;
    if !is_working_alone(report, worst) {
        return None;
    }
    let when = slowest::slow_iterations(report, worst);
    // Never for longer than no other rank computes.
    let alone_s = report.overheads.alone.as_ref().map_or(f64::INFINITY, |alone| alone.alone_s);
    let how_long = seconds_like(time_of(report, worst).min(alone_s), report.verdict.elapsed_s);
    let others = who_waits(report, &[worst.rank]);
    let because = format!("rank {} works alone for {how_long}{when}, and {others}", worst.rank);
    Some(Finding {
        advice: Some(slowest::advice_on_serial_code(report, worst.rank)),
        ..slowest::slow_rank_finding(report, "serial code", parts.imbalance_s, because)
    })
}

/// Returns whether the rank that computes longest has nearly all of the computation where most of its excess lies.
pub fn is_working_alone(report: &Report, worst: &LongestRank) -> bool {
    let Some(region) = worst.region.as_ref().filter(|region| region.path != WHOLE_PROGRAM) else { return false };
    let row = report.regions.iter().find(|row| row.path == region.path);
    let means = row.map(|row| row.mean_in_s(Activity::Computation));
    let n_ranks = report.verdict.cluster.as_ref().map_or(report.ranks.len(), |cluster| cluster.ranks.len()) as f64;
    // Its excess over the mean is all but its own part of the mean, if it has all.
    let is_most = region.excess_s >= 0.5 * worst.over_mean_s;
    // Others may work elsewhere meanwhile.
    let is_alone = report.overheads.alone.as_ref().is_none_or(|alone| alone.alone_s >= 0.5 * region.excess_s);
    is_most
        && is_alone
        && means.is_some_and(|mean_s| mean_s * (n_ranks - 1.0) <= region.excess_s * (1.0 + MAX_WORK_OF_OTHERS))
}

/// The computation of a rank in the region with most of its excess.
pub fn time_of(report: &Report, worst: &LongestRank) -> f64 {
    let Some(region) = &worst.region else { return worst.computation_s };
    let row = report.regions.iter().find(|row| row.path == region.path);
    region.excess_s + row.map_or(0.0, |row| row.mean_in_s(Activity::Computation))
}
