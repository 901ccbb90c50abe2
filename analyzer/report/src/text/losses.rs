//! The largest losses, each as a sentence or two.

use std::fmt::Write;

use super::{BOLD, DIM, TextOptions};
use crate::findings::may_compute;
use crate::loss_kind::LossKind;
use crate::losses::{EfficiencyLoss, LossAt};
use crate::phrases::functions;
use crate::phrases::names::{call_in_words, code_in_words, region_name};
use crate::verdict::UndividedReason;
use crate::what_if::PredictionRow;
use crate::words::{percent, percent_or_dash, seconds_like, short_path, shorten, wrap};
use crate::{ProblemRow, Report};
use lbprof_analysis::model::what_if::WhatIfScenario;
use lbprof_analysis::read::definitions::WHOLE_PROGRAM;
use lbprof_thresholds::wording::{
    MIN_EXPLAINED_GAIN, MIN_GAIN_OF_BALANCE, MIN_LOSS_BY_ONE_RANK, MIN_LOSS_IN_ONE_PLACE, MIN_LOSS_OF_NAMED_RANK,
};

/// Losses on the first screen.
const FIRST: usize = 3;

/// Most lines of a loss on the first screen.
const MAX_LINES: usize = 3;

/// Most ranks in a sentence.
const MOST_RANKS: usize = 3;

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let shown = if options.first_screen { FIRST } else { report.losses.len() };
    if report.losses.is_empty() {
        return String::new();
    }
    let how = match report.losses.iter().all(|loss| loss.by_cause) {
        true => "of the mean rank's time, by what causes them",
        false => "of the mean rank's time",
    };
    let mut text = format!("{BOLD}Largest losses{BOLD:#}  {DIM}{}{DIM:#}\n", shorten(how, options.columns - 16));
    for (number, loss) in (1..).zip(report.losses.iter().take(shown)) {
        let sentence = within_lines(&format!("{number}. "), &sentences(report, loss), options);
        let end = sentence.find(':').map_or(0, |at| at + 1);
        writeln!(text, "  {BOLD}{}{BOLD:#}{}", &sentence[..end], &sentence[end..]).ok();
    }
    text.push('\n');
    text
}

/// Wraps the sentences about a loss. On the first screen, those that do not fit into [`MAX_LINES`] are left out, except for the first one.
fn within_lines(number: &str, mut sentences: &[String], options: &TextOptions) -> String {
    loop {
        let text = wrap(&format!("{number}{}", sentences.concat()), options.columns - 2, 5);
        match sentences {
            [kept @ .., _] if options.first_screen && !kept.is_empty() && text.lines().count() > MAX_LINES => {
                sentences = kept;
            }
            _ => return text,
        }
    }
}

/// A loss in words: its size and cause, the place where ranks wait for it, and the possible gain.
pub fn sentence(report: &Report, loss: &EfficiencyLoss) -> String {
    sentences(report, loss).concat()
}

/// Returns the sentences about a loss, the most important first.
fn sentences(report: &Report, loss: &EfficiencyLoss) -> Vec<String> {
    let elapsed_s = report.verdict.elapsed_s;
    let lost = seconds_like(loss.lost_s, elapsed_s);
    let mut first = format!("{lost} ({}): {}", percent_or_dash(loss.share), what(report, loss));
    match &loss.at {
        Some(at) if loss.kind == LossKind::Communication && !loss.ranks.is_empty() => {
            first.push_str(&format!(", mostly {}.", call_in_words(at)));
        }
        Some(at) => first.push_str(&where_it_is(loss, at)),
        None => first.push('.'),
    }
    let mut all = vec![first];
    all.extend(loss.remedy.as_ref().and_then(|row| remedy(loss, row, elapsed_s)));
    if may_compute(report, loss) {
        all.push(
            " Ranks may compute there, in a reduction function of the program (MPI_Op_create), which no network saves."
                .to_owned(),
        );
    }
    all.extend(doubt_of_cores(report, loss));
    if !report.is_only_described() {
        all.extend(Some(advice(report, loss).to_owned()).filter(|text| !text.is_empty()));
    }
    // That workers compute longer than their master is no excess.
    if loss.by_cause && loss.kind == LossKind::Imbalance && report.idle_master.is_some() {
        return all;
    }
    all.extend(explanation(report, loss));
    if loss
        .explained
        .as_ref()
        .is_some_and(|excess| excess.asleep_share().is_some_and(|share| share >= MIN_LOSS_IN_ONE_PLACE))
    {
        let idle = functions::idle_in_words(report);
        all.push(format!(
            " Most of that it was {idle}: if it accesses files there, let all ranks do so, or do it in the background."
        ));
    }
    all
}

/// The functions in which the first rank of a loss computes longer, unless the answer names them.
fn explanation(report: &Report, loss: &EfficiencyLoss) -> Option<String> {
    let rank = loss.ranks.first().map(|&(rank, _)| rank).filter(|&rank| !is_in_answer(report, loss, rank))?;
    let excess = loss.explained.as_ref()?;
    let explained = functions::explained(
        excess,
        &format!("of what rank {rank} computes more there is"),
        functions::idle_in_words(report),
    );
    let is_said = functions::decisive(excess).is_some() || explained.is_empty();
    (!is_said).then(|| format!(" {explained}."))
}

/// The doubt whether a loss is due to a lack of cores.
fn doubt_of_cores(report: &Report, loss: &EfficiencyLoss) -> Option<String> {
    if loss.kind == LossKind::Communication && report.problems.iter().any(ProblemRow::is_of_cores) {
        let part = if report.doubts.no_core.is_some() { "Much" } else { "Some" };
        return Some(format!(" {part} of it is waiting for a core, not for the network."));
    }
    loss.lacked_core.then(|| match loss.ranks.as_slice() {
        [_] => " That rank had no core for part of the time, which may be why it is slow.".to_owned(),
        _ => " Ranks had no core for part of the time, which may be why these are slow.".to_owned(),
    })
}

/// The predicted gain of a change, or `None` if it is negligible. A change may reduce other losses, too.
fn remedy(loss: &EfficiencyLoss, row: &PredictionRow, elapsed_s: f64) -> Option<String> {
    let is_more = row.saved_s > loss.lost_s + MIN_EXPLAINED_GAIN * elapsed_s;
    let more = if is_more { ", with what it saves of other losses" } else { "" };
    let saved = format!("{} ({}){more}", seconds_like(row.saved_s, elapsed_s), percent(row.saved_share));
    match (row.scenario, row.rank) {
        _ if !row.has_gain() => None,
        (WhatIfScenario::Ideal, _) => Some(format!(" At most {saved} could be saved here, if messages took no time.")),
        (WhatIfScenario::RankAsMean(_), Some(rank)) => {
            Some(format!(" Average work on rank {rank} would save {saved}."))
        }
        (WhatIfScenario::RegionsBalanced, _) => Some(format!(" Even work in every region would save {saved}.")),
        (WhatIfScenario::RunBalancedEach, _) => Some(format!(" Even work in each iteration would save {saved}.")),
        _ => Some(format!(" Even work there would save {saved}.")),
    }
}

/// Returns whether the answer already names the functions in which the rank computes longer in the region of a loss.
fn is_in_answer(report: &Report, loss: &EfficiencyLoss, rank: u32) -> bool {
    let worst = report.verdict.worst.as_ref().filter(|worst| worst.rank == rank);
    let region = worst.and_then(|worst| worst.region.as_ref()).map(|region| region.path.as_str());
    region.is_some() && region == loss.region.as_deref()
}

/// The cause of a loss and the ranks that are responsible.
fn what(report: &Report, loss: &EfficiencyLoss) -> String {
    let of = ranks(report, loss);
    let region = loss.region.as_deref().filter(|path| *path != WHOLE_PROGRAM);
    let region = region.map_or_else(String::new, |path| format!(" in {}", region_in_words(report, path)));
    let function = loss.explained.as_ref().and_then(functions::decisive).filter(|_| !loss.ranks.is_empty());
    let region = function.map_or(region.clone(), |one| format!(" in {}, which is{region}", functions::label(one)));
    let mostly = if region.is_empty() { String::new() } else { format!(", mostly{region}") };
    match loss.kind {
        LossKind::Imbalance if loss.by_cause => match &report.idle_master {
            Some(master) => {
                let does = if master.hosts_counter { "hosts the counter of tasks" } else { "hands out work" };
                format!("rank {}, which {does}, is idle while others work: {of}{mostly}", master.rank)
            }
            None => format!("waiting for the computation of {of}{region}"),
        },
        LossKind::Imbalance if loss.measured => {
            format!("load imbalance: waiting for the computation of {of}{region}")
        }
        LossKind::Imbalance => format!("load imbalance: {of} computes longest{}", more_in(loss)),
        LossKind::SlowInTurn => {
            format!("ranks slow in turn: in different iterations different ranks are the slowest, {of}")
        }
        LossKind::SlowInParts => {
            format!("ranks slow in different parts of an iteration: waiting for the computation of {of}{mostly}")
        }
        LossKind::DependencyChains => {
            format!("chains: within iterations ranks wait in chains for the computation of {of}{mostly}")
        }
        LossKind::Serialization => {
            let kind = match report.verdict.undivided {
                Some(UndividedReason::UnsureLoop) => "slow in turn or dependency chains: the loop found is unsure",
                _ => "slow in turn or dependency chains: iterations are not known on all ranks",
            };
            format!(
                "serialization ({kind}): waiting for the computation of {of}, though none has that much more work in total"
            )
        }
        LossKind::Control => format!("waiting for the control of parallelism by {of}{region}"),
        LossKind::Communication if report.has_unrecorded_partners() => {
            "communication, and waiting for processes that were not recorded, of which nothing is known".to_owned()
        }
        LossKind::Communication if !loss.ranks.is_empty() => {
            format!("communication, most of it waiting for the calls of {of}")
        }
        LossKind::Communication if loss.by_cause || report.verdict.serialization.is_some() => {
            "data transfer and MPI overhead".to_owned()
        }
        LossKind::Communication => "communication, and waiting that is not due to imbalance".to_owned(),
        LossKind::FileAccess if loss.ranks.is_empty() => "access to files".to_owned(),
        LossKind::FileAccess => format!("access to files, and waiting for that of {of}{region}"),
        LossKind::CalledByMpi => {
            format!(
                "the program's own code within MPI, and waiting for it: {}",
                functions::called_by_mpi(report).unwrap_or_default()
            )
        }
        LossKind::Recorder => "writing the log, and waiting for it".to_owned(),
    }
}

/// A region in a sentence. Code between calls is named by the calls.
fn region_in_words(report: &Report, path: &str) -> String {
    let row = report.regions.iter().find(|row| row.path == path);
    code_in_words(short_path(path), row.and_then(|row| row.between.as_deref()))
}

/// Advice on a loss for which no replay predicts a gain.
fn advice(report: &Report, loss: &EfficiencyLoss) -> &'static str {
    match loss.kind {
        // A replay says that it would gain nothing.
        LossKind::SlowInTurn if loss.remedy.as_ref().is_some_and(|row| !row.has_gain()) => "",
        LossKind::SlowInTurn => " Balance the work within each iteration; a better static partition will not help.",
        LossKind::DependencyChains if report.what_if.balance_gains(MIN_GAIN_OF_BALANCE) => {
            " Shorten the chains or let their steps overlap."
        }
        LossKind::DependencyChains => " Shorten the chains or let their steps overlap; even work will not help.",
        LossKind::FileAccess if loss.ranks.first().is_some_and(|&(_, share)| share >= MIN_LOSS_BY_ONE_RANK) => {
            " Let all ranks access files, or one of them in the background: a better network saves nothing."
        }
        LossKind::FileAccess => " A better network saves nothing.",
        LossKind::CalledByMpi => " A better network saves nothing of it.",
        _ => "",
    }
}

fn more_in(loss: &EfficiencyLoss) -> String {
    match loss.region.as_deref() {
        Some(path) if path != WHOLE_PROGRAM => {
            format!(", most of it more than the others in {}", region_name(path))
        }
        _ => String::new(),
    }
}

/// `rank 0`, or `ranks 0 (60.0 %), 3 (20.0 %) …`. Selected ranks may wait for others, which says so.
fn ranks(report: &Report, loss: &EfficiencyLoss) -> String {
    match loss.ranks.as_slice() {
        [] => "other ranks".to_owned(),
        [(rank, share), ..] if *share >= MIN_LOSS_BY_ONE_RANK => match is_selected(report, *rank) {
            true => format!("rank {rank}"),
            false => format!("rank {rank} (not selected)"),
        },
        ranks => {
            let mut ranks = ranks.to_vec();
            ranks.retain(|&(_, share)| share >= MIN_LOSS_OF_NAMED_RANK);
            let more = if ranks.len() > MOST_RANKS { " …" } else { "" };
            let named = ranks.into_iter().take(MOST_RANKS).map(|(rank, share)| match is_selected(report, rank) {
                true => format!("{rank} ({})", percent(share)),
                false => format!("{rank} ({}, not selected)", percent(share)),
            });
            let named: Vec<String> = named.collect();
            match named.as_slice() {
                [one] if !more.is_empty() => format!("rank {one} and others"),
                [one] => format!("rank {one}"),
                many => format!("ranks {}{more}", many.join(", ")),
            }
        }
    }
}

fn is_selected(report: &Report, rank: u32) -> bool {
    report.ranks.iter().any(|row| row.rank == rank)
}

/// The call of a loss, with a note if most of the loss is there.
fn where_it_is(loss: &EfficiencyLoss, at: &LossAt) -> String {
    let kind = loss.kind;
    let place = format!("in {}", call_in_words(at));
    let part = at.share.map_or_else(String::new, |share| format!(" ({})", percent(share)));
    if kind == LossKind::CalledByMpi {
        return format!(", {place}.");
    }
    let who = if loss.ranks.first().is_none_or(|&(_, share)| share >= MIN_LOSS_BY_ONE_RANK) { "it" } else { "them" };
    match (kind, at.share.is_some_and(|share| share >= MIN_LOSS_IN_ONE_PLACE)) {
        (LossKind::Communication | LossKind::FileAccess, true) => format!(", most of it {place}."),
        (LossKind::Communication | LossKind::FileAccess, false) => format!(", the largest part{part} {place}."),
        (_, true) => format!(". Ranks wait for {who} mostly {place}."),
        (_, false) => format!(". Ranks wait for {who} longest{part} {place}."),
    }
}
