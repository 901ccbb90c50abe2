//! Ranks that get empty: their work goes to other ranks during the run, as particles move or blocks are refined elsewhere.
//!
//! ```text
//!   work in an iteration, of the mean at the start
//!
//!   ranks 2, 3  ####################..................     get empty from iteration 20 on
//!   rank 0      ####################==================     gets their work: twice to three times as much
//! ```

use lbprof_analysis::model::{IterationSeries, Model};
use lbprof_collector::Activity;
use lbprof_thresholds::verdict::{
    MAX_WORK_OF_EMPTY_RANK, MIN_ITERATIONS_TO_JUDGE, MIN_TAKEN_WORK, MIN_WORK_OF_EMPTIED_RANK,
};

use super::verdict::Verdict;

/// Ranks that get empty, and those that get their work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmptiedRanks {
    /// The ranks that get empty, ascending.
    pub emptied: Vec<u32>,
    /// The ranks that get their work, ascending.
    pub takers: Vec<u32>,
    /// The first iteration from which on all of `emptied` have next to no work.
    pub from_iteration: u32,
}

/// The work of a rank in an iteration, in the first and the last quarter of the run.
struct WorkCourse {
    rank: u32,
    early_s: f64,
    late_s: f64,
    /// The iteration from which on it has next to no work; `None`: it has some at the end.
    empty_from: Option<u32>,
}

impl EmptiedRanks {
    /// Returns the ranks that get empty if the ranks that compute longest get most of their work.
    pub(crate) fn find(model: &Model, verdict: &Verdict) -> Option<EmptiedRanks> {
        let worst = verdict.worst.as_ref().filter(|_| verdict.cluster.is_none())?;
        let main_loop = model.main_loop()?;
        let courses = model.ranks.iter().map(|rank| WorkCourse::new(rank.rank, rank.series(main_loop)?));
        EmptiedRanks::from_courses(&courses.collect::<Option<Vec<WorkCourse>>>()?, &worst.with_equals())
    }

    /// `slow`: the ranks that compute longest.
    fn from_courses(courses: &[WorkCourse], slow: &[u32]) -> Option<EmptiedRanks> {
        let early_mean_s = courses.iter().map(|one| one.early_s).sum::<f64>() / courses.len().max(1) as f64;
        let (mut emptied, mut takers, mut from_iteration) = (Vec::new(), Vec::new(), 0);
        let (mut given_s, mut taken_s) = (0.0, 0.0);
        for course in courses {
            let change_s = course.late_s - course.early_s;
            let had_work = course.early_s >= MIN_WORK_OF_EMPTIED_RANK * early_mean_s;
            match course.empty_from.filter(|_| had_work) {
                Some(from) => {
                    emptied.push(course.rank);
                    from_iteration = from_iteration.max(from);
                    given_s -= change_s;
                }
                None if change_s > 0.0 && slow.contains(&course.rank) => {
                    takers.push(course.rank);
                    taken_s += change_s;
                }
                None => {}
            }
        }
        let is_taken = given_s > 0.0 && taken_s >= MIN_TAKEN_WORK * given_s;
        is_taken.then_some(EmptiedRanks { emptied, takers, from_iteration })
    }
}

impl WorkCourse {
    /// Returns the course of a rank's computation, or `None` if it has too few iterations.
    fn new(rank: u32, series: &IterationSeries) -> Option<WorkCourse> {
        let known = (0..series.numbers.len()).filter(|&at| series.has_computation(series.numbers[at]));
        let known: Vec<usize> = known.collect();
        if known.len() < MIN_ITERATIONS_TO_JUDGE {
            return None;
        }
        let quarter = known.len() / 4;
        let early_s = mean_work_s(series, &known[..quarter]);
        let late_s = mean_work_s(series, &known[known.len() - quarter..]);
        let is_empty = early_s > 0.0 && late_s <= MAX_WORK_OF_EMPTY_RANK * early_s;
        let last_busy = known.iter().rposition(|&at| mean_work_s(series, &[at]) > MAX_WORK_OF_EMPTY_RANK * early_s);
        let first_empty = last_busy.and_then(|last| known.get(last + 1)).filter(|_| is_empty);
        Some(WorkCourse { rank, early_s, late_s, empty_from: first_empty.map(|&at| series.numbers[at]) })
    }
}

/// Returns the computation of an iteration, the mean over entries of a series.
fn mean_work_s(series: &IterationSeries, entries: &[usize]) -> f64 {
    let iterations: u32 = entries.iter().map(|&at| series.iterations_at(at)).sum();
    let work_s: f64 = entries.iter().map(|&at| series.seconds_at(Activity::Computation, at)).sum();
    work_s / f64::from(iterations.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(rank: u32, seconds: impl Fn(u32) -> f64) -> WorkCourse {
        let mut series = IterationSeries { numbers: (0..40).collect(), ..IterationSeries::default() };
        series.seconds[Activity::Computation as usize] = (0..40).map(seconds).collect();
        WorkCourse::new(rank, &series).expect("40 iterations")
    }

    #[test]
    fn ranks_that_get_empty_are_named_with_those_that_get_their_work() {
        let courses = [
            course(0, |k| if k < 20 { 1.0 } else { 3.0 }),
            course(1, |_| 1.0),
            course(2, |k| if k < 20 { 1.0 } else { 0.001 }),
            course(3, |k| if k < 18 { 1.0 } else { 0.0 }),
        ];
        let expected = EmptiedRanks { emptied: vec![2, 3], takers: vec![0], from_iteration: 20 };
        assert_eq!(EmptiedRanks::from_courses(&courses, &[0]), Some(expected));
        assert_eq!(EmptiedRanks::from_courses(&courses, &[1]), None, "the slow rank got nothing");
    }

    #[test]
    fn ranks_get_empty_only_if_they_had_work_and_a_slow_rank_gets_it() {
        let never_had_any = [course(0, |k| 1.0 + 0.1 * f64::from(k)), course(1, |_| 0.0)];
        assert_eq!(EmptiedRanks::from_courses(&never_had_any, &[0]), None);
        let done = [course(0, |_| 1.0), course(1, |k| if k < 20 { 1.0 } else { 0.0 })];
        assert_eq!(EmptiedRanks::from_courses(&done, &[0]), None);
        let less = [course(0, |k| if k < 20 { 1.0 } else { 1.9 }), course(1, |k| if k < 20 { 1.0 } else { 0.2 })];
        assert_eq!(EmptiedRanks::from_courses(&less, &[0]), None, "rank 1 keeps a fifth of its work");
    }
}
