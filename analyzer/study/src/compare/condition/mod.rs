//! Conditions on a run, for CI: `parallel_efficiency < 0.9`, `elapsed_s > base * 1.05`,
//! `regions["main/force"].time_s > base + 0.5`.
//!
//! ```text
//! condition   = metric ("<" | "<=" | ">" | ">=" | "==" | "!=") (number | "base" (("+" | "-" | "*" | "/") number)?)
//! metric      = name | 'regions["' path '"].' name
//! number      = a number, maybe followed by "%"
//! ```
//!
//! `base` is the same metric of the base runs. The value of several runs is their median. An
//! unknown value makes the condition unknown, which is never taken for a pass.

mod metric;
mod parse;
pub mod words;

use serde::Serialize;

use super::ComparisonSide;
use super::names::regions::RegionList;
use crate::RunMetrics;
use lbprof_analysis::metrics::spread::median::median_of;
use lbprof_report::rows::words::escape_name;
pub use metric::{ConditionMetric, list_metric_names};

/// An error in a condition itself, whatever the runs are.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConditionError {
    /// The condition cannot be read.
    #[error("{0}: {1}")]
    Syntax(String, String),
    /// The condition needs a base, and there is none.
    #[error("{0}: there is no base without lb-report compare")]
    NoBase(String),
    /// The condition (first) names a region that no run has. The last text names a similar one, or is empty.
    #[error("{0}: no run has a region {1}{2}")]
    NoRegion(String, String, String),
}

type ComparisonOperator = fn(&f64, &f64) -> bool;
type NumberOperator = fn(f64, f64) -> f64;

/// A condition; parsed by [`std::str::FromStr`].
#[derive(Clone, Debug)]
pub struct FailCondition {
    text: String,
    metric: ConditionMetric,
    holds: ComparisonOperator,
    /// Makes the limit of the base value and the number; `None`: the limit is the number.
    of_base: Option<NumberOperator>,
    number: f64,
}

/// The result of a condition to fail on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, crate::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ConditionOutcome {
    /// The condition does not hold: good.
    Passes,
    /// The condition holds.
    Fails,
    /// A figure in it is not known: as bad as if it held.
    Unknown,
}

/// A condition, evaluated.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct JudgedCondition {
    /// The condition as it was written.
    #[serde(rename = "condition")]
    pub text: String,
    /// `passes` (it does not hold), `fails` (it holds) or `unknown` (a figure in it is not known, which counts as failed).
    pub outcome: ConditionOutcome,
    /// Its metric.
    pub metric: String,
    /// Its value, the median of the new runs.
    pub value: Option<f64>,
    /// True if the condition speaks of the base.
    #[serde(skip)]
    pub has_base: bool,
    /// Its value for the base runs.
    pub base: Option<f64>,
    /// The number that its value is compared with; null if that is not known, or not finite.
    pub limit: Option<f64>,
}

impl JudgedCondition {
    /// The outcome as a sentence, with control characters escaped.
    pub fn sentence(&self) -> String {
        format!("{}: {}: {}", escape_name(&self.text), words::outcome_word(self.outcome), words::condition_values(self))
    }
}

impl FailCondition {
    /// Judges `new`, against `base` if there is one.
    ///
    /// Errors: it needs a base, and there is none; or a region that no run has, which is a slip of the pen. A region that only some runs
    /// have makes it unknown.
    pub fn judge(
        &self,
        new: &ComparisonSide,
        base: Option<&ComparisonSide>,
    ) -> Result<JudgedCondition, ConditionError> {
        if base.is_none() && self.of_base.is_some() {
            return Err(ConditionError::NoBase(self.text.clone()));
        }
        let [value, base] = self.values(new, base)?;
        let limit = match self.of_base {
            Some(operator) => base.map(|base| operator(base, self.number)),
            None => Some(self.number),
        };
        let limit = limit.filter(|limit| limit.is_finite());
        let outcome = match value.zip(limit) {
            None => ConditionOutcome::Unknown,
            Some((value, limit)) if (self.holds)(&value, &limit) => ConditionOutcome::Fails,
            Some(_) => ConditionOutcome::Passes,
        };
        Ok(JudgedCondition {
            text: self.text.clone(),
            outcome,
            metric: self.metric.to_string(),
            value,
            has_base: self.of_base.is_some(),
            base,
            limit,
        })
    }

    fn values(&self, new: &ComparisonSide, base: Option<&ComparisonSide>) -> Result<[Option<f64>; 2], ConditionError> {
        let base_runs: Vec<&RunMetrics> = base.iter().flat_map(|base| &base.runs).map(|named| &named.run).collect();
        let all: Vec<&RunMetrics> = base_runs.iter().copied().chain(new.runs.iter().map(|named| &named.run)).collect();
        let mut found = None;
        if let Some(name) = &self.metric.region {
            let regions = RegionList::new(&all, base_runs.len());
            let idx = regions.find(name).ok_or_else(|| self.no_region(name, &all))?;
            found = Some((regions, idx));
        }
        let values = all.iter().enumerate().map(|(at, run)| {
            let paths = found.as_ref().map_or(&[][..], |(regions, idx)| regions.paths_in(at, *idx));
            self.metric.value_in(run, paths)
        });
        let values: Vec<Option<f64>> = values.collect();
        let (base, new) = values.split_at(base_runs.len());
        // A median is known only if all values are.
        Ok([new, base].map(|values| median_of(&values.iter().copied().collect::<Option<Vec<f64>>>()?)))
    }

    fn no_region(&self, name: &str, runs: &[&RunMetrics]) -> ConditionError {
        let paths = runs.iter().flat_map(|run| &run.regions).map(|region| region.path.as_str());
        let instead = metric::most_similar(paths, name).map_or_else(String::new, |like| format!("; there is {like}"));
        ConditionError::NoRegion(self.text.clone(), name.to_owned(), instead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::NamedRun;
    use crate::run::RegionFigures;
    use lbprof_analysis::metrics::spread::load_balance::EfficiencyTimes;

    /// A run of 2 s in which ranks compute 1 s in the mean, and a region of 0.5 s on 2 ranks.
    fn side(elapsed_s: f64) -> ComparisonSide {
        let times = EfficiencyTimes { elapsed_s, max_computation_s: 1.25, avg_computation_s: 1.0, t_ideal_s: None };
        let activities = [(lbprof_collector::Activity::Computation, vec![0.25, 0.5])].into_iter().collect();
        let region = RegionFigures { path: "main/a b".into(), activities, ..Default::default() };
        let run = RunMetrics { times, regions: vec![region], ..RunMetrics::default() };
        ComparisonSide { runs: vec![NamedRun { name: "run".into(), run }] }
    }

    fn outcome(text: &str) -> ConditionOutcome {
        text.parse::<FailCondition>().expect(text).judge(&side(2.0), Some(&side(1.6))).expect(text).outcome
    }

    #[test]
    fn conditions_compare_a_metric_with_a_number_or_its_base() {
        for fails in [
            "elapsed_s > base * 1.05",
            "parallel_efficiency < 0.9",
            "parallel < 60 %",
            "elapsed_s>=base*1.2",
            "elapsed_s > base / 1.1",
            "elapsed_s > base + 20%",
            "elapsed_s > base - 1e-3",
            "elapsed_s > -0.5",
            "elapsed_s == 2",
            r#"regions["main/a b"].time_s > 0.7"#,
            r#"regions['main/a b'].time_s != 0.7"#,
            "load_balance == 0.8",
        ] {
            assert_eq!(outcome(fails), ConditionOutcome::Fails, "{fails}");
        }
        for passes in ["elapsed_s > base * 1.5", "elapsed_s <= 1.999", "parallel_efficiency < 0.5", "elapsed_s != 2"] {
            assert_eq!(outcome(passes), ConditionOutcome::Passes, "{passes}");
        }
    }

    #[test]
    fn what_is_not_known_does_not_pass() {
        for unknown in ["transfer < 0.1", "elapsed_s < base / 0", "elapsed_s < inf", "blocked_s > 5", "transfer > base"]
        {
            assert_eq!(outcome(unknown), ConditionOutcome::Unknown, "{unknown}");
        }
        let condition: FailCondition = r#"regions["main/a b"].time_s > base"#.parse().unwrap();
        let bare = ComparisonSide { runs: vec![NamedRun::default()] };
        assert_eq!(
            condition.judge(&side(2.0), Some(&bare)).unwrap().outcome,
            ConditionOutcome::Unknown,
            "the base lacks it"
        );
    }

    #[test]
    fn a_base_is_reported_where_the_condition_speaks_of_it() {
        let mut new = side(2.0);
        new.runs[0].run.regions[0].path = "main/database".into();
        let values = |text: &str| {
            super::words::condition_values(&text.parse::<FailCondition>().unwrap().judge(&new, Some(&new)).unwrap())
        };
        let known = values(r#"regions["main/database"].time_s > 1"#);
        assert!(known.contains("database") && !known.contains(", base"), "{known}");
        assert_eq!(values("elapsed_s > base * 2"), "elapsed_s is 2, base 2");
    }

    #[test]
    fn slips_are_reported() {
        for (text, says) in [
            ("elapsed > 3", "elapsed_s"),
            ("regions[\"main\"].tiem_s > 3", "time_s"),
            ("elapsed_s", "comparison"),
            ("elapsed_s > ", "ends"),
            ("elapsed_s > 3 3", "3"),
            ("elapsed_s > (3", "not (3"),
            ("3 > 2", "no metric 3"),
            (" > 2", "begins with no metric"),
            ("elapsed_s > transfer", "not transfer"),
            ("elapsed_s > base 2", "after its end"),
            ("regions[\"main > 3", "quote"),
            ("elapsed_s = 3", "=="),
            ("", "ends"),
            ("elapsed_s > 1.2.3", "1.2.3"),
        ] {
            let error = text.parse::<FailCondition>().expect_err(text).to_string();
            assert!(error.contains(says), "{error:?} does not say {says:?}");
        }
        let judge = |text: &str, base| text.parse::<FailCondition>().unwrap().judge(&side(2.0), base).unwrap_err();
        assert!(matches!(judge("elapsed_s > base", None), ConditionError::NoBase(_)));
        let error = judge("regions[\"main/b\"].time_s > 1", Some(&side(1.0))).to_string();
        assert!(error.ends_with("no run has a region main/b; there is main/a b"), "{error}");
    }
}
