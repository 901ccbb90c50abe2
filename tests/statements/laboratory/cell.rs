//! The cells, and how the runs of one are made and judged.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use anyhow::{Context, bail};
use lbprof_tests::launch::Job;
use lbprof_tests::mpi::Mpi;
use lbprof_tests::program::Program;
use lbprof_tests::{place, run};
use serde_json::Value;

use super::statements::{self, Judgement};
use super::table;
use super::truth::{PlannedRun, Truth};

const STEPS: usize = 16;

/// Rounds of runs before the least disturbed run of a cell has to be right.
const MAX_ROUNDS: usize = 3;

/// How many times as long as the shortest bare run an undisturbed recorded one takes.
const DISTURBED: f64 = 1.04;

pub const CHANGES: [&str; 4] = [AS_IS, "cut", "parts", "each"];

pub const AS_IS: &str = "as-is";

/// The bare runs of a round. What is as it is runs more than once: where an MPI moves messages only while ranks happen to be in it, the same program takes
/// one of several times, and a recorded run is compared with the bare one that is like it.
const BARE_RUNS: [&str; 6] = [AS_IS, "cut", "parts", AS_IS, "each", AS_IS];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependence {
    /// Each on all others.
    All,
    /// Each on its neighbours, so that a delay goes on by a place or two in a step.
    Neighbours,
    /// The same, and what neighbours need is sent before the work.
    Overlap,
    /// Each on one of its neighbours in turn.
    Turns,
    /// Each on the one before it.
    Chain,
    /// Each on the one before it, back and forth, so that one rank works at a time.
    Sweep,
    /// Each on whoever holds a lock, so that one rank works at a time.
    Lock,
    OnDemand,
    /// The same, from a rank that does none of it.
    IdleMaster,
    /// All on the last rank, whose memory they access while it works.
    Target,
    /// All on rank 0, which accesses a file.
    Output,
    /// Each on all others, and the reduction itself is work.
    Reduction,
}

impl Dependence {
    pub fn is_on_demand(self) -> bool {
        matches!(self, Dependence::OnDemand | Dependence::IdleMaster)
    }
}

/// A shape for each `BYTES/RANKS` of each name, as in `NAME BYTES/RANKS BYTES/RANKS, NAME …`.
fn add_shapes(all: &mut Vec<Shape>, dependence: Dependence, patterns: Patterns, names: &'static str) {
    for words in names.split(", ") {
        let (name, sizes) = words.split_once(' ').expect("a name and sizes");
        for size in sizes.split(' ') {
            let (bytes, n_ranks) = size.split_once('/').expect("bytes and ranks");
            let (bytes, n_ranks) = (bytes.parse().expect("bytes"), n_ranks.parse().expect("ranks"));
            all.push(Shape { name, bytes, n_ranks, dependence, patterns });
        }
    }
}

#[derive(Debug)]
pub struct Shape {
    pub name: &'static str,
    pub bytes: usize,
    pub n_ranks: usize,
    pub dependence: Dependence,
    pub patterns: Patterns,
}

type Patterns = &'static [&'static str];
const ALL_PATTERNS: Patterns = &["end", "middle", "two", "moving", "first", "opposed", "chance", "even"];
const ONE_PART: Patterns = &["end", "middle", "two", "moving", "chance", "even"];
const FOUR_PATTERNS: Patterns = &["end", "middle", "moving", "chance"];
const SLOW: Patterns = &["end", "two", "even"];
/// All shapes, in the order of the table in docs/validation.md.
pub static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    use Dependence::*;
    let mut all = Vec::new();
    let rows = [
        (Neighbours, ALL_PATTERNS, "line-waitall 1000/4 1000/8 16384/4, line-sendrecv 1000/4 16384/4"),
        (Neighbours, ALL_PATTERNS, "line-isend-recv 1000/4, line-persistent 1000/4, line-neighbourhood 1000/4"),
        (Neighbours, ALL_PATTERNS, "line-partitions 1000/4"),
        (All, ALL_PATTERNS, "line-fence 1000/4"),
        (Neighbours, ALL_PATTERNS, "line-post-start 1000/4"),
        (All, ALL_PATTERNS, "line-locks 1000/4"),
        (Neighbours, ALL_PATTERNS, "grid-waitall 1000/6, grid-sendrecv 1000/6, grid-isend-recv 1000/6"),
        (Neighbours, ALL_PATTERNS, "grid-persistent 1000/6, grid-neighbourhood 1000/6, grid-partitions 1000/6"),
        (All, ALL_PATTERNS, "grid-fence 1000/6"),
        (Neighbours, ALL_PATTERNS, "grid-post-start 1000/6"),
        (All, ALL_PATTERNS, "grid-locks 1000/6"),
        (Overlap, ALL_PATTERNS, "overlap 8/4 512/2 512/4 4000/4 16384/4 65536/4"),
        (Overlap, FOUR_PATTERNS, "overlap-tested 1000/4 16384/4"),
        (Overlap, ALL_PATTERNS, "overlap-persistent 1000/4"),
        (All, ALL_PATTERNS, "allreduce 8/4, alltoall 8/4, roots 8/4, iallreduce 8/4, tree 8/4 8/8"),
        (Reduction, SLOW, "user-reduction 8/4"),
        (Turns, ONE_PART, "odd-even 1000/4"),
        (Chain, ONE_PART, "pipeline 1000/4"),
        (Neighbours, FOUR_PATTERNS, "line-mprobe 1000/4, line-bsend 1000/4, line-any-source 1000/4"),
        (Neighbours, FOUR_PATTERNS, "line-waitsome 1000/4"),
        (All, FOUR_PATTERNS, "line-consensus 1000/4"),
        (Neighbours, FOUR_PATTERNS, "line-alltoallw 1000/4, cube-waitall 1000/8"),
        (All, FOUR_PATTERNS, "ring 1000/4, transpose 1000/4, reduce-scatter 4/4"),
        (All, FOUR_PATTERNS, "nonblocking-tree 8/4, coupling 1000/4"),
        (Target, SLOW, "accumulate 8/4"),
        (Overlap, FOUR_PATTERNS, "overlap-ialltoall 1000/4"),
        (All, FOUR_PATTERNS, "persistent-allreduce 8/4"),
        (Chain, ONE_PART, "pipeline-ssend 1000/4"),
        (Sweep, ONE_PART, "wavefront 1000/4"),
        (Lock, SLOW, "locked-section 8/4"),
        (IdleMaster, SLOW, "master 4/4, probing-master 4/4, counter-idle-host 8/4, counter-idle-receiver 8/4"),
        (OnDemand, SLOW, "counter 8/4, counter-lock 8/4, counter-accumulate 8/4"),
        (OnDemand, SLOW, "counter-request 8/4, counter-swap 8/4"),
        (Output, &["even"], "output-mpi 8/4, output-posix 8/4"),
    ];
    for (dependence, patterns, names) in rows {
        add_shapes(&mut all, dependence, patterns, names);
    }
    all
});

pub const SAMPLE: [&str; 12] = [
    "line-waitall 1000 B × 4, middle",
    "line-sendrecv 16384 B × 4, first",
    "grid-persistent 1000 B × 6, end",
    "line-post-start 1000 B × 4, two",
    "overlap 512 B × 2, end",
    "overlap 4000 B × 4, end",
    "overlap-ialltoall 1000 B × 4, middle",
    "allreduce 8 B × 4, moving",
    "allreduce 8 B × 4, opposed",
    "tree 8 B × 4, end",
    "pipeline 1000 B × 4, even",
    "output-mpi 8 B × 4, even",
];

impl Shape {
    pub fn title(&self) -> String {
        format!("{}-{}-{}", self.name, self.bytes, self.n_ranks)
    }

    pub fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        self.patterns.iter().map(move |&pattern| Cell { shape: self, pattern })
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    pub shape: &'a Shape,
    pub pattern: &'static str,
}

impl Cell<'_> {
    pub fn name(&self) -> String {
        let Shape { name, bytes, n_ranks, .. } = self.shape;
        format!("{name} {bytes} B × {n_ranks}, {}", self.pattern)
    }

    fn combination(&self, change: &str) -> String {
        format!("{}:{}:{}:{change}", self.shape.name, self.shape.bytes, self.pattern)
    }
}

#[derive(Default)]
pub struct CellRuns {
    pub shortest_s: BTreeMap<&'static str, f64>,
    pub as_is_s: Vec<f64>,
    recorded: Option<(PlannedRun, Value)>,
}

impl CellRuns {
    fn truth(&self, cell: &Cell) -> anyhow::Result<Truth> {
        let (run, report) = self.recorded.as_ref().context("no run")?;
        let run_s = report["efficiency"]["elapsed_s"].as_f64().context("elapsed_s")?;
        Ok(Truth::new(cell, run, run_s, self, STEPS))
    }

    fn judgements(&self, cell: &Cell) -> anyhow::Result<Vec<Judgement>> {
        let (_, report) = self.recorded.as_ref().context("no run")?;
        statements::judge(&self.truth(cell)?, report)
    }

    fn add_bare(&mut self, change: &'static str, runs: &[PlannedRun]) {
        let shortest = self.shortest_s.entry(change).or_insert(f64::MAX);
        *shortest = runs.iter().map(|run| run.elapsed_s).fold(*shortest, f64::min);
        if change == AS_IS {
            self.as_is_s.extend(runs.iter().map(|run| run.elapsed_s));
        }
    }

    fn is_undisturbed(&self) -> bool {
        let bare_s = self.shortest_s.get(AS_IS).copied().unwrap_or(0.0);
        self.recorded.as_ref().is_some_and(|(run, _)| run.elapsed_s <= DISTURBED * bare_s)
    }
}

/// Runs the cells of a shape and judges what their reports state.
///
/// A machine that is busy with other things makes runs longer, never shorter: what a change does is measured by the shortest runs, and the recorded run
/// judged is the one that the report says was the shortest, never the one whose report agrees best.
pub fn judge(mpi: &Mpi, shape: &Shape, cells: &[Cell]) -> anyhow::Result<()> {
    let program = Program::read(Path::new("laboratory/laboratory.c"))?.compiled(mpi)?;
    let name = format!("laboratory::{}::{}", shape.title(), mpi.name);
    let folder = place::fresh_folder(&name)?;
    let mut runs: Vec<CellRuns> = cells.iter().map(|_| CellRuns::default()).collect();
    let mut open: Vec<usize> = (0..cells.len()).collect();
    for _ in 0..MAX_ROUNDS {
        let combinations = || open.iter().flat_map(|&idx| BARE_RUNS.map(|change| cells[idx].combination(change)));
        let bare = program_runs(
            &Job { urgent: true, ..job(mpi, shape, &program, &folder, combinations()) }.bare()?.must_succeed()?.stdout,
        )?;
        if bare.is_empty() {
            return Ok(());
        }
        for &idx in &open {
            for change in CHANGES {
                let with_change = bare.get(&cells[idx].combination(change)).context("a run is missing")?;
                runs[idx].add_bare(change, with_change);
            }
            record(mpi, &cells[idx], &program, &folder, &mut runs[idx])?;
        }
        let mut still_open = Vec::new();
        for &idx in &open {
            let judgements = runs[idx].judgements(&cells[idx])?;
            if !runs[idx].is_undisturbed() || judgements.iter().any(Judgement::is_wrong) {
                still_open.push(idx);
            }
        }
        open = still_open;
        if open.is_empty() {
            break;
        }
    }
    let mut rows = Vec::new();
    let mut wrong = Vec::new();
    for (cell, cell_runs) in cells.iter().zip(&runs) {
        let judgements = cell_runs.judgements(cell)?;
        wrong
            .extend(judgements.iter().filter_map(|judgement| Some(format!("{}: {}", cell.name(), judgement.wrong()?))));
        rows.push((cell.name(), judgements));
    }
    table::write_rows(&mpi.name, shape, &rows)?;
    if !wrong.is_empty() {
        bail!("wrong statements:\n{}", wrong.join("\n"));
    }
    Ok(())
}

/// Records a run of a cell as it is, and keeps what is reported on it if it is less disturbed than those before.
fn record(mpi: &Mpi, cell: &Cell, program: &Path, folder: &Path, runs: &mut CellRuns) -> anyhow::Result<()> {
    let combination = cell.combination(AS_IS);
    let logs =
        place::fresh_folder(&format!("laboratory::{}::{}-logs::{}", cell.shape.title(), mpi.name, cell.pattern))?
            .join("logs");
    let job = job(mpi, cell.shape, program, folder, std::iter::once(combination.clone())).with_env("LBPROF_DIR", &logs);
    let recorded = program_runs(&job.recorded()?.must_succeed()?.stdout)?;
    let run = recorded.get(&combination).and_then(|runs| runs.first()).context("the recorded run is missing")?;
    let report = run::report(&logs)?;
    run::check_report(&report)?;
    let elapsed_s = |report: &Value| report["efficiency"]["elapsed_s"].as_f64().unwrap_or(f64::MAX);
    if runs.recorded.as_ref().is_none_or(|(_, kept)| elapsed_s(&report) < elapsed_s(kept)) {
        runs.recorded = Some((run.clone(), report));
    }
    Ok(())
}

fn job<'a>(
    mpi: &'a Mpi,
    shape: &Shape,
    program: &Path,
    folder: &'a Path,
    combinations: impl Iterator<Item = String>,
) -> Job<'a> {
    let mut job = Job::new(mpi, shape.n_ranks, program, folder);
    job.command.push(STEPS.to_string().into());
    job.command.extend(combinations.map(Into::into));
    job.urgent = true;
    job
}

/// Returns what the program states of its runs, by combination; nothing where the MPI has no such shape.
fn program_runs(stdout: &[String]) -> anyhow::Result<BTreeMap<String, Vec<PlannedRun>>> {
    let mut runs: BTreeMap<String, Vec<PlannedRun>> = BTreeMap::new();
    for line in stdout.iter().filter(|line| !line.starts_with("no such shape")) {
        let mut words = line.split_whitespace();
        let combination = words.next().context("an empty line")?;
        let seconds: Vec<f64> = words.map(str::parse).collect::<Result<_, _>>().with_context(|| line.clone())?;
        let (&elapsed_s, work_s) = seconds.split_first().context("no time")?;
        runs.entry(combination.to_owned()).or_default().push(PlannedRun { elapsed_s, work_s: work_s.to_vec() });
    }
    Ok(runs)
}
