//! The table of activities.

use lbprof_collector::StateGroup;
use lbprof_thresholds::wording::{MIN_LISTED_ROW, MIN_SHARE_OF_STATE};

use crate::balance::core_states::CoreStateRow;
use crate::rows::words::{format_percent, or_dash};
use crate::text::columns::{ColumnCell, lay_out_table, mean_line};
use crate::text::{TextOptions, format_title};
use crate::{ActivityRow, Report};

/// Returns the states of computation, unless nearly all of it is useful or unknown.
fn core_states(report: &Report) -> Vec<&CoreStateRow> {
    let states = report.core_states.iter().flat_map(|table| &table.states);
    let listed: Vec<&CoreStateRow> = states.filter(|row| MIN_SHARE_OF_STATE <= row.share).collect();
    let is_split = listed.iter().any(|row| !matches!(row.state.group(), StateGroup::Useful | StateGroup::NotKnown));
    if is_split { listed } else { Vec::new() }
}

pub(in crate::text) fn activities_section(report: &Report, options: &TextOptions) -> String {
    let (listed, others): (Vec<&ActivityRow>, Vec<&ActivityRow>) =
        report.activities.iter().partition(|row| row.share >= MIN_LISTED_ROW);
    let mut lines = Vec::new();
    for row in listed {
        let calls = if row.activity.is_mpi() { row.calls } else { 0 };
        let more = [
            ColumnCell::Time(row.max_s),
            ColumnCell::rank(row.max_rank),
            ColumnCell::nonzero(calls, ColumnCell::Count),
            ColumnCell::nonzero(row.sent, ColumnCell::Bytes),
            ColumnCell::nonzero(row.received, ColumnCell::Bytes),
        ];
        lines.push(mean_line(row.activity.name().to_owned(), row.share, row.mean_s, more));
        for state in core_states(report).into_iter().filter(|_| row.activity.group() == StateGroup::Outside) {
            let longest = [ColumnCell::Time(state.max_s), ColumnCell::rank(state.max_rank)];
            lines.push(mean_line(format!("  {}", state.state.name()), state.share * row.share, state.mean_s, longest));
        }
    }
    let data = &report.data;
    let sums = [
        (
            format!("others ({})", others.len()),
            others.iter().map(|row| row.share).sum(),
            others.iter().map(|row| row.mean_s).sum(),
        ),
        ("idle".to_owned(), data.idle_share, data.idle_mean_s),
        ("not recorded".to_owned(), data.paused_share, data.paused_mean_s),
        ("unknown".to_owned(), data.unknown_share, data.unknown_mean_s),
    ];
    let sums = sums.into_iter().filter(|(_, share, _)| *share >= MIN_LISTED_ROW / 2.0);
    lines.extend(sums.map(|(name, share, mean_s)| mean_line(name, share, mean_s, [])));
    let heads = ["~activity", "share", "mean", "longest", "on\nrank", "calls", "sent", "received"];
    let table = lay_out_table(&heads, &lines, &[&["sent", "received"], &["calls"]], options);
    format!("{}{table}{}\n", format_title("Activities", 0, 0), useful_factors(report))
}

/// Describes the factors of useful computation, if it is split.
fn useful_factors(report: &Report) -> String {
    let Some(table) = report.core_states.as_ref().filter(|_| !core_states(report).is_empty()) else {
        return String::new();
    };
    let [with_core, awake, user_space] =
        [table.with_core, table.awake, table.user_space].map(|factor| or_dash(factor, format_percent));
    format!(
        "Of computation {with_core} has a core; {awake} of that is awake, and of this {user_space} in user space.\n"
    )
}
