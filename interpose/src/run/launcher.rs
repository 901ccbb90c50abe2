//! Reads the launcher's facts about the job from the environment.

use std::sync::OnceLock;

use lbprof_collector::problem::ProblemKind;

use crate::harmless::guard;
use crate::run::job;

fn number_from_environment(name: &str) -> Option<u32> {
    std::env::var(name).ok()?.trim().parse().ok()
}

/// Returns this process's rank, if the launcher gives it.
pub fn launcher_rank() -> Option<u32> {
    job::RANK_VARIABLES.iter().find_map(|name| number_from_environment(name))
}

/// Returns the number of ranks of the job on this host, if the launcher gives it.
pub fn ranks_here() -> Option<u32> {
    const RANKS_HERE: [&str; 4] =
        ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE", "PALS_LOCAL_SIZE"];
    RANKS_HERE.iter().find_map(|name| number_from_environment(name))
}

/// Returns whether all of `size` ranks run on this host, or `None` if the launcher does not say.
pub fn single_host(size: i32) -> Option<bool> {
    if let Some(here) = ranks_here() {
        return Some(i64::from(here) >= i64::from(size));
    }
    ["OMPI_MCA_orte_num_nodes", "PMIX_NUM_NODES", "SLURM_JOB_NUM_NODES", "SLURM_NNODES"]
        .iter()
        .find_map(|name| std::env::var(name).ok())
        .map(|nodes| nodes.trim() == "1")
}

/// Extends a job's key by facts that distinguish its launcher from launchers at other times, hosts and containers: boot, PID namespace and the launcher's
/// start.
///
/// `key` may be made of a host name and process ids, which two containers can have alike. Where the launcher cannot be seen, as from a container
/// of the rank's own, `key` stays as it is. The result is the same on all ranks of a host, not across hosts.
pub fn key_on_host(key: String) -> String {
    let Some((_, started)) = rank_starter() else { return key };
    format!("{key} {} {started}", job::boot_and_namespace())
}

/// Returns the number and the start time of the nearest process that starts the ranks of jobs, or `None` if it cannot be seen. MPI_Comm_spawn has the
/// same process of a host start the new ones.
pub fn rank_starter() -> Option<(u32, u64)> {
    static FOUND: OnceLock<Option<(u32, u64)>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let process = job::ancestor_processes().find(|process| {
            let command = job::read_at_once(format!("/proc/{process}/cmdline")).unwrap_or_default();
            command.split(|&byte| byte == 0).next().is_some_and(job::is_launcher)
        })?;
        Some((process, start_of(process)?))
    })
}

fn start_of(process: u32) -> Option<u64> {
    job::parent_and_start(&process.to_string()).map(|(_, start)| start)
}

/// Returns the launcher's name, the number of processes that it says it started, and this one's number among them.
fn started_processes() -> Option<(&'static str, u32, u32)> {
    const OF_MPI: [(&str, &str); 3] = [
        ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
        ("PMI_SIZE", "PMI_RANK"),
        ("MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"),
    ];
    let of_mpi = OF_MPI
        .into_iter()
        .filter_map(|(size, rank)| Some((number_from_environment(size)?, number_from_environment(rank)?)));
    // Launchers may be nested: the one that started a single process is this program's own.
    if let Some((size, rank)) = of_mpi.min() {
        return Some(("mpirun", size, rank));
    }
    // Variables of the step: an allocation has many tasks in which a serial program may run.
    Some(("srun", number_from_environment("SLURM_STEP_NUM_TASKS")?, number_from_environment("SLURM_PROCID")?))
}

/// Returns whether the launcher started this process as one of several, where MPI has a single rank.
pub fn is_foreign() -> bool {
    started_processes().is_some_and(|(_, size, _)| size > 1)
}

/// Notes, where MPI has a single rank, that the launcher started more. The first of these processes reports it.
pub fn look_for_foreign() {
    let Some((launcher, size, rank)) = started_processes().filter(|&(_, size, _)| size > 1) else { return };
    if rank != 0 {
        return guard::count_problem(ProblemKind::ForeignLauncher, 1);
    }
    let reason = format_args!("{launcher} belongs to another MPI than the program");
    let what = format_args!("the launcher started {size} processes, but MPI has 1 rank in each: {reason}");
    guard::report_problem(ProblemKind::ForeignLauncher, what);
}
