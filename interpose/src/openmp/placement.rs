//! Finds the cores on which the threads of a team may run, and the user's settings for them.

use std::mem::MaybeUninit;

use lbprof_collector::parallel::TeamPlacement;

use crate::openmp::reporting;
use crate::openmp::runtime::{self, RuntimeFunction};
use crate::system::{objects, sandbox};

/// Prefixes of the variables that run-time libraries read.
const PREFIXES: [&str; 3] = ["OMP_", "GOMP_", "KMP_"];

/// The placement of a team of this size, whose threads exist, and of which the run-time library was called from `caller`.
pub fn find(team: u32, caller: usize) -> TeamPlacement {
    let mut settings: Vec<String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .filter(|(name, _)| PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
        .map(|(name, value)| format!("{name}={}", value.to_string_lossy()))
        .collect();
    settings.sort();
    let library = reporting::library_path().or_else(|| {
        let function = runtime::next(RuntimeFunction::omp_get_thread_num, caller);
        objects::look_at(function, |object| object.path().to_string_lossy().into_owned())
    });
    TeamPlacement { team, cores: cores(), settings, library: library.unwrap_or_default() }
}

/// The number of cores on which at least one thread of the process may run; 0: it is not known.
///
/// A run-time library binds the first thread, too, so that its own mask says little.
fn cores() -> u32 {
    if sandbox::is_filtered() {
        return 0;
    }
    let mut all = [0_u64; size_of::<libc::cpu_set_t>() / size_of::<u64>()];
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return 0 };
    for thread in threads.flatten() {
        let Some(number) = thread.file_name().to_str().and_then(|name| name.parse::<libc::pid_t>().ok()) else {
            continue;
        };
        let mut mask = MaybeUninit::<libc::cpu_set_t>::zeroed();
        // SAFETY: writes at most the mask's size, which is all words of `all`.
        let words = unsafe {
            libc::sched_getaffinity(number, size_of::<libc::cpu_set_t>(), mask.as_mut_ptr());
            mask.as_ptr().cast::<[u64; size_of::<libc::cpu_set_t>() / size_of::<u64>()]>().read()
        };
        for (sum, word) in all.iter_mut().zip(words) {
            *sum |= word;
        }
    }
    all.iter().map(|word| word.count_ones()).sum()
}
