//! What single calls and messages add up to: who sends to whom, sizes, durations, communicators, the run over time. Runs made by hand, whose
//! figures are known.

use lbprof_report::Report;
use lbprof_simulator::scenario::Scenario;
use lbprof_test_runs::{assert_near, model, report_on};

/// Ten iterations on two hosts of two ranks: a ring of messages of 100 bytes, of rank 0 of 1,000, and a barrier. A rank computes so many ms.
const WORK: [f64; 4] = [1.0, 2.0, 3.0, 6.0];

fn ring() -> Report {
    let run = Scenario::ranks(4).hosts(|rank| format!("node{}", rank / 2)).each(|rank, script| {
        let (next, last) = ((rank + 1) % 4, (rank + 3) % 4);
        let size = |rank: u32| if rank == 0 { 1000 } else { 100 };
        script.repeat(10, move |_, script| {
            script.iteration("step", |script| {
                let work = WORK[rank as usize];
                let script = script.compute(work).at("send").send(next.cast_signed(), 0, size(rank), 0.5);
                let received = 7.0 - work - 0.5;
                script.at("recv").recv(last.cast_signed(), 0, size(last), received).at("meet").barrier(1)
            })
        })
    });
    report_on(&model(run))
}

#[test]
fn messages_are_counted_by_pair_host_and_size() {
    let report = ring();
    let table = report.communication.as_ref().unwrap();
    let pairs: Vec<_> = table.pairs.iter().map(|pair| (pair.from, pair.to, pair.messages, pair.bytes)).collect();
    assert_eq!(pairs, [(0, 1, 10, 10_000), (1, 2, 10, 1_000), (2, 3, 10, 1_000), (3, 0, 10, 1_000)]);
    assert_eq!((table.messages, table.bytes, table.messages_left_out), (40, 13_000, 0));
    let hosts: Vec<_> = table.hosts.iter().map(|row| (row.from.as_str(), row.to.as_str(), row.bytes)).collect();
    let expected =
        [("node0", "node0", 10_000), ("node0", "node1", 1_000), ("node1", "node0", 1_000), ("node1", "node1", 1_000)];
    assert_eq!(hosts, expected);
    let sizes: Vec<_> = table.message_sizes.iter().map(|row| (row.from_bytes, row.to_bytes, row.count)).collect();
    assert_eq!(sizes, [(64, 127, 30), (512, 1023, 10)]);
    let sends = &table.operations[0];
    assert_eq!((sends.operation.as_str(), sends.calls, sends.bytes), ("Send", 40, 13_000));
    assert_eq!(table.operations.len(), 1, "a receive sends nothing");
}

#[test]
fn calls_are_counted_by_call_site_and_communicator() {
    let report = ring();
    let of = |name: &str| report.call_sites.iter().find(|row| row.operation == name).unwrap().durations.unwrap();
    let recv = of("Recv");
    assert_eq!((recv.calls, recv.min_rank, recv.max_rank), (40, 3, 0));
    // 5.5, 4.5, 3.5 and 0.5 ms.
    for (found, ms) in [(recv.min_s, 0.5), (recv.mean_s, 3.5), (recv.max_s, 5.5)] {
        assert_near(found, ms * 1e-3);
    }
    let squares = [5.5_f64, 4.5, 3.5, 0.5].map(|ms| (ms - 3.5).powi(2));
    assert_near(recv.deviation_s, (squares.iter().sum::<f64>() / 4.0).sqrt() * 1e-3);
    let send = of("Send");
    assert_near(send.deviation_s, 0.0);
    let world = &report.communication.as_ref().unwrap().communicators[0];
    assert_eq!((world.name.as_str(), world.ranks, world.calls), ("MPI_COMM_WORLD", Some(4), 120));
    assert_eq!((world.sent_bytes, world.received_bytes), (13_000, 13_000));
    assert_near(world.time_s, 40.0 * (3.5 + 0.5 + 1.0) * 1e-3);
}

#[test]
fn load_balance_is_that_within_hosts_times_that_between_them() {
    let row = ring().efficiency;
    // Means of the hosts: 1.5 and 4.5 ms of 6 ms and 3 ms.
    assert_near(row.load_balance_within_hosts.unwrap(), 4.5 / 6.0);
    assert_near(row.load_balance_between_hosts.unwrap(), 3.0 / 4.5);
    let product = row.load_balance_within_hosts.unwrap() * row.load_balance_between_hosts.unwrap();
    assert_near(product, row.load_balance.unwrap());
    let one_host = report_on(&model(Scenario::ranks(2).each(|_, script| script.compute(1).barrier(1)))).efficiency;
    assert_eq!((one_host.load_balance_within_hosts, one_host.load_balance_between_hosts), (None, None));
}

#[test]
fn windows_of_time_have_all_of_it() {
    let report = ring();
    let windows = &report.windows;
    assert_eq!(windows.len(), 50);
    assert_near(windows[49].end_s, report.data.elapsed_s);
    let all = |name: &str| windows.iter().map(|row| row.time_s(name)).sum::<f64>();
    assert_near(all("computation"), 10.0 * WORK.iter().sum::<f64>() * 1e-3);
    let whole: f64 = windows.iter().flat_map(|row| &row.states).map(|state| state.time_s).sum();
    assert_near(whole, 4.0 * report.data.elapsed_s);
    let computes: f64 = windows.iter().map(|row| row.efficiency.avg_computation_s).sum();
    assert_near(computes, 10.0 * 3.0 * 1e-3);
    // All compute at the begin, which is the first of the five parts of an iteration of 8 ms; then the slow ones alone.
    let slowest: Vec<_> = windows[..5].iter().map(|row| row.efficiency.slowest_rank).collect();
    assert_eq!(slowest[1..4], [Some(3); 3]);
}

#[test]
fn each_list_is_a_table_that_users_can_ask_for() {
    let report = ring();
    let options = lbprof_report::text::TextOptions { full: true, ..lbprof_test_runs::text_options(100) };
    let text = anstream::adapter::strip_str(&lbprof_report::text::render_text(&report, &options)).to_string();
    assert!(text.contains("75.0 % within hosts × 66.7 % between"), "{text}");
    for (name, lines) in [("communication.pairs", 4), ("communication.hosts", 4), ("windows", 50)] {
        let table =
            lbprof_report::text::any_table::list_as_table(&report, name, &options, true).expect("there is such a list");
        assert_eq!(table.lines().count(), 2 + lines, "{name}: {table}");
    }
}
