//! A comparison as JSON, schema "lbprof-compare/1".
//!
//! docs/compare.schema.json is generated from the rows, and the table of docs/compare-json.md from that.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::words;
use crate::compare::condition::JudgedCondition;
use crate::compare::functions::FunctionChange;
use crate::compare::{ComparisonSide, FigureChange, RunComparison, RunRatio, TimeContribution};
use lbprof_report::json::{GENERATOR, write_pretty};

/// Name and version of the schema.
pub const SCHEMA: &str = "lbprof-compare/1";

/// A comparison.
#[derive(Debug, Serialize, crate::JsonSchema)]
pub struct ComparisonDocument<'a> {
    /// `lbprof-compare/1`.
    schema: &'static str,
    /// Program and version that wrote the document.
    generator: &'static str,
    /// The first sentences of the text output.
    verdict: String,
    /// The runs to compare with.
    base: Vec<ComparedRun<'a>>,
    /// The runs that are compared, likewise.
    new: Vec<ComparedRun<'a>>,
    /// The change of the elapsed time.
    elapsed: ElapsedChange<'a>,
    /// Changes that count as noise.
    noise: NoiseRow,
    /// True if `reasons` are by cause; false if waiting was not analysed in a run; then they equal `places`.
    by_cause: bool,
    /// Parts of the change of elapsed time, largest first, with waiting attributed to its causes; they add up to `elapsed.change_s`.
    reasons: &'a [TimeContribution],
    /// Parts by region and activity, with waiting where it is spent.
    places: &'a [TimeContribution],
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

/// A run of one side.
#[derive(Debug, Serialize, crate::JsonSchema)]
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
#[derive(Debug, Serialize, crate::JsonSchema)]
struct ElapsedChange<'a> {
    /// Its means.
    #[serde(flatten)]
    elapsed: &'a FigureChange,
    /// The change as a share of the base.
    relative: Option<f64>,
}

/// Changes that count as noise.
#[derive(Debug, Serialize, crate::JsonSchema)]
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
        base: compared_runs(&comparison.sides.base),
        new: compared_runs(&comparison.sides.new),
        elapsed: ElapsedChange { elapsed: &comparison.elapsed, relative: comparison.elapsed.relative() },
        noise: noise_row(comparison),
        by_cause: comparison.by_cause,
        reasons: &comparison.reasons,
        places: &comparison.places,
        functions: comparison.functions.as_deref(),
        efficiencies: &comparison.ratios,
        remarks: &comparison.remarks,
        conditions,
    }
}

fn compared_runs(side: &ComparisonSide) -> Vec<ComparedRun<'_>> {
    let runs = side.runs.iter().map(|named| ComparedRun {
        name: &named.name,
        id: format!("{:016x}", named.run.id),
        command: &named.run.command,
        ranks: named.run.n_ranks,
        params: &named.run.params,
        elapsed_s: named.run.times.elapsed_s,
        complete: named.run.complete,
    });
    runs.collect()
}

fn noise_row(comparison: &RunComparison) -> NoiseRow {
    let elapsed_s = comparison.elapsed.base_s;
    let known = comparison.noise_is_known();
    let limits = &comparison.limits;
    NoiseRow {
        known,
        level: known.then_some(lbprof_thresholds::study::MAX_CHANCE_OF_DIFFERENCE),
        least_s: if known { limits.relevant_s(elapsed_s) } else { limits.assumed_s(elapsed_s) },
        nothing_beyond: comparison.is_noise(),
    }
}
