//! The MPIs that the tests run under: compilers, launcher, environment.

use std::path::PathBuf;
use std::process::Command;

use anyhow::bail;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    OpenMpi,
    /// MPICH and Intel MPI.
    Mpich,
}

#[derive(Clone, Debug)]
pub struct Mpi {
    pub name: String,
    pub family: Family,
    /// The C compiler and its first arguments.
    pub cc: Vec<String>,
    pub cxx: Vec<String>,
    /// The Fortran compiler; `None`: this MPI came without.
    pub fortran: Option<Vec<String>>,
    /// The launcher, up to the number of ranks.
    pub launcher: Vec<String>,
    pub env: Vec<(String, String)>,
}

/// Names of the MPIs to test: `LBPROF_TEST_MPIS`, or the two of a Debian system.
pub fn names() -> Vec<String> {
    let names = std::env::var("LBPROF_TEST_MPIS").unwrap_or_else(|_| "openmpi mpich".into());
    names.split_whitespace().map(str::to_owned).collect()
}

pub fn all() -> anyhow::Result<Vec<Mpi>> {
    names().iter().map(|name| Mpi::named(name)).collect()
}

impl Mpi {
    /// The MPI of this name.
    ///
    /// Those of a Debian system are found by the names that Debian gives their commands. The others lie in a folder of their
    /// own that `LBPROF_TEST_PREFIX_<NAME>` gives (upper case, `-` as `_`), with `bin` and `lib` in it.
    pub fn named(name: &str) -> anyhow::Result<Mpi> {
        let variable = format!("LBPROF_TEST_PREFIX_{}", name.to_uppercase().replace('-', "_"));
        let prefix = std::env::var_os(&variable).map(PathBuf::from);
        let family = if name.starts_with("openmpi") { Family::OpenMpi } else { Family::Mpich };
        let command = |base: &str, debian: &str| match &prefix {
            Some(prefix) => vec![prefix.join("bin").join(base).display().to_string()],
            None => vec![debian.to_owned()],
        };
        let mut env = Vec::new();
        let mut set = |name: &str, value: &str| env.push((name.to_owned(), value.to_owned()));
        if family == Family::OpenMpi {
            for (name, value) in [
                ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
                ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
                ("OMPI_MCA_mpi_yield_when_idle", "1"),
                ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
            ] {
                set(name, value);
            }
        }
        if let (Some(prefix), "impi") = (&prefix, name) {
            set("I_MPI_ROOT", &prefix.display().to_string());
            // Its mpirun takes what it starts from the path, where another MPI's may come first.
            let inherited = std::env::var("PATH").unwrap_or_default();
            set("PATH", &format!("{}:{inherited}", prefix.join("bin").display()));
        }
        if let Some(prefix) = &prefix {
            let inherited = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
            set("LD_LIBRARY_PATH", &format!("{}:{inherited}", prefix.join("lib").display()));
        }
        let is_of_debian = ["openmpi", "mpich"].contains(&name);
        if !is_of_debian && !["openmpi5", "mpich5", "mpich5-abi", "impi"].contains(&name) {
            bail!("no MPI named {name}: LBPROF_TEST_MPIS takes openmpi, mpich, openmpi5, mpich5, mpich5-abi, impi");
        }
        if !is_of_debian && prefix.is_none() {
            bail!("{variable} does not say where {name} lies");
        }
        let suffix = if name == "mpich5-abi" { "_abi" } else { "" };
        // Intel's compiler commands do not know where the wheel has put them.
        let root = env.iter().find(|(name, _)| name == "I_MPI_ROOT").map(|(name, at)| format!("{name}={at}"));
        let compiler = |base: &str| {
            let words = command(&format!("{base}{suffix}"), &format!("{base}.{name}"));
            if is_of_debian { words } else { ["env".into()].into_iter().chain(root.clone()).chain(words).collect() }
        };
        let (cc, cxx, fortran) = (compiler("mpicc"), compiler("mpicxx"), is_of_debian.then(|| compiler("mpifort")));
        let mut launcher = command("mpirun", &format!("mpirun.{name}"));
        if family == Family::OpenMpi {
            launcher.push("--oversubscribe".into());
        }
        Ok(Mpi { name: name.into(), family, cc, cxx, fortran, launcher, env })
    }
}

pub const PYTHON: &str = "/usr/bin/python3";

/// The MPI that Python's mpi4py is linked with, by the names of the tests; or why there is none.
pub fn of_python() -> Result<&'static str, String> {
    let script = "import mpi4py; mpi4py.rc.initialize = False\nfrom mpi4py import MPI; print(MPI.get_vendor()[0])";
    let output = Command::new(PYTHON).args(["-c", script]).output().map_err(|error| format!("{PYTHON}: {error}"))?;
    match String::from_utf8_lossy(&output.stdout).trim() {
        "Open MPI" => Ok("openmpi"),
        "MPICH" => Ok("mpich"),
        _ => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}
