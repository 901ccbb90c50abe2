//! A run → its model and the places of its call sites: the passes, in their order.

pub mod exported;
pub(crate) mod observers;
mod options;
mod passes;

use std::path::PathBuf;

use lbprof_collector::format::RecordingMode;
use lbprof_collector::problem::Severity;
use lbprof_collector::{Problem, ProblemKind};

use self::exported::{EventExport, ExportSelection};
use self::observers::{RequiredObservers, RunObservers};
pub use self::options::AnalysisOptions;
pub(crate) use self::passes::{LocalPasses, RunPasses};
pub use self::passes::{PassRunner, ProcessFailure};
use crate::metrics::findings::find_data_problems;
use crate::metrics::spread::cluster;
use crate::model::replayed::replay_results::ReplayResults;
use crate::model::replayed::statistics::RunStatistics;
use crate::model::replayed::what_if::WhatIfScenario;
use crate::model::{Model, RegionIdx};
use crate::profile::GatherInput;
use crate::profile::joined::joining::most_of_rank;
use crate::read::open::RecordedRun;
use crate::read::pass::FoldProgress;
use crate::read::spawned;
use crate::replay::what_if::{plan_scenarios, plan_within, replay_conditions};
use crate::replay::{ReplayOptions, ReplayScope, ScopeObserver, SurveyedRun, replay_run_in_order};
use crate::select::{Selection, SelectionError, region};
use crate::structure::RunStructure;
use crate::structure::code::symbols;
use crate::structure::code::symbols::{CodePlace, ResolvedNames};
use crate::structure::survey::CallSurvey;
use crate::views::{StackCourse, TimelineView};

/// The work that is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnalysisStage {
    /// The first pass over the records.
    Surveying(FoldProgress),
    /// The names of functions are looked up.
    Naming,
    /// Loops are looked for.
    Finding,
    /// The second pass.
    AddingUp(FoldProgress),
    /// The third pass.
    Following(FoldProgress),
}

/// Why a run was not analysed.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// The run does not have what was requested.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// No rank of the run in this folder has any record. The text gives the reason by the logs, with advice.
    #[error("{}: {}", .0.display(), .1)]
    NoRecords(PathBuf, String),
    /// A process that takes part in the analysis failed.
    #[error(transparent)]
    Failure(#[from] ProcessFailure),
}

/// A run, analysed.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// Its model.
    pub model: Model,
    /// Names and places of the model's call sites.
    pub names: ResolvedNames,
    /// Activities of the ranks over time; `None` where that was not wanted, or they were not followed.
    pub watched: Option<TimelineView>,
}

/// Analyses the part of `run` that `selection` asks for; `report` is called with what is being done, from any thread.
///
/// Ranks are replayed through all of their time, and with them all others: whom they wait for, and what for, may lie outside of the part.
///
/// Errors: what is asked the run does not have; a process that failed.
pub fn analyse_run(
    run: &RecordedRun,
    selection: &Selection,
    options: &AnalysisOptions,
    report: impl Fn(AnalysisStage) + Sync,
) -> Result<Analysis, AnalysisError> {
    let mut part = PartAnalysis::new(run, selection, options, &report)?;
    let watched = if options.asked.is_some() { part.replay(options)? } else { None };
    Ok(part.finish(watched))
}

/// Exports a part without predictions: what ranks do in the part goes to `format`.
///
/// Errors: what the run does not have, and what `format` cannot be made of.
pub fn export_part(
    run: &RecordedRun,
    selection: &Selection,
    options: &AnalysisOptions,
    format: &mut dyn EventExport,
    report: impl Fn(AnalysisStage) + Sync,
) -> Result<Analysis, AnalysisError> {
    let mut part = PartAnalysis::new(run, selection, options, &report)?;
    if options.asked.is_some() {
        part.export(options, format)?;
    }
    Ok(part.finish(None))
}

/// Explains why a run with these problems has no records, and what to do.
fn why_there_are_no_records(problems: &[Problem]) -> String {
    let not_recorded = [ProblemKind::ThreadLost, ProblemKind::Dropped];
    let (what, problem) = match problems.iter().find(|problem| not_recorded.contains(&problem.kind)) {
        Some(problem) => ("nothing was recorded", Some(problem)),
        None => {
            let serious = problems.iter().find(|problem| problem.kind.severity() == Severity::Partial);
            ("it has no record that can be read", serious.or(problems.first()))
        }
    };
    let Some(problem) = problem else {
        return "nothing was recorded: the ranks ended in MPI_Init, or are in it".to_owned();
    };
    let reason = if problem.detail.is_empty() { problem.kind.meaning().trim_end_matches('.') } else { &problem.detail };
    format!("{what}: {reason}; {}", problem.kind.advice())
}

struct PartAnalysis<'a> {
    selection: &'a Selection,
    first: RunPreparation<'a>,
    /// The model of the whole run; `None` where that is the part.
    whole: Option<Model>,
    /// The logs of the part.
    part: RecordedRun,
    /// The model of the part.
    model: Model,
    /// The selected region; `None` where it is all of the run.
    region: Option<RegionIdx>,
}

impl<'a> PartAnalysis<'a> {
    fn new(
        run: &RecordedRun,
        selection: &'a Selection,
        options: &AnalysisOptions,
        report: StageReport<'a>,
    ) -> Result<Self, AnalysisError> {
        let narrows = selection.needs_all() || options.asked.is_some() && selection.ranks.is_some();
        let base = if narrows { run.clone() } else { selection.ranks_of(run, &[])? };
        let first = RunPreparation::new(base, options, report)?;
        let all = first.gather(&first.run)?;
        if all.ranks.is_empty() {
            let reason = why_there_are_no_records(&all.problems);
            return Err(AnalysisError::NoRecords(run.dir.clone(), reason));
        }
        let (whole, part, model) = if narrows {
            let (part, model) = first.part(selection, &all)?;
            (Some(all), part, model)
        } else {
            (None, first.run.clone(), all)
        };
        // The outermost one is all of the run.
        let region = selection.region.as_ref().map(|name| region::find_region(&model, "--region", name)).transpose()?;
        Ok(PartAnalysis { selection, first, whole, part, model, region: region.filter(|&one| one != 0) })
    }

    /// Replays the run with what-if scenarios. Returns the timeline, where it is wanted.
    fn replay(&mut self, options: &AnalysisOptions) -> Result<Option<TimelineView>, AnalysisError> {
        self.model.asked = asked_scenarios(&mut self.model, &self.first.names, options)?;
        let (all, model) = (self.whole.as_ref().unwrap_or(&self.model), &self.model);
        let scope = ReplayScope::part(all, &self.first.survey, &self.part, model, self.region);
        let (required, mut scenarios) = match self.region {
            None => {
                let AnalysisOptions { watch, statistics, .. } = *options;
                (RequiredObservers { watch, statistics }, plan_scenarios(model, &model.asked))
            }
            Some(region) => (RequiredObservers::default(), plan_within(model, region, &model.asked)),
        };
        // Calls that were recorded as sums cannot be replayed.
        if self.first.survey.profiles {
            scenarios.clear();
        }
        let replay = ReplayOptions {
            scenarios: replay_conditions(&scenarios, model),
            code: Some(&self.first.names.sampled).filter(|code| !code.is_empty()),
            segment_steps: options.segment_steps,
            is_shared: self.whole.is_none(),
            ..ReplayOptions::new(&scope)
        };
        let (results, watched, statistics) = self.first.replay(all, RunObservers::new(model, required), replay)?;
        (self.model.followed, self.model.statistics) = (results, statistics);
        let sampled = &self.first.names.sampled;
        Ok(watched.map(|seen| {
            let stacks = StackCourse::new(self.first.surveyed(&self.model), sampled, seen.end);
            TimelineView { stacks, ..seen }
        }))
    }

    fn export(&mut self, options: &AnalysisOptions, format: &mut dyn EventExport) -> Result<(), AnalysisError> {
        self.model.asked = asked_scenarios(&mut self.model, &self.first.names, options)?;
        let (all, model) = (self.whole.as_ref().unwrap_or(&self.model), &self.model);
        let scope = ReplayScope::part(all, &self.first.survey, &self.part, model, self.region);
        let exported = ExportSelection { model, places: &self.first.names.places, region: self.region };
        format.on_start(&exported)?;
        self.model.followed = (!self.first.has_only_sums()).then(|| {
            let mut observer = ScopeObserver::new(&scope, format);
            let (surveyed, options) = (self.first.surveyed(all), ReplayOptions::new(&scope));
            replay_run_in_order(surveyed, options, &mut observer, &self.first.replay_report())
        });
        Ok(())
    }

    fn finish(self, watched: Option<TimelineView>) -> Analysis {
        let PartAnalysis { selection, first, whole, mut model, region, .. } = self;
        // Whether the data are sound is judged by all of the ranks' time.
        model.found = match whole {
            Some(mut whole) => {
                whole.ranks.retain(|rank| model.ranks.binary_search_by_key(&rank.rank, |kept| kept.rank).is_ok());
                whole.facts.selected.ranks.clone_from(&model.facts.selected.ranks);
                find_data_problems(&whole)
            }
            None => find_data_problems(&model),
        };
        (model.facts.selected.from, model.facts.selected.to) = (selection.from, selection.to);
        if let Some(region) = region {
            let run_s = model.elapsed_s();
            model = region::model_of_region(model, region);
            model.facts.selected.run_s = Some(run_s);
        }
        Analysis { model, names: first.names, watched }
    }
}

/// The scenarios that the user asks for; none where ranks are not followed.
fn asked_scenarios(
    model: &mut Model,
    names: &ResolvedNames,
    options: &AnalysisOptions,
) -> Result<Vec<WhatIfScenario>, SelectionError> {
    options.asked.iter().flatten().map(|one| one.scenario(model, names)).collect()
}

/// Numbers of clusters of ranks that run the same code, and their ranks.
fn cluster_numbers(model: &Model, places: &[CodePlace]) -> Vec<(u32, Vec<u32>)> {
    let found = cluster::cluster_ranks(&cluster::run_code(model, places));
    let parts = found.parts().into_iter().filter_map(|part| {
        let ranks = part.members.iter().filter_map(|&at| Some(model.ranks.get(at)?.rank)).collect();
        Some((part.cluster? as u32 + 1, ranks))
    });
    parts.collect()
}

type StageReport<'a> = &'a (dyn Fn(AnalysisStage) + Sync);

/// The results of a replay, the timeline and the statistics, as far as ranks were replayed and each was wanted.
type ObservedReplay = (Option<ReplayResults>, Option<TimelineView>, Option<RunStatistics>);

struct RunPreparation<'a> {
    run: RecordedRun,
    passes: PassRunner,
    report: StageReport<'a>,
    survey: CallSurvey,
    structure: RunStructure,
    names: ResolvedNames,
    most_iterations: usize,
}

impl<'a> RunPreparation<'a> {
    fn new(run: RecordedRun, options: &AnalysisOptions, report: StageReport<'a>) -> Result<Self, ProcessFailure> {
        let passes = options.passes.clone();
        let survey = passes.get().survey(&run, &|progress| report(AnalysisStage::Surveying(progress)))?;
        report(AnalysisStage::Naming);
        let names = match options.symbols {
            true => symbols::resolve_names(&survey.sites, &options.code_readers, options.names_within),
            false => symbols::sites_without_names(&survey.sites),
        };
        report(AnalysisStage::Finding);
        let structure = RunStructure::find(&run, &survey, &names, &options.wanted);
        let most_iterations = options.most_iterations;
        Ok(RunPreparation { run, passes, report, survey, structure, names, most_iterations })
    }

    /// The selected ranks and time of the run, of which `all` is, regions left aside.
    fn part(&self, selection: &Selection, all: &Model) -> Result<(RecordedRun, Model), AnalysisError> {
        let clusters = if selection.needs_clusters() { cluster_numbers(all, &self.names.places) } else { Vec::new() };
        let part = selection.part_of(&self.run, &self.survey, all, &clusters)?;
        let model = self.gather(&part)?;
        match model.uncut_ranks.first() {
            Some(&rank) => Err(SelectionError::Profile(rank).into()),
            None => Ok((part, model)),
        }
    }

    /// Replays the whole run, whose model is `all`, and shows what lies in the scope of `options` to the observers.
    fn replay(
        &self,
        all: &Model,
        observers: RunObservers,
        options: ReplayOptions,
    ) -> Result<ObservedReplay, ProcessFailure> {
        if self.has_only_sums() {
            return Ok(ObservedReplay::default());
        }
        let mut observer = (!observers.is_empty()).then(|| ScopeObserver::new(options.scope, observers));
        let results =
            self.passes.get().follow(self.surveyed(all), options, observer.as_mut(), &self.replay_report())?;
        let (watched, statistics) = observer.map(ScopeObserver::into_inner).unwrap_or_default().finish();
        Ok((Some(results), watched, statistics))
    }

    /// Returns whether the calls of all ranks were recorded as sums, which say nothing of who waited for whom.
    fn has_only_sums(&self) -> bool {
        self.run.headers.iter().all(|header| header.mode == RecordingMode::Profile)
    }

    /// Returns the run with the results of the first two passes.
    fn surveyed<'s>(&'s self, model: &'s Model) -> SurveyedRun<'s> {
        SurveyedRun { run: &self.run, survey: &self.survey, structure: &self.structure, model }
    }

    fn replay_report(&self) -> impl Fn(FoldProgress) + Sync {
        |progress| (self.report)(AnalysisStage::Following(progress))
    }

    fn gather(&self, run: &RecordedRun) -> Result<Model, ProcessFailure> {
        let input = GatherInput {
            survey: &self.survey,
            structure: &self.structure,
            code: &self.names.sampled,
            most_iterations: most_of_rank(self.most_iterations, run.headers.len()),
        };
        let mut model =
            self.passes.get().gather(run, input, &|progress| (self.report)(AnalysisStage::AddingUp(progress)))?;
        model.problems.extend(self.names.problems.iter().cloned());
        model.problems.extend(spawned::where_recorded(&run.dir, &model.problems));
        Ok(model)
    }
}
