//! How a run is opened: by this process alone, or by all processes of a team together.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use lbprof_analysis::read::open::{Run, TogetherError};
use lbprof_analysis::read::together::Leader;

use crate::on_disk::OnDisk;

static LEADER: OnceLock<Arc<Leader>> = OnceLock::new();

/// From here on runs are opened by the team of `leader`, whose process 0 this one is.
pub fn by(leader: Arc<Leader>) {
    let _ = LEADER.set(leader);
}

/// Opens the run in `dir`, which takes so much on disk.
pub fn open(dir: &Path, on_disk: Option<OnDisk>) -> anyhow::Result<Run> {
    let Some(leader) = LEADER.get() else { return Ok(Run::open(Some(dir))?) };
    let run = Run::open_together(dir, leader, on_disk.map(|on_disk| on_disk.bytes));
    run.map_err(|error| match error {
        TogetherError::Run(error) => error.into(),
        TogetherError::Failure(failure) => failure.into(),
    })
}
