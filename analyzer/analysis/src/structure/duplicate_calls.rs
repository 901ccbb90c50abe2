//! Copies that a compiler made of one call, in unrolled loops and in branches that it lets end apart, as the one call that they are in
//! the source.

use std::collections::HashMap;

use crate::structure::survey::{CallSurvey, CallToken, RankSurvey};

/// The number of each kind of call, by which copies of one call are one kind, and the survey with the calls of each kind under that
/// number. `first_copy`: for each call site the first one that is the same call of the source.
pub fn as_one(survey: &CallSurvey, first_copy: &[u32]) -> (HashMap<CallToken, u32>, CallSurvey) {
    let mut numbers: HashMap<CallToken, u32> = HashMap::new();
    let of_kind: Vec<u32> = (0..)
        .zip(&survey.tokens)
        .map(|(own, token)| {
            let original = CallToken {
                site: token.site.map(|site| first_copy.get(site as usize).copied().unwrap_or(site)),
                ..*token
            };
            *numbers.entry(original).or_insert(own)
        })
        .collect();
    let ranks = survey.ranks.iter().map(|rank| counted(rank, &of_kind)).collect();
    let tokens = survey.tokens.iter().copied().zip(of_kind.iter().copied()).collect();
    (tokens, CallSurvey { ranks, ..survey.clone() })
}

/// Returns the rank with its calls under other numbers.
fn counted(rank: &RankSurvey, of_kind: &[u32]) -> RankSurvey {
    let mut counts: Vec<(u32, u64)> = Vec::with_capacity(rank.counts.len());
    let mut all: Vec<(u32, u64)> =
        rank.counts.iter().filter_map(|&(kind, count)| Some((*of_kind.get(kind as usize)?, count))).collect();
    all.sort_unstable();
    for (kind, count) in all {
        match counts.last_mut() {
            Some((last, sum)) if *last == kind => *sum = sum.saturating_add(count),
            _ => counts.push((kind, count)),
        }
    }
    RankSurvey { counts, ..rank.clone() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn copies_of_a_call_are_counted_as_one_kind() {
        let token = |site, operation| CallToken { site, operation, comm: 0 };
        let tokens = vec![token(None, 1), token(Some(0), 1), token(Some(1), 1), token(Some(1), 2), token(Some(2), 1)];
        let counts = vec![(0, 1), (1, 10), (2, 3), (3, 5), (4, 7)];
        let ranks =
            vec![RankSurvey { rank: 4, calls: 26, counts, clock: None, is_sampled: false, threads: BTreeMap::new() }];
        let survey = CallSurvey { tokens, ranks, ..CallSurvey::default() };
        // Sites 0 and 2 are copies of one call.
        let (numbers, counted) = as_one(&survey, &[0, 1, 0]);
        assert_eq!(counted.ranks[0].counts, [(0, 1), (1, 17), (2, 3), (3, 5)]);
        assert_eq!(numbers.len(), 5);
        assert_eq!((numbers[&token(Some(2), 1)], numbers[&token(Some(0), 1)]), (1, 1));
    }
}
