//! A rank's summaries: in a first look in place of its events, otherwise compared with them.

use bincode::{Decode, Encode};
use lbprof_collector::profile::ProfileCell;
use lbprof_collector::summary::ThreadSummary;
use lbprof_collector::{Activity, Problem, ProblemKind};

use crate::model::Model;
use crate::model::ranks::samples::RankSamples;
use crate::profile::summed::sums::ThreadTotals;

#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub(in crate::profile) struct SummarizedRanks {
    pub(in crate::profile) ranks: u32,
    pub(in crate::profile) without_iterations: u32,
}

/// The sums that summaries state: records and calls, and time, calls and bytes by activity.
#[derive(Clone, Debug, Default, PartialEq)]
struct StatedSums {
    records: u64,
    calls: u64,
    cells: [ProfileCell; Activity::COUNT],
}

/// The sums stated by a rank's summaries, for its first thread and for all others.
#[derive(Default)]
pub(in crate::profile) struct RankSummary {
    first: Option<StatedSums>,
    others: Option<StatedSums>,
}

impl RankSummary {
    pub(in crate::profile) fn add(&mut self, summary: &ThreadSummary) {
        let sums = if summary.thread() == 0 { &mut self.first } else { &mut self.others };
        let sums = sums.get_or_insert_default();
        let profile = &summary.batch.profile;
        sums.records = sums.records.saturating_add(profile.records);
        sums.calls = sums.calls.saturating_add(profile.calls);
        for (key, cell) in &profile.cells {
            sums.cells[usize::from(key.activity) % Activity::COUNT].add(cell);
        }
    }

    /// Returns the contradiction between the summaries and the events, which add up to `first` and `others`.
    pub(in crate::profile) fn contradicts(
        &self,
        first: Option<&ThreadTotals>,
        others: &ThreadTotals,
    ) -> Option<Problem> {
        let of_first = self
            .first
            .as_ref()
            .and_then(|stated| describe_difference(stated, &first.map(sum_records).unwrap_or_default()));
        let of_others = self.others.as_ref().and_then(|stated| describe_difference(stated, &sum_records(others)));
        let detail = of_first.or(of_others)?;
        Some(Problem { kind: ProblemKind::SummaryWrong, rank: None, count: 1, detail })
    }
}

fn sum_records(totals: &ThreadTotals) -> StatedSums {
    let mut sums = StatedSums { records: totals.rest.records, calls: totals.rest.calls, ..StatedSums::default() };
    for region in totals.regions.values() {
        for (sum, cell) in sums.cells.iter_mut().zip(&region.cells) {
            sum.add(cell);
        }
    }
    sums
}

fn describe_difference(stated: &StatedSums, found: &StatedSums) -> Option<String> {
    let counts = [("records", stated.records, found.records), ("calls", stated.calls, found.calls)];
    let ticks = Activity::ALL.iter().zip(stated.cells.iter().zip(&found.cells));
    if let Some((what, stated, found)) = counts.into_iter().find(|(_, stated, found)| stated != found) {
        return Some(format!("its summary states {stated} {what}, its events are {found}"));
    }
    let (activity, (stated, found)) = ticks.into_iter().find(|(_, (stated, found))| stated != found)?;
    let what = if stated.ticks == found.ticks { "calls or bytes" } else { "time" };
    Some(format!("its summary states another {what} in {} than its events have", activity.name()))
}

/// Removes the data by iteration: if some ranks lack them, the longest rank in an iteration is not known.
pub(in crate::profile) fn forget_iterations(model: &mut Model) {
    for rank in &mut model.ranks {
        rank.iterations.clear();
        rank.in_iterations.clear();
    }
    model.slowest.fill(Vec::new());
    model.joined.clear();
    model.problems.retain(|problem| problem.kind != ProblemKind::IterationsJoined);
    model.outermost_iterated.clear();
}

/// Removes the data from samples: summaries have none, and the samples of the other ranks alone would seem to be all.
pub(in crate::profile) fn forget_samples(model: &mut Model) {
    for rank in model.ranks.iter_mut() {
        rank.samples = RankSamples::default();
        rank.pools.clear();
    }
    model.lines.clear();
}
