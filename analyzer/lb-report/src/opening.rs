//! Opens a run, in this process alone or in all processes of a team.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use lbprof_analysis::read::distributed_run::LeaderProcess;
use lbprof_analysis::read::open::{DistributedOpenError, RecordedRun};

use crate::on_disk::OnDisk;

static LEADER: OnceLock<Arc<LeaderProcess>> = OnceLock::new();

/// Makes the team of `leader` open runs from now on. This is its process 0.
pub fn open_with(leader: Arc<LeaderProcess>) {
    let _ = LEADER.set(leader);
}

/// Opens the run in `dir`, which takes this much space on disk.
pub fn open(dir: &Path, on_disk: Option<OnDisk>) -> anyhow::Result<RecordedRun> {
    let Some(leader) = LEADER.get() else { return Ok(RecordedRun::open(Some(dir))?) };
    let run = RecordedRun::open_together(dir, leader, on_disk.map(|on_disk| on_disk.bytes));
    run.map_err(|error| match error {
        DistributedOpenError::Run(error) => error.into(),
        DistributedOpenError::Failure(failure) => failure.into(),
    })
}
