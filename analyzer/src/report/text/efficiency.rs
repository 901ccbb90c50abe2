//! The efficiencies of the run, with the quotients that they are.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use super::{BOLD, DIM, NARROW, Options, WIDE};
use crate::report::Report;
use crate::report::words::{TimeUnit, percent_or_dash, seconds_like, shorten, signed_percent, wrap};

/// One line of the table of efficiencies: name, value, formula, its seconds, POP's name where that is another.
type EfficiencyLine = (&'static str, Option<f64>, &'static str, Option<(f64, f64)>, &'static str);

pub(super) fn section(report: &Report, options: &Options) -> String {
    let times = &report.efficiency.times;
    let (elapsed, max, mean) = (times.elapsed_s, times.max_computation_s, times.avg_computation_s);
    let ideal = times.t_ideal_s;
    let lines: [EfficiencyLine; 5] = [
        ("parallel efficiency", times.parallel(), "mean / elapsed", Some((mean, elapsed)), ""),
        ("  load balance", times.load_balance(), "mean / longest", Some((mean, max)), ""),
        ("  communication", times.communication(), "longest / elapsed", Some((max, elapsed)), ""),
        (
            "    micro load balance",
            times.micro_load_balance(),
            "longest / ideal",
            ideal.map(|ideal| (max, ideal)),
            "POP: serialization",
        ),
        ("    transfer", times.transfer(), "ideal / elapsed", ideal.map(|ideal| (ideal, elapsed)), ""),
    ];
    let certain = report.efficiency.certain_ideal().is_some();
    let whose = match report.clusters.are_apart() {
        true => "of the computation of all ranks, though they run different code",
        false => "of the ranks' computation",
    };
    let mut text = format!("{BOLD}Efficiency{BOLD:#}  {DIM}{}{DIM:#}\n", shorten(whose, options.columns - 12));
    let unit = TimeUnit::for_max(elapsed);
    for (at, (name, value, formula, quotient, pop)) in lines.into_iter().enumerate() {
        // Without an ideal time that is known well, a line below says so once.
        let Some((part, whole)) = quotient.filter(|_| certain || at < 3) else { continue };
        let style = Style::new().fg_color(value.map(|value| grade(value).into()));
        let quotient = format!("{} / {} {}", unit.number(part), unit.number(whole), unit.symbol);
        let value = format!("{:>7}", percent_or_dash(value));
        let pop = if pop.is_empty() || options.columns < WIDE { String::new() } else { format!("  {DIM}{pop}{DIM:#}") };
        let line = format!("  {name:<22} {style}{value}{style:#}   {formula:<17}");
        match options.columns >= NARROW {
            true => writeln!(text, "{line} {quotient:>21}{pop}").ok(),
            false => writeln!(text, "{}", line.trim_end()).ok(),
        };
    }
    writeln!(text, "  {DIM}{}{DIM:#}\n", wrap(&ideal_time(report), options.columns - 2, 2)).ok();
    text
}

/// How well the ideal time is known.
fn ideal_time(report: &Report) -> String {
    let (times, elapsed_s) = (&report.efficiency.times, report.efficiency.times.elapsed_s);
    let seconds = |part: f64| seconds_like(part, elapsed_s);
    if let Some(replay_s) = report.efficiency.replay_s {
        let estimate = report.efficiency.phase_profile.map_or_else(String::new, |ideal| {
            let iterations = if report.loops.rows.is_empty() { "marked" } else { "found" };
            let difference = signed_percent(ideal.seconds / replay_s - 1.0);
            format!("; the estimate from {iterations} iterations is {} ({difference})", seconds(ideal.seconds))
        });
        return format!("ideal: all calls replayed on an ideal network, {}{estimate}", seconds(replay_s));
    }
    match report.efficiency.phase_profile {
        Some(ideal) if ideal.seconds > 1.005 * elapsed_s => format!(
            "micro load balance and transfer are not known: the ideal time by iterations, {}, is above the elapsed time, for \
             ranks do not wait for each other at the end of each",
            seconds(ideal.seconds)
        ),
        Some(ideal) if report.efficiency.certain_ideal().is_none() => {
            let longest = (ideal.seconds + ideal.bound_s).min(elapsed_s);
            let max_s = times.max_computation_s;
            format!(
                "micro load balance is {} to {}, transfer {} to {}: the ideal time is {} by iterations and may be up to {} \
                 longer, for ranks also wait for each other within them",
                percent_or_dash((longest > 0.0).then(|| max_s / longest)),
                percent_or_dash(times.micro_load_balance()),
                percent_or_dash(times.transfer()),
                percent_or_dash((elapsed_s > 0.0).then(|| longest / elapsed_s)),
                seconds(ideal.seconds),
                seconds(ideal.bound_s)
            )
        }
        Some(ideal) => format!(
            "ideal: estimate from {} iterations, {}, too short by {} at most",
            if report.loops.rows.is_empty() { "marked" } else { "found" },
            seconds(ideal.seconds),
            seconds(ideal.bound_s)
        ),
        None if report.iterations.is_some() => {
            "micro load balance and transfer need iterations on all ranks that compute".to_owned()
        }
        None => "micro load balance and transfer need iterations, found or marked (LBPROF_ITERATION_BEGIN)".to_owned(),
    }
}

/// Green from 90 %, yellow from 70 %, else red.
fn grade(value: f64) -> AnsiColor {
    match value {
        value if value >= 0.9 => AnsiColor::Green,
        value if value >= 0.7 => AnsiColor::Yellow,
        _ => AnsiColor::Red,
    }
}
