use lbprof_collector::{Activity, Operation};
use proptest::prelude::*;

use super::super::{CodePiece, CodeUsage, DistinctiveCode, RankCode, own_code};
use super::*;

/// What a rank runs: calls by function, line and operation, with how often; and the share of its time that it computes, the
/// rest goes to point-to-point communication.
type Script<'a> = (&'a [(u32, u32, Operation, f64)], f64);

fn codes(scripts: &[Script]) -> RunCode {
    let mut pieces: Vec<(u32, CodePiece)> = Vec::new();
    let piece = |function: u32, line: u32, operation: Operation| {
        (function, CodePiece::Call { region: 0, site: Some(line), operation: operation as u16 })
    };
    for &(function, line, operation, _) in scripts.iter().flat_map(|(calls, _)| *calls) {
        let piece = piece(function, line, operation);
        if !pieces.contains(&piece) {
            pieces.push(piece);
        }
    }
    let rank = |(calls, computes): &Script| {
        let run = |&(function, line, operation, times): &(u32, u32, Operation, f64)| {
            let at = pieces.iter().position(|known| *known == piece(function, line, operation)).unwrap();
            CodeUsage { piece: at as u32, times, share: (1.0 - computes) / calls.len() as f64 }
        };
        let mut runs: Vec<CodeUsage> = calls.iter().map(run).collect();
        runs.sort_by_key(|run| run.piece);
        let mut activities = [0.0; Activity::COUNT];
        activities[Activity::Computation as usize] = *computes;
        activities[Activity::PointToPoint as usize] = 1.0 - computes;
        RankCode { runs, activities }
    };
    RunCode {
        ranks: scripts.iter().map(rank).collect(),
        functions: pieces.iter().map(|(function, _)| *function).collect(),
        pieces: pieces.into_iter().map(|(_, code)| code).collect(),
        circles: Vec::new(),
    }
}

fn of(scripts: &[Script]) -> Vec<Option<usize>> {
    cluster_ranks(&codes(scripts)).of
}

use Operation::{Allreduce, Barrier, Bcast, Recv, Send};

/// Functions.
const MAIN: u32 = 0;
const EXCHANGE: u32 = 1;
const MASTER: u32 = 2;
const WORKER: u32 = 3;

#[test]
fn a_master_is_of_no_cluster_and_its_workers_of_one() {
    let bcast = (MAIN, 1, Bcast, 1.0);
    let master: &[_] = &[bcast, (MASTER, 10, Recv, 300.0), (MASTER, 11, Send, 300.0)];
    let worker: &[_] = &[bcast, (WORKER, 20, Send, 100.0), (WORKER, 21, Recv, 100.0)];
    let busy: &[_] = &[bcast, (WORKER, 20, Send, 160.0), (WORKER, 21, Recv, 160.0)];
    let codes = codes(&[(master, 0.05), (worker, 0.8), (worker, 0.9), (busy, 0.95)]);
    let found = cluster_ranks(&codes);
    assert_eq!(found.of, [None, Some(0), Some(0), Some(0)]);
    assert!(found.differ());
    let parts = found.parts();
    assert_eq!(parts[0], ClusterOrRank { cluster: Some(0), members: vec![1, 2, 3] });
    assert_eq!(parts[1], ClusterOrRank { cluster: None, members: vec![0] });
    let own: Vec<Vec<u32>> = own_code(&codes, &parts)
        .iter()
        .map(|own| own.iter().map(|own: &DistinctiveCode| own.piece).collect())
        .collect();
    assert_eq!(own, [vec![3, 4], vec![1, 2]], "all but the broadcast, which all make");
}

#[test]
fn two_programs_in_one_function_are_known_by_their_communicators() {
    let ocean: &[_] = &[(MAIN, 1, Barrier, 500.0)];
    let air: &[_] = &[(MAIN, 2, Barrier, 500.0)];
    let mut codes = codes(&[(ocean, 0.8), (ocean, 0.8), (air, 0.8), (air, 0.8)]);
    assert!(!cluster_ranks(&codes).differ(), "lines alone may be two sides of one exchange");
    codes.circles = vec![vec![0, 1], vec![2, 3]];
    assert_eq!(cluster_ranks(&codes).of, [0, 0, 1, 1].map(Some));
    codes.circles.push(vec![1, 2]);
    assert_eq!(cluster_ranks(&codes).n, 1, "they meet");
}

#[test]
fn a_setup_that_all_run_does_not_make_programs_the_same() {
    // Both set both up, then each repeats its own.
    let near: &[_] = &[(10, 1, Send, 500.0), (20, 2, Send, 3.0), (MAIN, 9, Bcast, 100.0)];
    let far: &[_] = &[(10, 1, Send, 2.0), (20, 2, Send, 400.0), (MAIN, 9, Bcast, 100.0)];
    assert_eq!(of(&[(near, 0.5), (near, 0.5), (far, 0.5), (far, 0.5)]), [0, 0, 1, 1].map(Some));
}

#[test]
fn a_rank_with_less_to_do_runs_the_same_program() {
    // Rank 2 has no particles: it only meets the others. Rank 3 ended early.
    let full: &[_] = &[(MAIN, 1, Allreduce, 100.0), (EXCHANGE, 2, Send, 900.0)];
    let empty: &[_] = &[(MAIN, 1, Allreduce, 100.0)];
    let short: &[_] = &[(MAIN, 1, Allreduce, 10.0), (EXCHANGE, 2, Send, 90.0)];
    let scripts = [(full, 0.9), (full, 0.9), (empty, 0.01), (short, 0.9), (&[], 0.0)];
    assert!(!cluster_ranks(&codes(&scripts)).differ());
}

#[test]
fn an_idle_rank_does_not_tie_two_programs_together() {
    let ocean: &[_] = &[(MAIN, 9, Barrier, 10.0), (10, 1, Send, 500.0)];
    let air: &[_] = &[(MAIN, 9, Barrier, 10.0), (20, 3, Send, 400.0)];
    let idle: &[_] = &[(MAIN, 9, Barrier, 10.0)];
    let found = of(&[(ocean, 0.8), (ocean, 0.8), (air, 0.8), (air, 0.8), (idle, 0.0)]);
    assert_eq!(found[..4], [0, 0, 1, 1].map(Some));
    assert!(found[4].is_some());
}

#[test]
fn the_knee_lies_in_the_largest_jump_within_bounds() {
    let distances = |nearest: [f64; 4]| {
        // Pairs at these distances, all others far.
        square_matrix(4, |a, b| match (a == b, a / 2 == b / 2) {
            (true, _) => 0.0,
            (_, true) => nearest[a],
            _ => 1.0,
        })
    };
    let knee = |nearest| radius_of(&distances(nearest));
    assert!((knee([0.4, 0.4, 0.9, 0.9]) - 0.65).abs() < 1e-12);
    assert_eq!(knee([0.1, 0.1, 0.2, 0.2]), 0.5);
    assert_eq!(knee([0.8, 0.8, 0.9, 0.9]), 0.75);
    assert_eq!(knee([0.3; 4]), 0.5, "no jump at all");
}

#[test]
fn hostile_runs_have_clusters_too() {
    assert_eq!(cluster_ranks(&RunCode::default()).n, 0);
    let (a, b): (&[_], &[_]) = (&[(0, 1, Send, 1.0)], &[(1, 2, Send, 1.0)]);
    assert_eq!(of(&[(a, 1.0)]), [Some(0)]);
    assert_eq!(of(&[(a, 1.0), (b, 1.0)]), [Some(0); 2], "of two neither is the odd one");
    let nothing: Script = (&[], 0.0);
    assert_eq!(of(&[nothing; 5]), [Some(0); 5], "of nothing all run the same");
}

#[test]
fn of_very_many_different_profiles_the_rest_joins_the_nearest() {
    // Each rank calls once from a line of its own, half of them mostly from another function.
    let calls: Vec<[_; 2]> =
        (0..MOST_PROFILES as u32 + 50).map(|at| [(at % 2, at % 2, Send, 99.0), (at % 2, 10 + at, Send, 1.0)]).collect();
    let scripts: Vec<Script> = calls.iter().map(|calls| (calls.as_slice(), 0.5)).collect();
    let found = cluster_ranks(&codes(&scripts));
    assert_eq!((found.n, found.profiles, found.clustered), (2, MOST_PROFILES + 50, MOST_PROFILES));
    assert!(found.of.iter().enumerate().all(|(at, of)| *of == Some(at % 2)));
}

proptest! {
    #[test]
    fn renumbering_ranks_renames_them_and_no_more(
        kinds in prop::collection::vec((0..4u32, 1..400u32), 3..16),
        turn in 0..16usize,
    ) {
        let calls: Vec<[_; 2]> = kinds.iter().map(|&(kind, n)| {
            [(kind, kind, Send, f64::from(n)), (10 + kind / 2, 10 + kind / 2, Recv, 100.0)]
        }).collect();
        let n = calls.len();
        let found = |turn: usize| {
            let scripts: Vec<Script> = (0..n).map(|at| (calls[(at + turn) % n].as_slice(), 0.5)).collect();
            of(&scripts)
        };
        let (before, after) = (found(0), found(turn));
        for a in 0..n {
            prop_assert_eq!(before[(a + turn) % n].is_some(), after[a].is_some());
            for b in 0..n {
                prop_assert_eq!(before[(a + turn) % n] == before[(b + turn) % n], after[a] == after[b]);
            }
        }
    }
}
