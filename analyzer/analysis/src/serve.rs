//! What a process does that analyses a run for process 0 of its team: it opens its share of the files, folds its ranks, and follows segments of the run when it is asked to.

use lbprof_collector::folder::RunFolder;

use crate::analyse::share::Share;
use crate::profile::{GatherInput, gather_part};
use crate::read::files::{Found, OpenedLog};
use crate::read::open::Run;
use crate::read::pass::Part;
use crate::read::together::{Command, OpenRun, Pass, RunPart};
use crate::replay::decline_share;
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
                let own = team.guarded(|| {
                    opens(run.bytes_on_disk);
                    state.open(run, team)
                });
                team.gather(own)?;
            }
            Command::OpenByRank => drop(team.gather(team.guarded(|| state.open_by_rank(team)))?),
            Command::Choose(chosen) => state.choose(&chosen),
            Command::Pass { number, pass: Pass::Survey, part, .. } => {
                let own = team.guarded(|| {
                    let run = state.part(number, part, team)?;
                    let own = survey_part(&run);
                    state.survey = own.clone().unwrap_or_default();
                    Ok(Part { output: own })
                });
                team.reduce(own, Part::merge)?;
            }
            Command::Pass { number, pass: Pass::Profile, part, input } => {
                let own = team.guarded(|| {
                    let run = state.part(number, part, team)?;
                    let input = GatherInput::new(&input, &state.survey);
                    let input =
                        input.ok_or_else(|| team.failure("what it needs for the second pass cannot be read"))?;
                    Ok(gather_part(&run, &input))
                });
                team.reduce(own, Part::merge)?;
            }
            Command::Pass { number, pass: Pass::Follow, part, input } => {
                let own = team.guarded(|| {
                    let run = state.part(number, part, team)?;
                    let share = Share::new(&input);
                    Ok((run, share.ok_or_else(|| team.failure("what it needs for the third pass cannot be read"))?))
                });
                drop(input);
                match own {
                    Ok((run, share)) => share.follow(team, &run, &state.survey)?,
                    Err(failure) => decline_share(team, failure)?,
                }
            }
        }
    }
}

/// The run that was opened last.
#[derive(Default)]
struct State {
    opened: Option<OpenRun>,
    folder: RunFolder,
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
