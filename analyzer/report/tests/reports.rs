//! Snapshots of whole reports, text and JSON.

use std::fs;

use lbprof_analysis::analyse::{AnalysisOptions, analyse_run};
use lbprof_analysis::read::open::RecordedRun;
use lbprof_analysis::select::Selection;
use lbprof_collector::definition::{LifetimePoint, RegionKind};
use lbprof_collector::format::{RecordingMode, log_name};
use lbprof_collector::parallel::{MemberSums, MutexSums, ParallelSums, TeamTime};
use lbprof_collector::{CoreState, Definition, Operation, ProblemKind};
use lbprof_report::json::report_document;
use lbprof_report::rows::bounds::ListBounds;
use lbprof_report::text;
use lbprof_simulator::scenario::{self, RankScript, Scenario};
use lbprof_test_runs::md::{Program, run_on};
use lbprof_test_runs::{
    coloured_first_screen, first_screen, found_model, json, marked, model_in, part_in, plain, report, report_on,
    sampled_report, usage, written,
};

/// Rank 3 works 40 ms a step, the others 10 ms; a barrier ends each of 5 steps; then sums are exchanged.
fn one_slow_rank() -> Scenario {
    Scenario::ranks(4).each(|rank, script| {
        let work = if rank == 3 { 40.0 } else { 10.0 };
        let wait = 41.0 - work;
        script
            .param("size", 512.0)
            .compute(3)
            .repeat(5, move |_, script| {
                script.iteration("step", move |script| {
                    let force = |script: lbprof_simulator::scenario::RankScript| {
                        script.compute(work).work(1e6, 1e3).count("atoms", 100.0 * f64::from(rank)).memory(1 << 30, 0)
                    };
                    script.region("force", force).at("end of step").barrier(wait)
                })
            })
            .allreduce(800, 2.0)
    })
}

#[test]
fn one_slow_rank_is_named() {
    let report = report(one_slow_rank());
    insta::assert_snapshot!("one_slow_rank_100", plain(&report, 100));
    insta::assert_snapshot!("one_slow_rank_80", plain(&report, 80));
    insta::assert_snapshot!("one_slow_rank_json", json(&report));
}

#[test]
fn the_first_screen_is_the_answer() {
    let report = report(one_slow_rank());
    insta::assert_snapshot!("first_screen_80", first_screen(&report, 80));
    insta::assert_snapshot!("first_screen_120", first_screen(&report, 120));
    insta::assert_snapshot!("first_screen_coloured", coloured_first_screen(&report, 100).replace('\u{1b}', "<ESC>"));
    assert!(first_screen(&report, 80).lines().count() <= 24, "it fits on a screen");
}

#[test]
fn tables_that_need_knowledge_of_their_methods_are_not_for_all() {
    let report = report(one_slow_rank());
    let options = text::TextOptions { all_tables: false, ..lbprof_test_runs::text_options(100) };
    let tables = anstream::adapter::strip_str(&text::render_text(&report, &options)).to_string();
    for title in ["Critical path", "Where ranks wait", "Activities", "Call sites"] {
        assert!(!tables.contains(title) && plain(&report, 100).contains(title), "{title}");
    }
    for title in ["What if", "Ranks", "Regions"] {
        assert!(tables.contains(&format!("\n{title}")), "{title}: {tables}");
    }
    assert!(tables.lines().count() <= 60, "{} lines", tables.lines().count());
}

#[test]
fn of_a_run_that_loses_data_the_first_screen_says_what_is_left() {
    insta::assert_snapshot!("first_screen_incomplete", first_screen(&report_on(&model_in(damaged().path())), 100));
}

#[test]
fn a_balanced_run_is_reported_so() {
    let scenario =
        Scenario::ranks(2).each(|_, script| script.repeat(9, |_, script| script.compute(100).allreduce(8, 1.0)));
    let report = report(scenario);
    insta::assert_snapshot!("balanced_first_screen", first_screen(&report, 100));
    insta::assert_snapshot!(plain(&report, 100));
}

#[test]
fn communication_is_reported_where_it_is_the_larger_loss() {
    let scenario = Scenario::ranks(4).each(|rank, script| {
        script.repeat(10, move |_, script| {
            script.compute(10.0 + 0.1 * f64::from(rank)).at("exchange").allreduce(1 << 20, 15.0)
        })
    });
    insta::assert_snapshot!(plain(&report(scenario), 100));
}

#[test]
fn ranks_that_are_slow_in_turn_are_reported() {
    let scenario = Scenario::ranks(4).each(|rank, script| {
        script.repeat(8, move |step, script| {
            let work = if step % 4 == rank { 30.0 } else { 10.0 };
            script.iteration("step", move |script| script.compute(work).barrier(31.0 - work))
        })
    });
    insta::assert_snapshot!(plain(&report(scenario), 100));
}

#[test]
fn of_many_ranks_the_slowest_and_the_fastest_are_shown() {
    let scenario = Scenario::ranks(40)
        .hosts(|rank| format!("node{}", rank / 8))
        .each(|rank, script| script.compute(100 + rank % 17).send(0, 3, 4096, 0.5).barrier(17 - rank % 17));
    insta::assert_snapshot!(plain(&report(scenario), 100));
}

#[test]
fn no_line_of_a_first_screen_is_longer_than_the_terminal_or_ends_in_spaces() {
    let phase = "advance particles and fields of all species by a half step";
    let scenario = Scenario::ranks(4).each(|rank, script| {
        let (own, waits) = if rank == 3 { (200, 1) } else { (50, 151) };
        script.region(phase, |script| script.compute(own)).barrier(waits)
    });
    let screen = first_screen(&report(scenario), 80);
    assert!(screen.contains("Next  "), "{screen}");
    assert!(screen.lines().all(|line| line.chars().count() <= 80 && line.trim_end() == line), "{screen}");
}

/// A run that lost what a run can lose: a rank's log is missing, one was killed, one cut short, one is of another run, records
/// were dropped; and regions of all kinds.
fn damaged() -> tempfile::TempDir {
    let dir = written(
        Scenario::ranks(6)
            .each(|rank, script| {
                script
                    .define(usage(0, 0, 0, 0))
                    .define(usage(150, 100, 50, 20))
                    .region_of("partition", RegionKind::Control, |script| script.compute(2))
                    .region_of("read input", RegionKind::Serial, |script| script.compute(1))
                    .batch(10)
                    .repeat(30, move |_, script| script.compute(3 + rank).send(0, 0, 64, 0.5))
            })
            .rank(1, |script| script.kill(5))
            .rank(2, |script| script.drop_records(12).problem(ProblemKind::PhaseMismatch, 3))
            .rank(3, |script| script.abort(77))
            .missing(4)
            .header(5, |header| header.run_id += 1),
    );
    let path = dir.path().join(log_name(0));
    let log = fs::read(&path).unwrap();
    fs::write(&path, &log[..log.len() - 40]).unwrap();
    dir
}

#[test]
fn incomplete_data_are_reported_first() {
    let report = report_on(&model_in(damaged().path()));
    assert!(!report.data.complete);
    insta::assert_snapshot!("incomplete_100", plain(&report, 100));
    insta::assert_snapshot!("incomplete_json", json(&report));
}

#[test]
fn a_run_after_its_limit_is_part_events_part_profile() {
    // Ranks of one run in either mode stand for one rank that changes its mode; the figures are the same by construction.
    let scenario = Scenario::ranks(2).header(1, |header| header.mode = RecordingMode::Profile).each(|_, script| {
        script.problem(ProblemKind::LimitReached, 1).repeat(4, |_, script| script.compute(5).barrier(1.0))
    });
    let report = report(scenario);
    insta::assert_snapshot!(plain(&report, 100));
    let note = report_document(&report, &ListBounds::SMALL)["prediction_notes"][0].to_string();
    assert!(note.contains("recorded as sums"), "{note}");
}

#[test]
fn a_report_of_a_region_predicts_the_whole_run() {
    let run = written(steps_that_change());
    let whole = report_document(&report_on(&model_in(run.path())), &ListBounds::SMALL);
    let region = whole["regions"][1]["path"].as_str().unwrap().to_owned();
    let selection = Selection { region: Some(region.clone()), ..Selection::default() };
    let document = report_document(&report_on(&part_in(run.path(), &selection)), &ListBounds::SMALL);
    let predicted = |document: &serde_json::Value, scenario: &str| {
        let rows = document["predictions"].as_array().unwrap().iter();
        rows.filter(|row| row["scenario"] == scenario && (row["region"].is_null() || row["region"] == *region))
            .map(|row| row["time_s"].as_f64().unwrap())
            .next()
    };
    for scenario in ["as measured", "region balanced"] {
        let time_s = predicted(&document, scenario);
        assert!(time_s.is_some() && time_s == predicted(&whole, scenario), "{scenario}: {time_s:?} {document:#}");
    }
    // Twice as fast, nothing of the region's computation on the slowest rank may be left but half.
    let saved_s = predicted(&document, "as measured").unwrap() - predicted(&document, "region faster").unwrap();
    assert!(saved_s > 0.0, "{document:#}");
    assert!(document["efficiency"]["t_ideal_replay_s"].is_null(), "an ideal time of the run is none of the region");
}

#[test]
fn no_line_is_longer_than_asked() {
    let long = "a-region-with-a-very-long-name-that-nobody-would-want-to-type/".repeat(4);
    let scenario =
        Scenario::ranks(3).hosts(|_| "a-host.with-a-long-name.example.com".repeat(2)).each(|rank, script| {
            script
                .region(&long, |script| script.compute(1000.0 * f64::from(rank + 1)))
                .send(0, 0, 1 << 40, 1.0)
                .barrier(1.0)
                .allreduce(8, 1.0)
                .call(Operation::File_write, 5.0, |_| ())
                .call(Operation::Put, 5.0, |_| ())
                .flush(3)
        });
    let report = report(scenario);
    for columns in [80, 100] {
        for line in plain(&report, columns).lines() {
            assert!(lbprof_report::rows::words::text_width(line) <= columns, "{columns}: {line}");
        }
    }
}

/// 200 steps on 3 ranks. The first two take 30 ms longer, every 10th 12 ms; at the start of each rank 0 works alone for 1 ms; rank 1
/// has 1 ms more than the others at first and 9 ms more at last.
fn steps_that_change() -> Scenario {
    Scenario::ranks(3).each(|rank, script| {
        script.repeat(200, move |step, script| {
            let more = if rank == 1 { 1.0 + f64::from(step) / 25.0 } else { 0.0 };
            let often = if step % 10 == 9 { 12.0 } else { 0.0 };
            let first = if step < 2 { 30.0 } else { 0.0 };
            script.iteration("step", move |script| {
                let script = match rank {
                    0 => script.region_of("read", RegionKind::Serial, |script| script.compute(1.0)).barrier(0.1),
                    _ => script.barrier(1.1),
                };
                script.compute(10.0 + first + often + more).allreduce(8, 10.0 - more)
            })
        })
    })
}

#[test]
fn what_changes_over_the_run_and_what_it_costs_is_reported() {
    let report = report(steps_that_change());
    insta::assert_snapshot!("steps_that_change_100", plain(&report, 100));
    insta::assert_snapshot!("steps_that_change_60", plain(&report, 60));
}

/// Two programs, whose ranks compute `serial` and spend 20 ms in a parallel region of two threads; the second thread works four times as long as the first, and waits for a critical section. The
/// processes began 30 ms before MPI_Init.
fn ranks_with_teams(serial: impl Fn(RankScript) -> RankScript) -> Scenario {
    const MS: u64 = 1_000_000;
    let scenario = Scenario::ranks(2).each(|_, script| {
        let script = serial(script).through(&["solve"]).at("meet").allreduce(8, 1);
        let script = script.compute(1).through(&["output"]).at("meet").allreduce(8, 1);
        let member = |useful, longest| MemberSums { useful, longest, ..MemberSums::default() };
        script
            .define(Definition::ParallelSums(ParallelSums {
                thread: 0,
                call_site: 1,
                team: 2,
                instances: 10,
                elapsed: 20 * MS,
                time: TeamTime { useful: 25 * MS, imbalance: 12 * MS, mutex: 3 * MS, ..TeamTime::default() },
                longest: 20 * MS,
                members: vec![member(5 * MS, 0), member(20 * MS, 10)],
                ..ParallelSums::default()
            }))
            .define(Definition::MutexSums(MutexSums {
                region: 1,
                name: "table".to_owned(),
                call_site: 1,
                waits: 10,
                ticks: 3 * MS,
                team: 2,
                ..MutexSums::default()
            }))
            .define(Definition::Lifetime(LifetimePoint::Started, scenario::header(0, 2).instants[0].ticks - 30 * MS))
    });
    scenario.header(0, |header| header.command = vec!["./atmosphere".to_owned()])
}

#[test]
fn every_key_of_the_json_is_in_the_schema_and_every_key_of_the_schema_exists() {
    let mut produced = std::collections::BTreeSet::new();
    let hung = Scenario::ranks(1).rank(0, |script| {
        let script = script.compute(1.0).through(&["solve"]).at("recv").recv(0, 1, 8, 1);
        script.compute(1.0).through(&["output"]).at("recv").kill_in(Operation::Recv, 1)
    });
    let part = Selection { ranks: Some("0".parse().unwrap()), ..Selection::default() };
    let part = report_on(&part_in(written(one_slow_rank()).path(), &part));
    let damaged = report_on(&model_in(damaged().path()));
    // A function that is called from two places.
    let found = report_on(&found_model(Scenario::ranks(2).each(|rank, script| {
        script.repeat(5, move |_, script| {
            let script = script.compute(1).through(&["solve"]).at("meet").allreduce(8, 1);
            script.compute(1 + rank).through(&["output"]).at("meet").allreduce(8, 2 - rank)
        })
    })));
    // Rank 0 is of no cluster, for it runs other code than the others.
    let server = Scenario::ranks(4).each(|rank, script| {
        let name = if rank == 0 { "serve" } else { "work" };
        script.region(name, |script| script.compute(10).barrier(1.0))
    });
    let message = report(Scenario::ranks(2).each(|rank, script| match rank {
        0 => script.compute(1).send(1, 0, 8, 1),
        _ => script.compute(1).recv(0, 0, 8, 1),
    }));
    let of_marked = [report(one_slow_rank()), report(hung), report(steps_that_change()), report(server), message];
    let program = Program::new(&["-g"]);
    let sampled = sampled_report(written(run_on(&program, 500, true)).path());
    let sums = sampled_report(written(run_on(&program, 500, false).profile_mode()).path());
    let force = program.begin("force");
    let (path, build_id) = (program.path.to_str().unwrap().to_owned(), program.build_id.clone());
    let threads = sampled_report(
        written(Scenario::ranks(2).each(move |_, script| {
            let script = script.program(&path, &build_id).sampled(1000);
            script.worker_at(4000, force, 20.0).in_pool(4000, force, 1).compute_at(force, 20.0).barrier(1.0)
        }))
        .path(),
    );
    let dir = written(one_slow_rank());
    let run = RecordedRun::open(Some(dir.path())).unwrap().first_look();
    let first_look = report_on(
        &analyse_run(
            &run,
            &Selection::default(),
            &AnalysisOptions { asked: None, statistics: false, ..marked() },
            |_| (),
        )
        .unwrap()
        .model,
    );
    let (path, build_id) = (program.path.to_str().unwrap(), &program.build_id);
    let teams = ranks_with_teams(|script| script.program(path, build_id).sampled(1000).compute_at(force, 20.0));
    let teams = sampled_report(written(teams).path());
    let in_kernel = sampled_report(
        written(Scenario::ranks(2).each(|rank, script| {
            let script = script.program(path, build_id).sampled(1000).usage(0.0, 0).compute_at(force, 10.0);
            let script = script.compute(f64::from(rank) * 20.0).barrier(1.0);
            script.off_core(&[], f64::from(rank) * 20.0, 10).usage(10.0, 0)
        }))
        .path(),
    );
    // Each rank is slow in another part of a step.
    let in_parts = sampled_report(
        written(Scenario::ranks(2).each(|rank, script| {
            script
                .program(path, build_id)
                .sampled(1000)
                .repeat(20, |_, script| {
                    script.iteration("step", |script| {
                        let (forces, lists) = if rank == 0 { (16.0, 8.0) } else { (8.0, 16.0) };
                        let script = script.region("forces", |script| script.compute_at(force, forces));
                        let script = script.barrier(16.1 - forces);
                        script.region("lists", |script| script.compute_at(force, lists)).barrier(16.1 - lists)
                    })
                })
                .off_core(&[(1.0, 2.0 + f64::from(rank), CoreState::NoCore)], 0.0, 0)
        }))
        .path(),
    );
    let selection = Selection { region: Some("main/step/force".to_owned()), ..Selection::default() };
    let region = report_on(&part_in(dir.path(), &selection));
    let others = [region, found, damaged, part, sampled, sums, threads, first_look, teams, in_kernel, in_parts];
    for report in of_marked.into_iter().chain(others) {
        keys(&serde_json::from_str(&json(&report)).unwrap(), String::new(), &mut produced);
        // With what else there is of more ranks.
        keys(&report_document(&report, &ListBounds { entries: 1, ..ListBounds::SMALL }), String::new(), &mut produced);
    }
    // Names of figures, which differ by kind of finding.
    produced.retain(|key| !key.contains(".evidence."));
    produced.insert("findings[].evidence.*".to_owned());
    let schema: serde_json::Value = serde_json::from_str(include_str!("../../../docs/report.schema.json")).unwrap();
    let mut published = std::collections::BTreeSet::new();
    keys_of_schema(&schema, &schema, "", &mut published);
    assert_eq!(produced.difference(&published).collect::<Vec<_>>(), Vec::<&String>::new(), "not in the schema");
    // No simulated program calls a library, or has functions that MPI calls: tests/statements/functions.rs runs some that do. Nobody calls a pool's routine.
    // A rank of no cluster iterates alone, code of one cluster is reached in one way, and its ranks differ no more in the first iterations.
    let is_real = |key: &&String| {
        let parts = [
            ".libraries[].",
            ".called_by_mpi[].",
            ".routine.callers[].",
            ".own_code[].callers[].",
            ".of_no_cluster[].iterations.",
            ".trends.imbalance.warm_up.",
        ];
        parts.iter().any(|part| key.contains(part))
    };
    let missing = published.difference(&produced).filter(|key| !is_real(key));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&String>::new(), "in the schema, not produced");
}

/// Paths of all keys that a schema names, like those of [`keys`].
fn keys_of_schema(
    schema: &serde_json::Value,
    of: &serde_json::Value,
    path: &str,
    into: &mut std::collections::BTreeSet<String>,
) {
    if let Some(name) = of["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        keys_of_schema(schema, &schema["$defs"][name], path, into);
    }
    for (key, property) in of["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        keys_of_schema(schema, property, &path, into);
        into.insert(path);
    }
    of["anyOf"].as_array().into_iter().flatten().for_each(|one| keys_of_schema(schema, one, path, into));
    if of["items"].is_object() {
        keys_of_schema(schema, &of["items"], &format!("{path}[]"), into);
    }
    if of["additionalProperties"].is_object() {
        keys_of_schema(schema, &of["additionalProperties"], &format!("{path}.*"), into);
        into.insert(format!("{path}.*"));
    }
}

/// Paths of all keys: `run.ranks`, `ranks[].host`; the names of activities and parameters are `*`.
fn keys(value: &serde_json::Value, path: String, into: &mut std::collections::BTreeSet<String>) {
    match value {
        serde_json::Value::Object(map) => {
            for (key, value) in map {
                let is_map = path.ends_with("activities")
                    || path.ends_with("].core_states")
                    || ["run.params", "iterations.states"].contains(&path.as_str());
                let key = if is_map { "*" } else { key };
                let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                into.insert(path.clone());
                keys(value, path, into);
            }
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| keys(value, format!("{path}[]"), into)),
        _ => {}
    }
}
