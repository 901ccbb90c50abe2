//! Changes in words: the same in text, Markdown and JUnit's XML.

use std::collections::BTreeSet;

use lbprof_collector::Activity;
use lbprof_thresholds::study::MIN_WHOLE_CHANGE;

use super::reasons::TimeComponent;
use super::{AffectedRanks, FigureChange, RunComparison, RunRatio, TimeContribution};
use lbprof_analysis::read::open::ranges;
use lbprof_report::words::{TimeUnit, clean, percent, seconds_like, separators, short_path, shorten, signed_percent};

/// Most columns that a name takes within a sentence.
const LONGEST_NAME: usize = 160;

/// Most ranks in a sentence or a cell.
const MOST_RANKS: usize = 3;

/// Most findings in a sentence.
const MOST_FINDINGS: usize = 3;

/// The verdict: how much longer or shorter, beyond noise or not, and why most of it.
pub fn headline(comparison: &RunComparison) -> String {
    let elapsed = &comparison.elapsed;
    let (base_s, new_s) = (elapsed.base_mean(), elapsed.new_mean());
    let relative = elapsed.relative().map_or_else(String::new, |share| format!(" ({})", signed_percent(share)));
    let times = format!("{} instead of {}{relative}", seconds_like(new_s, new_s.max(base_s)), base(elapsed));
    let means = if elapsed.base.len().max(elapsed.new.len()) > 1 { " in the mean" } else { "" };
    if comparison.is_noise() {
        let is_large = elapsed.relative().is_some_and(|share| share.abs() >= comparison.limits.share);
        let unsure = is_large && comparison.noise_is_known();
        let more = if unsure { " The runs scatter too much to say more; further runs would show it." } else { "" };
        return format!("Nothing beyond noise: {times}{means}.{more}");
    }
    let (verb, several) = if elapsed.new.len() > 1 { ("take", "runs") } else { ("takes", "run") };
    let more = if elapsed.difference() < 0.0 { "less" } else { "longer" };
    let by = seconds_like(elapsed.difference().abs(), new_s.max(base_s));
    let first = match elapsed.beyond_noise {
        true => format!("The new {several} {verb} {by} {more}: {times}{means}."),
        false if comparison.reasons.iter().any(|part| part.total.beyond_noise) => {
            format!("The elapsed time does not differ beyond noise, but what it is spent on does: {times}{means}.")
        }
        false => format!("The elapsed time does not differ beyond noise: {times}{means}."),
    };
    let sign = elapsed.difference().signum();
    let mut certain = comparison.reasons.iter().filter(|part| part.total.beyond_noise);
    let leading = certain.find(|part| !elapsed.beyond_noise || part.total.difference() * sign > 0.0);
    let reason = leading.map_or_else(String::new, |part| because(comparison, part));
    first + &efficiencies(comparison) + &reason + &changed_findings(comparison)
}

/// Names the findings that changed beyond noise, in their words.
fn changed_findings(comparison: &RunComparison) -> String {
    let whole_s = comparison.elapsed.base_mean().max(comparison.elapsed.new_mean());
    let certain = comparison.findings.iter().filter(|finding| finding.seconds.beyond_noise);
    let changes = certain.take(MOST_FINDINGS).map(|finding| {
        let change = finding.seconds.difference();
        format!("{} {} is lost {}", size_of(change, whole_s), direction(change), clean(&finding.words))
    });
    let changes = changes.collect::<Vec<_>>().join("; ");
    if changes.is_empty() { changes } else { format!(" {changes}.") }
}

/// Names the efficiencies that changed beyond noise although the elapsed time did not.
fn efficiencies(comparison: &RunComparison) -> String {
    let certain = comparison.ratios.iter().filter(|ratio| ratio.beyond_noise && !comparison.elapsed.beyond_noise);
    let mut changes = Vec::new();
    for RunRatio { name, base, new, .. } in certain {
        if let (Some(base), Some(new)) = (base, new) {
            changes.push(format!("{name} from {} to {}", percent(*base), percent(*new)));
        }
    }
    if changes.is_empty() { String::new() } else { format!(" Beyond noise did change: {}.", changes.join(", ")) }
}

fn base(elapsed: &FigureChange) -> String {
    seconds_like(elapsed.base_mean(), elapsed.base_mean().max(elapsed.new_mean()))
}

/// The reason of most of the change, as a sentence.
fn because(comparison: &RunComparison, part: &TimeContribution) -> String {
    let whole_s = comparison.elapsed.base_mean().max(comparison.elapsed.new_mean());
    let (change, all) = (part.total.difference(), comparison.elapsed.difference());
    let how_much = match change / all {
        _ if !comparison.elapsed.beyond_noise => format!("{} {}", size_of(change, whole_s), direction(change)),
        share if share > 2.0 - MIN_WHOLE_CHANGE => format!("More than all of it ({})", percent(share)),
        share if share >= MIN_WHOLE_CHANGE => "All of it".to_owned(),
        share => format!("{} of it ({})", size_of(change, whole_s), percent(share)),
    };
    let mut text = format!(" {how_much} is by {}{}", what(part), whose(part));
    if !part.total.beyond_noise {
        text.push_str("; by itself that is within noise");
    }
    text + "." + &function(comparison, part)
}

/// The function that changed most in the region of a part that is computation, as a sentence; empty where none did for sure.
fn function(comparison: &RunComparison, part: &TimeContribution) -> String {
    let TimeComponent::In(_, Activity::Computation) = part.what else { return String::new() };
    let there = comparison.functions.iter().flatten().filter_map(|one| {
        let there = one.regions.iter().find(|there| Some(&there.region) == part.region.as_ref())?;
        (there.time.change_s * part.own_s > 0.0).then_some((&one.function, there.time))
    });
    let most = there.max_by(|a, b| a.1.change_s.abs().total_cmp(&b.1.change_s.abs()));
    most.map_or_else(String::new, |(name, time)| {
        let more = if time.change_s < 0.0 { "less" } else { "more" };
        let unit = TimeUnit::for_max(time.change_s.abs());
        let [change, error] = [time.change_s.abs(), time.error_s].map(|part| unit.number(part));
        let name = shorten(&clean(name), LONGEST_NAME);
        format!(" By samples, {name} computes {change} ± {error} {} {more} there in the mean over ranks.", unit.symbol)
    })
}

fn direction(change: f64) -> &'static str {
    if change < 0.0 { "less" } else { "more" }
}

/// Names a part within a sentence: `computation in step/force`.
pub fn what(part: &TimeContribution) -> String {
    match region(part) {
        Some(region) => format!("{} in {}", part.what.name(), shorten(&region, LONGEST_NAME)),
        None => part.what.name().to_owned(),
    }
}

/// Names of the regions of parts in a table: a region whose short name another one has too is named by as much of its path as shows
/// it apart. Empty where a part is in none.
pub fn regions(parts: &[&TimeContribution]) -> Vec<String> {
    let paths: BTreeSet<&str> = parts.iter().filter_map(|part| part.region.as_deref()).collect();
    let regions = parts.iter().map(|part| part.region.as_deref());
    regions.map(|path| path.map_or_else(String::new, |path| clean(unique(path, &paths)))).collect()
}

/// The short name of a path; of several of `paths` that have the same, the shortest end that the others do not have.
fn unique<'a>(path: &'a str, paths: &BTreeSet<&str>) -> &'a str {
    let name = short_path(path);
    let alike: Vec<&str> = paths.iter().copied().filter(|&other| other != path && short_path(other) == name).collect();
    if alike.is_empty() {
        return name;
    }
    let ends: Vec<&str> = separators(path).filter_map(|at| path.get(at + 1..)).collect();
    let mut long_enough = ends.into_iter().rev().filter(|end| end.len() >= name.len());
    long_enough.find(|end| !alike.iter().any(|other| is_end_of_path(end, other))).unwrap_or(path)
}

/// True if `end` is made of the last segments of `path`.
fn is_end_of_path(end: &str, path: &str) -> bool {
    path.strip_suffix(end).is_some_and(|outer| outer.ends_with('/'))
}

/// Seconds without their sign, as precise as beside `whole_s`.
fn size_of(seconds: f64, whole_s: f64) -> String {
    seconds_like(seconds.abs(), whole_s)
}

/// The name of a part's region.
pub fn region(part: &TimeContribution) -> Option<String> {
    part.region.as_deref().map(|path| clean(short_path(path)))
}

/// The affected ranks, as the end of a sentence.
fn whose(part: &TimeContribution) -> String {
    match &part.whose {
        AffectedRanks::Ranks(ranks) if !ranks.is_empty() => {
            format!(", on {} {}", if ranks.len() == 1 { "rank" } else { "ranks" }, some_ranks(ranks))
        }
        AffectedRanks::All(_) => ", on all ranks".to_owned(),
        AffectedRanks::Longest { rank, .. } => format!(", longest on rank {rank}"),
        AffectedRanks::Ranks(_) | AffectedRanks::Nobody => String::new(),
    }
}

fn some_ranks(ranks: &[(u32, f64)]) -> String {
    let mut first: Vec<u32> = ranks.iter().take(MOST_RANKS).map(|&(rank, _)| rank).collect();
    first.sort_unstable();
    let more = ranks.len().saturating_sub(MOST_RANKS);
    ranges(&first) + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

/// On which ranks, and by how much their own time changed: as a cell.
pub fn whose_cell(part: &TimeContribution, unit: TimeUnit) -> String {
    match &part.whose {
        AffectedRanks::Ranks(ranks) => match ranks.as_slice() {
            [] => "–".to_owned(),
            [(rank, own_s)] if *own_s == 0.0 => rank.to_string(),
            [(rank, own_s)] => format!("{rank} ({})", signed(unit, *own_s)),
            several => some_ranks(several),
        },
        AffectedRanks::All(own_s) => format!("all ({})", signed(unit, *own_s)),
        AffectedRanks::Longest { rank, over_mean_s, .. } => format!("longest {rank} ({})", signed(unit, *over_mean_s)),
        AffectedRanks::Nobody => "–".to_owned(),
    }
}

/// A change in a unit, with its sign: `+12.5`, `−3.0`, `0.0`.
pub fn signed(unit: TimeUnit, seconds: f64) -> String {
    let text = unit.number(seconds.abs());
    let is_zero = text.chars().all(|char| matches!(char, '0' | '.'));
    match seconds {
        _ if is_zero => text,
        seconds if seconds < 0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

/// Describes the limits of noise.
pub fn noise(comparison: &RunComparison) -> String {
    let (base, new) = (comparison.sides.base.runs.len(), comparison.sides.new.runs.len());
    let limits = &comparison.limits;
    let elapsed_s = comparison.elapsed.base_mean();
    if comparison.noise_is_known() {
        return format!(
            "Noise is judged from {base} base and {new} new runs, by the t-test at {} (several parts by Holm's method); changes \
             of less than {} do not matter.",
            percent(lbprof_thresholds::study::MAX_CHANCE_OF_DIFFERENCE),
            seconds_like(limits.relevant_s(elapsed_s), elapsed_s)
        );
    }
    format!(
        "With one run a side the noise is not known: changes of less than {} ({} of the elapsed time, at least 5 ms) are taken for \
         it. Several runs on a side show it: --with.",
        seconds_like(limits.assumed_s(elapsed_s), elapsed_s),
        percent(limits.share)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let names = paths.map(|path| unique(path, &all));
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
            own_s: 0.0,
            caused_s: 0.0,
            whose: AffectedRanks::Nobody,
        };
        assert_eq!(regions(&[&part(paths[0]), &part(paths[1])]), listed[..2]);
    }
}
