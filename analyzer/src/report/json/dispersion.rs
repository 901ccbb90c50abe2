//! Dispersion of the ranks: what is not in the tables of activities, regions and ranks.

use serde_json::{Value, json};

use crate::metrics::dispersion::Level;
use crate::report::Report;
use crate::report::dispersion::PatternRow;

pub(super) fn object(report: &Report) -> Value {
    let rows = &report.dispersion;
    let number = |rank: Option<usize>| rank.and_then(|at| report.ranks.get(at)).map(|row| row.rank);
    let groups = rows.groups.as_ref().map(|groups| {
        json!({
            "count": groups.n,
            "given": groups.given,
            "silhouette": groups.silhouette,
        })
    });
    json!({
        "elapsed_s": rows.views.elapsed_s,
        "rank_by": rows.ranking.to_string(),
        "dominant_activity": rows.dominant.map(|activity| activity.name()),
        "heaviest_region": rows.heaviest.and_then(|region| path(report, region as usize)),
        "most_frequently_imbalanced_rank": number(rows.views.ranks.most_frequent()),
        "longest_imbalanced_rank": number(rows.views.ranks.longest()),
        "groups": groups,
        "patterns": rows.patterns.iter().map(|row| pattern(report, row)).collect::<Vec<_>>(),
    })
}

/// Path of a region of the model.
pub(super) fn path(report: &Report, region: usize) -> Option<&str> {
    report.regions.iter().find(|row| row.idx as usize == region).map(|row| row.path.as_str())
}

fn pattern(report: &Report, row: &PatternRow) -> Value {
    let letter = |level: &Level| match level {
        Level::Minimum => 'm',
        Level::Lower => 'l',
        Level::Middle => '-',
        Level::Upper => 'u',
        Level::Maximum => 'M',
    };
    json!({
        "activity": row.activity.name(),
        "region": path(report, row.region as usize),
        "min_s": row.least_s,
        "max_s": row.longest_s,
        "ranks": row.levels.iter().map(letter).collect::<String>(),
    })
}
