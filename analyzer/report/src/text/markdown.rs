//! The report as Markdown: answer, efficiencies, findings, and a picture of the ranks.

use super::first_screen::findings::{large_parts, part_sentence};
use crate::findings::AnswerText;
use crate::rows::table::{TextTable, escape_markup as escape};
use crate::rows::words::{escape_name, format_percent, format_plural, format_seconds, mpi_name};
use crate::{RankRow, Report};

const MAX_LISTED: usize = 3;

/// Maximum number of ranks in the picture. Larger runs show the slowest and the fastest.
const MAX_RANKS: usize = 12;

const COLUMNS: usize = 50;

/// Returns the report as Markdown.
pub fn render_markdown(report: &Report) -> String {
    let facts = &report.facts;
    let command = escape_name(&facts.command.join(" ")).replace('`', "'");
    let mut text = format!(
        "### `{command}`\n\n{} on {} · {} · {}\n\n",
        format_plural(u64::from(facts.n_ranks), "rank"),
        format_plural(report.data.hosts as u64, "host"),
        escape(mpi_name(&facts.mpi)),
        format_seconds(report.data.elapsed_s),
    );
    let answer = AnswerText::new(report);
    text.push_str(&format!("**{}**\n\n", escape(&answer.sentence)));
    for line in &answer.lines {
        text.push_str(&format!("- *{}*: {}\n", line.label, escape(&line.text)));
    }
    text.push_str(&efficiency_table(report));
    for (number, finding) in (1..).zip(large_parts(report).take(MAX_LISTED)) {
        text.push_str(&format!("{number}. {}\n", escape(&part_sentence(report, finding))));
    }
    text + &rank_picture(report)
}

fn efficiency_table(report: &Report) -> String {
    let row = &report.verdict.efficiency;
    let is_known = row.t_ideal_certain;
    let values = [
        ("parallel", row.parallel),
        ("load balance", row.load_balance),
        ("communication", row.communication),
        ("micro load balance", row.micro_load_balance.filter(|_| is_known)),
        ("transfer", row.transfer.filter(|_| is_known)),
    ];
    let known: Vec<(&str, String)> =
        values.into_iter().filter_map(|(name, value)| Some((name, format_percent(value?)))).collect();
    if known.is_empty() {
        return String::new();
    }
    let (names, values): (Vec<&str>, Vec<String>) = known.into_iter().unzip();
    let mut table = TextTable::new(&names, 0);
    table.row(values);
    format!("\n{}\n", table.to_markdown())
}

/// Draws a bar per rank: computation, then the rest.
fn rank_picture(report: &Report) -> String {
    let elapsed_s = report.data.elapsed_s;
    if elapsed_s <= 0.0 || report.ranks.len() < 2 {
        return String::new();
    }
    let mut rows: Vec<&RankRow> = report.ranks.iter().collect();
    let left_out = rows.len().saturating_sub(MAX_RANKS);
    if left_out > 0 {
        rows.sort_by(|a, b| b.computation_s.total_cmp(&a.computation_s).then(a.rank.cmp(&b.rank)));
        rows.drain(MAX_RANKS / 2..MAX_RANKS / 2 + left_out);
    }
    let mut bars = String::new();
    for row in rows {
        let filled = ((row.computation_s / elapsed_s).clamp(0.0, 1.0) * COLUMNS as f64).round() as usize;
        let bar = format!("{}{}", "█".repeat(filled), "░".repeat(COLUMNS - filled));
        bars.push_str(&format!("rank {:<5} {bar} {}\n", row.rank, format_seconds(row.computation_s)));
    }
    let others = if left_out > 0 {
        format!("{} between these are left out\n", format_plural(left_out as u64, "rank"))
    } else {
        String::new()
    };
    format!("\n```text\n{bars}{others}█ computation   ░ waiting and MPI\n```\n")
}
