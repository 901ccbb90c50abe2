//! The figures of a run that a study stores, and from which tables, models and comparisons follow: in seconds, by names.

use std::collections::BTreeMap;

use lbprof_collector::Activity;
use lbprof_collector::definition::RegionKind;

use lbprof_analysis::metrics::blocking::CauseClass;
use lbprof_analysis::metrics::overhead::PhaseTime;
use lbprof_analysis::metrics::spread::load_balance::EfficiencyTimes;
use lbprof_analysis::model::CodeName;
use lbprof_report::losses::finding::Finding;

/// A run's figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunMetrics {
    /// The run's id, the same in all its logs.
    pub id: u64,
    /// Command line of its lowest rank; the program is its first word.
    pub command: Vec<String>,
    /// The program that the user counts the run for; `None`: the one of its command line.
    pub counted_for: Option<String>,
    /// Seconds since 1970 when it was started.
    pub started_unix_s: u64,
    /// Its hosts, each once, sorted.
    pub hosts: Vec<String>,
    /// Name and version of the MPI library.
    pub mpi: String,
    /// P: size of MPI_COMM_WORLD.
    pub n_ranks: u32,
    /// True if no data are missing.
    pub complete: bool,
    /// Names of its problems, the worst first ([`lbprof_collector::ProblemKind::name`]).
    pub problems: Vec<String>,
    /// The user's name for the run, such as the commit of its source; empty if there is none.
    pub label: String,
    /// The user's parameters: of the program (LBPROF_PARAM), and those given when it was added, which win.
    pub params: BTreeMap<String, f64>,
    /// Elapsed, longest, mean and ideal time of the whole program.
    pub times: EfficiencyTimes,
    /// True if the ideal time comes from a replay; otherwise it is an estimate by phase profile.
    pub ideal_by_replay: bool,
    /// The phases that occur, by rank; over all of them a rank's times add up to the elapsed time (docs/metrics.md §3).
    pub phases: Vec<PhaseTime>,
    /// Iterations of the main loop, where one is known.
    pub iterations: Option<u64>,
    /// An entry per rank whose log was read, by number.
    pub ranks: Vec<RankFigures>,
    /// Its regions, an outer one before its inner ones; the first is the whole program.
    pub regions: Vec<RegionFigures>,
    /// Causes of waiting, or `None` if the run was not replayed.
    pub causes: Option<Vec<CauseFigures>>,
    /// In which functions ranks compute; `None` where they were not sampled, and of a run that an older version added to a study.
    pub functions: Option<FunctionFigures>,
    /// Processor counters during computation, summed over ranks, or `None` if they counted nothing.
    pub counted: Option<CountedFigures>,
    /// Activities of the cores of ranks with several threads, or `None` if ranks have one.
    pub cores: Option<CoreFigures>,
    /// The sentence on the report's first screen; empty for a run of a study, which does not keep it.
    pub answer: String,
    /// The findings of the report, the answer first; empty for a run of a study.
    pub findings: Vec<Finding>,
}

/// The activities of the cores of ranks with several threads (docs/metrics.md §8).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CoreFigures {
    /// Cores that all ranks use.
    pub cores: u64,
    /// The largest number of cores of a rank.
    pub threads_per_rank: u32,
    /// In the order of [`CoreFigures::NAMES`]; `None` where there is no such share.
    pub shares: [Option<f64>; CoreFigures::NAMES.len()],
}

impl CoreFigures {
    /// The names of the efficiencies: of all cores, MPI's side and its factors, the threads' side and its factors.
    pub const NAMES: [&str; 9] = [
        "parallel",
        "mpi",
        "load_balance",
        "communication",
        "threads",
        "serial",
        "thread_balance",
        "waits",
        "fork_join",
    ];

    /// Returns the efficiency of this name.
    pub fn share(&self, name: &str) -> Option<f64> {
        Self::NAMES.iter().zip(self.shares).find(|(known, _)| **known == name).and_then(|(_, share)| share)
    }
}

/// Processor counters during computation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CountedFigures {
    /// Instructions.
    pub instructions: f64,
    /// Cycles.
    pub cycles: f64,
    /// CPU time in which they were counted, in seconds.
    pub seconds: f64,
}

impl CountedFigures {
    /// Instructions per cycle.
    pub fn ipc(&self) -> f64 {
        self.instructions / self.cycles
    }

    /// Cycles per second.
    pub fn frequency(&self) -> f64 {
        self.cycles / self.seconds
    }
}

/// CPU time of computation by function, by samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FunctionFigures {
    /// The whole program.
    pub program: FunctionSums,
    /// The regions with most of it, by path, inner regions excluded.
    pub regions: BTreeMap<String, FunctionSums>,
}

/// The functions with most CPU time, and the others together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FunctionSums {
    /// By the function's name and the file that has it: seconds, the mean over ranks, and its standard error.
    pub times: BTreeMap<String, (f64, f64)>,
    /// Seconds of all other functions together.
    pub others_s: f64,
}

impl FunctionSums {
    /// Adds another region of the same run.
    pub fn add(&mut self, other: &FunctionSums) {
        for (name, &(seconds, error_s)) in &other.times {
            let (sum_s, sum_error_s) = self.times.entry(name.clone()).or_default();
            (*sum_s, *sum_error_s) = (*sum_s + seconds, sum_error_s.hypot(error_s));
        }
        self.others_s += other.others_s;
    }

    /// Seconds of all functions.
    pub fn total_s(&self) -> f64 {
        self.times.values().map(|time| time.0).sum::<f64>() + self.others_s
    }

    /// Seconds of a function and their standard error. A function that is not listed takes no more than all others together.
    pub fn time(&self, function: &str) -> (f64, f64) {
        self.times.get(function).copied().unwrap_or((0.0, self.others_s))
    }
}

/// A rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankFigures {
    /// Its number in MPI_COMM_WORLD.
    pub rank: u32,
    /// Its host.
    pub host: String,
    /// Its computation.
    pub computation_s: f64,
    /// Time in which it can only wait; `None` where ranks were not followed.
    pub blocked_s: Option<f64>,
    /// Largest memory that it ever had resident, in bytes; 0 where it was not sampled.
    pub max_resident_bytes: u64,
}

/// A region, all ranks together unless it says otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RegionFigures {
    /// Its path.
    pub path: String,
    /// Its name without lines; `None` for a marked region.
    pub code: Option<CodeName>,
    /// Kind of its time.
    pub kind: RegionKind,
    /// True if it was found in the calls, not marked.
    pub found: bool,
    /// Its elapsed, longest, mean and ideal time, inner regions included.
    pub times: EfficiencyTimes,
    /// Seconds in it alone by activity: one entry a rank, in the order of [`RunMetrics::ranks`]; of the activities that occur.
    pub activities: BTreeMap<Activity, Vec<f64>>,
    /// Seconds in MPI calls of it alone in which ranks can only wait, messages' delays included, summed over ranks; `None` where they
    /// were not followed.
    pub blocked_s: Option<f64>,
    /// Iterations of the rank that has most; `None` where it is not iterated.
    pub iterations: Option<u64>,
    /// Times it was entered.
    pub invocations: u64,
    /// #op: operations that the user counted in it (LBPROF_WORK).
    pub operations: f64,
    /// #q: quanta, likewise.
    pub quanta: f64,
    /// Largest resident memory of a rank when it left the region, in bytes; 0 where it was not sampled.
    pub max_resident_bytes: u64,
    /// Largest swapped memory, likewise.
    pub max_swapped_bytes: u64,
}

impl RegionFigures {
    /// Seconds in it alone in `activity`, summed over ranks.
    pub fn sum_s(&self, activity: Activity) -> f64 {
        self.activities.get(&activity).map_or(0.0, |seconds| seconds.iter().sum())
    }
}

/// The causes of waiting.
#[derive(Clone, Debug, PartialEq)]
pub struct CauseFigures {
    /// The rank that causes it.
    pub rank: u32,
    /// Path of the region in which it does.
    pub region: String,
    /// The rank's activity there, or `None`: a message's delay, or unknown.
    pub activity: Option<Activity>,
    /// Its class.
    pub class: CauseClass,
    /// Seconds of waiting that it causes, all ranks together.
    pub caused_s: f64,
}

impl RunMetrics {
    /// Returns the program that the run is counted for, by default the first word of the command without its folder; empty where that is not known.
    pub fn program(&self) -> &str {
        let of_command = self.command.first().map_or("", |word| word.rsplit('/').next().unwrap_or(word));
        self.counted_for.as_deref().unwrap_or(of_command)
    }

    /// A region, by its path.
    pub fn region(&self, path: &str) -> Option<&RegionFigures> {
        self.regions.iter().find(|region| region.path == path)
    }
}
