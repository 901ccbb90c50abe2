//! The efficiencies of the run as quotients.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use crate::rows::words::{TimeUnit, percent_or_dash, seconds_like, shorten_text};
use crate::text::{BOLD, DIM, NARROW, TextOptions, format_note};
use crate::{EfficiencyRow, Report};
use lbprof_analysis::read::open::list_ranks;
use lbprof_thresholds::wording::{MIN_GOOD_FACTOR, MIN_WHOLE_FACTOR};

const BAR: usize = 10;

/// Minimum width for words beside each line.
const ROOM_FOR_WORDS: usize = 116;

/// A line of the table of efficiencies.
struct EfficiencyLine {
    name: &'static str,
    value: Option<f64>,
    formula: &'static str,
    /// Dividend and divisor of the formula, in seconds.
    quotient: Option<(f64, f64)>,
    /// Name of the part missing to 100 %.
    missing: &'static str,
}

pub(in crate::text) fn efficiency_section(report: &Report, options: &TextOptions) -> String {
    // The efficiencies of all cores contain the losses to MPI.
    if options.first_screen && report.threads.is_some() {
        return String::new();
    }
    // The answer is about the same ranks.
    let row = &report.verdict.efficiency;
    let certain = row.t_ideal_certain;
    let whose = match (&report.idle_master, &report.verdict.cluster) {
        (Some(master), _) => format!("of the workers' computation: ranks {}", list_ranks(&master.workers)),
        (None, Some(cluster)) => {
            format!("of the computation of the ranks that are judged: {}", list_ranks(&cluster.ranks))
        }
        (None, None) if report.clusters.are_apart() => {
            "of the computation of all ranks, though they run different code".to_owned()
        }
        (None, None) => "of the ranks' computation".to_owned(),
    };
    let mut text = format!("{BOLD}Efficiency{BOLD:#}  {DIM}{}{DIM:#}\n", shorten_text(&whose, options.columns - 12));
    let mut missing = Vec::new();
    for (at, line) in efficiency_lines(report).into_iter().enumerate() {
        // A note below reports an uncertain ideal time once.
        let Some((part, whole)) = line.quotient.filter(|_| certain || at < 3) else { continue };
        writeln!(text, "{}", in_columns(&line, part, whole, report, options.columns)).ok();
        // Communication is the product of the two lines below it if these are known.
        if line.value.is_some_and(|value| value < MIN_GOOD_FACTOR) && at > 0 && (at != 2 || !certain) {
            missing.push(format!("{} is {}", line.name.trim_start(), line.missing));
        }
    }
    if let (Some(within), Some(between)) = (row.load_balance_within_hosts, row.load_balance_between_hosts)
        && options.full
    {
        let (within, between) = (percent_or_dash(Some(within)), percent_or_dash(Some(between)));
        writeln!(text, "  load balance is {within} within hosts × {between} between them").ok();
    }
    if report.verdict.cluster.is_some() && report.idle_master.is_none() {
        let all = percent_or_dash(report.efficiency.parallel);
        writeln!(text, "  {DIM}parallel efficiency of all ranks: {all}{DIM:#}").ok();
    }
    if options.first_screen {
        return text + "\n";
    }
    if options.columns < ROOM_FOR_WORDS && !missing.is_empty() {
        text += &format_note(&missing.join("; "), options);
    }
    // A certain ideal time only matters to experts.
    if !(certain && options.is_for_all()) {
        text += &format_note(&ideal_time(report), options);
    }
    text + "\n"
}

fn efficiency_lines(report: &Report) -> [EfficiencyLine; 5] {
    let row = &report.verdict.efficiency;
    let EfficiencyRow { parallel, load_balance, communication: comm, micro_load_balance: micro, transfer, .. } = *row;
    let (elapsed, max, mean) = (row.times.elapsed_s, row.times.max_computation_s, row.times.avg_computation_s);
    let ideal = row.times.t_ideal_s;
    let (to_ideal, of_ideal) = (ideal.map(|ideal| (max, ideal)), ideal.map(|ideal| (ideal, elapsed)));
    let rows = [
        ("parallel efficiency", parallel, "mean / elapsed", Some((mean, elapsed)), "the share that computes"),
        ("  load balance", load_balance, "mean / longest", Some((mean, max)), "lost to ranks that compute longer"),
        ("  communication", comm, "longest / elapsed", Some((max, elapsed)), "lost to MPI on the longest rank"),
        ("    micro load balance", micro, "longest / ideal", to_ideal, "lost to waits within iterations"),
        ("    transfer", transfer, "ideal / elapsed", of_ideal, "lost to messages and the calls themselves"),
    ];
    rows.map(|(name, value, formula, quotient, missing)| EfficiencyLine { name, value, formula, quotient, missing })
}

/// Renders as much of a line as fits.
fn in_columns(line: &EfficiencyLine, part: f64, whole: f64, report: &Report, columns: usize) -> String {
    let unit = TimeUnit::for_max(report.verdict.efficiency.times.elapsed_s);
    let style = Style::new().fg_color(line.value.map(|value| grade_color(value).into()));
    let quotient = format!("{} / {} {}", unit.number(part), unit.number(whole), unit.symbol);
    let (name, formula) = (line.name, line.formula);
    let value = format!("{name:<22} {style}{:>7}", percent_or_dash(line.value));
    if columns < NARROW {
        return format!("  {value}{style:#}   {formula}");
    }
    let words = match columns < ROOM_FOR_WORDS {
        true => String::new(),
        false if line.value.is_none_or(|value| value >= MIN_WHOLE_FACTOR) => String::new(),
        false => format!("  {DIM}{}{DIM:#}", line.missing),
    };
    let bar = share_bar(line.value.unwrap_or(0.0));
    format!("  {value} {bar}{style:#} {formula:<17} {quotient:>17}{words}")
}

/// Draws a bar of [`BAR`] columns in eighths of a column.
fn share_bar(value: f64) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (value.clamp(0.0, 1.0) * (8 * BAR) as f64).round() as usize;
    let bar = "█".repeat(eighths / 8) + PARTS[eighths % 8];
    format!("{bar}{}", " ".repeat(BAR - bar.chars().count()))
}

/// Describes the source and the uncertainty of the ideal time.
fn ideal_time(report: &Report) -> String {
    let row = &report.verdict.efficiency;
    if let Some(replay_s) = row.t_ideal_replay_s {
        let replayed = seconds_like(replay_s, row.times.elapsed_s);
        return format!("ideal: all calls replayed on an ideal network, {replayed}");
    }
    let Some(ideal_s) = row.t_ideal_phase_profile_s else {
        return match report.iterations {
            Some(_) => "micro load balance and transfer need iterations on all ranks that compute".to_owned(),
            None => {
                "micro load balance and transfer need iterations, found or marked (LBPROF_ITERATION_BEGIN)".to_owned()
            }
        };
    };
    let ideal = seconds_like(ideal_s, row.times.elapsed_s);
    let bound = seconds_like(row.t_ideal_phase_profile_bound_s.unwrap_or(0.0), row.times.elapsed_s);
    if row.t_ideal_phase_profile_above_elapsed {
        format!(
            "micro load balance and transfer are not known: the ideal time by iterations, {ideal}, is above the elapsed time, for \
             ranks do not wait for each other at the end of each"
        )
    } else if row.t_ideal_certain {
        format!("ideal: estimate from {}, {ideal}, too short by {bound} at most", iteration_source(report))
    } else {
        format!(
            "micro load balance is {} to {}, transfer {} to {}: the ideal time is {ideal} by iterations and may be up to {bound} \
             longer, for ranks also wait for each other within them",
            percent_or_dash(row.micro_load_balance_min),
            percent_or_dash(row.micro_load_balance_max),
            percent_or_dash(row.transfer_min),
            percent_or_dash(row.transfer_max)
        )
    }
}

/// Names the source of an estimate. A selected region does not show which iterations it is in.
fn iteration_source(report: &Report) -> &'static str {
    match (&report.facts.selected.region, report.loops.rows.is_empty()) {
        (Some(_), _) => "iterations",
        (None, true) => "marked iterations",
        (None, false) => "found iterations",
    }
}

fn grade_color(value: f64) -> AnsiColor {
    match value {
        value if value >= 0.9 => AnsiColor::Green,
        value if value >= 0.7 => AnsiColor::Yellow,
        _ => AnsiColor::Red,
    }
}
