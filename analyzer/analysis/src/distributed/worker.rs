//! The work of the processes other than 0: each opens its share of the files, folds its ranks, and follows segments of the run when process 0
//! asks for that.

use lbprof_collector::folder::RunFolder;

use super::jobs::{GatherJob, ReplayJob};
use super::process_group::ProcessGroup;
use super::protocol::{OpenRun, ProcessCommand, RecordPass};
use super::replay::decline_share;
use crate::analyse::ProcessFailure;
use crate::codec::decode_value;
use crate::partial_result::PartialResult;
use crate::read::files::OpenedLog;
use crate::read::open::RecordedRun;
use crate::read::part::RunPart;
use crate::structure::survey::{CallSurvey, survey_ranks};

/// Serves the requests of process 0 until it ends. `opens` is called before a run is opened.
///
/// Errors: another process has ended. Failures of this process are reported to process 0, and this process goes on, because process 0 ends all.
pub fn serve_leader(team: &ProcessGroup, opens: impl Fn()) -> Result<(), ProcessFailure> {
    let mut state = ServedRun::default();
    loop {
        match team.received_broadcast::<ProcessCommand>()? {
            ProcessCommand::End => return Ok(()),
            ProcessCommand::Open(run) => {
                let own = team.guarded(|| {
                    opens();
                    state.open(run, team)
                });
                team.gather(own)?;
            }
            ProcessCommand::Choose(ranks) => state.choose(&ranks),
            ProcessCommand::Pass { number, pass: RecordPass::Survey, part, .. } => {
                let own = team.guarded(|| {
                    let run = state.part(number, part, team)?;
                    let own = survey_ranks(&run, &run.headers, &|_| ());
                    state.survey = own.clone().unwrap_or_default();
                    Ok(own)
                });
                team.reduce(own, Option::merge)?;
            }
            ProcessCommand::Pass { number, pass: RecordPass::Profile, part, input } => {
                let own = team.guarded(|| {
                    let run = state.part(number, part, team)?;
                    let job = decode_value::<GatherJob>(&input)
                        .ok_or_else(|| team.failure("what it needs for the second pass cannot be read"))?;
                    Ok(job.gather(&run, &state.survey))
                });
                team.reduce(own, Option::merge)?;
            }
            ProcessCommand::Pass { number, pass: RecordPass::Follow, part, input } => {
                let own = team.guarded(|| {
                    let run = state.part(number, part, team)?;
                    let share = decode_value::<ReplayJob>(&input);
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
struct ServedRun {
    opened: Option<OpenRun>,
    folder: RunFolder,
    logs: Vec<OpenedLog>,
    run: RecordedRun,
    survey: CallSurvey,
}

impl ServedRun {
    fn open(&mut self, run: OpenRun, team: &ProcessGroup) -> Result<Vec<OpenedLog>, ProcessFailure> {
        *self = ServedRun::default();
        self.folder = run.share(team)?;
        self.opened = Some(run);
        self.logs = OpenedLog::open_all(&self.folder);
        Ok(self.logs.clone())
    }

    fn choose(&mut self, ranks: &[u32]) {
        let mut logs = std::mem::take(&mut self.logs);
        logs.retain(|log| ranks.binary_search(&log.rank).is_ok());
        let headers = logs.into_iter().filter_map(|log| log.header.ok()).collect();
        let dir = self.opened.as_ref().map(OpenRun::dir).unwrap_or_default();
        self.run = RecordedRun::of_share(&dir, std::mem::take(&mut self.folder), headers);
    }

    /// Returns a part of the run with this number.
    fn part(&self, number: u64, part: RunPart, team: &ProcessGroup) -> Result<RecordedRun, ProcessFailure> {
        let is_open = self.opened.as_ref().is_some_and(|run| run.number == number);
        if is_open { Ok(self.run.within(part)) } else { Err(team.failure("it has opened another run")) }
    }
}
