//! The report for a terminal: the answer first, then the tables that it rests on.
//!
//! The text carries colours as ANSI sequences; who writes it to a file or pipe strips them. All names from logs are escaped.

use std::collections::BTreeMap;
use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use lbprof_collector::definition::{EndReason, RegionKind};
use lbprof_collector::problem::Severity;
use lbprof_collector::{Activity, ProblemKind};

use super::table::Table;
use super::verdict::{self, VerdictKind};
pub(crate) use super::words::is_hostile;
use super::words::{
    TimeUnit, bytes, clean, count, percent, percent_or_dash, plural, quantity, seconds, seconds_like, shorten,
    signed_percent, width, wrap,
};
use super::{ProblemRow, RankRow, Report, SiteRow};
use crate::definitions::WHOLE_PROGRAM;
use crate::open::ranges;
use crate::symbols::base_name;

/// How much to say, and in how many columns.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Columns of a line.
    pub columns: usize,
    /// Rows of a table of which not all are shown.
    pub top: usize,
    /// Whether to show all rows of all tables.
    pub full: bool,
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// Most columns that a name takes within a sentence.
const LONGEST_NAME: usize = 60;

/// Most parameters of the user's in the head.
const MOST_PARAMS: usize = 8;

/// A share of the time below which an activity has no column of its own.
const LEAST_SHARE: f64 = 0.001;

/// Most activities that have a column of their own in the table of ranks.
const MOST_COLUMNS: usize = 4;

/// The report as text, with colours.
pub fn render(report: &Report, options: &Options) -> String {
    let mut text = String::new();
    text.push_str(&head(report, options));
    text.push_str(&verdict_section(report, options));
    text.push_str(&problems(report, options));
    text.push_str(&efficiencies(report, options));
    text.push_str(&activities(report, options));
    text.push_str(&ranks(report, options));
    text.push_str(&regions(report, options));
    text.push_str(&iterations(report, options));
    text.push_str(&work(report, options));
    text.push_str(&counters(report, options));
    text.push_str(&call_sites(report, options));
    text.push_str(&data(report, options));
    text
}

/// A message on one or more lines, its hostile characters escaped.
pub fn plain(message: &str) -> String {
    message.lines().map(clean).collect::<Vec<_>>().join("\n")
}

fn head(report: &Report, options: &Options) -> String {
    let facts = &report.facts;
    let command: Vec<String> = facts.command.iter().map(|word| clean(word)).collect();
    let command = shorten(&command.join(" "), options.columns);
    let mut parts = vec![plural(u64::from(facts.n_ranks), "rank")];
    if report.data.hosts > 1 {
        parts[0].push_str(&format!(" on {} hosts", report.data.hosts));
    } else if let Some(rank) = report.ranks.first() {
        parts[0].push_str(&format!(" on {}", clean(&rank.host)));
    }
    if !facts.mpi.is_empty() {
        parts.push(mpi_name(&facts.mpi));
    }
    parts.push(format!("{} elapsed", seconds(report.data.elapsed_s)));
    parts.extend(facts.params.iter().take(MOST_PARAMS).map(|(name, value)| format!("{}={value}", clean(name))));
    if facts.params.len() > MOST_PARAMS {
        parts.push(format!("{} more parameters", count((facts.params.len() - MOST_PARAMS) as u64)));
    }
    format!("{BOLD}{command}{BOLD:#}\n{DIM}{}{DIM:#}\n\n", wrap(&parts.join(" · "), options.columns, 0))
}

/// Name and version of an MPI, without what its version string says besides.
fn mpi_name(mpi: &str) -> String {
    let first = mpi.lines().next().unwrap_or_default().split(',').next().unwrap_or_default();
    let words: Vec<&str> = first.split_whitespace().collect();
    shorten(&clean(&words.join(" ")), LONGEST_NAME)
}

fn verdict_section(report: &Report, options: &Options) -> String {
    let colour = match report.verdict.kind {
        VerdictKind::Good => AnsiColor::Green,
        VerdictKind::Nothing => AnsiColor::Yellow,
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
    let mut text = partial + &ended_early(report) + &of_what(report) + &loss(report);
    let worth_naming = verdict.imbalance_s > 0.01 * verdict.elapsed_s && verdict.kind != VerdictKind::Nothing;
    if let Some(worst) = verdict.worst.as_ref().filter(|_| worth_naming) {
        let (longest, mean) = (seconds(worst.computation_s), seconds(worst.computation_s - worst.over_mean_s));
        write!(text, " Rank {} computes longest: {longest}", worst.rank).ok();
        if let Some(lost) = worst.preempted {
            let how = if lost.certain { "at least" } else { "about" };
            write!(text, ", of which it waited {how} {} for a core", seconds(lost.delayed_s)).ok();
        }
        write!(text, "{} the mean is {mean}", if worst.preempted.is_some() { ";" } else { "," }).ok();
        match &worst.region {
            Some((path, excess)) if path == WHOLE_PROGRAM => {
                write!(text, "; {} more than the mean outside of marked regions.", seconds(*excess)).ok()
            }
            Some((path, excess)) => {
                let path = shorten(&clean(path), LONGEST_NAME);
                write!(text, "; {} more than the mean in region {path}.", seconds(*excess)).ok()
            }
            None => write!(text, ".").ok(),
        };
    }
    if let Some(site) = verdict.waits_at.as_ref().filter(|site| site.mean_s > 0.01 * verdict.elapsed_s) {
        let who = match verdict.kind {
            VerdictKind::Imbalance | VerdictKind::Serialization => "The others wait mostly",
            _ => "Most time in MPI is spent",
        };
        write!(text, " {who} in {}: {} a rank, on average.", waits_at(site), seconds(site.mean_s)).ok();
    }
    text
}

/// `Send at solve (solver.c:120)`; of several calls of a function `CommBrick::exchange (Sendrecv, Wait; longest comm.cpp:20)`.
fn waits_at(site: &verdict::WaitsAt) -> String {
    const MOST_OPERATIONS: usize = 3;
    if site.several && site.place.function.is_some() {
        let mut calls = site.operations.iter().take(MOST_OPERATIONS).cloned().collect::<Vec<_>>().join(", ");
        if site.operations.len() > MOST_OPERATIONS {
            calls.push_str(" …");
        }
        if let (Some(file), Some(line)) = (&site.place.file, site.place.line) {
            write!(calls, "; the longest at {}:{line}", clean(base_name(file))).ok();
        }
        let function = shorten(&clean(site.place.function_label()), LONGEST_NAME);
        return format!("{function} ({calls})");
    }
    let place = shorten(&clean(&site.place.label()), LONGEST_NAME);
    format!("{} at {place}", site.operations.first().map_or("", String::as_str))
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
            Some((operation, place)) => format!("in {operation} at {}", shorten(&clean(&place.label()), LONGEST_NAME)),
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
    if verdict.not_recorded_s > 0.01 * data.elapsed_s {
        write!(text, "Recorded are {} of {}. ", seconds(verdict.elapsed_s), seconds(data.elapsed_s)).ok();
    }
    text
}

fn loss(report: &Report) -> String {
    let verdict = &report.verdict;
    let times = &report.efficiency.times;
    let seconds = |part: f64| seconds_like(part, verdict.elapsed_s);
    let share = |part: f64| if verdict.elapsed_s > 0.0 { percent(part / verdict.elapsed_s) } else { "–".to_owned() };
    let lost = format!("{} of {} ({})", seconds(verdict.lost_s), seconds(verdict.elapsed_s), share(verdict.lost_s));
    let log = match verdict.recorder_s > 0.01 * verdict.elapsed_s {
        true => format!(", {} to writing the log", seconds(verdict.recorder_s)),
        false => String::new(),
    };
    let to = |what: &str, part: f64| format!("{} to {what}{log}", seconds(part));
    let communication = "communication and waiting";
    match verdict.kind {
        VerdictKind::Nothing
            if report.ranks.is_empty()
                || report.data.unknown_s > 0.5 * report.data.elapsed_s * report.ranks.len() as f64 =>
        {
            "Nothing is known of most of the time.".to_owned()
        }
        VerdictKind::Nothing => {
            "No rank computes between MPI_Init and MPI_Finalize: there is nothing to balance.".to_owned()
        }
        VerdictKind::Good => {
            let ended = report.ranks.iter().all(|row| row.end_reason.is_some());
            format!(
                "{}{} of the time is computation; {lost} are lost.",
                if ended { "Nothing to gain here: " } else { "Up to there " },
                percent_or_dash(times.parallel())
            )
        }
        VerdictKind::Imbalance => {
            format!("{lost} are lost, {}.", to("load imbalance between ranks", verdict.imbalance_s))
        }
        VerdictKind::Serialization => format!(
            "{lost} are lost, {}: in different iterations different ranks are the slowest.",
            to("imbalance that moves", verdict.serialization_s.unwrap_or(0.0))
        ),
        VerdictKind::Communication => {
            let balanced = times.load_balance().is_some_and(|balance| balance >= verdict::GOOD_BALANCE);
            let also = match balanced {
                true if report.ranks.len() < 2 => String::new(),
                true => "; the ranks are well balanced".to_owned(),
                false => format!(", {} to load imbalance between ranks", seconds(verdict.imbalance_s)),
            };
            format!("{lost} are lost, {}{also}.", to(communication, verdict.communication_s))
        }
    }
}

/// What is missing, in few words.
fn incomplete(report: &Report) -> String {
    let missing = u64::from(report.data.ranks_present) < report.data.ranks_recorded;
    let mut parts = Vec::new();
    if missing {
        parts.push(format!("{} of {}", report.data.ranks_present, plural(report.data.ranks_recorded, "rank")));
    }
    let whole = report.data.elapsed_s * report.ranks.len() as f64;
    if report.data.unknown_s > 0.005 * whole {
        parts.push(format!("{} of the time is unknown", percent(report.data.unknown_s / whole)));
    }
    if report.data.dropped_events > 0 {
        parts.push(format!("{} dropped", plural(report.data.dropped_events, "event")));
    }
    if parts.is_empty() { "see below".to_owned() } else { parts.join(", ") }
}

fn problems(report: &Report, options: &Options) -> String {
    let mut text = String::new();
    for problem in &report.problems {
        let (colour, mark) = match problem.kind.severity() {
            Severity::Note => (Style::new().dimmed(), "note"),
            Severity::Partial => (AnsiColor::Yellow.on_default().bold(), "incomplete"),
            Severity::Doubtful => (AnsiColor::Yellow.on_default().bold(), "doubtful"),
        };
        let line = wrap(&problem_line(problem, options.full), options.columns.saturating_sub(width(mark) + 2), 0);
        let line = line.replace('\n', "\n  ");
        writeln!(text, "{colour}{mark}:{colour:#} {line}").ok();
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Most details of one kind of problem on the first screen.
const SHOWN_DETAILS: usize = 2;

fn problem_line(problem: &ProblemRow, full: bool) -> String {
    let ranks = match problem.ranks.as_slice() {
        [] => String::new(),
        [one] => format!("rank {one}: "),
        many => format!("ranks {}: ", ranges(many)),
    };
    // Details name their rank, which is told already where there is but one.
    let known = |detail: &str| detail.strip_prefix(&ranks).map_or_else(|| clean(detail), clean);
    let most = if full { usize::MAX } else { SHOWN_DETAILS };
    let details: Vec<String> = problem.details.iter().take(most).map(|detail| known(detail)).collect();
    let details = match (details.is_empty(), problem.count) {
        (true, 0 | 1) => String::new(),
        (true, n) if n == problem.ranks.len() as u64 => String::new(),
        (true, n) => format!(" ({} times)", count(n)),
        (false, _) => {
            format!(" ({}{})", details.join("; "), if problem.ranks.len() > details.len() { " …" } else { "" })
        }
    };
    let meaning = problem.kind.meaning().trim_end_matches('.');
    format!("{ranks}{meaning}{details} → {}", problem.kind.advice())
}

/// One line of the table of efficiencies: name, value, formula, its seconds, POP's name where that is another.
type EfficiencyLine = (&'static str, Option<f64>, &'static str, Option<(f64, f64)>, &'static str);

/// Columns from which on formulas have room for their numbers.
const NARROW: usize = 76;

/// Columns from which on there is room for what is good to know but not needed.
const WIDE: usize = 96;

fn efficiencies(report: &Report, options: &Options) -> String {
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
    let mut text = format!("{BOLD}Efficiency{BOLD:#}  {DIM}of the ranks' computation{DIM:#}\n");
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
            "ideal: estimate from marked iterations, {}, too short by {} at most",
            seconds(ideal.seconds),
            seconds(ideal.bound_s)
        ),
        None if report.iterations.is_some() => {
            "micro load balance and transfer need iterations marked on all ranks that compute".to_owned()
        }
        None => "micro load balance and transfer need marked iterations (LBPROF_ITERATION_BEGIN)".to_owned(),
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

fn title(name: &str, shown: usize, all: usize) -> String {
    let of = if shown < all { format!(" {DIM}({shown} of {all}; --full shows all){DIM:#}") } else { String::new() };
    format!("{BOLD}{name}{BOLD:#}{of}\n")
}

fn activities(report: &Report, options: &Options) -> String {
    let longest = report.activities.iter().map(|row| row.max_s).fold(0.0, f64::max);
    let unit = TimeUnit::for_max(longest);
    let (mean, max) = (format!("mean\n[{}]", unit.symbol), format!("longest\n[{}]", unit.symbol));
    let mut table = Table::new(&["<activity", "share", &mean, &max, "on\nrank", "calls", "sent", "received"], 0);
    // What took no time and moved nothing, as the call of MPI_Finalize, is only noise here.
    for row in report.activities.iter().filter(|row| row.time_s > 0.0 || row.sent.saturating_add(row.received) > 0) {
        let is_mpi = !matches!(row.activity, Activity::Computation | Activity::Recorder);
        table.row(vec![
            row.activity.name().to_owned(),
            percent(row.share),
            unit.number(row.mean_s),
            unit.number(row.max_s),
            row.max_rank.to_string(),
            if is_mpi { count(row.calls) } else { String::new() },
            if row.sent > 0 { bytes(row.sent) } else { String::new() },
            if row.received > 0 { bytes(row.received) } else { String::new() },
        ]);
    }
    let n = report.ranks.len().max(1) as f64;
    let whole = report.data.elapsed_s * n;
    for (name, time_s) in
        [("idle", report.data.idle_s), ("not recorded", report.data.paused_s), ("unknown", report.data.unknown_s)]
    {
        if whole > 0.0 && time_s / whole >= 0.0005 {
            let empty = String::new;
            let cells = [percent(time_s / whole), unit.number(time_s / n)];
            let [share, mean] = cells;
            table.row(vec![name.to_owned(), share, mean, empty(), empty(), empty(), empty(), empty()]);
        }
    }
    format!("{BOLD}Activities{BOLD:#}\n{}\n", table.render(options.columns, DIM))
}

/// Heads of the columns of activities, on two lines where they are long.
fn short_name(activity: Activity) -> &'static str {
    match activity {
        Activity::Computation => "compu-\ntation",
        Activity::PointToPoint => "point-\nto-point",
        Activity::Collective => "collec-\ntive",
        Activity::Synchronization => "synchro-\nnization",
        Activity::OneSided => "one-\nsided",
        Activity::Io => "io",
        Activity::Management => "manage-\nment",
        Activity::Recorder => "recor-\nder",
    }
}

fn ranks(report: &Report, options: &Options) -> String {
    let all = report.ranks.len();
    let mut order: Vec<&RankRow> = report.ranks.iter().collect();
    let computation = |row: &RankRow| row.seconds[Activity::Computation as usize];
    // Few ranks are shown in their order; of many the slowest, and the fastest one for comparison.
    let shown = if options.full || all <= options.top.max(1) { all } else { options.top };
    if shown < all {
        order.sort_by(|a, b| computation(b).total_cmp(&computation(a)).then(a.rank.cmp(&b.rank)));
    }
    let mut rows: Vec<&RankRow> = order.iter().take(shown).copied().collect();
    rows.extend(order.last().filter(|_| shown < all));
    let unit = TimeUnit::for_max(report.data.elapsed_s);
    // Where lines get too long the activities that take least become part of the others.
    let table = (0..=MOST_COLUMNS)
        .rev()
        .map(|columns| rank_table(report, &rows, columns, unit))
        .find(|table| table.least_width() <= options.columns)
        .unwrap_or_else(|| rank_table(report, &rows, 0, unit));
    let name = match shown < all {
        true => format!("Ranks, the slowest and the fastest [{}]", unit.symbol),
        false => format!("Ranks [{}]", unit.symbol),
    };
    let shown = if shown < all { shown + 1 } else { shown };
    format!("{}{}\n", title(&name, shown, all), table.render(options.columns, DIM))
}

/// The table of some ranks, with columns for at most so many activities beside computation.
fn rank_table(report: &Report, rows: &[&RankRow], columns: usize, unit: TimeUnit) -> Table {
    let columns = rank_columns(report, columns);
    let others: Vec<Activity> =
        Activity::ALL[1..].iter().copied().filter(|activity| !columns.contains(activity)).collect();
    let other = |row: &RankRow| others.iter().map(|&activity| row.seconds[activity as usize]).sum::<f64>();
    let has = |of: &dyn Fn(&RankRow) -> f64| {
        report.ranks.iter().map(of).fold(0.0, f64::max) >= LEAST_SHARE * report.data.elapsed_s
    };
    let (has_other, has_idle) = (has(&other) && !others.is_empty(), has(&|row| row.idle_s));
    let mut heads = vec!["rank", "<host", "compu-\ntation", "against\nmean"];
    heads.extend(columns.iter().map(|&activity| short_name(activity)));
    heads.extend(has_other.then_some("other"));
    heads.extend(has_idle.then_some("idle"));
    let mut table = Table::new(&heads, 1);
    for row in rows {
        let mut cells = vec![
            row.rank.to_string(),
            clean(&row.host),
            unit.number(row.seconds[Activity::Computation as usize]),
            row.over_mean.map_or_else(|| "–".to_owned(), signed_percent),
        ];
        cells.extend(columns.iter().map(|&activity| unit.number(row.seconds[activity as usize])));
        cells.extend(has_other.then(|| unit.number(other(row))));
        cells.extend(has_idle.then(|| unit.number(row.idle_s)));
        table.row(cells);
    }
    table
}

/// The activities of MPI that take most time, at most so many, in the order of their numbers.
fn rank_columns(report: &Report, most: usize) -> Vec<Activity> {
    let longest =
        report.activities.iter().filter(|row| row.activity != Activity::Computation && row.share >= LEAST_SHARE);
    let mut columns: Vec<Activity> = longest.map(|row| row.activity).take(most).collect();
    columns.sort();
    columns
}

fn regions(report: &Report, options: &Options) -> String {
    if report.regions.len() < 2 {
        return String::new();
    }
    let all = report.regions.len();
    let mut rows: Vec<_> = report.regions.iter().collect();
    let shown = if options.full { all } else { all.min(options.top.max(1)) };
    if shown < all {
        rows.sort_by(|a, b| b.time_s.total_cmp(&a.time_s).then(a.path.cmp(&b.path)));
        rows.truncate(shown);
        rows.sort_by_key(|row| row.idx);
    }
    let unit = TimeUnit::for_max(report.data.elapsed_s);
    let elapsed = format!("elapsed\n[{}]", unit.symbol);
    let wide = options.columns >= WIDE;
    let mut heads = vec!["<region", "share\nalone", &elapsed, "parallel", "load\nbalance", "micro\nbalance"];
    heads.extend(wide.then_some("transfer"));
    heads.push("slowest\nrank");
    heads.extend(wide.then_some("invo-\ncations"));
    let mut table = Table::new(&heads, 0);
    for row in rows {
        let times = &row.efficiency.times;
        // Where hardly anything is computed, how that is balanced says nothing.
        let computes = times.max_computation_s >= 0.01 * times.elapsed_s;
        let of_computation = |value: Option<f64>| percent_or_dash(value.filter(|_| computes));
        // Above 100 %: ranks wait elsewhere than in this region, as where it only computes.
        let transfer = times.transfer().filter(|&transfer| transfer < 1.0005);
        let kind = match row.kind {
            RegionKind::Useful => "",
            RegionKind::Control => " (control)",
            RegionKind::Serial => " (serial)",
        };
        let mut cells = vec![
            clean(&row.path) + kind,
            percent(row.share),
            unit.number(times.elapsed_s),
            percent_or_dash(times.parallel()),
            of_computation(times.load_balance()),
            of_computation(times.micro_load_balance()),
        ];
        cells.extend(wide.then(|| of_computation(transfer)));
        cells.push(row.slowest_rank.map_or_else(|| "–".to_owned(), |rank| rank.to_string()));
        cells.extend(wide.then(|| if row.idx == 0 { String::new() } else { count(row.totals.invocations) }));
        table.row(cells);
    }
    format!("{}{}\n", title("Regions", shown, all), table.render(options.columns, DIM))
}

fn iterations(report: &Report, options: &Options) -> String {
    let Some(iterations) = &report.iterations else { return String::new() };
    // One that some rank did not come to, or not to the end of, says little.
    let ranks = iterations.rows.iter().map(|row| row.ranks).max().unwrap_or(0);
    let rows: Vec<_> = iterations.rows.iter().filter(|row| row.ranks == ranks).collect();
    let n = rows.len() as f64;
    let longest = rows.iter().map(|row| row.max_s).fold(0.0, f64::max);
    let mean = rows.iter().map(|row| row.max_s).sum::<f64>() / n.max(1.0);
    let mut by_rank: BTreeMap<u32, u64> = BTreeMap::new();
    for row in &rows {
        *by_rank.entry(row.slowest_rank).or_default() += 1;
    }
    // Where ranks differ by noise alone it means nothing which one is the slowest.
    let differ = rows.iter().map(|row| row.max_s - row.mean_s).sum::<f64>() > 0.01 * mean * n;
    let often = by_rank.iter().filter(|_| differ).max_by_key(|&(rank, times)| (times, std::cmp::Reverse(rank)));
    let often = often.map_or_else(String::new, |(rank, times)| {
        let share = *times as f64 / n;
        format!("; rank {rank} is the slowest most often, in {} ({})", count(*times), percent(share))
    });
    let text = format!(
        "{} of {}: the slowest rank computes {} on average, {} at most{often}",
        plural(rows.len() as u64, "iteration"),
        clean(&iterations.region),
        seconds(mean),
        seconds(longest),
    );
    format!("{BOLD}Iterations{BOLD:#}\n  {}\n\n", wrap(&text, options.columns - 2, 2))
}

/// What the user counted in regions: operations and quanta, with the rate at which they are done.
fn work(report: &Report, options: &Options) -> String {
    let rows: Vec<_> =
        report.regions.iter().filter(|row| row.totals.operations != 0.0 || row.totals.quanta != 0.0).collect();
    if rows.is_empty() {
        return String::new();
    }
    let shown = if options.full { rows.len() } else { rows.len().min(options.top.max(1)) };
    let mut table = Table::new(&["<region", "operations", "quanta", "operations\na second", "quanta\na second"], 0);
    for row in rows.iter().take(shown) {
        let computation_s = row.efficiency.times.avg_computation_s * report.ranks.len() as f64;
        let rate = |of: f64| if computation_s > 0.0 { quantity(of / computation_s) } else { "–".to_owned() };
        let (operations, quanta) = (row.totals.operations, row.totals.quanta);
        table.row(vec![clean(&row.path), quantity(operations), quantity(quanta), rate(operations), rate(quanta)]);
    }
    format!("{}{}\n", title("Work", shown, rows.len()), table.render(options.columns, DIM))
}

/// The user's counters by region.
fn counters(report: &Report, options: &Options) -> String {
    if report.counters.is_empty() {
        return String::new();
    }
    let all = report.counters.len();
    let shown = if options.full { all } else { all.min(options.top.max(1)) };
    let mut table = Table::new(&["<counter", "<region", "values", "mean", "least", "largest"], 1);
    for row in report.counters.iter().take(shown) {
        let totals = &row.totals;
        let mean = totals.sum / totals.n.max(1) as f64;
        let numbers = [mean, totals.min, totals.max].map(quantity);
        let [mean, least, largest] = numbers;
        table.row(vec![
            shorten(&clean(&row.name), LONGEST_NAME),
            clean(&row.region),
            count(totals.n),
            mean,
            least,
            largest,
        ]);
    }
    format!("{}{}\n", title("Counters", shown, all), table.render(options.columns, DIM))
}

fn call_sites(report: &Report, options: &Options) -> String {
    let moved = |row: &SiteRow| {
        let sums = [row.sum, row.other_threads];
        sums.iter().fold(0_u64, |moved, sum| moved.saturating_add(sum.sent).saturating_add(sum.received))
    };
    let is_noise = |row: &SiteRow| row.sum.seconds + row.other_threads.seconds <= 0.0 && moved(row) == 0;
    let rows: Vec<&SiteRow> = report.call_sites.iter().filter(|row| options.full || !is_noise(row)).collect();
    let all = rows.len();
    if all == 0 {
        return String::new();
    }
    let shown = if options.full { all } else { all.min(options.top.max(1)) };
    let unit = TimeUnit::for_max(report.call_sites.iter().map(|row| row.max_s).fold(0.0, f64::max));
    let (mean, max) = (format!("mean\n[{}]", unit.symbol), format!("longest\n[{}]", unit.symbol));
    let others = format!("other\nthreads\n[{}]", unit.symbol);
    let has_others = report.call_sites.iter().any(|row| row.other_threads.calls > 0);
    let mut heads = vec!["<call", "<at", "share", &mean, &max, "on\nrank"];
    heads.extend(has_others.then_some(others.as_str()));
    heads.extend(["calls", "bytes"]);
    let mut table = Table::new(&heads, 1);
    let n = report.ranks.len().max(1) as f64;
    let whole = report.data.elapsed_s * n;
    for row in rows.into_iter().take(shown) {
        let place = if row.id.is_some() { clean(&row.place.label()) } else { "?".to_owned() };
        let mut cells = vec![
            row.operation.clone(),
            place,
            if whole > 0.0 { percent(row.sum.seconds / whole) } else { "–".to_owned() },
            unit.number(row.sum.seconds / n),
            unit.number(row.max_s),
            if row.sum.calls > 0 { row.max_rank.to_string() } else { String::new() },
        ];
        cells.extend(has_others.then(|| unit.number(row.other_threads.seconds / n)));
        cells.push(count(row.sum.calls.saturating_add(row.other_threads.calls)));
        cells.push(if moved(row) > 0 { bytes(moved(row)) } else { String::new() });
        table.row(cells);
    }
    format!("{}{}\n", title("Call sites", shown, all), table.render(options.columns, DIM))
}

fn data(report: &Report, options: &Options) -> String {
    let data = &report.data;
    let n_ranks = u64::from(report.facts.n_ranks);
    let mut parts = vec![format!("{} of {}", data.ranks_present, plural(n_ranks, "rank"))];
    if data.ranks_recorded < n_ranks {
        parts.push(format!("{} recorded (LBPROF_RANKS)", data.ranks_recorded));
    }
    parts.push(format!("{}, {} of MPI", plural(data.events, "event"), plural(data.calls, "call")));
    parts.push(match data.dropped_events {
        0 => "none dropped".to_owned(),
        n => format!("{} dropped", count(n)),
    });
    let whole = data.elapsed_s * data.ranks_present as f64;
    let share = if whole > 0.0 { data.recorder_s / whole } else { 0.0 };
    parts.push(format!("writing the logs took {} ({:.2} %)", seconds(data.recorder_s), 100.0 * share));
    parts.push(match (report.facts.common_clock, report.facts.clock_error_s) {
        (true, Some(error)) if error > 0.0 => format!("clocks agree within {}", seconds(error)),
        (true, _) => "one clock".to_owned(),
        (false, _) => "clocks of hosts unknown".to_owned(),
    });
    let preempted = report.problems.iter().find(|problem| problem.kind == ProblemKind::Preempted);
    if let Some(problem) = preempted {
        parts.push(format!("{} preempted", plural(problem.ranks.len() as u64, "rank")));
    }
    format!("{DIM}{}{DIM:#}\n", wrap(&format!("Data: {}", parts.join("; ")), options.columns, 6))
}
