//! What the logs of scripts hold: what tests/programs/records say of the records of real programs, in the words of scripts.

use lbprof_collector::definition::{Definition, ObjectKind};
use lbprof_collector::folder::RunFolder;
use lbprof_collector::reader::LogItem;
use lbprof_collector::record::{CallFlags, NO_PEER, NONE, Record};
use lbprof_simulator::script::Script;

/// The records of rank 0 but for its MPI_Finalize, and its definitions.
fn read(text: &str) -> (Vec<Record>, Vec<Definition>) {
    let dir = tempfile::tempdir().unwrap();
    Script::parse(text).unwrap().write(dir.path()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut log = RunFolder::list(dir.path()).unwrap().open(0).unwrap();
    let (mut records, mut definitions) = (Vec::new(), Vec::new());
    while let Some(item) = log.next_item() {
        match item {
            LogItem::Records { records: more, .. } => records.extend(more),
            LogItem::Definitions(more) => definitions.extend(more),
            other => panic!("{other:?}"),
        }
    }
    records.pop();
    (records, definitions)
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
    let (records, _) = read(text);
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
    let windows = read(text).1.into_iter().filter_map(|definition| match definition {
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
    let lengths: Vec<_> = read(text).0.iter().map(|record| record.end - record.begin).collect();
    assert_eq!(lengths, [100_000, 300_000, 100_000, 3_600_000]);
    assert_eq!(Script::parse(text).unwrap().simulate().unwrap().ranks[0].calls.len(), 6);
}
