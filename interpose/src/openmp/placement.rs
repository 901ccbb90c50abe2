//! Finds the cores on which the threads of a team may run, and the user's settings for them.

use lbprof_collector::parallel::TeamPlacement;

use crate::openmp::reporting;
use crate::openmp::runtime::GET_THREAD_NUM;
use crate::system::loader::objects;
use crate::system::sandbox;

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
    TeamPlacement { team, cores: count_cores(), settings, library: library.unwrap_or_default() }
}

/// Returns the number of cores on which at least one thread of the process may run; 0: it is not known.
///
/// A run-time library binds the first thread, too, so its own mask says little.
fn count_cores() -> u32 {
    if sandbox::is_filtered() {
        return 0;
    }
    let mut all = [0_u64; size_of::<libc::cpu_set_t>() / size_of::<u64>()];
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return 0 };
    let numbers = threads.flatten().filter_map(|thread| thread.file_name().to_str()?.parse::<libc::pid_t>().ok());
    for number in numbers {
        let mut mask = [0_u64; size_of::<libc::cpu_set_t>() / size_of::<u64>()];
        // SAFETY: fills at most the mask.
        unsafe { libc::sched_getaffinity(number, size_of_val(&mask), mask.as_mut_ptr().cast()) };
        for (sum, word) in all.iter_mut().zip(mask) {
            *sum |= word;
        }
    }
    all.iter().map(|word| word.count_ones()).sum()
}
