//! A comparison as JSON, schema "lbprof-compare/1". docs/compare-json.md describes every key; a test compares the two.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::condition::JudgedCondition;
use super::functions::{FunctionChange, TimeChange};
use super::{AffectedRanks, ComparisonSide, FigureChange, RunComparison, TimeContribution, noise, words};
use lbprof_analysis::metrics::median::median;
use lbprof_report::json::{GENERATOR, write_pretty};

/// Name and version of the schema.
pub const SCHEMA: &str = "lbprof-compare/1";

/// Writes the comparison as one JSON document that ends with a new line.
pub fn write(comparison: &RunComparison, conditions: &[JudgedCondition], out: &mut dyn Write) -> io::Result<()> {
    write_pretty(&document(comparison, conditions), out)
}

/// The comparison as a JSON value.
pub fn document(comparison: &RunComparison, conditions: &[JudgedCondition]) -> Value {
    let elapsed_s = comparison.elapsed.base_mean();
    let known = comparison.noise_is_known();
    let limits = &comparison.limits;
    json!({
        "schema": SCHEMA,
        "generator": GENERATOR,
        "verdict": words::headline(comparison),
        "base": side(&comparison.sides.base),
        "new": side(&comparison.sides.new),
        "elapsed": change(&comparison.elapsed),
        "noise": {
            "known": known,
            "level": known.then_some(noise::LEVEL),
            "least_s": if known { limits.relevant_s(elapsed_s) } else { limits.assumed_s(elapsed_s) },
            "nothing_beyond": comparison.is_noise(),
        },
        "by_cause": comparison.by_cause,
        "reasons": comparison.reasons.iter().map(|one| part(comparison, one)).collect::<Value>(),
        "places": comparison.places.iter().map(|one| part(comparison, one)).collect::<Value>(),
        "functions": comparison.functions.as_ref().map(|changes| changes.iter().map(function).collect::<Value>()),
        "efficiencies": comparison.ratios.iter().map(|ratio| json!({
            "name": ratio.name,
            "base": ratio.base,
            "new": ratio.new,
            "change": ratio.base.zip(ratio.new).map(|(base, new)| new - base),
            "beyond_noise": ratio.beyond_noise,
        })).collect::<Value>(),
        "remarks": comparison.remarks,
        "conditions": conditions.iter().map(condition).collect::<Value>(),
    })
}

fn side(side: &ComparisonSide) -> Value {
    let values = side.values(|run| run.times.elapsed_s);
    let runs = side.runs.iter().map(|named| {
        json!({
            "name": named.name,
            "id": format!("{:016x}", named.run.id),
            "command": named.run.command,
            "ranks": named.run.n_ranks,
            "params": named.run.params,
            "elapsed_s": named.run.times.elapsed_s,
            "complete": named.run.complete,
        })
    });
    json!({
        "runs": runs.collect::<Value>(),
        "elapsed_median_s": median(&values),
        "elapsed_min_s": values.iter().copied().reduce(f64::min),
        "elapsed_max_s": values.iter().copied().reduce(f64::max),
    })
}

fn function(change: &FunctionChange) -> Value {
    let of = |name: &str, text: &str, time: &TimeChange| {
        json!({
            name: text,
            "base_s": time.base_s,
            "new_s": time.new_s,
            "change_s": time.difference(),
            "error_s": time.error_s,
        })
    };
    let mut row = of("function", &change.function, &change.time);
    row["regions"] = change.regions.iter().map(|(path, time)| of("region", path, time)).collect();
    row
}

fn change(change: &FigureChange) -> Value {
    json!({
        "base_s": change.base_mean(),
        "new_s": change.new_mean(),
        "change_s": change.difference(),
        "relative": change.relative(),
        "beyond_noise": change.beyond_noise,
    })
}

fn part(comparison: &RunComparison, part: &TimeContribution) -> Value {
    let whole_s = comparison.elapsed.difference();
    let all_ranks = matches!(part.whose, AffectedRanks::All(_));
    let ranks = match &part.whose {
        AffectedRanks::Ranks(ranks) => ranks.as_slice(),
        _ => &[],
    };
    let longest = match part.whose {
        AffectedRanks::Longest { rank, over_mean_s, base_over_mean_s } => Some(json!({
            "rank": rank,
            "over_mean_s": over_mean_s,
            "base_over_mean_s": base_over_mean_s,
        })),
        _ => None,
    };
    json!({
        "what": part.what.name(),
        "region": part.region,
        "base_s": part.total.base_mean(),
        "new_s": part.total.new_mean(),
        "change_s": part.total.difference(),
        "share": (whole_s != 0.0).then(|| part.total.difference() / whole_s),
        "own_change_s": part.own_s,
        "caused_change_s": part.caused_s,
        "beyond_noise": part.total.beyond_noise,
        "all_ranks": all_ranks,
        "ranks": ranks.iter().map(|(rank, own_s)| json!({ "rank": rank, "own_change_s": own_s })).collect::<Value>(),
        "longest": longest,
    })
}

/// A condition, as an object.
pub fn condition(judged: &JudgedCondition) -> Value {
    json!({
        "condition": judged.text,
        "outcome": judged.outcome.name(),
        "metric": judged.metric,
        "value": judged.value,
        "base": judged.base,
        "left": judged.sides.map(|sides| sides.0),
        "right": judged.sides.map(|sides| sides.1),
    })
}
