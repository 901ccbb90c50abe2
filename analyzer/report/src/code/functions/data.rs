//! Rows of the tables of functions.

use lbprof_collector::{CoreState, StateGroup};
use serde::Serialize;

use crate::rows::serial;
use lbprof_analysis::structure::code::code_place::{base_name, short_name};
use lbprof_analysis::structure::code::frames::is_thread_runtime;
use lbprof_analysis::structure::code::sampled_code::SampledFunction;

/// Functions that ranks compute in, by samples of the CPU time of the threads that called `MPI_Init`, in user space. The number of samples
/// in a function is a count, so that all times of functions are estimates; `…_error_s` is a standard error: the root of the sum of the
/// squares of the time that each sample stands for (Poisson). A function includes the code that compilers inline into it from system
/// headers, not from other functions, and the functions that it calls in libraries that call no MPI, if the log has the calls that led to
/// samples.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct FunctionTable {
    /// CPU time that a sample stands for, the mean.
    pub period_s: f64,
    /// Ranks that were sampled.
    pub ranks: usize,
    /// Samples of these threads.
    pub samples: u64,
    /// CPU time in computation, all ranks together.
    pub computation_s: f64,
    /// CPU time in MPI calls, likewise.
    pub mpi_s: f64,
    /// Functions of the program that MPI calls, as for a user-defined reduction (`MPI_Op_create`), most CPU time first; at most 20.
    pub called_by_mpi: Vec<CalledBackRow>,
    /// The functions of all threads at times for which there are no records: they are missing, recording was paused, or calls were recorded as sums
    /// (`LBPROF_MODE=profile`, `LBPROF_LIMIT`) and the recorder did not note where these samples belong. Computation and calls of MPI are not
    /// distinguished. Null if there is no such CPU time.
    pub unplaced: Option<OtherThreadsFunctions>,
    /// CPU time of the other threads, all ranks together.
    pub other_threads_s: f64,
    /// The functions of these, by whether they call MPI.
    pub other_threads: Vec<OtherThreadsRow>,
    /// The whole program; regions together.
    pub program: RegionFunctions,
    /// Each region by itself, inner regions excluded, most CPU time first; at most 40.
    pub regions: Vec<RegionFunctions>,
    /// Computation of the ranks that make others wait, in the regions where they do, the most costly first; at most 20.
    pub delaying_ranks: Vec<DelayingRank>,
}

/// Threads other than the ones that called `MPI_Init`, all threads of a rank together. Their samples count for the region that the rank's first
/// thread was in at that time, whatever it did there.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct OtherThreadsRow {
    /// True if they call MPI: false for the threads of OpenMP and of libraries.
    pub call_mpi: bool,
    /// Number of those threads with samples, over all ranks.
    pub threads: u32,
    /// Ranks that have such threads.
    pub ranks: usize,
    /// Their samples.
    pub samples: u64,
    /// Their CPU time, all ranks together.
    pub cpu_s: f64,
    /// The part of `cpu_s` in which they wait for other threads or look for work: in the run-time libraries of OpenMP and TBB, and in `sched_yield`.
    pub waiting_s: f64,
    /// The whole program; regions together.
    pub program: OtherThreadsFunctions,
    /// Each region by itself, inner regions excluded, most CPU time first; at most 40.
    pub regions: Vec<OtherThreadsFunctions>,
}

/// The functions of such threads in a region.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct OtherThreadsFunctions {
    /// Its path.
    pub region: String,
    /// Samples.
    pub samples: u64,
    /// Their CPU time, the mean over ranks.
    pub cpu_s: f64,
    /// Standard error of `cpu_s`.
    pub cpu_error_s: f64,
    /// The part of `cpu_s` in which the first thread was in an MPI call.
    pub during_mpi_s: f64,
    /// The functions, most CPU time or excess first. The slowest rank is the one whose first thread computes longest in the whole program.
    pub functions: Vec<FunctionRow>,
    /// The others together.
    pub others: OtherFunctions,
}

/// The functions of a region.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct RegionFunctions {
    /// Its path.
    pub region: String,
    /// Computation by its calls, the mean over ranks.
    pub computation_s: f64,
    /// CPU time of that by samples, the mean.
    pub cpu_s: f64,
    /// Standard error of `cpu_s`.
    pub cpu_error_s: f64,
    /// Computation without samples: `computation_s` − `cpu_s`: asleep, waiting for a core, or in the kernel.
    pub not_running_s: f64,
    /// The rank with most of that, beyond the error; null if none has any.
    pub not_running_rank: Option<u32>,
    /// The time of that rank.
    pub max_not_running_s: f64,
    /// The rank that computes longest, which is compared with the mean.
    pub slowest_rank: Option<u32>,
    /// Its computation.
    pub slowest_computation_s: f64,
    /// `slowest_computation_s` − `computation_s`.
    pub excess_s: f64,
    /// Places of the excess.
    pub explained: ExplainedExcess,
    /// Processor counters during that CPU time; null if they count nothing, as in most virtual machines.
    pub hardware: Option<HardwareRow>,
    /// The functions, most CPU time or excess first.
    pub functions: Vec<FunctionRow>,
    /// The others together.
    pub others: OtherFunctions,
}

/// Processor counters during computation, in user space.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct HardwareRow {
    /// Ranks that have counts.
    pub ranks: usize,
    /// Instructions, the mean over these ranks.
    pub instructions: f64,
    /// Instructions per cycle of all of them; null if no cycles were counted.
    pub ipc: Option<f64>,
    /// Cycles per second of CPU time of all of them.
    pub frequency_hz: Option<f64>,
    /// Instructions of the rank that computes longest.
    pub slowest_instructions: f64,
    /// Its instructions per cycle.
    pub slowest_ipc: Option<f64>,
    /// Its cycles per second.
    pub slowest_frequency_hz: Option<f64>,
    /// CPU time that this rank has more than the mean because it executes more instructions: (its instructions − the mean) × mean seconds per instruction.
    pub more_instructions_s: f64,
    /// CPU time that it has more because its instructions take longer. Both add up to its excess of CPU time.
    pub slower_instructions_s: f64,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct FunctionRow {
    /// Name of the function.
    #[serde(flatten)]
    pub name: FunctionName,
    /// Samples.
    pub samples: u64,
    /// CPU time, the mean over ranks.
    pub mean_s: f64,
    /// Standard error of that.
    pub error_s: f64,
    /// Fraction of the time of all functions.
    pub share: f64,
    /// The least of a rank.
    pub min_s: f64,
    /// The most of a rank.
    pub max_s: f64,
    /// The rank with that time.
    pub max_rank: u32,
    /// Time of the slowest rank.
    pub slowest_s: f64,
    /// `slowest_s` − `mean_s`.
    pub excess_s: f64,
    /// Standard error of that.
    pub excess_error_s: f64,
    /// True if `excess_s` is at least two standard errors.
    pub significant: bool,
    /// Instructions in user space, the mean over ranks; null if the processors count none, as in most virtual machines.
    pub instructions: Option<f64>,
    /// Instructions per cycle, all ranks together.
    pub ipc: Option<f64>,
    /// Instructions of the slowest rank.
    pub slowest_instructions: Option<f64>,
    /// Its instructions per cycle.
    pub slowest_ipc: Option<f64>,
    /// Its lines with most CPU time, at most 5. Calls in libraries count for the line of the call.
    pub lines: Vec<LineRow>,
    /// The functions of libraries in which it spends most of that time, at most 3: such as `exp`, `dgemm_`, `memcpy`.
    pub libraries: Vec<LibraryRow>,
    /// The call for most of its time, if the samples show it.
    #[serde(flatten)]
    pub call: FunctionCall,
}

/// A function of the program that MPI calls within a call of the program: this is computation, but `mpi_s` and the time of the call include it.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct CalledBackRow {
    /// Name of the function; `line` is the first one of it that a sample hit.
    #[serde(flatten)]
    pub name: FunctionName,
    /// The MPI function that the program called, without `MPI_`.
    pub operation: String,
    /// Samples in it, and in what it calls.
    pub samples: u64,
    /// CPU time, the mean over ranks.
    pub mean_s: f64,
    /// Standard error of that.
    pub error_s: f64,
    /// The least of a rank.
    pub min_s: f64,
    /// The most of a rank.
    pub max_s: f64,
    /// The rank with that time.
    pub max_rank: u32,
}

/// A function of a library, called by a function of the program.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct LibraryRow {
    /// The function that the program called, whatever that called in turn.
    #[serde(flatten)]
    pub name: FunctionName,
    /// CPU time in it, the mean over ranks.
    pub mean_s: f64,
    /// Fraction of the time of the function that called it.
    pub share: f64,
}

/// The name of a function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, crate::JsonSchema)]
pub struct FunctionName {
    /// Its name without return type and parameters; null if it is not known.
    pub function: Option<String>,
    /// Its source file.
    pub file: Option<String>,
    /// The line with most CPU time.
    pub line: Option<u32>,
    /// Path of the executable or library; null for generated code.
    pub module: Option<String>,
}

impl FunctionName {
    pub(crate) fn for_function(function: &SampledFunction, line: Option<u32>) -> FunctionName {
        let SampledFunction { name, file, module } = function.clone();
        FunctionName { function: Some(name).filter(|name| !name.is_empty()), file, line, module }
    }

    /// Returns whether the function is in a runtime library of threads, i.e. waits for them.
    pub fn waits_for_threads(&self) -> bool {
        self.module.as_deref().is_some_and(|module| is_thread_runtime(base_name(module)))
    }

    /// Formats e.g. `PairLJCut::compute (pair_lj_cut.cpp:112)`, `exp (libm.so.6)`, `libm.so.6` for an unknown function, or `waiting for threads
    /// (libgomp.so.1)`.
    pub fn label(&self) -> String {
        let module = self.module.as_deref().map(base_name).unwrap_or("generated code");
        if self.waits_for_threads() {
            return format!("waiting for threads ({module})");
        }
        let Some(function) = self.function.as_deref().map(short_name) else { return module.to_owned() };
        match (self.file.as_deref().map(base_name), self.line) {
            (Some(file), Some(line)) => format!("{function} ({file}:{line})"),
            (Some(file), None) => format!("{function} ({file})"),
            (None, _) => format!("{function} ({module})"),
        }
    }
}

/// The call that entered a function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, crate::JsonSchema)]
pub struct FunctionCall {
    /// The function of the program that called it; null if it is not known.
    pub caller: Option<String>,
    /// Source file of the caller.
    pub caller_file: Option<String>,
    /// Line of the call, the first one if there are several; null if it is not known.
    pub caller_line: Option<u32>,
}

/// A line of the source.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct LineRow {
    /// Its number.
    pub line: u32,
    /// CPU time, the mean over ranks.
    pub mean_s: f64,
    /// Standard error of that.
    pub error_s: f64,
    /// The least of a rank; null if the line counts in several regions.
    pub min_s: Option<f64>,
    /// The most of a rank; null likewise.
    pub max_s: Option<f64>,
    /// The rank with that time.
    pub max_rank: Option<u32>,
}

/// Functions that are not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, crate::JsonSchema)]
pub struct OtherFunctions {
    /// Number of functions.
    pub functions: usize,
    /// CPU time, the mean over ranks.
    pub mean_s: f64,
    /// Time of the slowest rank.
    pub slowest_s: f64,
    /// `slowest_s` − `mean_s`.
    pub excess_s: f64,
    /// Standard error of that.
    pub excess_error_s: f64,
}

/// In which functions a rank computes longer than the mean.
#[derive(Clone, Debug, Default, PartialEq, Serialize, crate::JsonSchema)]
pub struct ExplainedExcess {
    /// The functions with most of it, with all that compilers put into them; only those in which it is significant, at most 3. If functions are put
    /// into one another, it is the innermost that has at least 80 % of it.
    pub functions: Vec<ExcessIn>,
    /// Computation without samples of that rank, more than the mean, if that is significant; else null.
    pub not_running_s: Option<f64>,
    /// Fraction of the whole excess.
    pub not_running_share: Option<f64>,
    /// The parts of that by the thread's state, if the kernel noted when it had a core, or states were recorded.
    pub states: Option<Vec<ExcessInState>>,
}

/// A part of an excess in a state of the thread other than in the program's own code.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct ExcessInState {
    /// The state.
    #[serde(rename = "name", serialize_with = "serial::core_state")]
    #[schemars(with = "String")]
    pub state: CoreState,
    /// Fraction of the whole excess; negative where the rank has less than the mean.
    pub share: f64,
}

impl ExplainedExcess {
    /// Returns the fraction in a group of states, if states are known.
    pub fn group_share(&self, group: StateGroup) -> Option<f64> {
        let states = self.states.as_ref()?.iter().filter(|one| one.state.group() == group);
        Some(states.map(|one| one.share).sum())
    }

    /// Returns the fraction in which the rank was asleep or stopped, or not running if the kernel noted no switches.
    pub fn asleep_share(&self) -> Option<f64> {
        self.group_share(StateGroup::Asleep).or(self.not_running_share)
    }

    /// Returns whether the rank was mostly stopped from outside during that.
    pub fn is_stopped(&self) -> bool {
        let states = self.states.iter().flatten().filter(|one| one.state.group() == StateGroup::Asleep);
        states.max_by(|a, b| a.share.total_cmp(&b.share)).is_some_and(|longest| longest.state == CoreState::Stopped)
    }

    /// Returns that fraction unless a lack of cores may explain it.
    pub fn certain_asleep_share(&self, has_cores: bool) -> Option<f64> {
        self.asleep_share().filter(|_| has_cores || self.states.is_some())
    }
}

/// A part of an excess.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct ExcessIn {
    /// The function.
    #[serde(flatten)]
    pub name: FunctionName,
    /// CPU time of the rank in it, more than the mean.
    pub excess_s: f64,
    /// Standard error of that.
    pub excess_error_s: f64,
    /// `excess_s` over the whole excess, by the ranks' calls; null if there is none.
    pub share: Option<f64>,
    /// The call for most of its time on all ranks, if the samples show it.
    #[serde(flatten)]
    pub call: FunctionCall,
}

/// A rank in a region whose computation others wait for.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct DelayingRank {
    /// The rank.
    pub rank: u32,
    /// Path of the region.
    pub region: String,
    /// Waiting that it causes.
    pub caused_s: f64,
    /// Number of its samples in the time that others waited for.
    pub samples: u64,
    /// CPU time of all of its computation there.
    pub cpu_s: f64,
    /// The functions in which it computes there: first those by which it causes most waiting; without such samples, those in which it computes significantly longer than the mean, the
    /// longest excess first; then those with most CPU time; at most 3.
    pub functions: Vec<DelayingFunction>,
}

/// A function in which such a rank computes.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct DelayingFunction {
    /// Name of the function.
    #[serde(flatten)]
    pub name: FunctionName,
    /// Waiting that it causes by computing longer in this function than those who waited, by the samples in the time since they were synchronised; below 0 where they computed longer; null
    /// if there are no samples.
    pub caused_s: Option<f64>,
    /// Standard error of that.
    pub caused_error_s: Option<f64>,
    /// CPU time of all of its computation in the function there.
    pub cpu_s: f64,
    /// Standard error of that.
    pub error_s: f64,
    /// Fraction of the CPU time of the rank in all functions of the region.
    pub share: f64,
    /// `cpu_s` less the mean over ranks.
    pub excess_s: f64,
    /// Standard error of that.
    pub excess_error_s: f64,
    /// True if `excess_s` is at least two standard errors.
    pub significant: bool,
    /// The call for most of its time on all ranks, if the samples show it.
    #[serde(flatten)]
    pub call: FunctionCall,
}
