//! Regions × activities × ranks.

use lbprof_collector::Activity;

use super::RankRows;
use crate::model::{Model, RegionIdx};
use lbprof_collector::words::GroupedNumber;

/// Most regions, and most pairs of a region and a row.
const MOST_REGIONS: usize = 200;
const MOST_CELLS: usize = 100_000;

/// A region.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionView {
    /// Its path.
    pub path: String,
    /// Seconds in it alone by row, of the activities that occur in it: means over the row's ranks.
    pub seconds: Vec<(Activity, Vec<f32>)>,
    /// Calls of MPI in it alone by row: means over the row's ranks.
    pub calls: Vec<f32>,
}

/// The regions in which most time is spent, in the order of the model; and what was left out, if anything.
pub fn region_views(model: &Model, rows: &RankRows) -> (Vec<RegionView>, Option<String>) {
    largest_views(model, rows, (MOST_CELLS / rows.len().max(1)).min(MOST_REGIONS))
}

fn largest_views(model: &Model, rows: &RankRows, most: usize) -> (Vec<RegionView>, Option<String>) {
    let order = largest_regions(model, most);
    let views = order.iter().map(|&idx| region_view_of(model, rows, idx)).collect();
    let (shown, all) = (GroupedNumber(order.len() as u64), GroupedNumber(model.regions.len() as u64));
    (views, (order.len() < model.regions.len()).then(|| format!("{shown} of {all} regions, those that take longest")))
}

/// Returns the regions in which most time is spent, at most `most`, by number.
pub(super) fn largest_regions(model: &Model, most: usize) -> Vec<RegionIdx> {
    let mut time_s = vec![0.0; model.regions.len()];
    for ((region, _), cell) in model.ranks.iter().flat_map(|rank| &rank.cells) {
        if let Some(sum) = time_s.get_mut(*region as usize) {
            *sum += cell.seconds;
        }
    }
    let mut order: Vec<RegionIdx> = (0..model.regions.len() as RegionIdx).collect();
    order.sort_by(|&a, &b| time_s[b as usize].total_cmp(&time_s[a as usize]));
    order.truncate(most);
    order.sort_unstable();
    order
}

fn region_view_of(model: &Model, rows: &RankRows, idx: RegionIdx) -> RegionView {
    let mut seconds = vec![vec![0.0_f64; rows.len()]; Activity::COUNT];
    let mut calls = vec![0.0_f64; rows.len()];
    for (place, rank) in model.ranks.iter().enumerate() {
        let from = rank.cells.partition_point(|&((region, _), _)| region < idx);
        let row = rows.row_of(place);
        for ((_, activity), cell) in rank.cells[from..].iter().take_while(|((region, _), _)| *region == idx) {
            seconds[*activity as usize][row] += cell.seconds;
            if activity.is_mpi() {
                calls[row] += cell.calls as f64;
            }
        }
    }
    let occurring = Activity::ALL.into_iter().zip(seconds).filter(|(_, sums)| sums.iter().any(|&sum| sum > 0.0));
    RegionView {
        path: model.regions[idx as usize].path.clone(),
        seconds: occurring.map(|(activity, sums)| (activity, row_means(&sums, rows))).collect(),
        calls: row_means(&calls, rows),
    }
}

fn row_means(sums: &[f64], rows: &RankRows) -> Vec<f32> {
    sums.iter().zip(rows.sizes()).map(|(sum, size)| (sum / size as f64) as f32).collect()
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::model::{CallTotals, RankModel, Region};

    fn region(path: &str, parent: RegionIdx) -> Region {
        Region { parent, ..Region::marked(path) }
    }

    /// Ranks that compute so long in each of three regions and call MPI twice in the last.
    fn model(seconds: &[[f64; 3]]) -> Model {
        let rank = |(number, seconds): (u32, &[f64; 3])| {
            let cell = |seconds: f64, calls| CallTotals { seconds, calls, ..CallTotals::default() };
            let mut cells: Vec<_> =
                (0..).zip(seconds).map(|(idx, &s)| ((idx, Activity::Computation), cell(s, 1))).collect();
            cells.push(((2, Activity::Collective), cell(0.5, 2)));
            RankModel { rank: number, cells, ..RankModel::default() }
        };
        Model {
            regions: vec![region("main", 0), region("main/a", 0), region("main/b", 0)],
            ranks: (0..).zip(seconds).map(rank).collect(),
            ..Model::default()
        }
    }

    #[test]
    fn of_many_regions_those_that_take_longest_are_kept_and_the_rest_is_reported() {
        let model = model(&[[1.0, 2.0, 3.0], [4.0, 0.0, 6.0]]);
        let (views, without) = largest_views(&model, &RankRows::new(vec![0, 1]), 2);
        assert_eq!(views.iter().map(|view| view.path.as_str()).collect::<Vec<_>>(), ["main", "main/b"]);
        assert_eq!(without.unwrap(), "2 of 3 regions, those that take longest");
    }
}
