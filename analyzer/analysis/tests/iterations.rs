//! The whole way from calls to iterations, on random programs with known iterations.

use lbprof_analysis::model::code::loops::{IterationAnchors, IterationEnds, TokenClass};
use lbprof_analysis::structure::iterations::find::find_loops;
use lbprof_analysis::structure::iterations::numbering::number::{IterationNumbering, number_iterations};
use lbprof_analysis::structure::iterations::numbering::split::CallSplitter;
use lbprof_analysis::structure::iterations::patterns::found_loop::FoundLoop;
use lbprof_analysis::structure::iterations::window::{CallInterval, CallWindow};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// A part of an iteration. Each call in a program's text is a token of its own.
#[derive(Clone, Debug)]
enum Part {
    Call,
    /// A loop over some calls, with a number of turns between two bounds.
    Loop {
        body: u32,
        least: u32,
        most: u32,
    },
    /// A function with some calls that the iteration calls at several places.
    Helper {
        body: u32,
    },
    /// One or the other number of calls.
    Branch {
        one: u32,
        other: u32,
    },
    /// A loop in a loop.
    Nest {
        outer: u32,
        inner: u32,
    },
}

#[derive(Clone, Debug)]
struct Program {
    startup: u32,
    /// True if the body is run once before the loop.
    setup: bool,
    iterations: u32,
    parts: Vec<Part>,
    /// A period in iterations, and the number of further calls after each period.
    extras: Option<(u32, u32)>,
    end: u32,
    seed: u64,
}

/// Pseudorandom numbers.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as u32 % n.max(1)
    }
}

/// A program's calls while they are made.
struct Run {
    steps: Vec<CallInterval>,
    now: u64,
    chance: Chance,
}

impl Run {
    fn call(&mut self, token: u32, computation: u64) {
        let begin = self.now + computation + u64::from(self.chance.below(3));
        self.now = begin + 1 + u64::from(self.chance.below(3));
        self.steps.push(CallInterval { token, begin, end: self.now, peer: 0, tag: 0 });
    }

    fn calls(&mut self, first: u32, n: u32, computation: u64) {
        (first..first + n).for_each(|token| self.call(token, computation));
    }
}

impl Program {
    fn run(&self) -> Vec<CallInterval> {
        let mut run = Run { steps: Vec::new(), now: 0, chance: Chance(self.seed | 1) };
        run.calls(5000, self.startup, 50);
        if self.setup {
            self.body(&mut run);
            run.call(6000, 10);
        }
        for k in 0..self.iterations {
            self.body(&mut run);
            if let Some((every, calls)) = self.extras
                && (k + 1) % every == 0
            {
                run.calls(7000, calls, 10);
            }
        }
        run.calls(8000, self.end, 50);
        run.steps
    }

    /// One iteration, with a call at its end that occurs nowhere else.
    fn body(&self, run: &mut Run) {
        for (idx, part) in (0..).zip(&self.parts) {
            let first = 100 * (idx + 1);
            match *part {
                Part::Call => run.call(first, 300),
                Part::Loop { body, least, most } => {
                    run.call(first + 50, 300);
                    let n = least + run.chance.below(most - least + 1);
                    (0..n).for_each(|_| run.calls(first, body, 2));
                }
                Part::Helper { body } => {
                    run.calls(9000, body, 5);
                    run.call(first, 300);
                }
                Part::Branch { one, other } => match run.chance.below(2) {
                    0 => run.calls(first, one, 100),
                    _ => run.calls(first + 50, other, 100),
                },
                Part::Nest { outer, inner } => {
                    for _ in 0..outer {
                        run.call(first, 20);
                        (0..inner).for_each(|_| run.calls(first + 1, 2, 2));
                    }
                }
            }
        }
        run.call(50, 300);
    }
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        Just(Part::Call),
        (1u32..4, 2u32..7).prop_map(|(body, n)| Part::Loop { body, least: n, most: n }),
        (1u32..4, 2u32..4, 0u32..5).prop_map(|(body, least, more)| Part::Loop { body, least, most: least + more }),
        (1u32..6).prop_map(|body| Part::Helper { body }),
        (0u32..3, 0u32..3).prop_map(|(one, other)| Part::Branch { one, other }),
        (2u32..5, 2u32..5).prop_map(|(outer, inner)| Part::Nest { outer, inner }),
    ]
}

fn program() -> impl Strategy<Value = Program> {
    let extras = prop::option::of((9u32..40, 1u32..4));
    let counts = (0u32..5, any::<bool>(), 60u32..200, 0u32..4);
    (counts, prop::collection::vec(part(), 0..6), extras, any::<u64>()).prop_map(
        |((startup, setup, iterations, end), parts, extras, seed)| Program {
            startup,
            setup,
            iterations,
            parts,
            // Calls that occur once, just before the last iteration, might as well come after the loop.
            extras: extras.filter(|(every, _)| 2 * every <= iterations),
            end,
            seed,
        },
    )
}

fn window(steps: &[CallInterval], whole_run: bool) -> Vec<FoundLoop> {
    find_loops(&CallWindow {
        calls: steps,
        whole_run,
        is_collective: &|token| token % 2 == 0,
        is_distribution: &|_| false,
        may_spin: &|_| false,
        is_partial_completion: &|_| false,
        is_called_by: &|_, _| false,
        role_of: &|_, _| None,
        spin: 0,
    })
}

/// The iterations of all of a rank's calls, by a detected loop.
fn numbered(steps: &[CallInterval], of: &FoundLoop) -> IterationNumbering {
    let most = steps.iter().map(|step| step.token).max().unwrap_or(0);
    let class = |token| match () {
        () if of.anchor.tokens.contains(&token) => TokenClass::Anchor,
        () if of.tokens.contains(&token) => TokenClass::Inside,
        () => TokenClass::Foreign,
    };
    let mut splitter = CallSplitter::new(
        (0..=most).map(class).collect(),
        IterationAnchors { run: of.anchor.run, ..IterationAnchors::default() },
    );
    for step in steps {
        splitter.next(step.token, step.begin, step.end);
    }
    number_iterations(&splitter.finish(), IterationEnds::Found)
}

/// Minimum fraction of random programs whose iterations must be counted exactly. Not all can be: if all parts of an iteration are optional, calls alone
/// do not distinguish one iteration from several.
const EXACT: f64 = 0.95;

/// Random programs, always the same ones, and their calls.
fn programs(n: usize) -> Vec<(Program, Vec<CallInterval>)> {
    let mut runner = TestRunner::deterministic();
    let next = |_| {
        let program = program().new_tree(&mut runner).expect("a program").current();
        let steps = program.run();
        (program, steps)
    };
    (0..n).map(next).collect()
}

/// Checks for nearly all programs that the main loop in `part` of the calls has all the run's iterations.
#[track_caller]
fn assert_mostly_exact(whole_run: bool, part: impl Fn(usize) -> std::ops::Range<usize>) {
    let all = programs(100);
    let is_exact = |(program, steps): &&(Program, Vec<CallInterval>)| {
        let loops = window(&steps[part(steps.len())], whole_run);
        loops.iter().find(|one| one.main).is_some_and(|main| numbered(steps, main).count == program.iterations)
    };
    let wrong: Vec<_> = all.iter().filter(|one| !is_exact(one)).map(|(program, _)| program).collect();
    assert!(wrong.len() as f64 <= (1.0 - EXACT) * all.len() as f64, "{} of {}: {wrong:#?}", wrong.len(), all.len());
}

#[test]
fn a_whole_run_has_exactly_the_iterations_of_its_loop() {
    assert_mostly_exact(true, |n| 0..n);
}

#[test]
fn a_window_shows_the_loop_of_the_whole_run() {
    assert_mostly_exact(false, |n| 3 * n / 10..8 * n / 10);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(ProptestConfig::default().cases.min(64)) })]

    #[test]
    fn any_calls_are_survived(tokens in prop::collection::vec(0u32..6, 0..300), whole in any::<bool>()) {
        let steps: Vec<CallInterval> =
            (0..).zip(&tokens).map(|(at, &token)| CallInterval { token, begin: 10 * at, end: 10 * at + 5, peer: 0, tag: 0 }).collect();
        for one in window(&steps, whole) {
            prop_assert!(one.iterations > 0 && !one.anchor.tokens.is_empty());
            prop_assert!(one.anchor.tokens.iter().all(|token| one.tokens.contains(token)));
            let numbering = numbered(&steps, &one);
            prop_assert!(numbering.alike <= numbering.count);
        }
    }
}
