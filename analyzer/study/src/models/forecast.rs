//! Forecasts the time of a run with given P and parameters along the causal model: from these its operations and quanta, from them the
//! times of its phases, and from those its time.
//!
//! Where more than one variable differs from the runs at hand, each is taken to act as a factor of its own:
//!
//! ```text
//!   #q(P, n) = #q(P₀, n) · #q(P, n₁) / #q(P₀, n₁)        n varies in the runs of P₀, P in those of n₁
//! ```
//!
//! That is an assumption, which the result states. Uncertainties of steps are taken to be independent: their squares add up.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use thiserror::Error;

use super::prediction::PredictionInterval;
use super::quantity::CausalQuantity;
use super::regime::LinearRegime;
use super::relations::{QuantityRelation, StudyModels};
use super::validation::choose;
use super::variables::{RANKS, VariableSweep};
use super::{FitError, Point};
use lbprof_thresholds::study::{MIN_PHASE_WITHOUT_COUNTS, ROUNDING_OF_VALUES};

/// Why there is no forecast.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ForecastError {
    /// A name that no run has, or that is the same in all.
    #[error("{name} does not differ between these runs{}", these_do(.known))]
    NoVariable {
        /// The name.
        name: String,
        /// Existing variables.
        known: Vec<String>,
    },
    /// A value that makes no sense.
    #[error("{name} = {value}: P is a whole number from 1 on, a parameter any finite number")]
    NoValue {
        /// The variable.
        name: String,
        /// The value.
        value: f64,
    },
    /// The libraries differ: times under one MPI library say little of another.
    #[error("the runs are under different MPI libraries: {}; --where mpi=NAME chooses those of one", .0.join(", "))]
    Libraries(Vec<String>),
}

fn these_do(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; these do: {}", names.join(", ")) }
}

/// A value that was not measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ExpectedValue {
    /// Expected value.
    pub value: f64,
    /// The interval in which it lies in 95 of 100 cases, where the models hold: from here …
    pub low: f64,
    /// … to here.
    pub high: f64,
}

/// A quantity of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QuantityEstimate {
    /// The quantity.
    pub of: CausalQuantity,
    /// Expected value, or `None` if `why_not` gives a reason.
    pub expected: Option<ExpectedValue>,
    /// Why nothing can be said of it.
    pub why_not: Option<String>,
    /// Quantities that it is computed from.
    pub from: Vec<CausalQuantity>,
    /// True if #op or #q lie beyond the size up to which the linear law holds, so that a polynomial was used in its place.
    pub is_beyond_regime: bool,
}

/// The expected time of a run.
#[derive(Clone, Debug, Serialize)]
pub struct RunForecast {
    /// The variables: those asked for, and the others as in the runs at hand.
    pub variables: BTreeMap<String, f64>,
    /// Distance of each variable from the measured range, in widths of that range, for variables outside of it.
    pub widths_outside: BTreeMap<String, f64>,
    /// True if variables were taken to act as factors of their own.
    pub is_product: bool,
    /// Its quantities, causes before effects; the last one is T_par. Times are summed over ranks but that.
    pub steps: Vec<QuantityEstimate>,
    /// The largest share of P·T, in any of the runs at hand, of time that is in no phase above and so not in T_par; 0 where it is in a step of its
    /// own.
    pub left_out: f64,
}

/// Runs that vary one variable.
struct ForecastBase {
    /// The variable.
    name: String,
    /// The runs.
    sweep: VariableSweep,
    /// Variables whose values differ from the requested ones.
    differing: Vec<String>,
}

impl ExpectedValue {
    fn from_prediction(prediction: &PredictionInterval) -> ExpectedValue {
        ExpectedValue { value: prediction.value, low: prediction.low, high: prediction.high }
    }

    fn around(value: f64, half: f64) -> ExpectedValue {
        ExpectedValue { value, low: value - half, high: value + half }
    }

    fn half(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// An error where all of it lies below 0 by more than rounding of values of `size`: the curve goes where no time and no count is.
    fn not_below_0(self, size: f64) -> Result<ExpectedValue, String> {
        if self.high < -ROUNDING_OF_VALUES * size {
            Err("the curve through the runs is below 0 there".to_owned())
        } else {
            Ok(self)
        }
    }

    /// No time and no count is below 0.
    fn not_negative(self) -> ExpectedValue {
        ExpectedValue { value: self.value.max(0.0), low: self.low.max(0.0), high: self.high.max(0.0) }
    }
}

impl StudyModels {
    /// Predicts the time of a run whose variables are `asked`.
    pub fn forecast(&self, asked: &BTreeMap<String, f64>) -> Result<RunForecast, ForecastError> {
        for (name, &value) in asked {
            if !self.variables.contains(name) {
                return Err(ForecastError::NoVariable { name: name.clone(), known: self.variables.clone() });
            }
            if !value.is_finite() || (name == RANKS && (value < 1.0 || value.fract() != 0.0)) {
                return Err(ForecastError::NoValue { name: name.clone(), value });
            }
        }
        let libraries: BTreeSet<&String> = self.libraries.iter().collect();
        if libraries.len() > 1 {
            return Err(ForecastError::Libraries(libraries.into_iter().cloned().collect()));
        }
        let variables = self.completed(asked);
        let mut forecast = RunForecast {
            widths_outside: asked.iter().filter_map(|(name, &value)| self.outside(name, value)).collect(),
            is_product: self.bases(&variables).first().is_none_or(|base| !base.differing.is_empty()),
            steps: Vec::new(),
            left_out: 0.0,
            variables,
        };
        for phase in &self.phases {
            for part in phase.parts() {
                self.add_time(&mut forecast, CausalQuantity::Time(phase.region.clone(), part), &phase.relations);
            }
        }
        self.add_rest(&mut forecast);
        self.add_total(&mut forecast);
        Ok(forecast)
    }

    /// `asked`, with the other variables as in the sweep that has most values of one of those.
    fn completed(&self, asked: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
        let mut variables = asked.clone();
        let first = asked.keys().max_by_key(|name| self.sweeps(name).first().map_or(0, |sweep| sweep.n_different));
        let sweep = first.and_then(|name| self.sweeps(name).into_iter().next());
        let held = match sweep {
            Some(sweep) => sweep.held,
            None => self.runs.last().cloned().unwrap_or_default(),
        };
        for (name, value) in held {
            if self.variables.contains(&name) {
                variables.entry(name).or_insert(value);
            }
        }
        variables
    }

    fn outside(&self, name: &str, value: f64) -> Option<(String, f64)> {
        let values: Vec<f64> = self.runs.iter().filter_map(|run| run.get(name).copied()).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let widths = (value - most).max(least - value) / (most - least);
        (widths > 0.0).then(|| (name.to_owned(), widths))
    }

    /// Runs to start from, the best first: those that differ least from `variables` in what they hold, where they vary a variable enough
    /// for a fit; of as good ones the largest.
    fn bases(&self, variables: &BTreeMap<String, f64>) -> Vec<ForecastBase> {
        let mut bases = Vec::new();
        for name in &self.variables {
            for sweep in self.sweeps(name) {
                let others = self.variables.iter().filter(|other| *other != name);
                let differing = others.filter(|other| sweep.held.get(*other) != variables.get(*other));
                bases.push(ForecastBase { differing: differing.cloned().collect(), name: name.clone(), sweep });
            }
        }
        // What depends on P is the least likely to be a polynomial: better a factor of another variable.
        bases.sort_by_key(|base| {
            let is_ranks = base.name == RANKS;
            Reverse((base.sweep.n_different >= 3, Reverse(base.differing.len()), base.sweep.n_different, is_ranks))
        });
        bases
    }

    /// `of` at `variables`, from the runs that vary one of them, and factors of the others.
    fn on_variables_at(&self, of: &CausalQuantity, variables: &BTreeMap<String, f64>) -> Result<ExpectedValue, String> {
        let mut why_not = None;
        for base in self.bases(variables) {
            let (_, points) = self.points(&CausalQuantity::Variable(base.name.clone()), of, &base.sweep);
            let is_zero = points.iter().all(|point| point.1 == 0.0);
            if points.is_empty() && base.differing.is_empty() {
                return Err(format!("not known in the runs{}", self.fixed_variables(&base.sweep)));
            }
            // No factor makes another number of 0.
            if is_zero && !base.differing.is_empty() {
                let what = if points.is_empty() { "not known" } else { "0" };
                why_not.get_or_insert_with(|| format!("{what} in the runs{}", self.fixed_variables(&base.sweep)));
                continue;
            }
            return self.of_base(of, &base, &points, variables);
        }
        Err(why_not.unwrap_or_else(|| "no variable differs between these runs".to_owned()))
    }

    /// The variables that the runs of a sweep have in common: ` at P = 1`.
    fn fixed_variables(&self, sweep: &VariableSweep) -> String {
        let held = sweep.held.iter().filter(|(name, _)| self.variables.contains(name));
        let held: Vec<String> = held.map(|(name, value)| format!("{name} = {value}")).collect();
        if held.is_empty() { String::new() } else { format!(" at {}", held.join(", ")) }
    }

    /// `of` at `variables`, from the `points` of a base and factors of the variables that differ there.
    fn of_base(
        &self,
        of: &CausalQuantity,
        base: &ForecastBase,
        points: &[Point],
        variables: &BTreeMap<String, f64>,
    ) -> Result<ExpectedValue, String> {
        let mut expected = on_points(points, value_of(&base.name, variables)?)?;
        for other in &base.differing {
            let held = base.sweep.held.get(other).copied();
            let held = held.ok_or_else(|| format!("{other} is not known in all runs"))?;
            let variable = CausalQuantity::Variable(other.clone());
            let points = self.sweeps(other).into_iter().map(|sweep| self.points(&variable, of, &sweep).1);
            let points = points.into_iter().find(|points| points.iter().any(|point| point.1 != 0.0));
            let points = points.ok_or_else(|| format!("0 or not known in all runs that differ in {other} alone"))?;
            let [there, here] = [value_of(other, variables)?, held]
                .map(|value| on_points(&points, value).map_err(|error| format!("{other}: {error}")));
            let (there, here) = (there?, here?);
            if here.value <= 0.0 || here.low <= 0.0 {
                return Err(format!("no factor: at {other} = {held} {} may be 0", of.symbol()));
            }
            let factor = there.value / here.value;
            let half = (there.half() / here.value).hypot(factor * here.half() / here.value);
            expected =
                ExpectedValue::around(expected.value * factor, (expected.half() * factor).hypot(expected.value * half));
        }
        Ok(expected.not_negative())
    }

    /// Adds the time of a phase's part, and what it is computed from.
    fn add_time(&self, forecast: &mut RunForecast, time: CausalQuantity, relations: &[QuantityRelation]) {
        let on_work = relations.iter().find(|one| one.to == time && !matches!(one.from, CausalQuantity::Variable(_)));
        let Some(relation) = on_work else {
            let found = self.on_variables_at(&time, &forecast.variables);
            forecast.steps.push(QuantityEstimate::new(
                time,
                found,
                self.variables.iter().cloned().map(CausalQuantity::Variable).collect(),
            ));
            return;
        };
        let work = &relation.from;
        let x = match forecast.steps.iter().find(|step| step.of == *work) {
            Some(step) => step.expected,
            None => {
                let found = self.on_variables_at(work, &forecast.variables);
                let from = self.variables.iter().cloned().map(CausalQuantity::Variable).collect();
                forecast.steps.push(QuantityEstimate::new(work.clone(), found, from));
                forecast.steps.last().and_then(|step| step.expected)
            }
        };
        let found = x.ok_or_else(|| format!("nothing is known of {}", work.symbol()));
        let found = found.and_then(|x| on_work_at(relation, &x));
        let is_beyond_regime = x.is_some_and(|x| is_beyond(relation, x.value));
        forecast
            .steps
            .push(QuantityEstimate { is_beyond_regime, ..QuantityEstimate::new(time, found, vec![work.clone()]) });
    }

    /// Adds the time that is in no phase above, where it is as much as a phase that is looked at.
    fn add_rest(&self, forecast: &mut RunForecast) {
        let share = self.rest_share();
        if share < MIN_PHASE_WITHOUT_COUNTS {
            forecast.left_out = share;
            return;
        }
        let found = self.on_variables_at(&CausalQuantity::Rest, &forecast.variables);
        forecast.steps.push(QuantityEstimate::new(
            CausalQuantity::Rest,
            found,
            self.variables.iter().cloned().map(CausalQuantity::Variable).collect(),
        ));
    }

    /// Adds T_par: the sum of what the phases and the rest take, over P.
    fn add_total(&self, forecast: &mut RunForecast) {
        let times: Vec<&QuantityEstimate> = forecast
            .steps
            .iter()
            .filter(|step| matches!(step.of, CausalQuantity::Time(..) | CausalQuantity::Rest))
            .collect();
        let from = times.iter().map(|step| step.of.clone()).collect();
        let known: Option<Vec<ExpectedValue>> = times.iter().map(|step| step.expected).collect();
        let n = forecast.variables.get(RANKS).or_else(|| self.runs.first()?.get(RANKS));
        let found = match (known, n) {
            (Some(known), Some(n)) if !known.is_empty() => {
                let half = known.iter().map(|one| one.half().powi(2)).sum::<f64>().sqrt();
                let sum: f64 = known.iter().map(|one| one.value).sum();
                Ok(ExpectedValue::around(sum / n, half / n).not_negative())
            }
            _ => Err("the time of a phase is not known".to_owned()),
        };
        forecast.steps.push(QuantityEstimate::new(CausalQuantity::ParallelTime, found, from));
    }
}

impl QuantityEstimate {
    fn new(of: CausalQuantity, found: Result<ExpectedValue, String>, from: Vec<CausalQuantity>) -> QuantityEstimate {
        let (expected, why_not) = match found {
            Ok(expected) => (Some(expected), None),
            Err(why_not) => (None, Some(why_not)),
        };
        QuantityEstimate { of, expected, why_not, from, is_beyond_regime: false }
    }
}

fn value_of(name: &str, variables: &BTreeMap<String, f64>) -> Result<f64, String> {
    variables.get(name).copied().ok_or_else(|| format!("{name} is not given"))
}

/// Returns the value at `x` of a polynomial through `points`.
fn on_points(points: &[Point], x: f64) -> Result<ExpectedValue, String> {
    let chosen = choose(points).map_err(|error| error.to_string())?;
    let prediction = PredictionInterval::of_fit(&chosen.fit, x).map_err(|error| error.to_string())?;
    ExpectedValue::from_prediction(&prediction).not_below_0(chosen.size)
}

/// True if x lies beyond the linear regime.
fn is_beyond(relation: &QuantityRelation, x: f64) -> bool {
    matches!(relation.linear.as_ref().map(|model| &model.regime), Some(LinearRegime::Until { x: end, .. }) if x > *end)
}

/// The time of so much work: by the linear law where it holds, else by the polynomial; its own uncertainty, and that of the work.
fn on_work_at(relation: &QuantityRelation, work: &ExpectedValue) -> Result<ExpectedValue, String> {
    let law = relation.law().filter(|_| !is_beyond(relation, work.value));
    let (prediction, slope, size) = match (law, &relation.polynomial) {
        (Some(model), _) => (PredictionInterval::of_law(&model.law, work.value), model.law.delta, model.law.size),
        (None, Some(chosen)) => {
            (PredictionInterval::of_fit(&chosen.fit, work.value), chosen.fit.slope_at(work.value), chosen.size)
        }
        (None, None) => return Err(relation.no_polynomial.as_ref().unwrap_or(&FitError::NotFinite).to_string()),
    };
    let prediction = prediction.map_err(|error| error.to_string())?;
    let expected = ExpectedValue::around(prediction.value, prediction.half_width().hypot(slope * work.half()));
    Ok(expected.not_below_0(size)?.not_negative())
}

#[cfg(test)]
mod tests {
    use super::super::matrix_multiplication::{DELTA, DELTA_Q, full_grid, multiplication, study};
    use super::RANKS;
    use super::*;
    use lbprof_analysis::metrics::overhead::{PhaseTime, TimeCategory};

    fn asked(values: &[(&str, f64)]) -> BTreeMap<String, f64> {
        values.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
    }

    fn value(forecast: &RunForecast, of: &str) -> f64 {
        let step = forecast.steps.iter().find(|step| step.of.to_string() == of);
        step.and_then(|step| step.expected).unwrap_or_else(|| panic!("no {of}: {forecast:?}")).value
    }

    #[test]
    fn a_larger_problem_on_as_many_ranks() {
        let models = StudyModels::from_runs(&study()).unwrap();
        let found = models.forecast(&asked(&[("n", 320.0), (RANKS, 2.0)])).unwrap();
        let operations = 2.0 * 320.0_f64.powi(3);
        assert!((value(&found, "#op main/multiply") / operations - 1.0).abs() < 1e-9);
        assert!((value(&found, "T_comp main/multiply") / (DELTA * operations) - 1.0).abs() < 1e-9);
        let total = DELTA * operations + 1.5 * DELTA_Q * 320.0 * 320.0;
        assert!((value(&found, "T_par") / (total / 2.0) - 1.0).abs() < 1e-9);
        assert!(!found.is_product);
        assert!((found.widths_outside["n"] - 160.0 / 120.0).abs() < 1e-12 && found.widths_outside.len() == 1);
    }

    #[test]
    fn variables_together_are_factors_of_their_own() {
        let models = StudyModels::from_runs(&study()).unwrap();
        let found = models.forecast(&asked(&[("n", 120.0), (RANKS, 8.0)])).unwrap();
        assert!(found.is_product);
        // #op does not depend on P.
        assert!((value(&found, "T_comp main/multiply") / (DELTA * 2.0 * 120.0_f64.powi(3)) - 1.0).abs() < 1e-9);
        // #q is n²·(r + c − 2): by n a factor of its own. By P it is four times that of two ranks, and no polynomial.
        let smaller = models.forecast(&asked(&[("n", 80.0), (RANKS, 8.0)])).unwrap();
        let factor = value(&found, "#q main/broadcast") / value(&smaller, "#q main/broadcast");
        assert!((factor - 2.25).abs() < 1e-9 && !smaller.is_product, "{factor}");
        let step = found.steps.iter().find(|step| step.of.to_string() == "#q main/broadcast").unwrap();
        let expected = step.expected.unwrap();
        assert!(expected.low < 4.0 * 14400.0 && 4.0 * 14400.0 < expected.high, "its interval knows: {expected:?}");
    }

    /// The value of a quantity, or the reason why there is none.
    fn said(models: &StudyModels, at: &[(&str, f64)], of: &str) -> Result<ExpectedValue, String> {
        let found = models.forecast(&asked(at)).unwrap();
        let step = found.steps.into_iter().find(|step| step.of.to_string() == of).unwrap();
        step.expected.ok_or_else(|| step.why_not.unwrap())
    }

    #[test]
    fn what_is_0_on_one_rank_is_not_so_on_more() {
        let models = StudyModels::from_runs(&full_grid()).unwrap();
        let at = [(RANKS, 16.0), ("n", 200.0)];
        // #q is 0, n² … 4 n² on 1, 2, 4, 6, 8 ranks; the line through them is 278/134 times as high at 16 as at 8.
        let expected = 4.0 * 200.0 * 200.0 * 278.0 / 134.0;
        let quanta = said(&models, &at, "#q main/broadcast").unwrap();
        assert!((quanta.value / expected - 1.0).abs() < 1e-9 && quanta.low < 0.8 * quanta.value, "{quanta:?}");
        let communication = said(&models, &at, "T_comm main/broadcast").unwrap();
        assert!((communication.value / (DELTA_Q * expected) - 1.0).abs() < 1e-9, "{communication:?}");
        // Where only runs on one rank vary n, nothing is known of more ranks.
        let few = [40.0, 60.0, 80.0, 100.0, 120.0].map(|n| multiplication(1, n, f64::INFINITY));
        let others = [2, 4].map(|p| multiplication(p, 80.0, f64::INFINITY));
        let models = StudyModels::from_runs(&few.iter().cloned().chain(others).collect::<Vec<_>>()).unwrap();
        let why_not = said(&models, &[(RANKS, 4.0), ("n", 120.0)], "#q main/broadcast").unwrap_err();
        assert!(why_not.contains("too few points"), "{why_not}");
        // Nor is there a factor that makes another number of 0.
        let models = StudyModels::from_runs(&few).unwrap();
        let there = [(RANKS.to_owned(), 4.0), ("n".to_owned(), 110.0)].into();
        let why_not = StudyModels { variables: vec![RANKS.to_owned(), "n".to_owned()], ..models }
            .on_variables_at(&CausalQuantity::Quanta("main/broadcast".to_owned()), &there);
        assert_eq!(why_not.unwrap_err(), "0 in the runs at P = 1");
        // On one rank it is 0 indeed.
        let alone =
            said(&StudyModels::from_runs(&full_grid()).unwrap(), &[(RANKS, 1.0), ("n", 200.0)], "T_par").unwrap();
        assert!((alone.value / 0.8 - 1.0).abs() < 1e-9, "{alone:?}");
    }

    #[test]
    fn what_is_not_known_is_not_0() {
        let mut runs = full_grid();
        for run in runs.iter_mut().filter(|run| run.n_ranks == 4) {
            run.regions.iter_mut().for_each(|region| region.blocked_s = None);
        }
        let models = StudyModels::from_runs(&runs).unwrap();
        let without_work = |mut models: StudyModels| {
            models.phases.iter_mut().for_each(|phase| {
                phase.relations.retain(|relation| matches!(relation.from, CausalQuantity::Variable(_)));
            });
            models
        };
        let at = [(RANKS, 4.0), ("n", 150.0)];
        for part in ["T_comm main/broadcast", "T_idle main/broadcast"] {
            let why_not = said(&without_work(models.clone()), &at, part).unwrap_err();
            assert_eq!(why_not, "not known in the runs at P = 4");
        }
        // Waiting that is not distinguished from communication is in no law of it.
        let comm = said(&models, &at, "T_comm main/broadcast").unwrap();
        assert!((comm.value / (DELTA_Q * 2.0 * 150.0 * 150.0) - 1.0).abs() < 1e-9, "{comm:?}");
        assert_eq!(models.remarks.len(), 1, "{:?}", models.remarks);
    }

    #[test]
    fn time_in_no_phase_is_part_of_the_whole() {
        let with = |share: f64| {
            let mut runs = full_grid();
            for run in &mut runs {
                let all_s: f64 = run.phases.iter().map(PhaseTime::total_s).sum();
                let seconds = vec![share * all_s / f64::from(run.n_ranks); run.n_ranks as usize];
                run.phases.push(PhaseTime { phase: TimeCategory::Idle, seconds });
            }
            StudyModels::from_runs(&runs).unwrap()
        };
        // As much idle time outside of calls as there is of all else.
        let (half, at) = (with(1.0), [(RANKS, 4.0), ("n", 160.0)]);
        let measured = (DELTA * 2.0 * 160.0_f64.powi(3) + 1.5 * DELTA_Q * 2.0 * 160.0 * 160.0) / 4.0;
        let found = said(&half, &at, "T_par").unwrap();
        assert!((found.value / (2.0 * measured) - 1.0).abs() < 1e-6, "{found:?} {measured}");
        assert_eq!(half.forecast(&asked(&at)).unwrap().left_out, 0.0);
        let little = with(0.005).forecast(&asked(&at)).unwrap();
        assert!((little.left_out - 0.005 / 1.005).abs() < 1e-9, "{little:?}");
        assert!(little.steps.iter().all(|step| step.of != CausalQuantity::Rest));
    }

    #[test]
    fn a_curve_below_0_is_no_forecast() {
        let points = [(1.0, 4.0), (2.0, 3.0), (3.0, 2.0), (4.0, 1.0)];
        assert!(on_points(&points, 4.5).unwrap().value > 0.4);
        assert_eq!(on_points(&points, 10.0).unwrap_err(), "the curve through the runs is below 0 there");
    }

    #[test]
    fn runs_under_several_libraries_are_no_base() {
        let mut runs = study();
        for run in &mut runs[..3] {
            run.mpi = "MPICH 4.2.0, built".to_owned();
        }
        let models = StudyModels::from_runs(&runs).unwrap();
        let error = models.forecast(&asked(&[("n", 320.0)])).unwrap_err();
        assert_eq!(error, ForecastError::Libraries(vec![String::new(), "MPICH 4.2.0".to_owned()]));
        let on_n = models.whole.iter().find(|one| one.from == CausalQuantity::Variable("n".to_owned())).unwrap();
        assert!(on_n.runs.iter().all(|&run| run >= 3), "{:?}", on_n.runs);
        assert!(models.remarks[0].contains("different MPI libraries"), "{:?}", models.remarks);
    }

    #[test]
    fn sums_of_runs_without_all_ranks_are_in_no_model() {
        let mut runs = full_grid();
        let last = runs.last_mut().unwrap();
        last.complete = false;
        last.phases.iter_mut().for_each(|phase| phase.seconds.truncate(phase.seconds.len() - 1));
        let models = StudyModels::from_runs(&runs).unwrap();
        let sums = models.phases.iter().flat_map(|phase| &phase.relations);
        assert!(sums.into_iter().all(|relation| !relation.runs.contains(&(runs.len() - 1))));
        assert_eq!(models.remarks[0], "Data are incomplete: run 35.");
    }

    #[test]
    fn what_is_not_asked_is_as_in_the_runs() {
        let models = StudyModels::from_runs(&study()).unwrap();
        let found = models.forecast(&asked(&[("n", 320.0)])).unwrap();
        assert_eq!(found.variables, asked(&[("n", 320.0), (RANKS, 2.0)]));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let models = StudyModels::from_runs(&study()).unwrap();
        let refused = |values: &[(&str, f64)]| models.forecast(&asked(values)).unwrap_err().to_string();
        assert_eq!(refused(&[("m", 1.0)]), "m does not differ between these runs; these do: P, n");
        assert_eq!(refused(&[(RANKS, 1.5)]), "P = 1.5: P is a whole number from 1 on, a parameter any finite number");
        refused(&[(RANKS, 0.0)]);
        refused(&[("n", f64::NAN)]);
    }

    #[test]
    fn too_few_points_are_no_forecast() {
        let two = [40.0, 60.0].map(|n| multiplication(2, n, f64::INFINITY));
        let found = StudyModels::from_runs(&two).unwrap().forecast(&asked(&[("n", 100.0)])).unwrap();
        let last = found.steps.last().unwrap();
        assert!(last.expected.is_none() && last.why_not.is_some());
        let step = &found.steps[0];
        assert!(step.why_not.as_ref().unwrap().contains("too few points"), "{step:?}");
    }

    #[test]
    fn beyond_the_linear_regime_the_polynomial_is_used() {
        let memory = 24.0 * 1000.0 * 1000.0;
        let runs = [200.0, 400.0, 600.0, 800.0, 1000.0, 1500.0, 2000.0, 2500.0].map(|n| multiplication(1, n, memory));
        let models = StudyModels::from_runs(&runs).unwrap();
        let step = |n: f64| {
            let found = models.forecast(&asked(&[("n", n)])).unwrap();
            found.steps.into_iter().find(|step| step.of.to_string() == "T_comp main/multiply").unwrap()
        };
        assert!(!step(900.0).is_beyond_regime);
        let beyond = step(2200.0);
        assert!(
            beyond.is_beyond_regime && beyond.expected.unwrap().value > 1.1 * DELTA * 2.0 * 2200.0_f64.powi(3),
            "{beyond:?}"
        );
    }
}
