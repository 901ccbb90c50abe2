//! A comparison as Markdown, for the summaries of CI systems and comments on changes. Names are escaped: they are text, never markup.

use std::fmt::Write;

use super::words;
use crate::compare::condition;
use crate::compare::condition::{ConditionOutcome, JudgedCondition};
use crate::compare::{RunComparison, TimeContribution};
use lbprof_report::rows::words::{TimeUnit, format_percent, percent_or_dash, signed_percent};

const MOST_ROWS: usize = 8;

/// The comparison as Markdown.
pub fn render_markdown(comparison: &RunComparison, conditions: &[JudgedCondition]) -> String {
    let mut text = format!("**{}**\n\n", escape_markdown(&words::comparison_headline(comparison)));
    let sides = [("base", &comparison.sides.base), ("new", &comparison.sides.new)];
    let answers = sides.into_iter().filter_map(|(name, side)| Some(format!("{name}: {}", side.answer()?)));
    let remarks = comparison.remarks.iter().map(|remark| lbprof_report::rows::words::escape_name(remark));
    let lines: String = answers.chain(remarks).map(|line| format!("- {}\n", escape_markdown(&line))).collect();
    text.push_str(&lines);
    text.push_str(if lines.is_empty() { "" } else { "\n" });
    text + &self::render_condition_table(conditions)
        + &render_reason_table(comparison)
        + &render_efficiency_table(comparison)
        + &escape_markdown(&words::noise_sentence(comparison))
        + "\n"
}

fn render_condition_table(conditions: &[JudgedCondition]) -> String {
    if conditions.is_empty() {
        return String::new();
    }
    let mut text = "| condition to fail on | | |\n|---|---|---|\n".to_owned();
    for judged in conditions {
        let sign = if judged.outcome == ConditionOutcome::Passes { "✅" } else { "❌" };
        let condition = escape_markdown(&lbprof_report::rows::words::escape_name(&judged.text));
        let (outcome, values) = (
            condition::words::outcome_word(judged.outcome),
            escape_markdown(&condition::words::condition_values(judged)),
        );
        writeln!(text, "| {condition} | {sign} {outcome} | {values} |").ok();
    }
    text + "\n"
}

fn render_reason_table(comparison: &RunComparison) -> String {
    let parts: Vec<&TimeContribution> =
        comparison.reasons.iter().filter(|part| part.total.beyond_noise).take(MOST_ROWS).collect();
    if parts.is_empty() {
        return String::new();
    }
    let whole_s = comparison.elapsed.change_s;
    let unit = TimeUnit::for_max(comparison.elapsed.base_s.max(comparison.elapsed.new_s));
    let mut text = format!("| what changed | change [{}] | share | rank |\n|---|--:|--:|---|\n", unit.symbol);
    for part in parts {
        let share = comparison.elapsed.beyond_noise.then(|| format_percent(part.total.change_s / whole_s));
        let cells = [
            words::name_contribution(part),
            words::signed_number(unit, part.total.change_s),
            share.unwrap_or_else(|| "–".to_owned()),
            words::whose_cell(part, unit),
        ];
        writeln!(text, "| {} |", cells.map(|cell| escape_markdown(&cell)).join(" | ")).ok();
    }
    text + "\n"
}

fn render_efficiency_table(comparison: &RunComparison) -> String {
    let mut text = "| efficiency | base | new | change |\n|---|--:|--:|--:|\n".to_owned();
    for ratio in &comparison.ratios {
        let change =
            ratio.change.map_or_else(|| "–".to_owned(), |change| signed_percent(change).replace(" %", " points"));
        let (base, new) = (percent_or_dash(ratio.base), percent_or_dash(ratio.new));
        writeln!(text, "| {} | {base} | {new} | {change} |", ratio.name).ok();
    }
    text + "\n"
}

const PLAIN: &str = "/.,-%;:()+='\"";

fn escape_markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        escaped.extend((char.is_ascii_punctuation() && !PLAIN.contains(char)).then_some('\\'));
        escaped.push(char);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escape_markdown;

    #[test]
    fn names_are_text() {
        assert_eq!(escape_markdown("a|b <img> [x](y) `c` *d*"), r"a\|b \<img\> \[x\](y) \`c\` \*d\*");
        assert_eq!(escape_markdown("step/force, 12.5 %"), "step/force, 12.5 %");
    }
}
