//! Figures of a run: times, efficiencies, overheads.

use std::collections::BTreeSet;

use super::{FigureLine, FigureUnit, TableCell, TableSection};
use crate::key::NotInStudy;
use crate::run::{CoreFigures, RegionFigures, RunMetrics};
use crate::sequential_time::{is_on_one_rank, t_seq_s};
use crate::store::StoredRun;
use lbprof_analysis::metrics::overhead::{OverheadBreakdown, PhaseTime, TimeCategory};
use lbprof_analysis::metrics::spread::load_balance::{EfficiencyTimes, is_above_elapsed};

#[derive(Clone, Debug, PartialEq)]
pub struct RunFigures {
    pub number: u32,
    pub complete: bool,
    /// Its times; `None` where it does not have the region.
    pub times: Option<EfficiencyTimes>,
    pub by_replay: bool,
    /// True if an estimate of the ideal time was left out, for it is above the elapsed time: ranks do not wait for each other at the
    /// end of each iteration.
    pub no_ideal: bool,
    pub iterations: Option<u64>,
    /// Its overheads; of the whole program alone.
    pub overheads: Option<OverheadBreakdown>,
    /// Numbers of the runs that its time on one rank is of; empty where it is assumed.
    pub on_one_rank: Vec<u32>,
    /// Scaling of the computation, of the whole program alone.
    pub scaling: Option<ComputationScaling>,
    /// Activities of the cores if ranks have several threads, of the whole program alone.
    pub cores: Option<CoreFigures>,
}

/// POP's computation scaling and its factors: against the run of the same program with fewest ranks whose processor counters were read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComputationScaling {
    /// Instructions of all ranks there over those here.
    pub instructions: f64,
    /// Instructions a cycle here over those there.
    pub ipc: f64,
    /// Cycles a second here over those there.
    pub frequency: f64,
}

impl ComputationScaling {
    /// CPU time of all ranks there over that here: the product.
    pub fn total(&self) -> f64 {
        self.instructions * self.ipc * self.frequency
    }
}

/// The scaling of `run` against the run of its program among `all` that has fewest ranks, the first of several.
fn computation_scaling(run: &RunMetrics, all: &[StoredRun]) -> Option<ComputationScaling> {
    let counting = all.iter().filter(|kept| kept.run.program() == run.program() && kept.run.counted.is_some());
    let reference = counting.min_by_key(|kept| (kept.run.n_ranks, kept.number))?;
    let (own, reference) = (run.counted?, reference.run.counted?);
    let scaling = ComputationScaling {
        instructions: reference.instructions / own.instructions,
        ipc: own.ipc() / reference.ipc(),
        frequency: own.frequency() / reference.frequency(),
    };
    scaling.total().is_finite().then_some(scaling)
}

impl RunFigures {
    /// Computes the figures of `run`, whose time on one rank may be among `all`.
    pub fn from_run(run: &StoredRun, all: &[StoredRun], region: Option<&str>) -> RunFigures {
        let StoredRun { number, run } = run;
        let found = region.and_then(|path| region_in_study(run, all, path));
        let (times, iterations) = match region {
            Some(_) => (found.map(|region| region.times), found.and_then(|region| region.iterations)),
            None => (Some(run.times), run.iterations),
        };
        let by_replay = run.ideal_by_replay && region.is_none();
        let no_ideal = !by_replay
            && times
                .is_some_and(|times| times.t_ideal_s.is_some_and(|ideal_s| is_above_elapsed(ideal_s, times.elapsed_s)));
        let times = times.map(|times| if no_ideal { EfficiencyTimes { t_ideal_s: None, ..times } } else { times });
        let overheads = (region.is_none() && !run.phases.is_empty()).then(|| {
            let t_seq_s = t_seq_s(run, all.iter().map(|kept| &kept.run));
            OverheadBreakdown::new(run.phases.clone(), run.times.elapsed_s, t_seq_s)
        });
        let on_one_rank = all.iter().filter(|other| is_on_one_rank(&other.run, run)).map(|kept| kept.number).collect();
        let complete = run.complete;
        let scaling = computation_scaling(run, all).filter(|_| region.is_none());
        let cores = run.cores.filter(|_| region.is_none());
        let number = *number;
        RunFigures { number, complete, times, by_replay, no_ideal, iterations, overheads, on_one_rank, scaling, cores }
    }

    fn per_iteration(&self, seconds: f64) -> Option<f64> {
        let iterations = self.iterations.filter(|&iterations| iterations > 0)?;
        Some(seconds / iterations as f64)
    }

    pub fn has_ideal(&self) -> bool {
        self.times.is_some_and(|times| times.t_ideal_s.is_some())
    }

    /// Returns the overhead ratio of a phase, 0 for one that does not occur in the run.
    fn overhead_ratio(&self, phase: TimeCategory) -> Option<f64> {
        let overheads = self.overheads.as_ref()?;
        overheads.ratio_of(overheads.phases.iter().find(|one| one.phase == phase).map_or(0.0, PhaseTime::total_s))
    }
}

pub fn region_of<'a>(run: &'a RunMetrics, path: &str) -> Option<&'a RegionFigures> {
    run.region(path).or_else(|| {
        let mut regions = run.regions.iter();
        regions.find(|region| region.path.strip_suffix(path).is_some_and(|outer| outer.ends_with('/')))
    })
}

/// A region of a run by its path in any of `all`: the code that has this path there, whatever lines it has in this run.
fn region_in_study<'a>(run: &'a RunMetrics, all: &[StoredRun], path: &str) -> Option<&'a RegionFigures> {
    let named = all.iter().find_map(|kept| region_of(&kept.run, path));
    match named.and_then(|region| region.code.as_ref()) {
        Some(code) => run.regions.iter().find(|region| region.code.as_ref() == Some(code)),
        None => region_of(run, path),
    }
}

pub(super) fn check_region(runs: &[StoredRun], path: &str) -> Result<(), NotInStudy> {
    const MOST: usize = 12;
    if runs.iter().any(|run| region_of(&run.run, path).is_some()) {
        return Ok(());
    }
    let mut known: Vec<String> = Vec::new();
    for region in runs.iter().flat_map(|run| &run.run.regions) {
        if known.len() < MOST && !known.contains(&region.path) {
            known.push(region.path.clone());
        }
    }
    Err(NotInStudy::NoRegion(path.to_owned(), known))
}

/// A figure of a run: its name, whether more of it is better, and how it follows from others.
type Row = (&'static str, bool, fn(&RunFigures) -> Option<f64>);

const TIMES: &[Row] = &[
    (ELAPSED, false, |run| Some(run.times?.elapsed_s)),
    ("longest computation", false, |run| Some(run.times?.max_computation_s)),
    ("mean computation", false, |run| Some(run.times?.avg_computation_s)),
    ("ideal T", false, |run| run.times?.t_ideal_s),
];

const ITERATION: &[Row] = &[
    ("elapsed", false, |run| run.per_iteration(run.times?.elapsed_s)),
    ("computing", false, |run| run.per_iteration(run.times?.avg_computation_s)),
    ("communicating", false, |run| run.per_iteration(run.times?.elapsed_s - run.times?.avg_computation_s)),
];

const EFFICIENCIES: &[Row] = &[
    (PARALLEL, true, |run| run.times?.parallel()),
    (BALANCE, true, |run| run.times?.load_balance()),
    ("communication", true, |run| run.times?.communication()),
    ("micro load balance µLB", true, |run| run.times?.micro_load_balance()),
    ("transfer", true, |run| run.times?.transfer()),
];

const SCALING: &[Row] = &[
    ("computation scaling", true, |run| Some(run.scaling?.total())),
    ("instruction scaling", true, |run| Some(run.scaling?.instructions)),
    ("IPC scaling", true, |run| Some(run.scaling?.ipc)),
    ("frequency scaling", true, |run| Some(run.scaling?.frequency)),
];

/// Efficiencies of all cores of ranks with several threads, as shares.
const CORES: &[Row] = &[
    ("parallel efficiency of cores", true, |run| run.cores?.share("parallel")),
    ("MPI", true, |run| run.cores?.share("mpi")),
    ("threads", true, |run| run.cores?.share("threads")),
    ("serial", true, |run| run.cores?.share("serial")),
    ("thread balance", true, |run| run.cores?.share("thread_balance")),
    ("waits", true, |run| run.cores?.share("waits")),
    ("fork and join", true, |run| run.cores?.share("fork_join")),
];

/// Name of the line of elapsed times.
pub const ELAPSED: &str = "elapsed T";

/// Name of the line of parallel efficiencies.
pub const PARALLEL: &str = "parallel efficiency η";

/// Name of the line of load balances.
pub const BALANCE: &str = "load balance LB";

pub const EFFICIENCY: &str = "Efficiency";

pub const TIME: &str = "Time";

pub const OVERHEADS: &str = "Overheads";

/// Returns the sections of a table. Sections without any known figure are left out.
pub fn figure_sections(columns: &[Vec<RunFigures>]) -> Vec<TableSection> {
    let tables = [
        (TIME, FigureUnit::Seconds, TIMES),
        ("Of an iteration", FigureUnit::Seconds, ITERATION),
        (EFFICIENCY, FigureUnit::Share, EFFICIENCIES),
        ("Cores", FigureUnit::Share, CORES),
        ("Computation", FigureUnit::Share, SCALING),
    ];
    let mut sections = Vec::new();
    for (name, unit, rows) in tables {
        let lines = rows.iter().map(|&(name, more, of)| figure_line(name, more, columns, of));
        let lines = lines.filter(|line| line.cells.iter().any(Option::is_some)).collect();
        sections.push(TableSection { name, unit, lines });
    }
    sections.push(TableSection { name: OVERHEADS, unit: FigureUnit::Share, lines: overhead_lines(columns) });
    sections.retain(|section| !section.lines.is_empty());
    sections
}

fn overhead_lines(columns: &[Vec<RunFigures>]) -> Vec<FigureLine> {
    let all = columns.iter().flatten().filter_map(|run| run.overheads.as_ref());
    let occurring: BTreeSet<TimeCategory> = all.flat_map(|overheads| &overheads.phases).map(|one| one.phase).collect();
    let phases = TimeCategory::ALL.into_iter().filter(|phase| occurring.contains(phase));
    let mut lines: Vec<FigureLine> =
        phases.map(|phase| figure_line(phase.name(), false, columns, |run| run.overhead_ratio(phase))).collect();
    if !lines.is_empty() {
        lines.push(figure_line("efficiency 1/Σ", true, columns, |run| run.overheads.as_ref()?.efficiency()));
    }
    lines
}

/// The line of a figure: of repeated runs its median.
pub(super) fn figure_line(
    name: &'static str,
    more_is_better: bool,
    columns: &[Vec<RunFigures>],
    of: impl Fn(&RunFigures) -> Option<f64>,
) -> FigureLine {
    let cells = columns.iter().map(|runs| TableCell::from_values(runs.iter().filter_map(&of))).collect();
    FigureLine { name, more_is_better, cells }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::CountedFigures;

    #[test]
    fn computation_scales_by_instructions_their_number_a_cycle_and_frequency() {
        let kept = |number, n_ranks, instructions, cycles, seconds| {
            let counted = Some(CountedFigures { instructions, cycles, seconds });
            StoredRun { number, run: RunMetrics { n_ranks, counted, ..RunMetrics::default() } }
        };
        // On 4 ranks a quarter more instructions, at half of them a cycle, and the same frequency.
        let all = [kept(1, 2, 8e9, 4e9, 2.0), kept(2, 4, 10e9, 10e9, 5.0)];
        let scaling = |at: usize| computation_scaling(&all[at].run, &all).unwrap();
        let of_four = scaling(1);
        assert_eq!((of_four.instructions, of_four.ipc, of_four.frequency), (0.8, 0.5, 1.0));
        assert!((of_four.total() - 2.0 / 5.0).abs() < 1e-12, "CPU time there over that here");
        assert!((scaling(0).total() - 1.0).abs() < 1e-12);
        assert_eq!(super::computation_scaling(&RunMetrics { counted: None, ..all[1].run.clone() }, &all), None);
    }
}
