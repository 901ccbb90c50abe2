//! The code that each rank runs: its regions and its calls of MPI, with their weight in time.

use std::collections::BTreeMap;

use lbprof_collector::Activity;

use crate::model::{Model, RegionIdx};

/// A piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// Computation in a region, inner ones excluded.
    Computation(RegionIdx),
    /// Calls of an operation at a place.
    Call {
        /// Index in the model's call sites of the first one on the same source line; `None` where the recorder did not know it.
        site: Option<u32>,
        /// Number of the operation.
        operation: u16,
    },
}

/// The code that a rank runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankCode {
    /// Indices of pieces of code, ascending, each with its share of the rank's time.
    pub shares: Vec<(u32, f64)>,
    /// Whether records tell of nearly all of the run, so that what is not in `shares` was not run.
    pub whole: bool,
}

/// Part of the longest recorded time of a rank from which on a rank counts as recorded to its end.
const WHOLE: f64 = 0.9;

/// The pieces of code of a run, and each rank's part in them.
///
/// `lines`: for each of the model's call sites the first one on the same source line
/// ([`crate::symbols::first_on_line`]): compilers copy a call into the branches that lead to it, so that one line has several
/// addresses, at which different ranks may call.
pub fn codes(model: &Model, lines: &[u32]) -> (Vec<Code>, Vec<RankCode>) {
    let known_s = |seconds: &[f64]| seconds.iter().sum::<f64>() - seconds[Activity::Recorder as usize];
    let longest = model.ranks.iter().map(|rank| known_s(&rank.inclusive(0))).fold(0.0, f64::max);
    let mut all: BTreeMap<Code, u32> = BTreeMap::new();
    let mut ranks: Vec<(BTreeMap<Code, f64>, bool)> = Vec::with_capacity(model.ranks.len());
    for rank in &model.ranks {
        let total = known_s(&rank.inclusive(0));
        let mut own: BTreeMap<Code, f64> = BTreeMap::new();
        let mut add = |code, seconds: f64| {
            *own.entry(code).or_default() += if total > 0.0 { seconds / total } else { 0.0 };
        };
        for ((region, activity), cell) in &rank.cells {
            if *activity == Activity::Computation && cell.seconds > 0.0 {
                add(Code::Computation(*region), cell.seconds);
            }
        }
        for (key, cell) in rank.sites.iter().filter(|(key, _)| key.activity != Activity::Recorder) {
            let site = key.site.map(|site| lines.get(site as usize).copied().unwrap_or(site));
            add(Code::Call { site, operation: key.operation }, cell.seconds);
        }
        own.keys().for_each(|&code| _ = all.entry(code).or_default());
        ranks.push((own, total > 0.0 && total >= WHOLE * longest));
    }
    (0_u32..).zip(all.values_mut()).for_each(|(number, idx)| *idx = number);
    let numbered = |(own, whole): (BTreeMap<Code, f64>, bool)| RankCode {
        // Both are in the order of the codes, so the indices ascend.
        shares: own.into_iter().filter_map(|(code, share)| Some((*all.get(&code)?, share))).collect(),
        whole,
    };
    let ranks = ranks.into_iter().map(numbered).collect();
    (all.into_keys().collect(), ranks)
}
