//! A run → its model and the places of its call sites: the passes, in their order.

use lbprof_collector::Problem;

use crate::findings::findings;
use crate::follow::{Followed, Watcher, follow};
use crate::gather::gather;
use crate::model::{Model, RankModel};
use crate::open::Run;
use crate::pass::Progress;
use crate::replay::plan;
use crate::report::clusters::Clusters;
use crate::selection::asked::Asked;
use crate::selection::{Selection, SelectionError, region};
use crate::structure::{Structure, Wanted};
use crate::survey::{Survey, survey};
use crate::symbols::{self, Place};
use crate::views::{Watch, Watched};

/// How to analyse a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether to look up functions and lines.
    pub symbols: bool,
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
}

impl Default for Options {
    /// All that can be found.
    fn default() -> Self {
        Options {
            symbols: true,
            wanted: Wanted::default(),
            iteration_region: None,
            cluster_radius: None,
            asked: Some(Vec::new()),
            watch: false,
        }
    }
}

/// What is done at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The first pass over the records.
    Surveying(Progress),
    /// The names of functions are looked up.
    Naming,
    /// The second pass.
    Gathering(Progress),
    /// The third pass.
    Following(Progress),
}

/// A run, analysed.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// Its model.
    pub model: Model,
    /// The places of the model's call sites, at the same indices.
    pub places: Vec<Place>,
    /// What ranks did when; `None` where that was not wanted, or they were not followed.
    pub watched: Option<Watched>,
}

/// Analyses `run`; `tell` is told what is done, from any thread.
///
/// Errors: what is asked about the run does not have.
pub fn analyse(run: &Run, options: &Options, tell: impl Fn(Step) + Sync) -> Result<Analysis, SelectionError> {
    let first = First::new(run, options, &tell);
    let mut model = first.gather(run, &tell);
    model.found = findings(&model);
    choose_loop(&mut model, options)?;
    let mut watched = None;
    if let Some(asked) = &options.asked {
        (model.followed, watched) = first.follow(run, &model, asked, options.watch, &tell)?;
    }
    Ok(Analysis { model, places: first.places, watched })
}

/// Analyses the part of `run` that `selection` asks for; `tell` is told what is done, from any thread.
///
/// Errors: what the run does not have.
pub fn analyse_part(
    run: &Run,
    selection: &Selection,
    options: &Options,
    tell: impl Fn(Step) + Sync,
) -> Result<Analysis, SelectionError> {
    let Analysis { mut model, places, mut watched } = match selection.needs_all() {
        true => analyse_all_first(run, selection, options, &tell)?,
        false => analyse(&selection.ranks_of(run, &[])?, options, tell)?,
    };
    if let Some(name) = &selection.region {
        let region = region::find(&model, name)?;
        model = region::within(model, region);
        watched = None;
    }
    model.facts.selected.activities = selection.activities.as_ref().map(|set| set.0.clone());
    Ok(Analysis { model, places, watched })
}

/// The same of a selection that only an analysis of the whole run can resolve, regions left aside.
fn analyse_all_first(
    run: &Run,
    selection: &Selection,
    options: &Options,
    tell: &(impl Fn(Step) + Sync),
) -> Result<Analysis, SelectionError> {
    let first = First::new(run, options, tell);
    let mut all = first.gather(run, tell);
    choose_loop(&mut all, options)?;
    let clusters = if selection.needs_clusters() { clusters(&all, &first.places, options) } else { Vec::new() };
    let part = selection.part_of(run, &first.survey, &all, &clusters)?;
    let mut model = first.gather(&part, tell);
    if let Some(&rank) = model.uncut_ranks.first() {
        return Err(SelectionError::Profile { rank });
    }
    choose_loop(&mut model, options)?;
    // Ranks are followed through all of their time: what they wait for in a part of it may lie before.
    let mut watched = None;
    if let Some(asked) = options.asked.as_ref().filter(|_| has_all_time(&model, &all)) {
        (model.followed, watched) = first.follow(&part, &model, asked, options.watch, tell)?;
    }
    (model.facts.selected.from, model.facts.selected.to) = (selection.from, selection.to);
    // Whether the data are sound all of the ranks' time tells.
    all.ranks.retain(|rank| model.ranks.binary_search_by_key(&rank.rank, |kept| kept.rank).is_ok());
    all.facts.selected.ranks.clone_from(&model.facts.selected.ranks);
    model.found = findings(&all);
    Ok(Analysis { model, places: first.places, watched })
}

/// Whether the windows of the ranks in `part` are those that they have in `all`.
fn has_all_time(part: &Model, all: &Model) -> bool {
    let window = |rank: &RankModel| (rank.begin_s, rank.end_s);
    part.ranks.iter().all(|rank| {
        let whole = all.ranks.binary_search_by_key(&rank.rank, |one| one.rank).ok().map(|at| window(&all.ranks[at]));
        whole == Some(window(rank))
    })
}

/// Makes the region that the user names the main loop's.
fn choose_loop(model: &mut Model, options: &Options) -> Result<(), SelectionError> {
    let name = options.iteration_region.as_deref();
    model.chosen_loop = name.map(|name| region::find_iterated(model, name)).transpose()?;
    Ok(())
}

/// Numbers of clusters of ranks that run the same code, and their ranks.
fn clusters(model: &Model, places: &[Place], options: &Options) -> Vec<(u32, Vec<u32>)> {
    let found = Clusters::new(model, places, options.cluster_radius);
    found.rows.into_iter().map(|row| (row.id, row.ranks)).collect()
}

/// What is known before a run is gathered.
struct First {
    survey: Survey,
    structure: Structure,
    places: Vec<Place>,
    /// Of names that were not found.
    problems: Vec<Problem>,
}

impl First {
    fn new(run: &Run, options: &Options, tell: &(impl Fn(Step) + Sync)) -> First {
        let survey = survey(run, |progress| tell(Step::Surveying(progress)));
        tell(Step::Naming);
        let names = match options.symbols {
            true => symbols::resolve(&survey.sites),
            false => symbols::unnamed(&survey.sites),
        };
        let structure = Structure::find(run, &survey, &names, &options.wanted);
        First { survey, structure, places: names.places, problems: names.problems }
    }

    /// Follows the ranks, and watches them if so wanted; nothing where calls were recorded as sums, which say nothing of who waited
    /// for whom.
    fn follow(
        &self,
        run: &Run,
        model: &Model,
        asked: &[Asked],
        watch: bool,
        tell: &(impl Fn(Step) + Sync),
    ) -> Result<(Option<Followed>, Option<Watched>), SelectionError> {
        if self.survey.profiles {
            return Ok((None, None));
        }
        let asked = asked.iter().map(|one| one.question(model)).collect::<Result<Vec<_>, _>>()?;
        let questions = plan(model, &asked);
        let tell = |progress| tell(Step::Following(progress));
        let mut watch = Some(model).filter(|_| watch).and_then(Watch::new);
        let watcher = watch.as_mut().map(|watch| watch as &mut dyn Watcher);
        let followed = follow(run, &self.survey, &self.structure, model, questions, watcher, tell);
        Ok((Some(followed), watch.map(Watch::finish)))
    }

    fn gather(&self, run: &Run, tell: &(impl Fn(Step) + Sync)) -> Model {
        let mut model = gather(run, &self.survey, &self.structure, |progress| tell(Step::Gathering(progress)));
        model.problems.extend(self.problems.iter().cloned());
        model
    }
}
