//! The recorder's own time.

use crate::Report;
use crate::findings::shared::loss_parts::LossParts;
use crate::losses::finding::{Finding, FindingCause, FindingSubject};

/// Detects that time is lost to the recorder.
pub fn find_recorder_cost(_: &Report, parts: &LossParts) -> Option<Finding> {
    let cause = FindingCause::To("writing the log", String::new());
    Some(Finding { subject: FindingSubject::Recorder, ..Finding::part("recorder", parts.recorder_s, cause) })
}
