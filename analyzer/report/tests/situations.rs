//! The situations of docs/reading-a-report.md: a run made by hand for each, and its first screen, which the document shows.
//!
//! `UPDATE_DOCS=1` writes the screens into the document.

use std::ops::Range;
use std::path::Path;

use lbprof_analysis::model::Model;
use lbprof_analysis::model::ranks::samples::{CalledBackAt, CpuTime, OffCoreSums};
use lbprof_analysis::structure::code::code_place::CodePlace;
use lbprof_analysis::structure::code::symbols;
use lbprof_collector::definition::{LifetimePoint, MpiObject, ObjectKind, ResourceUsage};
use lbprof_collector::parallel::TeamPlacement;
use lbprof_collector::record::CallFlags;
use lbprof_collector::{Activity, CoreState, Definition, Operation, Record};
use lbprof_report::findings::{AnswerText, FindingSubject};
use lbprof_report::{Report, json, text};
use lbprof_simulator::scenario::{self, RankScript, START, Scenario};
use lbprof_test_runs::md::{Program, run_of};
use lbprof_test_runs::{first_screen, model_in, sampled_report, usage, written};

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reading-a-report.md");

/// Columns of a screen in the document.
const COLUMNS: usize = 100;

const MS: u64 = 1_000_000;

/// A call site of the runs: its name there, its function and its line in solver.c.
type Site = (&'static str, &'static str, u32);

const SITES: [Site; 6] = [
    ("sum", "residual", 41),
    ("halo", "exchange", 27),
    ("receive", "sweep", 31),
    ("send", "sweep", 38),
    ("write", "write_step", 63),
    ("end", "main", 88),
];

struct Example {
    name: &'static str,
    finding: &'static str,
    report: fn() -> Report,
}

fn called(scenario: Scenario, command: &str) -> Scenario {
    let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
    (0..scenario.n_ranks())
        .fold(scenario, |scenario, rank| scenario.header(rank, |header| header.command = words.clone()))
}

/// A run of so many ranks that number their call sites alike.
fn ranks(n: u32) -> Scenario {
    Scenario::ranks(n).each(|_, script| script.places(&SITES.map(|site| site.0)))
}

fn named(scenario: Scenario, command: &str) -> Report {
    named_at(scenario, command, None)
}

/// The same of a run that was looked at while it ran.
fn named_at(scenario: Scenario, command: &str, seen_at_s: Option<f64>) -> Report {
    named_with(scenario, command, |model| model.facts.seen_at_s = seen_at_s)
}

/// The same with facts that no log of the simulator has.
fn named_with(scenario: Scenario, command: &str, add_facts: impl Fn(&mut Model)) -> Report {
    let dir = written(called(scenario, command));
    let mut model = model_in(dir.path());
    model.facts.mpi = "Open MPI v4.1.4".to_owned();
    add_facts(&mut model);
    let mut resolved = symbols::sites_without_names(&model.sites);
    for place in &mut resolved.places {
        // The simulator puts call site n at offset 16 n.
        let site = usize::try_from(place.offset / 16).ok().and_then(|n| SITES.get(n.checked_sub(1)?));
        if let Some(&(_, function, line)) = site {
            *place = CodePlace {
                function: Some(function.to_owned()),
                file: Some("solver.c".to_owned()),
                line: Some(line),
                ..place.clone()
            };
        }
    }
    Report::new(&model, &resolved)
}

fn balanced_work() -> Report {
    let step = |rank: u32, n: u32| if (rank + n).is_multiple_of(4) { 10.2 } else { 10.0 };
    let scenario = ranks(4).each(move |rank, script| {
        script.repeat(50, move |n, script| {
            script
                .iteration("step", |script| script.compute(step(rank, n)).at("sum").allreduce(8, 10.3 - step(rank, n)))
        })
    });
    named(scenario, "solver box.in")
}

fn static_excess() -> Report {
    let program = Program::new(&["-g"]);
    let dir = written(called(run_of(&program, 1000), "md in.droplet"));
    sampled_report(dir.path())
}

/// In each of 40 steps rank `slowest(step)` computes 25 ms and the others 10 ms.
fn one_slow(slowest: fn(u32) -> u32) -> Scenario {
    ranks(4).each(move |rank, script| {
        script.repeat(40, move |n, script| {
            let work = if slowest(n) == rank { 25.0 } else { 10.0 };
            script.iteration("step", |script| {
                script.region("refine", |script| script.compute(work)).at("sum").allreduce(8, 25.2 - work)
            })
        })
    })
}

/// Rank 0 reads for 400 ms before 40 even steps of 10 ms.
fn outside_work() -> Report {
    let scenario = ranks(4).each(|rank, script| {
        let first = if rank == 0 { script.region("read_mesh", |script| script.compute(400.0)) } else { script };
        let first = first.at("end").barrier(if rank == 0 { 0.2 } else { 400.2 });
        first
            .repeat(40, |_, script| script.iteration("step", |script| script.compute(10.0).at("sum").allreduce(8, 0.2)))
    });
    named(scenario, "solver mesh.in")
}

/// The same after the steps.
fn late_output() -> Report {
    let scenario = ranks(4).each(|rank, script| {
        let script = script.repeat(40, |_, script| {
            script.iteration("step", |script| script.compute(10.0).at("sum").allreduce(8, 0.2))
        });
        let last = if rank == 3 { script.region("write_mesh", |script| script.compute(400.0)) } else { script };
        last.at("end").barrier(if rank == 3 { 0.2 } else { 400.2 })
    });
    named(scenario, "solver mesh.in")
}

#[test]
fn work_after_the_loop_is_said_to_be_there() {
    let report = late_output();
    let words = lbprof_report::findings::answer_in_words(&report);
    assert_eq!(report.findings[0].kind, "work outside of the loop", "{words}");
    assert!(
        words.contains("rank 3 works alone for 400.0 ms, once, after the main loop, and the others wait"),
        "{words}"
    );
    assert!(words.contains("write_mesh"), "{words}");
}

#[test]
fn a_slow_rank_of_each_iteration_has_no_work_outside_of_the_loop() {
    let report = named(one_slow(|_| 2), "solver box.in");
    assert!(report.verdict.outside_work.is_none(), "{:?}", report.verdict.outside_work);
    assert!(report.emptied_ranks.is_none(), "{:?}", report.emptied_ranks);
}

/// 60 steps of 10 ms. From step 20 on the particles of ranks 2 and 3 are on rank 0.
fn emptied_ranks() -> Report {
    let scenario = ranks(4).each(|rank, script| {
        script.repeat(60, move |n, script| {
            let (work, longest) = match (rank, n < 20) {
                (_, true) => (10.0, 10.0),
                (0, false) => (30.0, 30.0),
                (1, false) => (10.0, 30.0),
                _ => (0.0, 30.0),
            };
            script.iteration("step", |script| script.compute(work).at("sum").allreduce(8, longest + 0.2 - work))
        })
    });
    named(scenario, "pic plasma.in")
}

/// 60 steps of 10 ms, but ranks 4 and 5 have no particles.
fn idle_ranks() -> Report {
    let scenario = ranks(6).each(|rank, script| {
        let work = if rank < 4 { 10.0 } else { 0.0 };
        script.repeat(60, move |_, script| {
            script.iteration("step", |script| script.compute(work).at("sum").allreduce(8, 10.2 - work))
        })
    });
    named(scenario, "lmp vacuum.in")
}

/// 400 steps, each with a call of its own, so that there is no loop. From step 300 on rank 1 has three times the work.
fn slow_from_a_time() -> Report {
    let scenario = ranks(4).each(|rank, script| {
        script.repeat(400, move |n, script| {
            let longest = if n >= 300 { 3.0 } else { 1.0 };
            let work = if rank == 1 { longest } else { 1.0 };
            script.compute(work).at(&format!("sum of step {n}")).allreduce(8, longest + 0.1 - work)
        })
    });
    named(scenario, "solver box.in")
}

#[test]
fn a_rank_that_gets_slow_has_a_time_where_no_iterations_are_known() {
    let report = slow_from_a_time();
    let words = lbprof_report::findings::answer_in_words(&report);
    assert_eq!((report.findings[0].kind, report.findings[0].ranks.as_slice()), ("static excess", &[1][..]), "{words}");
    // It gets slow after 330 of 640 ms.
    assert!(report.iterations.is_none(), "{words}");
    assert!(words.contains(", since "), "{words}");
}

fn moving_rank() -> Report {
    named(one_slow(|step| step / 10), "amr blob.in")
}

fn slow_in_turn() -> Report {
    named(one_slow(|step| step * 7 % 4), "particles 40")
}

/// In each step rank 1 has twice the forces to compute, and rank 2 twice the neighbour lists, with a meeting after each.
fn slow_in_parts() -> Report {
    let scenario = ranks(4).each(|rank, script| {
        script.repeat(20, move |_, script| {
            script.iteration("step", |script| {
                let (forces, lists) = (if rank == 1 { 16.0 } else { 8.0 }, if rank == 2 { 12.0 } else { 6.0 });
                script
                    .region("forces", |script| script.compute(forces))
                    .at("halo")
                    .allreduce(8, 16.2 - forces)
                    .region("neighbours", |script| script.compute(lists))
                    .at("sum")
                    .allreduce(8, 12.2 - lists)
            })
        })
    });
    named(scenario, "md box.in")
}

fn chains() -> Report {
    let scenario = ranks(4).each(|rank, script| {
        script.repeat(20, move |_, script| {
            script.iteration("sweep", |script| {
                let waits = 5.1 * f64::from(rank);
                let script = if rank > 0 { script.at("receive").recv(rank as i32 - 1, 0, 800, waits) } else { script };
                let script = script.region("cells", |script| script.compute(5.0));
                let script = if rank < 3 { script.at("send").send(rank as i32 + 1, 0, 800, 0.1) } else { script };
                let sent = if rank < 3 { 0.1 } else { 0.0 };
                script.at("end").barrier(20.5 - waits - 5.0 - sent)
            })
        })
    });
    named(scenario, "sweep3d input")
}

fn serial_code() -> Report {
    let scenario = ranks(4).each(|rank, script| {
        script.repeat(10, move |_, script| {
            script.iteration("step", |script| {
                let script = script.compute(20.0).at("sum").allreduce(8, 0.2);
                match rank {
                    0 => script.region("statistics", |script| script.compute(15.0)).at("end").barrier(0.2),
                    _ => script.at("end").barrier(15.2),
                }
            })
        })
    });
    named(scenario, "solver box.in")
}

/// In every 5th step rank 0 writes a checkpoint by other means than MPI, for which it sleeps.
fn serial_output() -> Report {
    let scenario = ranks(4).each(|rank, script| {
        let used = |ticks, cpu_ms: u64, written_bytes| {
            let cpu_ns = 1_000_000 * cpu_ms;
            Definition::Usage(ResourceUsage {
                ticks,
                user_ns: cpu_ns,
                thread_ns: cpu_ns,
                written_bytes,
                ..ResourceUsage::default()
            })
        };
        let script = script.define(used(START, 0, 0)).repeat(20, move |step, script| {
            script.iteration("step", |script| {
                let script = script.compute(10.0).at("sum").allreduce(8, 0.2);
                match (rank, step % 5 == 4) {
                    (0, true) => script.region("checkpoint", |script| script.compute(60.0)).at("end").barrier(0.2),
                    (_, true) => script.at("end").barrier(60.2),
                    _ => script,
                }
            })
        });
        let written = if rank == 0 { 307_200_000 } else { 40_960 };
        script.define(used(START + 445_000_000, if rank == 0 { 230 } else { 200 }, written))
    });
    named(scenario, "solver box.in")
}

fn file_access() -> Report {
    let scenario = ranks(4).each(|rank, script| {
        script.repeat(10, move |_, script| {
            script.iteration("step", |script| {
                let script = script.compute(20.0).at("write");
                match rank {
                    0 => script.call(Operation::File_write_at, 15, |_| {}).at("end").barrier(0.2),
                    _ => script.at("end").barrier(15.2),
                }
            })
        })
    });
    named(scenario, "solver box.in")
}

/// In each of 20 steps the first `writers` of 4 ranks start to write 4 MB, compute for `work` ms and wait for `wait` ms until they are written. The others compute as long and
/// wait in the barrier at the end.
fn nonblocking_writes(writers: u32, work: f64, wait: f64) -> Report {
    let scenario = ranks(4).each(move |rank, script| {
        script.repeat(20, move |n, script| {
            script.iteration("step", move |script| {
                if rank >= writers {
                    return script.compute(work).at("end").barrier(wait + 0.3);
                }
                let write = |record: &mut Record| (record.request, record.sent) = (n, 4_000_000);
                let script = script.at("write").call(Operation::File_iwrite_at, 0.1, write).compute(work);
                script.at("write").wait(n, 0, wait).at("end").barrier(0.2)
            })
        })
    });
    named(scenario, "solver box.in")
}

fn late_file_progress() -> Report {
    nonblocking_writes(4, 12.0, 10.0)
}

#[test]
fn all_ranks_wait_for_a_rank_whose_writes_could_have_been_hidden() {
    let report = nonblocking_writes(1, 12.0, 10.0);
    let words = lbprof_report::findings::answer_in_words(&report);
    assert_eq!(report.findings[0].kind, "late file progress", "{words}");
    assert_eq!(report.findings[0].ranks, [0], "{words}");
    assert!(words.contains("rank 0 computes for 12.00 ms"), "{words}");
    assert!(words.contains("and the others wait for it"), "{words}");
}

#[test]
fn writes_that_take_longer_than_the_computation_may_have_made_progress() {
    let report = nonblocking_writes(4, 8.0, 10.0);
    assert_eq!(report.findings[0].kind, "file access", "{:?}", report.findings);
}

fn large_messages() -> Report {
    let scenario = ranks(4).each(|_, script| {
        script.repeat(20, |_, script| {
            script.iteration("step", |script| script.compute(12.0).at("sum").allreduce(8_000_000, 9.0))
        })
    });
    named(scenario, "train batch=64")
}

fn small_messages() -> Report {
    let scenario = ranks(2).each(|rank, script| {
        script.repeat(20, move |_, script| {
            script.iteration("step", move |script| {
                script.compute(6.0).repeat(50, move |_, script| match rank {
                    0 => script.at("send").send(1, 0, 64, 0.05).at("receive").recv(1, 1, 64, 0.05),
                    _ => script.at("receive").recv(0, 0, 64, 0.05).at("send").send(0, 1, 64, 0.05),
                })
            })
        })
    });
    named(scenario, "solver box.in")
}

/// In 400 steps of 1 ms the sum takes 20 µs, but in three of them 80 ms. It is known how long each rank sleeps in it.
fn rare_delays() -> Report {
    delays_in_sums(|model| sleep_in_sums(model, 0.0))
}

fn delays_in_sums(add_facts: impl Fn(&mut Model)) -> Report {
    let scenario = ranks(4).each(|_, script| {
        script.repeat(400, |n, script| {
            let sum = if n % 133 == 60 { 80.0 } else { 0.02 };
            script.iteration("step", |script| script.compute(1.0).at("sum").allreduce(8, sum))
        })
    });
    named_with(scenario, "solver box.in", add_facts)
}

/// Rank 0 sleeps in its sums for so long, the others never.
fn sleep_in_sums(model: &mut Model, seconds: f64) {
    for rank in &mut model.ranks {
        let asleep_s = if rank.rank == 0 { seconds } else { 0.0 };
        let places = vec![((0, Activity::Collective, CoreState::Asleep), asleep_s)];
        rank.samples.off_core = Some(OffCoreSums { places, known_s: 1.0 });
    }
}

#[test]
fn rare_delays_are_the_networks_only_if_no_function_of_the_program_may_take_them() {
    let advice_of = |report: &Report| report.findings[0].advice.as_ref().unwrap().label_and_text().1.to_owned();
    let awake = rare_delays();
    assert!(advice_of(&awake).starts_with("the network") && awake.findings[0].gain.is_some());
    let asleep = delays_in_sums(|model| sleep_in_sums(model, 0.24));
    let words = lbprof_report::findings::answer_in_words(&asleep);
    assert!(words.contains("of the run, for most of which a rank sleeps"), "{words}");
    for report in [asleep, delays_in_sums(|_| ())] {
        let advice = advice_of(&report);
        assert_eq!(report.findings[0].kind, "rare delays");
        assert!(advice.contains("MPI_Op_create") && !advice.starts_with("the network"), "{advice}");
        assert!(report.findings[0].gain.is_none(), "{:?}", report.findings[0].gain);
    }
}

#[test]
fn ranks_in_a_reduction_wait_for_the_one_whose_own_function_runs_in_it() {
    let report = delays_in_sums(|model| {
        sleep_in_sums(model, 0.0);
        let at = CalledBackAt { operation: Operation::Allreduce as u16, function: 0 };
        model.ranks[0].samples.called_back = vec![(at, CpuTime { samples: 240, seconds: 0.24, ..CpuTime::default() })];
    });
    let words = lbprof_report::findings::answer_in_words(&report);
    let [answer, ..] = report.findings.as_slice() else { panic!("no answer") };
    assert_eq!((answer.kind, answer.ranks.as_slice()), ("called by MPI", &[0][..]), "{words}");
    assert!((answer.seconds - 0.24).abs() < 0.01, "{words}");
}

/// 400 steps of `work(rank, step)` of 1 ms or `longest(step)`, with a sum that takes 20 µs, or `first` in the first step.
fn steps_without_delays(work: fn(u32, u32) -> f64, longest: fn(u32) -> f64, first: f64) -> Report {
    let scenario = ranks(4).each(move |rank, script| {
        script.repeat(400, move |n, script| {
            let sum = if n == 0 { first } else { 0.02 };
            script.iteration("step", |script| {
                script.compute(work(rank, n)).at("sum").allreduce(8, longest(n) - work(rank, n) + sum)
            })
        })
    });
    named(scenario, "solver box.in")
}

#[test]
fn waiting_for_slow_ranks_or_for_the_first_exchange_is_no_rare_delay() {
    let slow_each_time = steps_without_delays(|rank, _| if rank == 2 { 2.0 } else { 1.0 }, |_| 2.0, 0.02);
    let slow_rarely = steps_without_delays(
        |rank, n| if rank == 2 && n % 133 == 60 { 81.0 } else { 1.0 },
        |n| if n % 133 == 60 { 81.0 } else { 1.0 },
        0.02,
    );
    let slow_start = steps_without_delays(|_, _| 1.0, |_| 1.0, 240.0);
    for report in [slow_each_time, slow_rarely, slow_start] {
        let words = lbprof_report::findings::answer_in_words(&report);
        assert!(report.findings.iter().all(|one| one.kind != "rare delays"), "{words}");
    }
}

#[test]
fn rare_delays_say_how_many_how_long_and_when() {
    let report = rare_delays();
    let words = lbprof_report::findings::answer_in_words(&report);
    let delays = "12 of 1,600 calls of MPI_Allreduce take 80.00 ms each on ranks 0-3, from ";
    assert!(words.contains(delays), "{words}");
    let evidence: std::collections::BTreeMap<&str, f64> = report.findings[0].evidence.iter().copied().collect();
    // The sums of steps 60 and 326 begin after 61 and 327 steps, one and two delays in addition.
    assert!((evidence["first_s"] - 0.0622).abs() < 1e-6, "{evidence:?}");
    assert!((evidence["last_s"] - 0.493_48).abs() < 1e-6, "{evidence:?}");
}

fn late_progress() -> Report {
    let scenario = ranks(2).each(|rank, script| {
        let other = 1 - rank as i32;
        script.repeat(20, move |n, script| {
            script.iteration("step", move |script| {
                let script = script.at("halo").irecv(other, 0, 0.1).isend(other, 0, 4_000_000, 0.1).compute(12.0);
                script.at("halo").waitall(&[(2 * n, 4_000_000), (2 * n + 1, 0)], 5.0)
            })
        })
    });
    named(scenario, "solver box.in")
}

fn master_and_workers() -> Report {
    const TASKS: u32 = 12;
    let scenario = ranks(4).each(|rank, script| match rank {
        0 => script.repeat(TASKS, |_, script| {
            (1..4).fold(script, |script, worker| {
                script.at("receive").recv(worker, 0, 8, 6.5).at("send").send(worker, 1, 800, 0.1)
            })
        }),
        _ => script.repeat(TASKS, |_, script| {
            script.compute(19.5).at("halo").send(0, 0, 8, 0.1).at("end").recv(0, 1, 800, 0.2)
        }),
    });
    named(scenario, "farm tasks.txt")
}

/// Three workers with tasks of 12 ms ask rank 0 for the next one, which needs 6 ms for each request: it is busy all the time, and each worker waits a third of it.
fn coordinated() -> Report {
    const TASKS: u32 = 30;
    let scenario = ranks(4).each(|rank, script| match rank {
        0 => script.repeat(TASKS, |_, script| {
            (1..4).fold(script, |script, worker| {
                script.at("receive").recv(worker, 0, 8, 0.1).compute(5.8).at("send").send(worker, 1, 8, 0.1)
            })
        }),
        worker => script.repeat(TASKS, move |task, script| {
            let wait = if task == 0 { 6.0 * f64::from(worker) - 0.1 } else { 5.9 };
            script.at("halo").send(0, 0, 8, 0.1).at("end").recv(0, 1, 8, wait).compute(12.0)
        }),
    });
    named(scenario, "farm tasks.txt")
}

#[test]
fn workers_that_wait_for_a_busy_coordinator_say_so() {
    let report = coordinated();
    let [answer, ..] = report.findings.as_slice() else { panic!("no answer") };
    let words = lbprof_report::findings::answer_in_words(&report);
    assert_eq!((answer.kind, answer.ranks.as_slice()), ("busy coordinator", &[0][..]), "{words}");
    assert!(words.contains("ranks 1-3 wait for rank 0, which needs 5.80 ms for each request"), "{words}");
    // With half the time per request a worker waits for 3 of 15 ms.
    let gain = answer.gain.as_ref().unwrap_or_else(|| panic!("no gain: {words}"));
    assert!((0.1..0.2).contains(&gain.share), "{gain:?}");
    assert!(gain.text.starts_with("half the time per request on rank 0"), "{gain:?}");
}

/// Receives a message of any source.
fn receive_any(script: RankScript, source: u32, tag: i32, wait: f64) -> RankScript {
    script.call(Operation::Recv, wait, |record| {
        (record.peer, record.tag, record.received) = (source as i32, tag, 8);
        record.flags |= CallFlags::ANY_SOURCE;
    })
}

/// How coordinators and workers get their messages.
#[derive(Clone, Copy, PartialEq)]
enum Inbox {
    /// Coordinators from any source.
    AnySource,
    /// They look for messages in their work, too.
    Polls,
    /// Workers get their tasks from any source, too.
    AnyTask,
}

/// Ranks from `coordinators` on ask one of these in turn for 20 tasks of 12 ms each, all in one function. A request takes 6 ms: three workers keep a coordinator busy.
fn coordinated_in_one_function(coordinators: u32, inbox: Inbox) -> Report {
    const TASKS: u32 = 20;
    let scenario = ranks(4 * coordinators).each(|rank, script| match rank {
        own if own < coordinators => script.repeat(TASKS, |_, script| {
            (1..4).fold(script, |script, worker| {
                let worker = own + worker * coordinators;
                let asked = receive_any(script.at("receive"), worker, 0, 0.1).compute(5.8);
                let polled = match inbox {
                    Inbox::Polls => {
                        asked.at("halo").call(Operation::Iprobe, 0.0, |record| record.flags |= CallFlags::NOTHING)
                    }
                    _ => asked,
                };
                polled.at("send").send(worker as i32, 1, 8, 0.1)
            })
        }),
        worker => script.repeat(TASKS, move |task, script| {
            let number = worker / coordinators;
            let wait = if task == 0 { 6.0 * f64::from(number) - 0.1 } else { 5.9 };
            let coordinator = worker % coordinators;
            let asking = script.at("send").send(coordinator as i32, 0, 8, 0.1).at("receive");
            let answered = match inbox {
                Inbox::AnyTask => receive_any(asking, coordinator, 1, wait),
                _ => asking.recv(coordinator as i32, 1, 8, wait),
            };
            answered.compute(12.0)
        }),
    });
    named(scenario, "farm tasks.txt")
}

#[test]
fn coordinators_and_workers_in_one_function_are_judged_apart() {
    for (coordinators, inbox, who) in [
        (1, Inbox::AnySource, "rank 0, which needs"),
        (2, Inbox::AnySource, "ranks 0, 1, which need"),
        (1, Inbox::AnyTask, "rank 0, which needs"),
    ] {
        let report = coordinated_in_one_function(coordinators, inbox);
        let words = lbprof_report::findings::answer_in_words(&report);
        assert_eq!(report.findings[0].kind, "busy coordinator", "{words}");
        assert!(words.contains(&format!("wait for {who} 5.80 ms for each request")), "{words}");
        // Of 18 ms a task, a worker then needs 15: it waits 9 ms for the first one.
        let gain = report.findings[0].gain.as_ref().unwrap_or_else(|| panic!("no gain: {words}"));
        assert!((gain.seconds - 0.0605).abs() < 0.005, "{gain:?}");
    }
}

#[test]
fn advice_to_several_coordinators_is_about_their_work() {
    for (coordinators, advice) in
        [(1, "rank 0 look for messages more often in its"), (2, "ranks 0, 1 look for messages more often in their")]
    {
        let words = lbprof_report::findings::answer_in_words(&coordinated_in_one_function(coordinators, Inbox::Polls));
        assert!(words.contains(advice), "{words}");
    }
}

/// Rank 0 gets the requests of three workers by one call, and needs 6 ms for each, then 6 ms more before the next call. Their tasks take 5 ms.
fn requests_completed_together() -> Report {
    const ROUNDS: u32 = 20;
    let scenario = ranks(4).each(|rank, script| match rank {
        0 => {
            let posted = (1..4).fold(script, |script, worker| script.at("receive").irecv(worker, 0, 0.0));
            posted.repeat(ROUNDS, |round, script| {
                let requests: Vec<(u32, u64)> = (0..3).map(|request| (3 * round + request, 8)).collect();
                let asked = script.at("halo").complete_several(Operation::Waitsome, &requests, 0.1);
                let answered = (1..4).fold(asked, |script, worker| {
                    let answered = script.compute(5.9).at("send").send(worker, 1, 8, 0.1);
                    if round + 1 < ROUNDS { answered.at("receive").irecv(worker, 0, 0.0) } else { answered }
                });
                answered.compute(5.9)
            })
        }
        worker => script.repeat(ROUNDS, move |round, script| {
            let until_answer = 0.1 + 6.0 * f64::from(worker) - 0.1;
            let wait = if round == 0 { until_answer } else { 24.0 - 5.0 - 0.1 };
            script.at("sum").send(0, 0, 8, 0.1).at("end").recv(0, 1, 8, wait).compute(5.0)
        }),
    });
    named(scenario, "farm tasks.txt")
}

#[test]
fn requests_that_one_call_completes_are_answered_one_after_the_other() {
    let report = requests_completed_together();
    let words = lbprof_report::findings::answer_in_words(&report);
    assert_eq!(report.findings[0].kind, "busy coordinator", "{words}");
    assert!(words.contains("ranks 1-3 wait for rank 0, which needs"), "{words}");
    let answers = report.clusters.servers.iter().map(|server| (server.requests, server.answers));
    assert_eq!(answers.collect::<Vec<_>>(), [(59, 59)], "{words}");
    // Half the time per request saves half of the rounds.
    let gain = report.findings[0].gain.as_ref().unwrap_or_else(|| panic!("no gain: {words}"));
    assert!((gain.share - 0.5).abs() < 0.05, "{gain:?}");
}

/// Rank 0 sleeps for 30 ms, and then answers three workers, whose tasks take 10 ms. It sleeps until a poll succeeds, so that the sleep counts as waiting.
fn polling_in_one_function() -> Report {
    const ROUNDS: u32 = 20;
    let scenario = ranks(4).each(|rank, script| match rank {
        0 => script.repeat(ROUNDS, |_, script| {
            let polled = script.at("halo").call(Operation::Iprobe, 29.4, |record| {
                (record.peer, record.tag) = (1, 0);
                record.flags |= CallFlags::ANY_SOURCE;
            });
            (1..4).fold(polled, |script, worker| {
                receive_any(script.at("receive"), worker, 0, 0.1).at("send").send(worker as i32, 1, 8, 0.1)
            })
        }),
        worker => script.repeat(ROUNDS, move |round, script| {
            let wait = if round == 0 { 29.4 + 0.2 * f64::from(worker) - 0.1 } else { 19.9 };
            script.at("send").send(0, 0, 8, 0.1).at("receive").recv(0, 1, 8, wait).compute(10.0)
        }),
    });
    named(scenario, "farm tasks.txt")
}

#[test]
fn sleep_between_polls_that_counts_as_waiting_is_the_answer() {
    let report = polling_in_one_function();
    let words = lbprof_report::findings::answer_in_words(&report);
    assert_eq!(report.findings[0].kind, "sleeping coordinator", "{words}");
    // Without the sleep, after the first one, workers are busy for 20 tasks of 10 ms.
    let gain = report.findings[0].gain.as_ref().unwrap_or_else(|| panic!("no gain: {words}"));
    assert!((gain.share - (1.0 - 230.0 / 610.0)).abs() < 0.05, "{gain:?}");
}

/// In each of 30 steps rank 0 computes 5 ms, then sends a command, and collects the results of three workers, which take 10 ms; all in one function.
fn commanded_in_one_function() -> Report {
    let scenario = ranks(4).each(|rank, script| match rank {
        0 => script.repeat(30, |_, script| {
            let sent = (1..4).fold(script.compute(5.0).at("send"), |script, worker| script.send(worker, 1, 8, 0.1));
            (1..4).fold(sent.at("receive"), |script, worker| {
                script.recv(worker, 0, 8, if worker == 1 { 9.9 } else { 0.1 })
            })
        }),
        worker => script.repeat(30, move |step, script| {
            let wait = if step == 0 { 5.0 + 0.1 * f64::from(worker) } else { 5.3 };
            script.at("halo").recv(0, 1, 8, wait).compute(10.0).at("end").send(0, 0, 8, 0.1)
        }),
    });
    let dir = written(called(scenario, "dem packing.in"));
    let model = model_in(dir.path());
    let mut resolved = symbols::sites_without_names(&model.sites);
    for (place, line) in resolved.places.iter_mut().zip(10..) {
        *place = CodePlace { function: Some("run".to_owned()), line: Some(line), ..place.clone() };
    }
    Report::new(&model, &resolved)
}

#[test]
fn a_master_is_known_by_its_calls_in_the_function_of_its_followers() {
    let report = commanded_in_one_function();
    let words = lbprof_report::findings::answer_in_words(&report);
    assert_eq!(report.findings[0].kind, "awaited master", "{words}");
    assert!(words.contains("ranks 1-3 wait for the next message of rank 0"), "{words}");
}

#[test]
fn a_rank_that_only_receives_gains_by_the_message() {
    const MESSAGES: u32 = 30;
    let scenario = ranks(4).each(|rank, script| match rank {
        0 => script.repeat(MESSAGES, |_, script| {
            (1..4).fold(script, |script, sender| script.at("receive").recv(sender, 0, 8, 0.1).compute(5.9))
        }),
        sender => script.repeat(MESSAGES, move |message, script| {
            let wait = if message == 0 { 6.0 * f64::from(sender - 1) + 0.1 } else { 16.0 };
            let send = |r: &mut Record| (r.peer, r.tag, r.sent) = (0, 0, 8);
            script.at("halo").call(Operation::Ssend, wait, send).compute(2.0)
        }),
    });
    let report = named(scenario, "farm tasks.txt");
    let words = lbprof_report::findings::answer_in_words(&report);
    assert_eq!(report.findings[0].kind, "busy coordinator", "{words}");
    assert!(words.contains("half the time per message on rank 0") && !words.contains("request"), "{words}");
}

/// Three ranks send 64 bytes 40 times to rank 0, which needs 3 ms for each message. Every eighth send is over when rank 0 has received as many from each rank: then it has place for more.
fn flooded_receiver() -> Report {
    // In the first round no message has been received yet, so that its sends may be the network's.
    const ROUNDS: u32 = 25;
    let scenario = ranks(4).each(|rank, script| match rank {
        0 => {
            let received = script.repeat(24 * ROUNDS, |message, script| {
                receive_any(script.at("receive"), 1 + message % 3, 0, 0.05).compute(3.0)
            });
            received.at("end").barrier(0.1)
        }
        _ => {
            let sent = script.at("halo").repeat(ROUNDS, |round, script| {
                let last_ms = match round {
                    0 => 24.0 * 3.05 - 0.15 + 0.02,
                    _ if round + 1 < ROUNDS => 24.0 * 3.05 - 0.15,
                    _ => 0.01,
                };
                let small = (0..7).fold(script, |script, _| script.compute(0.01).send(0, 0, 64, 0.01));
                small.compute(0.01).send(0, 0, 64, last_ms)
            });
            sent.at("end").barrier(24.0 * 3.05 - 0.18 + 0.1)
        }
    });
    named(scenario, "collector 40")
}

#[test]
fn small_messages_that_flood_a_receiver_wait_for_its_work() {
    let report = flooded_receiver();
    let words = lbprof_report::findings::answer_in_words(&report);
    let answer = &report.findings[0];
    assert_eq!((answer.kind, answer.ranks.as_slice()), ("busy coordinator", &[0][..]), "{words}");
    assert!(words.contains("ranks 1-3 wait for rank 0, which needs 3.00 ms for each message"), "{words}");
    assert!(answer.seconds > 0.9 * report.verdict.lost_s, "{words}");
    let gain = answer.gain.as_ref().unwrap_or_else(|| panic!("no gain: {words}"));
    assert!((gain.share - 0.49).abs() < 0.03, "{gain:?}");
}

/// In each of 30 steps rank 0 prepares work for 5 ms, sends it, and collects the results of three workers, which take 10 ms.
fn awaited_master() -> Report {
    let scenario = ranks(4).each(|rank, script| match rank {
        0 => script.repeat(30, |_, script| {
            script.iteration("step", |script| {
                let sent = (1..4).fold(script.compute(5.0).at("send"), |script, worker| script.send(worker, 1, 8, 0.1));
                (1..4).fold(sent.at("receive"), |script, worker| {
                    script.recv(worker, 0, 8, if worker == 1 { 9.9 } else { 0.1 })
                })
            })
        }),
        worker => script.repeat(30, move |step, script| {
            let wait = if step == 0 { 5.0 + 0.1 * f64::from(worker) } else { 5.3 };
            script.iteration("step", |script| {
                script.at("end").recv(0, 1, 8, wait).compute(10.0).at("halo").send(0, 0, 8, 0.1)
            })
        }),
    });
    named(scenario, "dem packing.in")
}

/// The report on a task farm of which these ranks sleep for most of their computation.
fn farm_asleep(scenario: Scenario, asleep: Range<usize>) -> Report {
    let dir = written(called(scenario, "farm tasks.txt"));
    let mut model = model_in(dir.path());
    for rank in &mut model.ranks[asleep] {
        let places = vec![((0, Activity::Computation, CoreState::Asleep), 0.9)];
        rank.samples.off_core = Some(OffCoreSums { places, known_s: 1.0 });
    }
    Report::new(&model, &symbols::sites_without_names(&model.sites))
}

/// Rank 0 serves three workers, then finds no message and sleeps for 30 ms. Their tasks take 10 ms: what they ask for next lies there for 20 ms.
fn sleeping_coordinator() -> Report {
    const ROUNDS: u32 = 30;
    let scenario = ranks(4).each(|rank, script| match rank {
        0 => script.repeat(ROUNDS, |_, script| {
            let served = (1..4).fold(script, |script, worker| {
                script.at("receive").recv(worker, 0, 8, 0.1).at("send").send(worker, 1, 8, 0.1)
            });
            let nothing = |record: &mut Record| record.flags |= CallFlags::NOTHING;
            served.at("halo").call(Operation::Iprobe, 0.01, nothing).compute(30.0).call(Operation::Iprobe, 0.01, |_| {})
        }),
        worker => script.repeat(ROUNDS, move |round, script| {
            let first = 0.2 * f64::from(worker);
            let wait = if round == 0 { first - 0.1 } else { 20.52 };
            script.at("write").send(0, 0, 8, 0.1).at("end").recv(0, 1, 8, wait).compute(10.0)
        }),
    });
    farm_asleep(scenario, 0..1)
}

#[test]
fn workers_that_wait_for_a_sleeping_coordinator_say_so() {
    let report = sleeping_coordinator();
    let words = lbprof_report::findings::answer_in_words(&report);
    assert_eq!(report.findings[0].kind, "sleeping coordinator", "{words}");
    assert!(words.contains("rank 0 sleeps between its polls while messages wait there"), "{words}");
    let gain = report.findings[0].gain.as_ref().unwrap_or_else(|| panic!("no gain: {words}"));
    assert!((0.5..0.7).contains(&gain.share), "{gain:?}");
}

#[test]
fn a_rank_with_a_loop_of_its_own_is_waited_for_by_its_work_and_not_by_its_messages() {
    const STEPS: u32 = 40;
    let scenario = ranks(4).each(|rank, script| match rank {
        0 => script
            .repeat(STEPS, |_, script| {
                let to_itself = |record: &mut Record| (record.peer, record.tag, record.comm) = (0, 0, 1);
                script.compute(8.0).at("halo").call(Operation::Sendrecv_replace, 0.01, to_itself)
            })
            .at("sum")
            .allreduce(8, 0.1),
        _ => script
            .repeat(STEPS, |_, script| {
                script.compute(4.0).at("end").call(Operation::Barrier, 0.01, |record| record.comm = 1)
            })
            .at("sum")
            .allreduce(8, 160.1),
    });
    let report = named(scenario, "two codes");
    let words = lbprof_report::findings::answer_in_words(&report);
    assert!(words.contains("rank 0") && !words.contains("for each message"), "{words}");
}

/// Three workers ask rank 0, which answers at once, and look after 25 ms whether the answer has come.
fn sleeping_polls() -> Report {
    const ROUNDS: u32 = 30;
    let scenario = ranks(4).each(|rank, script| match rank {
        0 => script.repeat(ROUNDS, |round, script| {
            let wait = if round == 0 { 10.0 } else { 34.9 };
            (1..4).fold(script, |script, worker| {
                let wait = if worker == 1 { wait } else { 0.01 };
                script.at("receive").recv(worker, 0, 8, wait).at("send").send(worker, 1, 8, 0.01)
            })
        }),
        _ => script.repeat(ROUNDS, |_, script| {
            let asked =
                script.compute(10.0).at("send").send(0, 0, 8, 0.1).at("halo").call(Operation::Iprobe, 25.0, |record| {
                    (record.peer, record.tag) = (0, 1);
                });
            asked.at("receive").recv(0, 1, 8, 0.01)
        }),
    });
    farm_asleep(scenario, 1..4)
}

#[test]
fn workers_that_sleep_between_polls_say_so() {
    let report = sleeping_polls();
    let words = lbprof_report::findings::answer_in_words(&report);
    assert_eq!(report.findings[0].kind, "sleeping polls", "{words}");
    assert!(words.contains("ranks 1-3 sleep between their polls while messages wait there"), "{words}");
    let gain = report.findings[0].gain.as_ref().unwrap_or_else(|| panic!("no gain: {words}"));
    assert!((gain.share - 25.0 / 35.0).abs() < 0.05, "{gain:?}");
}

/// The master hands out 36 tasks of 10 ms to three workers, and then one of 150 ms to rank 2.
fn last_task() -> Report {
    const TASKS: u32 = 12;
    let ask = |script: RankScript| script.at("halo").send(0, 0, 8, 0.1);
    let scenario = ranks(4).each(|rank, script| match rank {
        0 => {
            let answer = |script: RankScript, worker: u32, wait: f64| {
                let asked = script.at("receive").call(Operation::Recv, wait, |record| {
                    (record.peer, record.tag, record.received) = (worker as i32, 0, 8);
                    record.flags |= CallFlags::ANY_SOURCE;
                });
                asked.at("send").send(worker as i32, 1, 800, 0.1)
            };
            let script = script.repeat(TASKS + 1, |n, script| {
                (1..4)
                    .fold(script, |script, worker| answer(script, worker, if worker == 1 && n > 0 { 9.8 } else { 0.1 }))
            });
            answer(script, 2, 149.6).at("sum").barrier(0.1)
        }
        _ => {
            let wait = if rank == 1 { 0.2 } else { 0.2 * f64::from(rank) };
            let work = script.repeat(TASKS, |_, script| ask(script).at("end").recv(0, 1, 800, 0.2).compute(10.0));
            match rank {
                2 => ask(ask(work).at("end").recv(0, 1, 800, wait).compute(150.0))
                    .at("end")
                    .recv(0, 1, 8, 0.1)
                    .at("sum")
                    .barrier(0.1),
                _ => ask(work).at("end").recv(0, 1, 8, wait).at("sum").barrier(150.0),
            }
        }
    });
    named(scenario, "farm tasks.txt")
}

/// Ranks 0 and 1 compute the atmosphere for 8 ms in each of eight sub-steps, ranks 2 and 3 the ocean for 4 ms; they exchange fields at the end of the step.
fn uneven_groups() -> Report {
    let scenario = ranks(4).each(|rank, script| {
        let (site, work, other) = if rank < 2 { ("sum", 8.0, rank + 2) } else { ("halo", 4.0, rank - 2) };
        let group: &[u32] = if rank < 2 { &[0, 1] } else { &[2, 3] };
        script.communicator(u64::from(rank / 2) + 77, group).repeat(20, move |_, script| {
            script.iteration("step", |script| {
                let script = script.repeat(8, |_, script| {
                    script
                        .compute(work)
                        .at(site)
                        .call(Operation::Allreduce, 0.1, |record| (record.comm, record.sent) = (2, 8))
                });
                let wait = 8.0 * (8.0 - work);
                match rank {
                    0 | 1 => script.at("send").send(other as i32, 0, 8000, 0.1).at("receive").recv(
                        other as i32,
                        0,
                        8000,
                        0.1,
                    ),
                    _ => script.at("receive").recv(other as i32, 0, 8000, wait + 0.1).at("send").send(
                        other as i32,
                        0,
                        8000,
                        0.1,
                    ),
                }
            })
        })
    });
    named(scenario, "coupled atmosphere.in ocean.in")
}

/// Rank 0 takes a result of each of the others at the end, and hands out nothing.
fn one_that_collects() -> Report {
    const TASKS: u32 = 12;
    let scenario = ranks(4).each(|rank, script| match rank {
        0 => (1..4).fold(script.at("receive"), |script, worker| {
            script.recv(worker, 0, 8, if worker == 1 { 235.0 } else { 0.2 })
        }),
        _ => script.repeat(TASKS, |_, script| script.compute(19.5)).at("halo").send(0, 0, 8, 0.1),
    });
    named(scenario, "solver box.in")
}

/// Ranks take their next task from a counter in the memory of rank 0, which has the longest tasks and answers between them.
fn busy_target() -> Report {
    const TASKS: u32 = 12;
    let fetch = |script: RankScript, flush_ms: f64| {
        let script = script.at("receive").call(Operation::Fetch_and_op, 0.01, |record| {
            (record.peer, record.sent, record.received) = (0, 8, 8);
        });
        script.at("halo").call(Operation::Win_flush, flush_ms, |record| record.peer = 0)
    };
    let scenario = ranks(4).each(|rank, script| {
        let work_ms = if rank == 0 { 30.0 } else { 3.0 };
        let script = fetch(script, 0.01).compute(work_ms);
        script.repeat(TASKS, move |_, script| fetch(script, 30.01 - work_ms).compute(work_ms))
    });
    named(scenario, "tasks 60")
}

/// Ranks 1 to 3 take tasks of 10 ms from a counter in the memory of rank 0, which waits for the end; if `last_ms` is not 0, rank 2 takes one so long in the
/// end. They take 30, 36 and 40 tasks.
fn counter_of_idle_host(last_ms: f64) -> Report {
    let fetch = |script: RankScript| {
        let script = script.at("receive").call(Operation::Fetch_and_op, 0.01, |record| {
            (record.peer, record.sent, record.received) = (0, 8, 8);
        });
        script.at("halo").call(Operation::Win_flush, 0.01, |record| record.peer = 0)
    };
    let scenario = ranks(4).each(|rank, script| {
        let tasks = [0, 30, 36, 40][rank as usize];
        let script = match rank {
            0 => script,
            _ => fetch(script.repeat(tasks, |_, script| fetch(script).compute(360.0 / f64::from(tasks)))),
        };
        match rank {
            2 if last_ms > 0.0 => fetch(script.compute(last_ms)).at("sum").barrier(0.1),
            0 => script.at("sum").barrier(362.0 + last_ms),
            _ => script.at("sum").barrier(1.0 + last_ms),
        }
    });
    named(scenario, "tasks 100")
}

#[test]
fn a_rank_that_only_hosts_the_counter_of_tasks_is_an_idle_master() {
    let report = counter_of_idle_host(0.0);
    let answer = AnswerText::new(&report);
    assert_eq!(report.findings[0].kind, "master and workers", "{}", answer.sentence);
    assert!(
        answer.sentence.contains("ranks 1-3 work 99 % of the time; rank 0 hosts the counter"),
        "{}",
        answer.sentence
    );
    assert!(answer.lines.iter().any(|line| line.text.contains("at most 25 % less time")), "{:?}", answer.lines);
    // That rank 0 is idle is no loss of the others.
    let parts_s: f64 = report.findings.iter().map(|one| one.seconds).sum();
    assert!(parts_s <= 0.02 * report.verdict.elapsed_s, "{:?}", report.findings);
}

#[test]
fn the_last_task_of_workers_that_share_a_counter_is_the_answer() {
    let report = counter_of_idle_host(150.0);
    let answer = AnswerText::new(&report);
    assert_eq!(report.findings[0].kind, "last task", "{}", answer.sentence);
    assert!(answer.sentence.contains("rank 2"), "{}", answer.sentence);
}

#[test]
fn a_rank_does_not_work_alone_while_another_works_elsewhere() {
    let scenario = ranks(2).each(|rank, script| {
        let (name, work_ms) = [("atmosphere", 100.0), ("ocean", 130.0)][rank as usize];
        script.repeat(5, move |_, script| {
            script.region(name, |script| script.compute(work_ms)).at("sum").barrier(130.1 - work_ms)
        })
    });
    let report = named(scenario, "coupled");
    let answer = AnswerText::new(&report);
    assert_ne!(report.findings[0].kind, "serial code", "{}", answer.sentence);
}

#[test]
fn a_host_of_the_counter_that_takes_tasks_is_one_of_the_workers() {
    assert_eq!(busy_target().idle_master, None);
}

/// In each step one rank after the other locks the window of rank 3, and computes 3 ms before it unlocks it, rank 1 12 ms.
fn held_lock() -> Report {
    let locked = |script: RankScript, wait_ms: f64, work_ms: f64| {
        let script = script.at("receive").call(Operation::Win_lock, wait_ms, |record| {
            (record.peer, record.tag) = (3, 0);
            record.flags |= CallFlags::EXCLUSIVE;
        });
        let unlock = |record: &mut Record| (record.peer, record.tag) = (3, 0);
        script.compute(work_ms).at("halo").call(Operation::Win_unlock, 0.1, unlock)
    };
    let scenario = ranks(4).each(|rank, script| {
        let window = MpiObject { kind: ObjectKind::Window, id: 0, comm: 0, name: String::new() };
        script.define(Definition::Object(window)).repeat(20, move |_, script| {
            let script = match rank {
                0 => locked(script.compute(4.0), 0.1, 3.0),
                1 => locked(script.compute(4.0), 3.2, 12.0),
                2 => locked(script.compute(4.0), 15.3, 3.0),
                _ => script.compute(4.0),
            };
            let wait_ms = [15.2, 3.1, 0.1, 18.4][rank as usize];
            script.at("sum").barrier(wait_ms)
        })
    });
    named(scenario, "table 4000")
}

/// In 20 steps the thread that calls MPI waits 50 ms for one that works for 45 ms of them.
fn thread_pool() -> Report {
    let program = Program::new(&["-g"]);
    let (path, build_id) = (program.path.to_str().unwrap().to_owned(), program.build_id.clone());
    let routine = program.begin("force");
    let scenario = Scenario::ranks(2).each(move |_, script| {
        script.program(&path, &build_id).sampled(1000).repeat(20, move |_, script| {
            script.worker_at(4000, routine, 45.0).in_pool(4000, routine, 1).compute(50.0).barrier(0.2)
        })
    });
    sampled_report(written(called(scenario, "renderer scene.in")).path())
}

/// In 20 steps of 50 ms two threads of each rank share the core to which the launcher has bound it.
fn bound_pool(cores: u32) -> Report {
    let program = Program::new(&["-g"]);
    let (path, build_id) = (program.path.to_str().unwrap().to_owned(), program.build_id.clone());
    let routine = program.begin("force");
    let scenario = Scenario::ranks(2).each(move |_, script| {
        let placement = TeamPlacement { team: 2, cores, ..TeamPlacement::default() };
        let script = script.define(Definition::TeamPlacement(placement));
        script.program(&path, &build_id).sampled(1000).repeat(20, move |_, script| {
            let threads = [4000, 4001].into_iter();
            let worked = threads
                .fold(script, |script, thread| script.worker_at(thread, routine, 24.0).in_pool(thread, routine, 2));
            worked.compute(50.0).barrier(0.2)
        })
    });
    sampled_report(written(called(scenario, "renderer scene.in")).path())
}

#[test]
fn threads_that_share_the_core_to_which_they_are_bound_are_the_answer() {
    let report = bound_pool(1);
    let words = lbprof_report::findings::answer_in_words(&report);
    assert_eq!(report.findings[0].kind, "no cores", "{words}");
    let advice = report.findings[0].advice.as_ref().map(|advice| advice.label_and_text().1.to_owned());
    assert!(advice.is_some_and(|advice| advice.contains("Rank 0 has 2 threads and 1 core")), "{words}");
    assert_eq!(bound_pool(2).doubts.fewer_cores, None);
}

/// In 20 steps the thread that calls MPI prepares work for 40 ms, on its core or `asleep`, and waits for 10 ms until two threads, which sleep else, have done it.
fn starved_pool(asleep: bool) -> Report {
    let program = Program::new(&["-g"]);
    let (path, build_id) = (program.path.to_str().unwrap().to_owned(), program.build_id.clone());
    let [routine, prepare] = ["force", "sort"].map(|function| program.begin(function));
    let scenario = Scenario::ranks(2).each(move |_, script| {
        let script = script.program(&path, &build_id).sampled(1000).usage(0.0, 0).repeat(20, move |_, script| {
            let prepared = if asleep { script.compute(40.0) } else { script.compute_at(prepare, 40.0) };
            let worked = [4000, 4001]
                .into_iter()
                .fold(prepared, |script, thread| script.worker_at(thread, routine, 10.0).in_pool(thread, routine, 2));
            worked.compute(10.0).barrier(0.2)
        });
        let asleep_ms = if asleep { 50.0 } else { 10.0 };
        script.usage(20.0 * (50.0 - asleep_ms), 1).off_core(&[(0.5, 20.0 * asleep_ms, CoreState::Asleep)], 0.0, 0)
    });
    sampled_report(written(called(scenario, "renderer scene.in")).path())
}

#[test]
fn threads_that_wait_for_the_one_that_prepares_their_work_are_the_answer() {
    for (asleep, meanwhile, place) in
        [(false, "works alone", Some("mostly in sort")), (true, "sleeps, or waits for I/O or for them", None)]
    {
        let report = starved_pool(asleep);
        let words = lbprof_report::findings::answer_in_words(&report);
        assert_eq!(report.findings[0].kind, "starved pool", "{words}");
        assert!(words.contains("4 threads of force compute 20 % of their time"), "{words}");
        assert!(words.contains(&format!("the thread of each rank that calls MPI {meanwhile}")), "{words}");
        let text = report.findings[0].place.as_ref().map(|place| place.text.as_str());
        assert!(
            text.unwrap_or_default().starts_with(place.unwrap_or_default()) && text.is_some() == place.is_some(),
            "{text:?}"
        );
    }
}

/// In 20 steps the thread that calls MPI sleeps for 50 ms until short threads have worked for `cpu_ms(rank)` in all, of which there are no samples.
fn short_threads(work: fn(u32) -> f64, cpu_ms: fn(u32) -> f64) -> Report {
    let program = Program::new(&["-g"]);
    let (path, build_id) = (program.path.to_str().unwrap().to_owned(), program.build_id.clone());
    let routine = program.begin("force");
    let scenario = Scenario::ranks(2).each(move |rank, script| {
        let script = script.program(&path, &build_id).sampled(1000);
        let script = script.short_threads(routine, 900, cpu_ms(rank)).repeat(20, move |_, script| {
            let own = work(rank);
            let script = script.compute_at(routine, 0.5).compute(own);
            script.barrier(0.2 + work(0) - own)
        });
        script.usage(10.0, 1).off_core(&[(0.5, 20.0 * work(rank), CoreState::Asleep)], 0.0, 0)
    });
    sampled_report(written(called(scenario, "renderer scene.in")).path())
}

#[test]
fn threads_too_short_for_samples_are_the_answer_by_their_cpu_time() {
    let report = short_threads(|_| 50.0, |rank| if rank == 0 { 950.0 } else { 600.0 });
    let words = lbprof_report::findings::answer_in_words(&report);
    assert_eq!(report.findings[0].kind, "thread pool", "{words}");
    assert!(words.contains("the threads of rank 0 work 1.2 times the average"), "{words}");
    assert!(!words.contains("slept or waited for I/O"), "{words}");
    let uneven =
        short_threads(|rank| if rank == 0 { 50.0 } else { 25.0 }, |rank| if rank == 0 { 950.0 } else { 450.0 });
    let words = lbprof_report::findings::answer_in_words(&uneven);
    assert_eq!((uneven.findings[0].kind, uneven.findings[0].ranks.as_slice()), ("asleep rank", &[0][..]), "{words}");
    assert!(words.contains("most of that waiting for other threads of the process"), "{words}");
    assert!(words.contains("the threads of rank 0 work 1.4 times the average"), "{words}");
}

fn few_iterations() -> Report {
    let scenario = ranks(4).each(|rank, script| {
        script.repeat(3, move |_, script| {
            let work = if rank == 1 { 900.0 } else { 500.0 };
            script.iteration("epoch", |script| script.compute(work).at("sum").allreduce(8, 901.0 - work))
        })
    });
    named(scenario, "train epochs=3")
}

fn without_cores() -> Report {
    let scenario = ranks(4).each(|rank, script| {
        let work = if rank == 0 { 100.0 } else { 60.0 };
        let script = script.sampled(1000).define(usage(0, 0, 0, 0)).define(usage(1000, 600, 400, 300));
        script.repeat(10, move |_, script| script.compute_in("work", work).at("sum").allreduce(8, 100.5 - work))
    });
    named(scenario, "solver box.in")
}

fn one_rank() -> Report {
    let scenario =
        ranks(1).each(|_, script| script.repeat(50, |_, script| script.compute(10.0).at("sum").allreduce(8, 0.01)));
    named(scenario, "solver box.in")
}

fn set_up() -> Report {
    let scenario = ranks(2).each(|rank, script| {
        let begin = scenario::header(0, 2).instants[0].ticks;
        let script =
            script.define(Definition::Lifetime(LifetimePoint::Started, begin - (500 + 400 * u64::from(rank)) * MS));
        script.repeat(20, |_, script| script.compute(10.0).at("sum").allreduce(8, 0.2))
    });
    named(scenario, "python3 solver.py")
}

fn steps_until_killed(rank: u32, script: RankScript) -> RankScript {
    let script = script.repeat(20, |_, script| script.compute(10.0).at("sum").allreduce(8, 0.2));
    match rank {
        2 => script.compute(8.0).kill(3),
        _ => script.compute(8.0).at("sum").kill_in(Operation::Allreduce, 3),
    }
}

fn incomplete() -> Report {
    named(ranks(4).each(steps_until_killed), "solver box.in")
}

fn still_running() -> Report {
    let scenario = ranks(4).each(|rank, script| {
        let script = script.repeat(20, |_, script| script.compute(10.0).at("sum").allreduce(8, 0.2));
        match rank {
            0 => script.compute(8.0).kill(3),
            3 => script.compute(4.0).at("receive").kill_in(Operation::Recv, 3),
            _ => script.compute(8.0).at("sum").kill_in(Operation::Allreduce, 3),
        }
    });
    named_at(scenario, "solver box.in", Some(2.3))
}

/// Defines the examples, in the order of the document, with a test of each.
macro_rules! examples {
    ($($name:literal, $finding:literal, $report:ident;)*) => {
        const EXAMPLES: &[Example] =
            &[$(Example { name: $name, finding: $finding, report: $report }),*];

        mod one_by_one {
            $(
                #[test]
                fn $report() {
                    super::check(&super::Example { name: $name, finding: $finding, report: super::$report });
                }
            )*
        }
    };
}

examples! {
    "balanced", "balanced", balanced_work;
    "static excess", "static excess", static_excess;
    "moving rank", "moving rank", moving_rank;
    "slow in turn", "slow in turn", slow_in_turn;
    "slow in parts", "slow in parts", slow_in_parts;
    "chains", "chains", chains;
    "serial code", "serial code", serial_code;
    "serial output", "serial code", serial_output;
    "work outside of the loop", "work outside of the loop", outside_work;
    "emptied ranks", "emptied ranks", emptied_ranks;
    "idle ranks", "idle ranks", idle_ranks;
    "file access", "file access", file_access;
    "late file progress", "late file progress", late_file_progress;
    "large messages", "large messages", large_messages;
    "small messages", "small messages", small_messages;
    "late progress", "late progress", late_progress;
    "rare delays", "rare delays", rare_delays;
    "busy target", "busy target", busy_target;
    "held lock", "held lock", held_lock;
    "master and workers", "master and workers", master_and_workers;
    "awaited master", "awaited master", awaited_master;
    "last task", "last task", last_task;
    "uneven groups", "uneven groups", uneven_groups;
    "thread pool", "thread pool", thread_pool;
    "few iterations", "static excess", few_iterations;
    "no cores", "no cores", without_cores;
    "one rank", "one rank", one_rank;
    "set-up", "set-up", set_up;
    "incomplete", "ended early", incomplete;
    "still running", "still running", still_running;
}

/// In each step ranks 0 to 2 access the memory of rank 3, and meet all others in a barrier. Rank 3 works three times as long, and answers only then.
fn slow_target() -> Report {
    let scenario = ranks(4).each(|rank, script| {
        let script = script.define(Definition::Object(MpiObject {
            kind: ObjectKind::Window,
            id: 0,
            comm: 0,
            name: String::new(),
        }));
        script.repeat(20, move |_, script| match rank {
            3 => script.compute(18.0).at("sum").barrier(0.3),
            _ => {
                let at_target = |record: &mut Record| (record.peer, record.tag) = (3, 0);
                let script = script.compute(6.0).at("receive").call(Operation::Win_lock, 0.05, at_target);
                script.at("halo").call(Operation::Win_unlock, 12.05, at_target).at("sum").barrier(0.2)
            }
        })
    });
    named(scenario, "table 4000")
}

#[test]
fn who_waits_for_a_slow_target_and_would_wait_for_it_in_a_barrier_anyway_waits_for_its_work() {
    let report = slow_target();
    assert_eq!(report.findings[0].kind, "static excess");
    let answer = AnswerText::new(&report);
    assert!(answer.sentence.contains("rank 3 has twice"), "{}", answer.sentence);
}

/// The head and the answer of a screen: what comes before the second empty line.
fn answer_of(screen: &str) -> String {
    let parts: Vec<&str> = screen.splitn(3, "\n\n").take(2).collect();
    in_block(&parts.join("\n\n"))
}

fn in_block(text: &str) -> String {
    text.lines().map(|line| format!("    {line}").trim_end().to_owned() + "\n").collect()
}

/// Returns the document with the screen of an example in its place.
fn with_screen(document: &str, name: &str, screen: &str) -> String {
    let begin = format!("<!-- screen: {name} -->\n");
    let from = document.find(&begin).unwrap_or_else(|| panic!("the document has no screen {name}")) + begin.len();
    let until = document[from..].find("<!-- end -->").expect("the end of the screen") + from;
    format!("{}\n{screen}\n{}", &document[..from], &document[until..])
}

/// Checks what the first screen of an example says, as text, JSON and Markdown.
fn check(example: &Example) {
    let report = (example.report)();
    let screen = first_screen(&report, COLUMNS);
    assert_eq!(report.findings[0].kind, example.finding, "{}: {screen}", example.name);
    let answer = AnswerText::new(&report);
    assert!(answer.sentence.ends_with('.') && !answer.sentence.contains(". "), "one sentence: {}", answer.sentence);
    let gain = answer.lines.iter().find(|line| line.label == "gain");
    if let Some((before, _)) = gain.and_then(|line| line.text.split_once(" → ")) {
        let from = before.rsplit(": ").next().unwrap_or_default();
        assert!(screen.lines().next().is_some_and(|head| head.contains(&format!(" · {from}"))), "{from}: {screen}");
    }
    let small = first_screen(&report, 80);
    assert!(small.lines().count() <= 24, "{} lines: {small}", small.lines().count());
    assert!(small.lines().all(|line| line.chars().count() <= 80), "{small}");
    let mut summary = Vec::new();
    json::write_pretty(&json::RunSummary::new(&report), &mut summary).expect("writing to memory");
    assert!(summary.len() <= json::MAX_BYTES, "{} bytes", summary.len());
    let summary: serde_json::Value = serde_json::from_slice(&summary).expect("JSON");
    assert_eq!(summary["answer"]["sentence"], answer.sentence);
    let lines = text::render_markdown(&report).lines().count();
    assert!(lines <= 35, "{}: {lines} lines of Markdown", example.name);
    for odd in ["0 (0.0 %)", "As it is", "ideal network", "save nothing", "(−-", "lost: …"] {
        assert!(!screen.contains(odd), "{odd}: {screen}");
    }
    let document = std::fs::read_to_string(DOCUMENT).expect("the document can be read");
    if std::env::var_os("UPDATE_DOCS").is_none() {
        compare_lines(&document, &with_screen(&document, example.name, &answer_of(&screen)));
    }
}

#[test]
fn the_document_has_the_screens_of_all_situations() {
    let path = Path::new(DOCUMENT);
    let document = std::fs::read_to_string(path).expect("the document can be read");
    let mut updated = document.clone();
    for example in EXAMPLES {
        let screen = first_screen(&(example.report)(), COLUMNS);
        updated = with_screen(&updated, example.name, &answer_of(&screen));
    }
    let whole = first_screen(&named(one_slow(|_| 2), "solver box.in"), COLUMNS);
    updated = with_screen(&updated, "whole", &in_block(&whole));
    updated =
        with_screen(&updated, "markdown", &in_block(&text::render_markdown(&named(one_slow(|_| 2), "solver box.in"))));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &updated).expect("the document is written");
    } else {
        compare_lines(&document, &updated);
    }
}

fn compare_lines(old: &str, new: &str) {
    for (number, (old, new)) in old.lines().zip(new.lines()).enumerate() {
        assert_eq!(old, new, "line {} of docs/reading-a-report.md; UPDATE_DOCS=1 writes it anew", number + 1);
    }
    assert_eq!(old.lines().count(), new.lines().count(), "docs/reading-a-report.md; UPDATE_DOCS=1 writes it anew");
}

#[test]
fn an_idle_master_is_one_finding_whatever_its_workers_compute() {
    let report = master_and_workers();
    let master = report.idle_master.as_ref().expect("a master");
    assert_eq!((master.rank, master.workers.as_slice()), (0, &[1, 2, 3][..]));
    let of_master = report.findings.iter().filter(|one| one.kind == "master and workers");
    assert_eq!(of_master.count(), 1);
    let of_slow_rank = report.findings.iter().filter(|one| one.subject == FindingSubject::SlowRank);
    assert!(of_slow_rank.map(|one| one.seconds).sum::<f64>() < 0.01 * report.verdict.elapsed_s);
}

#[test]
fn efficiencies_are_those_of_the_ranks_that_the_answer_judges() {
    let report = last_task();
    let cluster = report.verdict.cluster.as_ref().expect("the workers are judged");
    assert_eq!(cluster.ranks, [1, 2, 3]);
    let (workers, all) = (report.verdict.efficiency.parallel.unwrap(), report.efficiency.parallel.unwrap());
    assert!(workers > all + 0.1, "{workers} and {all}");
    assert!((1.0 - workers - report.verdict.lost_share.unwrap()).abs() < 0.01, "the answer's share is what they lose");
    let screen = first_screen(&report, COLUMNS);
    assert!(screen.contains("the ranks that are judged: 1-3"), "{screen}");
    for share in [workers, all] {
        assert!(screen.contains(&format!("{:.1} %", 100.0 * share)), "{screen}");
    }
}

#[test]
fn calls_of_the_master_are_not_those_of_its_workers() {
    // Rank 0 asks for any message before it receives one, which takes longer than all that the workers do in MPI.
    const TASKS: u32 = 20;
    let scenario = ranks(4).each(|rank, script| match rank {
        0 => script.repeat(TASKS, |_, script| {
            (1..4).fold(script, |script, worker| {
                let probed = script.at("halo").call(Operation::Probe, 3.0, |record| record.peer = worker);
                probed.at("receive").recv(worker, 0, 8, 0.2).at("send").send(worker, 1, 800, 0.1)
            })
        }),
        _ => script.repeat(TASKS, |_, script| {
            script.compute(8.0).at("write").send(0, 0, 8, 0.1).at("end").recv(0, 1, 800, 1.8)
        }),
    });
    let report = named(scenario, "farm tasks.txt");
    let cluster = report.verdict.cluster.as_ref().expect("the workers are judged");
    assert_eq!(cluster.ranks, [1, 2, 3]);
    let loss = report.loss_facts.communication.as_ref().expect("workers wait");
    let at = loss.at.as_ref().expect("a call");
    let row = report.call_sites.iter().find(|row| row.operation == at.operation && row.place == at.place).unwrap();
    assert_eq!(row.callers.iter().map(|&(rank, _)| rank).collect::<Vec<_>>(), [1, 2, 3], "{at:?}");
}

#[test]
fn a_rank_that_hands_out_nothing_is_no_master() {
    let report = one_that_collects();
    assert_eq!(report.idle_master, None);
    assert_ne!(report.findings[0].kind, "master and workers");
}
