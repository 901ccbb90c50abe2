//! What holds for every run, on scripts of chance.

use lbprof_analysis::model::replayed::replay_results::ReplayCounts;
use lbprof_analysis::model::replayed::waits::WaitState;
use lbprof_analysis::model::replayed::what_if::WhatIfScenario;
use lbprof_collector::{Activity, Operation};
use lbprof_simulator::noise::Chance;
use lbprof_simulator::script::{Network, Script, SimulatedCall, Simulation};

use super::chance::among_some;
use super::run::Run;
use lbprof_test_runs::{json, report_on};

const N: u64 = 16;

/// Calls `check` with scripts of chance of which hardly any two events happen at the same time, for what each then saw of the other
/// no log shows. Of ranks that end at the same time, the lowest would be the last one.
fn with_scripts(check: impl Fn(u64, &Script)) {
    for seed in 0..N {
        let text = Script::random(seed, 4 + seed as u32 % 20).text().to_owned();
        let script = parse(&format!("{text}rank *:\n compute 0.0001+0.0001*$r\n"));
        let latency_ms = script.network().latency_ms.max(1e-6);
        check(seed, &script.on(Network { latency_ms, ..script.network() }));
    }
}

fn parse(text: &str) -> Script {
    Script::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn without(script: &Script, lines: &str) -> Script {
    let rest: Vec<&str> = script.text().lines().filter(|line| !line.starts_with(lines)).collect();
    parse(&rest.join("\n")).on(script.network())
}

/// The same where calls take no time besides waiting: while a large eager send lasts its receive may be posted by chance, so that it
/// looks like a rendezvous.
fn without_overhead(script: &Script) -> Script {
    script.on(Network { overhead_ms: 0.0, ..script.network() })
}

/// The same with messages small enough to arrive whatever their sender does: only synchronous sends wait for their receives.
fn small(script: &Script) -> Script {
    let mut text = String::new();
    let mut is_bytes = false;
    for word in script.text().split_inclusive([' ', '\n']) {
        match word.trim().parse::<u32>() {
            Ok(bytes) if is_bytes => text += &word.replace(&bytes.to_string(), &(bytes % 64).to_string()),
            _ => text += word,
        }
        is_bytes = word == "bytes ";
    }
    parse(&text).on(Network { eager: u64::MAX, ..script.network() })
}

fn at_once(script: &Script) -> Script {
    script.on(Network { latency_ms: 1e-6, bandwidth: f64::INFINITY, ..script.network() })
}

/// How long a call waits as docs/report-reference.md has it.
fn waits_ns(call: &SimulatedCall, script: &Script) -> u64 {
    let late: Vec<_> = call.waits.iter().filter(|wait| wait.did_ns > call.begin_ns).collect();
    if call.operation == Operation::Waitsome && late.len() < call.waits.len() {
        return 0;
    }
    let Some(last) = late.iter().max_by_key(|wait| wait.did_ns) else { return 0 };
    let line = script.text().lines().nth(call.line as usize - 1).unwrap_or_default();
    let is_message = call.operation.activity() == Activity::PointToPoint && !line.ends_with("wait c");
    let until = if is_message { call.end_ns } else { last.did_ns };
    until - call.begin_ns
}

fn true_waits_s(script: &Script, run: &Simulation) -> Vec<f64> {
    let begin = run.ranks.iter().map(|rank| rank.begin_ns).min().unwrap();
    let end = run.ranks.iter().map(|rank| rank.end_ns).max().unwrap();
    let waits = run.ranks.iter().map(|rank| {
        let calls: u64 = rank.calls.iter().map(|call| waits_ns(call, script)).sum();
        (calls + rank.begin_ns - begin + end - rank.end_ns) as f64 * 1e-9
    });
    waits.collect()
}

/// Holds the waits that were found against those of who simulated the run, who knows of each call alone.
fn assert_waits(seed: u64, script: &Script) -> Run {
    let run = Run::of_single_calls(script);
    for (rank, (found, truth)) in found_and_true_waits_s(&run, script).into_iter().enumerate() {
        assert!((found - truth).abs() < 1e-9, "script {seed}, rank {rank}: {found} s instead of {truth} s");
    }
    run
}

/// Returns for each rank the waits that were found, and those of who simulated the run.
fn found_and_true_waits_s(run: &Run, script: &Script) -> Vec<(f64, f64)> {
    let waits_s = run.sums().waits_s;
    let truth = (0..).zip(true_waits_s(script, &script.simulate().unwrap()));
    truth.map(|(rank, truth)| (waits_s.get(&rank).copied().unwrap_or(0.0), truth)).collect()
}

fn ideal_in_json_ms(run: &Run) -> f64 {
    let document: serde_json::Value = serde_json::from_str(&json(&report_on(&run.model))).unwrap();
    document["efficiency"]["t_ideal_replay_s"].as_f64().expect("all is known") * 1e3
}

#[test]
fn all_is_matched_and_replayed_as_measured() {
    with_scripts(|seed, script| {
        let run = Run::of_script(script);
        let counts = run.followed().counts;
        let matched = ReplayCounts {
            steps: counts.steps,
            messages: counts.messages,
            collectives: counts.collectives,
            hands_out_work: counts.hands_out_work,
            progress_waits: counts.progress_waits,
            ..ReplayCounts::default()
        };
        assert_eq!(counts, matched, "script {seed}");
        let elapsed_ms = script.simulate().unwrap().elapsed_ms();
        assert!((run.elapsed_ms() - elapsed_ms).abs() < 1e-6, "script {seed}: {} ms of {elapsed_ms}", run.elapsed_ms());
        let replayed_ms = run.replay_ms(WhatIfScenario::Measured);
        assert!((replayed_ms - elapsed_ms).abs() < 1e-6, "script {seed}: {replayed_ms} ms instead of {elapsed_ms}");
    });
}

#[test]
fn waits_for_sends_are_those_of_the_simulator() {
    with_scripts(|seed, script| drop(assert_waits(seed, &small(script))));
}

#[test]
fn waits_for_receives_are_those_of_the_simulator() {
    with_scripts(|seed, script| drop(assert_waits(seed, &without_overhead(&at_once(script)))));
}

#[test]
fn replays_on_the_ideal_network_take_as_long_as_the_simulators() {
    with_scripts(|seed, script| {
        let script = without_overhead(&small(&without(script, "late ")));
        let run = Run::of_script(&script);
        let (found_ms, ideal_ms) = (ideal_in_json_ms(&run), script.ideal().unwrap().elapsed_ms());
        assert!((found_ms - ideal_ms).abs() < 1e-6, "script {seed}: {found_ms} ms instead of {ideal_ms}");
        assert!((run.replay_ms(WhatIfScenario::Ideal) - ideal_ms).abs() < 1e-6, "script {seed}");
        let longest = run.model.inclusive_s(0, Activity::Computation).into_iter().fold(0.0, f64::max) * 1e3;
        assert!(found_ms >= longest - 1e-6, "script {seed}: {found_ms} ms, but a rank computes for {longest} ms");
    });
}

/// The script with what each rank computes so many times as long.
fn times(script: &Script, factors: &[f64]) -> Script {
    let (mut text, mut factor) = (String::new(), 1.0);
    for line in script.text().lines() {
        if let Some(rank) = line.strip_prefix("rank ").and_then(|rest| rest.trim_end_matches(':').parse::<usize>().ok())
        {
            factor = factors[rank];
        }
        for word in line.split_inclusive([' ', ';']) {
            let is_time = text.ends_with("compute ");
            let number = word.trim_end_matches([' ', ';']);
            match number.parse::<f64>().ok().filter(|_| is_time) {
                Some(ms) => text += &word.replace(number, &format!("{:.6}", ms * factor)),
                None => text += word,
            }
        }
        text.push('\n');
    }
    parse(&text).on(script.network())
}

#[test]
fn replays_of_balanced_ranks_take_as_long_as_the_simulator_with_their_work_balanced() {
    for seed in 0..2 * N {
        let script = parse(Script::random(seed, 4 + seed as u32 % 20).text());
        let script = without_overhead(&small(&without(&at_once(&script), "late ")));
        let run = Run::asking_of(&script, &["balanced=main"]);
        let computed = run.model.inclusive_s(0, Activity::Computation);
        let mean = computed.iter().sum::<f64>() / computed.len() as f64;
        let factors: Vec<f64> = computed.iter().map(|own| if *own > 0.0 { mean / own } else { 1.0 }).collect();
        let changed = times(&script, &factors);
        let truth = changed.replay(&script.simulate().unwrap(), script.network()).unwrap().elapsed_ms();
        let found = run.replay_ms(WhatIfScenario::Balanced(0));
        assert!(
            (found - truth).abs() < 1e-3 * truth,
            "script {seed}: {found} ms instead of {truth} ms\n{}",
            script.text()
        );
    }
}

#[test]
fn balancing_every_region_in_each_iteration_never_prolongs_a_run() {
    for seed in 0..N {
        let mut chance = Chance(seed);
        let (ranks, steps) = (2 + chance.below(6), 1 + chance.below(8));
        let (mut text, mut balanced_ms) = (format!("ranks {ranks}\n"), 0.0);
        let mut lines = vec![String::new(); ranks as usize];
        for _ in 0..steps {
            for region in ["assembly", "solve"] {
                let call = ["barrier", "allreduce 8", "alltoall 8"][chance.below(3) as usize];
                for line in &mut lines {
                    let ms = 0.001 + chance.ms(20);
                    balanced_ms += ms / f64::from(ranks);
                    *line += &format!("  iteration {region}; compute {ms}; {call}; end\n");
                }
            }
        }
        lines.iter().enumerate().for_each(|(rank, line)| text += &format!("rank {rank}:\n{line}"));
        let run = Run::of(&text);
        let measured_ms = run.replay_ms(WhatIfScenario::Measured);
        let asked =
            run.followed().scenario_times.iter().find(|(scenario, _)| *scenario == WhatIfScenario::RunBalancedEach);
        let each_ms = asked.unwrap_or_else(|| panic!("script {seed} has an imbalance")).1 * 1e3;
        assert!(each_ms <= measured_ms + 1e-3, "script {seed}: {each_ms} ms of {measured_ms}");
        assert!((each_ms - balanced_ms).abs() < 1e-2, "script {seed}: {each_ms} ms instead of {balanced_ms}");
    }
}

#[test]
fn waits_among_some_ranks_are_those_of_the_simulator() {
    let mut n_exact = 0;
    for seed in 0..2 * N {
        let script = among_some(seed, 4 + seed as u32 % 20, true);
        let run = Run::of_single_calls(&script);
        let counts = run.followed().counts;
        // An unlock that ends directly after its target has come back to MPI is taken to have waited for it. In a script of chance that may be chance.
        let may_be_chance = counts.progress_waits > 0;
        n_exact += u64::from(!may_be_chance);
        for (rank, (found, truth)) in found_and_true_waits_s(&run, &script).into_iter().enumerate() {
            let is_right = (found - truth).abs() < 1e-9 || may_be_chance && found > truth;
            assert!(is_right, "script {seed}, rank {rank}: {found} s instead of {truth} s");
        }
        let unknown = counts.unmatched_neighbours + counts.unmatched_epochs + counts.violations;
        assert_eq!(unknown, 0, "script {seed}: {counts:?}\n{}", script.text());
    }
    assert!(n_exact > N, "nothing was inferred in only {n_exact} scripts");
}

#[test]
fn replays_among_some_ranks_take_as_long_as_the_simulators() {
    for seed in 0..2 * N {
        let script = among_some(seed, 4 + seed as u32 % 20, false);
        let (run, truth) = (Run::of_script(&script), script.simulate().unwrap());
        let (found_ms, ideal_ms) = (ideal_in_json_ms(&run), script.ideal().unwrap().elapsed_ms());
        assert!((found_ms - ideal_ms).abs() < 1e-6, "script {seed}: {found_ms} ms instead of {ideal_ms}");
        let replayed_ms = run.replay_ms(WhatIfScenario::Measured);
        assert!((replayed_ms - truth.elapsed_ms()).abs() < 1e-6, "script {seed}: {replayed_ms} ms");
    }
}

#[test]
fn renumbering_ranks_changes_only_names() {
    let among_some = |seed| (seed, among_some(seed, 4 + seed as u32 % 20, true));
    (0..N).map(among_some).for_each(|(seed, script)| assert_renumbered(seed, &script));
    with_scripts(assert_renumbered);
}

fn assert_renumbered(seed: u64, script: &Script) {
    let n = script.n_ranks();
    let to: Vec<u32> = (0..n).map(|rank| (rank + 1 + seed as u32) % n).rev().collect();
    let (before, after) = (Run::of_script(script), Run::of_script(&script.renumbered(&to)));
    let causes = before.causes();
    let renamed = after.causes();
    assert_eq!(causes.len(), renamed.len(), "script {seed}");
    for ((rank, region, class), ms) in causes {
        let other = renamed.get(&(to[rank as usize], region.clone(), class)).copied().unwrap_or(0.0);
        assert!((ms - other).abs() < 1e-6, "script {seed}, rank {rank}, {region}, {class:?}: {ms} and {other} ms");
    }
}

#[test]
fn an_idle_rank_changes_no_cause_among_the_others() {
    with_scripts(|seed, script| {
        // One that begins as the first would else make all others late.
        let script = &without(script, "late 0 ");
        let (before, after) = (Run::of_script(script), Run::of_script(&script.with_idle_rank()));
        let idle = script.n_ranks();
        let mut pairs = after.sums().pairs;
        assert!(pairs.iter().all(|pair| pair.1 != idle), "script {seed}: the idle rank causes waiting");
        pairs.retain(|pair| pair.0 != idle);
        pairs.sort_by_key(|pair| (pair.0, pair.1));
        let mut expected = before.sums().pairs;
        expected.sort_by_key(|pair| (pair.0, pair.1));
        assert_eq!(pairs.len(), expected.len(), "script {seed}");
        for (found, expected) in pairs.iter().zip(&expected) {
            let same = (found.0, found.1) == (expected.0, expected.1) && (found.2 - expected.2).abs() < 1e-9;
            assert!(same, "script {seed}: {found:?} instead of {expected:?}");
        }
        let waits = after.waits(WaitState::EarlyEnd) - before.waits(WaitState::EarlyEnd);
        assert!((waits - before.elapsed_ms()).abs() < 1e-6, "script {seed}: the idle rank waits for all of the run");
    });
}
