//! Predicted times under other conditions, and the critical path.

use crate::Report;
use crate::rows::words::{
    escape_name, format_percent, format_seconds, seconds_like, short_path, signed_percent, what_was_done,
};
use crate::text::columns::{ColumnCell, ColumnTable, TextColumn, lay_out_table};
use crate::text::{BOLD, DIM, TextOptions, format_note};
use crate::waiting::what_if::{PathRow, PredictionNote, PredictionRow};
use lbprof_analysis::model::replayed::what_if::WhatIfScenario;
use lbprof_thresholds::wording::{MIN_DIFFERENCE_OF_CHANGES, MIN_ERROR_OF_REPLAY, MIN_GAIN_AT_ALL};

/// Default number of predictions besides those that the user asked for.
const FEW: usize = 5;

const MOST_RANKS: usize = 4;

/// Shows predictions on the first screen if the user asked for them.
pub(in crate::text) fn asked_section(report: &Report, options: &TextOptions) -> String {
    if options.asked { what_if_section(report, options) } else { String::new() }
}

pub(in crate::text) fn what_if_section(report: &Report, options: &TextOptions) -> String {
    let what_if = &report.what_if;
    let measured_s = what_if.measured_s.filter(|&measured_s| measured_s > 0.0 && report.ranks.len() > 1);
    let obstacle = if measured_s.is_some() { PredictionNote::NotAllIsKnown } else { PredictionNote::CallsAreSums };
    if what_if.notes.contains(&obstacle) {
        return format!("{BOLD}What if{BOLD:#}\n{}\n", format_note(obstacle.text(), options));
    }
    let Some(measured_s) = measured_s else { return String::new() };
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
    let table = lay_out_table(&["~if", "run", "saved", "share"], &lines.collect::<Vec<_>>(), &[], options);
    let how = format!(
        "every call replayed in its order, waiting computed anew; with everything as it was the replay takes {}, {} off",
        format_seconds(measured_s),
        what_if.replay_error.map_or_else(String::new, signed_percent)
    );
    let of_whole = match report.facts.selected.region {
        Some(_) => format!("  {DIM}times of the whole run, {}{DIM:#}", format_seconds(measured_s)),
        None => String::new(),
    };
    let mut text = format!("{BOLD}What if{BOLD:#}{of_whole}\n{table}");
    if !options.is_for_all() || what_if.replay_error.is_some_and(|error| error.abs() > MIN_ERROR_OF_REPLAY) {
        text += &format_note(&how, options);
    }
    text.extend(what_if.notes.iter().map(|one| format_note(one.text(), options)));
    text + "\n"
}

/// Returns the predicted changes that save enough. Redistributions that save the same are joined.
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
            Some((_, if_so)) => *if_so = format!("{if_so}, or {}", scenario_in_words(row)),
            None => changes.push((row, scenario_in_words(row))),
        }
    }
    changes
}

fn scenario_in_words(row: &PredictionRow) -> String {
    let region = row.region.as_deref().map(short_path).map(escape_name).unwrap_or_default();
    let rank = row.rank.unwrap_or(0);
    match row.scenario {
        WhatIfScenario::Ideal => "the network were ideal".to_owned(),
        WhatIfScenario::Measured => "nothing changed".to_owned(),
        WhatIfScenario::Network(latency_s, bytes_per_s) => {
            format!("the network had {} and {:.3} GB/s", format_seconds(latency_s), bytes_per_s * 1e-9)
        }
        WhatIfScenario::Balanced(_) => format!("{region} were balanced"),
        WhatIfScenario::BalancedEach(_) => format!("{region} were balanced in each iteration"),
        WhatIfScenario::RunBalancedEach => "every iteration were balanced".to_owned(),
        WhatIfScenario::RegionsBalanced => "every region were balanced".to_owned(),
        WhatIfScenario::RankAsMean(_) => format!("rank {rank} computed no more than the mean"),
        WhatIfScenario::Faster(_, times) | WhatIfScenario::FunctionFaster(_, times) => {
            format!("{region} were {times} times as fast")
        }
        WhatIfScenario::RankFaster(_, times) => {
            let who = row.rank.map_or_else(|| "each coordinator".to_owned(), |rank| format!("rank {rank}"));
            let how = if times.is_finite() { format!("{times} times as fast") } else { "in no time".to_owned() };
            format!("{who} computed {how}")
        }
        WhatIfScenario::ThreadsBalanced(None) => "threads worked equally long in each parallel region".to_owned(),
        WhatIfScenario::ThreadsBalanced(Some(_)) => format!("threads worked equally long in {region}"),
        WhatIfScenario::Spread(_) => format!("{region} ran on all threads"),
    }
}

const PATH: ColumnTable<PathRow> = ColumnTable {
    name: "Critical path",
    columns: &[
        TextColumn("~part", |row| {
            ColumnCell::Text(format!(
                "{} in {}",
                what_was_done(row.what, row.is_delay),
                escape_name(short_path(&row.region))
            ))
        }),
        TextColumn("+time", |row| ColumnCell::Time(row.time_s)),
        TextColumn("+share", |row| ColumnCell::Share(row.share)),
        TextColumn("most on\nrank", |row| ColumnCell::rank(row.rank)),
        TextColumn("its\nshare", |row| ColumnCell::Share(row.rank_share)),
    ],
    spare: &[],
    weight: Some(|row| row.share),
};

pub(in crate::text) fn critical_path(report: &Report, options: &TextOptions) -> String {
    let what_if = &report.what_if;
    let ranks = what_if.path_ranks.iter().take(MOST_RANKS);
    let ranks = ranks.map(|one| {
        format!("rank {} {} ({})", one.rank, seconds_like(one.time_s, what_if.path_s), format_percent(one.share))
    });
    let more = if what_if.path_ranks.len() > MOST_RANKS { " …" } else { "" };
    let ranks = ranks.collect::<Vec<_>>().join(", ");
    let line = format!("the chain of work, messages and calls that set the time, by rank: {ranks}{more}");
    PATH.section(&what_if.path, &[&line], options)
}
