//! The difference between the code of two ranks.
//!
//! ```text
//!                 exchange   long_range   output      of rank 0's 110 calls rank 1 does not make 97: 0.88
//!   rank 0          100           2          8        of rank 1's 312 calls rank 0 does not make 299: 0.96
//!   rank 1            3         300          9        so they run different code
//! ```
//!
//! Only how often code is run counts, not for how long: a slow rank makes the same calls as all others. Calls count by function,
//! for in one function ranks call from different lines where some receive first, or lack a neighbour.
//!
//! A program that has all its calls in one function is judged by lines, but only where more speaks for it than lines: the ranks
//! never meet in a communicator of a part of the ranks, while each has one; or they spend most of their time on different
//! activities, by other operations or by many more calls.

use lbprof_collector::Activity;
use lbprof_thresholds::metrics::{MIN_FACTOR_OF_CALLS, MIN_OTHER_OPERATIONS};

use super::{CodePiece, RunCode};

#[derive(Clone, Debug, Default)]
pub(super) struct ClusterProfile {
    /// The ranks, as indices.
    pub(super) ranks: Vec<usize>,
    /// Mean number of runs of each piece of code; ascending pieces.
    lines: Vec<(u32, f64)>,
    /// Code by function.
    functions: Vec<(u32, f64)>,
    /// Code by operation.
    operations: Vec<(u32, f64)>,
    /// Mean shares of time.
    activities: [f64; Activity::COUNT],
}

impl ClusterProfile {
    pub(super) fn new(codes: &RunCode, ranks: Vec<usize>) -> ClusterProfile {
        let n = ranks.len().max(1) as f64;
        let mut profile = ClusterProfile::default();
        for rank in ranks.iter().filter_map(|&at| codes.ranks.get(at)) {
            for run in &rank.runs {
                profile.lines.push((run.piece, run.times / n));
                if let Some(&function) = codes.functions.get(run.piece as usize) {
                    profile.functions.push((function, run.times / n));
                }
                if let Some(CodePiece::Call { operation, .. }) = codes.pieces.get(run.piece as usize) {
                    profile.operations.push((u32::from(*operation), run.times / n));
                }
            }
            for (mean, share) in profile.activities.iter_mut().zip(rank.activities) {
                *mean += share / n;
            }
        }
        for counts in [&mut profile.lines, &mut profile.functions, &mut profile.operations] {
            *counts = sum_by_key(std::mem::take(counts));
        }
        ClusterProfile { ranks, ..profile }
    }
}

fn sum_by_key(mut counts: Vec<(u32, f64)>) -> Vec<(u32, f64)> {
    counts.sort_by_key(|(key, _)| *key);
    counts.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    counts
}

/// `differences[a][b]`: the share of a's code, in 0..=1, that b does not run, or not as often.
pub(super) fn profile_differences(codes: &RunCode, profiles: &[ClusterProfile]) -> Vec<Vec<f64>> {
    let apart = separated_profiles(codes, profiles);
    square_matrix(profiles.len(), |a, b| match a == b {
        true => 0.0,
        false => code_difference(&profiles[a], &profiles[b], apart[a][b]),
    })
}

pub(super) fn square_matrix<T>(n: usize, entry: impl Fn(usize, usize) -> T) -> Vec<Vec<T>> {
    (0..n).map(|row| (0..n).map(|column| entry(row, column)).collect()).collect()
}

/// The share of a's code that b does not run. `apart`: whether they have communicators, but never one together.
pub(super) fn code_difference(a: &ClusterProfile, b: &ClusterProfile, apart: bool) -> f64 {
    let by_line = if apart { 1.0 } else { other_work(a, b) };
    excess_share(&a.functions, &b.functions).max(excess_share(&a.lines, &b.lines).min(by_line))
}

/// Share of the time that two profiles spend on different activities, where they also make other calls or many more; else 0.
fn other_work(a: &ClusterProfile, b: &ClusterProfile) -> f64 {
    let n_a: f64 = a.operations.iter().map(|(_, calls)| calls).sum();
    let n_b: f64 = b.operations.iter().map(|(_, calls)| calls).sum();
    let others = excess_share(&fractions_of(&a.operations, n_a), &fractions_of(&b.operations, n_b));
    match n_a.max(n_b) >= MIN_FACTOR_OF_CALLS * n_a.min(n_b) || others >= MIN_OTHER_OPERATIONS {
        true => 0.5 * a.activities.iter().zip(b.activities).map(|(a, b)| (a - b).abs()).sum::<f64>(),
        false => 0.0,
    }
}

/// Returns calls by operation as fractions of all `n` calls, or zeros if there are none.
fn fractions_of(calls: &[(u32, f64)], n: f64) -> Vec<(u32, f64)> {
    calls.iter().map(|&(operation, times)| (operation, if n > 0.0 { times / n } else { 0.0 })).collect()
}

/// Returns the share of `a` in excess of `b`; both ascend. 0 if `a` is empty.
fn excess_share(a: &[(u32, f64)], b: &[(u32, f64)]) -> f64 {
    let (mut sum, mut more) = (0.0, 0.0);
    for &(key, times) in a {
        let others = b.binary_search_by_key(&key, |(key, _)| *key).map_or(0.0, |at| b[at].1);
        sum += times;
        more += (times - others).max(0.0);
    }
    if sum > 0.0 { more / sum } else { 0.0 }
}

/// Returns whether ranks of two profiles have communicators of a part of all ranks, but never one together.
fn separated_profiles(codes: &RunCode, profiles: &[ClusterProfile]) -> Vec<Vec<bool>> {
    let mut profile_of = vec![usize::MAX; codes.ranks.len()];
    for (number, profile) in profiles.iter().enumerate() {
        for &at in &profile.ranks {
            profile_of[at] = number;
        }
    }
    let n = profiles.len();
    let mut has_own = vec![false; n];
    let mut together = vec![vec![false; n]; n];
    for circle in &codes.circles {
        let mut members: Vec<usize> =
            circle.iter().filter_map(|&at| profile_of.get(at as usize).copied()).filter(|&of| of < n).collect();
        members.sort_unstable();
        members.dedup();
        for &a in &members {
            has_own[a] = true;
            for &b in members.iter() {
                together[a][b] = true;
            }
        }
    }
    square_matrix(n, |a, b| has_own[a] && has_own[b] && !together[a][b])
}
