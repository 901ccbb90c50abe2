//! Writes the gain of a change, by replay.

use super::{AnswerLabel, AnswerLine};
use crate::Report;
use crate::loss_kind::LossKind;
use crate::situation::RunSituation;
use crate::text::region_name;
use crate::what_if::{PredictionNote, PredictionRow};
use crate::words::{BEFORE_FIRST_CALL, seconds_like};
use lbprof_analysis::model::what_if::WhatIfScenario;
use lbprof_analysis::read::definitions::WHOLE_PROGRAM;
use lbprof_thresholds::wording::MIN_NAMED_GAIN;

use super::phrases::{is_mostly_asleep, short_percent};

/// The gain of the change that saves most, or `None` if it is little, or advice is withheld.
pub(super) fn line(report: &Report, situation: RunSituation) -> Option<AnswerLine> {
    if situation == RunSituation::LastTask && !report.is_only_described() {
        return of_awaited_task(report);
    }
    // What ranks sleep for is to be looked at first: the little that waiting in MPI costs is in the sentence.
    let is_beside = matches!(situation, RunSituation::NoCores | RunSituation::Asleep);
    if report.clusters.are_apart() || report.is_only_described() || is_beside {
        return None;
    }
    let base_s = report.what_if.base_s.filter(|base_s| *base_s > 0.0)?;
    let is_left_out = report.what_if.notes.contains(&PredictionNote::RecorderLeftOut);
    let worth_naming_s = MIN_NAMED_GAIN * base_s;
    if let Some(best) = report.what_if.best().filter(|row| row.saved_s > worth_naming_s) {
        return Some(AnswerLine::new(
            AnswerLabel::Gain,
            format!("{}: {}", change(report, best), from_to(report, best, is_left_out.then_some(base_s))),
        ));
    }
    let loss = report.losses.iter().find(|loss| loss.kind == LossKind::Communication)?;
    let row = loss.remedy.as_ref().filter(|row| row.saved_s > worth_naming_s && situation.is_of_network())?;
    let saved = seconds_like(row.saved_share * report.data.elapsed_s, report.data.elapsed_s);
    let text = format!("at most {saved} ({}), if messages took no time", short_percent(row.saved_share));
    Some(AnswerLine::new(AnswerLabel::Gain, text))
}

/// The gain if all workers ended together, which no replay predicts: tasks would be handed out in another order.
fn of_awaited_task(report: &Report) -> Option<AnswerLine> {
    let verdict = &report.verdict;
    let elapsed_s = report.data.elapsed_s;
    let share = verdict.imbalance_s / elapsed_s.max(f64::MIN_POSITIVE);
    (share > MIN_NAMED_GAIN).then(|| {
        let most = seconds_like(verdict.imbalance_s, elapsed_s);
        AnswerLine::new(
            AnswerLabel::Gain,
            format!("at most {most} ({}), if all workers ended together", short_percent(share)),
        )
    })
}

/// `1.32 s → 0.67 s (−49 %)`, from the elapsed time of the head, or from the one that is given: the run's without the recorder. A replay takes a little more or less than the run
/// took. Work that is only divided in another way saves no more than is lost.
fn from_to(report: &Report, row: &PredictionRow, without_recorder_s: Option<f64>) -> String {
    let lost_share =
        report.verdict.lost_share.filter(|_| row.scenario.is_redistribution() && without_recorder_s.is_none());
    let saved_share = row.saved_share.min(lost_share.unwrap_or(1.0));
    let from_s = without_recorder_s.unwrap_or(report.data.elapsed_s);
    let (from, to) = (seconds_like(from_s, from_s), seconds_like((1.0 - saved_share) * from_s, from_s));
    let without = if without_recorder_s.is_some() { " without the recorder" } else { "" };
    format!("{from} → {to} (−{}){without}", short_percent(saved_share))
}

/// Returns a change in words: `even work on all ranks`.
fn change(report: &Report, row: &PredictionRow) -> String {
    match (row.scenario, row.region.as_deref(), row.rank) {
        (WhatIfScenario::Faster(_, times), Some(region), _) => format!("{} {times} times as fast", region_name(region)),
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
            format!("only average {what} on rank {}", rank.unwrap_or(0))
        }
    }
}
