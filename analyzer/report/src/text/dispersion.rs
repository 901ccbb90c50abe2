//! Dispersion of the ranks: which activities and regions they differ in, and who deviates.

use lbprof_collector::Activity;
use lbprof_thresholds::verdict::MIN_DEVIATION_OF_RANK;

use super::{BOLD, DIM, TextOptions, WIDE, title};
use crate::dispersion::GroupRows;
use crate::fold::fold;
use crate::phrases::names::LONGEST_NAME;
use crate::table::TextTable;
use crate::words::{clean, count, or_dash, percent, plural, seconds_like, shorten, wrap};
use crate::{DispersionRows, RegionRow, Report};
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
        "ID: 0 where all ranks take equally long, {bound:.3} where one has all the time. SID: ID × share. Severe (*): the largest SID."
    );
    format!("{text}{DIM}  {}{DIM:#}\n\n", wrap(&legend, options.columns - 2, 2))
}

/// Returns whether ranks differ enough in any activity to be reported.
pub(super) fn differ(report: &Report) -> bool {
    report.activities.iter().any(|row| row.differs)
}

/// Returns whether ranks differ enough in one activity to be reported.
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

/// Describes the activities and regions with most time, those in which ranks differ most, and the ranks that deviate.
fn sentences(report: &Report) -> String {
    let rows = &report.dispersion;
    let several = rows.regions_with_time > 1;
    let mut text = String::new();
    if let Some(row) = report.activities.iter().find(|row| rows.dominant == Some(row.activity)) {
        text.push_str(&format!("Most time goes to {} ({})", row.activity.name(), percent(row.share)));
        let heaviest = rows.heaviest_region.as_deref().filter(|_| several);
        if let Some(row) = heaviest.and_then(|path| report.regions.iter().find(|row| row.path == path)) {
            let name = shorten(&clean(&row.path), LONGEST_NAME);
            text.push_str(&format!("; the heaviest region is {name} ({})", share(row)));
        }
        text.push_str(". ");
    }
    if let Some(activity) = rows.most_dispersed_activity.filter(|_| differ(report)) {
        text.push_str(&format!("Weighted with time, ranks differ most in {}", activity.name()));
        if let Some(path) = rows.most_dispersed_region.as_deref().filter(|_| several) {
            text.push_str(&format!(", most of it in region {}", shorten(&clean(path), LONGEST_NAME)));
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

/// Describes the ranks that divide their time differently from the others.
fn deviating(report: &Report) -> String {
    let rows = &report.dispersion;
    let (mut often, mut long) = (None, None);
    for row in report.ranks.iter().filter(|row| row.deviates) {
        if rows.most_frequently_imbalanced_rank == Some(row.rank) {
            often = Some(row);
        }
        if rows.longest_imbalanced_rank == Some(row.rank) {
            long = Some(row);
        }
    }
    let (Some(first), Some(second)) = (often.or(long), long.or(often)) else { return String::new() };
    if rows.regions_with_time == 1 {
        return format!("Rank {} divides its time most differently from the others.", first.rank);
    }
    let regions = plural(rows.regions_with_time as u64, "region");
    let how_often = format!("in {} of {regions}", count(first.imbalanced_regions.into()));
    let how_long = seconds_like(second.imbalanced_s, rows.elapsed_s);
    match (first.rank, second.rank) {
        (often, long) if often != long => format!(
            "Rank {often} divides its time differently from the others most often, {how_often}; rank {long} for the longest time, {how_long}."
        ),
        (rank, _) => {
            format!("Rank {rank} divides its time most differently from the others, {how_often}, for {how_long}.")
        }
    }
}

/// An index; a dash where there is none.
fn index(value: Option<f64>) -> String {
    or_dash(value, |value| format!("{value:.5}"))
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
            // If only one region performs the activity, there is no other to compare it with.
            let best = row.best_region.as_ref().filter(|_| row.best_region != row.worst_region);
            for path in [row.worst_region.as_ref(), best] {
                cells.push(path.map_or_else(String::new, |path| fold(&clean(path), LONGEST_REGION)));
            }
        }
        table.row(cells);
    }
    table.render(options.columns, DIM)
}

fn region_table(report: &Report, options: &TextOptions, regions: &[&RegionRow]) -> String {
    let mut regions = regions.to_vec();
    regions.sort_by(|a, b| {
        let [sid_a, sid_b] = [a, b].map(|row| row.dispersion.sid_c.unwrap_or(0.0));
        sid_b.total_cmp(&sid_a).then(a.idx.cmp(&b.idx))
    });
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
        let note =
            format!("Regions of one group spend their time alike (k-means, silhouette {:.2}).", groups.silhouette);
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
    let columns = report.activities.iter().filter_map(|row| Some((row.activity, row.sid_a?)));
    let mut columns: Vec<(Activity, f64)> = columns.collect();
    columns.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    columns.truncate(most);
    let mut columns: Vec<Activity> = columns.into_iter().map(|(activity, _)| activity).collect();
    columns.sort();
    let heads: Vec<String> = columns.iter().map(|&activity| format!("ID\n{}", activity.head())).collect();
    let mut all_heads = vec!["<region", "share", "ID_C", "SID_C "];
    all_heads.extend(heads.iter().map(String::as_str));
    all_heads.push("deviating\nrank");
    all_heads.extend(groups.map(|_| "group"));
    let mut table = TextTable::new(&all_heads, 0);
    for row in regions {
        let found = &row.dispersion;
        let mut cells = vec![clean(&row.path), share(row), index(found.id_c), scaled(found.sid_c, found.severe)];
        for &column in &columns {
            let activity = row.activities.iter().find(|activity| activity.activity == column);
            cells.push(index(activity.and_then(|activity| activity.id)));
        }
        let deviating = found.most_imbalanced.filter(|found| found.id_p >= MIN_DEVIATION_OF_RANK);
        cells.push(or_dash(deviating, |found| found.rank.to_string()));
        cells.extend(groups.map(|_| or_dash(found.group, |group| group.to_string())));
        table.row(cells);
    }
    table
}
