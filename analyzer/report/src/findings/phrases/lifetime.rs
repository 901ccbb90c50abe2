//! Describes the lifetime of processes outside of the recorded window.

use crate::Report;
use crate::rows::words::{format_percent, format_seconds};
use crate::run::lifetime::{LifetimePart, LifetimeTable};
use lbprof_thresholds::wording::MIN_PHASE_OF_LIFETIME;

/// Describes the share of the run that the efficiencies cover and the use of the rest, unless that is short.
pub fn lifetime_sentence(report: &Report) -> Option<String> {
    let table = report.lifetime.as_ref().filter(|table| table.is_worth_a_line())?;
    Some(format!(
        "the efficiencies describe {} of the run, which takes {}; of the rest: {}",
        format_percent(table.described_share),
        format_seconds(table.elapsed_s),
        phases_in_words(table).join(", "),
    ))
}

/// Describes the long phases outside of the window.
pub fn phases_in_words(table: &LifetimeTable) -> Vec<String> {
    table.parts.iter().filter_map(|part| part_in_words(part, table)).collect()
}

/// Describes a phase by its median, and by the rank that stands out.
fn part_in_words(part: &LifetimePart, table: &LifetimeTable) -> Option<String> {
    let short_s = MIN_PHASE_OF_LIFETIME * table.elapsed_s;
    let name = part.phase;
    let stands_out = part.max_s > part.median_s + short_s.max(0.5 * part.median_s);
    match (part.median_s >= short_s, stands_out) {
        (true, false) => Some(format!("{name} {}", format_seconds(part.median_s))),
        (true, true) => Some(format!(
            "{name} {} (rank {}: {})",
            format_seconds(part.median_s),
            part.max_rank,
            format_seconds(part.max_s)
        )),
        (false, true) => Some(format!("{name} {} on rank {}", format_seconds(part.max_s), part.max_rank)),
        (false, false) => None,
    }
}
