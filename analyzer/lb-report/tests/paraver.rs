//! `lb-report export paraver`: small traces, line by line. `tests/readers/read_paraver.py` reads a larger one.

use std::fs;
use std::path::Path;
use std::process::Output;

use lbprof_simulator::scenario::{RankScript, Scenario};
use lbprof_test_runs::written;

use crate::late_sender::late_sender_and_bcast;
use crate::program::lb_report;

fn export(dir: &Path, more: &[&str]) -> Output {
    let trace = ["export", "paraver", ".", "-o", "run.prv", "--no-symbols", "--quiet"];
    lb_report(dir, &[&trace, more].concat()).output().unwrap()
}

fn lines(dir: &Path, more: &[&str]) -> (String, Vec<String>) {
    let output = export(dir, more);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), said.as_str()), (Some(0), ""), "{more:?}");
    let text = fs::read_to_string(dir.join("run.prv")).unwrap();
    let (head, rest) = text.split_once('\n').unwrap();
    (head.to_owned(), rest.lines().map(str::to_owned).collect())
}

#[test]
fn parallel_regions_are_events_of_the_thread_that_starts_them() {
    // Work of 10 and 30, twice before the barrier: each instance by itself.
    let team = |r: RankScript| r.team(&[10e-6, 30e-6]);
    let script = |_, r: RankScript| team(team(r.compute(5e-6)).compute(5e-6)).barrier(1e-6);
    let dir = written(Scenario::ranks(1).each(script));
    let (_, lines) = lines(dir.path(), &[]);
    let found: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("2:1:1:1:1:")).collect();
    let events = found.iter().filter(|event| event.contains(":60000018:")).copied();
    let expected =
        ["5", "35", "40", "70"].into_iter().zip([":60000018:1:60000033:2", ":60000018:0:60000033:0"].iter().cycle());
    let expected: Vec<String> = expected.map(|(at, values)| format!("{at}{values}")).collect();
    assert_eq!(events.collect::<Vec<_>>(), expected);
}

#[test]
fn a_trace_has_states_calls_regions_waits_and_messages() {
    let dir = written(late_sender_and_bcast());
    let (head, lines) = lines(dir.path(), &[]);
    assert!(head.starts_with("#Paraver (") && head.ends_with("):60_ns:1(2):1:2(1:1,1:1),2"), "{head}");
    let expected = [
        "c:1:1:2:1:2",
        // MPI_COMM_SELF, which has one number on all ranks of a scenario.
        "c:1:2:1:1",
        "1:2:1:2:1:0:10:1",
        "1:1:1:1:1:0:30:1",
        "2:2:1:2:1:0:60000019:1",
        "2:1:1:1:1:0:60000019:1",
        "2:1:1:1:1:0:60000019:2",
        // The wait of the receive.
        "1:2:1:2:1:10:40:3",
        "2:2:1:2:1:10:50000001:2",
        "2:2:1:2:1:10:90900001:1:90900002:1",
        "1:1:1:1:1:30:40:4",
        "2:1:1:1:1:30:60000019:0",
        "2:1:1:1:1:30:50000001:1",
        "3:1:1:1:1:30:30:2:1:2:1:10:40:800:7",
        // A broadcast of 8 bytes, whose root is rank 1.
        "1:1:1:1:1:40:60:13",
        "1:2:1:2:1:40:60:13",
        "2:1:1:1:1:40:50000001:0",
        "2:1:1:1:1:40:50000002:7:50100001:0:50100002:8:50100004:1",
        "2:2:1:2:1:40:50000001:0",
        "2:2:1:2:1:40:90900001:0:90900002:0",
        "2:2:1:2:1:40:50000002:7:50100001:8:50100002:0:50100003:1:50100004:1",
        "2:1:1:1:1:60:50000002:0",
        "2:2:1:2:1:60:50000002:0",
        "2:1:1:1:1:60:60000019:0",
        "2:2:1:2:1:60:60000019:0",
    ];
    let times: Vec<u64> = lines.iter().skip(2).map(|line| line.split(':').nth(5).unwrap().parse().unwrap()).collect();
    assert!(times.is_sorted(), "{lines:?}");
    let (mut found, mut wanted) = (lines.clone(), expected.map(str::to_owned).to_vec());
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted);
    // At one time, what ends comes before what begins.
    let place = |line: &str| lines.iter().position(|one| one == line).unwrap();
    assert!(place("2:1:1:1:1:30:60000019:0") < place("2:1:1:1:1:30:50000001:1"));
    assert!(place("2:1:1:1:1:40:50000001:0") < place(expected[17]));
    let names = fs::read_to_string(dir.path().join("run.pcf")).unwrap();
    for line in ["9    50000001    MPI Point-to-point", "2      MPI_Recv", "2      main/work", "1      late sender"] {
        assert!(names.lines().any(|one| one == line), "{line}: {names}");
    }
    let rows = fs::read_to_string(dir.path().join("run.row")).unwrap();
    let expected = "LEVEL CPU SIZE 2\nCPU 1.1\nCPU 1.2\n\nLEVEL NODE SIZE 1\nnode0\n\nLEVEL TASK SIZE 2\nrank 0\nrank 1\n\n\
                    LEVEL THREAD SIZE 2\nrank 0\nrank 1\n";
    assert_eq!(rows, expected);
}

#[test]
fn a_part_of_a_run_is_exported_alone() {
    let dir = written(late_sender_and_bcast());
    let (head, part) = lines(dir.path(), &["--ranks", "1"]);
    assert!(head.ends_with(":60_ns:1(1):1:1(1:1),2"), "{head}");
    assert_eq!(part[0], "c:1:1:1:1", "members that are there");
    assert!(part.iter().all(|line| !line.starts_with("3:")), "a message needs both sides: {part:?}");
    let (_, region) = lines(dir.path(), &["--region", "work"]);
    let expected = ["1:1:1:1:1:0:30:1", "2:1:1:1:1:0:60000019:1", "2:1:1:1:1:0:60000019:2"];
    assert_eq!(region[2..5], expected);
}

#[test]
fn sums_have_no_trace() {
    let dir = written(late_sender_and_bcast().profile_mode());
    let output = export(dir.path(), &[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("the run has sums in place of records (LBPROF_MODE=profile)"), "{said}");
    let left = fs::read_dir(dir.path()).unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    assert!(left.into_iter().all(|name| !name.contains("run.") && !name.starts_with(".lb-report")));
}
