//! The data that the page of a report shows besides the report: matrices of bounded size, whatever the size of the run. The matrices are
//! those of [`lbprof_analysis::views`].

use lbprof_analysis::model::Model;
use lbprof_analysis::views::{IterationView, PairView, RankRows, RegionView, TimelineView, regions};
use lbprof_collector::Activity;

use super::Report;

/// The views of a page besides the report.
#[derive(Clone, Debug, Default)]
pub struct PageViews {
    /// The ranks, a row each or several in one.
    pub rows: RankRows,
    /// Names of the hosts, in the order of the ranks.
    pub hosts: Vec<String>,
    /// By row the host of its first rank, as an index in `hosts`.
    pub host_of_row: Vec<u32>,
    /// By row the cluster of its first rank; `None` for a rank of none.
    pub cluster_of_row: Vec<Option<u32>>,
    /// Activities that occur, by number.
    pub activities: Vec<Activity>,
    /// Seconds of all ranks of a row in each of these, in all of their time.
    pub seconds: Vec<Vec<f32>>,
    /// Seconds that all ranks of a row wait; `None` where they were not followed.
    pub waiting: Option<Vec<f32>>,
    /// Seconds that a rank waits because of another; `None` likewise.
    pub waits: Option<PairView>,
    /// Bytes and numbers of messages from a rank to another; `None` where calls were not looked at one by one.
    pub messages: Option<[PairView; 2]>,
    /// The main loop; `None` where none is known.
    pub iterations: Option<IterationView>,
    /// Regions, those that take longest, in the model's order.
    pub regions: Vec<RegionView>,
    /// Timeline of the ranks, or `None` for a region, and if the run was not replayed.
    pub timeline: Option<TimelineView>,
    /// The reductions that were made, a sentence each.
    pub left_out: Vec<String>,
}

impl PageViews {
    /// Collects the views of `model`, which `report` describes, and of the timeline seen while its ranks were replayed.
    pub fn new(model: &Model, report: &Report, mut seen: Option<TimelineView>) -> PageViews {
        let clusters = &report.clusters.of;
        let rows = RankRows::new(model.ranks.iter().map(|rank| rank.rank).collect());
        let mut left_out = Vec::new();
        left_out.extend(rows.reduced());
        let (hosts, host_of_row) = hosts(model, &rows);
        let all = model.ranks.iter().map(|rank| rank.inclusive(0)).collect::<Vec<_>>();
        let mut activities = Activity::ALL.to_vec();
        activities.retain(|&activity| all.iter().any(|seconds| seconds[activity as usize] > 0.0));
        let (regions, without) = regions::views(model, &rows);
        left_out.extend(without);
        let iterations = IterationView::new(model, &rows, seen.as_mut().and_then(|seen| seen.blocked.take()));
        left_out.extend(iterations.iter().flat_map(IterationView::reduced));
        match &seen {
            Some(seen) => left_out.extend(seen.reduced()),
            None => {
                left_out.push("no timeline: there is none of a region, or where calls were not followed".to_owned())
            }
        }
        PageViews {
            timeline: seen,
            hosts,
            host_of_row,
            cluster_of_row: rows.firsts().map(|at| clusters.get(at).copied().flatten()).collect(),
            seconds: activities
                .iter()
                .map(|&activity| by_row(&rows, all.iter().map(|seconds| seconds[activity as usize])))
                .collect(),
            activities,
            waiting: report.blocking.as_ref().map(|table| {
                let waits_s = &table.sums.waits_s;
                by_row(&rows, model.ranks.iter().map(|rank| waits_s.get(&rank.rank).copied().unwrap_or(0.0)))
            }),
            waits: report.blocking.as_ref().map(|table| PairView::new(&rows, table.sums.pairs.iter().copied())),
            messages: report.communication.as_ref().map(|table| {
                let bytes = table.pairs.iter().map(|pair| (pair.from, pair.to, pair.bytes as f64));
                let messages = table.pairs.iter().map(|pair| (pair.from, pair.to, pair.messages as f64));
                [PairView::new(&rows, bytes), PairView::new(&rows, messages)]
            }),
            iterations,
            regions,
            left_out,
            rows,
        }
    }
}

/// Sums over the ranks of each row of a figure of each rank.
fn by_row(rows: &RankRows, figures: impl Iterator<Item = f64>) -> Vec<f32> {
    let mut sums = vec![0.0; rows.len()];
    for (place, figure) in figures.enumerate() {
        sums[rows.row_of(place)] += figure;
    }
    sums.into_iter().map(|sum| sum as f32).collect()
}

/// The hosts, and by row that of its first rank.
fn hosts(model: &Model, rows: &RankRows) -> (Vec<String>, Vec<u32>) {
    let mut hosts: Vec<String> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for rank in &model.ranks {
        places.entry(rank.host.as_str()).or_insert_with(|| {
            hosts.push(rank.host.clone());
            hosts.len() as u32 - 1
        });
    }
    let of_rows = rows.firsts().map(|at| {
        let rank = model.ranks.get(at);
        rank.and_then(|rank| places.get(rank.host.as_str())).copied().unwrap_or(0)
    });
    let of_rows = of_rows.collect();
    (hosts, of_rows)
}
