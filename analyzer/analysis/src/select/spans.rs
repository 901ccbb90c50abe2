//! Converts a window of the run to each rank's ticks, from times on the run's clock or from the rank's iterations.

use std::collections::BTreeMap;

use lbprof_collector::clock::RankClock;

use super::SelectionError;
use crate::model::ranks::joined_iterations::JoinedIterations;
use crate::model::run::moment::WindowBoundary;
use crate::model::{IterationSeries, Model, RankModel, RegionIdx, first_of_block};
use crate::read::span::TickSpan;
use crate::structure::survey::CallSurvey;

/// Returns the span of each rank from `from` to `to`. `model` and `survey` cover the whole run.
///
/// For an iteration, each rank's own start and end count; for a rank without it, the first start and the last end of the others.
/// An iteration that a rank does not end lasts until the rank ends.
///
/// Errors: a time that the run does not reach, an iteration that it does not have, a window without time.
pub fn window_spans(
    model: &Model,
    survey: &CallSurvey,
    from: Option<WindowBoundary>,
    to: Option<WindowBoundary>,
) -> Result<BTreeMap<u32, TickSpan>, SelectionError> {
    check_order(from, to)?;
    let begin = from.map(|from| WindowEdge::from_start(model, from)).transpose()?;
    let end = to.map(|to| WindowEdge::from_end(model, to)).transpose()?;
    let mut spans = BTreeMap::new();
    for rank in &model.ranks {
        let Some(clock) = survey.rank(rank.rank).and_then(|rank| rank.clock.as_ref()) else { continue };
        let begin = begin.as_ref().map_or(0, |begin| begin.start_ticks(rank, clock));
        let end = end.as_ref().map_or(u64::MAX, |end| end.end_ticks(rank, clock));
        spans.insert(rank.rank, TickSpan { begin, end: end.max(begin) });
    }
    Ok(spans)
}

fn check_order(from: Option<WindowBoundary>, to: Option<WindowBoundary>) -> Result<(), SelectionError> {
    let Some(to) = to else { return Ok(()) };
    let from = from.unwrap_or(WindowBoundary::Time(0));
    let has_time = match (from, to) {
        (WindowBoundary::Time(from), WindowBoundary::Time(to)) => from < to,
        (WindowBoundary::Iteration(from), WindowBoundary::Iteration(to)) => from <= to,
        _ => true,
    };
    if has_time { Ok(()) } else { Err(SelectionError::NoTime { from, to }) }
}

/// Start or end of the window, in seconds on the run's clock.
enum WindowEdge {
    At(f64),
    /// Start or end of an iteration. Ranks without it take its first start or last end on other ranks; NaN if it does not end.
    With(MainIteration, f64),
}

impl WindowEdge {
    fn from_start(model: &Model, from: WindowBoundary) -> Result<WindowEdge, SelectionError> {
        match from {
            WindowBoundary::Time(ns) => {
                let (from_s, elapsed_s) = (ns as f64 / 1e9, model.elapsed_s());
                if from_s >= elapsed_s {
                    return Err(SelectionError::PastEnd { from_s, elapsed_s });
                }
                Ok(WindowEdge::At(from_s))
            }
            WindowBoundary::Iteration(number) => {
                let iteration = MainIteration::new(model, number, true)?;
                let begins = model.ranks.iter().filter_map(|rank| Some(iteration.span_on(rank)?.0));
                // `min` skips unknown starts, which are NaN.
                let others_s = begins.fold(f64::INFINITY, f64::min);
                Ok(WindowEdge::With(iteration, others_s))
            }
        }
    }

    fn from_end(model: &Model, to: WindowBoundary) -> Result<WindowEdge, SelectionError> {
        match to {
            WindowBoundary::Time(ns) => Ok(WindowEdge::At(ns as f64 / 1e9)),
            WindowBoundary::Iteration(number) => {
                let iteration = MainIteration::new(model, number, false)?;
                let ends = model.ranks.iter().filter_map(|rank| Some(iteration.span_on(rank)?.1));
                let others_s = ends.fold(f64::NEG_INFINITY, max_or_nan);
                Ok(WindowEdge::With(iteration, others_s))
            }
        }
    }

    fn start_ticks(&self, rank: &RankModel, clock: &RankClock) -> u64 {
        let begin_s = match self {
            WindowEdge::At(seconds) => *seconds,
            WindowEdge::With(iteration, others_s) => {
                iteration.span_on(rank).map(|times| times.0).filter(|begin| !begin.is_nan()).unwrap_or(*others_s)
            }
        };
        clock.first_tick_at(rank.nanoseconds(begin_s))
    }

    fn end_ticks(&self, rank: &RankModel, clock: &RankClock) -> u64 {
        match self {
            WindowEdge::At(seconds) => clock.first_tick_at(rank.nanoseconds(*seconds)),
            WindowEdge::With(iteration, others_s) => match iteration.span_on(rank).map_or(*others_s, |times| times.1) {
                end if end.is_nan() => u64::MAX,
                // The last tick of its last nanosecond: the end of the iteration is in the window.
                end => clock.first_tick_at(rank.nanoseconds(end).saturating_add(1)).saturating_sub(1),
            },
        }
    }
}

fn max_or_nan(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

struct MainIteration {
    region: RegionIdx,
    /// Its number on the ranks, or its block's if they have blocks.
    number: u32,
}

impl MainIteration {
    /// Only the start of the first iteration of a block and the end of the last one are known. `is_start` says which is needed.
    fn new(model: &Model, number: u32, is_start: bool) -> Result<MainIteration, SelectionError> {
        let region = model.main_loop().ok_or(SelectionError::NoLoop)?;
        let numbers = model.slowest.get(region as usize).into_iter().flatten().map(|slowest| slowest.iteration);
        let path = model.regions.get(region as usize).map_or(String::new(), |region| region.path.clone());
        if numbers.clone().any(|known| known == number) {
            let block = first_of_block(number, model.joined_power(region));
            let in_block = numbers.clone().filter(|&one| first_of_block(one, model.joined_power(region)) == block);
            let (first, last) = (in_block.clone().min().unwrap_or(number), in_block.max().unwrap_or(number));
            if number == (if is_start { first } else { last }) {
                return Ok(MainIteration { region, number: block });
            }
            let per_block = model.joined.get(&region).map_or(1, JoinedIterations::per_block);
            return Err(SelectionError::OnlyBlocks { number, path, per_block, first, last });
        }
        let (first, last) = (numbers.clone().min().unwrap_or(0), numbers.max().unwrap_or(0));
        Err(SelectionError::NoIteration { number, path, first, last })
    }

    /// Returns start and end of the iteration on `rank`, NaN if unknown, or `None` if the rank does not have it.
    fn span_on(&self, rank: &RankModel) -> Option<(f64, f64)> {
        let IterationSeries { numbers, begin_s, end_s, .. } = rank.series(self.region)?;
        let at = numbers.binary_search(&self.number).ok()?;
        Some((*begin_s.get(at)?, *end_s.get(at)?))
    }
}
