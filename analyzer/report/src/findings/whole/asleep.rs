//! Nearly all time is spent outside of MPI, but asleep or stopped.

use crate::Report;
use crate::findings::phrases::doubts::asleep_in_words;
use crate::findings::phrases::ranks::{computing_share, possible_stopper};
use crate::losses::finding::{Finding, FindingAdvice, FindingTone};

/// Detects that ranks sleep for much of what counts as computation.
pub fn find_sleeping_ranks(report: &Report) -> Option<Finding> {
    let sleep = report.doubts.asleep.as_ref().filter(|_| report.verdict.is_good())?.worst;
    let advice = match sleep.is_stopped() {
        true => possible_stopper("the ranks"),
        false => "what the ranks wait for outside of MPI: files, sleep(), locks, devices".to_owned(),
    };
    let sentence = format!(
        "Little is lost in MPI: {} of the time is spent outside of it, but {}.",
        computing_share(report),
        asleep_in_words(&sleep)
    );
    Some(Finding {
        advice: Some(FindingAdvice::LookAt(advice)),
        ..Finding::of_whole("asleep", FindingTone::Unclear, sentence)
    })
}
