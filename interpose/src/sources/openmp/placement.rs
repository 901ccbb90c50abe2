//! Finds the cores on which the threads of a team may run, and the user's settings for them.

use lbprof_collector::parallel::TeamPlacement;

use crate::machine::system::loader::objects;
use crate::machine::system::process;
use crate::sources::openmp::reporting;
use crate::sources::openmp::runtime::GET_THREAD_NUM;

/// Prefixes of the variables that run-time libraries read.
const PREFIXES: [&str; 3] = ["OMP_", "GOMP_", "KMP_"];

/// Returns the placement of a team of this size, whose threads exist, and whose run-time library was called from `caller`.
pub fn find_placement(team: u32, caller: usize) -> TeamPlacement {
    let mut settings: Vec<String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .filter(|(name, _)| PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
        .map(|(name, value)| format!("{name}={}", value.to_string_lossy()))
        .collect();
    settings.sort();
    let library = reporting::library_path().or_else(|| {
        objects::look_at(GET_THREAD_NUM.address(caller), |object| object.path().to_string_lossy().into_owned())
    });
    TeamPlacement { team, cores: process::allowed_cores(), settings, library: library.unwrap_or_default() }
}
