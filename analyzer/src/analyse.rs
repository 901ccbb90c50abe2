//! A run → its model and the places of its call sites: the passes, in their order.

use lbprof_collector::Problem;

use crate::gather::gather;
use crate::model::Model;
use crate::open::Run;
use crate::pass::Progress;
use crate::selection::{Selection, SelectionError};
use crate::structure::{Structure, Wanted};
use crate::survey::survey;
use crate::symbols::{self, Place};

/// How to analyse a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether to look up functions and lines.
    pub symbols: bool,
    /// What to find that is not marked.
    pub wanted: Wanted,
}

impl Default for Options {
    /// All that can be found.
    fn default() -> Self {
        Options { symbols: true, wanted: Wanted::default() }
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
}

/// A run, analysed.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// Its model.
    pub model: Model,
    /// The places of the model's call sites, at the same indices.
    pub places: Vec<Place>,
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
    Ok(analyse(&selection.narrow(run)?, options, tell))
}

/// Analyses `run`; `tell` is told what is done, from any thread.
pub fn analyse(run: &Run, options: &Options, tell: impl Fn(Step) + Sync) -> Analysis {
    let survey = survey(run, |progress| tell(Step::Surveying(progress)));
    tell(Step::Naming);
    let (places, problems): (Vec<Place>, Vec<Problem>) = match options.symbols {
        true => symbols::resolve(&survey.sites),
        false => (symbols::unresolved(&survey.sites), Vec::new()),
    };
    let structure = Structure::find(run, &survey, &places, &options.wanted);
    let mut model = gather(run, &survey, &structure, |progress| tell(Step::Gathering(progress)));
    model.problems.extend(problems);
    Analysis { model, places }
}
