//! How a run is opened: by this process alone.

use std::path::Path;

use lbprof_analyzer::read::open::Run;

use crate::on_disk::OnDisk;

/// Opens the run in `dir`.
pub fn open(dir: &Path, _: Option<OnDisk>) -> anyhow::Result<Run> {
    Ok(Run::open(Some(dir))?)
}
