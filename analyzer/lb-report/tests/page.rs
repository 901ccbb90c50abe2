//! The page of `--html`: what is in the file, and that it agrees with the report.

use std::io::Read;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use half::f16;
use lbprof_simulator::scenario::Scenario;
use lbprof_test_runs::written;
use serde_json::Value;

use crate::program::{lb_report, stdout_of};

/// What lb-report says of the run in the folder, which goes well.
fn said(dir: &Path, arguments: &[&str]) -> String {
    stdout_of(dir, &[&["."], arguments].concat(), 0)
}

fn page_in(dir: &Path, arguments: &[&str]) -> String {
    let file = dir.join("page.html");
    let all = [&[".", "--quiet", "--html", "page.html"], arguments].concat();
    lb_report(dir, &all).assert().code(0).stdout("").stderr("");
    std::fs::read_to_string(file).unwrap()
}

fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(begin).unwrap_or_else(|| panic!("no {begin}"));
    assert!(!rest.contains(begin), "{begin} twice");
    rest.split_once(end).unwrap().0
}

fn data(page: &str, name: &str) -> Value {
    let begin = format!("<script type=\"application/json\" id=\"{name}\">");
    serde_json::from_str(between(page, &begin, "</script>")).unwrap()
}

/// The numbers of a packed array; NaN: none.
fn unpacked(value: &Value) -> Vec<f64> {
    let mut bytes = Vec::new();
    let data = STANDARD.decode(value["data"].as_str().unwrap_or_else(|| panic!("not packed: {value}"))).unwrap();
    GzDecoder::new(data.as_slice()).read_to_end(&mut bytes).unwrap();
    let scale = value["scale"].as_f64().unwrap();
    let numbers =
        |size: usize, number: &dyn Fn(&[u8]) -> f64| bytes.chunks(size).map(|one| scale * number(one)).collect();
    match value["type"].as_str().unwrap() {
        "u8" => numbers(1, &|one| f64::from(one[0])),
        "u32" => numbers(4, &|one| f64::from(u32::from_le_bytes(one.try_into().unwrap()))),
        "i32" => numbers(4, &|one| f64::from(i32::from_le_bytes(one.try_into().unwrap()))),
        "f16" => numbers(2, &|one| f16::from_le_bytes(one.try_into().unwrap()).to_f64()),
        "f32" => numbers(4, &|one| f64::from(f32::from_le_bytes(one.try_into().unwrap()))),
        other => panic!("{other} is no type"),
    }
}

fn row_sums(value: &Value, rows: usize) -> Vec<f64> {
    let all = unpacked(value);
    assert_eq!(all.len() % rows, 0);
    all.chunks(all.len() / rows).map(|row| row.iter().filter(|one| !one.is_nan()).sum()).collect()
}

fn column(rows: &Value, key: &str) -> Vec<f64> {
    rows.as_array().unwrap().iter().map(|row| row[key].as_f64().unwrap_or_else(|| panic!("no {key}: {row}"))).collect()
}

#[track_caller]
fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance, "at {at}: {found} instead of {expected}");
    }
}

/// Three ranks that exchange and meet in each of `n` steps. Another one is the slowest in each, by 20 ms; rank 2 begins 5 ms late, rank 0
/// ends early.
fn steps(n: u32) -> Scenario {
    Scenario::ranks(3).hosts(|rank| format!("node{}", rank / 2)).each(|rank, script| {
        let late = if rank == 2 { 5.0 } else { 0.0 };
        let script = script.late(late).region("setup", |script| script.compute(6.0 - late).at("set up").barrier(1));
        let script = script.repeat(n, move |step, script| {
            let work = if step % 3 == rank { 30.0 } else { 10.0 };
            script.iteration("step", move |script| {
                let script = script.region("force", |script| script.compute(work));
                let script = script.at("meet").barrier(31.0 - work);
                match rank {
                    0 => script.compute(4).at("give").send(1, 7, 800, 1),
                    1 => script.at("take").recv(0, 7, 800, 5),
                    _ => script.compute(5),
                }
            })
        });
        if rank == 0 { script } else { script.compute(50) }
    })
}

#[test]
fn the_page_is_one_file_that_asks_for_nothing() {
    let dir = written(steps(4));
    let page = page_in(dir.path(), &[]);
    let policy = between(&page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    assert!(policy.starts_with("default-src 'none';") && !policy.contains("connect-src"), "{policy}");
    assert!(page.find("Content-Security-Policy") < page.find("<style>"));
    // Around style, script and data there is no address.
    let script = include_str!("../../page/dist/page.js");
    let markup = page.replace(script, "").replace(include_str!("../../page/dist/page.css"), "");
    assert!(!markup.contains("://") && !markup.contains("src="), "{markup}");
    assert_eq!(page.matches("<script").count() - script.matches("<script").count(), 3);
}

#[test]
fn the_page_holds_the_report_as_json_and_as_text() {
    let dir = written(steps(4));
    let page = page_in(dir.path(), &[]);
    assert_eq!(data(&page, "report"), serde_json::from_str::<Value>(&said(dir.path(), &["--json"])).unwrap());
    let text = said(dir.path(), &[]);
    let shown = between(&page, "<noscript><pre>\n", "</pre></noscript>");
    let shown = shown
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
        .replace("&quot;", "\"")
        .replace("&apos;", "'");
    assert_eq!(shown, text);
}

#[test]
fn matrices_of_regions_and_times_add_up_to_the_figures_of_the_report() {
    let dir = written(steps(12));
    let page = page_in(dir.path(), &[]);
    let (report, views) = (data(&page, "report"), data(&page, "views"));
    let computation = column(&report["ranks"], "computation_s");
    let blocked = column(&report["ranks"], "blocked_s");
    assert!(blocked[2] > 0.1, "{blocked:?}");

    let mut by_region = vec![0.0; 3];
    for region in views["regions"].as_array().unwrap() {
        let Some(seconds) = region["seconds"].get("computation") else { continue };
        by_region.iter_mut().zip(unpacked(seconds)).for_each(|(sum, one)| *sum += one);
    }
    assert_near(&by_region, &computation, 1e-6);

    let timeline = &views["timeline"];
    let bin_s = timeline["end_s"].as_f64().unwrap() / timeline["bins"].as_f64().unwrap();
    let in_state =
        |state: &str| -> Vec<f64> { row_sums(&timeline["share"][state], 3).iter().map(|bins| bins * bin_s).collect() };
    assert_near(&in_state("computation"), &computation, bin_s);
    assert_near(&in_state("waiting"), &blocked, bin_s);

    let waits = &timeline["waits"];
    let (begin, end) = (unpacked(&waits["begin_s"]), unpacked(&waits["end_s"]));
    let mut by_rank = vec![0.0; 3];
    for (at, rank) in unpacked(&waits["rank"]).into_iter().enumerate() {
        by_rank[rank as usize] += end[at] - begin[at];
    }
    assert_near(&by_rank, &blocked, 1e-6);

    let spans = &timeline["spans"];
    let (begin, end) = (unpacked(&spans["begin_s"]), unpacked(&spans["end_s"]));
    let states = timeline["states"].as_array().unwrap();
    let mut by_rank = vec![0.0; 3];
    for (at, (rank, state)) in unpacked(&spans["rank"]).into_iter().zip(unpacked(&spans["state"])).enumerate() {
        let is_computation = states[state as usize] == "computation";
        by_rank[rank as usize] += if is_computation { end[at] - begin[at] } else { 0.0 };
    }
    assert_near(&by_rank, &computation, 1e-6);
}

#[test]
fn waits_and_messages_say_where_and_for_whom() {
    let dir = written(steps(12));
    let timeline = &data(&page_in(dir.path(), &[]), "views")["timeline"];
    let waits = &timeline["waits"];
    let late =
        unpacked(&waits["state"]).iter().position(|&one| waits["states"][one as usize] == "late sender").unwrap();
    let at = |key: &str| unpacked(&waits[key])[late];
    assert_eq!((at("rank"), at("delay_source")), (1.0, 0.0));
    assert_eq!(timeline["regions"][at("region") as usize], "main/step");
    assert!(timeline["sites"][at("site") as usize].as_str().is_some_and(|label| label.contains("+0x")));
    // Rank 0 sends 4 ms after both left the barrier.
    assert!((at("end_s") - at("begin_s") - 0.005).abs() < 1e-6);
    let messages = &timeline["messages"];
    assert_eq!(unpacked(&messages["from"]), [0.0; 12]);
    assert_eq!(unpacked(&messages["to"]), [1.0; 12]);
    assert_eq!((unpacked(&messages["bytes"]), unpacked(&messages["tag"])), (vec![800.0; 12], vec![7.0; 12]));
    let (sent, received) = (unpacked(&messages["sent_s"]), unpacked(&messages["received_s"]));
    assert_near(&received, &sent.iter().map(|sent| sent + 0.001).collect::<Vec<_>>(), 1e-6);
}

#[test]
fn iterations_are_those_of_the_report() {
    let dir = written(steps(12));
    let page = page_in(dir.path(), &[]);
    let (report, iterations) = (data(&page, "report"), &data(&page, "views")["iterations"]);
    let rows = &report["iterations"]["per_iteration"];
    assert_eq!((iterations["count"].as_u64(), iterations["columns"].as_u64()), (Some(12), Some(12)));
    assert_near(&unpacked(&iterations["max"]), &column(rows, "max_s"), 1e-6);
    assert_near(&unpacked(&iterations["mean"]), &column(rows, "mean_s"), 1e-6);
    let computation = unpacked(&iterations["computation"]);
    let longest = |at: usize| (0..3).map(|row| computation[row * 12 + at]).fold(0.0, f64::max);
    assert_near(&(0..12).map(longest).collect::<Vec<_>>(), &column(rows, "max_s"), 1e-6);
    // In a step without its own long work, a rank waits 20 ms at the barrier; rank 1 also 5 ms for rank 0's message.
    let blocking = unpacked(&iterations["blocking"]);
    assert_near(&blocking[..3], &[0.0, 0.020, 0.020], 1e-6);
    assert_near(&blocking[12..15], &[0.025, 0.005, 0.025], 1e-6);
    // Each rank is the slowest in a third of the steps.
    let micro = unpacked(&iterations["micro_load_balance"]);
    let sums = row_sums(&iterations["computation"], 3).into_iter().fold(0.0, f64::max);
    assert!((micro[11] - sums / column(rows, "max_s").iter().sum::<f64>()).abs() < 1e-6, "{micro:?}");
}

#[test]
fn of_many_iterations_columns_hold_means_and_say_so() {
    let scenario = Scenario::ranks(2).each(|rank, script| {
        script.repeat(5000, move |step, script| {
            let work = f64::from(1 + (step + rank) % 3);
            script.iteration("step", move |script| script.compute(work).barrier(3.5 - work))
        })
    });
    let dir = written(scenario);
    let page = page_in(dir.path(), &[]);
    let (report, views) = (data(&page, "report"), data(&page, "views"));
    let iterations = &views["iterations"];
    assert_eq!((iterations["per_column"].as_u64(), iterations["columns"].as_u64()), (Some(3), Some(1667)));
    assert_eq!(iterations["first"][1666], 4998);
    let sizes = |at: usize| if at < 1666 { 3.0 } else { 2.0 };
    let sum = |values: Vec<f64>| values.iter().enumerate().map(|(at, one)| one * sizes(at % 1667)).sum::<f64>();
    // Of more than 4,000 iterations the report's rows stand for two each.
    let rows = &report["iterations"]["per_iteration"];
    let of_report =
        |key: &str| column(rows, key).iter().zip(column(rows, "count")).map(|(mean, count)| mean * count).sum::<f64>();
    assert!((sum(unpacked(&iterations["max"])) - of_report("max_s")).abs() < 1e-4);
    assert!((sum(unpacked(&iterations["mean"])) - of_report("mean_s")).abs() < 1e-4);
    let computation = column(&report["ranks"], "computation_s").iter().sum::<f64>();
    assert!((sum(unpacked(&iterations["computation"])) - computation).abs() < 1e-4 * computation);
    let passes = unpacked(&iterations["passes"]);
    assert_eq!((passes.len(), passes[0], passes[1666], passes.iter().sum::<f64>()), (2 * 1667, 3.0, 2.0, 10_000.0));
    let left_out: Vec<&str> = views["left_out"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(left_out.contains(&"columns are means of 3 successive iterations, of 5,000"), "{left_out:?}");
}

#[test]
fn names_are_data_and_never_markup() {
    const HOSTILE: &str = "</script><script>alert(1)</script><!--\"'&amp;\u{2028}\u{1b}[2J";
    let scenario = Scenario::ranks(2)
        .hosts(|_| format!("host{HOSTILE}"))
        .header(0, |header| header.command = vec![HOSTILE.to_owned()])
        .each(|rank, script| script.region(HOSTILE, |script| script.compute(10 + rank).at(HOSTILE).barrier(3 - rank)));
    let dir = written(scenario);
    let page = page_in(dir.path(), &[]);
    let plain = page_in(written(steps(1)).path(), &[]);
    let elements =
        |page: &str| page.matches("<script").count() + page.matches("</script").count() + page.matches("<!--").count();
    assert_eq!(elements(&page), elements(&plain), "no name begins or ends an element");
    assert!(!page.contains(['\u{1b}', '\u{2028}']));
    let title = between(&page, "<title>", "</title>");
    assert!(title.contains("&lt;script&gt;") && title.contains("&quot;&apos;&amp;amp;"), "{title}");
    let (report, views) = (data(&page, "report"), data(&page, "views"));
    assert_eq!(report["ranks"][0]["host"], format!("host{HOSTILE}"));
    assert_eq!(views["hosts"][0], format!("host{HOSTILE}"));
    // A region's path joins names by '/', so that one within a name is written \/.
    let path = format!("main/{}", HOSTILE.replace('/', "\\/"));
    assert!(views["regions"].as_array().unwrap().iter().any(|region| region["path"] == path), "{}", views["regions"]);
}

#[test]
fn text_or_json_is_printed_beside_the_page() {
    let dir = written(steps(2));
    let beside = lb_report(dir.path(), &[".", "--html", "page.html"]).assert().code(0).stdout(said(dir.path(), &[]));
    assert!(String::from_utf8_lossy(&beside.get_output().stderr).contains("open it with a browser"));
    assert_eq!(said(dir.path(), &["--html", "page.html", "--json"]), said(dir.path(), &["--json"]));
    assert_eq!(said(dir.path(), &["--html", "page.html", "--quiet"]), "");
    assert!(std::fs::read_to_string(dir.path().join("page.html")).unwrap().ends_with("</html>\n"));
}

#[test]
fn a_page_that_cannot_be_written_is_an_error() {
    let dir = written(steps(2));
    for (file, code, says) in [
        ("/nowhere/page.html", 6, "/nowhere/page.html: there is no such file"),
        ("/dev/full", 6, "/dev/full: no space is left"),
        (dir.path().to_str().unwrap(), 2, "--html wants a file to write"),
    ] {
        let output = lb_report(dir.path(), &[".", "--html", file]).assert().code(code).get_output().clone();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(says), "{message:?} does not say {says:?}");
    }
}

#[test]
fn without_following_there_is_no_timeline_and_it_is_reported() {
    let dir = written(steps(4));
    for arguments in [&["--no-blocking"][..], &["--region", "step"]] {
        let views = data(&page_in(dir.path(), arguments), "views");
        assert_eq!(
            (&views["timeline"], &views["iterations"]["blocking"]),
            (&Value::Null, &Value::Null),
            "{arguments:?}"
        );
        let left_out = views["left_out"].to_string();
        assert!(left_out.contains("no timeline"), "{arguments:?}: {left_out}");
        assert!(views["iterations"]["computation"].is_object(), "{arguments:?}");
    }
}

#[test]
fn the_timeline_of_a_part_of_the_time_is_as_long_as_that() {
    let dir = written(steps(4));
    let timeline = |arguments: &[&str]| data(&page_in(dir.path(), arguments), "views")["timeline"].clone();
    let length = |timeline: &Value| timeline["end_s"].as_f64().unwrap() - timeline["begin_s"].as_f64().unwrap();
    let (whole, part) = (timeline(&[]), timeline(&["--from", "10ms"]));
    assert!((length(&whole) - 0.010 - length(&part)).abs() < 1e-9, "{} {}", length(&whole), length(&part));
}
