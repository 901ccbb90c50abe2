//! Puts the time of long gaps between polls where it belongs, in a profile that has it as computation ([`crate::poll_gaps`]).

use crate::gap_use::{GapUse, PolledSite};
use crate::operation::Operation;
use crate::poll_gaps::{GapPlace, NextCall, PlacedGaps};
use crate::polling::PollGapRule;
use crate::profile::{CallSiteKey, CellKey, ProfileCell, ThreadProfile};
use crate::states::Activity;

/// The use that a gap counts as, if it is known or the user has set it.
fn verdict(polling: PollGapRule, place: &GapPlace, gap_use: Option<GapUse>) -> Option<GapUse> {
    let operation = place.next.operation;
    let only_asks = !Operation::reads_window(operation) || Operation::only_synchronises_window(operation);
    match polling {
        PollGapRule::Auto => gap_use,
        PollGapRule::Waiting => only_asks.then_some(GapUse::Asleep),
        PollGapRule::Computation => Some(GapUse::Computing),
    }
}

impl ThreadProfile {
    /// Puts the time of gaps that are waiting into the calls that go on after them. `gap_use` returns what is known of the gaps after polls from a site.
    pub fn settle_gaps(
        &mut self,
        gaps: &[(GapPlace, PlacedGaps)],
        polling: PollGapRule,
        gap_use: impl Fn(PolledSite) -> Option<GapUse>,
    ) {
        for (place, found) in gaps {
            let polls = &mut self.polls;
            match verdict(polling, place, gap_use(place.site)) {
                None => {}
                Some(GapUse::Unclear) if !place.site.after_spin => {
                    let more = found.computation.saturating_sub(found.maybe_waiting);
                    polls.maybe_waiting = polls.maybe_waiting.saturating_add(more);
                }
                Some(GapUse::Computing | GapUse::Unclear) => {
                    polls.maybe_waiting = polls.maybe_waiting.saturating_sub(found.maybe_waiting);
                }
                Some(GapUse::Asleep | GapUse::Preempted) => {
                    let ticks = self.move_to_call(place, found.computation);
                    let polls = &mut self.polls;
                    polls.computation = polls.computation.saturating_sub(ticks);
                    polls.waiting = polls.waiting.saturating_add(ticks);
                    polls.maybe_waiting = polls.maybe_waiting.saturating_sub(found.maybe_waiting);
                    polls.waits = polls.waits.saturating_add(u64::from(ticks > 0));
                }
            }
        }
    }

    /// Moves up to `ticks` of computation into the call after a gap, and returns how many were moved.
    fn move_to_call(&mut self, place: &GapPlace, ticks: u64) -> u64 {
        let activity = Activity::Computation as u8;
        let key = CellKey { region: place.next.region, iteration: place.iteration, activity };
        let Some(computation) = cell_mut(&mut self.cells, &key) else { return 0 };
        let ticks = ticks.min(computation.ticks);
        computation.ticks -= ticks;
        cell_or_new(&mut self.cells, CellKey { activity: place.next.activity, ..key }).ticks += ticks;
        cell_or_new(&mut self.sites, site_key(&place.next)).ticks += ticks;
        ticks
    }
}

/// Returns the key of a call's sums.
fn site_key(next: &NextCall) -> CallSiteKey {
    let &NextCall { region, call_site, operation, activity } = next;
    CallSiteKey { region, call_site, operation, activity }
}

/// Returns the cell of a key in a list sorted by key.
fn cell_mut<'a, K: Ord>(cells: &'a mut [(K, ProfileCell)], key: &K) -> Option<&'a mut ProfileCell> {
    let at = cells.binary_search_by(|(there, _)| there.cmp(key)).ok()?;
    Some(&mut cells[at].1)
}

/// Returns the cell of a key in a list sorted by key, which gets it if it has none.
fn cell_or_new<K: Ord>(cells: &mut Vec<(K, ProfileCell)>, key: K) -> &mut ProfileCell {
    let at = match cells.binary_search_by(|(there, _)| there.cmp(&key)) {
        Ok(at) => at,
        Err(at) => {
            cells.insert(at, (key, ProfileCell::default()));
            at
        }
    };
    &mut cells[at].1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gap_use::GapSums;
    use crate::polling::PollSums;

    const PROBE: NextCall = NextCall {
        region: 3,
        call_site: 9,
        operation: Operation::Iprobe as u16,
        activity: Activity::PointToPoint as u8,
    };

    /// A profile with 100 ticks of computation and 5 of probes, and the 80 ticks of gaps between these.
    fn profile_and_gaps() -> (ThreadProfile, [(GapPlace, PlacedGaps); 1]) {
        let cell = |ticks| ProfileCell { ticks, calls: 1, sent: 0, received: 0 };
        let key = |activity: Activity| CellKey { region: 3, iteration: 7, activity: activity as u8 };
        let mut cells = vec![(key(Activity::Computation), cell(100)), (key(Activity::PointToPoint), cell(5))];
        cells.sort_by_key(|(key, _)| *key);
        let polls = PollSums { polls: 4, within: 5, computation: 90, maybe_waiting: 30, ..PollSums::default() };
        let profile =
            ThreadProfile { cells, sites: vec![(site_key(&PROBE), cell(5))], polls, ..ThreadProfile::default() };
        let site = PolledSite { call_site: 8, after_spin: false };
        let place = GapPlace { site, next: PROBE, iteration: 7 };
        let sums = GapSums { gaps: 4, ticks: 90, sampled_ns: 0, succeeded: 0 };
        (profile, [(place, PlacedGaps { sums, computation: 80, maybe_waiting: 20 })])
    }

    fn settled(polling: PollGapRule, gap_use: Option<GapUse>) -> (Vec<u64>, u64, PollSums) {
        let (mut profile, gaps) = profile_and_gaps();
        profile.settle_gaps(&gaps, polling, |site| gap_use.filter(|_| site.call_site == 8));
        let mut ticks: Vec<u64> = profile.cells.iter().map(|(_, cell)| cell.ticks).collect();
        ticks.sort_unstable();
        (ticks, profile.sites[0].1.ticks, profile.polls)
    }

    #[test]
    fn gaps_in_which_the_thread_sleeps_are_time_of_the_call_after_them() {
        let polls = PollSums {
            polls: 4,
            waits: 1,
            within: 5,
            waiting: 80,
            computation: 10,
            maybe_waiting: 10,
            ..PollSums::default()
        };
        assert_eq!(settled(PollGapRule::Auto, Some(GapUse::Asleep)), (vec![20, 85], 85, polls));
        assert_eq!(settled(PollGapRule::Waiting, None), (vec![20, 85], 85, polls));
    }

    #[test]
    fn gaps_that_are_computation_or_unclear_stay_where_they_are() {
        let maybe_waiting = |gap_use| {
            let (ticks, probe, polls) = settled(PollGapRule::Auto, gap_use);
            assert_eq!((ticks, probe, polls.computation), (vec![5, 100], 5, 90));
            polls.maybe_waiting
        };
        assert_eq!(maybe_waiting(None), 30);
        assert_eq!(maybe_waiting(Some(GapUse::Computing)), 10);
        assert_eq!(maybe_waiting(Some(GapUse::Unclear)), 90);
        assert_eq!(settled(PollGapRule::Computation, Some(GapUse::Asleep)).2.maybe_waiting, 10);
    }

    #[test]
    fn of_a_hostile_log_no_more_time_is_moved_than_there_is() {
        let (mut profile, mut gaps) = profile_and_gaps();
        gaps[0].1.computation = u64::MAX;
        profile.settle_gaps(&gaps, PollGapRule::Waiting, |_| None);
        assert_eq!(profile.cells.iter().map(|(_, cell)| cell.ticks).sum::<u64>(), 105);
    }
}
