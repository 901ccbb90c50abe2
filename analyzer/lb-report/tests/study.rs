//! `lb-report study` as users run it: what it keeps, what it shows, what it refuses.

use std::fs;
use std::path::Path;
use std::process::{Command as Process, Stdio};

use lbprof_simulator::scenario::Scenario;
use lbprof_study::StudyFile;
use lbprof_study::store::{CREATE_TABLES, TABLES};
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{assert_fails, lb_report, stdout_of};

/// A run of `n` ranks with id `run` in a folder `name`: `work` ms are shared by the ranks in a region, the last one has `more` ms
/// beside, and all meet in a barrier.
fn record(here: &Path, name: &str, run: u64, n: u32, (work, more): (u32, u32)) {
    scenario(run, n, work, more).write(&here.join(name)).unwrap();
}

fn scenario(run: u64, n: u32, work: u32, more: u32) -> Scenario {
    let end = work / n + more;
    Scenario::ranks(n).run_id(run).each(|rank, r| {
        let own = work / n + if rank + 1 == n { more } else { 0 };
        let r = r.param("n", 64).region("work", |r| r.compute(own));
        r.at("meeting").barrier(end - own + 1)
    })
}

fn study() -> TempDir {
    let here = tempfile::tempdir().unwrap();
    for (run, n, more) in [(11, 1, 0), (12, 2, 10), (13, 4, 20)] {
        record(here.path(), &format!("out-{n}"), run, n, (240, more));
    }
    lb_report(here.path(), &["study", "add", "s", "out-1", "out-2", "out-4"]).assert().code(0);
    here
}

#[test]
fn runs_are_added_and_listed() {
    let here = study();
    let list = stdout_of(here.path(), &["study", "list", "s"], 0);
    let rows: Vec<Vec<&str>> = list.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0][..4], ["run", "program", "ranks", "parameters"]);
    assert_eq!(rows[1][..6], ["1", "scenario", "1", "n=64", "241.0", "ms"]);
    assert_eq!(rows[3][..6], ["3", "scenario", "4", "n=64", "81.00", "ms"]);
    assert!(list.lines().skip(1).take(3).all(|line| line.ends_with("complete")), "{list}");
    insta::assert_snapshot!("list_80", stdout_of(here.path(), &["study", "list", "s", "--width", "80"], 0));
    let again = ["study", "add", "s", "out-4", "--replace", "--param", "n=1e3", "--param", "dt=0.5"];
    let message =
        String::from_utf8(lb_report(here.path(), &again).assert().code(0).get_output().stderr.clone()).unwrap();
    assert_eq!(message, "lb-report: run 3: scenario, 4 ranks, dt=0.5, n=1000, 81.00 ms\n");
}

#[test]
fn tables_at_80_and_100_columns() {
    let here = study();
    for n in [8, 16, 32] {
        record(here.path(), &format!("out-{n}"), u64::from(n) + 100, n, (240, 20));
        lb_report(here.path(), &["study", "add", "s", &format!("out-{n}")]).assert().code(0);
    }
    record(here.path(), "again", 999, 4, (280, 20));
    lb_report(here.path(), &["study", "add", "s", "again"]).assert().code(0);
    for width in [60, 80, 100] {
        let text = stdout_of(here.path(), &["study", "show", "s", "--width", &width.to_string()], 0);
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        insta::assert_snapshot!(format!("show_{width}"), text);
    }
    let text = stdout_of(here.path(), &["study", "show", "s", "--all", "--where", "ranks=4", "--where", "ranks=2"], 0);
    insta::assert_snapshot!("show_all", text);
    let text = stdout_of(here.path(), &["study", "show", "s", "--region", "work", "--weak", "--where", "n=64"], 0);
    insta::assert_snapshot!("show_region", text);
}

#[test]
fn the_best_and_the_worst_have_a_sign_and_a_colour_only_where_wanted() {
    let here = study();
    let plain = stdout_of(here.path(), &["study", "show", "s"], 0);
    assert!(plain.contains("1.000+") && !plain.contains('\x1b'), "{plain}");
    let coloured = stdout_of(here.path(), &["study", "show", "s", "--color", "always"], 0);
    assert!(coloured.contains("\x1b[32m1.000+\x1b[0m"), "{coloured}");
    let output = lb_report(here.path(), &["study", "show", "s"]).env("NO_COLOR", "1").assert().get_output().clone();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), plain);
}

#[test]
fn runs_are_removed_by_number_or_id() {
    let here = study();
    lb_report(here.path(), &["study", "remove", "s", "1", "000000000000000d"]).assert().code(0).stdout("");
    let list = stdout_of(here.path(), &["study", "list", "s"], 0);
    assert!(list.contains("\n    2  scenario") && !list.contains("\n    1  ") && !list.contains("\n    3  "), "{list}");
    assert_fails(here.path(), &["study", "remove", "s", "2", "7"], 2, "there is no run 7 in it");
    lb_report(here.path(), &["study", "remove", "s", "2"]).assert().code(0);
    assert_eq!(stdout_of(here.path(), &["study", "list", "s"], 0), "There are no runs in the study.\n");
    assert_fails(here.path(), &["study", "show", "s"], 5, "there are no runs in the study");
}

#[test]
fn what_is_wrong_is_reported() {
    let here = study();
    assert_fails(here.path(), &["study", "show", "none"], 5, "none: there is no such study");
    assert_fails(here.path(), &["study", "list", "out-1"], 5, "this is no study");
    assert_fails(here.path(), &["study", "list", "out-1/rank-000000.lbp"], 5, "this is no study");
    assert_fails(here.path(), &["study", "add", "out-1/rank-000000.lbp", "out-2"], 5, "this is no study");
    assert_fails(here.path(), &["study", "add", "s", "out-2"], 2, "in the study already, as run 2; --replace");
    assert_fails(here.path(), &["study", "add", "s", "nowhere"], 5, "nowhere: there is no such folder");
    assert_fails(here.path(), &["study", "add", "no/folder/s", "out-2"], 6, "cannot be written");
    let twice = ["study", "add", "s", "out-2", "--replace", "--param", "m=1", "--param", "m=2"];
    assert_fails(here.path(), &twice, 2, "--param m is given twice");
    for param in ["n", "n=", "n=many", "=3", "n=nan", "ranks=3", "P=3"] {
        assert_fails(here.path(), &["study", "add", "s", "out-2", "--param", param], 2, "--param");
    }
    assert_fails(
        here.path(),
        &["study", "show", "s", "--by", "m"],
        2,
        "no run has a parameter m; there are: ranks, run, ",
    );
    assert_fails(here.path(), &["study", "show", "s", "--where", "n=3"], 2, "no run has n=3");
    assert_fails(here.path(), &["study", "show", "s", "--where", "n"], 2, "as in n=512");
    assert_fails(
        here.path(),
        &["study", "show", "s", "--region", "nap"],
        2,
        "no run has a region nap; there are: main",
    );
    assert_fails(here.path(), &["study", "show", "s", "--base", "8"], 2, "there is no run 8");
    assert_fails(here.path(), &["study", "export", "s"], 2, "--extrap");
    let whole = fs::read(here.path().join("s")).unwrap();
    fs::write(here.path().join("cut"), &whole[..whole.len() / 2]).unwrap();
    for command in ["list", "show"] {
        assert_fails(here.path(), &["study", command, "cut"], 5, "cut: the study is damaged");
    }
    assert_fails(here.path(), &["study", "add", "cut", "out-2"], 5, "cut: the study is damaged");
}

/// SQLite has names that are no files; what it kept under them would be gone at the end.
#[test]
fn a_study_is_a_file_whatever_its_name() {
    let here = study();
    for name in [":memory:", "file:a?mode=memory"] {
        lb_report(here.path(), &["study", "add", name, "out-1"]).assert().code(0);
        assert!(here.path().join(name).is_file(), "{name}");
        assert!(stdout_of(here.path(), &["study", "list", name], 0).contains("scenario"), "{name}");
    }
}

#[test]
fn a_study_is_begun_by_its_first_run() {
    let here = study();
    assert_fails(here.path(), &["study", "add", "new", "nowhere"], 5, "nowhere: there is no such folder");
    assert!(!here.path().join("new").exists());
    lb_report(here.path(), &["study", "add", "new", "nowhere", "out-1"]).assert().code(5);
    assert!(stdout_of(here.path(), &["study", "list", "new"], 0).contains("\n    1  scenario"));
}

#[test]
fn a_run_that_cannot_be_added_does_not_keep_others_out() {
    let here = study();
    record(here.path(), "more", 77, 2, (100, 0));
    lb_report(here.path(), &["study", "add", "s", "out-1", "nowhere", "more"]).assert().code(2);
    assert!(stdout_of(here.path(), &["study", "list", "s"], 0).contains("\n    4  scenario"));
}

#[test]
fn a_run_with_missing_data_is_added_and_marked() {
    let here = study();
    scenario(50, 4, 240, 20).missing(2).write(&here.path().join("partial")).unwrap();
    let added = lb_report(here.path(), &["study", "add", "s", "partial"]).assert().code(4).get_output().clone();
    assert!(String::from_utf8(added.stderr).unwrap().contains("incomplete: "));
    let list = stdout_of(here.path(), &["study", "list", "s"], 0);
    assert!(list.contains("incomplete") && list.contains("Warnings") && list.contains("  run 4: "), "{list}");
    let shown =
        lb_report(here.path(), &["study", "show", "s", "--where", "ranks=4"]).assert().code(4).get_output().clone();
    assert!(String::from_utf8(shown.stdout).unwrap().contains("data are incomplete: run 4"));
}

#[test]
fn runs_of_another_program_are_reported_and_kept_apart() {
    let here = study();
    scenario(60, 2, 100, 0)
        .header(0, |header| header.command = vec!["/bin/other".to_owned()])
        .header(1, |header| header.command = vec!["/bin/other".to_owned()])
        .write(&here.path().join("other"))
        .unwrap();
    let added = lb_report(here.path(), &["study", "add", "s", "other"]).assert().code(0).get_output().clone();
    assert!(String::from_utf8(added.stderr).unwrap().contains("the study also holds runs of scenario"));
    let text = stdout_of(here.path(), &["study", "show", "s"], 0);
    assert!(text.starts_with("other  n=64\n"), "{text}");
    assert!(text.contains("\nscenario  n=64"), "{text}");
}

#[test]
fn two_that_add_at_once_both_add() {
    let here = tempfile::tempdir().unwrap();
    const EACH: u64 = 5;
    let names: Vec<String> = (0..2 * EACH).map(|run| format!("out-{run}")).collect();
    for (run, name) in names.iter().enumerate() {
        record(here.path(), name, run as u64 + 1, 2, (100, 0));
    }
    // Neither finds a study there.
    let writers: Vec<_> = names
        .chunks(EACH as usize)
        .map(|names| {
            let mut process = Process::new(assert_cmd::cargo::cargo_bin("lb-report"));
            process.args(["study", "add", "s"]).args(names).current_dir(here.path()).stderr(Stdio::piped());
            process.spawn().unwrap()
        })
        .collect();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let runs = StudyFile::open(&here.path().join("s")).unwrap().runs().unwrap();
    let mut ids: Vec<u64> = runs.iter().map(|kept| kept.run.id).collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=2 * EACH).collect::<Vec<u64>>());
    assert_eq!(
        runs.iter().map(|kept| u64::from(kept.number)).collect::<Vec<u64>>(),
        (1..=2 * EACH).collect::<Vec<u64>>()
    );
}

/// On a file system of its own, which a user may mount in a namespace of his own where the system allows that.
#[test]
fn a_full_disk_loses_nothing() {
    const SCRIPT: &str = r#"
        mount -t tmpfs -o size=2m tmpfs disk || exit 99
        "$0" study add -q disk/s out-1 || exit 1
        dd if=/dev/zero of=disk/filler bs=4096 2>/dev/null
        "$0" study add -q disk/s out-4
        echo "full: $?"
        rm disk/filler
        "$0" study list disk/s
        "$0" study add -q disk/s out-4
        echo "then: $?"
    "#;
    let here = study();
    fs::create_dir(here.path().join("disk")).unwrap();
    let binary = assert_cmd::cargo::cargo_bin("lb-report");
    let output = Process::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", SCRIPT])
        .arg(binary)
        .current_dir(here.path())
        .output();
    let Some(output) = output.ok().filter(|output| String::from_utf8_lossy(&output.stdout).contains("full:")) else {
        // The store's own tests fill a study without a disk.
        eprintln!("not tested: this system does not let a user mount a small disk");
        return;
    };
    let (out, error) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(error.contains("no space left on its disk: the study is as it was"), "{error}");
    assert!(out.contains("full: 6") && out.contains("then: 0"), "{out}\n{error}");
    assert!(out.contains("\n    1  scenario      1") && !out.contains("\n    2  "), "{out}");
}

#[test]
fn measurements_for_extra_p_have_the_figures_of_each_run() {
    let here = tempfile::tempdir().unwrap();
    // Rank r of P computes n³ / P ms, in a region of its own; then all meet.
    let run = |ranks: u32, n: u32| {
        let share_ms = f64::from(n.pow(3)) / f64::from(ranks);
        Scenario::ranks(ranks).run_id(u64::from(ranks * 100 + n)).each(|_, script| {
            let script = script.param("n", f64::from(n)).region("multiply", |script| script.compute(share_ms));
            script.barrier(0.5)
        })
    };
    let cases = [(2, 1), (2, 2), (4, 2), (4, 3)];
    for (ranks, n) in cases {
        run(ranks, n).write(&here.path().join(format!("out-{ranks}-{n}"))).unwrap();
        lb_report(here.path(), &["study", "add", "s", &format!("out-{ranks}-{n}")]).assert().success();
    }
    let written = stdout_of(here.path(), &["study", "export", "s", "--extrap", "-"], 0);
    let lines: Vec<serde_json::Value> = written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let values = |path: &str, metric: &str| -> Vec<(f64, f64, f64)> {
        let own = lines.iter().filter(|line| line["callpath"] == path && line["metric"] == metric);
        let number = |value: &serde_json::Value| value.as_f64().unwrap();
        own.map(|line| (number(&line["params"]["p"]), number(&line["params"]["n"]), number(&line["value"]))).collect()
    };
    let expected = cases.map(|(ranks, n)| {
        let (ranks, n) = (f64::from(ranks), f64::from(n));
        (ranks, n, n.powi(3) / ranks * 1e-3)
    });
    for (found, expected) in values("main->multiply", "computation").into_iter().zip(expected) {
        assert_eq!((found.0, found.1), (expected.0, expected.1));
        assert!((found.2 - expected.2).abs() < 1e-9, "{found:?}, expected {expected:?}");
    }
    assert_eq!(values("main->multiply", "computation").len(), 4);
    let in_mpi = values("main", "mpi");
    assert!(in_mpi.len() == 4 && in_mpi.iter().all(|value| (value.2 - 0.5e-3).abs() < 1e-9), "{in_mpi:?}");
    assert!(values("main->multiply", "operations").is_empty(), "none were counted");
    let part = stdout_of(here.path(), &["study", "export", "s", "--extrap", "-", "--where", "ranks=2"], 0);
    assert!(part.lines().all(|line| line.starts_with(r#"{"params":{"n":"#)), "{part}");
    assert_fails(here.path(), &["study", "export", "s", "--extrap", "-", "--where", "run=1"], 2, "do not differ");
}

/// Returns the schema of a column from its line in the statement that makes its table: `name TYPE …, -- Meaning.`
fn column_schema(line: &str) -> Option<(String, Value)> {
    let (definition, meaning) = line.split_once(" -- ")?;
    let (name, kind) = definition.trim().split_once(' ')?;
    let kind_name = match kind.split([' ', ',']).next()? {
        "TEXT" => "string",
        "REAL" => "number",
        _ => "integer",
    };
    let is_never_null = kind.contains("NOT NULL") || kind.contains("PRIMARY KEY");
    let kind = if is_never_null { kind_name.into() } else { serde_json::json!([kind_name, "null"]) };
    Some((name.to_owned(), serde_json::json!({ "description": meaning, "type": kind })))
}

#[test]
fn the_schema_of_a_studys_tables_has_each_column() {
    const COMMAND: &str = "UPDATE_SCHEMA=1 cargo test -p lb-report schema";
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let document = fs::read_to_string(docs.join("study-format.md")).unwrap();
    let mut properties = serde_json::Map::new();
    for table in TABLES {
        let statement =
            CREATE_TABLES.split("CREATE TABLE ").find_map(|one| one.strip_prefix(&format!("{} (\n", table.name)));
        let columns: Vec<(String, Value)> = statement.unwrap().lines().filter_map(column_schema).collect();
        let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, table.columns(), "{}", table.name);
        let row = serde_json::json!({ "type": "object", "properties": columns.into_iter().collect::<serde_json::Map<_, _>>() });
        properties.insert(table.name.to_owned(), serde_json::json!({ "type": "array", "items": row }));
        let place = format!("<!-- keys of {} in study-tables.schema.json -->", table.name);
        assert!(document.contains(&place), "docs/study-format.md lacks the place for the columns of {}", table.name);
    }
    let schema = serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": format!("Generated from analyzer/study/src/store/schema.rs by `{COMMAND}`; do not edit."),
        "title": "The tables of a study",
        "type": "object",
        "properties": properties,
    });
    let expected = format!("{schema:#}\n");
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::write(docs.join("study-tables.schema.json"), &expected).unwrap();
    }
    let written = fs::read_to_string(docs.join("study-tables.schema.json")).unwrap_or_default();
    assert!(written == expected, "docs/study-tables.schema.json is not what the columns make: {COMMAND}");
}

#[test]
fn models_and_the_causal_model_are_reported() {
    let here = study();
    let text = stdout_of(here.path(), &["study", "model", "s", "--width", "80"], 0);
    assert!(text.contains("T_comp against P  3 runs\n") && text.contains("error by degree  0: "), "{text}");
    let document: Value =
        serde_json::from_str(&stdout_of(here.path(), &["study", "model", "s", "--json", "-"], 0)).unwrap();
    assert_eq!((&document["schema"], &document["n_runs"]), (&"lbprof-models/1".into(), &3.into()));
    assert_eq!(document["numbers"], serde_json::json!([1, 2, 3]));
    assert!(stdout_of(here.path(), &["study", "graph", "s"], 0).contains("E = 1 / Σ Ovh holds in all runs"));
}

#[test]
fn models_of_what_is_not_there_are_refused() {
    let here = study();
    let refused = |options: &[&str], says: &str| {
        assert_fails(here.path(), &[&["study", "model", "s"], options].concat(), 2, says);
    };
    refused(&["--region", "nowhere"], "no model of a region nowhere; there are: main");
    refused(&["--against", "m"], "no model against m; there are: P");
    refused(&["--where", "ranks=3"], "no run has ranks=3");
    refused(&["--where", "ranks=4"], "models need runs that differ");
    assert_fails(here.path(), &["study", "model", "nothing"], 5, "there is no such study");
}

#[test]
fn labels_are_kept() {
    let here = tempfile::tempdir().unwrap();
    for (run, name) in ["old", "new"].iter().enumerate() {
        // Load balance 60 / 80 and 80 / 80.
        let own = if run == 0 { 40 } else { 80 };
        let scenario = Scenario::ranks(2)
            .run_id(run as u64 + 1)
            .each(|rank, script| script.compute(if rank == 0 { 80 } else { own }).barrier(1));
        scenario
            .header(0, |header| header.started_unix_s = 1000 - run as u64)
            .header(1, |header| header.started_unix_s = 1000 - run as u64)
            .write(&here.path().join(name))
            .unwrap();
    }
    for name in ["old", "new"] {
        lb_report(here.path(), &["study", "add", "s", name, "--label", &format!("<{name}>")]).assert().success();
    }
    let listed = stdout_of(here.path(), &["study", "list", "s"], 0);
    assert!(listed.contains("label") && listed.contains("<old>") && listed.contains("<new>"), "{listed}");
    let runs = StudyFile::open(&here.path().join("s")).unwrap().runs().unwrap();
    assert_eq!(runs[1].run.label, "<new>");
}

#[test]
fn runs_are_counted_for_the_program_that_the_user_names() {
    let here = study();
    record(here.path(), "renamed", 21, 4, (240, 20));
    lb_report(here.path(), &["study", "add", "s", "renamed", "--program", "heat"]).assert().success();
    lb_report(here.path(), &["study", "add", "s", "out-4", "--replace", "--program", "heat"]).assert().success();
    let shown = stdout_of(here.path(), &["study", "show", "s", "--where", "program=heat"], 0);
    assert!(shown.starts_with("heat ") && shown.contains("2 runs"), "{shown}");
}

#[test]
fn a_table_begins_with_what_limits_the_speedup() {
    let here = study();
    let shown = stdout_of(here.path(), &["study", "show", "s"], 0);
    let sentence = "From 1 to 4 ranks load balance falls from 100 to 81 %: this limits the speedup.";
    assert!(shown.contains(sentence), "{shown}");
}
