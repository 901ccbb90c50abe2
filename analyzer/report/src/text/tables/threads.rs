//! Ranks with threads: efficiencies, and a table by region and thread.

use std::fmt::Write;

use crate::Report;
use crate::rows::words::{escape_name, format_plural, percent_or_dash};
use crate::text::columns::{ColumnCell, lay_out_table};
use crate::text::{BOLD, DIM, TextOptions, format_note, format_title};
use crate::threads::{ParallelRegionRow, RegionThreadRow, ThreadTable};

pub(in crate::text) fn core_efficiency_section(report: &Report, options: &TextOptions) -> String {
    let Some(table) = &report.threads else { return String::new() };
    let by_rank = match (table.min_cores, table.max_cores) {
        (min, max) if min == max => format!("{max} per rank"),
        (min, max) => format!("{min} to {max} per rank"),
    };
    let mut text = format!("{BOLD}Cores{BOLD:#}  {DIM}{}, {by_rank}{DIM:#}\n", format_plural(table.cores, "core"));
    for (name, value, meaning) in core_efficiency_lines(table) {
        writeln!(text, "  {name:<22} {:>7}  {DIM}{meaning}{DIM:#}", percent_or_dash(value)).ok();
    }
    if table.other_masters_s > 0.0 {
        let other =
            "Threads other than the one that called MPI_Init start parallel regions, too: their cores count here.";
        text.push_str(&format_note(other, options));
    }
    text + "\n"
}

fn core_efficiency_lines(table: &ThreadTable) -> [(&'static str, Option<f64>, &'static str); 9] {
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

pub(in crate::text) fn threads_section(report: &Report, options: &TextOptions) -> String {
    let Some(table) = &report.threads else { return String::new() };
    let (all, shown) = (table.regions.len(), table.regions.len().min(options.limit()));
    let mut lines = Vec::new();
    for region in table.regions.iter().take(shown) {
        lines.push(region_line(region));
        lines.extend(region.threads.iter().take(options.limit()).map(thread_line));
    }
    let about = "Sums over ranks and instances. wait: for critical sections, locks, ordered sections and tasks, in the rows of threads their own alone; \
                 imbalance: at barriers for threads that work longer; longest: the longest work of a thread, and instances in which it is this \
                 one's.";
    let heads =
        ["~parallel region", "thread", "instances", "useful", "wait", "imba-\nlance", "MPI", "fork\njoin", "longest"];
    let table = lay_out_table(&heads, &lines, &[&["instances"], &["fork"], &["longest"]], options);
    format!("{}{table}{}\n", format_title("Threads, by parallel region", shown, all), format_note(about, options))
}

fn region_line(row: &ParallelRegionRow) -> Vec<ColumnCell> {
    vec![
        ColumnCell::Text(escape_name(&row.place.label())),
        ColumnCell::Text("all".to_owned()),
        ColumnCell::Count(row.instances),
        ColumnCell::Time(row.time.useful_s),
        ColumnCell::Time(row.time.mutex_s + row.time.ordered_s + row.time.tasks_s),
        ColumnCell::Time(row.time.imbalance_s),
        ColumnCell::Time(row.time.mpi_s + row.time.idle_for_mpi_s),
        ColumnCell::Time(row.time.fork_join_s),
        ColumnCell::Time(row.longest_s),
    ]
}

fn thread_line(row: &RegionThreadRow) -> Vec<ColumnCell> {
    let [useful, waits, mpi] = [row.useful_s, row.waits_s, row.mpi_s].map(ColumnCell::Time);
    let (thread, longest) = (ColumnCell::rank(row.thread), ColumnCell::Count(row.longest));
    vec![
        ColumnCell::Empty,
        thread,
        ColumnCell::Empty,
        useful,
        waits,
        ColumnCell::Empty,
        mpi,
        ColumnCell::Empty,
        longest,
    ]
}
