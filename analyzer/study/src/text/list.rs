//! The runs of a study, a line each.

use std::fmt::Write;

use chrono::DateTime;

use super::{BOLD, DASH, DIM};
use crate::RunMetrics;
use crate::key::KeyValue;
use crate::phrases::format_key;
use crate::store::StoredRun;
use lbprof_report::rows::table::TextTable;
use lbprof_report::rows::words::{escape_name, format_plural, format_seconds, wrap_text};

/// Lists the runs by number, and below them the runs with missing or doubtful data.
pub fn list_runs(kept: &[StoredRun], columns: usize) -> String {
    if kept.is_empty() {
        return "There are no runs in the study.\n".to_owned();
    }
    let is_labelled = kept.iter().any(|kept| !kept.run.label.is_empty());
    let heads = ["run", "<label", "<program", "ranks", "<parameters", "elapsed", "<started (UTC)", "<host", "<data"];
    let heads: Vec<&str> = heads.into_iter().filter(|head| is_labelled || *head != "<label").collect();
    let mut table = TextTable::new(&heads, if is_labelled { 4 } else { 3 });
    for StoredRun { number, run } in kept {
        let mut row = vec![number.to_string()];
        row.extend(is_labelled.then(|| escape_name(&run.label)));
        row.extend([
            escape_name(run.program()),
            run.n_ranks.to_string(),
            params_cell(run),
            format_seconds(run.times.elapsed_s),
            started_cell(run.started_unix_s),
            hosts_cell(run),
            if run.complete { "complete" } else { "incomplete" }.to_owned(),
        ]);
        table.row(row);
    }
    let spare: &[&[&str]] = &[&["host"], &["started (UTC)"], &["data"]];
    let mut text = table.sparing(columns, spare).render(columns, DIM);
    let doubtful: Vec<&StoredRun> = kept.iter().filter(|kept| !kept.run.problems.is_empty()).collect();
    if !doubtful.is_empty() {
        writeln!(text, "\n{BOLD}Warnings{BOLD:#}  {DIM}lb-report on the run's folder explains them{DIM:#}").ok();
    }
    for StoredRun { number, run } in doubtful {
        let problems: Vec<String> = run.problems.iter().map(|problem| escape_name(problem)).collect();
        writeln!(text, "  {}", wrap_text(&format!("run {number}: {}", problems.join(", ")), columns - 2, 4)).ok();
    }
    text
}

/// A run in a few words: `heat, 4 ranks, n=512, 1.32 s`.
pub fn one_line(run: &RunMetrics) -> String {
    let mut parts = vec![escape_name(run.program()), format_plural(u64::from(run.n_ranks), "rank")];
    parts.extend(shown_params(run));
    parts.push(format_seconds(run.times.elapsed_s));
    if !run.complete {
        parts.push(format!("incomplete: {}", run.problems.join(", ")));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// Maximum number of parameters that are listed; the study has them all.
const MAX_PARAMS: usize = 12;

/// The first parameters with their values, and how many more there are.
fn shown_params(run: &RunMetrics) -> Vec<String> {
    let shown = run.params.iter().take(MAX_PARAMS).map(|(name, value)| format_key(name, &KeyValue::Number(*value)));
    let n_more = run.params.len().saturating_sub(MAX_PARAMS);
    shown.chain((n_more > 0).then(|| format!("{n_more} more"))).collect()
}

fn params_cell(run: &RunMetrics) -> String {
    let params = shown_params(run);
    if params.is_empty() { DASH.to_owned() } else { params.join(" ") }
}

fn hosts_cell(run: &RunMetrics) -> String {
    match run.hosts.as_slice() {
        [] => DASH.to_owned(),
        [one] => escape_name(one),
        [first, rest @ ..] => format!("{} +{}", escape_name(first), rest.len()),
    }
}

/// A moment in UTC, to the minute; a dash where it is none.
fn started_cell(unix_s: u64) -> String {
    let moment = i64::try_from(unix_s).ok().and_then(|unix_s| DateTime::from_timestamp(unix_s, 0));
    let text = moment.filter(|_| unix_s > 0).map(|moment| moment.format("%Y-%m-%d %H:%M").to_string());
    text.unwrap_or_else(|| DASH.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{RunMetrics, one_line, params_cell, started_cell};

    #[test]
    fn of_many_parameters_the_first_are_listed() {
        let names = (0..300).map(|n| (format!("n{n:03}"), 1.0));
        let run = RunMetrics { params: names.collect(), ..RunMetrics::default() };
        for text in [one_line(&run), params_cell(&run)] {
            assert!(text.contains("n011=1") && !text.contains("n012") && text.contains("288 more"), "{text}");
        }
    }

    #[test]
    fn moments_are_in_utc_and_what_is_none_is_a_dash() {
        assert_eq!(started_cell(1_700_000_000), "2023-11-14 22:13");
        assert_eq!(started_cell(0), "–");
        assert_eq!(started_cell(u64::MAX), "–");
    }
}
