//! Clusters of ranks, shown if ranks run different code.

use crate::balance::clusters::OwnCodeSegment;
use crate::rows::words::{escape_name, format_count, format_percent, format_plural};
use crate::text::TextOptions;
use crate::text::columns::{ColumnCell, ColumnTable, TextColumn};
use crate::{ClusterRow, ClusterTable, Report};
use lbprof_analysis::read::open::list_ranks;
use lbprof_analysis::structure::code::symbols::CodePlace;

const CLUSTERS: ColumnTable<ClusterRow> = ColumnTable {
    name: "Clusters",
    columns: &[
        TextColumn("cluster", |row| ColumnCell::or_dash((row.id > 0).then_some(row.id), ColumnCell::rank)),
        TextColumn("<ranks", |row| ColumnCell::Text(list_ranks(&row.ranks))),
        TextColumn("number", |row| ColumnCell::Count(row.ranks.len() as u64)),
        TextColumn("~most of its own code", |row| {
            ColumnCell::or_dash(row.own_code.first(), |own| ColumnCell::Text(own_code_name(own)))
        }),
        TextColumn("share of\nits time", |row| {
            ColumnCell::or_dash(row.own_code.first(), |own| ColumnCell::Share(own.share))
        }),
    ],
    spare: &[],
    weight: None,
};

/// The efficiencies of each cluster by itself.
const EFFICIENCIES: ColumnTable<ClusterRow> = ColumnTable {
    name: "Efficiency by cluster",
    columns: &[
        TextColumn("cluster", |row| ColumnCell::rank(row.id)),
        TextColumn("elapsed", |row| ColumnCell::Time(row.efficiency.times.elapsed_s)),
        TextColumn("parallel", |row| ColumnCell::or_dash(row.efficiency.parallel, ColumnCell::Share)),
        TextColumn("load\nbalance", |row| ColumnCell::or_dash(row.efficiency.load_balance, ColumnCell::Share)),
        TextColumn("commu-\nnication", |row| ColumnCell::or_dash(row.efficiency.communication, ColumnCell::Share)),
        TextColumn("micro\nbalance", |row| certain_efficiency(row, row.efficiency.micro_load_balance)),
        TextColumn("transfer", |row| certain_efficiency(row, row.efficiency.transfer)),
        TextColumn("iterations", |row| {
            ColumnCell::of_some(row.iterations.as_ref(), |main| ColumnCell::Count(main.count as u64))
        }),
    ],
    spare: &[],
    weight: None,
};

/// Returns an efficiency, or a dash if the ideal time is uncertain.
fn certain_efficiency(row: &ClusterRow, value: Option<f64>) -> ColumnCell {
    ColumnCell::or_dash(value.filter(|_| row.efficiency.t_ideal_certain), ColumnCell::Share)
}

pub(in crate::text) fn clusters_section(report: &Report, options: &TextOptions) -> String {
    let clusters = &report.clusters;
    if !clusters.differ {
        return String::new();
    }
    let rows = clusters.rows.iter().chain(&clusters.alone);
    let table = CLUSTERS.section(rows, &[&balance_note(report), &method_note(report)], options);
    table + &EFFICIENCIES.section(&clusters.rows, &[], options)
}

fn balance_note(report: &Report) -> String {
    let clusters = &report.clusters;
    let so = match clusters.iterate_together {
        true => "They go through the same iterations: what one code takes longer, the others wait for.",
        false => "Balance over all ranks means little then: they do not share one work.",
    };
    format!("The ranks run different code: {}. {so}", count_clusters(clusters))
}

/// Counts clusters and other ranks, e.g. `2 clusters and 1 rank of none`.
fn count_clusters(clusters: &ClusterTable) -> String {
    let mut who = Vec::new();
    if !clusters.rows.is_empty() {
        who.push(format_plural(clusters.rows.len() as u64, "cluster"));
    }
    if !clusters.alone.is_empty() {
        who.push(format!("{} of none", format_plural(clusters.alone.len() as u64, "rank")));
    }
    who.join(" and ")
}

/// Explains how ranks were clustered.
fn method_note(report: &Report) -> String {
    let clusters = &report.clusters;
    let mut text = String::new();
    if let Some(radius) = clusters.radius {
        text.push_str(&format!(
            "Ranks run different code where each makes at least {} of its calls in functions or regions that the other does not enter as often.",
            format_percent(radius)
        ));
    }
    if !clusters.alone.is_empty() {
        text.push_str(" A rank of no cluster (–) runs code that no other rank runs.");
    }
    if clusters.clustered < clusters.profiles {
        text.push_str(&format!(
            " Ranks have {} different profiles of calls; the {} most frequent were clustered, others joined the nearest.",
            format_count(clusters.profiles as u64),
            format_count(clusters.clustered as u64)
        ));
    }
    text
}

fn own_code_name(code: &OwnCodeSegment) -> String {
    match (&code.region, code.operation.as_deref().unwrap_or_default()) {
        (Some(path), _) => escape_name(path),
        (None, operation) if code.place == CodePlace::default() => operation.to_owned(),
        (None, operation) => format!("{operation} at {}", escape_name(&code.place.label())),
    }
}
