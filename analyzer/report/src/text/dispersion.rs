//! Dispersion of the ranks: which activities and regions they differ in, and who deviates.

use lbprof_collector::Activity;

use super::ranks::short_name;
use super::{BOLD, DIM, LONGEST_NAME, TextOptions, WIDE, title};
use crate::dispersion::{GroupRows, MIN_DEVIATION};
use crate::fold::fold;
use crate::table::TextTable;
use crate::words::{clean, count, percent, plural, seconds_like, shorten, wrap};
use crate::{ActivityRow, DispersionRows, RankRow, RegionRow, Report};
use lbprof_analysis::model::RegionIdx;

/// Columns that names of regions are given before activities, beside the least.
const ROOM_FOR_NAMES: usize = 16;

/// Most activities that have a column in the table of regions.
const MOST_COLUMNS: usize = 4;

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    if report.ranks.len() < 2 || !(options.full || differ(report)) {
        return String::new();
    }
    let regions = regions_with_time(report);
    let mut text = format!("{BOLD}Dispersion{BOLD:#}\n  {}\n", wrap(&sentences(report), options.columns - 2, 2));
    text.push_str(&activities(report, options, regions.len() > 1));
    if regions.len() > 1 {
        text.push_str(&region_table(report, options, &regions));
    }
    let bound = report.dispersion.id_max;
    let legend = format!(
        "ID: 0 where all ranks take equally long, {bound:.3} where one has all the time. SID: ID × share. Severe (*): {}.",
        match report.dispersion.ranking {
            lbprof_analysis::metrics::dispersion::SeverityCriterion::Maximum =>
                "the largest SID (--rank-by)".to_owned(),
            ranking => format!("--rank-by {ranking}"),
        }
    );
    format!("{text}{DIM}  {}{DIM:#}\n\n", wrap(&legend, options.columns - 2, 2))
}

/// Returns whether ranks differ by more than is worth mentioning.
pub(super) fn differ(report: &Report) -> bool {
    report.activities.iter().any(|row| row.differs)
}

/// Returns whether ranks differ in an activity by more than that.
pub(super) fn is_different(report: &Report, activity: Activity) -> bool {
    report.activities.iter().any(|row| row.activity == activity && row.differs)
}

/// The regions that have time of their own.
fn regions_with_time(report: &Report) -> Vec<&RegionRow> {
    report.regions.iter().filter(|row| row.dispersion.id_c.is_some()).collect()
}

/// A region's path.
pub(super) fn path(report: &Report, region: RegionIdx) -> String {
    report.regions.iter().find(|row| row.idx == region).map_or_else(String::new, |row| clean(&row.path))
}

/// Returns where most time goes, where ranks differ, and who deviates.
fn sentences(report: &Report) -> String {
    let rows = &report.dispersion;
    let several = rows.regions_with_time > 1;
    let name = |path: &str| shorten(&clean(path), LONGEST_NAME);
    let mut text = String::new();
    if let Some(row) = report.activities.iter().find(|row| rows.dominant == Some(row.activity)) {
        text.push_str(&format!("Most time goes to {} ({})", row.activity.name(), percent(row.share)));
        let heaviest = rows.heaviest_region.as_deref().filter(|_| several);
        if let Some(row) = heaviest.and_then(|path| report.regions.iter().find(|row| row.path == path)) {
            text.push_str(&format!("; the heaviest region is {} ({})", name(&row.path), share(row)));
        }
        text.push_str(". ");
    }
    if let Some(activity) = rows.most_dispersed_activity.filter(|_| differ(report)) {
        text.push_str(&format!("Weighted with time, ranks differ most in {}", activity.name()));
        if let Some(path) = rows.most_dispersed_region.as_deref().filter(|_| several) {
            text.push_str(&format!(", most of it in region {}", name(path)));
        }
        text.push_str(". ");
    }
    text.push_str(&deviating(report));
    text.trim_end().to_owned()
}

/// A region's share of the elapsed time.
fn share(row: &RegionRow) -> String {
    percent(row.dispersion.share_c.unwrap_or(0.0))
}

/// Returns which rank divides its time differently from the others.
fn deviating(report: &Report) -> String {
    let rows = &report.dispersion;
    let notable = |rank: Option<u32>| report.ranks.iter().find(|row| Some(row.rank) == rank && row.deviates);
    let (often, long) = (notable(rows.most_frequently_imbalanced_rank), notable(rows.longest_imbalanced_rank));
    let n_regions = rows.regions_with_time;
    let how_often = |row: &RankRow| {
        format!("in {} of {}", count(row.imbalanced_regions.into()), plural(n_regions as u64, "region"))
    };
    let how_long = |row: &RankRow| seconds_like(row.imbalanced_s, rows.elapsed_s);
    match (often, long) {
        (Some(row), _) | (_, Some(row)) if n_regions == 1 => {
            format!("Rank {} divides its time most differently from the others.", row.rank)
        }
        (Some(often), Some(long)) if often.rank != long.rank => format!(
            "Rank {} divides its time differently from the others most often, {}; rank {} for the longest time, {}.",
            often.rank,
            how_often(often),
            long.rank,
            how_long(long)
        ),
        (Some(row), _) | (_, Some(row)) => format!(
            "Rank {} divides its time most differently from the others, {}, for {}.",
            row.rank,
            how_often(row),
            how_long(row)
        ),
        (None, None) => String::new(),
    }
}

/// An index; a dash where there is none.
fn index(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.5}"))
}

/// A scaled index, marked where it is severe.
fn scaled(value: Option<f64>, severe: bool) -> String {
    index(value) + if severe { "*" } else { " " }
}

fn activities(report: &Report, options: &TextOptions, several: bool) -> String {
    const LONGEST_REGION: usize = 24;
    let with_regions = several && options.columns >= WIDE;
    let mut heads = vec!["<activity", "share", "ID_A", "SID_A "];
    heads.extend(with_regions.then_some(["<most of it in", "<least in"]).into_iter().flatten());
    let mut table = TextTable::new(&heads, if with_regions { 4 } else { 0 });
    // In the order of the table of activities.
    for row in report.activities.iter().filter(|row| row.id_a.is_some()) {
        let mut cells =
            vec![row.activity.name().to_owned(), percent(row.share), index(row.id_a), scaled(row.sid_a, row.severe)];
        if with_regions {
            let name = |path: &Option<String>| {
                path.as_deref().map_or_else(String::new, |path| fold(&clean(path), LONGEST_REGION))
            };
            cells.push(name(&row.worst_region));
            // Where one region alone performs it there is no other to compare.
            cells.push(if row.best_region == row.worst_region { String::new() } else { name(&row.best_region) });
        }
        table.row(cells);
    }
    table.render(options.columns, DIM)
}

fn region_table(report: &Report, options: &TextOptions, regions: &[&RegionRow]) -> String {
    let mut regions = regions.to_vec();
    let sid = |row: &RegionRow| row.dispersion.sid_c.unwrap_or(0.0);
    regions.sort_by(|a, b| sid(b).total_cmp(&sid(a)).then(a.idx.cmp(&b.idx)));
    let all = regions.len();
    let shown = if options.full { all } else { all.min(options.top.max(1)) };
    regions.truncate(shown);
    let table = (0..=MOST_COLUMNS)
        .rev()
        .map(|most| region_columns(report, &regions, most))
        .find(|table| table.least_width() + ROOM_FOR_NAMES <= options.columns)
        .unwrap_or_else(|| region_columns(report, &regions, 0));
    let mut text = format!(
        "\n{}{}",
        title("Dispersion by region", shown, all),
        table.sparing(options.columns, &[&["deviating"], &["ID_C"]]).render(options.columns, DIM)
    );
    if let Some(groups) = shown_groups(&report.dispersion) {
        let note = format!(
            "Regions of one group spend their time alike (k-means, silhouette {:.2}; --groups K sets how many).",
            groups.silhouette
        );
        text.push_str(&format!("{DIM}  {}{DIM:#}\n", wrap(&note, options.columns - 2, 2)));
    }
    text
}

fn shown_groups(rows: &DispersionRows) -> Option<&GroupRows> {
    rows.groups.as_ref().filter(|groups| groups.worth_showing())
}

/// The table of regions with the indices of at most so many activities.
fn region_columns(report: &Report, regions: &[&RegionRow], most: usize) -> TextTable {
    let groups = shown_groups(&report.dispersion);
    let mut columns: Vec<&ActivityRow> = report.activities.iter().filter(|row| row.sid_a.is_some()).collect();
    let sid = |row: &ActivityRow| row.sid_a.unwrap_or(0.0);
    columns.sort_by(|a, b| sid(b).total_cmp(&sid(a)).then(a.activity.cmp(&b.activity)));
    columns.truncate(most);
    columns.sort_by_key(|row| row.activity);
    let heads: Vec<String> = columns.iter().map(|row| format!("ID\n{}", short_name(row.activity))).collect();
    let mut all_heads = vec!["<region", "share", "ID_C", "SID_C "];
    all_heads.extend(heads.iter().map(String::as_str));
    all_heads.push("deviating\nrank");
    all_heads.extend(groups.map(|_| "group"));
    let mut table = TextTable::new(&all_heads, 0);
    let dash = || "–".to_owned();
    for row in regions {
        let found = &row.dispersion;
        let mut cells = vec![clean(&row.path), share(row), index(found.id_c), scaled(found.sid_c, found.severe)];
        let id = |activity| row.activities.iter().find(|one| one.activity == activity).and_then(|one| one.id);
        cells.extend(columns.iter().map(|column| index(id(column.activity))));
        let deviating = found.most_imbalanced.filter(|found| found.id_p >= MIN_DEVIATION);
        cells.push(deviating.map_or_else(dash, |found| found.rank.to_string()));
        cells.extend(groups.map(|_| found.group.map_or_else(dash, |group| group.to_string())));
        table.row(cells);
    }
    table
}
