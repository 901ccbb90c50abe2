//! A run → its model and the places of its call sites: the passes, in their order.

pub mod exported;
mod observers;
pub(crate) mod replay_job;

use std::time::Duration;

use lbprof_collector::format::RecordingMode;

use self::exported::{EventExport, ExportSelection, RegionObserver};
use self::observers::{RequiredObservers, RunObservers};
use self::replay_job::ReplayWishes;
use crate::metrics::cluster::{self};
use crate::metrics::findings::findings;
use crate::model::Model;
use crate::model::replay_results::ReplayResults;
use crate::model::statistics::RunStatistics;
use crate::model::what_if::WhatIfScenario;
use crate::profile::gather;
use crate::read::open::RecordedRun;
use crate::read::pass::FoldProgress;
use crate::read::spawned;
use crate::replay::what_if::ProgramWork;
use crate::replay::{ReplayObserver, ReplayOptions, ReplayScope, ScopeObserver, SurveyedRun, follow};
use crate::select::scenario::AskedScenario;
use crate::select::{Selection, SelectionError, region};
use crate::structure::code_readers::CodeReaders;
use crate::structure::sampled_code::SampledCode;
use crate::structure::survey::{CallSurvey, survey};
use crate::structure::symbols::{self, CodePlace, ResolvedNames};
use crate::structure::{RunStructure, StructureOptions};
use crate::transport::TransportFailure;
use crate::views::TimelineView;

/// The settings of an analysis.
#[derive(Clone, Debug)]
pub struct AnalysisOptions {
    /// True if to look up functions and lines.
    pub symbols: bool,
    /// Processor time after which no more of them are looked up.
    pub names_within: Duration,
    /// The readers that look up call sites.
    pub code_readers: CodeReaders,
    /// The structure to find beyond what the program marks.
    pub wanted: StructureOptions,
    /// The region whose iterations are the main loop's, by its name, where the user says so.
    pub iteration_region: Option<String>,
    /// The radius within which ranks are neighbours in a cluster, if the user gives it.
    pub cluster_radius: Option<f64>,
    /// Requested what-if scenarios; `None`: ranks are not followed.
    pub asked: Option<Vec<AskedScenario>>,
    /// True if to keep what ranks did when, for a page.
    pub watch: bool,
    /// True if to look at calls and messages one by one, for what they add up to.
    pub statistics: bool,
    /// Steps of all ranks together in a segment of the third pass, for tests; `None`: as many as serve best.
    pub segment_steps: Option<usize>,
}

impl Default for AnalysisOptions {
    /// Returns the settings that find everything.
    fn default() -> Self {
        AnalysisOptions {
            symbols: true,
            names_within: symbols::MOST_TIME,
            code_readers: CodeReaders::default(),
            wanted: StructureOptions::default(),
            iteration_region: None,
            cluster_radius: None,
            asked: Some(Vec::new()),
            watch: false,
            statistics: true,
            segment_steps: None,
        }
    }
}

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
    /// A process that takes part in the analysis failed.
    #[error(transparent)]
    Failure(#[from] TransportFailure),
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

/// Analyses `run`; `show` is called with what is done, from any thread.
///
/// Errors: what is asked about the run does not have; a process that failed.
pub fn analyse(
    run: &RecordedRun,
    options: &AnalysisOptions,
    report: impl Fn(AnalysisStage) + Sync,
) -> Result<Analysis, AnalysisError> {
    let first = RunPreparation::new(run, options, &report)?;
    let mut model = first.gather(run)?;
    model.found = findings(&model);
    choose_loop(&mut model, options)?;
    let mut watched = None;
    if options.asked.is_some() {
        model.asked = asked(&mut model, &first.names, options)?;
        let all = ReplayScope::whole_run(&model);
        let work = ProgramWork::new(&model);
        let scenarios = work.plan(&model.asked);
        let wanted = RequiredObservers::from_options(options);
        let wishes =
            ReplayWishes { observers: wanted, scenarios, is_shared: true, segment_steps: options.segment_steps };
        let found = first.follow_watched(&model, &all, &model, &work, wishes)?;
        let followed;
        (followed, watched, model.statistics) = found;
        model.followed = followed;
    }
    Ok(Analysis { model, names: first.names, watched })
}

/// Analyses the part of `run` that `selection` asks for; `show` is called with what is done, from any thread.
///
/// Ranks are followed through all of their time, and with them all others: whom they wait for, and what for, may lie outside of the part.
///
/// Errors: what the run does not have.
pub fn analyse_part(
    run: &RecordedRun,
    selection: &Selection,
    options: &AnalysisOptions,
    report: impl Fn(AnalysisStage) + Sync,
) -> Result<Analysis, AnalysisError> {
    analyse_with(run, selection, options, None, &report)
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
    analyse_with(run, selection, options, Some(format), &report)
}

fn analyse_with(
    run: &RecordedRun,
    selection: &Selection,
    options: &AnalysisOptions,
    format: Option<&mut dyn EventExport>,
    report: ProgressReport,
) -> Result<Analysis, AnalysisError> {
    let follows = options.asked.is_some();
    let narrows = selection.needs_all() || follows && selection.ranks.is_some();
    let base = if narrows { run } else { &selection.ranks_of(run, &[])? };
    let first = RunPreparation::new(base, options, report)?;
    let mut all = first.gather(base)?;
    choose_loop(&mut all, options)?;
    let (part, mut model) = match narrows {
        true => first.part(selection, &all, options)?,
        false => (base.clone(), std::mem::take(&mut all)),
    };
    // The outermost one is all of the run.
    let region = selection.region.as_ref().map(|name| region::find(&model, name)).transpose()?.filter(|&one| one != 0);
    let mut watched = None;
    if follows {
        model.asked = asked(&mut model, &first.names, options)?;
        let all = if narrows { &all } else { &model };
        let scope = ReplayScope::part(all, &first.survey, &part, &model, region);
        let (followed, statistics);
        (followed, watched, statistics) = match format {
            Some(format) => {
                let part = ExportSelection { model: &model, places: &first.names.places, region };
                format.on_start(&part)?;
                loop {
                    let observer = &mut RegionObserver::new(&part, format);
                    let options = ReplayOptions { observer: Some(observer), ..ReplayOptions::new(&scope) };
                    let followed = first.follow(all, options)?;
                    if !format.again() {
                        break (followed, None, None);
                    }
                }
            }
            None => {
                let wanted = if region.is_none() {
                    RequiredObservers::from_options(options)
                } else {
                    RequiredObservers::default()
                };
                let work = ProgramWork::new(&model);
                let asked = &model.asked;
                let scenarios = region.map_or_else(|| work.plan(asked), |region| work.plan_within(region, asked));
                let wishes = ReplayWishes {
                    observers: wanted,
                    scenarios,
                    is_shared: !narrows,
                    segment_steps: options.segment_steps,
                };
                first.follow_watched(all, &scope, &model, &work, wishes)?
            }
        };
        model.followed = followed;
        model.statistics = statistics;
    }
    // Whether the data are sound is judged by all of the ranks' time.
    all.ranks.retain(|rank| model.ranks.binary_search_by_key(&rank.rank, |kept| kept.rank).is_ok());
    all.facts.selected.ranks.clone_from(&model.facts.selected.ranks);
    model.found = findings(if narrows { &all } else { &model });
    (model.facts.selected.from, model.facts.selected.to) = (selection.from, selection.to);
    if let Some(region) = region {
        let run_s = model.elapsed_s();
        model = region::within(model, region);
        model.facts.selected.run_s = Some(run_s);
    }
    model.facts.selected.activities = selection.activities.as_ref().map(|set| set.0.clone());
    Ok(Analysis { model, names: first.names, watched })
}

/// Makes the region that the user names the main loop's.
fn choose_loop(model: &mut Model, options: &AnalysisOptions) -> Result<(), SelectionError> {
    let name = options.iteration_region.as_deref();
    model.chosen_loop = name.map(|name| region::find_iterated(model, name)).transpose()?;
    Ok(())
}

/// The scenarios that the user asks for; none where ranks are not followed.
fn asked(
    model: &mut Model,
    names: &ResolvedNames,
    options: &AnalysisOptions,
) -> Result<Vec<WhatIfScenario>, SelectionError> {
    options.asked.iter().flatten().map(|one| one.scenario(model, names)).collect()
}

/// Numbers of clusters of ranks that run the same code, and their ranks.
fn clusters(model: &Model, places: &[CodePlace], options: &AnalysisOptions) -> Vec<(u32, Vec<u32>)> {
    let found = cluster::clusters(&cluster::codes(model, places), options.cluster_radius);
    found
        .parts()
        .into_iter()
        .filter_map(|part| {
            let ranks = part.members.iter().filter_map(|&at| Some(model.ranks.get(at)?.rank)).collect();
            Some((part.cluster? as u32 + 1, ranks))
        })
        .collect()
}

/// The receiver of progress reports.
type ProgressReport<'a> = &'a (dyn Fn(AnalysisStage) + Sync);

/// The results of the replay, the timeline and the statistics; of each nothing where ranks were not followed, or it was not wanted.
type ReplayOutcome = (Option<ReplayResults>, Option<TimelineView>, Option<RunStatistics>);

/// The results of the first pass, before the profile is gathered.
struct RunPreparation<'a> {
    run: &'a RecordedRun,
    report: ProgressReport<'a>,
    survey: CallSurvey,
    structure: RunStructure,
    names: ResolvedNames,
}

impl<'a> RunPreparation<'a> {
    fn new(
        run: &'a RecordedRun,
        options: &AnalysisOptions,
        report: ProgressReport<'a>,
    ) -> Result<Self, TransportFailure> {
        let survey = survey(run, |progress| report(AnalysisStage::Surveying(progress)))?;
        report(AnalysisStage::Naming);
        let names = match options.symbols {
            true => symbols::resolve(&survey.sites, &options.code_readers, options.names_within),
            false => symbols::unnamed(&survey.sites),
        };
        report(AnalysisStage::Finding);
        let structure = RunStructure::find(run, &survey, &names, &options.wanted);
        Ok(RunPreparation { run, report, survey, structure, names })
    }

    /// The selected ranks and time of the run, of which `all` is, regions left aside.
    fn part(
        &self,
        selection: &Selection,
        all: &Model,
        options: &AnalysisOptions,
    ) -> Result<(RecordedRun, Model), AnalysisError> {
        let clusters = if selection.needs_clusters() { clusters(all, &self.names.places, options) } else { Vec::new() };
        let part = selection.part_of(self.run, &self.survey, all, &clusters)?;
        let mut model = self.gather(&part)?;
        choose_loop(&mut model, options)?;
        match model.uncut_ranks.first() {
            Some(&rank) => Err(SelectionError::Profile { rank }.into()),
            None => Ok((part, model)),
        }
    }

    /// The code that samples hit, where there are any.
    fn code(&self) -> Option<&SampledCode> {
        Some(&self.names.sampled).filter(|code| !code.is_empty())
    }

    /// Replays the whole run, whose model is `all`, with observers and scenarios for the `work` of its part `model`, which lies in `scope`.
    fn follow_watched(
        &self,
        all: &Model,
        scope: &ReplayScope,
        model: &Model,
        work: &ProgramWork,
        mut wishes: ReplayWishes,
    ) -> Result<ReplayOutcome, TransportFailure> {
        // Calls that were recorded as sums cannot be replayed.
        if self.survey.profiles {
            wishes.scenarios.clear();
        }
        let input = || replay_job::encode_job(all, &self.structure, self.code(), &wishes);
        let mut observers = RunObservers::new(model, wishes.observers);
        let options = ReplayOptions {
            scenarios: work.conditions(&wishes.scenarios),
            observer: observers.any(),
            code: self.code(),
            segment_steps: wishes.segment_steps,
            input: wishes.is_shared.then_some(&input),
            ..ReplayOptions::new(scope)
        };
        let followed = self.follow(all, options)?;
        let (watched, statistics) = observers.finish(followed.is_some());
        Ok((followed, watched, statistics))
    }

    /// Follows the ranks of the run, of which `all` is; nothing where the calls of all ranks were recorded as sums, which say nothing of who waited for
    /// whom.
    fn follow(&self, all: &Model, options: ReplayOptions) -> Result<Option<ReplayResults>, TransportFailure> {
        if self.run.headers.iter().all(|header| header.mode == RecordingMode::Profile) {
            return Ok(None);
        }
        let scope = options.scope;
        let mut part = options.observer.map(|observer| ScopeObserver::new(scope, observer));
        let observer = part.as_mut().map(|part| part as &mut dyn ReplayObserver);
        let surveyed = SurveyedRun { run: self.run, survey: &self.survey, structure: &self.structure, model: all };
        let options = ReplayOptions { observer, ..options };
        follow(surveyed, options, |progress| (self.report)(AnalysisStage::Following(progress))).map(Some)
    }

    fn gather(&self, run: &RecordedRun) -> Result<Model, TransportFailure> {
        let mut model = gather(run, &self.survey, &self.structure, &self.names.sampled, |progress| {
            (self.report)(AnalysisStage::AddingUp(progress))
        })?;
        model.problems.extend(self.names.problems.iter().cloned());
        model.problems.extend(spawned::where_recorded(&run.dir, &model.problems));
        Ok(model)
    }
}
