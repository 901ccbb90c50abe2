//! Scripts: when their calls end, worked out by hand, what their logs hold (what tests/programs/records say of the records of real programs, in the words
//! of scripts), and what is wrong with those that are.

use lbprof_collector::definition::{Definition, ObjectKind, RankGroup, RankList};
use lbprof_collector::folder::RunFolder;
use lbprof_collector::reader::LogItem;
use lbprof_collector::record::{NO_PEER, NONE, Record};
use lbprof_collector::{CallFlags, Operation};
use lbprof_simulator::scenario::START;
use lbprof_simulator::script::{Network, Script, Simulation, Wait};

fn script(text: &str) -> Script {
    Script::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn run(text: &str) -> Simulation {
    script(text).simulate().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// When the windows end, in milliseconds.
fn ends(text: &str) -> Vec<f64> {
    run(text).ranks.iter().map(|rank| (rank.end_ns - START) as f64 / 1e6).collect()
}

/// Who ended the waits of a rank, what they did when, and when that took effect, in milliseconds.
fn waits(simulation: &Simulation, rank: usize) -> Vec<(u32, f64, f64)> {
    let ms = |ns: u64| (ns - START) as f64 / 1e6;
    let waits = simulation.ranks[rank].calls.iter().flat_map(|call| &call.waits);
    waits.map(|&Wait { by, did_ns, came_ns }| (by, ms(did_ns), ms(came_ns))).collect()
}

/// The records of a rank as they are read back, less the markers.
fn calls(text: &str, rank: u32) -> Vec<Record> {
    read(text, rank).0.into_iter().filter(|record| record.is_call() || record.is_part()).collect()
}

/// What a rank's log holds; it has no problems.
fn read(text: &str, rank: u32) -> (Vec<Record>, Vec<Definition>) {
    let dir = tempfile::tempdir().unwrap();
    script(text).write(dir.path()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut log = RunFolder::list(dir.path()).unwrap().open(rank).unwrap();
    let (mut records, mut definitions) = (Vec::new(), Vec::new());
    while let Some(item) = log.next_item() {
        match item {
            LogItem::Records { records: more, .. } => records.extend(more),
            LogItem::Definitions(more) => definitions.extend(more),
            other => panic!("{other:?}"),
        }
    }
    (records, definitions)
}

/// The records of rank 0 but for its MPI_Finalize.
fn records_of(text: &str) -> Vec<Record> {
    let mut records = read(text, 0).0;
    records.pop();
    records
}

/// When and by how much a rank's log says that its clock is ahead, and the error.
fn offsets_of(text: &str, rank: u32) -> Vec<(u64, i64, u64)> {
    let all = read(text, rank).1.into_iter().filter_map(|definition| match definition {
        Definition::ClockOffset(offset) => Some((offset.ticks - START, offset.offset_ns, offset.error_ns)),
        _ => None,
    });
    all.collect()
}

#[test]
fn an_eager_message_arrives_after_latency_and_transfer() {
    // rank 0  |==== 30 ====|s 0.05                      message: 30 + 0.1 + 100/1000 = 30.2
    // rank 1  |= 10 =|recv ...................|0.05
    let text = "ranks 2\n latency 0.1\n bandwidth 1000\n overhead 0.05\n
        rank 0: compute 30; send 1 tag 5 bytes 100\n rank 1: compute 10; recv 0 tag 5";
    assert_eq!(ends(text), [30.05, 30.25]);
    let run = run(text);
    assert_eq!(waits(&run, 1), [(0, 30.0, 30.2)]);
    assert_eq!(run.ranks[0].calls[0].waits, []);
    assert_eq!(run.ranks[1].computation_ns, 10_000_000);
    assert_eq!(run.elapsed_ms(), 30.25);
    // A receive that is late does not wait.
    assert_eq!(ends("ranks 2\nlatency 1\nrank 0: send 1\nrank 1: compute 5; recv 0"), [0.0, 5.0]);
}

#[test]
fn a_large_message_waits_for_its_receive() {
    // rank 0  |= 10 =|send ..............|0.05          both at max(10, 30) + 0.1 + 5 = 35.1
    // rank 1  |======= 30 =======|recv ..|0.05
    let head = "ranks 2\nlatency 0.1\nbandwidth 1000\noverhead 0.05\neager 4999\n";
    let late_receiver = format!("{head} rank 0: compute 10; send 1 bytes 5000\n rank 1: compute 30; recv 0");
    assert_eq!(ends(&late_receiver), [35.15, 35.15]);
    assert_eq!(waits(&run(&late_receiver), 0), [(1, 30.0, 35.1)]);
    assert_eq!(waits(&run(&late_receiver), 1), [(0, 10.0, 35.1)]);
    let late_sender = format!("{head} rank 0: compute 30; send 1 bytes 5000\n rank 1: compute 10; recv 0");
    assert_eq!(ends(&late_sender), [35.15, 35.15]);
    let synchronous = format!("{head} rank 0: ssend 1 bytes 0\n rank 1: compute 30; recv 0");
    assert_eq!(ends(&synchronous), [30.15, 30.15]);
    let buffered = format!("{head} rank 0: bsend 1 bytes 5000\n rank 1: compute 30; recv 0");
    assert_eq!(ends(&buffered), [0.05, 30.05]);
}

#[test]
fn what_is_nonblocking_makes_progress_in_the_background() {
    // The transfer lasts from 10, when both are posted, to 16; the waits begin at 14 and 20.
    let text = "ranks 2\nlatency 1\nbandwidth 1000\neager 100\n
        rank 0: isend 1 bytes 5000 as a; compute 14; wait a\n
        rank 1: compute 10; irecv 0 as b; compute 10; wait b";
    assert_eq!(ends(text), [16.0, 20.0]);
    assert_eq!(waits(&run(text), 0), [(1, 10.0, 16.0)]);
    assert_eq!(waits(&run(text), 1), []);
}

#[test]
fn wildcards_take_the_message_that_arrives_first_and_of_several_at_once_the_lowest_rank() {
    let text = "ranks 4\nlatency 1\n
        rank 0: recv any; recv any tag any; recv any\n
        rank 1: compute 3; send 0\n rank 2: compute 2; send 0 tag 0\n rank 3: compute 3; send 0";
    let sources: Vec<_> = calls(text, 0).iter().take(3).map(|call| call.peer).collect();
    assert_eq!(sources, [2, 1, 3]);
    assert_eq!(ends(text)[0], 4.0);
}

#[test]
fn messages_of_one_sender_do_not_overtake_but_tags_and_communicators_divide_them() {
    let text = "ranks 2\nlatency 1\ncomm pair 1 0\n
        rank 0: send 1 tag 7 bytes 1; send 1 tag 8 bytes 2; send 0 tag 7 bytes 3 on pair; send 1 tag 7 bytes 4\n
        rank 1: recv 0 tag 8; recv 1 tag any on pair; recv 0 tag 7; recv any tag any";
    let received: Vec<_> = calls(text, 1).iter().take(4).map(|call| (call.peer, call.tag, call.received)).collect();
    assert_eq!(received, [(0, 8, 2), (1, 7, 3), (0, 7, 1), (0, 7, 4)]);
}

#[test]
fn probes_find_a_message_when_its_head_is_there_and_tests_what_arrives_at_that_moment() {
    // The head arrives at 1, all of it at 6.
    let with = |calls: &str| format!("ranks 2\nlatency 1\nbandwidth 1000\nrank 0: send 1 bytes 5000\nrank 1: {calls}");
    assert_eq!(ends(&with("probe 0"))[1], 1.0);
    assert_eq!(waits(&run(&with("probe 0")), 1), [(0, 0.0, 1.0)]);
    assert_eq!(ends(&with("probe 0; recv 0"))[1], 6.0);
    assert_eq!(ends(&with("mprobe any as m; compute 2; mrecv m"))[1], 6.0);
    let finds = |text: &str, call: usize| !calls(text, 1)[call].flags.contains(CallFlags::NOTHING);
    assert!(!finds(&with("compute 0.999; iprobe 0"), 0));
    assert!(finds(&with("compute 1; iprobe 0"), 0));
    assert!(!finds(&with("irecv 0 as a; compute 5.999; test a"), 1));
    assert!(finds(&with("irecv 0 as a; compute 6; test a"), 1));
}

#[test]
fn receives_are_matched_in_the_order_of_posting() {
    let text = "ranks 2\nlatency 1\n
        rank 0: send 1 bytes 1; compute 5; send 1 bytes 2\n
        rank 1: irecv any as a; irecv 0 as b; wait b; wait a";
    let received: Vec<_> = calls(text, 1)[2..4].iter().map(|call| (call.request, call.received)).collect();
    assert_eq!(received, [(1, 2), (0, 1)]);
    assert_eq!(ends(text), [5.0, 6.0]);
}

#[test]
fn collectives_wait_for_the_last_the_root_or_those_before() {
    // Ranks enter at 10, 20 and 5.
    let head = "ranks 3\nlatency 1\noverhead 0.5\nrank *: if $r==0; compute 10; end; if $r==1; compute 20; end; if $r==2; compute 5; end\n";
    for (call, expected) in [
        ("barrier", [21.5, 21.5, 21.5]),
        ("allreduce 8", [21.5, 21.5, 21.5]),
        ("bcast 100 root 0", [10.5, 20.5, 11.5]),
        ("scatter 100 root 1", [21.5, 20.5, 21.5]),
        ("reduce 8 root 2", [10.5, 20.5, 21.5]),
        ("gather 8 root 1", [10.5, 20.5, 5.5]),
        ("scan 8", [10.5, 20.5, 21.5]),
        ("ibarrier as a; wait a", [21.5, 21.5, 21.5]),
        ("barrier on self", [10.5, 20.5, 5.5]),
        ("bcast 8 on self", [10.5, 20.5, 5.5]),
        ("reduce 8 on self", [10.5, 20.5, 5.5]),
    ] {
        assert_eq!(ends(&format!("{head} {call}")), expected, "{call}");
    }
    let run = run(&format!("{head} barrier"));
    assert_eq!(waits(&run, 0), [(1, 20.0, 21.0)]);
    assert_eq!(waits(&run, 1), [(1, 20.0, 21.0)], "the latency alone");
}

#[test]
fn a_deadlock_names_the_ranks_and_their_lines() {
    let error = script("ranks 3\nrank 0:\nrecv 1\nrank 1:\nrecv 0\nrank 2: compute 1").simulate().unwrap_err();
    assert_eq!(error.to_string(), "deadlock: rank 0 waits in Recv (line 3), rank 1 waits in Recv (line 5)");
}

#[test]
fn a_replay_keeps_what_wildcards_took_and_tests_found() {
    // rank 0  |recv (2) 1.5|=== 10 ===|recv (1)|       rank 1's message leaves at 1 and arrives at 2
    // rank 1  |recv .. 1.0|send
    // rank 2  |0.5|send                                arrives at 1.5
    // rank 3  send
    let text = "ranks 4\nlatency 1\n
        rank 0: recv any; compute 10; recv any\n rank 1: recv 3; send 0\n rank 2: compute 0.5; send 0\n rank 3: send 1";
    assert_eq!(ends(text)[0], 11.5);
    // Without latency rank 1's message would come first, at 0.
    assert_eq!(script(text).on(Network::default()).simulate().unwrap().elapsed_ms(), 10.0);
    let ideal = script(text).ideal().unwrap();
    assert_eq!(ideal.elapsed_ms(), 10.5);
    assert_eq!(waits(&ideal, 0), [(2, 0.5, 0.5)]);

    // The first test finds nothing, although nothing takes time now; the second waits for what it found.
    let text = "ranks 2\nlatency 1\nrank 0: irecv 1 as a; test a; compute 5; test a; send 1\nrank 1: send 0; recv 0";
    let replay = |latency_ms| {
        let first = script(text).simulate().unwrap();
        script(text).replay(&first, Network { latency_ms, ..Network::default() }).unwrap()
    };
    assert_eq!(replay(0.0).elapsed_ms(), 5.0);
    assert_eq!(replay(7.0).elapsed_ms(), 14.0);
    assert_eq!(waits(&replay(7.0), 0), [(1, 0.0, 7.0)]);
}

#[test]
fn an_ideal_run_keeps_the_waits_for_receives_that_large_messages_have() {
    let text = "ranks 2\nlatency 1\nbandwidth 100\noverhead 0.5\neager 99
        rank 0: send 1 bytes 100; compute 10\nrank 1: compute 30; recv 0";
    assert_eq!(ends(text), [42.5, 32.5]);
    assert_eq!(script(text).ideal().unwrap().elapsed_ms(), 40.0);
}

#[test]
fn loops_conditions_and_sections_are_unrolled() {
    let text = "ranks 3
        rank 0..1:
          repeat 3
            if $i % 2 == 0
              compute 10+5*$i    # 10, 20
            end
          end
        rank 1..$n-1: repeat 2 as k; repeat 2; compute $k*$i+$r; end; end   # 1 + 4·r
        rank *: compute 0.5";
    assert_eq!(ends(text), [30.5, 35.5, 9.5]);
}

#[test]
fn windows_may_begin_late_and_the_last_end_counts() {
    let run = run("ranks 2\nlate 1 5\nrank 0: compute 3\nrank 1: compute 1");
    assert_eq!(run.elapsed_ms(), 6.0);
    assert_eq!((run.ranks[1].begin_ns, run.ranks[1].end_ns), (START + 5_000_000, START + 6_000_000));
}

#[test]
fn logs_may_say_nothing_of_a_clock_or_what_is_wrong() {
    let head = "ranks 2\nrank *: compute 10";
    let with = |clock: &str| offsets_of(&head.replace("\n", &format!("\nclock 1 {clock}\n")), 1);
    assert_eq!(with("+3"), [(3_000_000, 3_000_000, 0), (13_000_000, 3_000_000, 0)]);
    assert_eq!(with("+3 error -0.2"), [(3_000_000, 2_800_000, 200_000), (13_000_000, 2_800_000, 200_000)]);
    assert_eq!(with("+3 unknown"), []);
}

#[test]
fn a_log_is_read_back_as_it_was_simulated() {
    let text = "ranks 2\nlatency 0.1\nlate 1 5\nclock 1 +3 drift 1e-3
        rank 0:
          phase setup control
            compute 30
          end
          send 1 bytes 100
        rank 1:
          repeat 2
            iteration step
              compute 1
            end
          end
          recv any tag any";
    let (records, _) = read(text, 1);
    let at: Vec<_> = records.iter().map(|record| (record.operation().unwrap(), record.count)).collect();
    use Operation::*;
    assert_eq!(at, [(RegionEnter, 0), (RegionLeave, 0), (RegionEnter, 1), (RegionLeave, 1), (Recv, 0), (Finalize, 0)]);
    // 7 to 30.1 ms on a clock that is 3 ms ahead and gains 1 µs a millisecond.
    let recv = records[4];
    assert_eq!((recv.begin - START, recv.end - START), (10_007_000, 33_130_100));
    assert_eq!(
        recv.flags,
        CallFlags::from_activity(Operation::Recv.activity()) | CallFlags::ANY_SOURCE | CallFlags::ANY_TAG
    );
    assert_eq!((recv.peer, recv.tag, recv.received, recv.request), (0, 0, 100, NONE));
    assert_eq!(offsets_of(text, 1), [(8_005_000, 3_005_000, 0), (33_130_100, 3_030_100, 0)]);
}

#[test]
fn what_is_wrong_with_a_script_is_said_with_its_line() {
    for (text, error) in [
        ("", "line 1: `ranks` and their number are missing"),
        ("latency 1", "line 1: a script begins with `ranks` and their number"),
        ("ranks 2\nrank 0: jump", "line 2: `jump` is no statement"),
        ("ranks 2\nrank 0: send 2", "line 2: `2` is 2, but the communicator has 2 ranks"),
        ("ranks 2\nrank 0:\n\nphase a\ncompute 1", "line 4: `phase a` is not closed by `end`"),
        ("ranks 2\nrank 0: end", "line 2: this `end` closes nothing"),
        ("ranks 2\nrank 2: compute 1", "line 2: `2` is not in the ranks, which are 0 to 1"),
        ("ranks 2\nrank 0: compute 1 2", "line 2: `2` is not expected"),
        ("ranks 2\nrank 0: compute -1", "line 2: `-1` is -1 ms, but time does not run backwards"),
        ("ranks 2\nrank 0: isend 1", "line 2: `as` and a name is missing"),
        ("ranks 2\nrank 0: barrier on row", "line 2: rank 0 is in no communicator `row`"),
        ("ranks 2\ncomm row 0 0", "line 2: rank 0 is in a communicator `row` already"),
        ("ranks 2\nclock 0 1", "line 2: rank 0's clock is the one that the others are compared with"),
        ("ranks 2\nrank 0: wait a", "line 2: rank 0: no request `a` was ever started"),
        ("ranks 2\nrank 0: irecv 1 as a; irecv 1 as a", "line 2: rank 0: the request `a` is still open"),
        (
            "ranks 2\nrank 0: barrier\nrank 1: allreduce 8",
            "line 3: rank 1: calls Allreduce where rank 0 called Barrier on `world`",
        ),
        (
            "ranks 2\nrank 0: barrier\nrank 1: ibarrier as a",
            "line 3: rank 1: calls Ibarrier where rank 0 called Barrier on `world`",
        ),
        (
            "ranks 2\nrank *: bcast 8 root $r",
            "line 2: rank 1: calls Bcast with root 1 where rank 0 called Bcast with root 0 on `world`",
        ),
        ("ranks 2\nrank 0: mrecv m", "line 2: rank 0: no probe has found a message `m`"),
        (
            "ranks 2\nrank 0: isend 1 as a; start a",
            "line 2: rank 0: `a` is no persistent request that could be started",
        ),
        ("ranks 2\nrank 0: fence w", "line 2: there is no window `w`"),
    ] {
        let result = Script::parse(text).and_then(|script| script.simulate().map(|_| ()));
        assert_eq!(result.unwrap_err().to_string(), error, "{text}");
    }
}

#[test]
fn a_neighbourhood_collective_waits_for_the_last_that_sends_to_a_rank() {
    // row 1–2–3, and 0 sends to 1 alone: entries at 10, 40, 20, 5; latency 1, 8 bytes take 2
    let text = "ranks 4\nlatency 1\nbandwidth 4\ncomm row 3 0 1 2\ngraph row 0>1 1-2 2-3\n
        rank 0: compute 40\n rank 1: compute 20\n rank 2: compute 5\n rank 3: compute 10\n
        rank *: neighbor_allgather 8 on row";
    // In the row: 3, whom nobody sends; 0 waits for 3 and 1, 1 for 0 and 2, 2 for 1.
    assert_eq!(ends(text), [40.0, 43.0, 23.0, 10.0]);
    let run = run(text);
    assert_eq!(waits(&run, 1), [(0, 40.0, 43.0)]);
    assert_eq!(waits(&run, 2), [(1, 20.0, 23.0)]);
    let record = calls(text, 1)[0];
    assert_eq!((record.sent, record.received), (8, 16));
    let neighbours = |rank| {
        let found = read(text, rank).1.into_iter().find_map(|one| match one {
            Definition::Neighbours(one) => Some(one),
            _ => None,
        });
        let found = found.unwrap();
        (found.comm, found.sources.iter().collect::<Vec<_>>(), found.destinations.iter().collect::<Vec<_>>())
    };
    assert_eq!(neighbours(3), (2, vec![], vec![0]));
    assert_eq!(neighbours(1), (2, vec![0, 2], vec![0, 2]));
    let exchange = calls(&text.replace("neighbor_allgather", "neighbor_alltoall"), 1)[0];
    assert_eq!((exchange.sent, exchange.received), (16, 16));
}

#[test]
fn start_waits_for_post_and_wait_for_complete() {
    // rank 0  |= 10 =|post .|wait .......|            exposed to 1 and 2
    // rank 1  |start ...|== 5 ==|complete|
    // rank 2  |==== 30 =====|start|complete|
    let text = "ranks 3\nlatency 1\nrank *: win_create as w\nrank 0: compute 10; win_post w 1 2; win_wait w\n
        rank 1: win_start w 0; compute 5; win_complete w\nrank 2: compute 30; win_start w 0; win_complete w";
    // The window is there at 1.
    assert_eq!(ends(text), [32.0, 17.0, 31.0]);
    assert_eq!(waits(&run(text), 1)[1..], [(0, 11.0, 12.0)]);
    assert_eq!(waits(&run(text), 0)[1..], [(1, 17.0, 18.0), (2, 31.0, 32.0)]);
    let counts: Vec<_> = calls(text, 0).iter().map(|record| (record.operation(), record.count)).collect();
    let (post, wait) = (Operation::Win_post, Operation::Win_wait);
    assert_eq!(counts[1..3], [(Some(post), 1), (Some(wait), 0)]);
    let groups: Vec<_> = read(text, 0).1.into_iter().filter(|one| matches!(one, Definition::Group(_))).collect();
    let ranks = RankList::from_ranks([1, 2]);
    assert_eq!(groups, [Definition::Group(RankGroup { id: 0, ranks })]);
    // Where the epoch begins late, complete waits.
    let deferred = text.replace("latency 1", "latency 1\nepochs deferred");
    assert_eq!(ends(&deferred), [32.0, 12.0, 31.0]);
    assert_eq!(waits(&run(&deferred), 1)[1..], [(0, 11.0, 12.0)]);
}

#[test]
fn a_lock_waits_for_those_that_it_does_not_go_with() {
    // 0 holds it from 0 to 30; 1 and 2 share it from 31 to 41 and 51, 3 comes last, and has it alone.
    let text = "ranks 4\nlatency 1\nrank *: win_create as w\nrank 0: win_lock 3 on w; compute 30; win_unlock 3 on w\n
        rank 1: compute 10; win_lock 3 shared on w; compute 10; win_unlock 3 on w\n
        rank 2: compute 11; win_lock_all on w; compute 20; win_unlock_all on w\n
        rank 3: compute 12; win_lock 3 on w; win_unlock 3 on w";
    assert_eq!(ends(text), [31.0, 42.0, 52.0, 53.0]);
    assert_eq!(waits(&run(text), 3)[1..], [(2, 52.0, 53.0)]);
    let locks = |rank| calls(text, rank)[1];
    assert!(locks(0).flags.contains(CallFlags::EXCLUSIVE) && !locks(1).flags.contains(CallFlags::EXCLUSIVE));
    assert_eq!((locks(0).peer, locks(2).peer), (3, NO_PEER));
}

/// A record in one line: operation, peer and tag, bytes, request, communicator, count, activity where it is not the operation's, flags.
fn shown(record: &Record) -> String {
    let operation = record.operation().unwrap();
    let mut parts = vec![operation.name().to_owned()];
    if (record.peer, record.tag) != (NO_PEER, NO_PEER) {
        let number = |number: i32| if number == NO_PEER { "–".to_owned() } else { number.to_string() };
        parts.push(format!("{}:{}", number(record.peer), number(record.tag)));
    }
    parts.push(format!("{}/{}", record.sent, record.received));
    let ids =
        [("#", record.request), ("comm ", record.comm), ("×", if record.count == 0 { NONE } else { record.count })];
    parts.extend(ids.iter().filter(|&&(_, id)| id != NONE).map(|(sign, id)| format!("{sign}{id}")));
    if record.activity() != operation.activity() {
        parts.push(format!("as {}", record.activity().name()));
    }
    parts.extend(
        CallFlags::NAMED.iter().filter(|(flag, _)| record.flags.contains(*flag)).map(|&(_, name)| name.to_owned()),
    );
    parts.join(" ")
}

fn holds(text: &str, expected: &[&str]) {
    let records = records_of(text);
    assert_eq!(records.iter().map(shown).collect::<Vec<_>>(), expected, "{text}");
    for (record, before) in records.iter().skip(1).zip(&records) {
        if record.is_part() {
            assert_eq!(
                (record.begin, record.end, record.call_site),
                (before.end, before.end, before.call_site),
                "{text}"
            );
        }
    }
}

#[test]
fn blocking_messages() {
    holds(
        "ranks 2\ncomm pair 1 0\nrank *:
         if $r == 0; send 0 tag 10 bytes 96 on pair; bsend 1 tag 11; rsend 1; recv 1 tag 3; recv any tag any; end
         if $r == 1; recv 1 tag 10 on pair; recv 0 tag 11; recv 0; send 0 tag 3 bytes 5; send 0 tag 4 bytes 6; end
         sendrecv to ($r+1)%$n from ($r+1)%$n tag 14 bytes 12
         sendrecv to ($r+1)%$n from any tag 15 recvtag any bytes 16
         send null tag 17; recv null tag 19
         sendrecv to ($r+1)%$n from null tag 18 bytes 12; recv ($r+1)%$n tag 18
         isend 0 tag 21 bytes 4 on self as s; recv 0 tag 21 on self; wait s",
        &[
            "Send 0:10 96/0 comm 2",
            "Bsend 1:11 8/0 comm 0",
            "Rsend 1:0 8/0 comm 0",
            "Recv 1:3 0/5 comm 0",
            "Recv 1:4 0/6 comm 0 any-source any-tag",
            "Sendrecv 1:14 12/0 comm 0",
            "Received 1:14 0/12 comm 0",
            "Sendrecv 1:15 16/0 comm 0",
            "Received 1:15 0/16 comm 0 any-source any-tag",
            "Send -2:17 0/0 comm 0 nothing",
            "Recv -2:19 0/0 comm 0 nothing",
            "Sendrecv 1:18 12/0 comm 0",
            "Received -2:18 0/0 comm 0 nothing",
            "Recv 1:18 0/12 comm 0",
            "Isend 0:21 4/0 #0 comm 1",
            "Recv 0:21 0/4 comm 1",
            "Wait 0:21 4/0 #0 comm 1",
        ],
    );
}

#[test]
fn probes_count_no_bytes_and_a_matched_one_takes_the_id_of_a_request() {
    holds(
        "ranks 2
         rank 0: compute 1; probe any tag 33; recv 1 tag 33; iprobe 1 tag 34; recv 1 tag 34; mprobe any tag any as m; mrecv m
         improbe 1 tag 36 as m; imrecv m as a; wait a; iprobe any tag 9; irecv 1 tag 40 as b; wait b
         rank 1: send 0 tag 33 bytes 12; send 0 tag 34; send 0 tag 35 bytes 28; send 0 tag 36 bytes 32; send 0 tag 40",
        &[
            "Probe 1:33 0/0 comm 0 any-source",
            "Recv 1:33 0/12 comm 0",
            "Iprobe 1:34 0/0 comm 0",
            "Recv 1:34 0/8 comm 0",
            "Mprobe 1:35 0/0 comm 0 any-source any-tag",
            "Mrecv 1:35 0/28 comm 0",
            "Improbe 1:36 0/0 comm 0",
            "Imrecv 1:36 0/0 #2 comm 0",
            "Wait 1:36 0/32 #2 comm 0",
            "Iprobe -1:9 0/0 comm 0 any-source nothing",
            "Irecv 1:40 0/0 #3 comm 0",
            "Wait 1:40 0/8 #3 comm 0",
        ],
    );
}

#[test]
fn requests_are_completed_as_they_were_started_with_what_arrived() {
    let other = "rank 1: compute 5; send 0 tag 1 bytes 40; send 0 tag 2 bytes 41; recv 0 tag 3; ibarrier as a; wait a";
    holds(
        &format!(
            "ranks 2
             rank 0: irecv any tag any as a; irecv 1 tag 2 as b; isend 1 tag 3 bytes 12 as c; ibarrier as d
             waitall a c b d; wait a; waitall
             {other}"
        ),
        &[
            "Irecv -1:-1 0/0 #0 comm 0 any-source any-tag",
            "Irecv 1:2 0/0 #1 comm 0",
            "Isend 1:3 12/0 #2 comm 0",
            "Ibarrier 0/0 #3 comm 0",
            "Waitall 0/0 comm 0 ×4 as synchronization",
            "Completed 1:1 0/40 #0 comm 0 any-source any-tag",
            "Completed 1:3 12/0 #2 comm 0",
            "Completed 1:2 0/41 #1 comm 0",
            "Completed 0/0 #3 comm 0 as synchronization",
            "Wait 0/0 nothing inactive",
            "Waitall 0/0 nothing inactive",
        ],
    );
    holds(
        &format!(
            "ranks 2
             rank 0: irecv 1 tag 1 as a; irecv 1 tag 2 as b; isend 1 tag 3 bytes 12 as c; ibarrier as d
             test a; testall a b; testany b; testsome b; testany a c; waitany a b; compute 1; waitsome b a d; wait d; waitany a b
             {other}"
        ),
        &[
            "Irecv 1:1 0/0 #0 comm 0",
            "Irecv 1:2 0/0 #1 comm 0",
            "Isend 1:3 12/0 #2 comm 0",
            "Ibarrier 0/0 #3 comm 0",
            "Test 0/0 #0 comm 0 nothing",
            "Testall 0/0 nothing",
            "Testany 0/0 nothing",
            "Testsome 0/0 nothing",
            "Testany 1:3 12/0 #2 comm 0",
            "Waitany 1:1 0/40 #0 comm 0",
            "Waitsome 0/0 comm 0 ×2 as synchronization",
            "Completed 1:2 0/41 #1 comm 0",
            "Completed 0/0 #3 comm 0 as synchronization",
            "Wait 0/0 nothing inactive",
            "Waitany 0/0 nothing inactive",
        ],
    );
}

#[test]
fn a_request_that_stands_for_many_says_nothing_when_it_is_completed() {
    holds(
        "ranks 2\nrequests empty\neager 100
         rank 0: isend 1 bytes 100 as a; isend 1 bytes 101 as b; irecv null as c; waitall a b c; isend 1 as a; wait a
         isend 1 as a; isend 1 as b; waitall
         rank 1: repeat 5; recv 0; end",
        &[
            "Isend 1:0 100/0 comm 0",
            "Isend 1:0 101/0 #0 comm 0",
            "Irecv -2:0 0/0 comm 0 nothing",
            "Waitall 0/0 comm 0 ×3",
            "Completed 1:0 101/0 #0 comm 0",
            "Isend 1:0 8/0 comm 0",
            "Wait 0/0 nothing",
            "Isend 1:0 8/0 comm 0",
            "Isend 1:0 8/0 comm 0",
            "Waitall 0/0 ×2",
        ],
    );
}

#[test]
fn persistent_requests_have_a_new_id_at_each_start() {
    holds(
        "ranks 2
         rank 0: send_init 1 tag 7 bytes 40 as a; recv_init any tag 7 as b; allreduce_init 8 as c; wait a; waitall a b; startall a b
         waitall a b; start a; wait a; start c; wait c; request_free a; request_free b
         rank 1: allreduce_init 8 as c; recv 0 tag 7; send 0 tag 7 bytes 41; recv 0 tag 7; start c; wait c",
        &[
            "Send_init 1:7 40/0 #0 comm 0 persistent",
            "Recv_init -1:7 0/0 #1 comm 0 any-source persistent",
            "Allreduce_init 8/8 #2 comm 0 persistent",
            "Wait 0/0 comm 0 persistent nothing inactive",
            "Waitall 0/0 comm 0 nothing inactive",
            "Startall 0/0 comm 0 ×2",
            "Started 1:7 40/0 #3 comm 0 persistent",
            "Started -1:7 0/0 #4 comm 0 any-source persistent",
            "Waitall 0/0 comm 0 ×2",
            "Completed 1:7 40/0 #3 comm 0 persistent",
            "Completed 1:7 0/41 #4 comm 0 any-source persistent",
            "Start 1:7 40/0 #5 comm 0 persistent",
            "Wait 1:7 40/0 #5 comm 0 persistent",
            "Start 8/8 #6 comm 0 as collective persistent",
            "Wait 8/0 #6 comm 0 as collective persistent",
            "Request_free 1:7 0/0 comm 0",
            "Request_free -1:7 0/0 comm 0",
        ],
    );
}

#[test]
fn collectives_state_what_a_rank_gives_and_is_given() {
    holds(
        "ranks 3\ncomm row 2 0\nrank *: barrier; bcast 6 root 0; bcast 6 root 1; reduce 7 root 0; reduce 7 root 2; gather 3 root 0
         gather 3 root 1; scatter 4 root 0; scatter 4 root 1; allgather 2; alltoall 5; reduce_scatter_block 5; scan 8; exscan 9
         if $r != 1; allreduce 8 on row; gatherv 3 root 1 on row; ibcast 6 root 0 on row as a; wait a; end",
        &[
            "Barrier 0/0 comm 0",
            "Bcast 0:– 6/0 comm 0",
            "Bcast 1:– 0/6 comm 0",
            "Reduce 0:– 7/7 comm 0",
            "Reduce 2:– 7/0 comm 0",
            "Gather 0:– 3/9 comm 0",
            "Gather 1:– 3/0 comm 0",
            "Scatter 0:– 12/4 comm 0",
            "Scatter 1:– 0/4 comm 0",
            "Allgather 2/6 comm 0",
            "Alltoall 15/15 comm 0",
            "Reduce_scatter_block 15/5 comm 0",
            "Scan 8/8 comm 0",
            "Exscan 9/9 comm 0",
            "Allreduce 8/8 comm 2",
            "Gatherv 1:– 3/6 comm 2",
            "Ibcast 0:– 0/6 #0 comm 2",
            "Wait 0:– 0/0 #0 comm 2 as collective",
        ],
    );
}

#[test]
fn windows_are_identified_by_their_id() {
    let text = "ranks 2\nrank *: win_create as v; win_create on self as w; fence w; put 1 bytes 4 on v; get 0 bytes 5 on v; fence v; win_free v";
    holds(
        text,
        &[
            "Win_create –:0 0/0 comm 0",
            "Win_create –:1 0/0 comm 1",
            "Win_fence –:1 0/0 comm 1",
            "Put 1:0 4/0 comm 0",
            "Get 0:0 0/5 comm 0",
            "Win_fence –:0 0/0 comm 0",
            "Win_free –:0 0/0 comm 0",
        ],
    );
    let windows = read(text, 0).1.into_iter().filter_map(|definition| match definition {
        Definition::Object(object) => Some((object.kind, object.id, object.comm)),
        _ => None,
    });
    assert_eq!(windows.collect::<Vec<_>>(), [(ObjectKind::Window, 0, 0), (ObjectKind::Window, 1, 1)]);
}

#[test]
fn polls_that_follow_one_another_at_once_are_one_record_from_the_first_to_the_last() {
    // Each lasts 0.1, which the folded record sums up in its bytes sent; between the last two lies computation.
    let text = "ranks 2\noverhead 0.1
        rank 0: irecv 1 as a; repeat 4; test a; if $i == 2; compute 1; end; end; wait a
        rank 1: compute 5; send 0";
    holds(
        text,
        &[
            "Irecv 1:0 0/0 #0 comm 0",
            "Test 300000/0 #0 comm 0 ×2 nothing",
            "Test 0/0 #0 comm 0 nothing",
            "Wait 1:0 0/8 #0 comm 0",
        ],
    );
    let lengths: Vec<_> = records_of(text).iter().map(|record| record.end - record.begin).collect();
    assert_eq!(lengths, [100_000, 300_000, 100_000, 3_600_000]);
    assert_eq!(Script::parse(text).unwrap().simulate().unwrap().ranks[0].calls.len(), 6);
}
