//! Writes the communication between ranks: in the report with all rows alone.

use super::{DIM, TextOptions, title};
use crate::communication::{CommunicationTable, SizeRow};
use crate::table::TextTable;
use crate::words::{TimeUnit, bytes, clean, count, or_dash, percent, plural, seconds_like};
use crate::{Report, SiteRow};

/// Columns of the matrix: of more ranks several are one.
const MOST_COLUMNS: usize = 16;

/// Width of a column of it.
const COLUMN: usize = 10;

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let Some(table) = report.communication.as_ref().filter(|_| options.full) else { return String::new() };
    let mut text = String::new();
    if table.messages > 0 {
        let all = format!("{}, {}", plural(table.messages, "message"), bytes(table.bytes));
        text += &format!("{}  {all}; rows send, columns receive\n", title("Messages", 0, 0).trim_end());
        text += &render(matrix(report, table, options), options);
        if table.hosts.len() > 1 {
            text += &render(hosts(table), options);
        }
        text += &render(sizes("<messages of", "messages", &table.message_sizes), options);
    }
    for operation in table.operations.iter().filter(|one| one.bytes > 0) {
        text += &format!("{}  {}\n", title(&operation.operation, 0, 0).trim_end(), bytes(operation.bytes));
        text += &render(sizes("<calls with", "calls", &operation.sizes), options);
    }
    text += &communicators(table, options);
    text + &durations(report, options)
}

fn render(table: TextTable, options: &TextOptions) -> String {
    table.render(options.columns, DIM) + "\n"
}

/// Bytes by sender and receiver; of many ranks successive ones share a row, and a column.
fn matrix(report: &Report, table: &CommunicationTable, options: &TextOptions) -> TextTable {
    let ranks: Vec<u32> = report.ranks.iter().map(|row| row.rank).collect();
    let columns = (options.columns.saturating_sub(2 * COLUMN) / COLUMN).clamp(2, MOST_COLUMNS);
    let per_bin = ranks.len().div_ceil(columns).max(1);
    let bins: Vec<&[u32]> = ranks.chunks(per_bin).collect();
    let mut sums = vec![vec![0_u64; bins.len()]; bins.len()];
    for pair in &table.pairs {
        if let (Ok(from), Ok(to)) = (ranks.binary_search(&pair.from), ranks.binary_search(&pair.to)) {
            let sum = &mut sums[from / per_bin][to / per_bin];
            *sum = sum.saturating_add(pair.bytes);
        }
    }
    let names = bins.iter().map(|bin| match bin {
        [one] => one.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    });
    let names: Vec<String> = names.collect();
    let mut heads: Vec<&str> = names.iter().map(String::as_str).collect();
    heads.insert(0, "<rank");
    let mut shown = TextTable::new(&heads, 0);
    for (name, row) in names.iter().zip(sums) {
        let cells = row.into_iter().map(|sum| if sum > 0 { bytes(sum) } else { "·".to_owned() });
        shown.row([name.clone()].into_iter().chain(cells).collect());
    }
    shown
}

fn hosts(table: &CommunicationTable) -> TextTable {
    let mut shown = TextTable::new(&["<from host", "<to host", "messages", "bytes"], 0);
    for row in &table.hosts {
        shown.row(vec![clean(&row.from), clean(&row.to), count(row.messages), bytes(row.bytes)]);
    }
    shown
}

fn sizes(head: &str, what: &str, rows: &[SizeRow]) -> TextTable {
    let mut shown = TextTable::new(&[head, what, "bytes"], 0);
    for row in rows {
        let range = match (row.from_bytes, row.to_bytes) {
            (from, to) if from == to => bytes(from),
            (from, to) => format!("{} to {}", bytes(from), bytes(to)),
        };
        shown.row(vec![range, count(row.count), bytes(row.bytes)]);
    }
    shown
}

fn communicators(table: &CommunicationTable, options: &TextOptions) -> String {
    let unit = TimeUnit::for_max(table.communicators.iter().map(|row| row.time_s).fold(0.0, f64::max));
    let (time, waiting) = (format!("time\n[{}]", unit.symbol), format!("waiting\n[{}]", unit.symbol));
    let mut shown =
        TextTable::new(&["<communicator", "ranks", "calls", "share", &time, &waiting, "sent", "received"], 0);
    for row in &table.communicators {
        let name = if row.name.is_empty() { "none, or not known".to_owned() } else { clean(&row.name) };
        shown.row(vec![
            name,
            or_dash(row.ranks, count),
            count(row.calls),
            percent(row.share),
            unit.number(row.time_s),
            unit.number(row.waiting_s),
            bytes(row.sent_bytes),
            bytes(row.received_bytes),
        ]);
    }
    let n = table.communicators.len();
    format!("{}{}", title("Communicators", n, n), render(shown, options))
}

/// The table of the durations of calls, by call site.
fn durations(report: &Report, options: &TextOptions) -> String {
    let heads = [
        "<call",
        "<at",
        "calls",
        "shortest",
        "mean",
        "longest",
        "standard\ndeviation",
        "shortest\non rank",
        "longest\non rank",
    ];
    let mut shown = TextTable::new(&heads, 1);
    let rows: Vec<&SiteRow> = report.call_sites.iter().filter(|row| row.durations.is_some()).collect();
    for row in &rows {
        let Some(of) = row.durations else { continue };
        shown.row(vec![
            row.operation.clone(),
            if row.id.is_some() { clean(&row.place.label()) } else { "?".to_owned() },
            count(of.calls),
            seconds_like(of.min_s, of.mean_s),
            seconds_like(of.mean_s, of.mean_s),
            seconds_like(of.max_s, of.mean_s),
            seconds_like(of.deviation_s, of.mean_s),
            of.min_rank.to_string(),
            of.max_rank.to_string(),
        ]);
    }
    if rows.is_empty() {
        return String::new();
    }
    format!("{}{}", title("How long single calls take", rows.len(), rows.len()), render(shown, options))
}
