//! Dispersion of the ranks: which activities and regions they differ in, and who deviates.

use lbprof_collector::Activity;

use super::ranks::short_name;
use super::{BOLD, DIM, LONGEST_NAME, Options, WIDE, title};
use crate::metrics::dispersion::Index;
use crate::model::RegionIdx;
use crate::report::table::Table;
use crate::report::words::{clean, count, percent, plural, seconds_like, shorten, wrap};
use crate::report::{DispersionRows, Report};

/// Share of the elapsed time by which ranks must differ for the tables to be worth reading.
const LEAST_SPREAD: f64 = 0.02;

/// ID_P from which on it is worth naming a rank: that part of its time it divides differently.
const LEAST_DEVIATION: f64 = 0.05;

/// Columns that names of regions are given before activities, beside the least.
const ROOM_FOR_NAMES: usize = 16;

/// Most activities that have a column in the table of regions.
const MOST_COLUMNS: usize = 4;

pub(super) fn section(report: &Report, options: &Options) -> String {
    if report.ranks.len() < 2 || !(options.full || differ(report)) {
        return String::new();
    }
    let regions = regions_with_time(report);
    let mut text = format!("{BOLD}Dispersion{BOLD:#}\n  {}\n", wrap(&sentences(report), options.columns - 2, 2));
    text.push_str(&activities(report, options, regions.len() > 1));
    if regions.len() > 1 {
        text.push_str(&region_table(report, options, &regions));
    }
    let bound = (1.0 - 1.0 / report.ranks.len() as f64).sqrt();
    let legend = format!(
        "ID: 0 where all ranks take equally long, {bound:.3} where one has all the time. SID: ID × share. Severe (*): {}.",
        match report.dispersion.ranking {
            crate::metrics::dispersion::Ranking::Maximum => "the largest SID (--rank-by)".to_owned(),
            ranking => format!("--rank-by {ranking}"),
        }
    );
    format!("{text}{DIM}  {}{DIM:#}\n\n", wrap(&legend, options.columns - 2, 2))
}

/// Whether ranks differ by more than is worth mentioning.
pub(super) fn differ(report: &Report) -> bool {
    Activity::ALL.into_iter().any(|activity| differs(report, activity))
}

/// Whether ranks differ in an activity: their standard deviation (that is SID · √P, all regions together), or what the longest
/// takes above the mean, is a part of the elapsed time that matters.
pub(super) fn differs(report: &Report, activity: Activity) -> bool {
    let sid = report.dispersion.views.activities[activity as usize].and_then(|index| index.sid);
    let deviation = sid.map(|sid| sid * (report.ranks.len() as f64).sqrt());
    let row = report.activities.iter().find(|row| row.activity == activity).filter(|_| sid.is_some());
    let above_mean_s = row.map_or(0.0, |row| row.max_s - row.mean_s);
    deviation.is_some_and(|deviation| deviation >= LEAST_SPREAD) || above_mean_s > LEAST_SPREAD * report.data.elapsed_s
}

/// The activity in which ranks differ most, by weight in time: computation where it is as good as any other, for it is the
/// cause of what others wait.
pub(super) fn most_dispersed(report: &Report) -> Option<Activity> {
    const AS_GOOD: f64 = 0.98;
    let sid = |activity: Activity| report.dispersion.views.activities[activity as usize]?.sid;
    let known = Activity::ALL.into_iter().filter_map(|activity| Some((activity, sid(activity)?)));
    known.reduce(|most, next| if AS_GOOD * next.1 > most.1 { next } else { most }).map(|(activity, _)| activity)
}

/// The regions that have time of their own.
fn regions_with_time(report: &Report) -> Vec<(RegionIdx, Index)> {
    let regions = (0..).zip(&report.dispersion.views.regions);
    regions.filter_map(|(region, index)| Some((region, (*index)?))).collect()
}

/// A region's path.
pub(super) fn path(report: &Report, region: RegionIdx) -> String {
    report.regions.iter().find(|row| row.idx == region).map_or_else(String::new, |row| clean(&row.path))
}

/// Where most time goes, where ranks differ, and who deviates.
fn sentences(report: &Report) -> String {
    let rows = &report.dispersion;
    let several = regions_with_time(report).len() > 1;
    let share = |time_s: f64| percent(if rows.views.elapsed_s > 0.0 { time_s / rows.views.elapsed_s } else { 0.0 });
    let name = |region: RegionIdx| shorten(&path(report, region), LONGEST_NAME);
    let mut text = String::new();
    if let Some(index) = rows.dominant.and_then(|activity| rows.views.activities[activity as usize]) {
        let activity = rows.dominant.map_or("", Activity::name);
        text.push_str(&format!("Most time goes to {activity} ({})", share(index.time_s)));
        let heaviest = rows.heaviest.filter(|_| several);
        if let Some((region, index)) = heaviest.and_then(|region| Some((region, rows.views.regions[region as usize]?)))
        {
            text.push_str(&format!("; the heaviest region is {} ({})", name(region), share(index.time_s)));
        }
        text.push_str(". ");
    }
    if let Some(activity) = most_dispersed(report).filter(|_| differ(report)) {
        text.push_str(&format!("Weighted with time, ranks differ most in {}", activity.name()));
        if let Some(region) = most_of(report, activity).filter(|_| several) {
            text.push_str(&format!(", most of it in region {}", name(region)));
        }
        text.push_str(". ");
    }
    text.push_str(&deviating(report));
    text.trim_end().to_owned()
}

/// The region that adds most to the dispersion of an activity.
fn most_of(report: &Report, activity: Activity) -> Option<RegionIdx> {
    let cells = (0..).zip(&report.dispersion.views.rows).filter_map(|(region, row)| {
        let cell = row[activity as usize]?;
        Some((region, cell.mean_s * cell.id))
    });
    cells.reduce(|most, next| if next.1 > most.1 { next } else { most }).map(|(region, _)| region)
}

/// Which rank divides its time differently from the others.
fn deviating(report: &Report) -> String {
    let rows = &report.dispersion;
    let notable = |rank: &usize| {
        rows.most_imbalanced_in(*rank).is_some_and(|(_, found)| {
            found.id >= LEAST_DEVIATION && found.time_s >= LEAST_SPREAD * rows.views.elapsed_s
        })
    };
    let view = &rows.views.ranks;
    let (often, long) = (view.most_frequent().filter(notable), view.longest().filter(notable));
    let number = |rank: usize| report.ranks.get(rank).map_or_else(String::new, |row| row.rank.to_string());
    let n_regions = regions_with_time(report).len();
    let how_often =
        |rank: usize| format!("in {} of {}", count(view.regions[rank].into()), plural(n_regions as u64, "region"));
    let how_long = |rank: usize| seconds_like(view.seconds[rank], rows.views.elapsed_s);
    match (often, long) {
        (Some(rank), _) | (_, Some(rank)) if n_regions == 1 => {
            format!("Rank {} divides its time most differently from the others.", number(rank))
        }
        (Some(often), Some(long)) if often != long => format!(
            "Rank {} divides its time differently from the others most often, {}; rank {} for the longest time, {}.",
            number(often),
            how_often(often),
            number(long),
            how_long(long)
        ),
        (Some(rank), _) | (_, Some(rank)) => format!(
            "Rank {} divides its time most differently from the others, {}, for {}.",
            number(rank),
            how_often(rank),
            how_long(rank)
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

fn activities(report: &Report, options: &Options, several: bool) -> String {
    const LONGEST_REGION: usize = 34;
    let rows = &report.dispersion;
    let with_regions = several && options.columns >= WIDE;
    let mut heads = vec!["<activity", "share", "ID_A", "SID_A "];
    heads.extend(with_regions.then_some(["<most of it in", "<least in"]).into_iter().flatten());
    let mut table = Table::new(&heads, if with_regions { 4 } else { 0 });
    // In the order of the table of activities.
    for row in &report.activities {
        let at = row.activity as usize;
        let Some(found) = rows.views.activities[at] else { continue };
        let share = if rows.views.elapsed_s > 0.0 { found.time_s / rows.views.elapsed_s } else { 0.0 };
        let mut cells = vec![
            row.activity.name().to_owned(),
            percent(share),
            index(Some(found.id)),
            scaled(found.sid, rows.severe_activities[at]),
        ];
        if with_regions {
            let name = |region: usize| shorten(&path(report, region as RegionIdx), LONGEST_REGION);
            let extremes = rows.extremes[at];
            cells.push(extremes.map_or_else(String::new, |found| name(found.worst)));
            // Where one region alone performs it there is no other to compare.
            let other = extremes.filter(|found| found.best != found.worst);
            cells.push(other.map_or_else(String::new, |found| name(found.best)));
        }
        table.row(cells);
    }
    table.render(options.columns, DIM)
}

fn region_table(report: &Report, options: &Options, regions: &[(RegionIdx, Index)]) -> String {
    let mut regions = regions.to_vec();
    let sid = |index: &Index| index.sid.unwrap_or(0.0);
    regions.sort_by(|a, b| sid(&b.1).total_cmp(&sid(&a.1)).then(a.0.cmp(&b.0)));
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

fn shown_groups(rows: &DispersionRows) -> Option<&super::super::dispersion::GroupRows> {
    rows.groups.as_ref().filter(|groups| groups.worth_showing())
}

/// The table of regions with the indices of at most so many activities.
fn region_columns(report: &Report, regions: &[(RegionIdx, Index)], most: usize) -> Table {
    let rows = &report.dispersion;
    let groups = shown_groups(rows);
    let sid = |activity: Activity| rows.views.activities[activity as usize].and_then(|index| index.sid);
    let mut columns: Vec<Activity> = Activity::ALL.into_iter().filter(|&activity| sid(activity).is_some()).collect();
    columns.sort_by(|&a, &b| sid(b).unwrap_or(0.0).total_cmp(&sid(a).unwrap_or(0.0)));
    columns.truncate(most);
    columns.sort();
    let heads: Vec<String> = columns.iter().map(|&activity| format!("ID\n{}", short_name(activity))).collect();
    let mut all_heads = vec!["<region", "share", "ID_C", "SID_C "];
    all_heads.extend(heads.iter().map(String::as_str));
    all_heads.push("deviating\nrank");
    all_heads.extend(groups.map(|_| "group"));
    let mut table = Table::new(&all_heads, 0);
    for (region, found) in regions {
        let at = *region as usize;
        let share = if rows.views.elapsed_s > 0.0 { found.time_s / rows.views.elapsed_s } else { 0.0 };
        let severe = rows.severe_regions.get(at).copied().unwrap_or(false);
        let mut cells = vec![path(report, *region), percent(share), index(Some(found.id)), scaled(found.sid, severe)];
        let row = rows.views.rows.get(at).copied().unwrap_or_default();
        cells.extend(columns.iter().map(|&activity| index(row[activity as usize].map(|cell| cell.id))));
        let deviating =
            rows.views.most_imbalanced.get(at).copied().flatten().filter(|found| found.id >= LEAST_DEVIATION);
        let rank = deviating.and_then(|found| report.ranks.get(found.rank));
        cells.push(rank.map_or_else(|| "–".to_owned(), |row| row.rank.to_string()));
        cells.extend(groups.map(|groups| {
            groups.of.get(at).copied().flatten().map_or_else(|| "–".to_owned(), |group| group.to_string())
        }));
        table.row(cells);
    }
    table
}
