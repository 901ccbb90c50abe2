//! Rare long delays in MPI calls: nearly all calls of a place are short, and a few take most of the time that calls take besides waiting for other ranks.
//!
//! ```text
//!   calls of a place, by their time besides waiting for other ranks
//!
//!   0.01 ms  ########################################   3,192
//!   100 ms   #                                              8    at most 1 in 100, and most of the time
//! ```
//!
//! Ranks that compute longer are waited for, which is left out here. A place at which all calls take long has no rare ones. Calls that carry more than others of
//! their place are no delays, either.

use std::collections::{BTreeMap, BTreeSet};

use lbprof_analysis::model::Model;
use lbprof_analysis::model::replayed::statistics::{LongCalls, MAX_DELAYED_RANKS};
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::structure::code::symbols::{CodePlace, first_on_line};
use lbprof_collector::record::NONE;
use lbprof_collector::{Activity, StateGroup};
use lbprof_thresholds::verdict::{
    MAX_BYTES_OF_DELAYED_CALL, MAX_RARE_CALLS, MIN_EXCESS_ASLEEP, MIN_RARE_DELAYS, MIN_SPAN_OF_RARE_DELAYS,
    MIN_TIME_OF_RARE_DELAYS,
};

use super::LossAt;
use crate::SiteRow;
use crate::waiting::blocking::site_of_line;

/// Calls by the number of bits of their nanoseconds.
type CallsByDuration = BTreeMap<u8, LongCalls>;

/// Calls of which a few take long.
#[derive(Clone, Debug)]
pub struct RareDelays {
    /// The calls that take long.
    pub calls: u64,
    /// All calls at the same places.
    pub all_calls: u64,
    /// Seconds of the calls that take long, besides waiting for other ranks.
    pub seconds: f64,
    /// Begin of the first one, in seconds from the begin of the run or of the selected time.
    pub first_s: f64,
    /// Begin of the last one.
    pub last_s: f64,
    /// The ranks that make them, ascending; empty if they are many.
    pub ranks: Vec<u32>,
    /// The place with most of their time.
    pub at: LossAt,
    /// Number of places.
    pub places: usize,
    /// True if a rank sleeps in such calls for most of the delays; `None` if that is not known.
    pub are_asleep: Option<bool>,
}

impl RareDelays {
    /// Finds rare delays that are most of the time in calls besides waiting for other ranks, and that come during all of the run.
    pub(crate) fn find(model: &Model, places: &[CodePlace], sites: &[SiteRow]) -> Option<RareDelays> {
        let transfers = &model.statistics.as_ref()?.transfers;
        let first = first_on_line(places);
        let mut by_place: BTreeMap<(Option<u32>, String), CallsByDuration> = BTreeMap::new();
        for (call, durations) in &transfers.long {
            let site = Some(call.site).filter(|&site| site != NONE).map(|site| site_of_line(&first, site));
            let own = by_place.entry((site, operation_name(call.operation))).or_default();
            for (&bits, calls) in durations {
                own.entry(bits).or_default().add(calls);
            }
        }
        let (mut all, mut all_calls, mut n_places) = (LongCalls::default(), 0, 0);
        let mut longest: Option<(u128, &SiteRow)> = None;
        for ((site, operation), durations) in &by_place {
            let rows = sites.iter().filter(|row| row.id == *site && row.operation == *operation);
            let rows: Vec<&SiteRow> = rows.collect();
            let n_calls: u64 = rows.iter().map(|row| row.sum.calls).sum();
            let bytes: u64 = rows.iter().fold(0, |sum, row| row.bytes.saturating_add(sum));
            let Some(rare) = find_rare_calls(durations, n_calls, bytes) else { continue };
            all.add(&rare);
            all_calls += n_calls;
            n_places += 1;
            if let Some(&row) = rows.first().filter(|_| longest.is_none_or(|(ns, _)| rare.ns > ns)) {
                longest = Some((rare.ns, row));
            }
        }
        let (_, row) = longest?;
        let span_s = (all.last - all.first) as f64 * 1e-9;
        let are_rare_delays = all.calls >= MIN_RARE_DELAYS
            && all.ns as f64 >= MIN_TIME_OF_RARE_DELAYS * transfers.all_ns as f64
            && span_s >= MIN_SPAN_OF_RARE_DELAYS * model.elapsed_s();
        are_rare_delays.then(|| RareDelays {
            calls: all.calls,
            all_calls,
            seconds: all.ns as f64 * 1e-9,
            first_s: all.first as f64 * 1e-9,
            last_s: all.last as f64 * 1e-9,
            ranks: list_few_ranks(&all.ranks),
            at: LossAt { operation: row.operation.clone(), place: row.place.clone(), share: None },
            places: n_places,
            are_asleep: longest_sleep_s(model, row.activity)
                .map(|asleep_s| asleep_s >= MIN_EXCESS_ASLEEP * all.ns as f64 * 1e-9 / all.ranks.len().max(1) as f64),
        })
    }
}

/// Returns the longest time that a rank sleeps in calls of an activity, in seconds, or `None` if that is not known of all ranks.
fn longest_sleep_s(model: &Model, activity: Activity) -> Option<f64> {
    let times = model.ranks.iter().map(|rank| {
        let places = &rank.samples.off_core.as_ref()?.places;
        let asleep = places.iter().filter(|(at, _)| at.1 == activity && at.2.group() == StateGroup::Asleep);
        Some(asleep.map(|(_, seconds)| seconds).sum())
    });
    times.collect::<Option<Vec<f64>>>().map(|times| times.into_iter().fold(0.0, f64::max))
}

/// Adds up the longest calls of a place, at most 1 in 100 of its `n_calls`, or returns `None` if there are none, or if they carry more than the others.
fn find_rare_calls(durations: &CallsByDuration, n_calls: u64, bytes: u64) -> Option<LongCalls> {
    let mut rare = LongCalls::default();
    for calls in durations.values().rev() {
        if (rare.calls + calls.calls) as f64 > MAX_RARE_CALLS * n_calls as f64 {
            break;
        }
        rare.add(calls);
    }
    let mean_bytes = bytes as f64 / n_calls.max(1) as f64;
    let are_delays = rare.bytes as f64 <= MAX_BYTES_OF_DELAYED_CALL * mean_bytes * rare.calls as f64;
    (rare.calls > 0 && are_delays).then_some(rare)
}

/// Lists ranks, if they are so few that all of them are known.
fn list_few_ranks(ranks: &BTreeSet<u32>) -> Vec<u32> {
    if ranks.len() < MAX_DELAYED_RANKS { ranks.iter().copied().collect() } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls by bits of their nanoseconds, number and bytes.
    fn durations(calls: &[[u64; 3]]) -> CallsByDuration {
        calls
            .iter()
            .map(|&[bits, calls, bytes]| {
                (bits as u8, LongCalls { calls, ns: u128::from(calls) << bits, bytes, ..LongCalls::default() })
            })
            .collect()
    }

    #[test]
    fn the_longest_calls_are_rare_if_they_are_few_of_all() {
        let few = find_rare_calls(&durations(&[[18, 40, 40], [27, 8, 8]]), 3200, 3200).expect("8 of 3,200");
        assert_eq!(few.calls, 8, "with the next shorter ones they are more than 1 in 100");
        assert!(find_rare_calls(&durations(&[[27, 8, 8]]), 200, 200).is_none(), "4 in 100");
        assert!(find_rare_calls(&BTreeMap::new(), 3200, 3200).is_none());
    }

    #[test]
    fn calls_that_carry_more_than_others_are_no_delays() {
        assert!(find_rare_calls(&durations(&[[27, 8, 8_000_000]]), 3200, 8_025_600).is_none());
        assert!(find_rare_calls(&durations(&[[27, 8, 8_000_000]]), 3200, 3_200_000_000).is_some());
    }
}
