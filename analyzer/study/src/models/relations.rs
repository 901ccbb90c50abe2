//! Derives the dependences between quantities from the runs of a study.
//!
//! ```text
//!   P, parameters ──→ #op, #q ──→ T_comp, T_comm, T_idle of each phase ──→ their sums ──→ T_par ──→ S
//!                 fitted       fitted                               defined          defined     defined
//! ```
//!
//! All fits are of one variable. Dependence on P or a parameter is fitted to runs in which nothing else differs; dependence on #op or
//! #q to all runs, because the model assumes that nothing else matters.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use thiserror::Error;

use super::linear::{LinearLaw, fit_law};
use super::observations::phases::{PhasesOfRun, TimeClass, forget_unfollowed};
use super::observations::quantity::CausalQuantity;
use super::observations::remarks::model_remarks;
use super::observations::totals::{RunTotals, sum_up_runs};
use super::observations::variables::{VariableSweep, run_variables, variable_sweeps, varying_names};
use super::validation::{SelectedFit, choose_degree};
use super::{FitError, Point, distinct_values};
use crate::{RunMetrics, StoredRun};
use lbprof_report::rows::words::mpi_name;
use lbprof_thresholds::study::{MIN_DEPARTURE_FROM_LAW, MIN_PHASE_WITHOUT_COUNTS, MIN_SIZES_OF_RELATION};

/// Why a study has no models.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ModelError {
    /// There are no runs.
    #[error("there are no runs")]
    NoRuns,
    /// A law of several programs has no meaning.
    #[error("runs of different programs ({}): a model needs runs of one", .0.join(", "))]
    Programs(Vec<String>),
    /// The runs differ in nothing, and nothing was counted in them.
    #[error(
        "these runs have the same P and parameters: models need runs that differ in one, or that count work (LBPROF_WORK)"
    )]
    NothingDiffers,
    /// No phase has the region. The list has those that exist.
    #[error("no model of a region {}; there are: {}", .0, .1.join(", "))]
    NoRegion(String, Vec<String>),
    /// Nothing depends on the quantity. The list has those that exist.
    #[error("no model against {}; there are: {}", .0, .1.join(", "))]
    NoQuantity(String, Vec<String>),
}

/// The models that follow from the runs of a study.
#[derive(Clone, Debug, Serialize)]
pub struct StudyModels {
    /// Name of the program.
    pub program: String,
    /// Number of runs.
    pub n_runs: usize,
    /// Their numbers in the study; without one 1, 2 …
    pub numbers: Vec<u32>,
    /// The variables of each run.
    pub runs: Vec<BTreeMap<String, f64>>,
    /// The MPI library of each run.
    pub libraries: Vec<String>,
    /// Names of the variables that differ between runs, P first.
    pub variables: Vec<String>,
    /// The phases, the one that takes most of any run first.
    pub phases: Vec<PhaseModels>,
    /// The whole run against variables.
    pub whole: Vec<QuantityRelation>,
    /// Overheads, efficiency and speedup of each run.
    pub totals: Vec<RunTotals>,
    /// Remarks on the runs, a sentence each.
    pub remarks: Vec<String>,
    #[serde(skip)]
    figures: Vec<PhasesOfRun>,
}

/// A region.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseModels {
    /// Its path.
    pub region: String,
    /// The largest share of P·T that it has in any run.
    pub share: f64,
    /// Its relations.
    pub relations: Vec<QuantityRelation>,
}

/// A relation of two quantities.
#[derive(Clone, Debug, Serialize)]
pub struct QuantityRelation {
    /// Quantity that the relation depends on.
    pub from: CausalQuantity,
    /// Dependent quantity.
    pub to: CausalQuantity,
    /// Indices of the runs that it was taken from.
    pub runs: Vec<usize>,
    /// Values of other variables in all of these runs; empty if they may differ.
    pub held: BTreeMap<String, f64>,
    /// The points, a run an entry.
    pub points: Vec<Point>,
    /// The linear law, of #op and #q: `None` of variables, and where `no_law` says why.
    pub linear: Option<LinearLaw>,
    /// Why there is no linear law where one was looked for.
    pub no_law: Option<FitError>,
    /// The polynomial that predicts best; `None` where `no_polynomial` says why.
    pub polynomial: Option<SelectedFit>,
    /// Why there is no polynomial.
    pub no_polynomial: Option<FitError>,
}

impl QuantityRelation {
    /// True if the polynomial describes it: its LOOCV error is at most [`MIN_DEPARTURE_FROM_LAW`] of the values. `None` if there is none.
    pub fn is_polynomial(&self) -> Option<bool> {
        let polynomial = self.polynomial.as_ref()?;
        Some(polynomial.relative_error().is_none_or(|error| error <= MIN_DEPARTURE_FROM_LAW))
    }

    /// True if `to` does not depend on `from`: degree 0 describes it, and no other predicts it better.
    pub fn is_independent(&self) -> bool {
        let is_constant = self.polynomial.as_ref().is_some_and(|chosen| chosen.fit.degree == 0);
        is_constant && self.law().is_none() && self.is_polynomial() == Some(true)
    }

    /// True if there are too few sizes to see whether another law fits better.
    pub fn has_few_sizes(&self) -> bool {
        distinct_values(&self.points).len() < MIN_SIZES_OF_RELATION
    }

    /// Forgets a law and a polynomial, each by itself, that fit badly where there are too few sizes to find a better one, and keeps why.
    fn drop_what_too_few_sizes_say(&mut self) {
        if !self.has_few_sizes() {
            return;
        }
        let error = FitError::TooFewSizes(distinct_values(&self.points).len());
        if self.linear.take_if(|law| law.relative_error() > Some(MIN_DEPARTURE_FROM_LAW)).is_some() {
            self.no_law = Some(error.clone());
        }
        if self.polynomial.take_if(|chosen| chosen.relative_error() > Some(MIN_DEPARTURE_FROM_LAW)).is_some() {
            self.no_polynomial = Some(error);
        }
    }

    /// The linear law, where it describes the runs: its error is at most [`MIN_DEPARTURE_FROM_LAW`] of the values, or no polynomial predicts
    /// better.
    pub fn law(&self) -> Option<&LinearLaw> {
        self.linear.as_ref().filter(|law| {
            let is_close = law.relative_error().is_none_or(|error| error <= MIN_DEPARTURE_FROM_LAW);
            is_close || self.polynomial.as_ref().is_some_and(|chosen| law.error <= chosen.error())
        })
    }
}

impl StudyModels {
    /// Fits the models of some runs of a study, of one program; times on one rank may be among `all`.
    pub fn of_study(some: &[StoredRun], all: &[StoredRun]) -> Result<StudyModels, ModelError> {
        let runs: Vec<RunMetrics> = some.iter().map(|kept| kept.run.clone()).collect();
        let all: Vec<&RunMetrics> = all.iter().map(|kept| &kept.run).collect();
        StudyModels::among(&runs, &all, some.iter().map(|kept| kept.number).collect())
    }

    /// Fits the models of `runs`, of one program.
    pub fn from_runs(runs: &[RunMetrics]) -> Result<StudyModels, ModelError> {
        StudyModels::among(runs, &runs.iter().collect::<Vec<_>>(), (1..).take(runs.len()).collect())
    }

    fn among(runs: &[RunMetrics], all: &[&RunMetrics], numbers: Vec<u32>) -> Result<StudyModels, ModelError> {
        let programs: BTreeSet<&str> = runs.iter().map(RunMetrics::program).collect();
        let program = programs.first().ok_or(ModelError::NoRuns)?;
        if programs.len() > 1 {
            return Err(ModelError::Programs(programs.iter().map(|name| (*name).to_owned()).collect()));
        }
        let mut figures: Vec<PhasesOfRun> = runs.iter().map(PhasesOfRun::new).collect();
        let totals = sum_up_runs(runs, &figures, all);
        let libraries: Vec<String> = runs.iter().map(|run| mpi_name(&run.mpi).to_owned()).collect();
        let remarks = model_remarks(runs, &numbers, &figures, &libraries);
        forget_unfollowed(&mut figures);
        let mut models = StudyModels {
            program: (*program).to_owned(),
            n_runs: runs.len(),
            numbers,
            runs: runs.iter().map(run_variables).collect(),
            libraries,
            variables: Vec::new(),
            phases: Vec::new(),
            whole: Vec::new(),
            totals,
            remarks,
            figures,
        };
        models.variables = varying_names(&models.runs);
        let regions: BTreeSet<&String> = models.figures.iter().flat_map(|run| run.regions.keys()).collect();
        models.phases = regions.into_iter().filter_map(|region| models.phase(region)).collect();
        models.phases.sort_by(|a, b| b.share.total_cmp(&a.share));
        let totals = TimeClass::ALL.map(CausalQuantity::Total).into_iter().chain([CausalQuantity::ParallelTime]);
        models.whole = totals.flat_map(|to| models.on_variables(&to)).collect();
        Ok(models)
    }

    fn share(&self, region: &str, parts: &[TimeClass]) -> f64 {
        let shares = self.figures.iter().filter_map(|run| {
            let figures = run.regions.get(region)?;
            let seconds: f64 = parts.iter().filter_map(|&part| figures.seconds[part as usize]).sum();
            Some(seconds / run.all_s)
        });
        shares.filter(|share| share.is_finite()).fold(0.0, f64::max)
    }

    fn phase(&self, region: &str) -> Option<PhaseModels> {
        let [operations, quanta] = [CausalQuantity::Operations, CausalQuantity::Quanta]
            .map(|quantity| Some(quantity(region.to_owned())).filter(|work| self.is_counted(work)));
        let works = operations.iter().chain(&quanta);
        let mut relations: Vec<QuantityRelation> = works.flat_map(|work| self.on_variables(work)).collect();
        for part in TimeClass::ALL {
            // Operations take computation; quanta are what is processed, or sent.
            let operations = operations.as_ref().filter(|_| part == TimeClass::Computation);
            let works: Vec<&CausalQuantity> = operations.into_iter().chain(&quanta).collect();
            if works.is_empty() && self.share(region, &[part]) < MIN_PHASE_WITHOUT_COUNTS {
                continue;
            }
            let to = CausalQuantity::Time(region.to_owned(), part);
            relations.extend(works.into_iter().filter_map(|work| self.on_work(work, &to)));
            relations.extend(self.on_variables(&to));
        }
        let share = self.share(region, &TimeClass::ALL);
        (!relations.is_empty()).then(|| PhaseModels { region: region.to_owned(), share, relations })
    }

    fn is_counted(&self, work: &CausalQuantity) -> bool {
        (0..self.n_runs).any(|run| self.value(work, run) > Some(0.0))
    }

    /// A quantity in a run; `None` where it has none. Sums over ranks are not known where logs of ranks are missing.
    pub fn value(&self, of: &CausalQuantity, run: usize) -> Option<f64> {
        let figures = self.figures.get(run)?;
        let totals = self.totals.get(run)?;
        let sums = Some(figures).filter(|figures| !figures.is_partial);
        match of {
            CausalQuantity::Variable(name) => self.runs.get(run)?.get(name).copied(),
            CausalQuantity::Operations(region) => Some(sums?.regions.get(region)?.operations),
            CausalQuantity::Quanta(region) => Some(sums?.regions.get(region)?.quanta),
            CausalQuantity::Time(region, part) => sums?.regions.get(region)?.seconds[*part as usize],
            CausalQuantity::Total(part) => sums?.seconds[*part as usize],
            CausalQuantity::Other => Some(sums?.other_s),
            CausalQuantity::ParallelTime => Some(totals.t_par_s),
            CausalQuantity::SequentialTime => Some(totals.t_seq_s),
            CausalQuantity::Speedup => totals.speedup,
        }
    }

    /// `to` against each variable, in the largest sweep of runs in which it differs alone.
    fn on_variables(&self, to: &CausalQuantity) -> Vec<QuantityRelation> {
        let relations = self.variables.iter().filter_map(|name| {
            let largest = variable_sweeps(&self.runs, &self.libraries, name).into_iter().next()?;
            self.relation(CausalQuantity::Variable(name.clone()), to.clone(), &largest)
        });
        relations.collect()
    }

    fn on_work(&self, work: &CausalQuantity, to: &CausalQuantity) -> Option<QuantityRelation> {
        let all = VariableSweep { runs: (0..self.n_runs).collect(), held: BTreeMap::new(), n_different: 0 };
        let mut relation = self.relation(work.clone(), to.clone(), &all)?;
        (relation.linear, relation.no_law) = split_result(fit_law(&relation.points));
        relation.drop_what_too_few_sizes_say();
        Some(relation)
    }

    /// Fits the dependence of `to` on `from` in the runs of `sweep`; `None` if `to` is 0 or unknown in all of them.
    fn relation(&self, from: CausalQuantity, to: CausalQuantity, sweep: &VariableSweep) -> Option<QuantityRelation> {
        let known = sweep.runs.iter().filter_map(|&run| Some((run, (self.value(&from, run)?, self.value(&to, run)?))));
        let (runs, points): (Vec<usize>, Vec<Point>) = known.unzip();
        if points.iter().all(|point| point.1 == 0.0) {
            return None;
        }
        let (polynomial, no_polynomial) = split_result(choose_degree(&points));
        let held = sweep.held.iter().filter(|(name, _)| self.variables.contains(name));
        let mut relation = QuantityRelation {
            from,
            to,
            runs,
            held: held.map(|(name, value)| (name.clone(), *value)).collect(),
            points,
            linear: None,
            no_law: None,
            polynomial,
            no_polynomial,
        };
        // A relation to #op or #q may still follow a law.
        if matches!(relation.from, CausalQuantity::Variable(_)) {
            relation.drop_what_too_few_sizes_say();
        }
        Some(relation)
    }
}

fn split_result<T>(result: Result<T, FitError>) -> (Option<T>, Option<FitError>) {
    match result {
        Ok(value) => (Some(value), None),
        Err(error) => (None, Some(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::multiplication_tests::{DELTA_Q, multiplication, study};
    use super::*;
    use crate::models::observations::variables::RANKS;

    fn relation<'a>(models: &'a StudyModels, from: &str, to: &str) -> &'a QuantityRelation {
        let all = models.phases.iter().flat_map(|phase| &phase.relations).chain(&models.whole);
        let mut found = all.filter(|one| one.from.to_string() == from && one.to.to_string() == to);
        found.next().unwrap_or_else(|| panic!("no {from} → {to}"))
    }

    fn degree(models: &StudyModels, from: &str, to: &str) -> usize {
        relation(models, from, to).polynomial.as_ref().unwrap().fit.degree
    }

    #[test]
    fn runs_that_differ_in_one_variable_are_used() {
        let models = StudyModels::from_runs(&study()).unwrap();
        let by_n = relation(&models, "n", "#op main/multiply");
        assert_eq!((by_n.runs.clone(), by_n.held.clone()), ((0..7).collect(), [(RANKS.to_owned(), 2.0)].into()));
        let by_p = relation(&models, "P", "#q main/broadcast");
        assert_eq!(
            (by_p.runs.clone(), by_p.held.clone()),
            (vec![7, 2, 8, 9, 10, 11, 12], [("n".to_owned(), 80.0)].into())
        );
        // n²·(r + c − 2): by 1, 2, 4, 6, 8, 9, 16 ranks 0, 1, 2, 3, 4, 4, 6 n².
        let quanta: Vec<f64> = by_p.points.iter().map(|point| point.1 / 6400.0).collect();
        assert_eq!(quanta, [0.0, 1.0, 2.0, 3.0, 4.0, 4.0, 6.0]);
    }

    #[test]
    fn what_is_no_polynomial_is_said_to_be_none() {
        // Primes have one row of ranks: n²·(p − 1); squares 2 n²·(√p − 1).
        let ranks = [1, 2, 3, 4, 5, 7, 9, 11, 13, 16, 25].map(|p| multiplication(p, 80.0));
        let models = StudyModels::from_runs(&ranks).unwrap();
        let on_ranks = relation(&models, "P", "#q main/broadcast");
        assert_eq!(on_ranks.is_polynomial(), Some(false), "{:?}", on_ranks.polynomial);
        let on_quanta = relation(&models, "#q main/broadcast", "T_comm main/broadcast");
        assert_eq!(
            (on_quanta.is_polynomial(), degree(&models, "#q main/broadcast", "T_comm main/broadcast")),
            (Some(true), 1)
        );
    }

    #[test]
    fn another_law_is_not_a_linear_one() {
        let models = StudyModels::from_runs(&study()).unwrap();
        let mut found = relation(&models, "#op main/multiply", "T_comp main/multiply").clone();
        for curve in [|x: f64| x * x, |_: f64| 5.0] {
            found.points = (1..=8).map(f64::from).map(|x| (x, curve(x))).collect();
            found.polynomial = Some(choose_degree(&found.points).unwrap());
            found.linear = Some(fit_law(&found.points).unwrap());
            assert!(found.law().is_none(), "{found:?}");
        }
    }

    #[test]
    fn too_few_runs_are_said() {
        let models = StudyModels::from_runs(&[multiplication(2, 40.0)]).unwrap();
        assert!(models.variables.is_empty());
        let found = relation(&models, "#op main/multiply", "T_comp main/multiply");
        assert_eq!(found.no_law, Some(FitError::TooFewRuns(1)));
        let two = [40.0, 60.0].map(|n| multiplication(2, n));
        let models = StudyModels::from_runs(&two).unwrap();
        let found = relation(&models, "#op main/multiply", "T_comp main/multiply");
        assert!(found.law().is_some() && found.has_few_sizes());
        // The time triples from one size to the other: no constant is shown beside the law.
        let too_few = Some(FitError::TooFewSizes(2));
        assert_eq!((found.polynomial.is_none(), &found.no_polynomial), (true, &too_few));
    }

    #[test]
    fn of_two_sizes_a_law_that_fits_badly_is_dropped_beside_a_constant_that_fits() {
        let two = [40.0, 60.0].map(|n| multiplication(2, n));
        let models = StudyModels::from_runs(&two).unwrap();
        let mut found = relation(&models, "#q main/broadcast", "T_comm main/broadcast").clone();
        found.points = vec![(1600.0, 10.0), (3600.0, 10.1)];
        found.polynomial = Some(choose_degree(&found.points).unwrap());
        found.linear = Some(fit_law(&found.points).unwrap());
        found.drop_what_too_few_sizes_say();
        assert!(found.linear.is_none() && found.polynomial.is_some(), "{found:?}");
        assert_eq!(found.no_law, Some(FitError::TooFewSizes(2)));
    }

    #[test]
    fn runs_of_one_program_are_needed() {
        assert_eq!(StudyModels::from_runs(&[]).unwrap_err(), ModelError::NoRuns);
        let mut runs = study();
        runs[0].command[0] = "/opt/other".to_owned();
        assert_eq!(
            StudyModels::from_runs(&runs).unwrap_err(),
            ModelError::Programs(vec!["matmul".into(), "other".into()])
        );
    }

    #[test]
    fn runs_under_another_library_are_in_no_relation_to_variables() {
        let mut runs = study();
        for run in &mut runs[..3] {
            run.mpi = "MPICH 4.2.0, built".to_owned();
        }
        let models = StudyModels::from_runs(&runs).unwrap();
        let on_n = models.whole.iter().find(|one| one.from == CausalQuantity::Variable("n".to_owned())).unwrap();
        assert!(on_n.runs.iter().all(|&run| run >= 3), "{:?}", on_n.runs);
        assert!(models.remarks[0].contains("different MPI libraries"), "{:?}", models.remarks);
    }

    #[test]
    fn communication_with_waiting_in_it_is_in_no_law() {
        let mut runs = study();
        for run in runs.iter_mut().filter(|run| run.n_ranks == 4) {
            run.regions.iter_mut().for_each(|region| region.blocked_s = None);
        }
        let models = StudyModels::from_runs(&runs).unwrap();
        let law = relation(&models, "#q main/broadcast", "T_comm main/broadcast").law().unwrap();
        assert!((law.delta / DELTA_Q - 1.0).abs() < 1e-9, "{law:?}");
        assert_eq!((law.n_points, models.remarks.len()), (12, 1), "{:?}", models.remarks);
    }

    #[test]
    fn sums_of_runs_without_all_ranks_are_in_no_model() {
        let mut runs = study();
        let last = runs.last_mut().unwrap();
        last.complete = false;
        last.phases.iter_mut().for_each(|phase| phase.seconds.truncate(phase.seconds.len() - 1));
        let models = StudyModels::from_runs(&runs).unwrap();
        let mut sums = models.phases.iter().flat_map(|phase| &phase.relations);
        assert!(sums.all(|relation| !relation.runs.contains(&(runs.len() - 1))));
        assert_eq!(models.remarks[0], "Data are incomplete: run 13.");
    }
}
