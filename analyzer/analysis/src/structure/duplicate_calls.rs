//! Merges calls that the compiler duplicated, e.g. by loop unrolling or tail duplication.

use std::collections::{BTreeMap, HashMap};

use crate::structure::survey::{CallSurvey, CallToken, RankSurvey};

/// Returns a number for each kind of call, the same one for all copies of a call, and the survey with calls counted by these numbers.
/// `first_copy` maps each call site to the first copy of its call.
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
    let ranks = survey.ranks.iter().map(|rank| count_by_kind(rank, &of_kind)).collect();
    let tokens = survey.tokens.iter().copied().zip(of_kind.iter().copied()).collect();
    (tokens, CallSurvey { ranks, ..survey.clone() })
}

fn count_by_kind(rank: &RankSurvey, of_kind: &[u32]) -> RankSurvey {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for &(kind, count) in &rank.counts {
        if let Some(&kind) = of_kind.get(kind as usize) {
            let sum = counts.entry(kind).or_default();
            *sum = sum.saturating_add(count);
        }
    }
    RankSurvey { counts: counts.into_iter().collect(), ..rank.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_a_call_are_counted_as_one_kind() {
        let token = |site, operation| CallToken { site, operation, comm: 0 };
        let tokens = vec![token(None, 1), token(Some(0), 1), token(Some(1), 1), token(Some(1), 2), token(Some(2), 1)];
        let counts = vec![(0, 1), (1, 10), (2, 3), (3, 5), (4, 7)];
        let ranks = vec![RankSurvey { rank: 4, calls: 26, counts, ..RankSurvey::default() }];
        let survey = CallSurvey { tokens, ranks, ..CallSurvey::default() };
        // Sites 0 and 2 are copies of one call.
        let (numbers, counted) = as_one(&survey, &[0, 1, 0]);
        assert_eq!(counted.ranks[0].counts, [(0, 1), (1, 17), (2, 3), (3, 5)]);
        assert_eq!(numbers.len(), 5);
        assert_eq!((numbers[&token(Some(2), 1)], numbers[&token(Some(0), 1)]), (1, 1));
    }
}
