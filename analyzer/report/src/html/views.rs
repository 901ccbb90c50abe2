//! The page's own data, "views", version 2. docs/page-data.md describes every key; its tables are generated from these structs (`schema.rs`).

use std::io;

use lbprof_collector::Activity;
use serde::Serialize;
use serde_json::Value;

use super::packed::{ByName, PackedNumbers, numbers, whole_numbers};
use super::timeline::{self, TimelineData};
use lbprof_analysis::model::Model;
use lbprof_analysis::views::{IterationView, PairView, RegionView, SlowRanks};

use crate::views::PageViews;
use lbprof_analysis::structure::symbols::CodePlace;

/// The data that the page reads besides the report.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Views"))]
pub(crate) struct ViewsData<'a> {
    /// 2.
    version: u32,
    /// The rows of all matrices.
    ranks: RowsData,
    /// Names of the hosts, in the order of the ranks.
    hosts: &'a [String],
    /// By row the host of its first rank, as an index in `hosts`.
    host_of_row: &'a [u32],
    /// By row the cluster of its first rank, as in the report's `ranks[].cluster`; null for a rank of none.
    cluster_of_row: &'a [Option<u32>],
    /// Names of the activities that occur.
    activities: Vec<&'static str>,
    /// By name of an activity, and `waiting` where that is known, by row: seconds of all of its ranks in the whole run, or the selected time.
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, PackedNumbers>"))]
    seconds: ByName,
    /// Seconds that ranks (first) wait because of others (second); null if `timeline` is.
    waits: Option<PairData>,
    /// Bytes of messages from ranks (first) to others (second); null if the report's `communication` is.
    bytes: Option<PairData>,
    /// Number of messages.
    messages: Option<PairData>,
    /// The main loop; null where none is known.
    iterations: Option<IterationsData<'a>>,
    /// Up to 200 regions with most time, in the report's order.
    regions: Vec<RegionData<'a>>,
    /// States of ranks over time; null with `--no-blocking`, for a single region, and if the calls of all ranks were recorded as sums.
    timeline: Option<TimelineData>,
    /// The reductions that were made, a sentence each.
    left_out: &'a [String],
}

/// The rows of all matrices.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct RowsData {
    /// Ranks whose logs could be read.
    count: usize,
    /// Rows: at most 1,024.
    rows: usize,
    /// Ranks in a row; the last may have fewer.
    per_row: usize,
    /// The numbers of all ranks, in their order, as lists of three: the first of some at equal distances, the distance, how many they are.
    numbers: Vec<[u32; 3]>,
    /// By row the number of its first rank.
    first: Vec<u32>,
}

/// Amounts by two ranks, in blocks of successive ranks.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct PairData {
    /// Ranks in a block; the last may have fewer.
    per_block: usize,
    /// Blocks: at most 192.
    blocks: usize,
    /// The pairs of blocks with an amount: number of the first · `blocks` + number of the second.
    cells: PackedNumbers,
    /// By pair of blocks the sum.
    sum: PackedNumbers,
    /// By pair of blocks the largest of two ranks; null if a block is a rank.
    largest: Option<PackedNumbers>,
}

/// The main loop.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct IterationsData<'a> {
    /// Path of the iterated region.
    region: &'a str,
    /// Iterations.
    count: usize,
    /// Columns: at most 2,048.
    columns: usize,
    /// Iterations in each column; the last may have fewer.
    per_column: usize,
    /// By column the number of its first iteration.
    first: Vec<u32>,
    /// By column when its first iteration began, on the first rank to do so.
    begin_s: PackedNumbers,
    /// Rows × columns: how often a rank of the row went through an iteration of the column; times this, the means below are sums, except for
    /// computation that is not known.
    passes: PackedNumbers,
    /// Rows × columns: computation of an iteration; none where it is not known, as of the first iteration of a loop that was found in the
    /// calls; the same in `max`, `mean`, `load_balance` and `micro_load_balance`, which leave such iterations out.
    computation: PackedNumbers,
    /// Rows × columns: computation of an iteration of the row's rank that computes longest in the iterations of the column; null if each
    /// rank has a row.
    longest: Option<PackedNumbers>,
    /// Ranks that compute far longer than the others; null where computation is not known.
    outliers: Option<OutliersData<'a>>,
    /// Rows × columns: waiting in any activity; null if `timeline` is.
    blocking: Option<PackedNumbers>,
    /// By name of an activity of MPI, rows × columns: the time in it; those with at least 0.1 % of the loop's time.
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, PackedNumbers>"))]
    activities: ByName,
    /// By column: elapsed time of an iteration, mean over ranks.
    elapsed: PackedNumbers,
    /// By column: longest computation of an iteration, as in the report's `iterations`.
    max: PackedNumbers,
    /// By column: mean computation of an iteration.
    mean: PackedNumbers,
    /// By column: load balance of an iteration, `mean` / `max`.
    load_balance: PackedNumbers,
    /// By column: micro load balance of all iterations up to its end, the longest computation of a rank in them over the sum of the longest in each.
    micro_load_balance: PackedNumbers,
}

/// Ranks that compute far longer than the others.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct OutliersData<'a> {
    /// Median over ranks of their computation in the loop, iterations left out in which it is not known.
    median_s: f64,
    /// Outliers compute longer than this: the larger of 4 robust standard deviations (1.4826 times the median distance to the median) and 1 %
    /// above the median.
    limit_s: f64,
    /// Number of entries.
    count: usize,
    /// Their numbers, those with most computation first; at most 1,000.
    ranks: &'a [u32],
    /// Their computation in the loop.
    computation_s: PackedNumbers,
}

/// A region.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct RegionData<'a> {
    /// Its path.
    path: &'a str,
    /// By name of an activity, by row: the time in the region alone, without those in it.
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, PackedNumbers>"))]
    seconds: ByName,
    /// By row: calls of MPI from the region alone.
    calls: PackedNumbers,
}

/// The page's own data on a run with this model, whose call sites are at `places`, as a JSON value.
pub(super) fn document(views: &PageViews, model: &Model, places: &[CodePlace]) -> io::Result<Value> {
    let data = ViewsData {
        version: 2,
        ranks: RowsData {
            count: views.rows.ranks(),
            rows: views.rows.len(),
            per_row: views.rows.per_row(),
            numbers: views.rows.runs(),
            first: views.rows.first_numbers(),
        },
        hosts: &views.hosts,
        host_of_row: &views.host_of_row,
        cluster_of_row: &views.cluster_of_row,
        activities: views.activities.iter().map(|activity| activity.name()).collect(),
        seconds: seconds(views)?,
        waits: views.waits.as_ref().map(pairs).transpose()?,
        bytes: views.messages.as_ref().map(|[bytes, _]| pairs(bytes)).transpose()?,
        messages: views.messages.as_ref().map(|[_, messages]| pairs(messages)).transpose()?,
        iterations: views.iterations.as_ref().map(iterations).transpose()?,
        regions: views.regions.iter().map(region).collect::<io::Result<Vec<_>>>()?,
        timeline: views.timeline.as_ref().map(|seen| timeline::object(seen, model, places)).transpose()?,
        left_out: &views.left_out,
    };
    Ok(serde_json::to_value(data)?)
}

fn seconds(views: &PageViews) -> io::Result<ByName> {
    let activities = views.activities.iter().map(|activity| activity.name()).zip(&views.seconds);
    let all = activities.chain(views.waiting.iter().map(|waiting| ("waiting", waiting)));
    Ok(ByName(all.map(|(name, seconds)| Ok((name, numbers(seconds)?))).collect::<io::Result<_>>()?))
}

fn pairs(view: &PairView) -> io::Result<PairData> {
    Ok(PairData {
        per_block: view.per_block,
        blocks: view.blocks,
        cells: whole_numbers(&view.cells, 1.0)?,
        sum: pack_amounts(&view.sums)?,
        largest: (view.per_block > 1).then(|| pack_amounts(&view.largest)).transpose()?,
    })
}

/// Packs numbers with the precision of `f32`, which is enough for a picture.
fn pack_amounts(amounts: &[f64]) -> io::Result<PackedNumbers> {
    numbers(&amounts.iter().map(|&amount| amount as f32).collect::<Vec<_>>())
}

fn iterations(view: &IterationView) -> io::Result<IterationsData<'_>> {
    let mut activities = Vec::new();
    let mut computation = numbers(&[])?;
    for (activity, matrix) in &view.activities {
        match activity {
            Activity::Computation => computation = numbers(&matrix.values)?,
            other => activities.push((other.name(), numbers(&matrix.values)?)),
        }
    }
    Ok(IterationsData {
        region: &view.region,
        count: view.columns.iterations(),
        columns: view.columns.len(),
        per_column: view.columns.per_column(),
        first: view.columns.first_numbers(),
        begin_s: numbers(&view.begin_s)?,
        passes: whole_numbers(&view.counts, 1.0)?,
        computation,
        longest: view.longest.as_ref().map(|matrix| numbers(&matrix.values)).transpose()?,
        outliers: view.outliers.as_ref().map(outliers).transpose()?,
        blocking: view.blocking.as_ref().map(|matrix| numbers(&matrix.values)).transpose()?,
        activities: ByName(activities),
        elapsed: numbers(&view.elapsed)?,
        max: numbers(&view.max)?,
        mean: numbers(&view.mean)?,
        load_balance: numbers(&view.load_balance)?,
        micro_load_balance: numbers(&view.micro_load_balance)?,
    })
}

fn outliers(of: &SlowRanks) -> io::Result<OutliersData<'_>> {
    Ok(OutliersData {
        median_s: of.median_s,
        limit_s: of.limit_s,
        count: of.count,
        ranks: &of.ranks,
        computation_s: numbers(&of.computation_s)?,
    })
}

fn region(view: &RegionView) -> io::Result<RegionData<'_>> {
    let seconds = view.seconds.iter().map(|(activity, values)| Ok((activity.name(), numbers(values)?)));
    let seconds = ByName(seconds.collect::<io::Result<Vec<_>>>()?);
    Ok(RegionData { path: &view.path, seconds, calls: numbers(&view.calls)? })
}
