//! Patterns: the times of the ranks in an activity, a line a region, as characters that also have colours.

use anstyle::{AnsiColor, Style};
use lbprof_collector::Activity;
use lbprof_thresholds::wording::{MIN_RANGE_OF_PATTERN, MIN_TIME_OF_PATTERN};

use super::dispersion::{differ, is_different, path};
use super::{BOLD, DIM, TextOptions};
use crate::Report;
use crate::dispersion::PatternRow;
use crate::fold::fold;
use crate::words::{TimeUnit, plural, width};
use lbprof_analysis::metrics::dispersion::TimeLevel;

/// Most columns that a region's name takes.
const LONGEST_NAME: usize = 36;

/// Characters of a pattern that there is always room for.
const LEAST_ROOM: usize = 8;

/// Columns before and between the name, the pattern and the range.
const GAPS: usize = 6;

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    if report.ranks.len() < 3 || !(options.full || differ(report)) {
        return String::new();
    }
    // Computation is the cause; what ranks wait for it is its mirror image.
    let wanted = match is_different(report, Activity::Computation) {
        true => Some(Activity::Computation),
        false => report.dispersion.most_dispersed_activity,
    };
    let activities = Activity::ALL.into_iter().filter(|&activity| options.full || Some(activity) == wanted);
    activities.map(|activity| pattern(report, options, activity)).collect()
}

fn pattern(report: &Report, options: &TextOptions, activity: Activity) -> String {
    let mut rows: Vec<&PatternRow> = report.dispersion.patterns.iter().collect();
    rows.retain(|row| row.activity == activity);
    if !options.full {
        rows.retain(|row| row.longest_s >= MIN_TIME_OF_PATTERN * report.data.elapsed_s);
        rows.retain(|row| row.longest_s - row.least_s >= MIN_RANGE_OF_PATTERN * row.longest_s);
    }
    let shown = if options.full { rows.len() } else { rows.len().min(options.top.max(1)) };
    // One line says what the table of ranks says, where that has them all.
    let is_new = rows.len() > 1 || report.ranks.len() > options.top;
    if rows.is_empty() || !is_new {
        return String::new();
    }
    let unit = TimeUnit::for_max(rows.iter().map(|row| row.longest_s).fold(0.0, f64::max));
    let ranges: Vec<String> =
        rows.iter().map(|row| format!("{} to {}", unit.number(row.least_s), unit.number(row.longest_s))).collect();
    let range_columns = widest(&ranges[..shown]);
    // Names give way to a few characters of each pattern.
    let longest_name = options.columns.saturating_sub(range_columns + GAPS + LEAST_ROOM).min(LONGEST_NAME);
    let names: Vec<String> = rows.iter().map(|row| fold(&path(report, row.region), longest_name)).collect();
    let name_columns = widest(&names[..shown]);
    let room = options.columns.saturating_sub(name_columns + range_columns + GAPS).max(LEAST_ROOM);
    let a_cell = report.ranks.len().div_ceil(room).max(1);
    let mut text = head(report, activity, unit, a_cell, options);
    for ((row, name), range) in rows.iter().zip(&names).zip(&ranges).take(shown) {
        let cells = painted(&compressed(&row.levels, a_cell));
        let (name, others) = name.split_once('\n').unwrap_or((name, ""));
        let after_name = " ".repeat(name_columns.saturating_sub(width(name)));
        let before_range = " ".repeat(range_columns.saturating_sub(width(range)));
        text.push_str(&format!("  {name}{after_name}  {cells}  {before_range}{range}\n"));
        for line in others.lines() {
            text.push_str(&format!("  {line}\n"));
        }
    }
    text + "\n"
}

fn head(report: &Report, activity: Activity, unit: TimeUnit, a_cell: usize, options: &TextOptions) -> String {
    const LEVELS: [(TimeLevel, &str); 5] = [
        (TimeLevel::Minimum, "min"),
        (TimeLevel::Lower, "lower 15 %"),
        (TimeLevel::Middle, "between"),
        (TimeLevel::Upper, "upper 15 %"),
        (TimeLevel::Maximum, "max"),
    ];
    let legend: Vec<String> = LEVELS.iter().map(|(level, name)| format!("{} {name}", painted(&[*level]))).collect();
    let cell = match a_cell {
        1 => "a character a rank".to_owned(),
        n => format!("a character {}", plural(n as u64, "rank")),
    };
    let title = format!("Pattern of {} [{}]", activity.name(), unit.symbol);
    let first = match (report.ranks.first(), report.ranks.last()) {
        (Some(first), Some(last)) => format!("ranks {} to {}, {cell}", first.rank, last.rank),
        _ => String::new(),
    };
    // The legend has colours, so its parts are put on lines by hand.
    // Where there is no room for both, what the characters are stands on a line of its own.
    let gap = if width(&title) + 1 + width(&first) > options.columns { "\n  " } else { " " };
    let mut lines = format!("{BOLD}{title}{BOLD:#}{gap}{DIM}{first}{DIM:#}\n");
    let plain_width: usize = LEVELS.iter().map(|(_, name)| width(name) + 4).sum();
    let at = if plain_width + 2 <= options.columns { legend.len() } else { 3 };
    for part in legend.chunks(at) {
        lines.push_str(&format!("  {}\n", part.join("  ")));
    }
    lines
}

/// The columns of the widest line of some texts.
fn widest(texts: &[String]) -> usize {
    texts.iter().flat_map(|text| text.lines()).map(width).max().unwrap_or(0)
}

/// Returns a level for each `a_cell` ranks: the maximum or minimum of all ranks if it is among them, else the most frequent level.
fn compressed(levels: &[TimeLevel], a_cell: usize) -> Vec<TimeLevel> {
    let mut cells = Vec::new();
    for chunk in levels.chunks(a_cell.max(1)) {
        let extreme = [TimeLevel::Maximum, TimeLevel::Minimum].into_iter().find(|extreme| chunk.contains(extreme));
        let others = [TimeLevel::Lower, TimeLevel::Middle, TimeLevel::Upper];
        let most = others.into_iter().max_by_key(|other| chunk.iter().filter(|level| *level == other).count());
        cells.push(extreme.or(most).unwrap_or(TimeLevel::Middle));
    }
    cells
}

fn look(level: TimeLevel) -> (char, Style) {
    match level {
        TimeLevel::Minimum => ('_', AnsiColor::Blue.on_default().bold()),
        TimeLevel::Lower => ('-', AnsiColor::Cyan.on_default()),
        TimeLevel::Middle => ('·', Style::new().dimmed()),
        TimeLevel::Upper => ('+', AnsiColor::Yellow.on_default()),
        TimeLevel::Maximum => ('#', AnsiColor::Red.on_default().bold()),
    }
}

/// Levels as characters; a run of equal ones shares its colour.
fn painted(levels: &[TimeLevel]) -> String {
    let mut text = String::new();
    for run in levels.chunk_by(|a, b| a == b) {
        let (char, style) = look(run[0]);
        text.push_str(&format!("{style}{}{style:#}", char.to_string().repeat(run.len())));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use TimeLevel::*;

    #[test]
    fn many_ranks_share_a_character_and_no_extreme_is_lost() {
        let levels = [Lower, Lower, Middle, Upper, Maximum, Upper, Middle, Minimum, Middle, Upper];
        assert_eq!(compressed(&levels, 3), [Lower, Maximum, Minimum, Upper]);
        assert_eq!(compressed(&levels, 1), levels);
        assert_eq!(compressed(&[Minimum, Maximum], 2), [Maximum], "the longest is what the others wait for");
        assert_eq!(compressed(&[], 4), []);
    }

    #[test]
    fn a_pattern_is_legible_without_colours() {
        let painted = painted(&[Minimum, Lower, Middle, Middle, Upper, Maximum]);
        assert_eq!(anstream::adapter::strip_str(&painted).to_string(), "_-··+#");
    }
}
