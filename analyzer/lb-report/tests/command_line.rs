//! lb-report as users run it: its output, its exit codes, its messages.

use std::path::Path;

use lbprof_collector::format::log_name;
use lbprof_collector::record::PollGaps;
use lbprof_collector::writer::LogWriter;
use lbprof_collector::{CallFlags, Definition, Operation, ProblemKind, Record};
use lbprof_simulator::scenario::{RankScript, Scenario, header};
use lbprof_test_runs::written;
use serde_json::{Value, json};

use crate::late_sender::late_sender;
use crate::program::{assert_fails, lb_report, stdout_of, text_of};

#[test]
fn dump_prints_every_record() {
    let dir = written(late_sender());
    let output = stdout_of(Path::new("."), &["dump", text_of(dir.path()), "--rank", "0"], 0);
    let lines: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let records: Vec<&Value> = lines.iter().filter(|line| line["type"] == "record").collect();
    let operations: Vec<&str> = records.iter().map(|record| record["operation"].as_str().unwrap()).collect();
    assert_eq!(operations, ["RegionEnter", "RegionLeave", "Send", "Finalize"]);
    let send = records[2];
    assert_eq!((send["peer"].as_u64(), send["tag"].as_i64(), send["sent"].as_u64()), (Some(1), Some(7), Some(800)));
    assert_eq!((send["begin_s"].as_f64(), send["comm_size"].as_u64()), (Some(0.03), Some(2)));
    assert_eq!((&send["activity"], &send["region"]), (&Value::from("point-to-point"), &Value::from("main")));
    assert_eq!((&records[1]["region"], &records[1]["value"]), (&Value::from("main/work"), &Value::from("main/work")));
}

#[test]
fn dump_shows_the_time_of_folded_polls_and_no_bytes() {
    // 3 polls within 6 ms, of which 2 ms in MPI; the longest gap is 40 µs.
    let polls = |record: &mut Record| {
        (record.count, record.sent, record.received) = (2, 2_000_000, PollGaps(0).and(40_000, u64::MAX).0);
        record.flags = CallFlags::NOTHING;
    };
    let dir = written(Scenario::ranks(1).rank(0, |r| r.call(Operation::Iprobe, 6, polls)));
    let lines = stdout_of(Path::new("."), &["dump", text_of(dir.path())], 0);
    let poll = lines.lines().find(|line| line.contains("Iprobe")).unwrap();
    let poll: Value = serde_json::from_str(poll).unwrap();
    assert_eq!((&poll["sent"], &poll["received"]), (&Value::from(0), &Value::from(0)));
    assert_eq!(poll["value"], json!({ "calls": 3, "within_s": 0.002, "longest_gap_s": 0.00004 }));
}

#[test]
fn without_a_folder_the_newest_run_here_is_taken() {
    let here = tempfile::tempdir().unwrap();
    late_sender().write(&here.path().join("lbprof-out")).unwrap();
    // A folder without a run is no newer run.
    std::fs::create_dir(here.path().join("lbprof-out-empty")).unwrap();
    let output = lb_report(here.path(), &[]).assert().code(0).get_output().clone();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("./scenario · 2 ranks on 1 host · "), "{text}");
    assert!(!text.contains('\x1b'), "no colours in a pipe");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "lb-report: the newest run here is lbprof-out\n");
}

#[test]
fn colours_are_there_when_asked_for() {
    let dir = written(late_sender());
    let output = stdout_of(Path::new("."), &[text_of(dir.path()), "--color", "always"], 0);
    assert!(output.contains("\x1b[1m"));
}

#[test]
fn json_goes_to_standard_output_or_to_a_file() {
    let dir = written(late_sender());
    let output = stdout_of(Path::new("."), &[text_of(dir.path()), "--json"], 0);
    let file = dir.path().join("report.json");
    lb_report(Path::new("."), &[text_of(dir.path()), "--json", text_of(&file)]).assert().code(0).stdout("");
    assert_eq!(std::fs::read_to_string(file).unwrap(), output);
    let report: Value = serde_json::from_str(&output).unwrap();
    assert_eq!(report["schema"], "lbprof-report/2");
    assert_eq!(report["efficiency"]["load_balance"].as_f64(), Some(0.02 / 0.03));
}

#[test]
fn what_cannot_be_read_is_reported_with_what_to_do() {
    let here = tempfile::tempdir().unwrap();
    assert_fails(here.path(), &[], 5, "record one: mpirun -n 4 lb-run ./program");
    assert_fails(here.path(), &["nowhere"], 5, "nowhere: there is no such folder");
    std::fs::create_dir_all(here.path().join("outer/inner")).unwrap();
    assert_fails(here.path(), &["outer"], 5, "outer: no logs (rank-*.lbp) in it: record a run first");
    late_sender().write(&here.path().join("outer/inner")).unwrap();
    assert_fails(here.path(), &["outer"], 5, "outer: no logs (rank-*.lbp) in it, but in outer/inner");
    assert_fails(here.path(), &["outer/inner/rank-000000.lbp"], 5, "not a folder: name the folder that holds");
    std::fs::write(here.path().join("some.file"), "text").unwrap();
    assert_fails(here.path(), &["some.file"], 5, "not a folder: name the folder");
    std::fs::create_dir(here.path().join("text")).unwrap();
    std::fs::write(here.path().join("text/rank-000000.lbp"), "This is a text and no log.").unwrap();
    assert_fails(here.path(), &["text"], 5, "its only log cannot be read: ");
    assert_fails(here.path(), &["dump", "outer/inner", "--rank", "9"], 5, "no log of rank 9");
}

#[test]
fn a_study_is_no_run() {
    let here = tempfile::tempdir().unwrap();
    late_sender().write(&here.path().join("run")).unwrap();
    lb_report(here.path(), &["study", "add", "all", "run"]).assert().code(0);
    assert_fails(here.path(), &["all"], 5, "all: this is a study, not a run of lbprof: lb-report study show");
    assert_fails(
        here.path(),
        &["compare", "all", "run"],
        5,
        "all: this is a study, not a run of lbprof: lb-report study show",
    );
}

/// Runs lb-report as an unprivileged user. It runs from a copy in `folder`, because that user may lack access to the build folder.
fn lb_report_of_nobody(folder: &Path, path: &Path) -> String {
    use std::os::unix::process::CommandExt;
    let copy = folder.join("lb-report");
    if !copy.exists() {
        std::fs::copy(env!("CARGO_BIN_EXE_lb-report"), &copy).unwrap();
    }
    let mut command = std::process::Command::new(copy);
    let output = command.arg(path).uid(61_734).gid(61_734).current_dir("/").output().unwrap();
    String::from_utf8(output.stderr).unwrap()
        + &String::from_utf8(output.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn files_that_may_not_be_read_are_called_that_with_their_owner() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let here = tempfile::tempdir().unwrap();
    // Only root can act as another user.
    if here.path().metadata().unwrap().uid() != 0 {
        return;
    }
    let allow = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    let run = here.path().join("run");
    late_sender().write(&run).unwrap();
    allow(here.path(), 0o755);
    allow(&run.join("rank-000001.lbp"), 0o600);
    let text = lb_report_of_nobody(here.path(), &run);
    assert!(text.contains("rank-000001.lbp: permission denied: it belongs to root (mode 600)"), "{text}");
    assert!(text.contains("chmod -R a+rX") && !text.contains("missing") && !text.contains("copy the log"), "{text}");
    allow(&run.join("rank-000000.lbp"), 0o600);
    let text = lb_report_of_nobody(here.path(), &run);
    assert!(text.contains("none of its 2 logs can be read; the first: "), "{text}");
    assert!(text.contains("rank-000000.lbp: permission denied: it belongs to root (mode 600)"), "{text}");
    allow(&run, 0o700);
    let text = lb_report_of_nobody(here.path(), &run);
    assert!(text.contains("run: cannot be read: permission denied: it belongs to root (mode 700)"), "{text}");
    allow(&run, 0o744);
    let text = lb_report_of_nobody(here.path(), &run);
    assert!(
        text.contains("permission denied: the folder ") && text.contains("run belongs to root (mode 744)"),
        "{text}"
    );
}

#[test]
fn a_run_without_records_says_that_nothing_was_recorded_and_why() {
    let here = tempfile::tempdir().unwrap();
    // The first thread of each rank got no ring.
    let reason = "cannot make rank-000000.rings: no space is left on the disk".to_owned();
    let lost = Definition::Problem(ProblemKind::ThreadLost as u16, 1, reason.clone());
    std::fs::create_dir(here.path().join("full")).unwrap();
    for rank in 0..2 {
        let mut writer = LogWriter::new(Vec::new(), &header(rank, 2)).unwrap();
        writer.definitions(std::slice::from_ref(&lost)).unwrap();
        std::fs::write(here.path().join("full").join(log_name(rank)), writer.into_sink()).unwrap();
    }
    for command in [&["full"][..], &["full", "--json"], &["dump", "full"], &["compare", "full", "full"]] {
        assert_fails(
            here.path(),
            command,
            5,
            &format!("full: nothing was recorded: {reason}; see that LBPROF_DIR has space"),
        );
    }
}

/// 24 steps on two ranks, each with three exchanges by one call, the `relaxation`, and a sum over both at its end.
fn three_a_step() -> Scenario {
    Scenario::ranks(2).each(|rank, script| {
        script.at("begin").barrier(0.5).repeat(24, move |_, script| {
            let exchange = |script: RankScript| script.compute(2 + rank).at("relaxation").send(0, 1, 4096, 0.25);
            let script = (0..3).fold(script, |script, _| exchange(script).at("receive").recv(0, 1, 4096, 0.25));
            script.compute(1).at("sum").allreduce(64, 3.5 - 3.0 * f64::from(rank))
        })
    })
}

fn with_loop(here: &Path, loop_at: &str) -> (Value, String) {
    let run = |more: &[&str]| {
        let arguments = [&["run", "--loop", loop_at], more].concat();
        let output = lb_report(here, &arguments).assert().success().get_output().clone();
        String::from_utf8(output.stdout).unwrap()
    };
    let document: Value = serde_json::from_str(&run(&["--json"])).unwrap();
    let main = document["loops"].as_array().unwrap().iter().find(|one| one["main"] == true).expect("a main loop");
    (main.clone(), run(&["--full"]).split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn a_call_that_comes_several_times_in_each_iteration_is_said_to_and_one_of_so_many_taken() {
    let here = tempfile::tempdir().unwrap();
    three_a_step().write(&here.path().join("run")).unwrap();
    let dump = stdout_of(here.path(), &["run", "--json"], 0);
    let report: Value = serde_json::from_str(&dump).unwrap();
    let sends = report["callsites"].as_array().unwrap().iter().find(|one| one["operation"] == "Send").expect("a send");
    let place = format!("scenario+{:#x}", sends["offset"].as_u64().expect("an offset"));
    let (main, text) = with_loop(here.path(), &place);
    assert_eq!(main["iterations_max"], 72.0, "what was asked for");
    assert_eq!((&main["confidence"], &main["doubt"]), (&"sure".into(), &"period".into()));
    assert_eq!((&main["possible_min"], &main["possible_max"]), (&24.0.into(), &72.0.into()));
    assert!(text.contains("3 times in each iteration") && text.contains("--loop 'CALLSITE/3'"), "{text}");
    // The advice helps.
    let (main, text) = with_loop(here.path(), &format!("{place}/3"));
    assert_eq!((&main["iterations_max"], &main["confidence"]), (&24.0.into(), &"sure".into()), "{main}");
    assert!(!text.contains("times in each iteration"), "{text}");
    let end = text_of_end(&report);
    let (main, _) = with_loop(here.path(), &end);
    assert_eq!((&main["iterations_max"], &main["confidence"]), (&24.0.into(), &"sure".into()), "{end}: {main}");
}

/// The call site of the sum, with which a step ends.
fn text_of_end(report: &Value) -> String {
    let sums = report["callsites"].as_array().unwrap().iter().find(|one| one["operation"] == "Allreduce");
    format!("scenario+{:#x}", sums.expect("a sum")["offset"].as_u64().expect("an offset"))
}

#[test]
fn wrong_use_is_reported_with_what_is_right() {
    let here = tempfile::tempdir().unwrap();
    assert_fails(
        here.path(),
        &["--nonsense"],
        2,
        "lb-report: there is no option --nonsense; lb-report --help shows those",
    );
    for (line, says) in [
        (&["--tpo", "5"][..], "there is no option --tpo; did you mean --top?"),
        (&["lbprof-out", "--regoin=main"], "there is no option --regoin; did you mean --region?"),
        (&["compare", "a", "b", "--fial-if", "x"], "there is no option --fial-if; did you mean --fail-if?"),
        (&["study", "add", "--relpace"], "there is no option --relpace; did you mean --replace?"),
        (&["study", "add", "--nonsense"], "lb-report study add --help shows those"),
    ] {
        assert_fails(here.path(), line, 2, says);
    }
    assert_fails(here.path(), &["--top", "0"], 2, "0 is not in 1..");
    assert_fails(here.path(), &["lbprof-out", "dump"], 2, "lb-report dump DIR");
    assert_fails(here.path(), &["lbprof-out", "other"], 2, "one folder at a time");
    std::fs::create_dir(here.path().join("lbprof-out")).unwrap();
    assert_fails(
        here.path(),
        &["lbprof-out", "lbprof-out"],
        2,
        "to compare runs: lb-report compare lbprof-out lbprof-out",
    );
    for word in ["comp", "compere"] {
        assert_fails(
            here.path(),
            &[word, "lbprof-out", "other"],
            2,
            "did you mean: lb-report compare lbprof-out other",
        );
    }
    for (word, command) in [("cmp", "compare"), ("diff", "compare"), ("exprt", "export"), ("comprae", "compare")] {
        let meant = format!("did you mean: lb-report {command} lbprof-out lbprof-out");
        assert_fails(here.path(), &[word, "lbprof-out", "lbprof-out"], 2, &meant);
    }
}

#[test]
fn a_selection_that_the_run_does_not_have_is_wrong_use() {
    let dir = written(late_sender());
    let path = text_of(dir.path());
    assert_fails(dir.path(), &[path, "--ranks", "2"], 2, "--ranks: there is no rank 2: the run has 0 to 1");
    assert_fails(dir.path(), &[path, "--ranks", "0-x"], 2, "\"0-x\" is no rank, range or name=value");
    assert_fails(dir.path(), &[path, "--ranks", "host=n0"], 2, "the hosts are node0");
    assert_fails(dir.path(), &[path, "--from", "-1s"], 2, "expected a time from the begin of the run");
    assert_fails(dir.path(), &[path, "--from", "2s"], 2, "the run lasts 0.030500 s");
    assert_fails(dir.path(), &[path, "--to", "iteration=2"], 2, "no main loop");
    assert_fails(dir.path(), &[path, "--region", "wrok"], 2, "did you mean main/work?");
    assert_fails(dir.path(), &[path, "--region", "\u{1b}[2J"], 2, "there is no region \\u{1b}[2J");
    let all = [path, "--ranks", "1", "--from", "5ms", "--to", "20ms", "--region", "main"];
    lb_report(Path::new("."), &all).assert().code(0);
}

#[test]
fn help_shows_examples_and_exit_codes() {
    let help = stdout_of(Path::new("."), &["--help"], 0);
    for expected in ["EXAMPLES", "mpirun -n 4 lb-run ./program", "EXIT CODES", "--no-symbols", "--top <N>"] {
        assert!(help.contains(expected), "{help}");
    }
}

#[test]
fn the_short_help_fits_a_screen() {
    let help = |arguments: &[&str]| {
        lb_report(Path::new("."), arguments).assert().stderr("");
        stdout_of(Path::new("."), arguments, 0)
    };
    let short = help(&["-h"]);
    assert!(short.lines().count() <= 60 && short.contains("--what-if") && !short.contains("--polling"), "{short}");
    assert!(short.lines().all(|line| line.chars().count() <= 100), "{short}");
    assert!(help(&["--help"]).contains("--polling"));
    for command in [&["compare"][..], &["study", "show"]] {
        let (short, long) = (help(&[command, &["-h"]].concat()), help(&[command, &["--help"]].concat()));
        assert!(short.lines().count() < long.lines().count() && long.contains("EXAMPLES"), "{short}");
    }
}

#[test]
fn the_first_screen_is_the_default_and_tables_are_asked_for() {
    let dir = written(late_sender());
    let text = |arguments: &[&str]| {
        let all = [&[text_of(dir.path())], arguments].concat();
        stdout_of(Path::new("."), &all, 0)
    };
    let (first, some, full) = (text(&[]), text(&["--top", "1", "--full"]), text(&["--full"]));
    assert!(first.contains("Also lost") && first.contains("Data:") && !first.contains("Call sites"), "{first}");
    let proposed = format!("lb-report {} --top 8", text_of(dir.path()));
    assert!(first.contains(&proposed), "{first}");
    let part = text(&["--ranks", "0", "--color", "never", "--what-if", "rank=0"]);
    let proposed = format!("lb-report {} --ranks 0 --what-if 'rank=0' --top 8", text_of(dir.path()));
    assert!(part.contains(&proposed.replace('\'', "")) || part.contains(&proposed), "{part}");
    let asked = text(&["--what-if", "faster=work:2"]);
    assert!(asked.contains("work were 2 times as fast"), "{asked}");
    assert!(some.contains("Call sites\n") && some.contains("\n  others (1)"), "{some}");
    assert!(full.contains("Call sites\n") && full.len() > some.len(), "{full}");
    let table = text(&["--table", "ranks"]);
    assert!(table.starts_with("ranks\n") && table.lines().count() > 3, "{table}");
    assert_fails(
        dir.path(),
        &[text_of(dir.path()), "--table", "rank"],
        2,
        "there is no table rank in this report, but",
    );
}

#[test]
fn tables_are_written_as_csv() {
    let dir = written(late_sender());
    let tables = dir.path().join("tables/of a run");
    lb_report(Path::new("."), &[text_of(dir.path()), "--csv", text_of(&tables)]).assert().code(0).stdout("");
    let json = stdout_of(Path::new("."), &[text_of(dir.path()), "--json"], 0);
    let json: Value = serde_json::from_str(&json).unwrap();
    let mut ranks = csv::Reader::from_path(tables.join("ranks.csv")).unwrap();
    let head = ranks.headers().unwrap().clone();
    let computation = head.iter().position(|column| column == "computation_s").unwrap();
    for (row, rank) in ranks.records().zip(json["ranks"].as_array().unwrap()) {
        assert_eq!(row.unwrap()[computation].parse::<f64>().unwrap(), rank["computation_s"].as_f64().unwrap());
    }
    let facts = std::fs::read_to_string(tables.join("facts.csv")).unwrap();
    assert!(facts.contains(&format!("efficiency.load_balance,{}", json["efficiency"]["load_balance"])), "{facts}");
    assert!(tables.join("blocking.causes.csv").exists());
    std::fs::write(tables.join("notes.txt"), "the user's own").unwrap();
    lb_report(Path::new("."), &[text_of(dir.path()), "--no-blocking", "--csv", text_of(&tables)]).assert().code(0);
    assert!(!tables.join("blocking.causes.csv").exists(), "a table of the report before");
    assert!(tables.join("notes.txt").exists());
    assert_fails(dir.path(), &[text_of(dir.path()), "--csv", "/dev/full/x"], 6, "/dev/full/x");
}

#[test]
fn shells_and_man_are_served() {
    let here = tempfile::tempdir().unwrap();
    let bash = stdout_of(Path::new("."), &["completions", "bash"], 0);
    assert!(bash.contains("--what-if"));
    let page = stdout_of(Path::new("."), &["man"], 0);
    assert!(page.contains(".TH lb-report 1") && page.contains("EXIT CODES"), "{page}");
    let synopsis = page.lines().find(|line| line.contains("\\-\\-ranks")).unwrap().replace('\\', "");
    assert!(synopsis.contains("[--ranks LIST]") && synopsis.contains("[--json [FILE]]"), "{synopsis}");
    assert!(synopsis.contains("[--full]") && synopsis.ends_with("[DIR]"), "{synopsis}");
    lb_report(Path::new("."), &["man", text_of(here.path())]).assert().code(0);
    assert!(here.path().join("lb-report.1").exists() && here.path().join("lb-report-dump.1").exists());
}

#[test]
fn incomplete_data_end_with_four_and_a_report() {
    let dir = written(late_sender().missing(1));
    let output = stdout_of(Path::new("."), &[text_of(dir.path())], 4);
    assert!(output.contains("From incomplete data (logs of 1 of 2 ranks)"));
}

#[test]
fn a_report_that_cannot_be_written_is_an_error() {
    let dir = written(late_sender());
    for option in ["--json", "--html"] {
        let error = "/nowhere/report.x: there is no such file or folder\n";
        assert_fails(dir.path(), &[text_of(dir.path()), option, "/nowhere/report.x"], 6, error);
    }
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_lb-report"));
    assert_eq!(child.arg(dir.path()).stdout(full).status().unwrap().code(), Some(6));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let dir = written(late_sender());
    for arguments in [
        vec![text_of(dir.path())],
        vec![text_of(dir.path()), "--json"],
        vec!["dump", text_of(dir.path())],
        vec!["--help"],
    ] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_lb-report"))
            .args(&arguments)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{arguments:?}");
    }
}

#[test]
fn the_run_that_began_last_is_the_newest_whatever_was_touched_since() {
    let here = tempfile::tempdir().unwrap();
    let began = |seconds| late_sender().header(0, move |header| header.started_unix_s = seconds);
    began(2_000_000_000).write(&here.path().join("lbprof-out-2")).unwrap();
    began(1_900_000_000).write(&here.path().join("lbprof-out")).unwrap();
    let output = lb_report(here.path(), &[]).assert().code(0).get_output().clone();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "lb-report: the newest run here is lbprof-out-2\n");
}

#[test]
fn a_folder_where_json_wants_a_file_is_a_wrong_argument() {
    let here = tempfile::tempdir().unwrap();
    let folder = written(late_sender());
    let path = folder.path().to_str().unwrap();
    let output = lb_report(here.path(), &["--json", path]).assert().code(2).get_output().clone();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains(&format!("lb-report {path} --json")), "{message}");
}

fn commands(document: &str) -> Vec<Vec<String>> {
    let joined = document.replace("\\\n", " ");
    let lines = joined.lines().filter_map(|line| line.strip_prefix("    "));
    lines.filter(|line| line.starts_with("lb-report")).map(|line| shlex::split(line).expect("quotes match")).collect()
}

/// A folder with all runs that the documents name, on 4 ranks of which the last works longer in a region `force`.
fn runs_of_the_documents() -> tempfile::TempDir {
    let here = tempfile::tempdir().unwrap();
    for (id, name) in ["before", "after", "lbprof-out", "out-1", "out-2", "out-4", "out-8"].iter().enumerate() {
        let run = Scenario::ranks(4).run_id(100 + id as u64).each(|rank, r| {
            let own = if rank == 3 { 40 } else { 10 };
            r.repeat(5, |_, r| {
                r.iteration("step", |r| r.region("force", |r| r.compute(own)).at("meeting").barrier(41 - own))
            })
        });
        run.write(&here.path().join(name)).unwrap();
    }
    here
}

#[test]
fn every_command_in_the_documents_works() {
    let documents = [
        include_str!("../../../README.md"),
        include_str!("../../../docs/reading-a-report.md"),
        include_str!("../../../docs/study.md"),
    ];
    let mut n_run = 0;
    for document in documents {
        let here = runs_of_the_documents();
        for command in commands(document) {
            let arguments: Vec<&str> = command[1..].iter().map(String::as_str).collect();
            lb_report(here.path(), &arguments).assert().code(code_of(&arguments));
            n_run += 1;
        }
    }
    assert!(n_run >= 12, "{n_run}");
}

/// Returns the exit code of a command of the documents on these runs. Their parallel efficiency of 43 % misses the condition, and the study of
/// examples/matmul needs recorded runs.
fn code_of(arguments: &[&str]) -> i32 {
    match arguments {
        _ if arguments.contains(&"--fail-if") => 3,
        _ if arguments.contains(&"study/matmul.study") => 5,
        _ => 0,
    }
}
