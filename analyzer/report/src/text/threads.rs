//! Ranks with threads: the efficiencies, and the table of regions and threads.

use std::fmt::Write;

use super::{BOLD, DIM, TextOptions, title};
use crate::Report;
use crate::table::TextTable;
use crate::threads::ThreadTable;
use crate::words::{TimeUnit, clean, count, percent_or_dash, plural, wrap};

/// The efficiencies of all cores.
pub(super) fn efficiency(report: &Report, options: &TextOptions) -> String {
    let Some(table) = &report.threads else { return String::new() };
    let by_rank = match (table.min_cores, table.max_cores) {
        (min, max) if min == max => format!("{max} per rank"),
        (min, max) => format!("{min} to {max} per rank"),
    };
    let mut text = format!("{BOLD}Cores{BOLD:#}  {DIM}{}, {by_rank}{DIM:#}\n", plural(table.cores, "core"));
    for (name, value, meaning) in lines(table) {
        writeln!(text, "  {name:<22} {:>7}  {DIM}{meaning}{DIM:#}", percent_or_dash(value)).ok();
    }
    if table.other_masters_s > 0.0 {
        let note =
            "Threads other than the one that called MPI_Init start parallel regions, too: their cores count here.";
        writeln!(text, "  {DIM}{}{DIM:#}", wrap(note, options.columns - 2, 2)).ok();
    }
    text + "\n"
}

fn lines(table: &ThreadTable) -> [(&'static str, Option<f64>, &'static str); 9] {
    [
        ("parallel efficiency", table.parallel, "work / time of all cores"),
        ("  MPI", table.mpi, "lost to MPI, and threads that idle meanwhile"),
        ("    load balance", table.load_balance, "lost to ranks that compute longer"),
        ("    communication", table.communication, "lost to MPI on the longest rank"),
        ("  threads", table.threads, "lost to threads that idle outside of MPI"),
        ("    serial", table.serial, "lost to code that only one thread runs"),
        ("    thread balance", table.thread_balance, "lost to threads that work longer"),
        ("    waits", table.waits, "lost to critical sections, locks, ordered sections, tasks"),
        ("    fork and join", table.fork_join, "lost to starting and ending regions"),
    ]
}

/// The table of parallel regions and their threads.
pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let Some(table) = &report.threads else { return String::new() };
    let all = table.regions.len();
    let shown = if options.full { all } else { all.min(options.top.max(1)) };
    let unit = TimeUnit::for_max(table.regions.iter().map(|row| row.thread_time_s()).fold(0.0, f64::max));
    let heads =
        ["<parallel region", "thread", "instances", "useful", "wait", "imba-\nlance", "MPI", "fork\njoin", "longest"];
    let mut rows = TextTable::new(&heads, 0);
    for region in table.regions.iter().take(shown) {
        let waits_s = region.time.mutex_s + region.time.ordered_s + region.time.tasks_s;
        rows.row(vec![
            clean(&region.place.label()),
            "all".to_owned(),
            count(region.instances),
            unit.number(region.time.useful_s),
            unit.number(waits_s),
            unit.number(region.time.imbalance_s),
            unit.number(region.time.mpi_s + region.time.idle_for_mpi_s),
            unit.number(region.time.fork_join_s),
            unit.number(region.longest_s),
        ]);
        let threads = if options.full { region.threads.len() } else { region.threads.len().min(options.top.max(1)) };
        for thread in region.threads.iter().take(threads) {
            rows.row(vec![
                String::new(),
                thread.thread.to_string(),
                String::new(),
                unit.number(thread.useful_s),
                unit.number(thread.waits_s),
                String::new(),
                unit.number(thread.mpi_s),
                String::new(),
                count(thread.longest),
            ]);
        }
    }
    let name = format!("Threads, by parallel region [{}]", unit.symbol);
    let note = "Sums over ranks and instances. wait: for critical sections, locks, ordered sections and tasks, in the rows of threads their own alone; \
                imbalance: at barriers for threads that work longer; longest: the longest work of a thread, and instances in which it is this \
                one's.";
    let table = rows.render(options.columns, DIM);
    format!("{}{table}  {DIM}{}{DIM:#}\n\n", title(&name, shown, all), wrap(note, options.columns - 2, 2))
}
