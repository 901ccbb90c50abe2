//! Nearly all time is computation.

use crate::findings::phrases::ranks::{capitalized_ranks, computing_share};
use crate::findings::shared::gain;
use crate::losses::finding::{Finding, FindingTone};
use crate::{LifetimeTable, Report};

/// Detects that there is little to gain.
pub fn find_balanced_run(report: &Report) -> Option<Finding> {
    let verdict = &report.verdict;
    let computes = computing_share(report);
    let sentence = if report.is_only_described() {
        format!("{computes} of the time is computation.")
    } else {
        let most = gain_at_most(1.0 - verdict.efficiency.times.parallel().unwrap_or(0.0));
        let who = match &verdict.cluster {
            Some(cluster) => format!("{} are well balanced", capitalized_ranks(cluster)),
            None => "Well balanced".to_owned(),
        };
        let (between, there) = match report.lifetime.as_ref().is_some_and(LifetimeTable::is_worth_a_line) {
            true => (" between MPI_Init and MPI_Finalize", " there"),
            false => ("", ""),
        };
        format!("{who}{between}: {computes} of the time is computation, at most {most} to gain{there}.")
    };
    verdict.is_good().then(|| Finding {
        gain: gain::of_prediction(report, |row| row.is_asked),
        ..Finding::of_whole("balanced", FindingTone::Good, sentence)
    })
}

/// Returns a share that is surely not exceeded.
fn gain_at_most(share: f64) -> String {
    match (1000.0 * share).ceil() / 10.0 {
        small if small < 1.0 => format!("{small:.1} %"),
        large => format!("{:.0} %", large.ceil()),
    }
}
