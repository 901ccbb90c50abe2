//! What a run with given P and parameters would take, along the causal model: from these its operations and quanta, from them the times
//! of its phases, and from those its time.
//!
//! Where more than one variable differs from the runs at hand, each is taken to act as a factor of its own:
//!
//! ```text
//!   #q(P, n) = #q(P₀, n) · #q(P, n₁) / #q(P₀, n₁)        n varies in the runs of P₀, P in those of n₁
//! ```
//!
//! That is an assumption, which the result states. Uncertainties of steps are taken to be independent: their squares add up.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;
use thiserror::Error;

use super::FitError;
use super::phases::Part;
use super::prediction::Prediction;
use super::quantity::Quantity;
use super::regime::Regime;
use super::relations::{Models, Relation};
use super::variables::{Group, RANKS, groups};

/// Why there is no forecast.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ForecastError {
    /// A name that no run has, or that is the same in all.
    #[error("{name} does not differ between these runs{}", these_do(.known))]
    NoVariable {
        /// The name.
        name: String,
        /// Those that do.
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
}

fn these_do(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; these do: {}", names.join(", ")) }
}

/// A value that was not measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Expected {
    /// What is expected.
    pub value: f64,
    /// The interval in which it lies in 95 of 100 cases, where the models hold: from here …
    pub low: f64,
    /// … to here.
    pub high: f64,
}

/// A quantity of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Which.
    pub of: Quantity,
    /// What it is expected to be; `None` where `why_not` says why.
    pub expected: Option<Expected>,
    /// Why nothing can be said of it.
    pub why_not: Option<String>,
    /// What it is computed from.
    pub from: Vec<Quantity>,
    /// Whether #op or #q lie beyond the size up to which the linear law holds, so that a polynomial was used in its place.
    pub is_beyond_regime: bool,
}

/// What a run would take.
#[derive(Clone, Debug, Serialize)]
pub struct Forecast {
    /// The variables: those asked for, and the others as in the runs at hand.
    pub variables: BTreeMap<String, f64>,
    /// How far each asked variable lies outside of what was measured, in widths of that range; of those that do.
    pub widths_outside: BTreeMap<String, f64>,
    /// Whether variables were taken to act as factors of their own.
    pub is_product: bool,
    /// Its quantities, causes before effects; the last one is T_par. Times are summed over ranks but that.
    pub steps: Vec<Step>,
}

/// Runs that vary one variable.
struct Base {
    /// The variable.
    name: String,
    /// The runs.
    group: Group,
    /// Other variables, which are not in them as they are asked for.
    differing: Vec<String>,
}

impl Expected {
    fn of(prediction: &Prediction) -> Expected {
        Expected { value: prediction.value, low: prediction.low, high: prediction.high }
    }

    fn around(value: f64, half: f64) -> Expected {
        Expected { value, low: value - half, high: value + half }
    }

    fn half(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// No time and no count is below 0.
    fn not_negative(self) -> Expected {
        Expected { value: self.value.max(0.0), low: self.low.max(0.0), high: self.high.max(0.0) }
    }
}

impl Models {
    /// What a run would take whose variables are `asked`.
    pub fn forecast(&self, asked: &BTreeMap<String, f64>) -> Result<Forecast, ForecastError> {
        for (name, &value) in asked {
            if !self.variables.contains(name) {
                return Err(ForecastError::NoVariable { name: name.clone(), known: self.variables.clone() });
            }
            if !value.is_finite() || (name == RANKS && (value < 1.0 || value.fract() != 0.0)) {
                return Err(ForecastError::NoValue { name: name.clone(), value });
            }
        }
        let variables = self.completed(asked);
        let mut forecast = Forecast {
            widths_outside: asked.iter().filter_map(|(name, &value)| self.outside(name, value)).collect(),
            is_product: self.base(&variables).is_none_or(|base| !base.differing.is_empty()),
            steps: Vec::new(),
            variables,
        };
        for phase in &self.phases {
            for part in Part::ALL {
                let time = Quantity::Time(phase.region.clone(), part);
                if phase.relations.iter().any(|relation| relation.to == time) {
                    self.add_time(&mut forecast, time, &phase.relations);
                }
            }
        }
        self.add_total(&mut forecast);
        Ok(forecast)
    }

    /// `asked`, and of other variables what they are in the most runs that fit: those of the group that the first is taken from.
    fn completed(&self, asked: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
        let mut variables = asked.clone();
        let first =
            asked.keys().max_by_key(|name| groups(&self.runs, name).first().map_or(0, |group| group.n_different));
        let group = first.and_then(|name| groups(&self.runs, name).into_iter().next());
        let any = || self.runs.last().cloned().unwrap_or_default();
        for (name, value) in group.map_or_else(any, |group| group.held) {
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

    /// The runs to start from: those that differ least from `variables` in what they hold, where they vary a variable enough for a fit.
    fn base(&self, variables: &BTreeMap<String, f64>) -> Option<Base> {
        let of =
            |name: &String| groups(&self.runs, name).into_iter().map(|group| (name.clone(), group)).collect::<Vec<_>>();
        let bases = self.variables.iter().flat_map(of).map(|(name, group)| {
            let differs = |other: &&String| **other != name && group.held.get(*other) != variables.get(*other);
            Base { differing: self.variables.iter().filter(differs).cloned().collect(), name, group }
        });
        // What depends on P is the least likely to be a polynomial: better a factor of another variable.
        bases.max_by_key(|base| {
            let is_ranks = base.name == RANKS;
            (base.group.n_different >= 3, Reverse(base.differing.len()), base.group.n_different, is_ranks)
        })
    }

    /// `of` at `variables`, from the runs that vary one of them, and factors of the others.
    fn on_variables_at(&self, of: &Quantity, variables: &BTreeMap<String, f64>) -> Result<Expected, String> {
        let base = self.base(variables).ok_or("no variable differs between these runs")?;
        let Base { name, group, differing } = base;
        let known = |name: &String| variables.get(name).copied().ok_or_else(|| format!("{name} is not given"));
        let zero = Expected { value: 0.0, low: 0.0, high: 0.0 };
        let Some(relation) = self.relation(Quantity::Variable(name.clone()), of.clone(), &group) else {
            return Ok(zero);
        };
        let mut expected = Expected::of(&on_polynomial(&relation, known(&name)?).map_err(|error| error.to_string())?);
        for other in &differing {
            let best = groups(&self.runs, other).into_iter().next().ok_or("no runs")?;
            let Some(relation) = self.relation(Quantity::Variable(other.clone()), of.clone(), &best) else {
                return Ok(zero);
            };
            let held = group.held.get(other).copied().ok_or_else(|| format!("{other} is not known in all runs"))?;
            let of = |value: f64| on_polynomial(&relation, value).map_err(|error| format!("{other}: {error}"));
            let (there, here) = (of(known(other)?)?, of(held)?);
            if here.value <= 0.0 {
                return Err(format!("{} is 0 at {other} = {held}", relation.to.symbol()));
            }
            let factor = there.value / here.value;
            let half = (there.half_width() / here.value).hypot(factor * here.half_width() / here.value);
            expected =
                Expected::around(expected.value * factor, (expected.half() * factor).hypot(expected.value * half));
        }
        Ok(expected.not_negative())
    }

    /// Adds the time of a phase's part, and what it is computed from.
    fn add_time(&self, forecast: &mut Forecast, time: Quantity, relations: &[Relation]) {
        let on_work = relations.iter().find(|one| one.to == time && !matches!(one.from, Quantity::Variable(_)));
        let Some(relation) = on_work else {
            let found = self.on_variables_at(&time, &forecast.variables);
            forecast.steps.push(Step::new(
                time,
                found,
                self.variables.iter().cloned().map(Quantity::Variable).collect(),
            ));
            return;
        };
        let work = &relation.from;
        let x = match forecast.steps.iter().find(|step| step.of == *work) {
            Some(step) => step.expected,
            None => {
                let found = self.on_variables_at(work, &forecast.variables);
                let from = self.variables.iter().cloned().map(Quantity::Variable).collect();
                forecast.steps.push(Step::new(work.clone(), found, from));
                forecast.steps.last().and_then(|step| step.expected)
            }
        };
        let found = x.ok_or_else(|| format!("nothing is known of {}", work.symbol()));
        let found = found.and_then(|x| on_work_at(relation, &x).map_err(|error| error.to_string()));
        let is_beyond_regime = x.is_some_and(|x| is_beyond(relation, x.value));
        forecast.steps.push(Step { is_beyond_regime, ..Step::new(time, found, vec![work.clone()]) });
    }

    /// Adds T_par: the sum of what the phases take, over P.
    fn add_total(&self, forecast: &mut Forecast) {
        let times: Vec<&Step> = forecast.steps.iter().filter(|step| matches!(step.of, Quantity::Time(..))).collect();
        let from = times.iter().map(|step| step.of.clone()).collect();
        let known: Option<Vec<Expected>> = times.iter().map(|step| step.expected).collect();
        let n = forecast.variables.get(RANKS).or_else(|| self.runs.first()?.get(RANKS));
        let found = match (known, n) {
            (Some(known), Some(n)) if !known.is_empty() => {
                let half = known.iter().map(|one| one.half().powi(2)).sum::<f64>().sqrt();
                let sum: f64 = known.iter().map(|one| one.value).sum();
                Ok(Expected::around(sum / n, half / n).not_negative())
            }
            _ => Err("the time of a phase is not known".to_owned()),
        };
        forecast.steps.push(Step::new(Quantity::ParallelTime, found, from));
    }
}

impl Step {
    fn new(of: Quantity, found: Result<Expected, String>, from: Vec<Quantity>) -> Step {
        let (expected, why_not) = match found {
            Ok(expected) => (Some(expected), None),
            Err(why_not) => (None, Some(why_not)),
        };
        Step { of, expected, why_not, from, is_beyond_regime: false }
    }
}

fn on_polynomial(relation: &Relation, x: f64) -> Result<Prediction, FitError> {
    match (&relation.polynomial, &relation.no_polynomial) {
        (Some(chosen), _) => Prediction::of_fit(&chosen.fit, x),
        (None, Some(error)) => Err(error.clone()),
        (None, None) => Err(FitError::NotFinite),
    }
}

/// Whether x lies beyond the linear regime.
fn is_beyond(relation: &Relation, x: f64) -> bool {
    matches!(relation.linear.as_ref().map(|model| &model.regime), Some(Regime::Until { x: end, .. }) if x > *end)
}

/// The time of so much work: by the linear law where it holds, else by the polynomial; its own uncertainty, and that of the work.
fn on_work_at(relation: &Relation, work: &Expected) -> Result<Expected, FitError> {
    let law = relation.law().filter(|_| !is_beyond(relation, work.value));
    let (prediction, slope) = match (law, &relation.polynomial) {
        (Some(model), _) => (Prediction::of_law(&model.law, work.value)?, model.law.delta),
        (None, Some(chosen)) => (Prediction::of_fit(&chosen.fit, work.value)?, chosen.fit.slope_at(work.value)),
        (None, None) => return Err(relation.no_polynomial.clone().unwrap_or(FitError::NotFinite)),
    };
    Ok(Expected::around(prediction.value, prediction.half_width().hypot(slope * work.half())).not_negative())
}

#[cfg(test)]
mod tests {
    use super::super::generated::{DELTA, DELTA_Q, multiplication, study};
    use super::RANKS;
    use super::*;

    fn asked(values: &[(&str, f64)]) -> BTreeMap<String, f64> {
        values.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
    }

    fn value(forecast: &Forecast, of: &str) -> f64 {
        let step = forecast.steps.iter().find(|step| step.of.to_string() == of);
        step.and_then(|step| step.expected).unwrap_or_else(|| panic!("no {of}: {forecast:?}")).value
    }

    #[test]
    fn a_larger_problem_on_as_many_ranks() {
        let models = Models::of(&study()).unwrap();
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
        let models = Models::of(&study()).unwrap();
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

    #[test]
    fn what_is_not_asked_is_as_in_the_runs() {
        let models = Models::of(&study()).unwrap();
        let found = models.forecast(&asked(&[("n", 320.0)])).unwrap();
        assert_eq!(found.variables, asked(&[("n", 320.0), (RANKS, 2.0)]));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let models = Models::of(&study()).unwrap();
        let refused = |values: &[(&str, f64)]| models.forecast(&asked(values)).unwrap_err().to_string();
        assert_eq!(refused(&[("m", 1.0)]), "m does not differ between these runs; these do: P, n");
        assert_eq!(refused(&[(RANKS, 1.5)]), "P = 1.5: P is a whole number from 1 on, a parameter any finite number");
        refused(&[(RANKS, 0.0)]);
        refused(&[("n", f64::NAN)]);
    }

    #[test]
    fn too_few_points_are_no_forecast() {
        let two = [40.0, 60.0].map(|n| multiplication(2, n, f64::INFINITY));
        let found = Models::of(&two).unwrap().forecast(&asked(&[("n", 100.0)])).unwrap();
        let last = found.steps.last().unwrap();
        assert!(last.expected.is_none() && last.why_not.is_some());
        let step = &found.steps[0];
        assert!(step.why_not.as_ref().unwrap().contains("too few points"), "{step:?}");
    }

    #[test]
    fn beyond_the_linear_regime_the_polynomial_is_used() {
        let memory = 24.0 * 1000.0 * 1000.0;
        let runs = [200.0, 400.0, 600.0, 800.0, 1000.0, 1500.0, 2000.0, 2500.0].map(|n| multiplication(1, n, memory));
        let models = Models::of(&runs).unwrap();
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
