//! Tables of waiting: why, where, and its causes.

use std::fmt::Write;

use crate::Report;
use crate::rows::words::{
    escape_name, format_percent, format_plural, format_seconds, seconds_like, short_path, what_was_done, wrap_text,
};
use crate::text::columns::{ColumnCell, ColumnTable, TextColumn, lay_out_table};
use crate::text::{BOLD, DIM, TextOptions, format_note};
use crate::waiting::blocking::{BlockingTable, CauseRow, WaitRow};
use lbprof_analysis::metrics::blocking::CauseClass;
use lbprof_thresholds::wording::{MAX_TIME_OF_NO_WAITING, MIN_REPORTED_WAITING};

const MOST_PAIRS: usize = 3;

/// Columns that are dropped from short lines.
const SPARE: &[&[&str]] = &[&["count"], &["own"], &["transit"]];

const CAUSES: ColumnTable<CauseRow> = ColumnTable {
    name: "Causes of waiting",
    columns: &[
        TextColumn("~what a rank does", |row| {
            let what = what_was_done(row.state, row.cause.class == CauseClass::MessageDelay);
            ColumnCell::Text(format!("{what} in {}", escape_name(short_path(&row.region))))
        }),
        TextColumn("rank", |row| ColumnCell::rank(row.cause.rank)),
        TextColumn("+caused", |row| ColumnCell::Time(row.cause.caused_s)),
        TextColumn("+share", |row| ColumnCell::Share(row.share)),
        TextColumn("own", |row| ColumnCell::or_dash(row.cause.own_s.filter(|_| row.beta.is_some()), ColumnCell::Time)),
        TextColumn("for each\nsecond", |row| ColumnCell::or_dash(row.beta, ColumnCell::Ratio)),
    ],
    spare: SPARE,
    weight: Some(|row| row.share),
};

const PLACES: ColumnTable<WaitRow> = ColumnTable {
    name: "Where ranks wait",
    columns: &[
        TextColumn("<why", |row| ColumnCell::Text(row.state.name().to_owned())),
        TextColumn("<call", |row| ColumnCell::Text(row.operation.clone())),
        TextColumn("~at", |row| {
            ColumnCell::Text(if row.id.is_some() { escape_name(&row.place.label()) } else { String::new() })
        }),
        TextColumn("+count", |row| ColumnCell::Count(row.times.count)),
        TextColumn("+waiting", |row| ColumnCell::Time(row.times.waiting_s)),
        TextColumn("+transit", |row| {
            ColumnCell::of_some(Some(row.times.delay_s).filter(|delay_s| *delay_s > 0.0), ColumnCell::Time)
        }),
        TextColumn("+share", |row| ColumnCell::Share(row.share)),
    ],
    spare: SPARE,
    weight: Some(|row| row.share),
};

/// Shows the tables for a selected region. For the whole run the call tree shows where ranks wait.
pub(in crate::text) fn section_of_region(report: &Report, options: &TextOptions) -> String {
    if report.facts.selected.region.is_some() { waiting_section(report, options) } else { String::new() }
}

pub(in crate::text) fn waiting_section(report: &Report, options: &TextOptions) -> String {
    let Some(table) = &report.blocking else { return not_known(report) };
    let (whole, total) = (table.ranks_time_s, table.sums.total_s);
    if whole <= 0.0 || report.ranks.len() < 2 {
        return String::new();
    }
    let mut text = format!(
        "{BOLD}Waiting{BOLD:#}  {DIM}{} of the ranks' {} ({}), by what it is caused by{DIM:#}\n",
        seconds_like(total, whole),
        format_seconds(whole),
        format_percent(table.share)
    );
    if let Some(line) = by_region(table) {
        writeln!(text, "  {}", wrap_text(&line, options.columns - 2, 2)).ok();
    }
    let has_tables = table.share > MAX_TIME_OF_NO_WAITING;
    if has_tables {
        text += &class_table(table, options);
    }
    let pairs = pair_sentence(table).filter(|_| has_tables);
    text.extend([pairs, matching_sentence(table)].into_iter().flatten().map(|line| format_note(&line, options)));
    text.push('\n');
    if has_tables {
        text += &CAUSES.section(&table.causes, &[], options);
        text += &PLACES.section(&table.waiting_calls(), &[], options);
    }
    text
}

/// Reports that recorded sums do not show waiting.
fn not_known(report: &Report) -> String {
    let facts = &report.facts;
    let are_sums = report.overheads.alone.is_none() && facts.common_clock && facts.selected.region.is_none();
    if !are_sums || report.ranks.len() < 2 {
        return String::new();
    }
    format!(
        "{BOLD}Waiting{BOLD:#}  {DIM}not known: calls were recorded as sums (LBPROF_MODE=profile, or LBPROF_LIMIT was reached){DIM:#}\n\n"
    )
}

/// Renders a row per class of causes.
fn class_table(table: &BlockingTable, options: &TextOptions) -> String {
    let (class, share) = (&table.sums.by_class, table.sums.by_class_share());
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
    let rows = rows.into_iter().filter(|(name, _, share)| *share >= MIN_REPORTED_WAITING || *name == rows[0].0);
    let lines = rows.map(|(name, caused_s, share)| {
        vec![ColumnCell::Text(name.to_owned()), ColumnCell::Time(caused_s), ColumnCell::Share(share)]
    });
    lay_out_table(&["~cause", "caused", "share"], &lines.collect::<Vec<_>>(), &[], options)
}

fn by_region(table: &BlockingTable) -> Option<String> {
    let by = table.by_region.filter(|by| by.share >= MIN_REPORTED_WAITING)?;
    let most = by
        .most_by
        .map_or_else(String::new, |most| format!("; {} of it by rank {}", format_percent(most.share), most.rank));
    Some(format!(
        "What ranks do here makes others wait {}, {} of all waiting{most}",
        format_seconds(by.caused_s),
        format_percent(by.share)
    ))
}

/// Names the pairs of ranks with the longest waits.
fn pair_sentence(table: &BlockingTable) -> Option<String> {
    let total = table.sums.total_s;
    let most = table.most_by?;
    let caused = seconds_like(most.caused_s, total);
    let mut text = format!("rank {} causes most: {caused} ({})", most.rank, format_percent(most.share));
    let pairs = table.sums.pairs.iter().filter(|pair| pair.0 != pair.1).take(MOST_PAIRS);
    let pairs: Vec<String> = pairs
        .map(|&(waits, causes, time)| format!("{} for {}: {}", waits, causes, seconds_like(time, total)))
        .collect();
    if !pairs.is_empty() {
        write!(text, "; longest, rank {}", pairs.join(", ")).ok();
    }
    Some(text)
}

/// Lists the calls that could not be matched, and corrected times.
fn matching_sentence(table: &BlockingTable) -> Option<String> {
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
    let parts: Vec<String> = occurring.map(|(n, noun, fault)| format!("{} {fault}", format_plural(n, noun))).collect();
    let mut text = String::new();
    if !parts.is_empty() {
        write!(text, "not matched, so that waiting for it is not known: {}", parts.join(", ")).ok();
    }
    if counts.violations > 0 {
        let more = if text.is_empty() { "" } else { "; " };
        let largest = format_seconds(counts.largest_violation as f64 * 1e-9);
        let calls = format_plural(counts.violations, "call");
        write!(text, "{more}{calls} ended before what it waited for, by the clocks: moved by {largest} at most").ok();
    }
    (!text.is_empty()).then_some(text)
}
