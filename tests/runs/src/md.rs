//! A small program in whose functions samples of generated logs lie, and a run of it whose truth is known.

use std::path::PathBuf;
use std::process::Command;

use lbprof_collector::sample::CodeAddress;
use lbprof_simulator::samples::Speed;
use lbprof_simulator::scenario::{RankScript, Scenario};
use object::{Object, ObjectSymbol};
use tempfile::TempDir;

/// `density` (line 1) is put into `force`, where it is line 4.
const SOURCE: &str = "\
static inline __attribute__((always_inline)) void density(volatile double *x) { *x = *x * 3.0; }
__attribute__((noinline)) void force(volatile double *x) {
    *x += 1.0;
    density(x);
}
__attribute__((noinline)) void halo(volatile double *x) { *x -= 1.0; }
__attribute__((noinline)) void sort(volatile double *x) { *x /= 2.0; }
int main(void) { volatile double x = 0; force(&x); halo(&x); sort(&x); return 0; }
";

/// A program, and the addresses of its functions.
pub struct Program {
    _dir: TempDir,
    /// Its file.
    pub path: PathBuf,
    /// GNU build id.
    pub build_id: Vec<u8>,
}

impl Program {
    /// Compiles it with these options.
    pub fn new(options: &[&str]) -> Program {
        let dir = tempfile::tempdir().unwrap();
        let (source, path) = (dir.path().join("md.c"), dir.path().join("md"));
        std::fs::write(&source, SOURCE).unwrap();
        let mut command = Command::new("cc");
        command.args(["-O1", "-Wl,--build-id"]).args(options).arg("-o").arg(&path).arg(&source);
        assert!(command.status().unwrap().success(), "{command:?}");
        let data = std::fs::read(&path).unwrap();
        let build_id = object::File::parse(&*data).unwrap().build_id().unwrap().unwrap().to_vec();
        Program { _dir: dir, path, build_id }
    }

    /// The first instruction of a function.
    pub fn begin(&self, function: &str) -> CodeAddress {
        let data = std::fs::read(&self.path).unwrap();
        let file = object::File::parse(&*data).unwrap();
        let found = file.symbols().find(|symbol| symbol.name() == Ok(function)).unwrap();
        CodeAddress { module: 0, offset: found.address() }
    }

    /// An instruction in `force` that is of `density`; without debug information any.
    fn inlined(&self) -> CodeAddress {
        let loader = addr2line::Loader::new(&self.path).unwrap();
        let begin = self.begin("force").offset;
        let is_inlined = |&address: &u64| {
            let mut frames = loader.find_frames(address).unwrap();
            let of = |frame: addr2line::Frame<_>| frame.function.is_some();
            std::iter::from_fn(|| frames.next().unwrap()).filter_map(|frame| of(frame).then_some(())).count() == 2
        };
        CodeAddress { module: 0, offset: (begin..begin + 64).find(is_inlined).unwrap_or(begin + 1) }
    }
}

/// Milliseconds of a step in `force`, in `density` within it, in `halo` and in `sort`.
pub type Step = [f64; 4];

/// The times of a rank in a step: 4 ranks make 50 steps, each an iteration. Rank 0 computes longest: in `force`, and from the 25th step on in `sort`, too.
pub fn step_of(rank: u32, step: u32) -> Step {
    match rank {
        0 => [7.1, 9.3, 1.7, if step < 25 { 0.9 } else { 4.9 }],
        _ => [5.2, 3.1, 1.7, 0.9],
    }
}

/// The run, sampled so often in a second of CPU time.
pub fn run_of(program: &Program, per_second: u32) -> Scenario {
    run_on(program, per_second, false)
}

/// Counts of a nanosecond: rank 0 executes fewer instructions in it, at the same frequency.
pub fn speed_of(rank: u32) -> Speed {
    Speed { instructions: if rank == 0 { 2.0 } else { 2.5 }, cycles: 2.0 }
}

/// The same, on a processor that counts or does not.
pub fn run_on(program: &Program, per_second: u32, counts: bool) -> Scenario {
    let (path, build_id) = (program.path.to_str().unwrap().to_owned(), program.build_id.clone());
    let places = [program.begin("force"), program.inlined(), program.begin("halo"), program.begin("sort")];
    Scenario::ranks(4).each(move |rank, script| {
        let script = script.program(&path, &build_id).sampled(per_second);
        let script = if counts { script.speed(speed_of(rank)) } else { script };
        script.repeat(50, move |step, script| {
            script.iteration("step", |script| {
                let times = step_of(rank, step);
                let compute = |script: RankScript, at: usize| script.compute_at(places[at], times[at]);
                let script = script.region("pair", |script| compute(compute(script, 0), 1));
                let script = script.region("rest", |script| compute(compute(script, 2), 3));
                let longest: f64 = step_of(0, step).iter().sum();
                script.barrier(longest - times.iter().sum::<f64>() + 0.5)
            })
        })
    })
}
