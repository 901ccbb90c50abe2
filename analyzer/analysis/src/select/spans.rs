//! The time of each rank that a window of the run is: ticks, from times on the run's clock or from the rank's iterations.

use std::collections::BTreeMap;

use lbprof_collector::clock::RankClock;

use super::SelectionError;
use crate::model::joined_iterations::JoinedIterations;
use crate::model::moment::WindowBoundary;
use crate::model::{IterationSeries, Model, RankModel, RegionIdx, first_of_block};
use crate::read::span::TickSpan;
use crate::structure::survey::CallSurvey;

/// The span of each rank of `model` and `survey`, which are of the whole run, from `from` to `to`.
///
/// Of an iteration each rank's own begin and end count; for a rank without it, the first begin and the last end of the others.
/// One that a rank does not end lasts until the rank does.
///
/// Errors: a time that the run does not reach, an iteration that it does not have, a window without time.
pub fn spans(
    model: &Model,
    survey: &CallSurvey,
    from: Option<WindowBoundary>,
    to: Option<WindowBoundary>,
) -> Result<BTreeMap<u32, TickSpan>, SelectionError> {
    check_order(from, to)?;
    let begin = from.map(|from| WindowStart::new(model, from)).transpose()?;
    let end = to.map(|to| WindowEnd::new(model, to)).transpose()?;
    let mut spans = BTreeMap::new();
    for rank in &model.ranks {
        let Some(clock) = survey.rank(rank.rank).and_then(|rank| rank.clock.as_ref()) else { continue };
        let begin = begin.as_ref().map_or(0, |begin| begin.ticks(rank, clock));
        let end = end.as_ref().map_or(u64::MAX, |end| end.ticks(rank, clock));
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

/// Begin of the window, in seconds on the run's clock.
enum WindowStart {
    At(f64),
    /// With the begin of an iteration; for ranks without it, when it begins on the first rank.
    With(MainIteration, f64),
}

impl WindowStart {
    fn new(model: &Model, from: WindowBoundary) -> Result<WindowStart, SelectionError> {
        match from {
            WindowBoundary::Time(ns) => {
                let (from_s, elapsed_s) = (ns as f64 / 1e9, model.elapsed_s());
                if from_s >= elapsed_s {
                    Err(SelectionError::PastEnd { from_s, elapsed_s })
                } else {
                    Ok(WindowStart::At(from_s))
                }
            }
            WindowBoundary::Iteration(number) => {
                let iteration = MainIteration::new(model, number, BlockEnd::First)?;
                let begins = model.ranks.iter().filter_map(|rank| Some(iteration.span_on(rank)?.0));
                // A begin that is not known, which is NaN, is passed over.
                let others_s = begins.fold(f64::INFINITY, f64::min);
                Ok(WindowStart::With(iteration, others_s))
            }
        }
    }

    fn ticks(&self, rank: &RankModel, clock: &RankClock) -> u64 {
        let begin_s = match self {
            WindowStart::At(seconds) => *seconds,
            WindowStart::With(iteration, others_s) => {
                iteration.span_on(rank).map(|times| times.0).filter(|begin| !begin.is_nan()).unwrap_or(*others_s)
            }
        };
        clock.first_tick_at(rank.nanoseconds(begin_s))
    }
}

/// End of the window, in seconds on the run's clock.
enum WindowEnd {
    At(f64),
    /// With the end of an iteration; for ranks without it, when it ends on the last rank. NaN: it does not end.
    With(MainIteration, f64),
}

impl WindowEnd {
    fn new(model: &Model, to: WindowBoundary) -> Result<WindowEnd, SelectionError> {
        match to {
            WindowBoundary::Time(ns) => Ok(WindowEnd::At(ns as f64 / 1e9)),
            WindowBoundary::Iteration(number) => {
                let iteration = MainIteration::new(model, number, BlockEnd::Last)?;
                let ends = model.ranks.iter().filter_map(|rank| Some(iteration.span_on(rank)?.1));
                let others_s = ends.fold(
                    f64::NEG_INFINITY,
                    |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) },
                );
                Ok(WindowEnd::With(iteration, others_s))
            }
        }
    }

    fn ticks(&self, rank: &RankModel, clock: &RankClock) -> u64 {
        match self {
            WindowEnd::At(seconds) => clock.first_tick_at(rank.nanoseconds(*seconds)),
            WindowEnd::With(iteration, others_s) => match iteration.span_on(rank).map_or(*others_s, |times| times.1) {
                end if end.is_nan() => u64::MAX,
                // The last tick of its last nanosecond: its own end is in the window.
                end => clock.first_tick_at(rank.nanoseconds(end).saturating_add(1)).saturating_sub(1),
            },
        }
    }
}

/// An iteration of the main loop.
struct MainIteration {
    region: RegionIdx,
    /// The number that it has on ranks: that of its block, where they have those.
    number: u32,
}

/// The iteration of a block of which only the begin, or only the end, is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockEnd {
    First,
    Last,
}

impl MainIteration {
    fn new(model: &Model, number: u32, wanted: BlockEnd) -> Result<MainIteration, SelectionError> {
        let region = model.main_loop().ok_or(SelectionError::NoLoop)?;
        let numbers = model.slowest.get(region as usize).into_iter().flatten().map(|slowest| slowest.iteration);
        let path = model.regions.get(region as usize).map_or(String::new(), |region| region.path.clone());
        if numbers.clone().any(|known| known == number) {
            let block = first_of_block(number, model.joined_power(region));
            let in_block = numbers.clone().filter(|&one| first_of_block(one, model.joined_power(region)) == block);
            let (first, last) = (in_block.clone().min().unwrap_or(number), in_block.max().unwrap_or(number));
            if number == (if wanted == BlockEnd::First { first } else { last }) {
                return Ok(MainIteration { region, number: block });
            }
            let per_block = model.joined.get(&region).map_or(1, JoinedIterations::per_block);
            return Err(SelectionError::OnlyBlocks { number, path, per_block, first, last });
        }
        let (first, last) = (numbers.clone().min().unwrap_or(0), numbers.max().unwrap_or(0));
        Err(SelectionError::NoIteration { number, path, first, last })
    }

    /// Returns begin and end of the iteration on `rank`, NaN where that is not known; `None` where the rank does not have it.
    fn span_on(&self, rank: &RankModel) -> Option<(f64, f64)> {
        let IterationSeries { numbers, begin_s, end_s, .. } = rank.series(self.region)?;
        let at = numbers.binary_search(&self.number).ok()?;
        Some((*begin_s.get(at)?, *end_s.get(at)?))
    }
}
