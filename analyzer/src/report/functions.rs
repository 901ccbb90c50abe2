//! The tables of functions: in which of them ranks compute, by samples, and in which the slow rank does so longer than the others.

use std::collections::BTreeMap;

use lbprof_collector::Activity;
use serde::Serialize;

use super::blocking::BlockingTable;
use super::largest;
use crate::metrics::functions::{Compared, Estimate, FunctionTime, FunctionTimes, computing, is_sampled};
use crate::metrics::hardware::{HardwareTimes, frequency_hz, ipc};
use crate::model::samples::{Counted, CpuTime, OverRanks};
use crate::model::{Model, RankModel, RegionIdx};
use crate::structure::code_place::{base_name, short};
use crate::structure::sampled_code::{SampledCode, SampledFunction};

/// Most functions that are rows, of the whole program and of a region; the others are summed up.
const MOST_FUNCTIONS: (usize, usize) = (60, 12);

/// Most regions that have rows: those with most CPU time.
const MOST_REGIONS: usize = 40;

/// Most lines of a function.
const MOST_LINES: usize = 5;

/// Most nodes of the tree.
const MOST_NODES: usize = 1_000;

/// Most causes of waiting of which the functions are given, and most functions of each.
const MOST_CAUSES: (usize, usize) = (20, 3);

/// Most functions that explain an excess.
const MOST_NAMED: usize = 3;

/// Which functions ranks compute in, by samples of the CPU time of the threads that called `MPI_Init`, in user space. How many samples hit a function is a
/// count, so that all times of functions are estimates; `…_error_s` is a standard error: the root of the sum of the squares of what the samples
/// stand for (Poisson). A function includes what compilers put into it from system headers, not what they put into it from other functions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// CPU time at times for which records are missing, all threads together.
    pub unplaced_s: f64,
    /// CPU time of the other threads, all ranks together.
    pub other_threads_s: f64,
    /// The whole program; regions together.
    pub program: RegionFunctions,
    /// Each region by itself, inner regions excluded, most CPU time first; at most 40.
    pub regions: Vec<RegionFunctions>,
    /// What the ranks computed that made others wait, the most costly first; at most 20.
    pub causes: Vec<CauseFunctions>,
    /// Regions and the functions in them, each after the one around it; at most 1,000 nodes, those with most CPU time.
    pub tree: Vec<FunctionNode>,
}

/// The functions of a region.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// How much that rank has.
    pub max_not_running_s: f64,
    /// The rank that computes longest, which is compared with the mean.
    pub slowest_rank: Option<u32>,
    /// Its computation.
    pub slowest_computation_s: f64,
    /// `slowest_computation_s` − `computation_s`.
    pub excess_s: f64,
    /// Where that is.
    pub explained: ExplainedExcess,
    /// What the processors counted in that CPU time; null if they count nothing, as in most virtual machines.
    pub hardware: Option<HardwareRow>,
    /// The functions, most CPU time or excess first.
    pub functions: Vec<FunctionRow>,
    /// The others together.
    pub others: OtherFunctions,
}

/// What the processors counted in computation, in user space.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// The least IPC of a rank.
    pub min_ipc: Option<f64>,
    /// That rank.
    pub min_ipc_rank: Option<u32>,
    /// The lowest frequency of a rank.
    pub min_frequency_hz: Option<f64>,
    /// That rank.
    pub min_frequency_rank: Option<u32>,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FunctionRow {
    /// Which.
    #[serde(flatten)]
    pub name: FunctionName,
    /// Samples.
    pub samples: u64,
    /// CPU time, the mean over ranks.
    pub mean_s: f64,
    /// Standard error of that.
    pub error_s: f64,
    /// `mean_s` over that of all functions.
    pub share: f64,
    /// The least of a rank.
    pub min_s: f64,
    /// The most of a rank.
    pub max_s: f64,
    /// That rank.
    pub max_rank: u32,
    /// That of the slowest rank.
    pub slowest_s: f64,
    /// `slowest_s` − `mean_s`.
    pub excess_s: f64,
    /// Standard error of that.
    pub excess_error_s: f64,
    /// Whether `excess_s` is at least two standard errors.
    pub significant: bool,
    /// Its lines with most CPU time, at most 5.
    pub lines: Vec<LineRow>,
}

/// What a function is called.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    fn of(function: &SampledFunction, line: Option<u32>) -> FunctionName {
        let SampledFunction { name, file, module } = function.clone();
        FunctionName { function: Some(name).filter(|name| !name.is_empty()), file, line, module }
    }

    /// `PairLJCut::compute (pair_lj_cut.cpp:112)`, `exp (libm.so.6)`, or `libm.so.6` where the function is not known.
    pub fn label(&self) -> String {
        let module = self.module.as_deref().map(base_name).unwrap_or("generated code");
        let Some(function) = self.function.as_deref().map(short) else { return module.to_owned() };
        match (self.file.as_deref().map(base_name), self.line) {
            (Some(file), Some(line)) => format!("{function} ({file}:{line})"),
            (Some(file), None) => format!("{function} ({file})"),
            (None, _) => format!("{function} ({module})"),
        }
    }
}

/// A line of the source.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// That rank.
    pub max_rank: Option<u32>,
}

/// Functions that are not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OtherFunctions {
    /// How many.
    pub functions: usize,
    /// CPU time, the mean over ranks.
    pub mean_s: f64,
    /// That of the slowest rank.
    pub slowest_s: f64,
    /// `slowest_s` − `mean_s`.
    pub excess_s: f64,
    /// Standard error of that.
    pub excess_error_s: f64,
}

/// In which functions a rank computes longer than the mean.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExplainedExcess {
    /// The functions with most of it, with all that compilers put into them; only those in which it is significant, at most 3. Of functions put into one another it
    /// is the innermost that has at least 80 % of it.
    pub functions: Vec<ExcessIn>,
    /// Computation without samples of that rank, more than the mean, if that is significant; else null.
    pub not_running_s: Option<f64>,
    /// That over the whole excess.
    pub not_running_share: Option<f64>,
}

/// A part of an excess.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
}

/// What a rank computed that made others wait.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CauseFunctions {
    /// The rank.
    pub rank: u32,
    /// Path of the region.
    pub region: String,
    /// Waiting that it causes.
    pub caused_s: f64,
    /// The functions in which the rank computes there, most CPU time first, at most 3.
    pub functions: Vec<CauseFunction>,
}

/// A function in which a rank computes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CauseFunction {
    /// Which.
    #[serde(flatten)]
    pub name: FunctionName,
    /// CPU time.
    pub cpu_s: f64,
    /// Standard error of that.
    pub error_s: f64,
    /// `cpu_s` over that of the rank in all functions of the region.
    pub share: f64,
}

/// What a node of the tree of functions is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FunctionNodeKind {
    /// A region, or the whole program.
    Region,
    /// A function.
    Function,
}

/// A node of the tree of functions; all times include the nodes in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FunctionNode {
    /// The node around it, as an index in the list; null for the whole program.
    pub parent: Option<usize>,
    /// What it is.
    pub kind: FunctionNodeKind,
    /// The region's name, or the function's label.
    pub label: String,
    /// CPU time in computation, the mean over ranks.
    pub mean_s: f64,
    /// That of the rank that computes longest in the whole program.
    pub slowest_s: f64,
    /// `slowest_s` − `mean_s`.
    pub excess_s: f64,
    /// Standard error of that.
    pub excess_error_s: f64,
    /// Whether `excess_s` is at least two standard errors.
    pub significant: bool,
}

/// What samples show of `model`, in `code`.
pub(super) struct Functions<'a> {
    model: &'a Model,
    code: &'a SampledCode,
    times: FunctionTimes<'a>,
    /// By function and region the lines: CPU time first.
    lines: BTreeMap<(RegionIdx, u32), Vec<u32>>,
}

impl<'a> Functions<'a> {
    /// `None` where no rank was sampled.
    pub(super) fn new(model: &'a Model, code: &'a SampledCode) -> Option<Self> {
        let times = FunctionTimes::new(model, code)?;
        let mut lines: BTreeMap<(RegionIdx, u32), Vec<u32>> = BTreeMap::new();
        for &(region, leaf) in model.lines.keys() {
            let node = code.leaves.get(leaf as usize).and_then(|leaf| code.nodes.get(leaf.node as usize));
            if let Some(node) = node {
                lines.entry((region, node.function)).or_default().push(leaf);
            }
        }
        Some(Functions { model, code, times, lines })
    }

    /// The tables.
    pub(super) fn table(&self, blocking: Option<&BlockingTable>) -> FunctionTable {
        let mut sums = [CpuTime::default(); 3];
        let mut unplaced_s = 0.0;
        for rank in &self.model.ranks {
            for (at, time) in &rank.samples.first {
                sums[usize::from(at.activity != Activity::Computation)].add(time);
            }
            rank.samples.others.iter().for_each(|(_, time)| sums[2].add(time));
            unplaced_s += rank.samples.unplaced.seconds;
        }
        let [computation, mpi, others] = sums;
        let regions = (0..self.model.regions.len() as RegionIdx).map(|region| self.region(Some(region)));
        let mut regions: Vec<RegionFunctions> = regions.filter(|one| one.cpu_s > 0.0).collect();
        regions.sort_by(|a, b| b.cpu_s.total_cmp(&a.cpu_s));
        regions.truncate(MOST_REGIONS);
        FunctionTable {
            period_s: self.times.period_s,
            ranks: self.times.ranks,
            samples: computation.samples + mpi.samples,
            computation_s: computation.seconds,
            mpi_s: mpi.seconds,
            unplaced_s,
            other_threads_s: others.seconds,
            program: self.region(None),
            regions,
            causes: blocking.map(|table| self.causes(table)).unwrap_or_default(),
            tree: self.tree(),
        }
    }

    /// Mean over the ranks that were sampled.
    fn mean(&self, sum: f64) -> f64 {
        sum / self.times.ranks.max(1) as f64
    }

    /// The rank that computes longest in a region, of those that were sampled, by its place; its computation and the mean.
    fn slowest(&self, region: Option<RegionIdx>) -> (Option<usize>, f64, f64) {
        let ranks: Vec<usize> = (0..self.model.ranks.len()).filter(|&at| is_sampled(&self.model.ranks[at])).collect();
        let computation: Vec<f64> = ranks.iter().map(|&at| self.wall_s(region, at)).collect();
        let slowest = largest(&computation);
        let mean_s = self.mean(computation.iter().sum());
        (slowest.map(|at| ranks[at]), slowest.map_or(0.0, |at| computation[at]), mean_s)
    }

    fn path(&self, region: Option<RegionIdx>) -> String {
        self.model.regions.get(region.unwrap_or(0) as usize).map(|one| one.path.clone()).unwrap_or_default()
    }

    fn region(&self, region: Option<RegionIdx>) -> RegionFunctions {
        let (slowest, slowest_computation_s, computation_s) = self.slowest(region);
        let functions = self.times.by_function(region, slowest);
        let mut all = FunctionTime::default();
        for time in functions.values() {
            all.over.sum.add(&time.over.sum);
            all.own.add(&time.own);
        }
        let (rows, others) = self.rows(region, &functions, all.over.sum.seconds);
        let not_running = self.times.not_running(region);
        let beyond = |one: &&(usize, f64, f64)| Estimate { seconds: one.1, error_s: one.2.sqrt() }.is_significant();
        let most = not_running.iter().filter(|one| one.1 > 0.0).filter(beyond).max_by(|a, b| a.1.total_cmp(&b.1));
        let excess_s = slowest_computation_s - computation_s;
        RegionFunctions {
            region: self.path(region),
            computation_s,
            cpu_s: self.mean(all.over.sum.seconds),
            cpu_error_s: self.mean(all.over.sum.error_s()),
            not_running_s: computation_s - self.mean(all.over.sum.seconds),
            not_running_rank: most.and_then(|one| self.model.ranks.get(one.0)).map(|rank| rank.rank),
            max_not_running_s: most.map_or(0.0, |one| one.1),
            slowest_rank: slowest.and_then(|at| self.model.ranks.get(at)).map(|rank| rank.rank),
            slowest_computation_s,
            excess_s,
            explained: slowest.map(|at| self.explained(region, at, excess_s)).unwrap_or_default(),
            hardware: slowest.and_then(|at| self.hardware(region, at)),
            functions: rows,
            others,
        }
    }

    /// What the processors counted in a region; `at`: the place of the rank that is compared with the mean.
    fn hardware(&self, region: Option<RegionIdx>, at: usize) -> Option<HardwareRow> {
        let counted = |rank: &RankModel| {
            let mut sum = Counted::default();
            computing(rank, region).for_each(|(_, time)| sum.add(&time.counted));
            sum
        };
        let ranks: Vec<(u32, Counted)> = self.model.ranks.iter().map(|rank| (rank.rank, counted(rank))).collect();
        let own = ranks.get(at)?.1;
        let known: Vec<&(u32, Counted)> = ranks.iter().filter(|(_, counted)| counted.instructions > 0).collect();
        let mut all = Counted::default();
        known.iter().for_each(|(_, counted)| all.add(counted));
        let times = HardwareTimes { all, ranks: known.len(), own };
        let split = times.split().filter(|_| own.instructions > 0)?;
        let least = |of: fn(&Counted) -> Option<f64>| {
            let values = known.iter().filter_map(|(rank, counted)| Some((of(counted)?, *rank)));
            values.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
        };
        let (min_ipc, min_frequency) = (least(ipc), least(frequency_hz));
        Some(HardwareRow {
            ranks: known.len(),
            instructions: all.instructions as f64 / known.len() as f64,
            ipc: ipc(&all),
            frequency_hz: frequency_hz(&all),
            slowest_instructions: own.instructions as f64,
            slowest_ipc: ipc(&own),
            slowest_frequency_hz: frequency_hz(&own),
            more_instructions_s: split.more_instructions_s,
            slower_instructions_s: split.slower_instructions_s,
            min_ipc: min_ipc.map(|one| one.0),
            min_ipc_rank: min_ipc.map(|one| one.1),
            min_frequency_hz: min_frequency.map(|one| one.0),
            min_frequency_rank: min_frequency.map(|one| one.1),
        })
    }

    /// The rows of functions, and the sum of the others.
    fn rows(
        &self,
        region: Option<RegionIdx>,
        functions: &BTreeMap<u32, FunctionTime>,
        all_s: f64,
    ) -> (Vec<FunctionRow>, OtherFunctions) {
        let excess = |time: &FunctionTime| time.compared().excess(self.times.ranks, self.times.period_s);
        let weight = |time: &FunctionTime| {
            let excess = excess(time);
            let mean_s = self.mean(time.over.sum.seconds);
            if excess.is_significant() { mean_s.max(excess.seconds.abs()) } else { mean_s }
        };
        let mut order: Vec<(u32, f64)> = functions.iter().map(|(&function, time)| (function, weight(time))).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let most = if region.is_none() { MOST_FUNCTIONS.0 } else { MOST_FUNCTIONS.1 };
        let (listed, rest) = order.split_at(most.min(order.len()));
        let mut others = Compared::default();
        rest.iter().for_each(|(function, _)| others.add(&functions[function].compared()));
        let of_others = others.excess(self.times.ranks, self.times.period_s);
        let others = OtherFunctions {
            functions: rest.len(),
            mean_s: self.mean(others.all.seconds),
            slowest_s: others.own.seconds,
            excess_s: of_others.seconds,
            excess_error_s: if rest.is_empty() { 0.0 } else { of_others.error_s },
        };
        let row = |&(function, _): &(u32, f64)| {
            let time = &functions[&function];
            let (excess, lines) = (excess(time), self.lines_of(region, function));
            FunctionRow {
                name: self.name(function, lines.first().map(|line| line.line)),
                samples: time.over.sum.samples,
                mean_s: self.mean(time.over.sum.seconds),
                error_s: self.mean(time.over.sum.error_s()),
                share: if all_s > 0.0 { time.over.sum.seconds / all_s } else { 0.0 },
                min_s: if (time.over.ranks as usize) < self.times.ranks { 0.0 } else { time.over.min_s },
                max_s: time.over.max_s,
                max_rank: time.over.max_rank,
                slowest_s: time.own.seconds,
                excess_s: excess.seconds,
                excess_error_s: excess.error_s,
                significant: excess.is_significant(),
                lines: lines.into_iter().take(MOST_LINES).collect(),
            }
        };
        (listed.iter().map(row).collect(), others)
    }

    fn name(&self, function: u32, line: Option<u32>) -> FunctionName {
        self.code.functions.get(function as usize).map(|one| FunctionName::of(one, line)).unwrap_or_default()
    }

    /// The lines of a function in a region, most CPU time first.
    fn lines_of(&self, region: Option<RegionIdx>, function: u32) -> Vec<LineRow> {
        let mut sums: BTreeMap<u32, Vec<&OverRanks>> = BTreeMap::new();
        let regions = match region {
            Some(region) => region..region + 1,
            None => 0..self.model.regions.len() as RegionIdx,
        };
        for region in regions {
            for &leaf in self.lines.get(&(region, function)).into_iter().flatten() {
                let line = self.code.leaves.get(leaf as usize).and_then(|leaf| leaf.line);
                if let Some((line, times)) = line.zip(self.model.lines.get(&(region, leaf))) {
                    sums.entry(line).or_default().push(times);
                }
            }
        }
        let mut rows: Vec<LineRow> = sums
            .into_iter()
            .map(|(line, parts)| {
                let mut sum = CpuTime::default();
                parts.iter().for_each(|part| sum.add(&part.sum));
                // Of several parts it is not known which ranks have them all.
                let only = parts.first().filter(|_| parts.len() == 1);
                let least_s = |one: &&&OverRanks| if (one.ranks as usize) < self.times.ranks { 0.0 } else { one.min_s };
                LineRow {
                    line,
                    mean_s: self.mean(sum.seconds),
                    error_s: self.mean(sum.error_s()),
                    min_s: only.as_ref().map(least_s),
                    max_s: only.map(|one| one.max_s),
                    max_rank: only.map(|one| one.max_rank),
                }
            })
            .collect();
        rows.sort_by(|a, b| b.mean_s.total_cmp(&a.mean_s).then(a.line.cmp(&b.line)));
        rows
    }

    /// In which functions the rank at a place computes longer than the mean, of which its calls show `excess_s`.
    pub(super) fn explained(&self, region: Option<RegionIdx>, at: usize, excess_s: f64) -> ExplainedExcess {
        let share = |seconds: f64| (excess_s > 0.0).then(|| seconds / excess_s);
        let row = |function: u32, excess: Estimate| {
            let line = self.lines_of(region, function).first().map(|line| line.line);
            ExcessIn {
                name: self.name(function, line),
                excess_s: excess.seconds,
                excess_error_s: excess.error_s,
                share: share(excess.seconds),
            }
        };
        let found = self.times.concentrated(region, at, MOST_NAMED).into_iter();
        let found = found.filter_map(|one| Some((self.code.nodes.get(one.node as usize)?.function, one.excess)));
        let not_running = self.times.not_running_excess(region, at).filter(|one| one.seconds > 0.0);
        let not_running_s = not_running.filter(Estimate::is_significant).map(|one| one.seconds);
        ExplainedExcess {
            functions: found.map(|(function, excess)| row(function, excess)).collect(),
            not_running_s,
            not_running_share: not_running_s.and_then(share),
        }
    }

    /// The same of a rank in the region of a path, inner regions excluded, or in the whole program; `None` where it was not sampled.
    pub(super) fn explained_in(&self, rank: u32, path: Option<&str>) -> Option<ExplainedExcess> {
        let at = self.model.ranks.iter().position(|one| one.rank == rank)?;
        let region = match path {
            Some(path) => Some(self.model.regions.iter().position(|one| one.path == path)? as RegionIdx),
            None => None,
        };
        let mean_s =
            (0..self.model.ranks.len()).map(|at| self.wall_s(region, at)).sum::<f64>() / self.model.ranks.len() as f64;
        is_sampled(&self.model.ranks[at]).then(|| self.explained(region, at, self.wall_s(region, at) - mean_s))
    }

    /// Computation of the rank at a place by its calls.
    fn wall_s(&self, region: Option<RegionIdx>, at: usize) -> f64 {
        let rank = &self.model.ranks[at];
        region.map_or_else(|| rank.inclusive(0), |region| rank.exclusive(region))[Activity::Computation as usize]
    }

    fn causes(&self, blocking: &BlockingTable) -> Vec<CauseFunctions> {
        let computing = blocking.causes.iter().filter(|row| row.activity == Some(Activity::Computation));
        let rows = computing.filter_map(|row| {
            let functions = self.of_rank(row.cause.rank, &row.region)?;
            let (rank, region, caused_s) = (row.cause.rank, row.region.clone(), row.cause.caused_s);
            Some(CauseFunctions { rank, region, caused_s, functions })
        });
        rows.take(MOST_CAUSES.0).collect()
    }

    /// The functions in which a rank computes in the region of a path; `None` where none is known.
    fn of_rank(&self, rank: u32, path: &str) -> Option<Vec<CauseFunction>> {
        let rank = self.model.ranks.iter().find(|one| one.rank == rank)?;
        let region = self.model.regions.iter().position(|one| one.path == path)? as RegionIdx;
        let mut functions: BTreeMap<u32, CpuTime> = BTreeMap::new();
        for (node, time) in computing(rank, Some(region)) {
            let function = self.code.nodes.get(node as usize).map_or(0, |node| node.function);
            functions.entry(function).or_default().add(time);
        }
        let all_s: f64 = functions.values().map(|time| time.seconds).sum();
        let mut functions: Vec<(u32, CpuTime)> = functions.into_iter().collect();
        functions.sort_by(|a, b| b.1.seconds.total_cmp(&a.1.seconds).then(a.0.cmp(&b.0)));
        functions.truncate(MOST_CAUSES.1);
        let row = |(function, time): (u32, CpuTime)| CauseFunction {
            name: self.name(function, self.lines_of(Some(region), function).first().map(|line| line.line)),
            cpu_s: time.seconds,
            error_s: time.error_s(),
            share: time.seconds / all_s,
        };
        (all_s > 0.0).then(|| functions.into_iter().map(row).collect())
    }

    fn tree(&self) -> Vec<FunctionNode> {
        let (slowest, ..) = self.slowest(None);
        // Regions first, each after the one around it, then the functions in each.
        let mut nodes: Vec<TreeNode> = (0..)
            .zip(&self.model.regions)
            .map(|(at, region)| TreeNode {
                parent: (at != 0).then_some(region.parent as usize),
                kind: FunctionNodeKind::Region,
                label: region.name.clone(),
                time: Compared::default(),
            })
            .collect();
        for region in 0..self.model.regions.len() as RegionIdx {
            let own = self.times.by_node(Some(region), slowest);
            let inclusive = self.times.with_inner(own.clone());
            let mut place: BTreeMap<usize, usize> = BTreeMap::new();
            for (at, time) in inclusive.iter().enumerate().filter(|(_, time)| time.all.samples > 0) {
                let code = self.code.nodes[at];
                let parent = code.parent.and_then(|parent| place.get(&(parent as usize))).copied();
                nodes[region as usize].time.add(&own[at]);
                place.insert(at, nodes.len());
                let line = self.lines_of(Some(region), code.function).first().map(|line| line.line);
                nodes.push(TreeNode {
                    parent: Some(parent.unwrap_or(region as usize)),
                    kind: FunctionNodeKind::Function,
                    label: self.name(code.function, line).label(),
                    time: *time,
                });
            }
        }
        // Inner regions lie after the ones around them.
        for at in (1..self.model.regions.len()).rev() {
            let (time, parent) = (nodes[at].time, nodes[at].parent);
            parent.into_iter().for_each(|parent| nodes[parent].time.add(&time));
        }
        self.listed(nodes)
    }

    /// The nodes with most CPU time, each after the one around it.
    fn listed(&self, nodes: Vec<TreeNode>) -> Vec<FunctionNode> {
        let weight = |at: usize| self.mean(nodes[at].time.all.seconds).max(nodes[at].time.own.seconds);
        let mut order: Vec<usize> = (0..nodes.len()).filter(|&at| at == 0 || nodes[at].time.all.samples > 0).collect();
        order.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)).then(a.cmp(&b)));
        let mut kept = vec![false; nodes.len()];
        for at in order.into_iter().take(MOST_NODES) {
            kept[at] = nodes[at].parent.is_none_or(|parent| kept[parent]);
        }
        let mut place = vec![None; nodes.len()];
        let mut rows = Vec::new();
        for (at, node) in nodes.into_iter().enumerate().filter(|&(at, _)| kept[at]) {
            place[at] = Some(rows.len());
            let excess = node.time.excess(self.times.ranks, self.times.period_s);
            rows.push(FunctionNode {
                parent: node.parent.and_then(|parent| place[parent]),
                kind: node.kind,
                label: node.label,
                mean_s: self.mean(node.time.all.seconds),
                slowest_s: node.time.own.seconds,
                excess_s: excess.seconds,
                excess_error_s: excess.error_s,
                significant: excess.is_significant(),
            });
        }
        rows
    }
}

/// A node while the tree is made.
struct TreeNode {
    parent: Option<usize>,
    kind: FunctionNodeKind,
    label: String,
    time: Compared,
}
