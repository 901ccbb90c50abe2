//! Opens a run in this process or in a group of processes.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use lbprof_analysis::analyse::PassRunner;
use lbprof_analysis::distributed::{DistributedOpenError, LeaderProcess};
use lbprof_analysis::read::open::RecordedRun;

static LEADER: OnceLock<Arc<LeaderProcess>> = OnceLock::new();

/// Lets the group of `leader`, which is process 0, open runs from now on.
pub fn open_with(leader: Arc<LeaderProcess>) {
    let _ = LEADER.set(leader);
}

/// Opens the run in `dir`.
pub fn open_recorded_run(dir: &Path) -> anyhow::Result<RecordedRun> {
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

/// Returns the runner of passes.
pub fn pass_runner() -> PassRunner {
    LEADER.get().map(LeaderProcess::passes).unwrap_or_default()
}
