//! Ranks access files through MPI, or wait for those that do.

use lbprof_collector::Activity;
use lbprof_thresholds::wording::MIN_LOSS_IN_ONE_PLACE;

use crate::Report;
use crate::findings::phrases::ranks::{named_ranks, who_waits};
use crate::findings::shared::loss_parts::LossParts;
use crate::losses::finding::{Finding, FindingAdvice, FindingCause, FindingPlace};

/// Detects that time is lost to access to files.
pub fn find_file_access_loss(report: &Report, parts: &LossParts) -> Option<Finding> {
    let loss = report.loss_facts.file_access.as_ref()?;
    // Where all ranks access files alike, few wait for the last of them.
    let is_waiting = waited_s(report) >= MIN_LOSS_IN_ONE_PLACE * parts.files_s;
    let writers = match loss.single_cause() {
        _ if !is_waiting => Vec::new(),
        Some(rank) => vec![rank],
        None => loss.major_ranks(report.ranks.len()),
    };
    let cause = match writers.len() {
        0 => FindingCause::To("access to files", String::new()),
        n => {
            let verb = if n == 1 { "accesses" } else { "access" };
            FindingCause::Because(format!(
                "{} {verb} files, and {}",
                named_ranks(&writers),
                who_waits(report, &writers)
            ))
        }
    };
    let advice = match writers.is_empty() {
        true => FindingAdvice::LookAt(
            "how often files are accessed, and in pieces of which size; a faster network will not help".to_owned(),
        ),
        false => FindingAdvice::Try(
            "let all ranks access files together, or these in the background; a faster network will not help"
                .to_owned(),
        ),
    };
    Some(Finding {
        ranks: writers,
        place: loss.at.as_ref().map(FindingPlace::from_call),
        advice: Some(advice),
        ..Finding::part("file access", parts.files_s, cause)
    })
}

/// Returns how long the mean rank waits for others that access files.
pub(super) fn waited_s(report: &Report) -> f64 {
    let causes = report.blocking.iter().flat_map(|table| &table.causes);
    let of_files = causes.filter(|row| row.activity == Some(Activity::Io));
    of_files.map(|row| row.cause.caused_s).sum::<f64>() / report.ranks.len().max(1) as f64
}
