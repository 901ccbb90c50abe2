//! The table of activities.

use lbprof_collector::Activity;

use super::{BOLD, DIM, Options};
use crate::report::Report;
use crate::report::table::Table;
use crate::report::words::{TimeUnit, bytes, count, percent};

pub(super) fn section(report: &Report, options: &Options) -> String {
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
    // Beside selected activities time of no activity is only noise.
    let whole = if report.facts.selected.activities.is_some() { 0.0 } else { report.data.elapsed_s * n };
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
    format!(
        "{BOLD}Activities{BOLD:#}\n{}\n",
        table.sparing(options.columns, &[&["sent", "received"], &["calls"]]).render(options.columns, DIM)
    )
}
