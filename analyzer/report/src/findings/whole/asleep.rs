//! Nearly all time is spent outside of MPI, but asleep or stopped.

use lbprof_analysis::metrics::sleep_time::SleepTime;

use crate::Report;
use crate::finding::{Finding, FindingAdvice, FindingTone};
use crate::phrases::ranks::{asleep_part, computing_share, sleep_of_ranks, stopper};

/// Detects that ranks sleep for much of what counts as computation.
pub fn detect(report: &Report) -> Option<Finding> {
    let sleep = sleep_of_ranks(report).filter(|_| report.verdict.is_good())?;
    let advice = match SleepTime::is_stopped(sleep) {
        true => stopper("the ranks"),
        false => "what the ranks wait for outside of MPI: files, sleep(), locks, devices".to_owned(),
    };
    let sentence = format!(
        "Little is lost in MPI: {} of the time is spent outside of it, but {}.",
        computing_share(report),
        asleep_part(report)
    );
    Some(Finding {
        advice: Some(FindingAdvice::LookAt(advice)),
        ..Finding::of_whole("asleep", FindingTone::Unclear, sentence)
    })
}
