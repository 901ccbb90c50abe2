//! Runs with a late sender.

use lbprof_collector::Operation;
use lbprof_simulator::scenario::Scenario;

/// Rank 0 computes 30 ms, then sends 800 bytes to rank 1, which computes 10 ms and waits.
pub fn late_sender() -> Scenario {
    Scenario::ranks(2)
        .rank(0, |r| r.region("work", |r| r.compute(30)).at("sender").send(1, 7, 800, 0.5))
        .rank(1, |r| r.compute(10).at("receiver").recv(0, 7, 800, 20.5))
}

/// Rank 0 computes 30 ns, then sends 800 bytes to rank 1, which computes 10 ns and waits; then rank 1 gives all a number.
pub fn late_sender_and_bcast() -> Scenario {
    let ns = 1e-6;
    Scenario::ranks(2)
        .rank(0, move |r| {
            let script = r.region("work", |r| r.compute(30.0 * ns)).send(1, 7, 800, 10.0 * ns);
            script.call(Operation::Bcast, 20.0 * ns, |record| (record.comm, record.peer, record.received) = (0, 1, 8))
        })
        .rank(1, move |r| {
            let script = r.compute(10.0 * ns).recv(0, 7, 800, 30.0 * ns);
            script.call(Operation::Bcast, 20.0 * ns, |record| (record.comm, record.peer, record.sent) = (0, 1, 8))
        })
}
