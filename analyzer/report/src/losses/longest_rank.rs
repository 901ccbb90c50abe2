//! The rank that computes longest: by how much, in which region, and which ranks compute as long.

use lbprof_analysis::metrics::sampled::preemption::{PreemptionLoss, preemption_loss};
use lbprof_analysis::model::Model;
use lbprof_analysis::read::definitions::WHOLE_PROGRAM;
use lbprof_thresholds::verdict::MIN_EXCESS_OF_EQUAL_RANK;
use serde::Serialize;

use crate::code::functions::ExplainedExcess;
use crate::time::excess_iterations::ExcessIterations;
use crate::{RegionRow, index_of_largest};

/// The rank that computes longest.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct LongestRank {
    /// Its number.
    pub rank: u32,
    /// Its computation.
    pub computation_s: f64,
    /// The mean computation of all ranks.
    pub mean_s: f64,
    /// `computation_s` − `mean_s`.
    pub over_mean_s: f64,
    /// The part of it that was waiting for a core after preemption.
    #[serde(skip)]
    pub preempted: Option<PreemptionLoss>,
    /// The region in which most of the excess lies; null if there is only the whole program.
    pub region: Option<WorstRegion>,
    /// In which functions it computes longer than the mean, in that region, or in the whole program if `region` is null; null if the rank was not sampled.
    pub explained: Option<ExplainedExcess>,
    /// In which iterations it and `equal_ranks` have their excess; null if in most of them, or if that is not known.
    pub iterations: Option<ExcessIterations>,
    /// The other ranks whose computation exceeds the mean by at least 90 % as much, in the same region, ascending.
    pub equal_ranks: Vec<u32>,
}

impl LongestRank {
    /// Finds the rank with the longest of these times, one a rank, and the region of `regions` in which most of its excess over the mean lies.
    pub(crate) fn find(model: &Model, computation: &[f64], regions: &[&RegionRow]) -> Option<LongestRank> {
        let mean_s = computation.iter().sum::<f64>() / computation.len().max(1) as f64;
        let at = index_of_largest(computation).filter(|_| computation.len() > 1)?;
        let rank = &model.ranks[at];
        let by_excess = regions.iter().map(|row| WorstRegion {
            path: row.path.clone(),
            name: row.name.clone(),
            between: row.between.clone(),
            found: row.found,
            excess_s: row.excess_computation_s(rank),
        });
        let region = by_excess
            .max_by(|a, b| a.excess_s.total_cmp(&b.excess_s))
            .filter(|worst| (regions.len() > 1 || worst.path != WHOLE_PROGRAM) && worst.excess_s > 0.0);
        let over_mean_s = computation[at] - mean_s;
        let row = region.as_ref().and_then(|region| regions.iter().find(|row| row.path == region.path));
        let equals = model.ranks.iter().zip(computation).filter(|&(other, &other_s)| {
            other.rank != rank.rank
                && other_s - mean_s >= MIN_EXCESS_OF_EQUAL_RANK * over_mean_s
                && row.is_none_or(|row| {
                    row.excess_computation_s(other) >= MIN_EXCESS_OF_EQUAL_RANK * row.excess_computation_s(rank)
                })
        });
        Some(LongestRank {
            rank: rank.rank,
            computation_s: computation[at],
            mean_s,
            over_mean_s,
            preempted: preemption_loss(rank),
            region,
            explained: None,
            iterations: None,
            equal_ranks: equals.map(|(other, _)| other.rank).collect(),
        })
    }

    /// Lists the rank and those that compute as long, ascending.
    pub fn with_equals(&self) -> Vec<u32> {
        let mut ranks = self.equal_ranks.clone();
        ranks.push(self.rank);
        ranks.sort_unstable();
        ranks
    }
}

/// The region with most of a rank's excess.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct WorstRegion {
    /// The region's path.
    pub path: String,
    /// Its own name.
    #[serde(skip)]
    pub name: String,
    /// The calls around the code in words, if one function makes both.
    #[serde(skip)]
    pub between: Option<String>,
    /// True if it was found in the calls, not marked.
    #[serde(skip)]
    pub found: bool,
    /// Excess of the rank's computation there over the mean of all ranks, inner regions excluded.
    pub excess_s: f64,
}
