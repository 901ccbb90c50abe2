//! Regions that ranks pass at the same place of the same iteration are balanced as one.

use lbprof_analysis::model::replayed::what_if::WhatIfScenario;

use super::run::Run;

/// What balancing a region of code between calls gives, by the region's name, in milliseconds.
fn balanced_ms(run: &Run) -> Vec<(String, f64)> {
    let name = |region: u32| run.model.regions[region as usize].path.clone();
    let balanced = run.followed().scenario_times.iter().filter_map(|&(scenario, time_s)| match scenario {
        WhatIfScenario::Balanced(region) => Some((name(region), time_s * 1e3)),
        _ => None,
    });
    balanced.filter(|(name, _)| name.starts_with("main/loop/")).collect()
}

#[test]
fn code_before_other_calls_of_other_ranks_is_balanced_with_theirs() {
    // Rank 0 computes 20 before it sends, rank 1 computes 10 before it receives, the others 10 before they meet: 12.5 each.
    let run = Run::found(
        "ranks 4\nrank *:\nrepeat 12\nif $r == 0\ncompute 20\nsend 1\nend\nif $r == 1\ncompute 10\nrecv 0\nend\n\
         if $r > 1\ncompute 10\nend\nallreduce 8\nend\n",
    );
    assert!((run.elapsed_ms() - 240.0).abs() < 1e-3);
    let balanced = balanced_ms(&run);
    // The first step's computation comes before the first call of the loop.
    assert!(matches!(balanced[..], [(_, ms)] if (ms - (20.0 + 11.0 * 12.5)).abs() < 0.1), "{balanced:?}");
}

#[test]
fn code_that_some_ranks_pass_less_often_is_balanced_among_these() {
    // Every other step ranks 0 and 1 compute 20 and 10 more, before a call of their own: 15 each. The others do not have that.
    let run = Run::found(
        "ranks 4\ncomm two 0..1\nrank *:\nrepeat 12\ncompute 10\nbarrier\nif $r < 2\nif $i%2 == 1\ncompute 20-10*$r\nbarrier on two\nend\nend\n\
         allreduce 8\nend\n",
    );
    assert!((run.elapsed_ms() - 240.0).abs() < 1e-3);
    let balanced = balanced_ms(&run);
    assert!(matches!(balanced[..], [(_, ms)] if (ms - (240.0 - 6.0 * 5.0)).abs() < 0.1), "{balanced:?}");
}

#[test]
fn code_in_turn_is_no_imbalance_of_one_place() {
    // Each computes 5 after the one before it has, between its receive and its send; rank 0 receives nothing, and rank 3 sends nothing. Rank 0's
    // code up to its send is where others wait for it first. All are equal, so there is nothing to balance; nor where ranks compute in two
    // parts with another receive between.
    let step =
        |inner: &str| format!("if $r > 0\nrecv $r-1\nend\n{inner}\nif $r < 3\nsend $r+1\nsend $r+1\nend\nbarrier");
    for inner in ["compute 5\nif $r > 0\nrecv $r-1\nend", "compute 3\nif $r > 0\nrecv $r-1\nend\ncompute 2"] {
        let run = Run::found(&format!("ranks 4\nrank *:\nrepeat 24\n{}\nend\n", step(inner)));
        assert!((run.elapsed_ms() - 24.0 * 20.0).abs() < 0.1, "{}", run.elapsed_ms());
        // What the loop's first call leaves outside, 1 of 24 steps of rank 0, is too little to be asked about.
        let answers = balanced_ms(&run);
        assert!(answers.is_empty(), "{inner}: {answers:?}");
    }
}
