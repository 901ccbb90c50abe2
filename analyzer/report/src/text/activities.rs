//! The table of activities.

use lbprof_collector::StateGroup;
use lbprof_thresholds::wording::MIN_SHARE_OF_STATE;

use super::{BOLD, DIM, TextOptions};
use crate::Report;
use crate::core_states::CoreStateRow;
use crate::table::TextTable;
use crate::words::{TimeUnit, bytes, count, or_dash, percent};

/// The states of computation, if it is not nearly all useful or not known.
fn core_states(report: &Report) -> Vec<&CoreStateRow> {
    let states = report.core_states.iter().flat_map(|table| &table.states);
    let listed: Vec<&CoreStateRow> = states.filter(|row| MIN_SHARE_OF_STATE <= row.share).collect();
    let is_split = listed.iter().any(|row| !matches!(row.state.group(), StateGroup::Useful | StateGroup::NotKnown));
    if is_split { listed } else { Vec::new() }
}

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let computation = report.activities.iter().find(|row| row.activity.group() == StateGroup::Outside);
    let computation_share = computation.map_or(0.0, |row| row.share);
    let longest = report.activities.iter().map(|row| row.max_s).fold(0.0, f64::max);
    let unit = TimeUnit::for_max(longest);
    let (mean, max) = (format!("mean\n[{}]", unit.symbol), format!("longest\n[{}]", unit.symbol));
    let mut table = TextTable::new(&["<activity", "share", &mean, &max, "on\nrank", "calls", "sent", "received"], 0);
    // What took no time and moved nothing, as the call of MPI_Finalize, is only noise here.
    for row in report.activities.iter().filter(|row| row.time_s > 0.0 || row.sent.saturating_add(row.received) > 0) {
        let is_mpi = row.activity.is_mpi();
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
        if row.activity.group() == StateGroup::Outside {
            for row in core_states(report) {
                let mut cells = vec![
                    format!("  {}", row.state.name()),
                    percent(row.share * computation_share),
                    unit.number(row.mean_s),
                    unit.number(row.max_s),
                    row.max_rank.to_string(),
                ];
                cells.resize(8, String::new());
                table.row(cells);
            }
        }
    }
    let data = &report.data;
    let others = [
        ("idle", data.idle_share, data.idle_mean_s),
        ("not recorded", data.paused_share, data.paused_mean_s),
        ("unknown", data.unknown_share, data.unknown_mean_s),
    ];
    for (name, share, mean_s) in others {
        if share >= 0.0005 {
            let mut cells = vec![name.to_owned(), percent(share), unit.number(mean_s)];
            cells.resize(8, String::new());
            table.row(cells);
        }
    }
    format!(
        "{BOLD}Activities{BOLD:#}\n{}{}\n",
        table.sparing(options.columns, &[&["sent", "received"], &["calls"]]).render(options.columns, DIM),
        factors(report)
    )
}

/// The factors of useful computation, where computation is split: `Of computation 98 % has a core, 90 % of that is awake, 97 % of that in user space.`
fn factors(report: &Report) -> String {
    let Some(table) = report.core_states.as_ref().filter(|_| !core_states(report).is_empty()) else {
        return String::new();
    };
    let [with_core, awake, user_space] =
        [table.with_core, table.awake, table.user_space].map(|factor| or_dash(factor, percent));
    format!(
        "Of computation {with_core} has a core; {awake} of that is awake, and of this {user_space} in user space.\n"
    )
}
