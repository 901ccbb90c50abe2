//! A run → its model and the places of its call sites: the passes, in their order.

use std::time::Duration;

use crate::replay::what_if::condition;
use lbprof_collector::format::Mode;

use crate::export::{Exported, Format, InRegion};
use crate::metrics::findings::findings;
use crate::metrics::statistics::StatisticsWatcher;
use crate::model::Model;
use crate::model::followed::Followed;
use crate::model::statistics::Statistics;
use crate::model::what_if::WhatIf;
use crate::profile::gather;
use crate::read::open::Run;
use crate::read::pass::Progress;
use crate::read::spawned;
use crate::replay::what_if::{Condition, plan};
use crate::replay::{
    FollowOptions, Message, PartWatcher, Scope, Seen, SegmentWatcher, StateInterval, Surveyed, Watcher, follow,
};
use crate::report::clusters::Clusters;
use crate::report::views::{Watch, Watched};
use crate::select::asked::Asked;
use crate::select::{Selection, SelectionError, region};
use crate::structure::sampled_code::SampledCode;
use crate::structure::survey::{Survey, survey};
use crate::structure::symbols::{self, CodePlace, Resolved};
use crate::structure::{Structure, Wanted};
use crate::transport::Failure;

/// How to analyse a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether to look up functions and lines.
    pub symbols: bool,
    /// Processor time after which no more of them are looked up.
    pub names_within: Duration,
    /// What to find that is not marked.
    pub wanted: Wanted,
    /// The region whose iterations are the main loop's, by its name, where the user says so.
    pub iteration_region: Option<String>,
    /// How near ranks of one cluster are, where the user says so.
    pub cluster_radius: Option<f64>,
    /// What the user asks of how long the run would take otherwise; `None`: ranks are not followed.
    pub asked: Option<Vec<Asked>>,
    /// Whether to keep what ranks did when, for a page.
    pub watch: bool,
    /// Whether to look at calls and messages one by one, for what they add up to.
    pub statistics: bool,
}

impl Default for Options {
    /// All that can be found.
    fn default() -> Self {
        Options {
            symbols: true,
            names_within: symbols::MOST_TIME,
            wanted: Wanted::default(),
            iteration_region: None,
            cluster_radius: None,
            asked: Some(Vec::new()),
            watch: false,
            statistics: true,
        }
    }
}

/// What is done at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The first pass over the records.
    Surveying(Progress),
    /// The names of functions are looked up.
    Naming,
    /// Loops are looked for.
    Finding,
    /// The second pass.
    AddingUp(Progress),
    /// The third pass.
    Following(Progress),
}

/// Why a run was not analysed.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// What is asked about the run does not have.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// One of the processes that analyse it together failed.
    #[error(transparent)]
    Failure(#[from] Failure),
}

/// A run, analysed.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// Its model.
    pub model: Model,
    /// What is known of the model's call sites.
    pub names: Resolved,
    /// What ranks did when; `None` where that was not wanted, or they were not followed.
    pub watched: Option<Watched>,
}

/// Analyses `run`; `show` is called with what is done, from any thread.
///
/// Errors: what is asked about the run does not have; a process that failed.
pub fn analyse(run: &Run, options: &Options, report: impl Fn(Stage) + Sync) -> Result<Analysis, AnalysisError> {
    let first = First::new(run, options, &report)?;
    let mut model = first.gather(run)?;
    model.found = findings(&model);
    choose_loop(&mut model, options)?;
    let mut watched = None;
    if options.asked.is_some() {
        model.asked = asked(&model, options)?;
        let scenarios = first.scenarios(&model);
        let mut watchers = Watchers::new(&model, options);
        let followed = first.follow((&model, &Scope::all(&model)), scenarios, watchers.any(), first.code());
        (watched, model.statistics) = watchers.finish(followed.is_some());
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
    run: &Run,
    selection: &Selection,
    options: &Options,
    report: impl Fn(Stage) + Sync,
) -> Result<Analysis, AnalysisError> {
    analyse_with(run, selection, options, None, &report)
}

/// The same, without predictions: what ranks do in the part goes to `format`.
///
/// Errors: what the run does not have, and what `format` cannot be made of.
pub fn export_part(
    run: &Run,
    selection: &Selection,
    options: &Options,
    format: &mut dyn Format,
    report: impl Fn(Stage) + Sync,
) -> Result<Analysis, AnalysisError> {
    analyse_with(run, selection, options, Some(format), &report)
}

fn analyse_with(
    run: &Run,
    selection: &Selection,
    options: &Options,
    format: Option<&mut dyn Format>,
    report: Report,
) -> Result<Analysis, AnalysisError> {
    let follows = options.asked.is_some();
    let narrows = selection.needs_all() || follows && selection.ranks.is_some();
    let base = if narrows { run } else { &selection.ranks_of(run, &[])? };
    let first = First::new(base, options, report)?;
    let mut all = first.gather(base)?;
    choose_loop(&mut all, options)?;
    let (part, mut model) = match narrows {
        true => first.part(selection, &all, options)?,
        false => (base.clone(), std::mem::take(&mut all)),
    };
    // The outermost one is all of the run.
    let region = selection.region.as_ref().map(|name| region::find(&model, name)).transpose()?.filter(|&one| one != 0);
    let (mut watched, mut statistics) = (None, None);
    if follows {
        if region.is_none() {
            model.asked = asked(&model, options)?;
        }
        let all = if narrows { &all } else { &model };
        let scenarios = if region.is_none() && format.is_none() { first.scenarios(&model) } else { Vec::new() };
        let scope = Scope::part(all, &first.survey, &part, &model, region);
        let followed = match format {
            Some(format) => {
                let part = Exported { model: &model, places: &first.names.places, region };
                format.begins(&part)?;
                loop {
                    let watcher = &mut InRegion::new(&part, format);
                    let followed = first.follow((all, &scope), Vec::new(), Some(watcher), None);
                    if !format.again() {
                        break followed;
                    }
                }
            }
            None => {
                let mut watchers = if region.is_none() { Watchers::new(&model, options) } else { Watchers::default() };
                let followed = first.follow((all, &scope), scenarios, watchers.any(), first.code());
                (watched, statistics) = watchers.finish(followed.is_some());
                followed
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
        model = region::within(model, region);
    }
    model.facts.selected.activities = selection.activities.as_ref().map(|set| set.0.clone());
    Ok(Analysis { model, names: first.names, watched })
}

/// Makes the region that the user names the main loop's.
fn choose_loop(model: &mut Model, options: &Options) -> Result<(), SelectionError> {
    let name = options.iteration_region.as_deref();
    model.chosen_loop = name.map(|name| region::find_iterated(model, name)).transpose()?;
    Ok(())
}

/// The scenarios that the user asks for; none where ranks are not followed.
fn asked(model: &Model, options: &Options) -> Result<Vec<WhatIf>, SelectionError> {
    options.asked.iter().flatten().map(|one| one.scenario(model)).collect()
}

/// Numbers of clusters of ranks that run the same code, and their ranks.
fn clusters(model: &Model, places: &[CodePlace], options: &Options) -> Vec<(u32, Vec<u32>)> {
    let found = Clusters::new(model, places, options.cluster_radius);
    found.rows.into_iter().map(|row| (row.id, row.ranks)).collect()
}

/// Those who want to know what ranks do while they are followed.
#[derive(Default)]
struct Watchers<'a> {
    watch: Option<Watch<'a>>,
    statistics: Option<StatisticsWatcher<'a>>,
}

impl<'a> Watchers<'a> {
    /// Of the ranks of `model`.
    fn new(model: &'a Model, options: &Options) -> Self {
        Watchers {
            watch: Some(model).filter(|_| options.watch).and_then(Watch::new),
            statistics: Some(model).filter(|_| options.statistics).and_then(StatisticsWatcher::new),
        }
    }

    /// Itself, if there is one.
    fn any(&mut self) -> Option<&mut dyn Watcher> {
        (self.watch.is_some() || self.statistics.is_some()).then_some(self as &mut dyn Watcher)
    }

    /// What they have seen, if ranks were followed.
    fn finish(self, are_followed: bool) -> (Option<Watched>, Option<Statistics>) {
        (
            self.watch.filter(|_| are_followed).map(Watch::finish),
            self.statistics.filter(|_| are_followed).map(StatisticsWatcher::finish),
        )
    }
}

impl Watcher for Watchers<'_> {
    fn spends(&mut self, state: &StateInterval) {
        self.watch.iter_mut().for_each(|watch| watch.spends(state));
        self.statistics.iter_mut().for_each(|statistics| statistics.spends(state));
    }

    fn receives(&mut self, message: &Message) {
        self.watch.iter_mut().for_each(|watch| watch.receives(message));
        self.statistics.iter_mut().for_each(|statistics| statistics.receives(message));
    }

    fn of_segment(&self) -> Option<Box<dyn SegmentWatcher + '_>> {
        let watchers =
            [self.watch.as_ref().map(Watcher::of_segment), self.statistics.as_ref().map(Watcher::of_segment)];
        Some(Box::new(Watching(watchers.map(Option::flatten))))
    }

    fn add(&mut self, seen: Seen) {
        let Ok(seen) = seen.downcast::<[Option<Seen>; 2]>() else { return };
        let [watched, statistics] = *seen;
        self.watch.iter_mut().zip(watched).for_each(|(watch, seen)| watch.add(seen));
        self.statistics.iter_mut().zip(statistics).for_each(|(statistics, seen)| statistics.add(seen));
    }
}

/// The watchers of a segment, in the order of [`Watchers`].
struct Watching<'a>([Option<Box<dyn SegmentWatcher + 'a>>; 2]);

impl Watcher for Watching<'_> {
    fn spends(&mut self, state: &StateInterval) {
        self.0.iter_mut().flatten().for_each(|watcher| watcher.spends(state));
    }

    fn receives(&mut self, message: &Message) {
        self.0.iter_mut().flatten().for_each(|watcher| watcher.receives(message));
    }
}

impl SegmentWatcher for Watching<'_> {
    fn seen(self: Box<Self>) -> Seen {
        Box::new(self.0.map(|watcher| watcher.map(SegmentWatcher::seen)))
    }
}

/// Who receives what is done.
type Report<'a> = &'a (dyn Fn(Stage) + Sync);

/// What is known before a run is gathered.
struct First<'a> {
    run: &'a Run,
    report: Report<'a>,
    survey: Survey,
    structure: Structure,
    names: Resolved,
}

impl<'a> First<'a> {
    fn new(run: &'a Run, options: &Options, report: Report<'a>) -> Result<Self, Failure> {
        let survey = survey(run, |progress| report(Stage::Surveying(progress)))?;
        report(Stage::Naming);
        let names = match options.symbols {
            true => symbols::resolve(&survey.sites, options.names_within),
            false => symbols::unnamed(&survey.sites),
        };
        report(Stage::Finding);
        let structure = Structure::find(run, &survey, &names, &options.wanted);
        Ok(First { run, report, survey, structure, names })
    }

    /// The selected ranks and time of the run, of which `all` is, regions left aside.
    fn part(&self, selection: &Selection, all: &Model, options: &Options) -> Result<(Run, Model), AnalysisError> {
        let clusters = if selection.needs_clusters() { clusters(all, &self.names.places, options) } else { Vec::new() };
        let part = selection.part_of(self.run, &self.survey, all, &clusters)?;
        let mut model = self.gather(&part)?;
        choose_loop(&mut model, options)?;
        match model.uncut_ranks.first() {
            Some(&rank) => Err(SelectionError::Profile { rank }.into()),
            None => Ok((part, model)),
        }
    }

    /// What to ask of `model`, and under what conditions that is answered.
    fn scenarios<'m>(&self, model: &'m Model) -> Vec<(WhatIf, Condition<'m>)> {
        // What a rank did whose calls are sums cannot be replayed.
        let scenarios = if self.survey.profiles { Vec::new() } else { plan(model, &model.asked) }.into_iter();
        scenarios.map(|scenario| (scenario, condition(scenario, model))).collect()
    }

    /// The code that samples hit, where there are any.
    fn code(&self) -> Option<&SampledCode> {
        Some(&self.names.sampled).filter(|code| !code.is_empty())
    }

    /// Follows the ranks of the run, of which `all` is, and shows `watcher` what they do in the part in `scope`; nothing where
    /// the calls of all ranks were recorded as sums, which say nothing of who waited for whom. With `code`, also by what code ranks made others wait.
    fn follow(
        &self,
        (all, scope): (&Model, &Scope),
        scenarios: Vec<(WhatIf, Condition)>,
        watcher: Option<&mut dyn Watcher>,
        code: Option<&SampledCode>,
    ) -> Option<Followed> {
        if self.run.headers.iter().all(|header| header.mode == Mode::Profile) {
            return None;
        }
        let mut part = watcher.map(|watcher| PartWatcher::new(scope, watcher));
        let watcher = part.as_mut().map(|part| part as &mut dyn Watcher);
        let surveyed = Surveyed { run: self.run, survey: &self.survey, structure: &self.structure, model: all };
        let options = FollowOptions { scenarios, watcher, code, ..FollowOptions::new(scope) };
        Some(follow(surveyed, options, |progress| (self.report)(Stage::Following(progress))))
    }

    fn gather(&self, run: &Run) -> Result<Model, Failure> {
        let progress = |progress| (self.report)(Stage::AddingUp(progress));
        let mut model = gather(run, &self.survey, &self.structure, &self.names.sampled, progress)?;
        model.problems.extend(self.names.problems.iter().cloned());
        model.problems.extend(spawned::where_recorded(&run.dir, &model.problems));
        Ok(model)
    }
}
