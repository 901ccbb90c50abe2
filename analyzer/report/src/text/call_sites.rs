//! The table of call sites.

use super::TextOptions;
use super::columns::{Cell, Column, Table};
use crate::words::clean;
use crate::{Report, SiteRow};

const CALL_SITES: Table<SiteRow> = Table {
    name: "Call sites",
    columns: &[
        Column("<call", |row| Cell::Text(row.operation.clone())),
        Column("~at", |row| Cell::Text(if row.id.is_some() { clean(&row.place.label()) } else { "?".to_owned() })),
        Column("+share", |row| Cell::Share(row.share)),
        Column("+mean", |row| Cell::Time(row.mean_s)),
        Column("longest", |row| Cell::Time(row.max_s)),
        Column("on\nrank", |row| Cell::nonzero(row.sum.calls, |_| Cell::rank(row.max_rank))),
        Column("+other\nthreads", |row| {
            Cell::nonzero(row.other_threads.calls, |_| Cell::Time(row.other_threads_mean_s))
        }),
        Column("+calls", |row| Cell::Count(row.sum.calls.saturating_add(row.other_threads.calls))),
        Column("+bytes", |row| Cell::nonzero(moved_bytes(row), Cell::Bytes)),
    ],
    spare: &[&["bytes"], &["calls"], &["longest", "on"], &["other"]],
    weight: Some(|row| if row.other_threads.seconds > row.sum.seconds { 1.0 } else { row.share }),
};

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    CALL_SITES.section(&report.call_sites, &[], options)
}

/// The bytes that the calls of all threads sent and received.
fn moved_bytes(row: &SiteRow) -> u64 {
    let sums = [row.sum, row.other_threads];
    sums.iter().fold(0, |moved: u64, sum| moved.saturating_add(sum.sent).saturating_add(sum.received))
}
