//! Nonblocking access to files that ranks wait for although they compute meanwhile: many MPI libraries access files only in the call that waits.

use lbprof_analysis::model::FileWaits;
use lbprof_collector::Activity;
use lbprof_thresholds::wording::MIN_LOSS_IN_ONE_PLACE;

use super::access::waited_s;
use crate::findings::phrases::ranks::{named_ranks, who_waits};
use crate::findings::shared::gain;
use crate::findings::shared::loss_parts::LossParts;
use crate::losses::LossAt;
use crate::losses::finding::{Finding, FindingAdvice, FindingCause, FindingPlace};
use crate::rows::words::{format_bytes, format_count, format_seconds, seconds_like};
use crate::{Report, SiteRow};

/// Detects that most access to files is waiting for nonblocking operations, during which ranks computed for as long before.
pub fn find_late_file_progress(report: &Report, parts: &LossParts) -> Option<Finding> {
    // The waits are known for the whole program alone.
    if report.facts.selected.region.is_some() {
        return None;
    }
    let calls: Vec<&SiteRow> = report.call_sites.iter().filter(|row| row.activity == Activity::Io).collect();
    let accessed_s: f64 = calls.iter().map(|row| row.sum.seconds).sum();
    let waits = all_waits(report);
    let is_most = waits.hidable_s > 0.0 && waits.hidable_s >= MIN_LOSS_IN_ONE_PLACE * accessed_s;
    if !is_most || waits.computed_s < waits.waited_s {
        return None;
    }
    // The rows are in order of time.
    let longest = calls.iter().find(|row| row.operation.starts_with("Wait") || row.operation.starts_with("Test"))?;
    let at = LossAt { operation: longest.operation.clone(), place: longest.place.clone(), share: None };
    let with_waits = report.ranks.iter().filter(|row| row.file_waits.hidable_s > 0.0);
    let ranks: Vec<u32> = with_waits.map(|row| row.rank).collect();
    let (to, _) = access_in_words(&waits);
    let is_all = ranks.len() == report.ranks.len();
    let are_awaited = !is_all && waited_s(report) >= MIN_LOSS_IN_ONE_PLACE * parts.files_s;
    let others = if are_awaited { format!(", and {}", who_waits(report, &ranks)) } else { String::new() };
    let words = format!("{}{others}", waits_in_words(report, &waits, &ranks, &at.operation));
    let gain_s = parts.files_s * (waits.hidable_s / accessed_s).min(1.0);
    Some(Finding {
        place: Some(FindingPlace::from_call(&at)),
        gain: gain::at_most(report, gain_s, "if files were accessed while ranks compute"),
        advice: Some(FindingAdvice::LookAt(
            "whether a thread that makes the blocking call, or a layer with asynchronous I/O (HDF5's async VOL, ADIOS2), hides it; MPI_Test in between \
             does not help where the MPI library starts nothing before the wait"
                .to_owned(),
        )),
        evidence: vec![
            ("calls_each", waits.calls as f64 / ranks.len() as f64),
            ("bytes_each", bytes_each(&waits) as f64),
            ("seconds_each", waits.waited_s / waits.calls as f64),
            ("computation_each", waits.computed_s / waits.calls as f64),
        ],
        ranks: if is_all { Vec::new() } else { ranks },
        ..Finding::part("late file progress", parts.files_s, FindingCause::To(to, words))
    })
}

/// Adds up the waits of the ranks that could have hidden some of them.
fn all_waits(report: &Report) -> FileWaits {
    let mut all = FileWaits::default();
    for row in report.ranks.iter().filter(|row| row.file_waits.hidable_s > 0.0) {
        all.add(&row.file_waits);
    }
    all
}

/// Returns what time is lost to, and one operation.
fn access_in_words(waits: &FileWaits) -> (&'static str, &'static str) {
    match (waits.written > 0, waits.read > 0) {
        (true, false) => {
            ("nonblocking writes to files, which seem to make no progress until ranks wait for them", "a write")
        }
        (false, true) => {
            ("nonblocking reads of files, which seem to make no progress until ranks wait for them", "a read")
        }
        _ => ("nonblocking access to files, which seems to make no progress until ranks wait for it", "an access"),
    }
}

fn bytes_each(waits: &FileWaits) -> u64 {
    waits.written.saturating_add(waits.read) / waits.calls.max(1)
}

/// Describes the mean call: the computation before it, its bytes and its time.
fn waits_in_words(report: &Report, waits: &FileWaits, ranks: &[u32], operation: &str) -> String {
    let is_all = ranks.len() == report.ranks.len();
    let (who, wait) = match ranks {
        [one] if !is_all => (format!("rank {one} computes"), "waits"),
        some if !is_all => (format!("{} each compute", named_ranks(some)), "wait"),
        _ => ("each rank computes".to_owned(), "waits"),
    };
    let calls = waits.calls as f64;
    let [computed, waited] = [waits.computed_s, waits.waited_s].map(|all_s| format_seconds(all_s / calls));
    let in_all = seconds_like(waits.waited_s / ranks.len() as f64, report.verdict.elapsed_s);
    let times = match (calls / ranks.len() as f64).round() as u64 {
        0 | 1 => String::new(),
        n => format!(", {} times, {in_all} in all", format_count(n)),
    };
    let (_, operation_started) = access_in_words(waits);
    let size = format_bytes(bytes_each(waits));
    format!(
        "{who} for {computed} after the start of {operation_started} of {size}, then {wait} for {waited} in MPI_{operation}{times}"
    )
}
