//! The table of call sites.

use std::collections::BTreeMap;

use lbprof_collector::Activity;
use lbprof_collector::record::NONE;
use serde::Serialize;

use crate::BlockingTable;
use crate::rows::serial;
use crate::waiting::blocking::site_of_line;
use lbprof_analysis::model::replayed::statistics::CallDurations;
use lbprof_analysis::model::{CallTotals, Model, SiteTotalsKey};
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::structure::code::symbols::{CodePlace, first_on_line};

/// A call site, operation and activity.
#[derive(Clone, Debug, Serialize, crate::JsonSchema)]
pub struct SiteRow {
    /// Id of the call site, the same for all objects of one place; null if the recorder did not know it.
    pub id: Option<u32>,
    /// Location in the source.
    #[serde(flatten)]
    pub place: CodePlace,
    /// The MPI function, without `MPI_`.
    pub operation: String,
    /// The activity of its time.
    #[serde(serialize_with = "serial::activity")]
    #[schemars(with = "serial::ActivityName")]
    pub activity: Activity,
    /// Time, calls and bytes of the ranks' first threads, summed over ranks and regions.
    #[serde(flatten)]
    pub sum: CallTotals,
    /// The ranks whose first threads make the calls, ascending, and how many of them each makes.
    #[serde(skip)]
    pub callers: Vec<(u32, u64)>,
    /// Totals of threads other than the one that called `MPI_Init`, which the figures above leave out.
    pub other_threads: CallTotals,
    /// Time over ranks × elapsed time.
    pub share: f64,
    /// Mean of its time over ranks.
    pub mean_s: f64,
    /// Longest time of a rank.
    pub max_s: f64,
    /// The rank with that time.
    pub max_rank: u32,
    /// The mean over ranks of the time of threads other than the one that called `MPI_Init`.
    pub other_threads_mean_s: f64,
    /// Time in which they could only wait; null if waiting was not analysed.
    pub blocked_s: Option<f64>,
    /// The mean of `blocked_s` over ranks.
    pub blocked_mean_s: Option<f64>,
    /// `blocked_s` over the time of the ranks' first threads there.
    pub blocked_share: Option<f64>,
    /// Bytes moved: sent and received.
    pub bytes: u64,
    /// Durations of single calls, of all threads; null if calls were not looked at one by one.
    pub durations: Option<DurationsRow>,
}

/// The distribution of the durations of calls.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct DurationsRow {
    /// Calls; in a window of time those that lie partly in it, too.
    pub calls: u64,
    /// The shortest.
    pub min_s: f64,
    /// A rank that has it, the lowest of several.
    pub min_rank: u32,
    /// Their mean.
    pub mean_s: f64,
    /// The longest.
    pub max_s: f64,
    /// A rank that has it, the lowest of several.
    pub max_rank: u32,
    /// Their standard deviation.
    pub deviation_s: f64,
}

impl DurationsRow {
    fn from_durations(durations: &CallDurations) -> Option<DurationsRow> {
        Some(DurationsRow {
            calls: durations.calls,
            min_s: durations.min.0 as f64 * 1e-9,
            min_rank: durations.min.1,
            mean_s: durations.mean_s()?,
            max_s: durations.max.0 as f64 * 1e-9,
            max_rank: durations.max.1,
            deviation_s: durations.deviation_s()?,
        })
    }
}

/// Returns a row per source line, operation and activity, the longest first.
pub(crate) fn call_site_rows(model: &Model, places: &[CodePlace]) -> Vec<SiteRow> {
    let first = first_on_line(places);
    let mut rows: BTreeMap<SiteTotalsKey, SiteRow> = BTreeMap::new();
    for rank in &model.ranks {
        for (key, cell) in sums_by_line(&first, &rank.sites) {
            let row = rows.entry(key).or_insert_with_key(|key| SiteRow::empty(key, places, rank.rank));
            row.sum += cell;
            row.callers.push((rank.rank, cell.calls));
            if cell.seconds > row.max_s {
                (row.max_s, row.max_rank) = (cell.seconds, rank.rank);
            }
        }
        for (key, cell) in sums_by_line(&first, &rank.other_sites) {
            let row = rows.entry(key).or_insert_with_key(|key| SiteRow::empty(key, places, rank.rank));
            row.other_threads += cell;
        }
    }
    let mut rows: Vec<SiteRow> = rows.into_values().collect();
    let (n, whole) = (model.ranks.len().max(1) as f64, model.elapsed_s() * model.ranks.len() as f64);
    // One operation at one place may have two activities. Both rows get the durations of all calls.
    let mut durations: BTreeMap<(Option<u32>, String), CallDurations> = BTreeMap::new();
    for (&(site, operation), own) in model.statistics.iter().flat_map(|found| &found.calls) {
        let site = Some(site).filter(|&site| site != NONE).map(|site| site_of_line(&first, site));
        durations.entry((site, operation_name(operation))).or_default().add(own);
    }
    for row in &mut rows {
        row.share = if whole > 0.0 { row.sum.seconds / whole } else { 0.0 };
        row.mean_s = row.sum.seconds / n;
        row.other_threads_mean_s = row.other_threads.seconds / n;
        row.durations = durations.get(&(row.id, row.operation.clone())).and_then(DurationsRow::from_durations);
        row.bytes = row.sum.sent.saturating_add(row.sum.received);
    }
    rows.sort_by(|a, b| {
        let by_time = b.sum.seconds.total_cmp(&a.sum.seconds);
        by_time.then(b.other_threads.seconds.total_cmp(&a.other_threads.seconds))
    });
    rows
}

impl SiteRow {
    fn empty(key: &SiteTotalsKey, places: &[CodePlace], rank: u32) -> SiteRow {
        SiteRow {
            id: key.site,
            place: key.site.and_then(|site| places.get(site as usize)).cloned().unwrap_or_default(),
            operation: operation_name(key.operation),
            activity: key.activity,
            sum: CallTotals::default(),
            callers: Vec::new(),
            share: 0.0,
            mean_s: 0.0,
            max_s: 0.0,
            max_rank: rank,
            other_threads: CallTotals::default(),
            other_threads_mean_s: 0.0,
            blocked_s: None,
            blocked_mean_s: None,
            blocked_share: None,
            bytes: 0,
            durations: None,
        }
    }
}

fn sums_by_line(first: &[u32], sites: &[(SiteTotalsKey, CallTotals)]) -> BTreeMap<SiteTotalsKey, CallTotals> {
    let mut sums: BTreeMap<SiteTotalsKey, CallTotals> = BTreeMap::new();
    for (key, cell) in sites {
        let site = key.site.map(|site| site_of_line(first, site));
        *sums.entry(SiteTotalsKey { site, region: 0, ..*key }).or_default() += *cell;
    }
    sums
}

pub(crate) fn add_waiting(rows: &mut [SiteRow], blocking: Option<&BlockingTable>, n_ranks: usize) {
    let Some(table) = blocking else { return };
    for row in rows {
        let blocked_s = table.waits_at(row.id, &row.operation).blocked_s();
        row.blocked_s = Some(blocked_s);
        row.blocked_mean_s = Some(blocked_s / n_ranks.max(1) as f64);
        row.blocked_share = Some(if row.sum.seconds > 0.0 { blocked_s / row.sum.seconds } else { 0.0 });
    }
}
