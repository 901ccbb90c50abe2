//! The gain of removing the loss of a finding, by replay of the change that removes it.

use super::coordinator::AwaitedCoordinator;
use crate::Report;
use crate::findings::phrases::ranks::{is_mostly_asleep, short_percent};
use crate::losses::finding::{Finding, FindingGain, FindingSubject};
use crate::losses::longest_rank::LongestRank;
use crate::losses::names::region_name;
use crate::rows::words::{BEFORE_FIRST_CALL, seconds_like};
use crate::waiting::what_if::{PredictionNote, PredictionRow};
use lbprof_analysis::model::replayed::what_if::WhatIfScenario;
use lbprof_analysis::read::definitions::WHOLE_PROGRAM;
use lbprof_thresholds::wording::MIN_NAMED_GAIN;

/// Returns the gain if the ranks that compute longest had less work: by the change that saves most.
pub fn of_balance(report: &Report) -> Option<FindingGain> {
    if let Some(work) = &report.verdict.outside_work {
        // Other changes save what is lost outside of the loop, too.
        return of_prediction(report, |row| row.region.as_deref().is_some_and(|path| work.is_within(path)));
    }
    let slow = report.verdict.worst.as_ref().map(|worst| worst.with_equals()).unwrap_or_default();
    of_prediction(report, |row| match row.scenario {
        WhatIfScenario::RankAsMean(_) => row.rank.is_some_and(|rank| slow.contains(&rank)),
        WhatIfScenario::RegionsBalanced => false,
        other => other.is_redistribution(),
    })
}

/// Returns the gain if the work of a rank before or after the main loop were even.
pub fn of_work_outside(report: &Report, longest: &LongestRank) -> Option<FindingGain> {
    let path = longest.region.as_ref().map(|region| region.path.as_str()).filter(|path| *path != WHOLE_PROGRAM);
    let even = of_prediction(report, |row| path.is_some() && row.region.as_deref() == path);
    even.or_else(|| at_most(report, longest.over_mean_s, "if this work were even"))
}

/// Returns the gain of even work in each iteration; an upper bound, `seconds`, where it is not known which iterations of the ranks are the same one.
pub fn of_each_iteration(report: &Report, seconds: f64) -> Option<FindingGain> {
    let is_of_loop = report.verdict.outside_work.is_some();
    let even = of_prediction(report, |row| match row.scenario {
        WhatIfScenario::BalancedEach(_) => true,
        WhatIfScenario::RunBalancedEach => !is_of_loop,
        _ => false,
    });
    let is_unknown = report.what_if.notes.contains(&PredictionNote::EachIsUnknown);
    even.or_else(|| at_most(report, seconds, "if work were even in each iteration").filter(|_| is_unknown))
}

/// Returns the gain if a coordinator needed half the time for each request, or did not sleep between its polls.
pub fn of_coordinator(report: &Report, found: &AwaitedCoordinator) -> Option<FindingGain> {
    let change = match found.sleeps_between_polls {
        true => "no sleep".to_owned(),
        false => format!("half the time per {}", found.unit()),
    };
    of_change(
        report,
        |row| is_of_coordinator(row, found),
        |row| {
            format!("{change} on {}", row.rank.map_or_else(|| "each of them".to_owned(), |rank| format!("rank {rank}")))
        },
    )
}

/// Returns whether a prediction is of a coordinator that answers sooner.
fn is_of_coordinator(row: &PredictionRow, found: &AwaitedCoordinator) -> bool {
    let WhatIfScenario::RankFaster(_, times) = row.scenario else { return false };
    times.is_infinite() == found.sleeps_between_polls && row.rank.is_none_or(|rank| found.ranks == [rank])
}

/// Returns the gain of the change that saves most of those that are meant, or `None` if it is little, or advice is withheld.
pub fn of_prediction(report: &Report, is_meant: impl Fn(&PredictionRow) -> bool) -> Option<FindingGain> {
    of_change(report, is_meant, |row| change_in_words(report, row))
}

/// Returns the gain of the change that saves most of those that are meant, with the change in words.
fn of_change(
    report: &Report,
    is_meant: impl Fn(&PredictionRow) -> bool,
    in_words: impl Fn(&PredictionRow) -> String,
) -> Option<FindingGain> {
    if report.is_only_described() {
        return None;
    }
    let measured_s = report.what_if.measured_s.filter(|measured_s| *measured_s > 0.0)?;
    // Ranks that run different code cannot take over each other's work.
    let are_apart = report.clusters.are_apart();
    let best = report.what_if.best_of(|row| !(row.scenario.is_redistribution() && are_apart) && is_meant(row));
    let best = best.filter(|row| row.saved_s > MIN_NAMED_GAIN * measured_s)?;
    // A replay takes a little more or less than the run took. Work that is only divided in another way saves no more than is lost.
    // Predictions for a region are of the whole run.
    let is_of_region = report.facts.selected.region.is_some();
    let from_s = if is_of_region { measured_s } else { report.data.elapsed_s };
    let lost_share = report.verdict.lost_share.filter(|_| best.scenario.is_redistribution() && !is_of_region);
    let share = best.saved_share.min(lost_share.unwrap_or(1.0));
    let (from, to) = (seconds_like(from_s, from_s), seconds_like((1.0 - share) * from_s, from_s));
    let whole = if is_of_region { " of the whole run" } else { "" };
    let text = format!("{}: {from} → {to} (−{}){whole}", in_words(best), short_percent(share));
    Some(FindingGain { seconds: share * from_s, share, text })
}

/// Returns why the gain of less work on the ranks that compute longest is not predicted, if that is known.
pub fn why_not_predicted(report: &Report, finding: &Finding) -> Option<&'static str> {
    if finding.subject != FindingSubject::SlowRank || finding.gain.is_some() || report.is_only_described() {
        return None;
    }
    report.what_if.notes.iter().find_map(|note| match note {
        PredictionNote::CallsAreSums => Some("calls were recorded as sums"),
        PredictionNote::NotAllIsKnown => Some("not all that ranks wait for is known"),
        PredictionNote::OnDemand => Some("work is handed out on demand"),
        PredictionNote::OwnLoops => Some("ranks have loops of their own, so which work could move is not known"),
        PredictionNote::OtherCode => Some("ranks run different code, so which work could move is not known"),
        _ => None,
    })
}

/// Returns an upper bound of a gain, if it is worth naming.
pub fn at_most(report: &Report, seconds: f64, condition: &str) -> Option<FindingGain> {
    let elapsed_s = report.data.elapsed_s;
    let share = seconds / elapsed_s.max(f64::MIN_POSITIVE);
    (share > MIN_NAMED_GAIN && !report.is_only_described()).then(|| {
        let most = seconds_like(seconds, elapsed_s);
        FindingGain { seconds, share, text: format!("at most {most} ({}), {condition}", short_percent(share)) }
    })
}

/// Returns a change in words: `even work on all ranks`.
fn change_in_words(report: &Report, row: &PredictionRow) -> String {
    match (row.scenario, row.region.as_deref(), row.rank) {
        (WhatIfScenario::Faster(_, times) | WhatIfScenario::FunctionFaster(_, times), Some(region), _) => {
            format!("{} {times} times as fast", region_name(region))
        }
        (WhatIfScenario::ThreadsBalanced(_), None, _) => "even work on the threads of each parallel region".to_owned(),
        (WhatIfScenario::ThreadsBalanced(_), Some(region), _) => format!("even work on the threads of {region}"),
        (WhatIfScenario::Spread(_), Some(function), _) => format!("{function} on all threads"),
        (WhatIfScenario::Network(..), ..) => "the other network".to_owned(),
        (WhatIfScenario::RegionsBalanced, ..) => "even work in every region".to_owned(),
        (WhatIfScenario::BalancedEach(_) | WhatIfScenario::RunBalancedEach, ..) => {
            "even work in each iteration".to_owned()
        }
        (_, Some(WHOLE_PROGRAM), _) => "even work on all ranks".to_owned(),
        (_, Some(region), _) if region_name(region).starts_with(BEFORE_FIRST_CALL) => {
            "even work before the first MPI call".to_owned()
        }
        (_, Some(region), _) => format!("even work in {}", region_name(region)),
        (_, None, rank) => {
            let what = if is_mostly_asleep(report) { "time" } else { "work" };
            format!("average {what} on rank {}", rank.unwrap_or(0))
        }
    }
}
