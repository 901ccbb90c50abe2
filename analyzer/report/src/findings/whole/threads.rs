//! More is lost to threads that idle outside of MPI than to MPI.

use crate::Report;
use crate::findings::phrases::threads;
use crate::findings::shared::{gain, place};
use crate::losses::finding::{Finding, FindingTone};

/// Detects that threads idle outside of MPI.
pub fn find_core_losses(report: &Report) -> Option<Finding> {
    let table = report.threads.as_ref().filter(|table| !table.is_good())?;
    (report.verdict.is_good() || table.is_lost_to_threads()).then(|| Finding {
        place: place::of_excess(report),
        gain: gain::of_prediction(report, |row| row.scenario.is_of_threads()),
        ..Finding::of_whole("threads", FindingTone::Bad, threads::core_use_sentence(report))
    })
}
