//! A comparison for a terminal: the answer first. With colours as ANSI sequences; names are escaped.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use super::words;
use crate::compare::condition;
use crate::compare::condition::{ConditionOutcome, JudgedCondition};
use crate::compare::{ComparisonSide, RunComparison, TimeContribution};
use lbprof_analysis::metrics::spread::median::median_of;
use lbprof_report::rows::table::TextTable;
use lbprof_report::rows::words::{
    TimeUnit, escape_name, format_percent, format_plural, percent_or_dash, seconds_like, short_path, shorten_text,
    signed_percent, wrap_text,
};
use lbprof_thresholds::study::MIN_CHANGE_IN_ONE_REGION;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// Amount of detail, and width in columns.
#[derive(Clone, Copy, Debug)]
pub struct ComparisonTextOptions {
    /// Columns of a line.
    pub columns: usize,
    /// Most rows of a table.
    pub top: usize,
}

/// The comparison as text.
pub fn render_comparison(
    comparison: &RunComparison,
    conditions: &[JudgedCondition],
    options: &ComparisonTextOptions,
) -> String {
    let mut text =
        render_heads(comparison, options) + &render_verdict(comparison, options) + &render_remarks(comparison, options);
    if !comparison.is_noise() {
        text += &render_reasons(comparison, options);
        if comparison.by_cause {
            text += &render_places(comparison, options);
        }
    }
    text += &render_functions(comparison, options);
    text + &render_efficiencies(comparison, options)
        + &render_elapsed(comparison, options)
        + &self::render_conditions(conditions, options)
}

fn render_heads(comparison: &RunComparison, options: &ComparisonTextOptions) -> String {
    let sides = [("base", &comparison.sides.base), ("new", &comparison.sides.new)];
    let lines = sides.map(|(name, side)| {
        let lines = std::iter::once(side_head(side)).chain(side.answer());
        let lines: Vec<String> = lines.map(|line| wrap_text(&line, options.columns - 6, 6)).collect();
        format!("{BOLD}{name:<4}{BOLD:#}  {}\n", lines.join("\n      "))
    });
    lines.concat() + "\n"
}

fn side_head(side: &ComparisonSide) -> String {
    const LONGEST: usize = 50;
    let Some(first) = side.runs.first() else { return "no run".to_owned() };
    let more = match side.runs.len() {
        1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    let command = first.run.command.iter().map(|word| escape_name(word)).collect::<Vec<_>>().join(" ");
    let elapsed_s = side.median(|run| Some(run.times.elapsed_s)).unwrap_or(0.0);
    let parts = [
        format!("{}{more}", shorten_text(&escape_name(&first.name), LONGEST)),
        shorten_text(&command, LONGEST),
        format_plural(u64::from(first.run.n_ranks), "rank"),
        format!("{} elapsed{}", seconds_like(elapsed_s, elapsed_s), if side.runs.len() > 1 { " (median)" } else { "" }),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

fn render_verdict(comparison: &RunComparison, options: &ComparisonTextOptions) -> String {
    let colour = match comparison.elapsed.change_s {
        _ if !comparison.elapsed.beyond_noise && comparison.is_noise() => AnsiColor::Green,
        _ if !comparison.elapsed.beyond_noise => AnsiColor::Yellow,
        change if change > 0.0 => AnsiColor::Red,
        _ => AnsiColor::Green,
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let noise = wrap_text(&words::noise_sentence(comparison), options.columns, 0);
    format!(
        "{style}{}{style:#}\n{DIM}{noise}{DIM:#}\n\n",
        wrap_text(&words::comparison_headline(comparison), options.columns, 0)
    )
}

fn render_remarks(comparison: &RunComparison, options: &ComparisonTextOptions) -> String {
    let cleaned = comparison.remarks.iter().map(|remark| escape_name(remark));
    let lines: String = cleaned.map(|remark| format!("! {}\n", wrap_text(&remark, options.columns - 2, 2))).collect();
    if lines.is_empty() { lines } else { lines + "\n" }
}

/// Columns that give way to names where lines are short; the ranking is by share.
const SPARE: &[&[&str]] = &[&["caused"], &["own"], &["base"], &["new"], &["share"]];

fn render_reasons(comparison: &RunComparison, options: &ComparisonTextOptions) -> String {
    let unit = time_unit(comparison);
    let table = table_of_changes(
        comparison,
        &comparison.reasons,
        ["own", "caused"],
        |part| [part.own_change_s, part.caused_change_s].map(|seconds| words::signed_number(unit, seconds)),
        options,
    );
    let what = if comparison.by_cause { "own time and the waiting that it causes, " } else { "" };
    let how = format!("{what}means over ranks; ~ is within noise; rank: by how much its own changed");
    render_section("Why", &how, table, options)
}

fn render_places(comparison: &RunComparison, options: &ComparisonTextOptions) -> String {
    let unit = time_unit(comparison);
    let heads = ["base", "new"].map(|name| format!("{name}\n[{}]", unit.symbol));
    let table = table_of_changes(
        comparison,
        &comparison.places,
        heads.each_ref().map(String::as_str),
        |part| [part.total.base_s, part.total.new_s].map(|seconds| unit.number(seconds)),
        options,
    );
    render_section("Where the time goes", "means over ranks, waiting where it is spent", table, options)
}

fn render_functions(comparison: &RunComparison, options: &ComparisonTextOptions) -> String {
    let changes = comparison.functions.as_deref().unwrap_or_default();
    if changes.is_empty() {
        return String::new();
    }
    let unit = time_unit(comparison);
    let heads = ["base", "new", "change"].map(|name| format!("{name}\n[{}]", unit.symbol));
    let mut table = TextTable::new(&["<function", &heads[0], &heads[1], &heads[2], "<most of it in"], 0);
    for one in changes.iter().take(options.top) {
        let first = one.regions.first();
        let most = first.filter(|there| there.time.change_s / one.time.change_s >= MIN_CHANGE_IN_ONE_REGION);
        table.row(vec![
            escape_name(&one.function),
            unit.number(one.time.base_s),
            unit.number(one.time.new_s),
            format!("{} ± {}", words::signed_number(unit, one.time.change_s), unit.number(one.time.error_s)),
            most.map(|there| escape_name(short_path(&there.region))).unwrap_or_default(),
        ]);
    }
    let table = table.sparing(options.columns, &[&["most of it in"]]);
    render_section(
        "Functions",
        "CPU time of computation by samples, means over ranks; ± is a standard error",
        table,
        options,
    )
}

/// Makes a table of the contributions of `parts` to the change, and of all others together; `two` columns of each part stand before its change.
fn table_of_changes(
    comparison: &RunComparison,
    parts: &[TimeContribution],
    [first, second]: [&str; 2],
    two: impl Fn(&TimeContribution) -> [String; 2],
    options: &ComparisonTextOptions,
) -> TextTable {
    let unit = time_unit(comparison);
    let of = format!("change\n[{}]", unit.symbol);
    let mut table = TextTable::new(&["<region", "<what", first, second, &of, "share", "rank"], 0);
    // Parts that do not round to nothing.
    let visible = parts.iter().filter(|part| words::signed_number(unit, part.total.change_s).starts_with(['+', '−']));
    let shown: Vec<&TimeContribution> = visible.take(options.top).collect();
    for (part, name) in shown.iter().zip(words::region_names(&shown)) {
        let [first, second] = two(part);
        let mark = if part.total.beyond_noise { "" } else { "~" };
        table.row(vec![
            name,
            part.what.name().to_owned(),
            first,
            second,
            format!("{mark}{}", words::signed_number(unit, part.total.change_s)),
            share_of_change(comparison, part.total.change_s),
            words::whose_cell(part, unit),
        ]);
    }
    let sum_s: f64 = parts.iter().map(|part| part.total.change_s).sum();
    let shown_s: f64 = shown.iter().map(|part| part.total.change_s).sum();
    let rest = (!words::signed_number(unit, sum_s - shown_s).starts_with('0')).then_some(("the rest", sum_s - shown_s));
    for (name, seconds) in rest.into_iter().chain([("elapsed time", comparison.elapsed.change_s)]) {
        let (change, share) = (words::signed_number(unit, seconds), share_of_change(comparison, seconds));
        table.row([name, "", "", "", &change, &share, ""].map(str::to_owned).to_vec());
    }
    table
}

fn render_section(name: &str, how: &str, table: TextTable, options: &ComparisonTextOptions) -> String {
    let how = wrap_text(how, options.columns - 2, 2);
    format!(
        "{BOLD}{name}{BOLD:#}\n  {DIM}{how}{DIM:#}\n{}\n",
        table.sparing(options.columns, SPARE).render(options.columns, DIM)
    )
}

fn time_unit(comparison: &RunComparison) -> TimeUnit {
    TimeUnit::for_max(comparison.elapsed.base_s.max(comparison.elapsed.new_s))
}

/// Share of the change of the elapsed time; a dash where that is noise.
fn share_of_change(comparison: &RunComparison, seconds: f64) -> String {
    let whole = comparison.elapsed.change_s;
    percent_or_dash(comparison.elapsed.beyond_noise.then(|| seconds / whole)).replace('-', "−")
}

fn render_efficiencies(comparison: &RunComparison, options: &ComparisonTextOptions) -> String {
    let mut table = TextTable::new(&["<efficiency", "base", "new", "change\n[points]"], 0);
    for ratio in &comparison.ratios {
        let change = ratio.change.map_or_else(|| "–".to_owned(), signed_percent);
        let [base, new] = [ratio.base, ratio.new].map(percent_or_dash);
        table.row(vec![ratio.name.to_owned(), base, new, change.trim_end_matches(" %").to_owned()]);
    }
    format!("{BOLD}Efficiencies{BOLD:#}\n{}\n", table.render(options.columns, DIM))
}

fn render_elapsed(comparison: &RunComparison, options: &ComparisonTextOptions) -> String {
    if !comparison.noise_is_known() {
        return String::new();
    }
    let unit = time_unit(comparison);
    let head = format!("median\n[{}]", unit.symbol);
    let mut table = TextTable::new(&["<elapsed time", "runs", &head, "mean", "shortest", "longest", "spread"], 0);
    for (name, values) in [("base", &comparison.elapsed.base), ("new", &comparison.elapsed.new)] {
        let median_s = median_of(values).unwrap_or(0.0);
        let shortest = values.iter().copied().reduce(f64::min).unwrap_or(0.0);
        let longest = values.iter().copied().reduce(f64::max).unwrap_or(0.0);
        table.row(vec![
            name.to_owned(),
            values.len().to_string(),
            unit.number(median_s),
            unit.number(crate::compare::noise::mean_of(values)),
            unit.number(shortest),
            unit.number(longest),
            if median_s > 0.0 { format_percent((longest - shortest) / median_s) } else { "–".to_owned() },
        ]);
    }
    format!("{BOLD}Runs{BOLD:#}\n{}\n", table.render(options.columns, DIM))
}

/// The outcome of each condition.
pub fn render_conditions(conditions: &[JudgedCondition], options: &ComparisonTextOptions) -> String {
    if conditions.is_empty() {
        return String::new();
    }
    let mut text = format!("{BOLD}Conditions to fail on{BOLD:#}\n");
    for judged in conditions {
        let colour = if judged.outcome == ConditionOutcome::Passes { AnsiColor::Green } else { AnsiColor::Red };
        let style = Style::new().fg_color(Some(colour.into()));
        let outcome = condition::words::outcome_word(judged.outcome);
        let rest = format!("{}: {}", escape_name(&judged.text), condition::words::condition_values(judged));
        let line = wrap_text(&format!("{outcome}  {rest}"), options.columns - 2, 4);
        let (outcome, rest) = line.split_at(outcome.len().min(line.len()));
        writeln!(text, "  {style}{outcome}{style:#}{rest}").ok();
    }
    text + "\n"
}
