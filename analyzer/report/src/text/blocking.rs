//! The tables of waiting: why, where and caused by what.

use std::fmt::Write;

use super::{BOLD, DIM, TextOptions, title};
use crate::Report;
use crate::blocking::{BlockingTable, CauseRow};
use crate::overheads::NotAlone;
use crate::table::TextTable;
use crate::words::{
    TimeUnit, clean, count, or_dash, percent, plural, seconds, seconds_like, short_path, what_was_done, wrap,
};
use lbprof_analysis::metrics::blocking::CauseClass;
use lbprof_thresholds::wording::{MAX_TIME_OF_NO_WAITING, MIN_REPORTED_WAITING};

/// Most pairs of ranks that are reported in a sentence.
const MOST_PAIRS: usize = 3;

/// Columns that give way where lines are short.
const SPARE: &[&[&str]] = &[&["count"], &["own"], &["transit"]];

/// The tables, where a region was selected: of the whole run the call tree shows where ranks wait.
pub(super) fn section_of_region(report: &Report, options: &TextOptions) -> String {
    if report.facts.selected.region.is_some() { section(report, options) } else { String::new() }
}

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let Some(table) = &report.blocking else { return not_known(report) };
    let (whole, total) = (table.ranks_time_s, table.sums.total_s);
    if whole <= 0.0 || report.ranks.len() < 2 {
        return String::new();
    }
    let mut text = format!(
        "{BOLD}Waiting{BOLD:#}  {DIM}{} of the ranks' {} ({}), by what it is caused by{DIM:#}\n",
        seconds_like(total, whole),
        seconds(whole),
        percent(table.share)
    );
    if let Some(line) = by_region(table) {
        writeln!(text, "  {}", wrap(&line, options.columns - 2, 2)).ok();
    }
    if table.share > MAX_TIME_OF_NO_WAITING {
        text += &classes(table).render(options.columns, DIM);
        for line in [pairs(table), matching(table)].into_iter().flatten() {
            writeln!(text, "  {DIM}{}{DIM:#}", wrap(&line, options.columns - 2, 2)).ok();
        }
        text += &format!("\n{}{}", causes(table, options), places(table, options));
    } else if let Some(line) = matching(table) {
        writeln!(text, "  {DIM}{}{DIM:#}\n", wrap(&line, options.columns - 2, 2)).ok();
    } else {
        text.push('\n');
    }
    text
}

/// The reason why waits were not analysed, if it lies in the recording.
fn not_known(report: &Report) -> String {
    match report.overheads.alone {
        Err(NotAlone::NoCalls) if report.ranks.len() > 1 => format!(
            "{BOLD}Waiting{BOLD:#}  {DIM}not known: calls were recorded as sums (LBPROF_MODE=profile, or LBPROF_LIMIT was reached){DIM:#}\n\n"
        ),
        _ => String::new(),
    }
}

/// A row for each class of causes.
fn classes(table: &BlockingTable) -> TextTable {
    let (class, share) = (&table.sums.by_class, table.sums.by_class_share());
    let unit = TimeUnit::for_max(table.sums.total_s);
    let rows = [
        ("workload imbalance", class.imbalance_s(), share.imbalance_s()),
        ("  Amdahl (one alone)", class.amdahl_s, share.amdahl_s),
        ("  global (in total)", class.global_s, share.global_s),
        ("  temporal (slow in turn)", class.temporal_s, share.temporal_s),
        ("  dependency chains", class.chains_s, share.chains_s),
        ("  not separated", class.unsplit_s, share.unsplit_s),
        ("communication", class.communication_s, share.communication_s),
        ("messages in transit", class.message_delay_s, share.message_delay_s),
        ("control of parallelism", class.control_s, share.control_s),
        ("recorder", class.recorder_s, share.recorder_s),
    ];
    let caused = format!("caused\n[{}]", unit.symbol);
    let mut out = TextTable::new(&["<cause", &caused, "share"], 0);
    for (name, part, share) in rows {
        if share >= MIN_REPORTED_WAITING || (name == "workload imbalance") {
            out.row(vec![name.to_owned(), unit.number(part), percent(share)]);
        }
    }
    out
}

/// The waiting that the selected region causes.
fn by_region(table: &BlockingTable) -> Option<String> {
    let by = table.by_region.filter(|by| by.share >= MIN_REPORTED_WAITING)?;
    let most =
        by.most_by.map_or_else(String::new, |most| format!("; {} of it by rank {}", percent(most.share), most.rank));
    Some(format!(
        "What ranks do here makes others wait {}, {} of all waiting{most}",
        seconds(by.caused_s),
        percent(by.share)
    ))
}

/// The pairs of ranks of which one waits longest for the other.
fn pairs(table: &BlockingTable) -> Option<String> {
    let total = table.sums.total_s;
    let most = table.most_by?;
    let caused = seconds_like(most.caused_s, total);
    let mut text = format!("rank {} causes most: {caused} ({})", most.rank, percent(most.share));
    let pairs = table.sums.pairs.iter().filter(|pair| pair.0 != pair.1).take(MOST_PAIRS);
    let pairs: Vec<String> = pairs
        .map(|&(waits, causes, time)| format!("{} for {}: {}", waits, causes, seconds_like(time, total)))
        .collect();
    if !pairs.is_empty() {
        write!(text, "; longest, rank {}", pairs.join(", ")).ok();
    }
    Some(text)
}

/// Lists the calls that could not be matched, and the corrected ones.
fn matching(table: &BlockingTable) -> Option<String> {
    let counts = &table.counts;
    let unmatched = [
        (counts.unmatched_sends, "send", "without a receive"),
        (counts.unmatched_receives, "receive", "without a send"),
        (counts.unmatched_collectives, "collective", "that not all entered"),
        (counts.mixed_collectives, "collective", "with different operations"),
        (counts.unmatched_neighbours, "neighbour", "that did not enter a collective"),
        (counts.unmatched_epochs, "side", "of epochs on windows"),
        (counts.behind_gaps, "call", "after lost records"),
        (counts.not_recorded, "call", "with ranks that lack records"),
        (counts.sizes_differ, "message", "of another size than was sent"),
    ];
    let occurring = unmatched.into_iter().filter(|(n, ..)| *n > 0);
    let parts: Vec<String> = occurring.map(|(n, noun, fault)| format!("{} {fault}", plural(n, noun))).collect();
    let mut text = String::new();
    if !parts.is_empty() {
        write!(text, "not matched, so that waiting for it is not known: {}", parts.join(", ")).ok();
    }
    if counts.violations > 0 {
        let more = if text.is_empty() { "" } else { "; " };
        let largest = seconds(counts.largest_violation as f64 * 1e-9);
        let calls = plural(counts.violations, "call");
        write!(text, "{more}{calls} ended before what it waited for, by the clocks: moved by {largest} at most").ok();
    }
    (!text.is_empty()).then_some(text)
}

fn causes(table: &BlockingTable, options: &TextOptions) -> String {
    let rows: Vec<&CauseRow> =
        table.causes.iter().filter(|row| options.full || row.share >= MIN_REPORTED_WAITING).collect();
    let all = rows.len();
    let shown = if options.full { all } else { all.min(options.top.max(1)) };
    let unit = TimeUnit::for_max(rows.first().map_or(0.0, |row| row.cause.caused_s));
    let (caused, own) = (format!("caused\n[{}]", unit.symbol), format!("own\n[{}]", unit.symbol));
    let mut out = TextTable::new(&["<what a rank does", "rank", &caused, "share", &own, "for each\nsecond"], 0);
    for row in rows.into_iter().take(shown) {
        let cause = &row.cause;
        let what = what_was_done(row.state, cause.class == CauseClass::MessageDelay);
        let own_s = cause.own_s.filter(|_| row.beta.is_some());
        out.row(vec![
            format!("{what} in {}", clean(short_path(&row.region))),
            cause.rank.to_string(),
            unit.number(cause.caused_s),
            percent(row.share),
            or_dash(own_s, |own_s| unit.number(own_s)),
            or_dash(row.beta, |beta| format!("{beta:.2}")),
        ]);
    }
    format!(
        "{}{}\n",
        title("Causes of waiting", shown, all),
        out.sparing(options.columns, SPARE).render(options.columns, DIM)
    )
}

fn places(table: &BlockingTable, options: &TextOptions) -> String {
    let mut rows = table.waiting_calls();
    rows.retain(|row| options.full || row.share >= MIN_REPORTED_WAITING);
    let all = rows.len();
    let shown = if options.full { all } else { all.min(options.top.max(1)) };
    let unit = TimeUnit::for_max(rows.first().map_or(0.0, |row| row.blocked_s));
    let (waiting, delay) = (format!("waiting\n[{}]", unit.symbol), format!("transit\n[{}]", unit.symbol));
    let mut out = TextTable::new(&["<why", "<call", "<at", "count", &waiting, &delay, "share"], 2);
    for row in rows.into_iter().take(shown) {
        let place = if row.id.is_some() { clean(&row.place.label()) } else { String::new() };
        out.row(vec![
            row.state.name().to_owned(),
            row.operation.clone(),
            place,
            count(row.times.count),
            unit.number(row.times.waiting_s),
            if row.times.delay_s > 0.0 { unit.number(row.times.delay_s) } else { "–".to_owned() },
            percent(row.share),
        ]);
    }
    format!(
        "{}{}\n",
        title("Where ranks wait", shown, all),
        out.sparing(options.columns, SPARE).render(options.columns, DIM)
    )
}
