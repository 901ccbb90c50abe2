//! Dispersion, patterns and clusters of whole runs, as the report shows them.

use lbprof_analysis::model::Model;
use lbprof_collector::{Activity, Operation};
use lbprof_report::rows::bounds::ListBounds;
use lbprof_report::rows::words::text_width;
use lbprof_report::{Report, json, text};
use lbprof_simulator::scenario::{RankScript, Scenario};
use lbprof_test_runs::{found_model, model, plain, report, report_on};
use serde_json::Value;

fn document(report: &Report) -> Value {
    json::report_document(report, &ListBounds::SMALL)
}

fn sections(text: &str, titles: &[&str]) -> String {
    let is_wanted = |section: &&str| titles.iter().any(|title| section.starts_with(title));
    text.split("\n\n").filter(is_wanted).collect::<Vec<_>>().join("\n\n")
}

fn table(report: &Report, name: &str, columns: usize) -> String {
    let options = lbprof_test_runs::text_options(columns);
    let table =
        lbprof_report::text::any_table::list_as_table(report, name, &options, false).expect("there is such a list");
    anstream::adapter::strip_str(&table).to_string()
}

/// Regions of a program whose ranks differ in one of them: rank 3 builds its lists four times as long as the others.
fn one_slow_region(n: u32) -> Scenario {
    Scenario::ranks(n).each(|rank, script| {
        script.repeat(5, move |_, script| {
            let work = if rank == 3 { 40.0 } else { 10.0 + 0.1 * f64::from(rank % 8) };
            script
                .region("lists", move |script| script.compute(work).barrier(41.0 - work))
                .region("force", |script| script.compute(60))
                .region("exchange", move |script| {
                    script.compute(5).send(((rank + 1) % n) as i32, 0, 800, 20.0).allreduce(8, 1.0)
                })
                .region("output", |script| script.compute(2))
        })
    })
}

#[test]
fn the_region_and_the_rank_that_differ_are_named() {
    let report = report(one_slow_region(6));
    insta::assert_snapshot!("one_slow_region_100", table(&report, "dispersion.patterns", 100));
    let narrow = table(&report, "regions", 60);
    assert!(narrow.lines().all(|line| text_width(line) <= 60), "{narrow}");
    insta::assert_snapshot!("one_slow_region_60", narrow);
}

#[test]
fn a_table_of_another_name_is_none_and_those_of_the_report_are_listed() {
    let report = report(one_slow_region(2));
    let options = lbprof_test_runs::text_options(80);
    let error =
        lbprof_report::text::any_table::list_as_table(&report, "patterns", &options, false).unwrap_err().to_string();
    assert!(error.starts_with("there is no table patterns in this report, but ") && error.contains("ranks"), "{error}");
    let markdown = lbprof_report::text::any_table::list_as_table(&report, "activities", &options, true).unwrap();
    assert!(markdown.starts_with("| name | ") && markdown.contains("\n| computation | "), "{markdown}");
}

#[test]
fn the_json_has_the_same_indices() {
    let report = report(one_slow_region(4));
    let found = document(&report);
    // Barrier: 1.0 s, three ranks about 31 s; SID is ID times the share that is printed.
    for activity in found["activities"].as_array().unwrap() {
        let value = |key: &str| activity[key].as_f64();
        if let (Some(id), Some(sid)) = (value("id_a"), value("sid_a")) {
            assert!((id * value("share").unwrap() - sid).abs() < 1e-12, "{activity}");
        }
    }
    for region in found["regions"].as_array().unwrap() {
        let value = |key: &str| region[key].as_f64();
        if let (Some(id), Some(sid)) = (value("id_c"), value("sid_c")) {
            assert!((id * value("share").unwrap() - sid).abs() < 1e-12, "{region}");
        }
    }
    let lists = found["regions"].as_array().unwrap().iter().find(|region| region["path"] == "main/lists").unwrap();
    assert_eq!((&lists["most_imbalanced"]["rank"], &lists["severe"]), (&Value::from(3), &Value::from(true)));
    assert_eq!(found["dispersion"]["longest_imbalanced_rank"], 3);
    let pattern = |found: &Value| {
        let patterns = found["dispersion"]["patterns"].as_array().unwrap();
        let is_lists = |one: &&Value| one["activity"] == "computation" && one["region"] == "main/lists";
        patterns.iter().find(is_lists).unwrap()["ranks"].clone()
    };
    // 10.0, 10.1, 10.2 and 40.0 ms.
    assert_eq!(pattern(&found), "mllM");
}

/// Rank 0 hands out 60 pieces of work, the others do them; all in one function.
fn master_and_workers() -> Scenario {
    Scenario::ranks(4).each(|rank, script| {
        let script = script.at("input").bcast_all();
        match rank {
            0 => script.repeat(60, |piece, script| {
                let worker = 1 + (piece % 3) as i32;
                script.at("result").recv(worker, 0, 80, 9.5).at("order").send(worker, 0, 80, 0.5)
            }),
            _ => script.repeat(20, |_, script| {
                script.compute(27).at("done").send(0, 0, 80, 1.0).at("next").recv(0, 0, 80, 2.0)
            }),
        }
    })
}

trait BcastAll {
    fn bcast_all(self) -> Self;
}

impl BcastAll for RankScript {
    fn bcast_all(self) -> Self {
        self.call(lbprof_collector::Operation::Bcast, 1.0, |_| ())
    }
}

#[test]
fn a_master_is_distinguished_from_its_workers() {
    let report = report(master_and_workers());
    let found = document(&report);
    assert_eq!(found["clustering"]["different_code"], true);
    assert_eq!(found["clusters"][0]["ranks"], serde_json::json!([1, 2, 3]));
    assert_eq!(found["clustering"]["of_no_cluster"][0]["ranks"][0], 0);
    assert_eq!((&found["ranks"][0]["cluster"], &found["ranks"][1]["cluster"]), (&Value::Null, &Value::from(1)));
    insta::assert_snapshot!(sections(&plain(&report, 100), &["Clusters"]));
}

#[test]
fn marked_programs_are_distinguished_by_their_regions() {
    let scenario = Scenario::ranks(6).each(|rank, script| {
        script.repeat(10, move |_, script| {
            let name = if rank < 2 { "ocean" } else { "air" };
            script.region(name, |script| script.compute(20).at("step").barrier(1.0))
        })
    });
    let found = document(&report(scenario));
    assert_eq!(found["clusters"][0]["ranks"], serde_json::json!([0, 1]));
    assert_eq!(found["clusters"][1]["ranks"], serde_json::json!([2, 3, 4, 5]));
}

/// Ranks 0 and 1 compute 20 ms, the others 5 ms, rank 5 10 ms, in each of 10 steps. `same`: all go through the same ones.
fn two_codes(same: bool) -> Report {
    report(Scenario::ranks(6).each(move |rank, script| {
        let (name, ms, longest) = match rank {
            0 | 1 => ("ocean", 20.0, 20.0),
            5 => ("air", 10.0, if same { 20.0 } else { 10.0 }),
            _ => ("air", 5.0, if same { 20.0 } else { 10.0 }),
        };
        let script =
            script.communicator(u64::from(rank / 2).min(1) + 10, if rank < 2 { &[0, 1] } else { &[2, 3, 4, 5] });
        script.repeat(10, move |_, script| {
            let step = |script: RankScript| {
                let end = script.compute(ms).at("end");
                end.call(Operation::Barrier, longest + 0.5 - ms, |record| record.comm = if same { 0 } else { 2 })
            };
            script.iteration(if same { "step" } else { name }, |script| script.region(name, step))
        })
    }))
}

#[test]
fn of_codes_that_share_no_work_the_verdict_is_on_the_one_that_loses_most() {
    let report = two_codes(false);
    let found = document(&report);
    assert_eq!(
        (&found["clustering"]["iterate_together"], &found["verdict"]["cluster"]["id"]),
        (&Value::from(false), &Value::from(2))
    );
    // Of 105 ms the four ranks of air compute 62.5 ms on average, 100 ms at most, and in each step one of them does.
    let verdict = |name: &str| (found["verdict"][name].as_f64().unwrap() * 1e6).round() / 1e3;
    assert_eq!((verdict("lost_s"), verdict("imbalance_s"), verdict("serialization_s")), (42.5, 37.5, 0.0));
    assert_eq!(
        (found["verdict"]["worst"]["rank"].as_u64(), &found["clusters"][1]["iterations"]["count"]),
        (Some(5), &Value::from(10))
    );
    insta::assert_snapshot!(plain(&report, 80).split("\nEfficiency  of").next().unwrap());
}

#[test]
fn codes_that_go_through_the_same_iterations_are_balanced_against_each_other() {
    let report = two_codes(true);
    let found = document(&report);
    assert_eq!(
        (&found["clustering"]["different_code"], &found["clustering"]["iterate_together"]),
        (&Value::from(true), &Value::from(true))
    );
    assert_eq!((&found["verdict"]["cluster"], found["verdict"]["worst"]["rank"].as_u64()), (&Value::Null, Some(0)));
    insta::assert_snapshot!(sections(&plain(&report, 100), &["Clusters"]));
}

#[test]
fn a_slow_rank_is_no_other_program() {
    let found = document(&report(one_slow_region(6)));
    assert_eq!(found["clustering"]["different_code"], false);
    assert_eq!(found["clusters"].as_array().unwrap().len(), 1);
    assert_eq!(found["clusters"][0]["own_code"], serde_json::json!([]));
}

#[test]
fn loops_and_regions_that_were_found_are_no_code_of_their_own() {
    // A chain: each rank receives from the one before it and sends to the next; the last is slow. The code between calls and the
    // ends of iterations are other ones on the first and the last rank.
    let chain = Scenario::ranks(4).each(|rank, script| {
        script.repeat(30, move |_, script| {
            let own = rank as i32;
            let script = if rank > 0 { script.at("from left").recv(own - 1, 0, 80, 1.0) } else { script };
            let script = script.compute(if rank == 3 { 40 } else { 10 });
            if rank < 3 { script.at("to right").send(own + 1, 0, 80, 31.0) } else { script }
        })
    });
    let model = found_model(chain);
    assert!(model.regions.iter().any(|region| region.found), "{:?}", model.regions);
    assert_eq!(document(&report_on(&model))["clustering"]["different_code"], false);
    let model = found_model(master_and_workers());
    assert!(model.regions.iter().any(|region| region.found), "{:?}", model.regions);
    assert_eq!(document(&report_on(&model))["clusters"][0]["ranks"], serde_json::json!([1, 2, 3]));
}

#[test]
fn hostile_models_have_a_report() {
    for model in
        [Model::default(), model(Scenario::ranks(3)), model(Scenario::ranks(1).each(|_, script| script.compute(1)))]
    {
        let report = report_on(&model);
        let options = text::TextOptions { top: 1, full: true, ..lbprof_test_runs::text_options(60) };
        assert!(text::render_text(&report, &options).contains("Data:"));
        assert!(document(&report)["dispersion"].is_object());
        assert!(report.dispersion.views.activities[Activity::Recorder as usize].is_none());
    }
}
