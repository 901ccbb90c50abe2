//! The table of call sites: where MPI is called, and what it takes there.

use std::collections::BTreeMap;

use lbprof_collector::Activity;

use crate::model::{Cell, Model, SiteKey};
use crate::profile::operation_name;
use crate::structure::symbols::{Place, first_on_line};

/// A call site, operation and activity.
#[derive(Clone, Debug)]
pub struct SiteRow {
    /// Index in the model's call sites; `None` where the recorder did not know it.
    pub id: Option<u32>,
    /// Where it is.
    pub place: Place,
    /// The operation's name.
    pub operation: String,
    /// Activity of its time.
    pub activity: Activity,
    /// Time, calls and bytes of the ranks' first threads, summed over ranks and regions.
    pub sum: Cell,
    /// The same of all other threads.
    pub other_threads: Cell,
    /// Longest time of a rank.
    pub max_s: f64,
    /// The rank that has it.
    pub max_rank: u32,
}

/// One row a place, operation and activity. Calls on one source line are one place. The longest come first.
pub(super) fn rows(model: &Model, places: &[Place]) -> Vec<SiteRow> {
    let first = first_on_line(places);
    let by_place = |sites: &[(SiteKey, Cell)]| {
        let mut sums: BTreeMap<SiteKey, Cell> = BTreeMap::new();
        for (key, cell) in sites {
            let site = key.site.map(|site| first.get(site as usize).copied().unwrap_or(site));
            *sums.entry(SiteKey { site, region: 0, ..*key }).or_default() += *cell;
        }
        sums
    };
    let mut rows: BTreeMap<SiteKey, SiteRow> = BTreeMap::new();
    for rank in &model.ranks {
        let new = |key: &SiteKey| SiteRow {
            id: key.site,
            place: key.site.and_then(|site| places.get(site as usize)).cloned().unwrap_or_default(),
            operation: operation_name(key.operation),
            activity: key.activity,
            sum: Cell::default(),
            max_s: 0.0,
            max_rank: rank.rank,
            other_threads: Cell::default(),
        };
        for (key, cell) in by_place(&rank.sites) {
            let row = rows.entry(key).or_insert_with_key(new);
            row.sum += cell;
            if cell.seconds > row.max_s {
                (row.max_s, row.max_rank) = (cell.seconds, rank.rank);
            }
        }
        for (key, cell) in by_place(&rank.other_sites) {
            rows.entry(key).or_insert_with_key(new).other_threads += cell;
        }
    }
    let mut rows: Vec<SiteRow> = rows.into_values().collect();
    rows.sort_by(|a, b| {
        let time = |row: &SiteRow| (row.sum.seconds, row.other_threads.seconds);
        let ((a, a_others), (b, b_others)) = (time(a), time(b));
        b.total_cmp(&a).then(b_others.total_cmp(&a_others))
    });
    rows
}
