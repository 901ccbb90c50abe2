//! `lb-report export otf2`: a small archive as otf2-print shows it, and no archive without OTF2's library. `tests/readers/read_otf2.py` reads a
//! larger one.

use std::fs;
use std::path::Path;
use std::process::Output;

use lbprof_collector::Operation;
use lbprof_collector::record::CallFlags;
use lbprof_simulator::scenario::Scenario;
use lbprof_test_runs::written;

use crate::late_sender::late_sender_and_bcast;
use crate::program::lb_report;

fn export(dir: &Path, more: &[&str]) -> Output {
    let archive = ["export", "otf2", ".", "-o", "trace", "--no-symbols", "--quiet"];
    lb_report(dir, &[&archive, more].concat()).output().unwrap()
}

/// The events of the run in `dir`, as otf2-print shows them: kind, location, time and the rest.
fn events(dir: &Path, more: &[&str]) -> Vec<String> {
    let output = export(dir, more);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), errors.as_str()), (Some(0), ""), "{more:?}");
    let mut print = std::process::Command::new("otf2-print");
    let printed =
        print.arg(dir.join("trace/traces.otf2")).output().expect("otf2-print is installed (scripts/setup test)");
    assert!(printed.status.success() && printed.stderr.is_empty(), "{}", String::from_utf8_lossy(&printed.stderr));
    let text = String::from_utf8(printed.stdout).unwrap();
    let lines = text.lines().skip_while(|line| !line.starts_with("---")).skip(1);
    lines.map(essence).filter(|line| !line.is_empty()).collect()
}

fn essence(line: &str) -> String {
    let without_numbers: String =
        line.split('<').map(|part| part.split_once('>').map_or(part, |(_, rest)| rest)).collect();
    let mut text = without_numbers;
    for word in [
        " (\"Master thread\" )",
        "ADDITIONAL ATTRIBUTES: ",
        "Region: ",
        "Communicator: ",
        "; STRING; ",
        "; UINT32;",
        "; UINT64;",
        "\"",
        "(",
        ")",
    ] {
        text = text.replace(word, "");
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace(" ,", ",")
}

#[test]
fn an_archive_has_regions_calls_waits_messages_and_collectives() {
    let dir = written(late_sender_and_bcast());
    let expected = [
        "ENTER 0 0 main",
        "ENTER 0 0 work",
        "ENTER 1 0 main",
        "ENTER 1 10 MPI_Recv",
        "call site scenario+0x10, wait state late sender, waiting 30, delay source 0",
        "LEAVE 0 30 work",
        "ENTER 0 30 MPI_Send",
        "call site scenario+0x10",
        "MPI_SEND 0 30 Receiver: 1, MPI_COMM_WORLD, Tag: 7, Length: 800",
        "LEAVE 0 40 MPI_Send",
        "ENTER 0 40 MPI_Bcast",
        "call site scenario+0x20",
        "MPI_COLLECTIVE_BEGIN 0 40",
        "MPI_RECV 1 40 Sender: 0, MPI_COMM_WORLD, Tag: 7, Length: 800",
        "LEAVE 1 40 MPI_Recv",
        "ENTER 1 40 MPI_Bcast",
        "call site scenario+0x20",
        "MPI_COLLECTIVE_BEGIN 1 40",
        "MPI_COLLECTIVE_END 0 60 Operation: BCAST, MPI_COMM_WORLD, Root: 1, Sent: 0, Received: 8",
        "LEAVE 0 60 MPI_Bcast",
        "LEAVE 0 60 main",
        "MPI_COLLECTIVE_END 1 60 Operation: BCAST, MPI_COMM_WORLD, Root: 1, Sent: 8, Received: 0",
        "LEAVE 1 60 MPI_Bcast",
        "LEAVE 1 60 main",
    ];
    assert_eq!(events(dir.path(), &[]), expected);
}

#[test]
fn a_part_of_the_ranks_has_communicators_of_these_alone_and_no_half_messages() {
    let dir = written(late_sender_and_bcast());
    let events = events(dir.path(), &["--ranks", "1"]);
    assert!(!events.iter().any(|line| line.starts_with("MPI_RECV")), "{events:#?}");
    let collective = events.iter().find(|line| line.starts_with("MPI_COLLECTIVE_END")).unwrap();
    assert!(collective.contains("Root: 0,"), "{collective}");
}

#[test]
fn a_call_that_has_no_length_after_clocks_were_corrected_is_in_the_trace() {
    // rank 0 |work 30 ·······| send 10 |
    // rank 1 | 10 | recv 10 |Put 5|==== 20 ====|     its clock says that it received 10 ns before the message was sent
    let ns = 1e-6;
    let run = Scenario::ranks(2)
        .rank(0, move |r| r.region("work", |r| r.compute(30.0 * ns)).send(1, 7, 800, 10.0 * ns))
        .rank(1, move |r| {
            let script = r.compute(10.0 * ns).recv(0, 7, 800, 10.0 * ns);
            script.call(Operation::Put, 5.0 * ns, |_| {}).compute(20.0 * ns)
        });
    let events = events(written(run).path(), &[]);
    let of_rank_1 = events.iter().filter(|line| line.starts_with("ENTER 1") || line.starts_with("LEAVE 1"));
    let expected = [
        "ENTER 1 0 main",
        "ENTER 1 10 MPI_Recv",
        "LEAVE 1 30 MPI_Recv",
        "ENTER 1 30 MPI_Put",
        "LEAVE 1 30 MPI_Put",
        "LEAVE 1 50 main",
    ];
    assert_eq!(of_rank_1.collect::<Vec<_>>(), expected);
}

#[test]
fn a_send_that_was_cancelled_is_started_and_cancelled_and_no_receive_has_its_message() {
    // rank 0 | Isend to 1, 10 | Wait 20: cancelled | send 10 |
    // rank 1 |======= 60 =======| recv 10 |
    let ns = 1e-6;
    let run = Scenario::ranks(2)
        .rank(0, move |r| {
            let script = r.call(Operation::Isend, 10.0 * ns, |record| {
                (record.peer, record.tag, record.sent, record.request) = (1, 7, 400, 5);
            });
            let script = script.call(Operation::Wait, 20.0 * ns, |record| {
                (record.peer, record.tag, record.request) = (1, 7, 5);
                record.flags |= CallFlags::CANCELLED;
            });
            script.send(1, 7, 800, 10.0 * ns)
        })
        .rank(1, move |r| r.compute(60.0 * ns).recv(0, 7, 800, 10.0 * ns));
    let events = events(written(run).path(), &[]);
    let of_messages = events.iter().filter(|line| line.starts_with("MPI_"));
    let expected = [
        "MPI_ISEND 0 0 Receiver: 1, MPI_COMM_WORLD, Tag: 7, Length: 400, Request: 5",
        "MPI_REQUEST_CANCELLED 0 30 Request: 5",
        "MPI_SEND 0 30 Receiver: 1, MPI_COMM_WORLD, Tag: 7, Length: 800",
        "MPI_RECV 1 70 Sender: 0, MPI_COMM_WORLD, Tag: 7, Length: 800",
    ];
    assert_eq!(of_messages.collect::<Vec<_>>(), expected);
}

#[test]
fn without_the_library_the_error_names_the_packages_and_nothing_is_left() {
    let dir = written(late_sender_and_bcast());
    let before = fs::read_dir(dir.path()).unwrap().count();
    let libraries = tempfile::tempdir().unwrap();
    for name in ["libotf2.so.10", "libopen-trace-format2.so.10", "libopen-trace-format2.so", "libotf2.so"] {
        // The loader looks no further than at a file of this name.
        fs::write(libraries.path().join(name), "no library").unwrap();
    }
    let mut command = lb_report(dir.path(), &["export", "otf2", ".", "-o", "trace"]);
    let output = command.env("LD_LIBRARY_PATH", libraries.path()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(6), "{errors}");
    assert!(errors.contains("Install libotf2-trace-dev (Debian, Ubuntu)"), "{errors}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), before, "no folder");
}

#[test]
fn a_folder_with_files_is_left_as_it_is() {
    let dir = written(late_sender_and_bcast());
    fs::create_dir(dir.path().join("trace")).unwrap();
    fs::write(dir.path().join("trace/notes"), "mine").unwrap();
    let output = export(dir.path(), &[]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(6), "{errors}");
    assert!(errors.contains("trace: this folder has files"), "{errors}");
    assert_eq!(fs::read_dir(dir.path().join("trace")).unwrap().count(), 1);
}
