//! Scripts of chance: that they end, whoever writes them, and what holds for every run.

use lbprof_collector::Operation;
use lbprof_collector::folder::RunFolder;
use lbprof_collector::reader::LogItem;
use lbprof_collector::record::Record;
use lbprof_collector::semantics::CompletionEffect;
use lbprof_simulator::script::{Network, Script, Simulation};
use proptest::prelude::*;

fn run(script: &Script) -> Simulation {
    script.simulate().unwrap_or_else(|error| panic!("{error}\n{}", script.text()))
}

/// Calls and parts of all ranks, as they are read back; no log has problems.
fn written(script: &Script) -> Vec<Vec<Record>> {
    let dir = tempfile::tempdir().unwrap();
    script.write(dir.path()).unwrap();
    let folder = RunFolder::list(dir.path()).unwrap();
    let read = |rank| {
        let mut log = folder.open(rank).unwrap();
        let mut records = Vec::new();
        while let Some(item) = log.next_item() {
            match item {
                LogItem::Records { records: more, .. } => records.extend(more),
                LogItem::Problem(problem) => panic!("{problem:?}\n{}", script.text()),
                _ => {}
            }
        }
        records.retain(|record: &Record| record.is_call() || record.is_part());
        records
    };
    folder.ranks().map(read).collect()
}

/// Renumbers ranks: each goes this many up, around.
fn rotated(n: u32, by: u32) -> Vec<u32> {
    (0..n).map(|rank| (rank + by) % n).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.min(64), ..ProptestConfig::default() })]

    #[test]
    fn a_script_of_chance_ends_and_is_read_back_without_problems(seed: u64, size in 1u32..25) {
        let script = Script::random(seed, size);
        let again = Script::random(seed, size);
        prop_assert_eq!(script.text(), again.text());
        let run = run(&script);
        for (simulated, records) in run.ranks.iter().zip(written(&script)) {
            let calls: Vec<_> = records.iter().filter(|record| record.is_call()).collect();
            // Polls that found nothing may be one record; MPI_Finalize is no call of the script.
            let folded: usize = calls.iter().filter(|call| Operation::completes(call.operation) != CompletionEffect::Nothing || call.operation == Operation::Iprobe as u16)
                .filter(|call| call.flags.contains(lbprof_collector::CallFlags::NOTHING)).map(|call| call.count as usize).sum();
            prop_assert_eq!(simulated.calls.len(), calls.len() + folded - 1);
            prop_assert!(records.windows(2).all(|pair| pair[0].end <= pair[1].begin));
            let in_calls: u64 = simulated.calls.iter().map(|call| call.end_ns - call.begin_ns).sum();
            prop_assert_eq!(simulated.computation_ns + in_calls, simulated.end_ns - simulated.begin_ns);
        }
    }

    #[test]
    fn what_is_waited_for_ends_the_wait(seed: u64, size in 1u32..25) {
        let script = Script::random(seed, size);
        let overhead = (script.network().overhead_ms * 1e6).round() as u64;
        for rank in run(&script).ranks {
            for call in &rank.calls {
                let last = call.waits.iter().map(|wait| wait.came_ns).max().unwrap_or(call.begin_ns);
                prop_assert_eq!(call.end_ns, last + overhead, "{:?}\n{}", call, script.text());
                prop_assert!(call.waits.iter().all(|wait| wait.did_ns <= wait.came_ns && call.begin_ns < wait.came_ns));
            }
        }
    }

    #[test]
    fn a_replay_on_the_same_network_is_the_run_and_an_ideal_one_is_not_longer(seed: u64, size in 1u32..25) {
        let script = Script::random(seed, size);
        let first = run(&script);
        let same = script.replay(&first, script.network()).unwrap();
        for (a, b) in first.ranks.iter().zip(&same.ranks) {
            prop_assert_eq!(&a.calls, &b.calls);
        }
        let ideal = script.ideal().unwrap();
        let most = first.ranks.iter().map(|rank| rank.computation_ns).max().unwrap_or(0);
        prop_assert!(most <= ideal.elapsed_ns());
        prop_assert!(ideal.elapsed_ns() <= first.elapsed_ns(), "{}", script.text());
    }

    #[test]
    fn renumbered_ranks_and_an_idle_one_change_only_names(seed: u64, size in 1u32..25, by in 0u32..8) {
        let script = Script::random(seed, size);
        let first = run(&script);
        let to = rotated(script.n_ranks(), by);
        let renumbered = run(&script.renumbered(&to));
        let idle = run(&script.with_idle_rank());
        prop_assert_eq!(idle.ranks.last().map(|rank| rank.calls.len()), Some(0));
        for (rank, own) in first.ranks.iter().enumerate() {
            prop_assert_eq!(&own.calls, &idle.ranks[rank].calls);
            let mut calls = own.calls.clone();
            for wait in calls.iter_mut().flat_map(|call| &mut call.waits) {
                wait.by = to[wait.by as usize];
            }
            prop_assert_eq!(&calls, &renumbered.ranks[to[rank] as usize].calls, "{}", script.text());
        }
    }

    #[test]
    fn another_network_never_deadlocks(seed: u64, size in 1u32..25, latency in 0.0..10.0f64, eager in 0u64..2) {
        let script = Script::random(seed, size);
        let network = Network { latency_ms: latency, bandwidth: 500.0, overhead_ms: 0.01, eager: eager * u64::MAX };
        run(&script.on(network));
        let replay = script.replay(&run(&script), network);
        prop_assert!(replay.is_ok(), "{}\n{}", replay.unwrap_err(), script.text());
    }
}
