//! Names the job that this process is a rank of, the same on all of its ranks and hosts, without a message.
//!
//! `lb-run` and the library both look. `lb-run` passes on the key in [`VARIABLE`], because the program may run where the
//! launcher cannot be seen any more, such as in a container.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

/// The variable in which `lb-run` passes the key on.
pub const VARIABLE: &str = "LBPROF_JOB";

/// The variable in which `lb-run` passes on the number of its process, which becomes the program's.
pub const PROCESS_VARIABLE: &str = "LBPROF_PROCESS";

/// The variable in which `lb-run --report` passes on the file for the run's folder.
pub const FOLDER_VARIABLE: &str = "LBPROF_FOLDER_FILE";

/// Prefix of the keys that [`parent_key`] makes.
pub const PARENT: &str = "parent ";

/// Prefix of the keys of Hydra's jobs.
const HYDRA: &str = "hydra ";

/// The most ancestors of a process that are looked at.
const GENERATIONS: usize = 64;

/// Variables in which launchers give the rank of a process.
pub const RANK_VARIABLES: [&str; 9] = [
    "OMPI_COMM_WORLD_RANK",
    "PMIX_RANK",
    "PMI_RANK",
    "MV2_COMM_WORLD_RANK",
    "PALS_RANKID",
    "ALPS_APP_PE",
    "FLUX_TASK_RANK",
    "SLURM_PROCID",
    "JSM_NAMESPACE_RANK",
];

/// Returns the key of the job, or `None` if the launcher does not name it.
pub fn job_key() -> Option<String> {
    static NEAREST: OnceLock<JobLauncher> = OnceLock::new();
    match NEAREST.get_or_init(find_launcher) {
        JobLauncher::Hydra(key) => Some(key.clone()),
        JobLauncher::Other => of_environment(nonempty_variable),
        // Hydra's proxy may be hidden from us, but not from lb-run. Where no launcher names the job, the user may.
        JobLauncher::None => nonempty_variable(VARIABLE)
            .filter(|key| key.starts_with(HYDRA))
            .or_else(|| of_environment(nonempty_variable))
            .or_else(|| nonempty_variable(VARIABLE)),
    }
}

/// Returns a key for a job that the launcher does not name: the same for all processes of a host that have the same parent.
pub fn parent_key() -> String {
    let parent = parent_of("self").unwrap_or_default();
    let start = parent_and_start(&parent.to_string()).map_or(0, |(_, start)| start);
    format!("{PARENT}{parent} {start} {}", boot_and_namespace())
}

/// Returns what distinguishes the processes of this host and container from others of the same numbers.
pub fn boot_and_namespace() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{} {}", boot.trim(), namespace.display())
}

/// Returns the value of an environment variable, unless it is empty.
fn nonempty_variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The launcher that this process descends from.
enum JobLauncher {
    /// MPICH's or Intel MPI's, with the key of the job.
    Hydra(String),
    /// A launcher that names its jobs in the environment.
    Other,
    /// No known launcher.
    None,
}

/// Looks among this process's ancestors. The nearest one counts, because jobs may be nested.
fn find_launcher() -> JobLauncher {
    for process in ancestor_processes() {
        let Ok(command) = read_at_once(format!("/proc/{process}/cmdline")) else { return JobLauncher::None };
        let words: Vec<&[u8]> = command.split(|&byte| byte == 0).collect();
        if let Some(key) = of_hydra(&words) {
            return JobLauncher::Hydra(key);
        }
        if words.first().is_some_and(|program| is_launcher(program)) {
            return JobLauncher::Other;
        }
    }
    JobLauncher::None
}

/// Returns the ancestors of this process, nearest first, by their numbers in /proc. If /proc belongs to an outer PID namespace, system calls give other
/// numbers, or none at all; so the process itself is not looked up by its number.
pub fn ancestor_processes() -> impl Iterator<Item = u32> {
    std::iter::successors(parent_of("self"), |process| parent_of(&process.to_string())).take(GENERATIONS)
}

fn parent_of(process: &str) -> Option<u32> {
    Some(parent_and_start(process)?.0).filter(|&parent| parent != 0)
}

/// Returns the parent of the process of this number in /proc, 0 if it cannot be seen, and the time at which the process was started, in ticks after the
/// host.
pub fn parent_and_start(process: &str) -> Option<(u32, u64)> {
    let stat = String::from_utf8_lossy(&read_at_once(format!("/proc/{process}/stat")).ok()?).into_owned();
    // The command's name, in parentheses, may hold anything; after it stand the state, the parent …
    let mut fields = stat.rsplit(')').next()?.split_whitespace();
    let parent = fields.nth(1)?.parse().ok()?;
    Some((parent, fields.nth(17)?.parse().ok()?))
}

/// Reads a file of /proc. Its size is not known before, and each read of a part costs as much as one of the whole.
pub fn read_at_once(path: String) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(4096);
    File::open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns whether a program is a launcher, or a launcher's part on a host, that is not Hydra's.
pub fn is_launcher(program: &[u8]) -> bool {
    const NAMES: [&str; 7] = ["orted", "prted", "orterun", "prterun", "slurmstepd", "palsd", "flux"];
    let program = Path::new(OsStr::from_bytes(program));
    let name = program.file_name().and_then(OsStr::to_str).unwrap_or_default();
    // slurmstepd calls itself "slurmstepd: [12.0]".
    let name = name.split([':', ' ']).next().unwrap_or_default();
    NAMES.contains(&name) || name.starts_with("mpirun") || name.starts_with("mpiexec")
}

/// Returns the key in the command line of Hydra's proxy, which starts the ranks of a host: the port on which mpiexec listens and the
/// number of the process group, which distinguishes spawned processes from their parents.
fn of_hydra(words: &[&[u8]]) -> Option<String> {
    let program = words.first()?;
    if !program.windows(5).any(|part| part == b"proxy") {
        return None;
    }
    // Intel MPI names host and port apart.
    let port = option_value(words, "--control-port").or_else(|| {
        Some(format!("{}:{}", option_value(words, "--upstream-host")?, option_value(words, "--upstream-port")?))
    })?;
    Some(format!("{HYDRA}{port} {}", option_value(words, "--pgid").unwrap_or_else(|| "0".into())))
}

/// Returns the value of an option on a command line.
fn option_value(words: &[&[u8]], name: &str) -> Option<String> {
    let at = words.iter().position(|word| *word == name.as_bytes())?;
    words.get(at + 1).map(|value| String::from_utf8_lossy(value).into_owned())
}

/// Returns the key that the launcher's variables give.
///
/// Open MPI's names of jobs repeat, because they are made of process ids: the random key of the job's transports distinguishes jobs of one name
/// apart. Slurm's repeat when a job is requeued.
fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    const KEYS: [(&[&str], &[&str]); 6] = [
        (&["PALS_APID"], &[]),
        (&["PMIX_NAMESPACE"], &["OMPI_MCA_orte_precondition_transports", "SLURM_RESTART_COUNT"]),
        (&["OMPI_MCA_ess_base_jobid"], &["OMPI_MCA_orte_precondition_transports"]),
        (&["MPISPAWN_MPIRUN_HOST", "MPISPAWN_MPIRUN_PORT"], &["MPISPAWN_MPIRUN_ID"]),
        (&["FLUX_JOB_ID"], &[]),
        (&["SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID"], &["SLURM_RESTART_COUNT"]),
    ];
    // Intel MPI numbers the job of an mpiexec, whose proxy on its own host has no port on the command line. Spawned processes inherit the number, but
    // are a job of their own.
    const OF_INTEL: &str = "I_MPI_HYDRA_UUID";
    let listed = KEYS.iter().find(|(needed, _)| needed.iter().all(|name| variable(name).is_some()));
    let names: Vec<&str> = match listed {
        // The rank shows that this process is one of the step's tasks.
        Some((needed, more)) => needed.iter().chain(*more).copied().filter(|&name| name != "SLURM_PROCID").collect(),
        None if variable("PMI_SPAWNED").is_none() => vec![OF_INTEL],
        None => Vec::new(),
    };
    let values = names.iter().filter_map(|name| Some(format!("{name}={}", variable(name)?)));
    Some(values.collect::<Vec<_>>().join(" ")).filter(|key| !key.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<&[u8]> {
        line.split(' ').map(str::as_bytes).collect()
    }

    #[test]
    fn hydra_jobs_are_named_by_port_and_process_group() {
        let proxy = "/usr/bin/hydra_pmi_proxy --control-port vm:37237 --rmk user --pgid 1 --retries 10 --proxy-id 0";
        assert_eq!(of_hydra(&words(proxy)), Some("hydra vm:37237 1".into()));
        let intel = "/opt/bin//hydra_bstrap_proxy --upstream-host vm --upstream-port 40005 --pgid 0 --launcher ssh";
        assert_eq!(of_hydra(&words(intel)), Some("hydra vm:40005 0".into()));
        assert_eq!(of_hydra(&words("/usr/bin/hydra_pmi_proxy --version")), None);
        assert_eq!(of_hydra(&words("./app --control-port vm:1 --pgid 0")), None);
    }

    #[test]
    fn the_ranks_of_a_job_have_one_key_and_two_jobs_have_two() {
        let key = |variables: &[(&str, &str)]| {
            of_environment(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into()))
        };
        let step = |id: &str, rank: &str| {
            key(&[("SLURM_JOB_ID", "7"), ("SLURM_STEP_ID", id), ("SLURM_PROCID", rank)]).unwrap_or_default()
        };
        assert_eq!(step("0", "0"), step("0", "1"));
        assert_ne!(step("0", "0"), step("1", "0"));
        // In a batch script outside of any step Slurm does not name what an mpirun starts.
        assert_eq!(key(&[("SLURM_JOB_ID", "7")]), None);
        // Open MPI's name repeats, the random key does not.
        let job = |random| key(&[("PMIX_NAMESPACE", "524091393"), ("OMPI_MCA_orte_precondition_transports", random)]);
        assert_ne!(job("69c3-1c5b"), job("69c3-1c5c"));
        let intel = ("I_MPI_HYDRA_UUID", "3d260000-10ca-8a98");
        assert_eq!(key(&[intel]), Some("I_MPI_HYDRA_UUID=3d260000-10ca-8a98".into()));
        assert_eq!(key(&[intel, ("PMI_SPAWNED", "1")]), None);
        assert_eq!(key(&[]), None);
    }

    #[test]
    fn launchers_are_known_by_their_names() {
        for name in ["/usr/bin/mpirun.openmpi", "orted", "slurmstepd: [12.0]", "prterun"] {
            assert!(is_launcher(name.as_bytes()), "{name}");
        }
        for name in ["sh", "/opt/app/mpi_app", "hydra_pmi_proxy"] {
            assert!(!is_launcher(name.as_bytes()), "{name}");
        }
    }
}
