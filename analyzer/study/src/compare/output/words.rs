//! Changes in words: the same in text, Markdown and JUnit's XML.

use std::collections::BTreeSet;

use lbprof_collector::Activity;
use lbprof_thresholds::study::{MIN_SHARE_OF_WAITING, MIN_WHOLE_CHANGE};

use crate::compare::names::reasons::TimeComponent;
use crate::compare::{RankChange, RunComparison, RunRatio, TimeContribution};
use lbprof_analysis::read::open::list_ranks;
use lbprof_report::rows::words::{
    TimeUnit, escape_name, format_percent, seconds_like, separator_positions, short_path, shorten_text, signed_percent,
};

/// Most columns that a name takes within a sentence.
const LONGEST_NAME: usize = 160;

const MOST_RANKS: usize = 3;

const MOST_FINDINGS: usize = 3;

/// The verdict: how much longer or shorter, beyond noise or not, and why most of it.
pub fn comparison_headline(comparison: &RunComparison) -> String {
    let elapsed = &comparison.elapsed;
    let (base_s, new_s) = (elapsed.base_s, elapsed.new_s);
    let relative = elapsed.relative().map_or_else(String::new, |share| format!(" ({})", signed_percent(share)));
    let [new, base] = [new_s, base_s].map(|seconds| seconds_like(seconds, new_s.max(base_s)));
    let times = format!("{new} instead of {base}{relative}");
    let means = if elapsed.base.len().max(elapsed.new.len()) > 1 { " in the mean" } else { "" };
    if comparison.is_noise() {
        let is_large = elapsed.relative().is_some_and(|share| share.abs() >= comparison.limits.share);
        let unsure = is_large && comparison.noise_is_known();
        let more = if unsure { " The runs scatter too much to say more; further runs would show it." } else { "" };
        return format!("Nothing beyond noise: {times}{means}.{more}");
    }
    let sure = elapsed.beyond_noise;
    let sign = elapsed.change_s.signum();
    let mut certain = comparison.reasons.iter().filter(|part| part.total.beyond_noise);
    let leading = certain.find(|part| !sure || part.total.change_s * sign > 0.0);
    let reason = leading.map_or_else(String::new, |part| {
        let share = part.total.change_s / elapsed.change_s;
        let is_part = sure && share < MIN_WHOLE_CHANGE;
        let of_change = if is_part { format!(" ({} of the change)", format_percent(share)) } else { String::new() };
        format!(": {}{of_change}", reason_in_words(part, new_s.max(base_s)))
    });
    let by_samples = leading.map_or_else(String::new, |part| function_sentence(comparison, part));
    match sure {
        true if leading.is_some() => format!("{times}{means}{reason}.{by_samples}"),
        true => format!("{times}{means}.{}", changed_findings(comparison)),
        false => format!(
            "The elapsed time does not differ beyond noise ({times}{means}), but what it is spent on does{reason}.{}{by_samples}",
            changed_efficiencies(comparison),
        ),
    }
}

fn changed_findings(comparison: &RunComparison) -> String {
    let whole_s = comparison.elapsed.base_s.max(comparison.elapsed.new_s);
    let certain = comparison.findings.iter().filter(|finding| finding.seconds.beyond_noise);
    let changes = certain.take(MOST_FINDINGS).map(|finding| {
        let change = finding.seconds.change_s;
        format!("{} {} is lost {}", size_of(change, whole_s), more_or_less(change), escape_name(&finding.words))
    });
    let changes = changes.collect::<Vec<_>>().join("; ");
    if changes.is_empty() { changes } else { format!(" {changes}.") }
}

/// Names the efficiencies that changed beyond noise although the elapsed time did not.
fn changed_efficiencies(comparison: &RunComparison) -> String {
    let certain = comparison.ratios.iter().filter(|ratio| ratio.beyond_noise && !comparison.elapsed.beyond_noise);
    let mut changes = Vec::new();
    for RunRatio { name, base, new, .. } in certain {
        if let (Some(base), Some(new)) = (base, new) {
            changes.push(format!("{name} from {} to {}", format_percent(*base), format_percent(*new)));
        }
    }
    if changes.is_empty() { String::new() } else { format!(" Beyond noise did change: {}.", changes.join(", ")) }
}

/// The reason of most of the change, `rank 2 computes 30.0 ms longer in step/force, and others wait for it`, with times as precise as beside `whole_s`.
fn reason_in_words(part: &TimeContribution, whole_s: f64) -> String {
    let more = if part.total.change_s < 0.0 { "less" } else { "longer" };
    let place = short_region_name(part)
        .map_or_else(String::new, |region| format!(" in {}", shorten_text(&region, LONGEST_NAME)));
    let TimeComponent::In(_, Activity::Computation) = part.what else {
        let change = size_of(part.total.change_s, whole_s);
        return format!("{change} {} goes to {}{place}", more_or_less(part.total.change_s), part.what.name());
    };
    let is_waited_for = part.caused_change_s * part.total.change_s > 0.0
        && part.caused_change_s.abs() >= MIN_SHARE_OF_WAITING * part.total.change_s.abs();
    let of_mean = size_of(part.own_change_s, whole_s);
    let longest = part.whose.longest.filter(|longest| longest.over_mean_s > 0.0);
    let (subject, by, average, object) = match (part.whose.ranks.as_slice(), longest) {
        ([one], _) => (format!("rank {} computes", one.rank), size_of(one.own_change_s, whole_s), "", "it"),
        (ranks @ [_, ..], _) => {
            let longest_s = ranks.iter().fold(0.0_f64, |longest, one| longest.max(one.own_change_s.abs()));
            (format!("ranks {} compute up to", some_ranks(ranks)), size_of(longest_s, whole_s), "", "them")
        }
        (_, Some(longest)) => {
            (format!("ranks, most of all rank {}, compute", longest.rank), of_mean, " on average", "it")
        }
        _ => ("all ranks compute".to_owned(), of_mean, " on average", "each other"),
    };
    let waits = match (is_waited_for, part.total.change_s < 0.0) {
        (false, _) => String::new(),
        (true, true) => format!(", and others wait less for {object}"),
        (true, false) => format!(", and others wait for {object}"),
    };
    format!("{subject} {by} {more}{average}{place}{waits}")
}

/// The function that changed most in the region of a part that is computation, as a sentence; empty where none did for sure.
fn function_sentence(comparison: &RunComparison, part: &TimeContribution) -> String {
    let TimeComponent::In(_, Activity::Computation) = part.what else { return String::new() };
    let there = comparison.functions.iter().flatten().filter_map(|one| {
        let there = one.regions.iter().find(|there| Some(&there.region) == part.region.as_ref())?;
        (there.time.change_s * part.own_change_s > 0.0).then_some((&one.function, there.time))
    });
    let most = there.max_by(|a, b| a.1.change_s.abs().total_cmp(&b.1.change_s.abs()));
    most.map_or_else(String::new, |(name, time)| {
        let more = if time.change_s < 0.0 { "less" } else { "more" };
        let unit = TimeUnit::for_max(time.change_s.abs());
        let [change, error] = [time.change_s.abs(), time.error_s].map(|part| unit.number(part));
        let name = shorten_text(&escape_name(name), LONGEST_NAME);
        format!(" By samples, {name} computes {change} ± {error} {} {more} there in the mean over ranks.", unit.symbol)
    })
}

fn more_or_less(change: f64) -> &'static str {
    if change < 0.0 { "less" } else { "more" }
}

/// Names a part within a sentence: `computation in step/force`.
pub fn name_contribution(part: &TimeContribution) -> String {
    match short_region_name(part) {
        Some(region) => format!("{} in {}", part.what.name(), shorten_text(&region, LONGEST_NAME)),
        None => part.what.name().to_owned(),
    }
}

/// Names of the regions of parts in a table: a region whose short name another one has too is named by as much of its path as shows
/// it apart. Empty where a part is in none.
pub fn region_names(parts: &[&TimeContribution]) -> Vec<String> {
    let paths: BTreeSet<&str> = parts.iter().filter_map(|part| part.region.as_deref()).collect();
    let regions = parts.iter().map(|part| part.region.as_deref());
    regions.map(|path| path.map_or_else(String::new, |path| escape_name(unique_name(path, &paths)))).collect()
}

/// The short name of a path; of several of `paths` that have the same, the shortest end that the others do not have.
fn unique_name<'a>(path: &'a str, paths: &BTreeSet<&str>) -> &'a str {
    let name = short_path(path);
    let alike: Vec<&str> = paths.iter().copied().filter(|&other| other != path && short_path(other) == name).collect();
    if alike.is_empty() {
        return name;
    }
    let ends: Vec<&str> = separator_positions(path).filter_map(|at| path.get(at + 1..)).collect();
    let mut long_enough = ends.into_iter().rev().filter(|end| end.len() >= name.len());
    long_enough.find(|end| !alike.iter().any(|other| other.ends_with(&format!("/{end}")))).unwrap_or(path)
}

fn size_of(seconds: f64, whole_s: f64) -> String {
    seconds_like(seconds.abs(), whole_s)
}

/// The name of a part's region.
pub fn short_region_name(part: &TimeContribution) -> Option<String> {
    part.region.as_deref().map(|path| escape_name(short_path(path)))
}

fn some_ranks(ranks: &[RankChange]) -> String {
    let mut first: Vec<u32> = ranks.iter().take(MOST_RANKS).map(|one| one.rank).collect();
    first.sort_unstable();
    let more = ranks.len().saturating_sub(MOST_RANKS);
    list_ranks(&first) + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

/// On which ranks, and by how much their own time changed: as a cell.
pub fn whose_cell(part: &TimeContribution, unit: TimeUnit) -> String {
    match (part.whose.ranks.as_slice(), part.whose.longest) {
        _ if part.whose.all_ranks => format!("all ({})", signed_number(unit, part.own_change_s)),
        (_, Some(longest)) => format!("longest {} ({})", longest.rank, signed_number(unit, longest.over_mean_s)),
        ([], _) => "–".to_owned(),
        ([one], _) if one.own_change_s == 0.0 => one.rank.to_string(),
        ([one], _) => format!("{} ({})", one.rank, signed_number(unit, one.own_change_s)),
        (several, _) => some_ranks(several),
    }
}

/// A change in a unit, with its sign: `+12.5`, `−3.0`, `0.0`.
pub fn signed_number(unit: TimeUnit, seconds: f64) -> String {
    let text = unit.number(seconds.abs());
    let is_zero = text.chars().all(|char| matches!(char, '0' | '.'));
    match seconds {
        _ if is_zero => text,
        seconds if seconds < 0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

/// Describes the limits of noise.
pub fn noise_sentence(comparison: &RunComparison) -> String {
    let (base, new) = (comparison.sides.base.runs.len(), comparison.sides.new.runs.len());
    let limits = &comparison.limits;
    let elapsed_s = comparison.elapsed.base_s;
    if comparison.noise_is_known() {
        return format!(
            "Noise is judged from {base} base and {new} new runs, by the t-test at {} (several parts by Holm's method); changes \
             of less than {} do not matter.",
            format_percent(lbprof_thresholds::study::MAX_CHANCE_OF_DIFFERENCE),
            seconds_like(limits.relevant_s(elapsed_s), elapsed_s)
        );
    }
    format!(
        "With one run a side the noise is not known: changes of less than {} ({} of the elapsed time, at least 5 ms) are taken for \
         it. Several runs on a side show it: --with.",
        seconds_like(limits.assumed_s(elapsed_s), elapsed_s),
        format_percent(limits.share)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{AffectedRanks, FigureChange};

    #[test]
    fn regions_of_one_name_are_distinguished() {
        let paths = [
            "main/loop in a_long_function_of_its_own/solve (cg.c:120 → cg.c:140)",
            "main/loop in another_long_function/solve (cg.c:120 → cg.c:140)",
            "main/step/force",
            "main/force",
            r"main/loop in some_other_long_function/x\/solve (cg.c:120 → cg.c:140)",
        ];
        let all: BTreeSet<&str> = paths.into();
        let names = paths.map(|path| unique_name(path, &all));
        assert_eq!(short_path(paths[0]), short_path(paths[1]), "so that there is something to distinguish");
        let listed = [
            "loop in a_long_function_of_its_own/solve (cg.c:120 → cg.c:140)",
            "loop in another_long_function/solve (cg.c:120 → cg.c:140)",
            "step/force",
            "force",
            r"x\/solve (cg.c:120 → cg.c:140)",
        ];
        assert_eq!(names, listed);
        let part = |path: &str| TimeContribution {
            what: TimeComponent::Idle,
            region: Some(path.to_owned()),
            total: FigureChange::default(),
            share: None,
            own_change_s: 0.0,
            caused_change_s: 0.0,
            whose: AffectedRanks::default(),
        };
        assert_eq!(region_names(&[&part(paths[0]), &part(paths[1])]), listed[..2]);
    }
}
