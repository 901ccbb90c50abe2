//! Names in a study's tables, back to what they name.

use lbprof_collector::Activity;
use lbprof_collector::definition::RegionKind;
use rusqlite::Row;

use super::cells::wrong_cell;
use lbprof_analysis::metrics::blocking::CauseClass;
use lbprof_analysis::metrics::overhead::TimeCategory;

/// Finds the value in `all` that a column names, or returns an error if there is none of that name.
fn find_named<T: Copy>(row: &Row, column: &str, all: &[T], name: impl Fn(T) -> &'static str) -> rusqlite::Result<T> {
    let found: String = row.get(column)?;
    let value = all.iter().copied().find(|&one| name(one) == found);
    value.ok_or_else(|| wrong_cell(format!("{column} {found:?} is not known").into()))
}

pub(super) fn read_activity(row: &Row) -> rusqlite::Result<Activity> {
    find_named(row, "activity", &Activity::ALL, Activity::name)
}

pub(super) fn read_phase_name(row: &Row) -> rusqlite::Result<TimeCategory> {
    find_named(row, "phase", &TimeCategory::ALL, TimeCategory::name)
}

pub(super) fn read_class(row: &Row) -> rusqlite::Result<CauseClass> {
    find_named(row, "class", &CauseClass::ALL, CauseClass::name)
}

pub(super) fn read_region_kind(row: &Row) -> rusqlite::Result<RegionKind> {
    find_named(row, "kind", &RegionKind::ALL, RegionKind::name)
}
