//! Writes predicted times under other conditions, and the critical path.

use super::columns::{ColumnCell, ColumnTable, TextColumn, layout};
use super::{BOLD, DIM, TextOptions, note};
use crate::Report;
use crate::what_if::{PathRow, PredictionNote, PredictionRow};
use crate::words::{clean, percent, seconds, seconds_like, short_path, signed_percent, what_was_done};
use lbprof_analysis::model::what_if::WhatIfScenario;
use lbprof_thresholds::wording::{MIN_DIFFERENCE_OF_CHANGES, MIN_ERROR_OF_REPLAY, MIN_GAIN_AT_ALL};

/// Predictions that are shown where not all are, beside those that were asked for.
const FEW: usize = 5;

/// Most ranks of the critical path that are reported in a sentence.
const MOST_RANKS: usize = 4;

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    predictions_of(report, options)
}

/// The predictions alone, for users who asked for them.
pub(super) fn predictions(report: &Report, options: &TextOptions) -> String {
    if options.asked { predictions_of(report, options) } else { String::new() }
}

fn predictions_of(report: &Report, options: &TextOptions) -> String {
    let what_if = &report.what_if;
    let Some(measured_s) = what_if.measured_s.filter(|&measured_s| measured_s > 0.0 && report.ranks.len() > 1) else {
        return not_asked(report, options);
    };
    if what_if.notes.contains(&PredictionNote::NotAllIsKnown) {
        return not_known(&note_in_words(&PredictionNote::NotAllIsKnown), options);
    }
    let most = if options.is_for_all() { FEW } else { usize::MAX };
    let changes = distinct_changes(what_if.shown_rows());
    let changes = changes.into_iter().enumerate().filter(|(at, (row, _))| *at < most || row.is_asked);
    let lines = changes.map(|(_, (row, if_so))| {
        vec![
            ColumnCell::Text(if_so),
            ColumnCell::Time(row.time_s),
            ColumnCell::Time(row.saved_s),
            ColumnCell::Share(row.saved_share),
        ]
    });
    let table = layout(&["~if", "run", "saved", "share"], &lines.collect::<Vec<_>>(), &[], options);
    let how = format!(
        "every call replayed in its order, waiting computed anew; with everything as it was the replay takes {}, {} off",
        seconds(measured_s),
        what_if.replay_error.map_or_else(String::new, signed_percent)
    );
    let of_whole = match report.facts.selected.region {
        Some(_) => format!("  {DIM}times of the whole run, {}{DIM:#}", seconds(measured_s)),
        None => String::new(),
    };
    let mut text = format!("{BOLD}What if{BOLD:#}{of_whole}\n{table}");
    if !options.is_for_all() || what_if.replay_error.is_some_and(|error| error.abs() > MIN_ERROR_OF_REPLAY) {
        text += &note(&how, options);
    }
    text.extend(what_if.notes.iter().map(|one| note(&note_in_words(one), options)));
    text + "\n"
}

/// Returns the changes with their predictions, without those that save next to nothing. Changes that save the same are one.
fn distinct_changes<'a>(rows: impl Iterator<Item = &'a PredictionRow>) -> Vec<(&'a PredictionRow, String)> {
    let mut changes: Vec<(&PredictionRow, String)> = Vec::new();
    for row in rows.filter(|row| row.scenario != WhatIfScenario::Measured) {
        let is_balance = row.scenario.is_redistribution();
        let is_change = is_balance || matches!(row.scenario, WhatIfScenario::RankFaster(..));
        if is_change && !row.is_asked && row.saved_share.abs() < MIN_GAIN_AT_ALL {
            continue;
        }
        let same = changes.last_mut().filter(|(before, _)| {
            let is_same = (before.saved_share - row.saved_share).abs() < MIN_DIFFERENCE_OF_CHANGES;
            is_balance && before.scenario.is_redistribution() && is_same
        });
        match same {
            Some((_, if_so)) => *if_so = format!("{if_so}, or {}", scenario(row)),
            None => changes.push((row, scenario(row))),
        }
    }
    changes
}

/// A note on predictions as a sentence without its stop.
pub fn note_in_words(note: &PredictionNote) -> String {
    let why = match note {
        PredictionNote::CallsAreSums => {
            "not known: calls of some ranks were recorded as sums (LBPROF_MODE=profile, or LBPROF_LIMIT was reached)"
        }
        PredictionNote::NotAllIsKnown => "not known: the logs do not show what some calls waited for (see Waiting)",
        PredictionNote::OnDemand => {
            "work is handed out on demand, to whoever is ready first: what balancing would gain cannot be replayed"
        }
        PredictionNote::OwnLoops => {
            "some ranks have a loop of their own, whose work the others cannot take over: balancing is predicted only among the ranks \
             of one loop"
        }
        PredictionNote::OtherCode => {
            "the ranks run different code, and one cannot take over another's work: balancing is predicted only among the ranks of one \
             cluster"
        }
        PredictionNote::EachIsUnknown => {
            "balance in each iteration is not predicted: ranks end their iterations with different calls, or go through different \
             numbers of them, so it is not known which of them are the same one; mark iterations (LBPROF_ITERATION_BEGIN) to get a prediction"
        }
        PredictionNote::RecorderLeftOut => {
            "the recorder disturbed the run: all predictions leave its time out, by its share of samples, and save that much of the time \
             without it"
        }
        PredictionNote::InferredProgress => {
            "some messages moved only once the other rank had called MPI again: that is inferred from when the calls of this run ended, and \
             the predictions depend on it"
        }
        PredictionNote::OuterGainsLess(outer, inner) => {
            let [outer, inner] = [outer, inner].map(|path| clean(short_path(path)));
            return format!(
                "balancing {outer} gains less than balancing {inner} in it: it levels what ranks compute in {outer} in all, and who \
                 computes more in {inner} computes less elsewhere in it"
            );
        }
    };
    why.to_owned()
}

/// Why it was not asked.
fn not_asked(report: &Report, options: &TextOptions) -> String {
    let why = report.what_if.notes.iter().find(|note| matches!(note, PredictionNote::CallsAreSums));
    why.map_or_else(String::new, |why| not_known(&note_in_words(why), options))
}

fn not_known(why: &str, options: &TextOptions) -> String {
    format!("{BOLD}What if{BOLD:#}\n{}\n", note(why, options))
}

fn scenario(row: &PredictionRow) -> String {
    let region = row.region.as_deref().map(short_path).map(clean).unwrap_or_default();
    let rank = row.rank.unwrap_or(0);
    match row.scenario {
        WhatIfScenario::Ideal | WhatIfScenario::IdealAsRecorded => "the network were ideal".to_owned(),
        WhatIfScenario::WithoutRecorder => "the recorder took no time".to_owned(),
        WhatIfScenario::Measured => "nothing changed".to_owned(),
        WhatIfScenario::Network(latency_s, bytes_per_s) => {
            format!("the network had {} and {:.3} GB/s", seconds(latency_s), bytes_per_s * 1e-9)
        }
        WhatIfScenario::Balanced(_) => format!("{region} were balanced"),
        WhatIfScenario::BalancedEach(_) => format!("{region} were balanced in each iteration"),
        WhatIfScenario::RunBalancedEach => "every iteration were balanced".to_owned(),
        WhatIfScenario::RegionsBalanced => "every region were balanced".to_owned(),
        WhatIfScenario::RankAsMean(_) => format!("rank {rank} computed no more than the mean"),
        WhatIfScenario::Faster(_, times) | WhatIfScenario::FunctionFaster(_, times) => {
            format!("{region} were {times} times as fast")
        }
        WhatIfScenario::RankFaster(_, times) if times.is_finite() => {
            format!("rank {rank} computed {times} times as fast")
        }
        WhatIfScenario::RankFaster(..) => format!("rank {rank} computed in no time"),
        WhatIfScenario::ThreadsBalanced(None) => "threads worked equally long in each parallel region".to_owned(),
        WhatIfScenario::ThreadsBalanced(Some(_)) => format!("threads worked equally long in {region}"),
        WhatIfScenario::Spread(_) => format!("{region} ran on all threads"),
    }
}

const PATH: ColumnTable<PathRow> = ColumnTable {
    name: "Critical path",
    columns: &[
        TextColumn("~part", |row| {
            ColumnCell::Text(format!("{} in {}", what_was_done(row.what, row.is_delay), clean(short_path(&row.region))))
        }),
        TextColumn("+time", |row| ColumnCell::Time(row.time_s)),
        TextColumn("+share", |row| ColumnCell::Share(row.share)),
        TextColumn("most on\nrank", |row| ColumnCell::rank(row.rank)),
        TextColumn("its\nshare", |row| ColumnCell::Share(row.rank_share)),
    ],
    spare: &[],
    weight: Some(|row| row.share),
};

pub(super) fn critical_path(report: &Report, options: &TextOptions) -> String {
    let what_if = &report.what_if;
    let ranks = what_if.path_ranks.iter().take(MOST_RANKS);
    let ranks = ranks
        .map(|one| format!("rank {} {} ({})", one.rank, seconds_like(one.time_s, what_if.path_s), percent(one.share)));
    let more = if what_if.path_ranks.len() > MOST_RANKS { " …" } else { "" };
    let ranks = ranks.collect::<Vec<_>>().join(", ");
    let line = format!("the chain of work, messages and calls that set the time, by rank: {ranks}{more}");
    PATH.section(&what_if.path, &[&line], options)
}
