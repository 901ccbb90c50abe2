//! The iterations of the main loop: activities × ranks × iterations, and what all ranks have in common by iteration.

use std::collections::BTreeSet;
use std::ops::Range;

use lbprof_collector::Activity;
use lbprof_thresholds::metrics::MIN_TIME_OF_ACTIVITY_MATRIX;

use super::{RankRows, ValueMatrix};
use crate::metrics::spread::outliers::find_high_outliers;
use crate::model::{IterationSeries, Model, RegionIdx, SlowestInIteration, first_of_block};
use lbprof_collector::words::GroupedNumber;

const MOST_COLUMNS: usize = 2048;

/// Most numbers of all matrices together: 2.1 bytes each in the file.
const MOST_NUMBERS: usize = 600_000;

/// The main loop. All numbers are means over the iterations of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct IterationView {
    /// Path of the iterated region.
    pub region: String,
    /// Assignment of iterations to columns.
    pub columns: IterationColumns,
    /// Begin of the first iteration of each column on the first rank to start it, in seconds; NaN where that is not known.
    pub begin_s: Vec<f32>,
    /// Seconds of a rank in an iteration, by activity, row and column; computation is there always, MPI's activities where they take
    /// 0.1 % of the time. None where none of the row's ranks went through any of the column's iterations; of computation, where it
    /// is not known of any of them.
    pub activities: Vec<(Activity, ValueMatrix)>,
    /// Seconds of computation of the rank of each row that computes longest in the iterations of a column, mean over these; `None` where
    /// each rank has a row.
    pub longest: Option<ValueMatrix>,
    /// Ranks that compute far longer than the others in all iterations; `None` where computation is not known of any.
    pub outliers: Option<SlowRanks>,
    /// Seconds of waiting of a rank in an iteration; `None` where the ranks were not followed.
    pub blocking: Option<ValueMatrix>,
    /// By row and column how often a rank went through an iteration.
    pub counts: Vec<u32>,
    /// Seconds from the begin of an iteration to its end, mean over ranks; NaN where they are not known.
    pub elapsed: Vec<f32>,
    /// Longest computation of a rank in an iteration, in seconds; NaN where it is not known of any of the column.
    pub max: Vec<f32>,
    /// Mean computation of all ranks in an iteration, in seconds; NaN as that.
    pub mean: Vec<f32>,
    /// Load balance: `mean` / `max`; NaN where one of them is, or nothing is computed.
    pub load_balance: Vec<f32>,
    /// Micro load balance of all iterations up to the end of the column: the longest computation of a rank in them over
    /// the sum of the longest in each (docs/metrics.md §1, by phase profile); NaN where nothing is computed.
    pub micro_load_balance: Vec<f32>,
}

const MOST_OUTLIERS: usize = 1000;

/// Ranks that compute far longer than the others ([`crate::metrics::spread::outliers`]).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlowRanks {
    /// Median of the ranks' computation in all iterations where it is known, in seconds.
    pub median_s: f64,
    /// Computation beyond which a rank is an outlier, in seconds.
    pub limit_s: f64,
    /// Number of slow ranks.
    pub count: usize,
    /// Their numbers, those with most computation first; at most 1,000.
    pub ranks: Vec<u32>,
    /// Seconds of computation of each.
    pub computation_s: Vec<f32>,
}

impl SlowRanks {
    /// Finds the slow ranks by their total computation; NaN where it is not known.
    fn new(model: &Model, computation_s: &[f64]) -> Option<SlowRanks> {
        let found = find_high_outliers(computation_s)?;
        let named = &found.places[..found.places.len().min(MOST_OUTLIERS)];
        Some(SlowRanks {
            median_s: found.median,
            limit_s: found.limit,
            count: found.places.len(),
            ranks: named.iter().filter_map(|&at| model.ranks.get(at)).map(|rank| rank.rank).collect(),
            computation_s: named.iter().map(|&at| computation_s[at] as f32).collect(),
        })
    }
}

/// Iterations in a bounded number of columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IterationColumns {
    /// Numbers of the iterations of any rank, ascending.
    numbers: Vec<u32>,
    /// Iterations in a column, at least 1; the last may have fewer.
    per_column: usize,
    /// Binary logarithm of the iterations of the blocks that ranks have; a column has whole ones.
    power: u8,
    /// By column the index of its first iteration in `numbers`.
    starts: Vec<usize>,
}

impl IterationColumns {
    fn new(numbers: Vec<u32>, power: u8, rows: usize, matrices: usize) -> IterationColumns {
        let most = (MOST_NUMBERS / (rows * matrices).max(1)).clamp(1, MOST_COLUMNS);
        let blocks = block_starts(&numbers, power).count();
        IterationColumns::with_blocks(numbers, power, blocks.div_ceil(most).max(1))
    }

    fn with_blocks(numbers: Vec<u32>, power: u8, per_column: usize) -> IterationColumns {
        let starts = block_starts(&numbers, power).step_by(per_column).collect();
        IterationColumns { numbers, per_column: per_column << power, power, starts }
    }

    /// Number of iterations.
    pub fn iterations(&self) -> usize {
        self.numbers.len()
    }

    /// Iterations in a column; the last may have fewer.
    pub fn per_column(&self) -> usize {
        self.per_column
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The number of the first iteration of each column.
    pub fn first_numbers(&self) -> Vec<u32> {
        self.starts.iter().map(|&start| self.numbers[start]).collect()
    }

    /// The column of the iteration, or of the block, with this number; `near` is the column of another one, mostly of the one before.
    pub fn column_of(&self, number: u32, near: usize) -> Option<usize> {
        let first = self.starts.get(near).copied().unwrap_or(self.numbers.len());
        let here = self.numbers.get(first..).unwrap_or_default();
        let at = match here.get(..2 * self.per_column).unwrap_or(here).iter().position(|&one| one == number) {
            Some(at) => first + at,
            None => self.place_of(number)?,
        };
        match self.power {
            0 => Some(at / self.per_column.max(1)),
            _ => self.starts.partition_point(|&start| start <= at).checked_sub(1),
        }
    }

    fn place_of(&self, number: u32) -> Option<usize> {
        let at = self.numbers.partition_point(|&one| one < number);
        let is_there = self.numbers.get(at).is_some_and(|&one| first_of_block(one, self.power) == number);
        is_there.then_some(at)
    }

    fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let ends = self.starts.iter().skip(1).copied().chain([self.numbers.len()]);
        self.starts.iter().zip(ends).map(|(&start, end)| start..end)
    }

    /// Returns whether an iteration, or the block that it lies in, is among `some`.
    fn is_among(&self, some: &BTreeSet<u32>, number: u32) -> bool {
        some.contains(&first_of_block(number, self.power))
    }
}

/// Returns the places in `numbers` at which blocks of 2^`power` iterations begin.
fn block_starts(numbers: &[u32], power: u8) -> impl Iterator<Item = usize> {
    let chunks = numbers.chunk_by(move |one, next| first_of_block(*one, power) == first_of_block(*next, power));
    chunks.scan(0, |next, chunk| Some(std::mem::replace(next, *next + chunk.len())))
}

pub(super) struct ViewPlan {
    /// The iterated region.
    pub(super) idx: RegionIdx,
    /// Assignment of iterations to columns.
    pub(super) columns: IterationColumns,
    shown: Vec<Activity>,
}

impl ViewPlan {
    /// Plans the view of [`Model::main_loop`]; `None` where none is known.
    pub fn new(model: &Model, rows: &RankRows) -> Option<ViewPlan> {
        let idx = model.main_loop()?;
        let slowest = model.slowest.get(idx as usize).filter(|slowest| !slowest.is_empty())?;
        let shown = shown_activities(model, idx);
        let numbers = slowest.iter().map(|one| one.iteration).collect();
        // One more for blocking, and one for the longest of several ranks.
        let more = 1 + usize::from(rows.per_row() > 1);
        let columns = IterationColumns::new(numbers, model.joined_power(idx), rows.len(), shown.len() + more);
        Some(ViewPlan { idx, columns, shown })
    }
}

impl IterationView {
    /// Creates the view of [`Model::main_loop`], or returns `None` if no loop is known. `blocked` has the seconds of waiting by row and
    /// column.
    pub fn new(model: &Model, rows: &RankRows, blocked: Option<ValueMatrix>) -> Option<IterationView> {
        let ViewPlan { idx, columns, shown } = ViewPlan::new(model, rows)?;
        let slowest = model.slowest.get(idx as usize)?;
        let mut sums = ColumnSums::new(&columns, rows, shown, model.entering_blocks(idx));
        for (place, rank) in model.ranks.iter().enumerate() {
            if let Some(series) = rank.series(idx) {
                sums.add(rows.row_of(place), place, series);
            }
        }
        let mut view = sums.finish(model, idx, slowest);
        view.blocking =
            blocked.filter(|matrix| matrix.columns == columns.len() && matrix.values.len() == view.counts.len());
        if let Some(seconds) = &mut view.blocking {
            seconds.divide(&view.counts);
        }
        Some(view)
    }

    /// Describes what was reduced, if anything.
    pub fn reduced(&self) -> Option<String> {
        let (per_column, all) =
            (GroupedNumber(self.columns.per_column as u64), GroupedNumber(self.columns.iterations() as u64));
        (self.columns.per_column > 1)
            .then(|| format!("columns are means of {per_column} successive iterations, of {all}"))
    }
}

/// Computation, and the activities of MPI that take their share of the time of the loop's iterations.
fn shown_activities(model: &Model, idx: RegionIdx) -> Vec<Activity> {
    let mut sums = [0.0; Activity::COUNT];
    for series in model.ranks.iter().filter_map(|rank| rank.series(idx)) {
        for (sum, column) in sums.iter_mut().zip(&series.seconds) {
            *sum += column.iter().sum::<f64>();
        }
    }
    let all: f64 = sums.iter().sum();
    let mut shown = Activity::ALL.to_vec();
    shown.retain(|&activity| {
        let seconds = sums[activity as usize];
        let is_large = seconds >= MIN_TIME_OF_ACTIVITY_MATRIX * all && seconds > 0.0;
        activity == Activity::Computation || is_large && activity != Activity::Recorder
    });
    shown
}

struct ColumnSums<'a> {
    columns: &'a IterationColumns,
    /// Iterations, or blocks, whose computation is not known of all ranks.
    entering: BTreeSet<u32>,
    /// By row and column how often a rank went through an iteration whose computation is known.
    known: Vec<u32>,
    activities: Vec<(Activity, ValueMatrix)>,
    /// Longest times as in the view; NaN where nothing is known.
    longest: Option<ValueMatrix>,
    /// By rank's place its computation in all iterations where it is known; NaN where that is none.
    by_rank_s: Vec<f64>,
    /// By row and column how often a rank went through an iteration.
    counts: Vec<u32>,
    begin_s: Vec<f32>,
    elapsed_s: Vec<f64>,
    elapsed_counts: Vec<u32>,
    /// By column the computation of all ranks, and the longest up to its end, where it is known.
    computation_s: Vec<f64>,
    longest_s: Vec<f64>,
}

impl<'a> ColumnSums<'a> {
    fn new(columns: &'a IterationColumns, of: &RankRows, shown: Vec<Activity>, entering: BTreeSet<u32>) -> Self {
        let (n, rows) = (columns.len(), of.len());
        ColumnSums {
            columns,
            entering,
            known: vec![0; rows * n],
            activities: shown.into_iter().map(|activity| (activity, ValueMatrix::zeros(rows, n))).collect(),
            longest: (of.per_row() > 1).then(|| ValueMatrix { columns: n, values: vec![f32::NAN; rows * n] }),
            by_rank_s: vec![f64::NAN; of.ranks()],
            counts: vec![0; rows * n],
            begin_s: vec![f32::NAN; n],
            elapsed_s: vec![0.0; n],
            elapsed_counts: vec![0; n],
            computation_s: vec![0.0; n],
            longest_s: vec![0.0; n],
        }
    }

    fn add(&mut self, row: usize, place: usize, series: &IterationSeries) {
        let n = self.columns.len();
        let mut own_s = vec![0.0; n];
        let mut own_known = vec![0_u32; n];
        let mut column = 0;
        for (at, &number) in series.numbers.iter().enumerate() {
            let Some(found) = self.columns.column_of(number, column) else { continue };
            column = found;
            let (is_known, iterations) = (!self.entering.contains(&number), series.iterations_at(at));
            for (of, matrix) in self.activities.iter_mut().filter(|(of, _)| is_known || *of != Activity::Computation) {
                matrix.add(row, column, series.seconds_at(*of, at));
            }
            if is_known {
                own_s[column] += series.seconds_at(Activity::Computation, at);
                own_known[column] += iterations;
            }
            self.counts[row * n + column] += iterations;
            let (begin, end) = (time_at(&series.begin_s, at), time_at(&series.end_s, at));
            self.begin_s[column] = self.begin_s[column].min(begin as f32);
            if !(end - begin).is_nan() {
                self.elapsed_s[column] += end - begin;
                self.elapsed_counts[column] += iterations;
            }
        }
        for (column, &known) in own_known.iter().enumerate() {
            self.known[row * n + column] += known;
            if let Some(longest) = self.longest.as_mut().filter(|_| known > 0) {
                longest.raise(row, column, own_s[column] / f64::from(known));
            }
        }
        if own_known.iter().any(|&known| known > 0) {
            self.by_rank_s[place] = own_s.iter().sum();
        }
        let mut until_s = 0.0;
        for (column, own_s) in own_s.into_iter().enumerate() {
            until_s += own_s;
            self.computation_s[column] += own_s;
            self.longest_s[column] = until_s.max(self.longest_s[column]);
        }
    }

    fn finish(mut self, model: &Model, idx: RegionIdx, slowest: &[SlowestInIteration]) -> IterationView {
        let columns = self.columns;
        for (of, matrix) in &mut self.activities {
            matrix.divide(if *of == Activity::Computation { &self.known } else { &self.counts });
        }
        let longest_s = columns.ranges().map(|range| {
            let known = slowest[range].iter().filter(|one| !columns.is_among(&self.entering, one.iteration));
            known.map(|one| one.computation_s).sum()
        });
        let longest_s: Vec<f64> = longest_s.collect();
        // 0 of 0, where nothing is known, is no number.
        let sizes = columns.ranges().map(|range| {
            columns.numbers[range].iter().filter(|number| !columns.is_among(&self.entering, **number)).count() as f64
        });
        let sizes: Vec<f64> = sizes.collect();
        let max: Vec<f32> = longest_s.iter().zip(&sizes).map(|(sum, size)| (sum / size) as f32).collect();
        let ranks = model.ranks.len().max(1) as f64;
        let mean = self.computation_s.iter().zip(&sizes).map(|(sum, size)| (sum / ranks / size) as f32);
        let mean: Vec<f32> = mean.collect();
        let mut all_s = 0.0;
        let micro = longest_s.iter().zip(&self.longest_s).map(|(column_s, until_s)| {
            all_s += column_s;
            (until_s / all_s) as f32
        });
        let elapsed = self.elapsed_s.iter().zip(&self.elapsed_counts).map(|(sum, &n)| (sum / f64::from(n)) as f32);
        IterationView {
            region: model.regions.get(idx as usize).map_or_else(String::new, |region| region.path.clone()),
            columns: columns.clone(),
            begin_s: self.begin_s,
            elapsed: elapsed.collect(),
            load_balance: mean.iter().zip(&max).map(|(mean, max)| mean / max).collect(),
            max,
            mean,
            micro_load_balance: micro.collect(),
            activities: self.activities,
            longest: self.longest,
            outliers: SlowRanks::new(model, &self.by_rank_s),
            blocking: None,
            counts: self.counts,
        }
    }
}

fn time_at(times: &[f64], at: usize) -> f64 {
    times.get(at).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ranks::joined_iterations::JoinedIterations;
    use crate::model::{RankModel, Region};

    /// Ranks that compute so long in the iterations of these numbers, of a loop; each also waits 1 s in a collective.
    fn model(ranks: &[&[(u32, f64)]]) -> Model {
        let series = |rows: &[(u32, f64)]| {
            let mut series =
                IterationSeries { numbers: rows.iter().map(|row| row.0).collect(), ..IterationSeries::default() };
            series.seconds[Activity::Computation as usize] = rows.iter().map(|row| row.1).collect();
            series.seconds[Activity::Collective as usize] = vec![1.0; rows.len()];
            series.begin_s = rows.iter().map(|row| 10.0 * f64::from(row.0)).collect();
            series.end_s = rows.iter().map(|row| 10.0 * f64::from(row.0) + row.1 + 1.0).collect();
            series
        };
        let rank = |(number, rows): (u32, &&[(u32, f64)])| RankModel {
            rank: number,
            iterations: vec![(0, series(rows))],
            ..RankModel::default()
        };
        let ranks: Vec<RankModel> = (0..).zip(ranks).map(rank).collect();
        let slowest =
            ranks.iter().map(|rank| rank.iterations[0].1.slowest(rank.rank)).reduce(SlowestInIteration::slower_of);
        Model {
            regions: vec![Region { iterated: true, ..Region::marked("main") }],
            slowest: vec![slowest.unwrap_or_default()],
            outermost_iterated: vec![0],
            ranks,
            ..Model::default()
        }
    }

    fn view_of(model: &Model, per_column: usize) -> IterationView {
        view_in(model, per_column, &RankRows::new(model.ranks.iter().map(|rank| rank.rank).collect()))
    }

    fn view_in(model: &Model, per_column: usize, rows: &RankRows) -> IterationView {
        let slowest = &model.slowest[0];
        let numbers = slowest.iter().map(|one| one.iteration).collect();
        let columns = IterationColumns::with_blocks(numbers, model.joined_power(0), per_column);
        let mut sums = ColumnSums::new(&columns, rows, shown_activities(model, 0), model.entering_blocks(0));
        for (place, rank) in (0..).zip(&model.ranks) {
            sums.add(rows.row_of(place), place, rank.series(0).unwrap());
        }
        sums.finish(model, 0, slowest)
    }

    #[test]
    fn what_is_not_known_of_the_first_iteration_is_no_zero() {
        let mut model = model(&[&[(0, 0.0), (1, 1.0), (2, 3.0)], &[(0, 0.0), (1, 3.0), (2, 1.0)]]);
        for rank in model.ranks.iter_mut() {
            rank.iterations[0].1.entering = vec![0];
        }
        let each = view_of(&model, 1);
        assert!(each.max[0].is_nan() && each.mean[0].is_nan() && each.micro_load_balance[0].is_nan());
        assert!(each.activities[0].1.values[0].is_nan(), "computation");
        assert_eq!(each.activities[1].1.values[0], 1.0, "waiting is known");
        assert_eq!((&each.max[1..], &each.mean[1..]), (&[3.0, 3.0][..], &[2.0, 2.0][..]));
        assert_eq!(each.micro_load_balance[1..], [1.0, 4.0 / 6.0]);
        let two = view_of(&model, 2);
        assert_eq!((two.max, two.mean), (vec![3.0, 3.0], vec![2.0, 2.0]), "means of what is known");
        assert_eq!(two.activities[0].1.values, [1.0, 3.0, 3.0, 1.0]);
    }

    #[test]
    fn of_several_ranks_in_a_row_the_longest_is_kept_beside_the_mean() {
        let model = model(&[
            &[(0, 1.0), (1, 1.0), (2, 1.0)],
            &[(0, 5.0), (1, 3.0), (2, 1.0)],
            &[(0, 2.0), (2, 4.0)],
            &[(2, 2.0)],
        ]);
        let two = RankRows::at_most(2, vec![0, 1, 2, 3]);
        let each = view_in(&model, 1, &two);
        let (means, longest) = (&each.activities[0].1.values, &each.longest.unwrap().values);
        assert_eq!((&means[..4], &longest[..4]), (&[3.0, 2.0, 1.0, 2.0][..], &[5.0, 3.0, 1.0, 2.0][..]));
        assert!(means[4].is_nan() && longest[4].is_nan(), "ranks 2 and 3 have no iteration 1");
        assert_eq!((means[5], longest[5]), (3.0, 4.0));
        // Of two iterations in a column the longest mean of a rank, not the longest of them.
        assert_eq!(view_in(&model, 2, &two).longest.unwrap().values, [4.0, 1.0, 2.0, 4.0]);
        assert_eq!(view_of(&model, 1).longest, None, "each has a row");
    }

    #[test]
    fn a_slow_rank_among_many_is_an_outlier() {
        let quick: &[(u32, f64)] = &[(0, 1.0), (1, 1.0)];
        let slow: &[(u32, f64)] = &[(0, 1.0), (1, 2.0)];
        let mut ranks = vec![quick; 5000];
        ranks[2345] = slow;
        let model = model(&ranks);
        let view = view_of(&model, 1);
        assert_eq!(view.columns.len(), 2);
        let found = view.outliers.unwrap();
        assert_eq!((found.median_s, found.count, found.ranks, found.computation_s), (2.0, 1, vec![2345], vec![3.0]));
        // Row 469 has the ranks 2345 to 2349.
        assert_eq!(view.activities[0].1.values[469 * 2 + 1], 1.2);
        assert_eq!(view.longest.unwrap().values[469 * 2..][..2], [1.0, 2.0]);
    }

    #[test]
    fn columns_have_whole_blocks_of_joined_iterations() {
        // Iterations 1 to 6; rank 1 is the slower one in the even ones.
        let one = [(1, 3.0), (2, 1.0), (3, 3.0), (4, 1.0), (5, 3.0), (6, 1.0)];
        let other = [(1, 1.0), (2, 2.0), (3, 1.0), (4, 2.0), (5, 1.0), (6, 2.0)];
        let mut model = model(&[&one, &other]);
        let mut joined = JoinedIterations { power: 2, sums: Vec::new() };
        for rank in model.ranks.iter_mut() {
            joined.join(&mut rank.iterations[0].1);
        }
        model.joined.insert(0, joined);
        let view = view_of(&model, 1);
        assert_eq!((view.columns.first_numbers(), view.columns.per_column()), (vec![1, 4], 4));
        // Rank 0 computes 3 + 1 + 3 and 1 + 3 + 1 s, rank 1 1 + 2 + 1 and 2 + 1 + 2.
        assert_eq!(view.activities[0].1.values, [7.0 / 3.0, 5.0 / 3.0, 4.0 / 3.0, 5.0 / 3.0]);
        assert_eq!((view.counts, &view.activities[1].1.values), (vec![3; 4], &vec![1.0; 4]));
        // The longest are 3 + 2 + 3 and 2 + 3 + 2 s, as without blocks.
        assert_eq!((view.max, view.mean), (vec![8.0 / 3.0, 7.0 / 3.0], vec![11.0 / 6.0, 10.0 / 6.0]));
        assert_eq!(view.begin_s, [10.0, 40.0]);
    }

    #[test]
    fn the_size_of_all_matrices_is_bounded() {
        let columns = |ranks, matrices| IterationColumns::new((0..10_000).collect(), 0, ranks, matrices);
        assert_eq!((columns(4, 3).per_column(), columns(4, 3).len()), (5, 2000));
        assert_eq!((columns(1000, 4).per_column(), columns(1000, 4).len()), (67, 150));
        assert_eq!(columns(1000, 4).column_of(9_999, 0), Some(149));
        assert_eq!(columns(1000, 4).column_of(10_000, 0), None);
    }
}
