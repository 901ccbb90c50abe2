//! The code that ranks are in over time, by the samples of their first threads.

use std::collections::BTreeMap;

use lbprof_collector::record::NONE;
use rayon::prelude::*;

use super::RankRows;
use crate::model::code::region_state::Ns;
use crate::replay::{StackSample, SurveyedRun};
use crate::structure::code::sampled_code::SampledCode;

/// Most bins in which a row's time is given, and of all rows together.
const MOST_BINS: usize = 1_000;
const MOST_CELLS: usize = 250_000;

/// Maximum number of samples that are kept of all ranks together.
const MOST_SAMPLES: usize = 1 << 22;

/// Samples in a bin, on average.
const SAMPLES_PER_BIN: usize = 2;

/// The code that ranks are in over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StackCourse {
    /// Number of bins into which the run's window is cut.
    pub bins: usize,
    /// By row and bin the function with most samples, as its node of [`SampledCode`] with most of them; NONE without samples.
    pub nodes: Vec<u32>,
}

impl StackCourse {
    /// Reads the samples of the ranks of `surveyed`'s model up to `end`. Returns `None` if there are none.
    pub fn new(surveyed: SurveyedRun, code: &SampledCode, end: Ns) -> Option<StackCourse> {
        let ranks = &surveyed.model.ranks;
        let rows = RankRows::new(ranks.iter().map(|rank| rank.rank).collect());
        let samples = ranks
            .par_iter()
            .map(|rank| surveyed.stacks_of_rank(code, rank, MOST_SAMPLES / ranks.len()).unwrap_or_default());
        let samples: Vec<Vec<StackSample>> = samples.collect();
        let n_samples: usize = samples.iter().map(Vec::len).sum();
        if n_samples == 0 || end <= 0 {
            return None;
        }
        let most_bins = MOST_BINS.min(MOST_CELLS / rows.len());
        let bins = (n_samples / rows.len() / SAMPLES_PER_BIN).clamp(1, most_bins);
        let mut nodes = Vec::with_capacity(rows.len() * bins);
        for row in samples.chunks(rows.per_row()) {
            let mut times: BTreeMap<(usize, u32), f64> = BTreeMap::new();
            for &(at, stack, seconds) in row.iter().flatten().filter(|(at, ..)| (1..=end).contains(at)) {
                // A sample stands for time before it.
                let bin = ((at - 1) as u128 * bins as u128 / end as u128) as usize;
                *times.entry((bin, code.responsible_node(code.node_of(stack)))).or_default() += seconds;
            }
            nodes.extend(main_nodes(code, &times, bins));
        }
        Some(StackCourse { bins, nodes })
    }
}

/// Returns by bin the function with most time, as its node with most of it, from the time by bin and node.
fn main_nodes(code: &SampledCode, times: &BTreeMap<(usize, u32), f64>, bins: usize) -> Vec<u32> {
    let mut by_function: BTreeMap<(usize, u32), f64> = BTreeMap::new();
    for (&(bin, node), seconds) in times {
        *by_function.entry((bin, code.responsible(node))).or_default() += seconds;
    }
    let mut most = vec![(0.0, 0.0, NONE); bins];
    for (&(bin, node), &seconds) in times {
        let of_function = by_function[&(bin, code.responsible(node))];
        if (of_function, seconds) > (most[bin].0, most[bin].1) {
            most[bin] = (of_function, seconds, node);
        }
    }
    most.into_iter().map(|(.., node)| node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::code::sampled_code::{SampledFunction, SampledLink, SampledNode};

    #[test]
    fn a_bin_shows_the_longest_path_to_the_function_with_most_time() {
        // main ─ relax ─ flux, main ─ flux, main ─ output
        let node = |function, parent| SampledNode { function, parent, link: SampledLink::Called };
        let nodes = vec![node(0, None), node(1, Some(0)), node(2, Some(1)), node(2, Some(0)), node(3, Some(0))];
        let mut code = SampledCode::default();
        (code.functions, code.nodes) = (vec![SampledFunction::default(); 4], nodes);
        let times = BTreeMap::from([((0, 4), 0.5), ((0, 2), 0.4), ((0, 3), 0.3), ((2, 1), 0.1)]);
        assert_eq!(main_nodes(&code, &times, 3), [2, NONE, 1], "flux has more than output, and most of it in relax");
    }
}
