//! Writes predicted times under other conditions, and the critical path.

use std::fmt::Write;

use super::{BOLD, DIM, TextOptions, title};
use crate::Report;
use crate::table::TextTable;
use crate::what_if::{PredictionNote, PredictionRow};
use crate::words::{TimeUnit, clean, percent, seconds, seconds_like, short_path, signed_percent, what_was_done, wrap};
use lbprof_analysis::model::what_if::WhatIfScenario;
use lbprof_thresholds::wording::{
    MIN_DIFFERENCE_OF_CHANGES, MIN_ERROR_OF_REPLAY, MIN_GAIN_AT_ALL, MIN_PART_OF_CRITICAL_PATH,
};

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
        return not_known(&note(&PredictionNote::NotAllIsKnown), options);
    }
    let unit = TimeUnit::for_max(measured_s);
    let (run, saved) = (format!("run\n[{}]", unit.symbol), format!("saved\n[{}]", unit.symbol));
    let mut rows = TextTable::new(&["<if", &run, &saved, "share"], 0);
    let most = if options.is_for_all() { FEW } else { usize::MAX };
    let changes = distinct_changes(what_if.shown_rows());
    for (_, (row, if_so)) in changes.into_iter().enumerate().filter(|(at, (row, _))| *at < most || row.is_asked) {
        rows.row(vec![
            if_so,
            unit.number(row.time_s),
            unit.number(row.saved_s).replace('-', "−"),
            percent(row.saved_share).replace('-', "−"),
        ]);
    }
    let how = format!(
        "every call replayed in its order, waiting computed anew; with everything as it was the replay takes {}, {} off",
        seconds(measured_s),
        what_if.replay_error.map_or_else(String::new, signed_percent)
    );
    let of_whole = match report.facts.selected.region {
        Some(_) => format!("  {DIM}times of the whole run, {}{DIM:#}", seconds(measured_s)),
        None => String::new(),
    };
    let mut text = format!("{BOLD}What if{BOLD:#}{of_whole}\n{}", rows.render(options.columns, DIM));
    if !options.is_for_all() || what_if.replay_error.is_some_and(|error| error.abs() > MIN_ERROR_OF_REPLAY) {
        writeln!(text, "  {DIM}{}{DIM:#}", wrap(&how, options.columns - 2, 2)).ok();
    }
    for one in &what_if.notes {
        writeln!(text, "  {DIM}{}{DIM:#}", wrap(&note(one), options.columns - 2, 2)).ok();
    }
    text.push('\n');
    text
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
pub fn note(note: &PredictionNote) -> String {
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
    why.map_or_else(String::new, |why| not_known(&note(why), options))
}

fn not_known(why: &str, options: &TextOptions) -> String {
    format!("{BOLD}What if{BOLD:#}\n  {DIM}{}{DIM:#}\n\n", wrap(why, options.columns - 2, 2))
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

pub(super) fn critical_path(report: &Report, options: &TextOptions) -> String {
    let what_if = &report.what_if;
    let total = what_if.path_s;
    if total <= 0.0 {
        return String::new();
    }
    let rows: Vec<_> =
        what_if.path.iter().filter(|row| options.full || row.share >= MIN_PART_OF_CRITICAL_PATH).collect();
    let all = rows.len();
    let shown = if options.full { all } else { all.min(options.top.max(1)) };
    let unit = TimeUnit::for_max(rows.first().map_or(0.0, |row| row.time_s));
    let time = format!("time\n[{}]", unit.symbol);
    let mut out = TextTable::new(&["<part", &time, "share", "most on\nrank", "its\nshare"], 0);
    for row in rows.into_iter().take(shown) {
        let what = what_was_done(row.what, row.is_delay);
        out.row(vec![
            format!("{what} in {}", clean(short_path(&row.region))),
            unit.number(row.time_s),
            percent(row.share),
            row.rank.to_string(),
            percent(row.rank_share),
        ]);
    }
    let ranks: Vec<String> = what_if
        .path_ranks
        .iter()
        .take(MOST_RANKS)
        .map(|one| format!("rank {} {} ({})", one.rank, seconds_like(one.time_s, total), percent(one.share)))
        .collect();
    let more = if what_if.path_ranks.len() > MOST_RANKS { " …" } else { "" };
    let line = format!("the chain of work, messages and calls that set the time, by rank: {}{more}", ranks.join(", "));
    let mut text = format!("{}{}", title("Critical path", shown, all), out.render(options.columns, DIM));
    writeln!(text, "  {DIM}{}{DIM:#}\n", wrap(&line, options.columns - 2, 2)).ok();
    text
}
