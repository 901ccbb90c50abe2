//! Finds the code that distinguishes a cluster: the code that its ranks run and others do not.

use std::collections::BTreeMap;

use super::{ClusterOrRank, RunCode};

/// Code that one part of the ranks runs and no other, or much less of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistinctiveCode {
    /// Index of the piece of code.
    pub piece: u32,
    /// Its share of the time of the part's ranks, on average.
    pub share: f64,
}

/// For each part the code that its ranks run at least twice as often as the ranks of any other, on average; the one with most time
/// first.
pub fn own_code(codes: &RunCode, parts: &[ClusterOrRank]) -> Vec<Vec<DistinctiveCode>> {
    /// Mean runs of a piece in the part that runs it most, that part, its mean share there, and the runs in the next part.
    #[derive(Clone, Copy, Default)]
    struct LargestUsage {
        times: f64,
        part: usize,
        share: f64,
        next: f64,
    }
    let mut most: BTreeMap<u32, LargestUsage> = BTreeMap::new();
    for (number, part) in parts.iter().enumerate() {
        let n = part.members.len().max(1) as f64;
        let mut means: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for run in part.members.iter().filter_map(|&at| codes.ranks.get(at)).flat_map(|rank| &rank.runs) {
            let (times, share) = means.entry(run.piece).or_default();
            (*times, *share) = (*times + run.times / n, *share + run.share / n);
        }
        for (piece, (times, share)) in means {
            let known = most.entry(piece).or_default();
            if times > known.times {
                *known = LargestUsage { times, part: number, share, next: known.times };
            } else {
                known.next = known.next.max(times);
            }
        }
    }
    let mut own: Vec<Vec<DistinctiveCode>> = vec![Vec::new(); parts.len()];
    for (piece, found) in most.into_iter().filter(|(_, found)| found.times >= 2.0 * found.next) {
        own[found.part].push(DistinctiveCode { piece, share: found.share });
    }
    for own in own.iter_mut() {
        own.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.piece.cmp(&b.piece)));
    }
    own
}
