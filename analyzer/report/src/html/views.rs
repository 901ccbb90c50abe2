//! The page's own data, "views", version 2. The tables of docs/page-data.md are generated from these structs.

use std::collections::HashMap;
use std::io;

use lbprof_collector::Activity;
use serde::Serialize;
use serde_json::Value;

use super::packed::{ByName, PackedNumbers, pack_floats, whole_numbers};
use super::source::{self, SourceExcerpt};
use super::timeline::{self, TimelineData};
use crate::Report;
use lbprof_analysis::model::{Model, Seconds};
use lbprof_analysis::structure::code::symbols::ResolvedNames;
use lbprof_analysis::views::{IterationView, PairView, RankRows, RegionView, SlowRanks, TimelineView, regions};

/// The data that the page reads besides the report.
#[derive(Serialize, crate::JsonSchema)]
#[schemars(title = "Views")]
pub(crate) struct ViewsData<'a> {
    /// 2.
    version: u32,
    /// The rows of all matrices.
    ranks: RowsData,
    /// Names of the hosts, in the order of the ranks.
    hosts: Vec<String>,
    /// By row the host of its first rank, as an index in `hosts`.
    host_of_row: Vec<u32>,
    /// By row the cluster of its first rank, as in the report's `ranks[].cluster`; null for a rank of none.
    cluster_of_row: Vec<Option<u32>>,
    /// Names of the activities that occur.
    activities: Vec<&'static str>,
    /// By name of an activity, and `waiting` where that is known, by row: seconds of all of its ranks in the whole run, or the selected time.
    #[schemars(with = "std::collections::BTreeMap<String, PackedNumbers>")]
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
    /// Lines of the source around sampled ones; empty without `--source`.
    sources: Vec<SourceExcerpt>,
    /// The reductions that were made, a sentence each.
    left_out: Vec<String>,
}

/// The rows of all matrices.
#[derive(Serialize, crate::JsonSchema)]
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
#[derive(Serialize, crate::JsonSchema)]
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
#[derive(Serialize, crate::JsonSchema)]
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
    #[schemars(with = "std::collections::BTreeMap<String, PackedNumbers>")]
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
#[derive(Serialize, crate::JsonSchema)]
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
#[derive(Serialize, crate::JsonSchema)]
struct RegionData<'a> {
    /// Its path.
    path: &'a str,
    /// By name of an activity, by row: the time in the region alone, without those in it.
    #[schemars(with = "std::collections::BTreeMap<String, PackedNumbers>")]
    seconds: ByName,
    /// By row: calls of MPI from the region alone.
    calls: PackedNumbers,
}

/// Converts the data to JSON. `seen` is the timeline recorded during the replay; `with_source` puts lines of the source in.
pub fn page_views(
    report: &Report,
    model: &Model,
    names: &ResolvedNames,
    mut seen: Option<TimelineView>,
    with_source: bool,
) -> io::Result<Value> {
    let rows = RankRows::new(model.ranks.iter().map(|rank| rank.rank).collect());
    let (hosts, host_of_row) = hosts_by_row(model, &rows);
    let (regions, without) = regions::region_views(model, &rows);
    let blocked = seen.as_mut().and_then(|seen| seen.blocked.take());
    let main_loop = IterationView::new(model, &rows, blocked);
    let mut left_out: Vec<String> = rows.reduced().into_iter().chain(without).collect();
    left_out.extend(main_loop.iter().flat_map(IterationView::reduced));
    match &seen {
        Some(seen) => left_out.extend(seen.reduced()),
        None => left_out.push("no timeline: there is none of a region, or where calls were not followed".to_owned()),
    }
    let all: Vec<Seconds> = model.ranks.iter().map(|rank| rank.inclusive(0)).collect();
    let mut activities = Activity::ALL.to_vec();
    activities.retain(|&activity| all.iter().any(|seconds| seconds[activity as usize] > 0.0));
    let mut seconds = Vec::new();
    for &activity in &activities {
        let by_row = by_row(&rows, all.iter().map(|seconds| seconds[activity as usize]));
        seconds.push((activity.name(), pack_floats(&by_row)?));
    }
    let waiting = report.blocking.as_ref().map(|table| &table.sums);
    if let Some(sums) = waiting {
        let waits_s = model.ranks.iter().map(|rank| sums.waits_s.get(&rank.rank).copied().unwrap_or(0.0));
        seconds.push(("waiting", pack_floats(&by_row(&rows, waits_s))?));
    }
    let communication = report.communication.as_ref().map(|table| table.pairs.iter());
    let bytes = communication.clone().map(|pairs| pairs.map(|pair| (pair.from, pair.to, pair.bytes as f64)));
    let messages = communication.map(|pairs| pairs.map(|pair| (pair.from, pair.to, pair.messages as f64)));
    let data = ViewsData {
        version: 2,
        hosts,
        host_of_row,
        cluster_of_row: rows.firsts().map(|at| report.clusters.of.get(at).copied().flatten()).collect(),
        activities: activities.into_iter().map(Activity::name).collect(),
        seconds: ByName(seconds),
        waits: waiting.map(|sums| pair_data(&rows, sums.pairs.iter().copied())).transpose()?,
        bytes: bytes.map(|bytes| pair_data(&rows, bytes)).transpose()?,
        messages: messages.map(|messages| pair_data(&rows, messages)).transpose()?,
        iterations: main_loop.as_ref().map(iterations_data).transpose()?,
        regions: regions.iter().map(region_data).collect::<io::Result<_>>()?,
        timeline: seen.as_ref().map(|seen| timeline::timeline_data(seen, model, names)).transpose()?,
        sources: report.functions.as_ref().filter(|_| with_source).map(source::source_excerpts).unwrap_or_default(),
        left_out,
        ranks: RowsData {
            count: rows.ranks(),
            rows: rows.len(),
            per_row: rows.per_row(),
            numbers: rows.runs(),
            first: rows.first_numbers(),
        },
    };
    Ok(serde_json::to_value(data)?)
}

/// Sums up a figure over the ranks of each row.
fn by_row(rows: &RankRows, figures: impl Iterator<Item = f64>) -> Vec<f32> {
    let mut sums = vec![0.0; rows.len()];
    for (place, figure) in figures.enumerate() {
        sums[rows.row_of(place)] += figure;
    }
    sums.into_iter().map(|sum| sum as f32).collect()
}

/// Returns the hosts, and the index of the first rank's host by row.
fn hosts_by_row(model: &Model, rows: &RankRows) -> (Vec<String>, Vec<u32>) {
    let mut hosts: Vec<String> = Vec::new();
    let mut places = HashMap::new();
    for rank in &model.ranks {
        places.entry(rank.host.as_str()).or_insert_with(|| {
            hosts.push(rank.host.clone());
            hosts.len() as u32 - 1
        });
    }
    let of_rows = rows.firsts().map(|at| model.ranks.get(at).map_or(0, |rank| places[rank.host.as_str()]));
    let of_rows = of_rows.collect();
    (hosts, of_rows)
}

fn pair_data(rows: &RankRows, amounts: impl Iterator<Item = (u32, u32, f64)>) -> io::Result<PairData> {
    let view = PairView::new(rows, amounts);
    Ok(PairData {
        per_block: view.per_block,
        blocks: view.blocks,
        cells: whole_numbers(&view.cells, 1.0)?,
        sum: pack_amounts(&view.sums)?,
        largest: (view.per_block > 1).then(|| pack_amounts(&view.largest)).transpose()?,
    })
}

/// Packs numbers with the precision of `f32`, enough for a picture.
fn pack_amounts(amounts: &[f64]) -> io::Result<PackedNumbers> {
    pack_floats(&amounts.iter().map(|&amount| amount as f32).collect::<Vec<_>>())
}

fn iterations_data(view: &IterationView) -> io::Result<IterationsData<'_>> {
    let mut activities = Vec::new();
    let mut computation = pack_floats(&[])?;
    for (activity, matrix) in &view.activities {
        match activity {
            Activity::Computation => computation = pack_floats(&matrix.values)?,
            other => activities.push((other.name(), pack_floats(&matrix.values)?)),
        }
    }
    Ok(IterationsData {
        region: &view.region,
        count: view.columns.iterations(),
        columns: view.columns.len(),
        per_column: view.columns.per_column(),
        first: view.columns.first_numbers(),
        begin_s: pack_floats(&view.begin_s)?,
        passes: whole_numbers(&view.counts, 1.0)?,
        computation,
        longest: view.longest.as_ref().map(|matrix| pack_floats(&matrix.values)).transpose()?,
        outliers: view.outliers.as_ref().map(outliers_data).transpose()?,
        blocking: view.blocking.as_ref().map(|matrix| pack_floats(&matrix.values)).transpose()?,
        activities: ByName(activities),
        elapsed: pack_floats(&view.elapsed)?,
        max: pack_floats(&view.max)?,
        mean: pack_floats(&view.mean)?,
        load_balance: pack_floats(&view.load_balance)?,
        micro_load_balance: pack_floats(&view.micro_load_balance)?,
    })
}

fn outliers_data(of: &SlowRanks) -> io::Result<OutliersData<'_>> {
    Ok(OutliersData {
        median_s: of.median_s,
        limit_s: of.limit_s,
        count: of.count,
        ranks: &of.ranks,
        computation_s: pack_floats(&of.computation_s)?,
    })
}

fn region_data(view: &RegionView) -> io::Result<RegionData<'_>> {
    let seconds = view.seconds.iter().map(|(activity, values)| Ok((activity.name(), pack_floats(values)?)));
    let seconds = ByName(seconds.collect::<io::Result<Vec<_>>>()?);
    Ok(RegionData { path: &view.path, seconds, calls: pack_floats(&view.calls)? })
}
