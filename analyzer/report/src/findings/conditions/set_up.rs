//! Most of the run lies outside of `MPI_Init` … `MPI_Finalize`.

use lbprof_thresholds::verdict::MAX_RUN_OF_SET_UP;

use crate::Report;
use crate::findings::phrases::lifetime::phases_in_words;
use crate::findings::phrases::ranks::short_percent;
use crate::losses::finding::{Finding, FindingAdvice, FindingSubject, FindingTone};
use crate::rows::words::{format_seconds, seconds_like};

/// Detects that set-up takes longer than the work of the ranks together.
pub fn find_set_up_time(report: &Report, figures: &[Finding]) -> Option<Finding> {
    let table = report.lifetime.as_ref().filter(|_| report.facts.selected.is_all())?;
    let is_most = table.described_share < MAX_RUN_OF_SET_UP && table.set_up_s() > report.data.elapsed_s;
    let sentence = format!(
        "Set-up dominates: the ranks work together for {} of {} ({}); of the rest: {}.",
        seconds_like(report.data.elapsed_s, table.elapsed_s),
        format_seconds(table.elapsed_s),
        short_percent(table.described_share),
        phases_in_words(table).join(", ")
    );
    (is_most && !report.verdict.is_of_nothing()).then(|| Finding {
        tone: FindingTone::Bad,
        subject: FindingSubject::SetUp,
        before_figures: Some("between MPI_Init and MPI_Finalize, "),
        place: figures.first().and_then(|one| one.place.clone()),
        advice: Some(FindingAdvice::LookAt(
            "what the program does before MPI_Init and after MPI_Finalize (imports, reading input, other start-up)"
                .to_owned(),
        )),
        ..Finding::condition("set-up", sentence)
    })
}
