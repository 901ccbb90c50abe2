//! What a process does that analyses a run for process 0 of its team: it opens its share of the files, and folds its ranks when it is asked to.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lbprof_collector::folder::Folder;

use crate::profile::{GatherInput, gather_part};
use crate::read::files::{Found, OpenedLog};
use crate::read::open::Run;
use crate::read::pass::Part;
use crate::read::together::{Command, OpenRun, Pass, RunPart};
use crate::structure::survey::{Survey, survey_part};
use crate::transport::{Failure, Team};

/// Does what process 0 asks for, until that has no more to ask. `opens` is called with what a run takes on disk before it is opened.
///
/// Errors: another process is not there any more. Process 0 gets to know what fails here. This process goes on, because it is process 0 that ends all.
pub fn serve(team: &Team, opens: impl Fn(Option<u64>)) -> Result<(), Failure> {
    let mut state = State::default();
    loop {
        match team.received_broadcast::<Command>()? {
            Command::End => return Ok(()),
            Command::Open(run) => {
                let own = guarded(team, || {
                    opens(run.bytes_on_disk);
                    state.open(run, team)
                });
                team.gather(own)?;
            }
            Command::OpenByRank => drop(team.gather(guarded(team, || state.open_by_rank(team)))?),
            Command::Choose(chosen) => state.choose(&chosen),
            Command::Pass { number, pass: Pass::Survey, part, .. } => {
                let own = guarded(team, || {
                    let run = state.part(number, part, team)?;
                    let own = survey_part(&run);
                    state.survey = own.clone().unwrap_or_default();
                    Ok(Part { output: own })
                });
                team.reduce(own, Part::merge)?;
            }
            Command::Pass { number, pass: Pass::Profile, part, input } => {
                let own = guarded(team, || {
                    let run = state.part(number, part, team)?;
                    let input = GatherInput::new(&input, &state.survey);
                    let input =
                        input.ok_or_else(|| team.failure("what it needs for the second pass cannot be read"))?;
                    Ok(gather_part(&run, &input))
                });
                team.reduce(own, Part::merge)?;
            }
        }
    }
}

/// The run that was opened last.
#[derive(Default)]
struct State {
    opened: Option<OpenRun>,
    folder: Folder,
    logs: Vec<OpenedLog>,
    run: Run,
    /// What was found of its ranks.
    survey: Survey,
}

impl State {
    fn open(&mut self, run: OpenRun, team: &Team) -> Result<Found, Failure> {
        *self = State::default();
        self.folder = run.share(team)?;
        self.opened = Some(run);
        Ok(self.found(Found::all(&self.folder)))
    }

    fn open_by_rank(&mut self, team: &Team) -> Result<Found, Failure> {
        let run = self.opened.as_ref().ok_or_else(|| team.failure("it has opened no run"))?;
        let (folder, ranks) = run.by_rank(team);
        self.folder = folder;
        Ok(self.found(Found::of_ranks(&self.folder, ranks)))
    }

    fn found(&mut self, found: Found) -> Found {
        self.logs.clone_from(&found.logs);
        found
    }

    fn choose(&mut self, chosen: &[(u32, usize)]) {
        let is_chosen = |log: &OpenedLog| chosen.binary_search(&(log.rank, log.number)).is_ok();
        let logs: Vec<OpenedLog> = std::mem::take(&mut self.logs).into_iter().filter(is_chosen).collect();
        let mut folder = std::mem::take(&mut self.folder);
        logs.iter().for_each(|log| folder.choose(log.rank, log.number));
        let headers = logs.into_iter().filter_map(|log| log.header.ok()).collect();
        let dir = self.opened.as_ref().map(OpenRun::dir).unwrap_or_default();
        self.run = Run::of_share(&dir, folder, headers);
    }

    /// A part of the run of this number.
    fn part(&self, number: u64, part: RunPart, team: &Team) -> Result<Run, Failure> {
        let is_open = self.opened.as_ref().is_some_and(|run| run.number() == number);
        if is_open { Ok(self.run.within(part)) } else { Err(team.failure("it has opened another run")) }
    }
}

/// What `work` gives; a panic in it is a failure of this process, as others are.
fn guarded<T>(team: &Team, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(team.failure(words(panic.as_ref()))))
}

/// What a panic says.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("a mistake in lbprof: {}", text.unwrap_or("a panic"))
}
