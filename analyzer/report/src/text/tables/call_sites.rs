//! The table of call sites.

use crate::rows::words::escape_name;
use crate::text::TextOptions;
use crate::text::columns::{ColumnCell, ColumnTable, TextColumn};
use crate::{Report, SiteRow};

const CALL_SITES: ColumnTable<SiteRow> = ColumnTable {
    name: "Call sites",
    columns: &[
        TextColumn("<call", |row| ColumnCell::Text(row.operation.clone())),
        TextColumn("~at", |row| {
            ColumnCell::Text(if row.id.is_some() { escape_name(&row.place.label()) } else { "?".to_owned() })
        }),
        TextColumn("+share", |row| ColumnCell::Share(row.share)),
        TextColumn("+mean", |row| ColumnCell::Time(row.mean_s)),
        TextColumn("longest", |row| ColumnCell::Time(row.max_s)),
        TextColumn("on\nrank", |row| ColumnCell::nonzero(row.sum.calls, |_| ColumnCell::rank(row.max_rank))),
        TextColumn("+other\nthreads", |row| {
            ColumnCell::nonzero(row.other_threads.calls, |_| ColumnCell::Time(row.other_threads_mean_s))
        }),
        TextColumn("+calls", |row| ColumnCell::Count(row.sum.calls.saturating_add(row.other_threads.calls))),
        TextColumn("+bytes", |row| ColumnCell::nonzero(moved_bytes(row), ColumnCell::Bytes)),
    ],
    spare: &[&["bytes"], &["calls"], &["longest", "on"], &["other"]],
    weight: Some(|row| if row.other_threads.seconds > row.sum.seconds { 1.0 } else { row.share }),
};

pub(in crate::text) fn call_sites_section(report: &Report, options: &TextOptions) -> String {
    CALL_SITES.section(&report.call_sites, &[], options)
}

fn moved_bytes(row: &SiteRow) -> u64 {
    let sums = [row.sum, row.other_threads];
    sums.iter().fold(0, |moved: u64, sum| moved.saturating_add(sum.sent).saturating_add(sum.received))
}
