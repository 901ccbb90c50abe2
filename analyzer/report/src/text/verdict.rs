//! The verdict in words.

use std::collections::BTreeMap;
use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use lbprof_collector::definition::EndReason;

use super::{
    LONGEST_NAME, Options, clusters, code_in_words, doubts, functions, losses, place_name, region_name, threads,
};
use crate::verdict::{Chosen, GOOD_BALANCE, LossKind, Undivided, VerdictKind, Worst, WorstRegion};
use crate::words::{clean, percent, percent_or_dash, plural, seconds, seconds_like, shorten, wrap};
use crate::{LifetimeTable, Report, Verdict};
use lbprof_analysis::model::what_if::WhatIf;
use lbprof_analysis::read::definitions::WHOLE_PROGRAM;
use lbprof_analysis::read::open::ranges;

/// Share of the time from which on causes of waiting, and what could be gained, are named.
const WORTH_NAMING: f64 = 0.02;

pub(super) fn section(report: &Report, options: &Options) -> String {
    let colour = match report.verdict.kind {
        VerdictKind::Good => AnsiColor::Green,
        VerdictKind::Doubtful | VerdictKind::Nothing => AnsiColor::Yellow,
        _ => AnsiColor::Red,
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let text = verdict(report);
    let (first, rest) = text.split_once(". ").map_or((text.as_str(), ""), |(first, rest)| (first, rest));
    let wrapped = wrap(&text, options.columns, 0);
    // The first sentence carries the answer; its end is found again in the wrapped text by its length without breaks.
    let end = if rest.is_empty() { wrapped.len() } else { (first.len() + 1).min(wrapped.len()) };
    let (first, rest) = wrapped.split_at_checked(end).unwrap_or((&wrapped, ""));
    format!("{style}{first}{style:#}{rest}\n\n")
}

/// The verdict in words: how much is lost, to what, through which rank and where.
pub fn verdict(report: &Report) -> String {
    let verdict = &report.verdict;
    let seconds = |part: f64| seconds_like(part, verdict.elapsed_s);
    let partial = match report.data.complete {
        true => String::new(),
        false => format!("From incomplete data ({}): ", incomplete(report)),
    };
    let first = partial + &ended_early(report) + &doubts::sentences(report);
    let mut text = first
        + &of_what(report)
        + &threads::sentence(report)
        + &of_whom(report)
        + &loss(report)
        + &waiting_for_others(report);
    let worth_naming = verdict.imbalance_s > 0.01 * verdict.elapsed_s && verdict.kind != VerdictKind::Nothing;
    if let Some(worst) = verdict.worst.as_ref().filter(|_| worth_naming) {
        let (longest, mean) = (seconds(worst.computation_s), seconds(worst.mean_s));
        write!(text, " Rank {} computes longest: {longest}", worst.rank).ok();
        if let Some(lost) = worst.preempted {
            let how = if lost.certain { "at least" } else { "about" };
            write!(text, ", of which it waited {how} {} for a core", seconds(lost.delayed_s)).ok();
        }
        write!(text, "{} the mean is {mean}", if worst.preempted.is_some() { ";" } else { "," }).ok();
        text += &excess(worst, &seconds);
        text.push('.');
    }
    text + &gain(report)
}

/// Returns where a rank computes more than the mean: the function first, if samples show one, then the place between the calls.
fn excess(worst: &Worst, seconds: &dyn Fn(f64) -> String) -> String {
    let explained = |whole: &str| {
        let explained = worst.explained.as_ref().map(|excess| functions::explained(excess, whole));
        explained.unwrap_or_default()
    };
    let Some(region) = &worst.region else {
        let explained = explained("of the difference");
        return if explained.is_empty() { explained } else { format!("; {explained}") };
    };
    let (more, place) = (seconds(region.excess_s), where_in_words(region));
    let is_found = region.found && region.path != WHOLE_PROGRAM;
    let called_from = |function| functions::called_from(function, is_found.then_some(region.name.as_str()));
    let explained = explained("of it");
    let in_function = worst.explained.as_ref().and_then(functions::decisive);
    match (in_function, worst.explained.as_ref().and_then(|excess| excess.functions.first())) {
        (Some(function), _) => {
            let label = functions::label(function);
            let called_from = called_from(function);
            let place = region.between.as_deref().filter(|_| !called_from.is_empty()).map_or(place, clean);
            format!("; {more} more than the mean in {label}{called_from}, {place}")
        }
        (None, Some(_)) if !explained.is_empty() => format!("; {more} more than the mean, {explained}, {place}"),
        (None, _) if explained.is_empty() => format!("; {more} more than the mean {place}"),
        (None, _) => format!("; {more} more than the mean {place}, {explained}"),
    }
}

/// What would be gained most of all that was asked; of ranks that do not share one work no mean of all is a gain.
fn gain(report: &Report) -> String {
    if report.clusters.are_apart() || report.is_only_described() {
        return String::new();
    }
    let what_if = &report.what_if;
    let Some(measured_s) = what_if.measured_s.filter(|measured_s| *measured_s > 0.0) else { return String::new() };
    let Some(best) = what_if.best().filter(|row| row.saved_s > WORTH_NAMING * measured_s) else { return String::new() };
    let what = match (best.scenario, &best.region, best.rank) {
        (WhatIf::Faster(_, times), Some(region), _) => {
            format!("Making {} {times} times as fast", region_name(region))
        }
        (WhatIf::Network(..), ..) => "The other network".to_owned(),
        (WhatIf::BalancedEach(_) | WhatIf::RunBalancedEach, ..) => "Balancing each iteration".to_owned(),
        (_, Some(region), _) if region == WHOLE_PROGRAM => "Balancing the ranks".to_owned(),
        (_, Some(region), _) => format!("Balancing {}", region_name(region)),
        (_, None, rank) => format!("Bringing rank {} down to the mean", rank.unwrap_or(0)),
    };
    format!(
        " {what} would save about {} (from {} to {}).",
        percent(best.saved_share),
        seconds(measured_s),
        seconds_like(best.time_s, measured_s)
    )
}

/// A region as the end of "more than the mean …".
fn where_in_words(region: &WorstRegion) -> String {
    let name = |name: &str| shorten(&clean(name), LONGEST_NAME);
    match region.found {
        _ if region.path == WHOLE_PROGRAM => "outside of marked regions".to_owned(),
        _ if region.between.is_some() => format!("in {}", code_in_words(&region.name, region.between.as_deref())),
        // Code from one place to another, or between the calls of one.
        true if region.name.contains(" → ") => format!("in the code {}", name(&region.name)),
        true => format!("between the calls of {}", name(&region.name)),
        false => format!("in region {}", name(&region.path)),
    }
}

/// Ranks whose logs have no end, and where each was.
fn ended_early(report: &Report) -> String {
    const MOST_GROUPS: usize = 3;
    let aborted = report.ranks.iter().find_map(|row| match row.end_reason {
        Some(EndReason::Abort(code)) => Some(format!("Rank {} called MPI_Abort with code {code}. ", row.rank)),
        _ => None,
    });
    let mut groups: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for row in report.ranks.iter().filter(|row| row.end_reason.is_none()) {
        let place = match &row.in_call {
            Some((operation, place)) => format!("in {operation} at {}", place_name(place)),
            None => "outside of MPI".to_owned(),
        };
        groups.entry(place).or_default().push(row.rank);
    }
    let mut text = aborted.unwrap_or_default();
    if groups.is_empty() {
        return text;
    }
    // A rank that differs from most is the interesting one.
    let mut groups: Vec<(String, Vec<u32>)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, ranks)| ranks.len());
    let n: usize = groups.iter().map(|(_, ranks)| ranks.len()).sum();
    let which = |ranks: &[u32]| match ranks {
        [one] => format!("rank {one}"),
        many => format!("ranks {}", ranges(many)),
    };
    let shown: Vec<String> =
        groups.iter().take(MOST_GROUPS).map(|(place, ranks)| format!("{} {place}", which(ranks))).collect();
    let more = if groups.len() > MOST_GROUPS { " …" } else { "" };
    let who = if n == report.ranks.len() { "The run".to_owned() } else { plural(n as u64, "rank") };
    write!(text, "{who} did not end by MPI_Finalize or exit; last seen: {}{more}. ", shown.join(", ")).ok();
    text
}

/// What the figures are of, where that is not all of the run.
fn of_what(report: &Report) -> String {
    let data = &report.data;
    let mut text = String::new();
    if data.ranks_recorded < u64::from(report.facts.n_ranks) {
        write!(text, "Of {} of {}: ", data.ranks_recorded, plural(u64::from(report.facts.n_ranks), "rank")).ok();
    }
    let verdict = &report.verdict;
    if verdict.not_recorded_s > 0.01 * verdict.window_s {
        write!(text, "Recorded are {} of {}. ", seconds(verdict.elapsed_s), seconds(verdict.window_s)).ok();
    }
    text
}

/// That ranks run different code, and which of them the verdict is on.
fn of_whom(report: &Report) -> String {
    let clusters = &report.clusters;
    match &report.verdict.cluster {
        Some(cluster) => format!(
            "The ranks run different code ({}), so that balance over all of them means little. Of cluster {} (ranks {}){}: ",
            clusters::who(clusters),
            cluster.id,
            ranges(&cluster.ranks),
            match cluster.chosen {
                Chosen::Only => "",
                Chosen::LosesMost => ", in which most is lost",
                Chosen::LosesMostByItself => ", in which most is lost besides waiting for other ranks",
                Chosen::ComputesMost => ", which compute most",
            },
        ),
        None if clusters.are_apart() => {
            "Each rank runs code of its own, so that balance over all of them means little. ".to_owned()
        }
        None => String::new(),
    }
}

/// How much of what a cluster loses is waiting for other ranks, which is no fault of its own.
fn waiting_for_others(report: &Report) -> String {
    let verdict = &report.verdict;
    let waits_s = verdict.cluster.as_ref().map_or(0.0, |cluster| cluster.waits_for_others_s);
    match waits_s > WORTH_NAMING * verdict.elapsed_s {
        true => format!(" Of that, {} is waiting for other ranks.", seconds_like(waits_s, verdict.elapsed_s)),
        false => String::new(),
    }
}

fn loss(report: &Report) -> String {
    let verdict = &report.verdict;
    let times = &verdict.efficiency.times;
    let seconds = |part: f64| seconds_like(part, verdict.elapsed_s);
    let (lost_s, elapsed_s) = (seconds(verdict.lost_s), seconds(verdict.elapsed_s));
    let lost = format!("{lost_s} of {elapsed_s} ({})", percent_or_dash(verdict.lost_share));
    match verdict.kind {
        VerdictKind::Nothing if report.ranks.is_empty() || report.data.unknown_share > 0.5 => {
            "Nothing is known of most of the time.".to_owned()
        }
        VerdictKind::Nothing => {
            "No rank computes between MPI_Init and MPI_Finalize: there is nothing to balance.".to_owned()
        }
        VerdictKind::Threads => {
            format!("Between ranks {lost} are lost, waiting for others and in MPI.")
        }
        kind @ (VerdictKind::Good | VerdictKind::Doubtful) => {
            let ended = report.ranks.iter().all(|row| row.end_reason.is_some());
            let lives_elsewhere = report.lifetime.as_ref().is_some_and(LifetimeTable::is_worth_a_line);
            let praise = match (ended, kind) {
                (false, _) => "Up to there ",
                (true, VerdictKind::Good) if lives_elsewhere => "Nothing to gain between MPI_Init and MPI_Finalize: ",
                (true, VerdictKind::Good) => "Nothing to gain here: ",
                (true, _) => "",
            };
            format!("{praise}{} of the time is computation; {lost} are lost.", percent_or_dash(times.parallel()))
        }
        kind => {
            let balanced = times.load_balance().is_some_and(|balance| balance >= GOOD_BALANCE);
            let praised = balanced && report.doubts.is_empty() && !report.is_only_described();
            let also = match kind {
                VerdictKind::Communication if praised && report.ranks.len() > 1 => "; the ranks are well balanced",
                _ => "",
            };
            format!("{lost} are lost, {}{also}.{}", parts_of_loss(verdict).join(", "), why(report, balanced))
        }
    }
}

/// What the largest loss means, and what helps, where its name does not say so. `balanced`: whether the ranks are, in the sum.
fn why(report: &Report, balanced: bool) -> String {
    if report.is_only_described() {
        return String::new();
    }
    let though = if balanced { ", though all compute about equally long" } else { "" };
    match report.verdict.kind {
        VerdictKind::SlowInTurn if !each_gains(report) => {
            " In different iterations different ranks are the slowest, but balancing each iteration alone would save nothing."
                .to_owned()
        }
        VerdictKind::SlowInTurn => {
            " In different iterations different ranks are the slowest: balance the work within each iteration."
                .to_owned()
        }
        VerdictKind::DependencyChains => format!(
            " Within iterations ranks wait for one another in chains{though}: shorten the chains or let their steps overlap."
        ),
        VerdictKind::Serialization => {
            let unknown = match report.verdict.undivided {
                Some(Undivided::UnsureLoop) => {
                    "is not known, for the loop found is unsure: mark the iterations (LBPROF_ITERATION_BEGIN), or name a call that ends one \
                     (--loop CALLSITE)"
                }
                _ => "is known where iterations are (LBPROF_ITERATION_BEGIN)",
            };
            format!(
                " Ranks wait for one another{though}; whether they are slow in turn or depend on each other in chains {unknown}."
            )
        }
        _ => String::new(),
    }
}

/// Whether balance in each iteration gains anything, unless a replay says that it does not.
fn each_gains(report: &Report) -> bool {
    let slow_in_turn = report.losses.iter().filter(|loss| loss.kind == LossKind::SlowInTurn);
    !slow_in_turn.filter_map(|loss| loss.remedy.as_ref()).any(|row| !losses::gains(row))
}

/// What is lost to what, the largest part first, those of less than 1 % of the time left out.
fn parts_of_loss(verdict: &Verdict) -> Vec<String> {
    let words = |kind| match kind {
        LossKind::Imbalance | LossKind::Control => "load imbalance between ranks",
        LossKind::SlowInTurn => "serialization (different ranks slow in turn)",
        LossKind::DependencyChains => "serialization (dependency chains)",
        LossKind::Serialization => undivided(verdict),
        LossKind::Communication => "communication and waiting",
        LossKind::FileAccess => "access to files",
        LossKind::Recorder => "writing the log",
    };
    let shown = verdict.parts.iter().enumerate().filter(|(at, part)| *at == 0 || part.share > 0.01);
    shown.map(|(_, part)| format!("{} to {}", seconds_like(part.lost_s, verdict.elapsed_s), words(part.kind))).collect()
}

/// Serialization of which it is not known which kind it is.
fn undivided(verdict: &Verdict) -> &'static str {
    match verdict.undivided {
        Some(Undivided::UnsureLoop) => "serialization (of which kind is not known: the loop is unsure)",
        _ => "serialization",
    }
}

/// What is missing, in few words.
fn incomplete(report: &Report) -> String {
    let missing = u64::from(report.data.ranks_present) < report.data.ranks_recorded;
    let mut parts = Vec::new();
    if missing {
        parts.push(format!("{} of {}", report.data.ranks_present, plural(report.data.ranks_recorded, "rank")));
    }
    if report.data.unknown_share > 0.005 {
        parts.push(format!("{} of the time is unknown", percent(report.data.unknown_share)));
    }
    if report.data.dropped_events > 0 {
        parts.push(format!("{} dropped", plural(report.data.dropped_events, "event")));
    }
    if parts.is_empty() { "see below".to_owned() } else { parts.join(", ") }
}
