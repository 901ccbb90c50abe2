//! Opens a run, in this process alone or in all processes of a team.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use lbprof_analysis::analyse::PassRunner;
use lbprof_analysis::distributed::{DistributedOpenError, LeaderProcess};
use lbprof_analysis::read::open::RecordedRun;

static LEADER: OnceLock<Arc<LeaderProcess>> = OnceLock::new();

/// Makes the team of `leader` open runs from now on. This is its process 0.
pub fn open_with(leader: Arc<LeaderProcess>) {
    let _ = LEADER.set(leader);
}

/// Opens the run in `dir`.
pub fn open(dir: &Path) -> anyhow::Result<RecordedRun> {
    let Some(leader) = LEADER.get() else { return Ok(RecordedRun::open(Some(dir))?) };
    leader.open(dir).map_err(|error| match error {
        DistributedOpenError::Run(error) => error.into(),
        DistributedOpenError::Failure(failure) => failure.into(),
    })
}

/// Returns whether several processes read the runs.
pub fn is_distributed() -> bool {
    LEADER.get().is_some()
}

/// Returns whoever makes the passes over the runs.
pub fn passes() -> PassRunner {
    LEADER.get().map(LeaderProcess::passes).unwrap_or_default()
}
