//! A comparison as JSON, schema "lbprof-compare/1".
//!
//! docs/compare.schema.json is generated from the rows, and the table of docs/compare-json.md from that.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::condition::JudgedCondition;
use super::functions::FunctionChange;
use super::{AffectedRanks, ComparisonSide, RunComparison, RunRatio, TimeContribution, words};
use lbprof_analysis::metrics::median::median_of;
use lbprof_report::json::{GENERATOR, write_pretty};

/// Name and version of the schema.
pub const SCHEMA: &str = "lbprof-compare/1";

/// A comparison.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparisonDocument<'a> {
    /// `lbprof-compare/1`.
    schema: &'static str,
    /// Program and version that wrote the document.
    generator: &'static str,
    /// The first sentences of the text output.
    verdict: String,
    /// The runs to compare with.
    base: SideRow<'a>,
    /// The runs that are compared, likewise.
    new: SideRow<'a>,
    /// The change of the elapsed time.
    elapsed: ElapsedChange,
    /// Changes that count as noise.
    noise: NoiseRow,
    /// True if `reasons` are by cause; false if waiting was not analysed in a run; then they equal `places`.
    by_cause: bool,
    /// Parts of the change of elapsed time, largest first, with waiting attributed to its causes; they add up to `elapsed.change_s`.
    reasons: Vec<ReasonRow<'a>>,
    /// Parts by region and activity, with waiting where it is spent.
    places: Vec<ReasonRow<'a>>,
    /// Functions whose CPU time in computation changed significantly, the largest change first, at most 20; null if not all runs were sampled, or
    /// if an older version added one to a study.
    functions: Option<&'a [FunctionChange]>,
    /// The efficiencies of both sides.
    efficiencies: &'a [RunRatio],
    /// Further differences and missing data, as sentences.
    remarks: &'a [String],
    /// Conditions to fail on, in the given order.
    conditions: &'a [JudgedCondition],
}

/// The runs of one side.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SideRow<'a> {
    /// Runs, in the given order.
    runs: Vec<ComparedRun<'a>>,
    /// Median of the elapsed times.
    elapsed_median_s: Option<f64>,
    /// The shortest.
    elapsed_min_s: Option<f64>,
    /// The longest.
    elapsed_max_s: Option<f64>,
}

/// A run of one side.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ComparedRun<'a> {
    /// Its folder, as it was given.
    name: &'a str,
    /// The run's id, 16 hexadecimal digits.
    id: String,
    /// Its command line.
    command: &'a [String],
    /// Size of MPI_COMM_WORLD.
    ranks: u32,
    /// The user's parameters: the value of each, by its name.
    params: &'a BTreeMap<String, f64>,
    /// Its elapsed time.
    elapsed_s: f64,
    /// True if the data are complete.
    complete: bool,
}

/// The change of the elapsed time.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ElapsedChange {
    /// Mean of the base runs.
    base_s: f64,
    /// Mean of the new runs.
    new_s: f64,
    /// `new` minus `base`.
    change_s: f64,
    /// The change as a share of the base.
    relative: Option<f64>,
    /// True if it is beyond noise.
    beyond_noise: bool,
}

/// Changes that count as noise.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct NoiseRow {
    /// True if it follows from several runs; otherwise it is assumed.
    known: bool,
    /// Level of the t-test, where noise is known.
    level: Option<f64>,
    /// Smallest change that counts, in seconds.
    least_s: f64,
    /// True if neither the elapsed time nor a reason nor an efficiency changed beyond noise.
    nothing_beyond: bool,
}

/// A part of the change of the elapsed time.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ReasonRow<'a> {
    /// `computation` (or another activity by place), `calls besides waiting`, `waiting for ranks in calls`, `messages in transit`, `recorder`,
    /// `idle` or `not recorded`.
    what: &'static str,
    /// Path of the region in the new runs, or in the base runs if only these have it; of several regions that are the same code, the path of the function;
    /// null if no region is concerned.
    region: Option<&'a str>,
    /// Seconds in the base runs: own time and waiting that it causes, means over ranks.
    base_s: f64,
    /// Its value in the new runs.
    new_s: f64,
    /// `new` minus `base`.
    change_s: f64,
    /// The part as a share of `elapsed.change_s`; negative if it offsets other parts.
    share: Option<f64>,
    /// Of `change_s`, its own time.
    own_change_s: f64,
    /// Of `change_s`, the waiting that it causes; 0 by place.
    caused_change_s: f64,
    /// True if `change_s` is beyond noise.
    beyond_noise: bool,
    /// True if all ranks contribute about equally.
    all_ranks: bool,
    /// The ranks that contribute most, largest first; empty if all contribute, if the numbers of ranks differ, or if no rank is concerned.
    ranks: Vec<RankChange>,
    /// If the numbers of ranks differ: the rank that spends most time there in the new runs.
    longest: Option<LongestRankChange>,
}

/// A rank's part in a change.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct RankChange {
    /// The rank.
    rank: u32,
    /// By how much its own time there changed.
    own_change_s: f64,
}

/// The rank that spends most time in a place.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct LongestRankChange {
    /// Its number.
    rank: u32,
    /// By how much it exceeds the mean of all ranks.
    over_mean_s: f64,
    /// Excess of the longest rank of the base runs.
    base_over_mean_s: f64,
}

/// Writes the comparison as one JSON document that ends with a new line.
pub fn write_comparison(
    comparison: &RunComparison,
    conditions: &[JudgedCondition],
    out: &mut dyn Write,
) -> io::Result<()> {
    write_pretty(&comparison_document(comparison, conditions), out)
}

/// Returns the comparison as it is written.
pub fn comparison_document<'a>(
    comparison: &'a RunComparison,
    conditions: &'a [JudgedCondition],
) -> ComparisonDocument<'a> {
    ComparisonDocument {
        schema: SCHEMA,
        generator: GENERATOR,
        verdict: words::comparison_headline(comparison),
        base: side_row(&comparison.sides.base),
        new: side_row(&comparison.sides.new),
        elapsed: ElapsedChange {
            base_s: comparison.elapsed.base_mean(),
            new_s: comparison.elapsed.new_mean(),
            change_s: comparison.elapsed.difference(),
            relative: comparison.elapsed.relative(),
            beyond_noise: comparison.elapsed.beyond_noise,
        },
        noise: noise_row(comparison),
        by_cause: comparison.by_cause,
        reasons: comparison.reasons.iter().map(|one| reason_row(comparison, one)).collect(),
        places: comparison.places.iter().map(|one| reason_row(comparison, one)).collect(),
        functions: comparison.functions.as_deref(),
        efficiencies: &comparison.ratios,
        remarks: &comparison.remarks,
        conditions,
    }
}

fn side_row(side: &ComparisonSide) -> SideRow<'_> {
    let values = side.values(|run| run.times.elapsed_s);
    let runs = side.runs.iter().map(|named| ComparedRun {
        name: &named.name,
        id: format!("{:016x}", named.run.id),
        command: &named.run.command,
        ranks: named.run.n_ranks,
        params: &named.run.params,
        elapsed_s: named.run.times.elapsed_s,
        complete: named.run.complete,
    });
    SideRow {
        runs: runs.collect(),
        elapsed_median_s: median_of(&values),
        elapsed_min_s: values.iter().copied().reduce(f64::min),
        elapsed_max_s: values.iter().copied().reduce(f64::max),
    }
}

fn noise_row(comparison: &RunComparison) -> NoiseRow {
    let elapsed_s = comparison.elapsed.base_mean();
    let known = comparison.noise_is_known();
    let limits = &comparison.limits;
    NoiseRow {
        known,
        level: known.then_some(lbprof_thresholds::study::MAX_CHANCE_OF_DIFFERENCE),
        least_s: if known { limits.relevant_s(elapsed_s) } else { limits.assumed_s(elapsed_s) },
        nothing_beyond: comparison.is_noise(),
    }
}

fn reason_row<'a>(comparison: &RunComparison, part: &'a TimeContribution) -> ReasonRow<'a> {
    let whole_s = comparison.elapsed.difference();
    let (mut ranks, mut longest): (&[(u32, f64)], Option<LongestRankChange>) = (&[], None);
    match &part.whose {
        AffectedRanks::Ranks(changed) => ranks = changed,
        &AffectedRanks::Longest { rank, over_mean_s, base_over_mean_s } => {
            longest = Some(LongestRankChange { rank, over_mean_s, base_over_mean_s });
        }
        AffectedRanks::All(_) | AffectedRanks::Nobody => {}
    }
    ReasonRow {
        what: part.what.name(),
        region: part.region.as_deref(),
        base_s: part.total.base_mean(),
        new_s: part.total.new_mean(),
        change_s: part.total.difference(),
        share: (whole_s != 0.0).then(|| part.total.difference() / whole_s),
        own_change_s: part.own_s,
        caused_change_s: part.caused_s,
        beyond_noise: part.total.beyond_noise,
        all_ranks: matches!(part.whose, AffectedRanks::All(_)),
        ranks: ranks.iter().map(|&(rank, own_change_s)| RankChange { rank, own_change_s }).collect(),
        longest,
    }
}
