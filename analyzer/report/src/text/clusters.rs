//! Clusters of ranks: only where ranks run different code.

use super::{DIM, TextOptions, title};
use crate::clusters::{OwnCodeRow, SharedCode};
use crate::table::TextTable;
use crate::words::{TimeUnit, clean, count, or_dash, percent, percent_or_dash, plural, wrap};
use crate::{ClusterRow, ClusterTable, Report};
use lbprof_analysis::read::open::ranges;

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let clusters = &report.clusters;
    if !clusters.differ() {
        return String::new();
    }
    let rows: Vec<&ClusterRow> = clusters.rows.iter().chain(&clusters.alone).collect();
    let all = rows.len();
    let shown = if options.full { all } else { all.min(options.top.max(1)) };
    let mut table = TextTable::new(&["cluster", "<ranks", "number", "<most of its own code", "share of\nits time"], 3);
    for row in rows.into_iter().take(shown) {
        table.row(vec![
            if row.id > 0 { row.id.to_string() } else { "–".to_owned() },
            ranges(&row.ranks),
            count(row.ranks.len() as u64),
            or_dash(row.own_code.first(), name),
            or_dash(row.own_code.first(), |own| percent(own.share)),
        ]);
    }
    let efficiency = efficiency(report, options, shown);
    let notes = wrap(&notes(report), options.columns - 2, 2);
    format!(
        "{}  {}\n{}{DIM}  {notes}{DIM:#}\n\n{efficiency}",
        title("Clusters", shown, all),
        wrap(&sentences(report), options.columns - 2, 2),
        table.render(options.columns, DIM)
    )
}

/// The efficiencies of each cluster, as if there were no others.
fn efficiency(report: &Report, options: &TextOptions, shown: usize) -> String {
    let all = report.clusters.rows.len();
    let shown = all.min(shown);
    let rows = report.clusters.rows.get(..shown).unwrap_or_default();
    if rows.is_empty() {
        return String::new();
    }
    let unit = TimeUnit::for_max(rows.iter().map(|row| row.efficiency.times.elapsed_s).fold(0.0, f64::max));
    let elapsed = format!("elapsed\n[{}]", unit.symbol);
    let has_iterations = rows.iter().any(|row| row.iterations.is_some());
    let mut heads =
        vec!["cluster", &elapsed, "parallel", "load\nbalance", "commu-\nnication", "micro\nbalance", "transfer"];
    heads.extend(has_iterations.then_some("iterations"));
    let mut table = TextTable::new(&heads, 0);
    for row in rows {
        let times = &row.efficiency.times;
        let certain = row.efficiency.t_ideal_certain;
        let mut cells = vec![
            row.id.to_string(),
            unit.number(times.elapsed_s),
            percent_or_dash(times.parallel()),
            percent_or_dash(times.load_balance()),
            percent_or_dash(times.communication()),
            percent_or_dash(times.micro_load_balance().filter(|_| certain)),
            percent_or_dash(times.transfer().filter(|_| certain)),
        ];
        let iterations = or_dash(row.iterations.as_ref(), |(_, n)| count(*n as u64));
        cells.extend(has_iterations.then_some(iterations));
        table.row(cells);
    }
    format!("{}{}\n", title("Efficiency by cluster", shown, all), table.render(options.columns, DIM))
}

/// Notes on the ranks whose balance is meaningful.
fn sentences(report: &Report) -> String {
    let clusters = &report.clusters;
    let so = match clusters.iterate_together {
        true => "They go through the same iterations: what one code takes longer, the others wait for.",
        false => "Balance over all ranks means little then: they do not share one work.",
    };
    format!("The ranks run different code: {}. {so}", who(clusters))
}

/// `2 clusters and 1 rank of none`.
pub(super) fn who(clusters: &ClusterTable) -> String {
    let mut who = Vec::new();
    if !clusters.rows.is_empty() {
        who.push(plural(clusters.rows.len() as u64, "cluster"));
    }
    if !clusters.alone.is_empty() {
        who.push(format!("{} of none", plural(clusters.alone.len() as u64, "rank")));
    }
    who.join(" and ")
}

/// Notes on the method of clustering.
fn notes(report: &Report) -> String {
    let clusters = &report.clusters;
    let mut text = String::new();
    if let Some(radius) = clusters.radius {
        text.push_str(&format!(
            "Ranks run different code where each makes at least {} of its calls in functions or regions that the other does not enter as often.",
            percent(radius)
        ));
    }
    if !clusters.alone.is_empty() {
        text.push_str(" A rank of no cluster (–) runs code that no other rank runs.");
    }
    if clusters.clustered < clusters.profiles {
        text.push_str(&format!(
            " Ranks have {} different profiles of calls; the {} most frequent were clustered, others joined the nearest.",
            count(clusters.profiles as u64),
            count(clusters.clustered as u64)
        ));
    }
    text
}

fn name(row: &OwnCodeRow) -> String {
    match &row.code {
        SharedCode::Region(path) => clean(path),
        SharedCode::Call(operation, Some(place)) => format!("{operation} at {}", clean(&place.label())),
        SharedCode::Call(operation, None) => operation.clone(),
    }
}
