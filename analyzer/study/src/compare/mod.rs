//! Compares two runs, or repeated runs of two kinds: splits the change of the elapsed time completely, by reason and by place, separates it
//! from noise, and evaluates conditions for CI.
//!
//! Made of [`RunMetrics`]s alone; `text`, `json`, `markdown` and `junit` only format a [`RunComparison`].

mod change;
pub mod condition;
mod findings;
mod functions;
pub mod names;
pub mod noise;
pub mod output;
mod parts;
mod remarks;
mod sides;

use serde::Serialize;

use crate::RunMetrics;
use change::ChangeJudge;
pub use change::FigureChange;
pub use findings::FindingChange;
use functions::FunctionChange;
use lbprof_thresholds::study::MIN_DIFFERENCE_OF_EFFICIENCIES;
use names::reasons::Parts;
use names::regions::RegionList;
use noise::{NoiseLimits, mean_of};
pub use parts::{AffectedRanks, LongestRankChange, RankChange, TimeContribution};
use sides::RatioOfRun;
pub use sides::{ComparisonSide, ComparisonSides, NamedRun};

/// An efficiency of both sides.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct RunRatio {
    /// Name as in the text output.
    pub name: &'static str,
    /// Median of the base runs; null unless all have it.
    pub base: Option<f64>,
    /// Median of the new runs, likewise.
    pub new: Option<f64>,
    /// `new` minus `base`.
    pub change: Option<f64>,
    /// True if the means differ by a point or more, and beyond noise; false if noise is not known.
    pub beyond_noise: bool,
}

/// The differences between two sides.
#[derive(Clone, Debug, PartialEq)]
pub struct RunComparison {
    /// The compared sides.
    pub sides: ComparisonSides,
    /// Limits of noise.
    pub limits: NoiseLimits,
    /// Elapsed time.
    pub elapsed: FigureChange,
    /// Parts of its change by reason, the largest first; by place where the causes of waiting are not known on both sides.
    pub reasons: Vec<TimeContribution>,
    /// True if `reasons` are by cause.
    pub by_cause: bool,
    /// Parts of its change by place, the largest first.
    pub places: Vec<TimeContribution>,
    /// In which functions the runs compute longer or shorter; `None` where that is not known of all.
    pub functions: Option<Vec<FunctionChange>>,
    /// Changes of what the runs lose time by, the largest first.
    pub findings: Vec<FindingChange>,
    /// Efficiencies.
    pub ratios: Vec<RunRatio>,
    /// Remarks on other differences.
    pub remarks: Vec<String>,
}

impl RunComparison {
    /// Compares `sides`.
    pub fn new(sides: ComparisonSides, limits: NoiseLimits) -> RunComparison {
        let runs: Vec<&RunMetrics> = sides.base.runs.iter().chain(&sides.new.runs).map(|named| &named.run).collect();
        let regions = RegionList::new(&runs, sides.base.runs.len());
        let places: Vec<Parts> =
            runs.iter().enumerate().map(|(at, run)| names::reasons::by_place(run, at, &regions)).collect();
        let by_reason: Option<Vec<Parts>> =
            runs.iter().enumerate().map(|(at, run)| names::reasons::by_reason(run, at, &regions)).collect();
        let judge = ChangeJudge::new(&sides, limits);
        let one_sided = only_on_one_side(&regions, &sides);
        let by_cause = by_reason.is_some();
        let by_reason = by_reason.unwrap_or_else(|| places.clone());
        let [base, new] = [&sides.base, &sides.new].map(|side| side.values(|run| run.times.elapsed_s));
        let mut elapsed = FigureChange::new(base, new);
        judge.judge(&mut [&mut elapsed]);
        let reasons = parts::contribution_rows(&by_reason, &sides, &regions, &judge, &elapsed);
        let places = parts::contribution_rows(&places, &sides, &regions, &judge, &elapsed);
        let mut remarks = remarks::comparison_remarks(&sides);
        remarks.extend(regions.remarks.iter().cloned());
        remarks.extend(one_sided);
        let functions = functions::function_changes(&sides, &regions, judge.least_s);
        remarks.extend(functions.iter().flat_map(|(_, remarks)| remarks.iter().cloned()));
        remarks.extend((!by_cause).then(|| remarks::NOT_FOLLOWED.to_owned()));
        RunComparison {
            functions: functions.map(|(changes, _)| changes),
            findings: findings::finding_changes(&sides, &judge),
            ratios: compare_ratios(&sides),
            sides,
            limits,
            elapsed,
            reasons,
            by_cause,
            places,
            remarks,
        }
    }

    /// True if neither the elapsed time nor a reason nor an efficiency differs beyond noise.
    pub fn is_noise(&self) -> bool {
        !self.elapsed.beyond_noise
            && !self.reasons.iter().any(|part| part.total.beyond_noise)
            && !self.ratios.iter().any(|ratio| ratio.beyond_noise)
    }

    /// True if the sides have enough runs to measure their noise.
    pub fn noise_is_known(&self) -> bool {
        noise::is_known(self.sides.base.runs.len(), self.sides.new.runs.len())
    }

    /// True if no data of any run are missing.
    pub fn complete(&self) -> bool {
        self.sides.base.runs.iter().chain(&self.sides.new.runs).all(|named| named.run.complete)
    }
}

const RATIOS: [(&str, RatioOfRun); 5] = [
    ("parallel efficiency", |run| run.times.parallel()),
    ("load balance", |run| run.times.load_balance()),
    ("communication", |run| run.times.communication()),
    ("micro load balance", |run| run.times.micro_load_balance()),
    ("transfer", |run| run.times.transfer()),
];

/// Ratios of all cores, of runs whose ranks have several threads.
const CORE_RATIOS: [(&str, RatioOfRun); 7] = [
    ("cores: parallel efficiency", |run| run.cores?.share("parallel")),
    ("cores: MPI", |run| run.cores?.share("mpi")),
    ("cores: threads", |run| run.cores?.share("threads")),
    ("cores: serial", |run| run.cores?.share("serial")),
    ("cores: thread balance", |run| run.cores?.share("thread_balance")),
    ("cores: waits", |run| run.cores?.share("waits")),
    ("cores: fork and join", |run| run.cores?.share("fork_join")),
];

/// Efficiencies do not scatter as times do: a run that took twice as long for a reason of the machine may be as well balanced as the
/// others. So they are tested by themselves.
fn compare_ratios(sides: &ComparisonSides) -> Vec<RunRatio> {
    let has_cores =
        [&sides.base, &sides.new].into_iter().flat_map(|side| &side.runs).any(|one| one.run.cores.is_some());
    let ratios: Vec<_> = RATIOS.iter().chain(CORE_RATIOS.iter().filter(|_| has_cores)).collect();
    let probabilities: Vec<f64> = ratios.iter().map(|(_, of)| ratio_probability(sides, *of).unwrap_or(1.0)).collect();
    let mut rows = Vec::new();
    for ((name, of), beyond_noise) in ratios.into_iter().zip(noise::reject_together(&probabilities)) {
        let (base, new) = (sides.base.median(of), sides.new.median(of));
        let change = base.zip(new).map(|(base, new)| new - base);
        rows.push(RunRatio { name, base, new, change, beyond_noise });
    }
    rows
}

/// The probability that the sides differ in a ratio by chance, 1 where the difference does not matter; `None` where that is not known.
fn ratio_probability(sides: &ComparisonSides, of: RatioOfRun) -> Option<f64> {
    let (base, new) = (sides.base.known_values(of)?, sides.new.known_values(of)?);
    let probability = noise::chance_of_difference(&base, &new)?;
    Some(if (mean_of(&new) - mean_of(&base)).abs() < MIN_DIFFERENCE_OF_EFFICIENCIES { 1.0 } else { probability })
}

fn only_on_one_side(regions: &RegionList, sides: &ComparisonSides) -> Vec<String> {
    let n = sides.base.runs.len();
    let (base, new) = (0..n, n..n + sides.new.runs.len());
    let (mut in_base, mut in_new) = (Vec::new(), Vec::new());
    for (idx, path) in regions.paths.iter().enumerate() {
        let [in_base_run, in_new_run] =
            [&base, &new].map(|runs| runs.clone().any(|run| !regions.paths_in(run, idx).is_empty()));
        match (in_base_run, in_new_run) {
            (true, false) => in_base.push(path.clone()),
            (false, true) => in_new.push(path.clone()),
            _ => {}
        }
    }
    [remarks::remark_on_unmatched("base", &in_base), remarks::remark_on_unmatched("new", &in_new)]
        .into_iter()
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::CoreFigures;

    fn side(serial: Option<f64>) -> ComparisonSide {
        let cores = serial.map(|serial| {
            let shares = CoreFigures::NAMES.map(|name| if name == "serial" { Some(serial) } else { Some(0.5) });
            CoreFigures { cores: 4, threads_per_rank: 2, shares }
        });
        ComparisonSide {
            runs: vec![NamedRun { run: RunMetrics { cores, ..RunMetrics::default() }, ..NamedRun::default() }],
        }
    }

    #[test]
    fn efficiencies_of_cores_are_rows_where_ranks_have_threads() {
        let rows = compare_ratios(&ComparisonSides { base: side(Some(0.9)), new: side(Some(0.75)) });
        let serial = rows.iter().find(|row| row.name == "cores: serial").unwrap();
        assert_eq!((serial.base, serial.new, rows.len()), (Some(0.9), Some(0.75), 12));
        let without = compare_ratios(&ComparisonSides { base: side(None), new: side(None) });
        assert!(without.len() == 5 && without.iter().all(|row| !row.name.starts_with("cores")));
    }
}
