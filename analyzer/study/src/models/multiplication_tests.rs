//! Runs by formula, for tests: the matrix multiplication of the paper, with known δ.

use lbprof_collector::Activity;

use crate::RunMetrics;
use crate::run::RegionFigures;
use lbprof_analysis::metrics::overhead::{PhaseTime, TimeCategory};
use lbprof_analysis::metrics::spread::load_balance::EfficiencyTimes;

/// Seconds for an operation, and for a quantum.
pub const DELTA: f64 = 50e-9;
/// See above.
pub const DELTA_Q: f64 = 20e-9;

/// Rows and columns of ranks: r·c = P, r near the root.
pub fn grid(p: u32) -> (f64, f64) {
    let root = f64::from(p).sqrt() as u32;
    let rows = (1..=root).rev().find(|rows| p.is_multiple_of(*rows)).unwrap_or(1);
    (f64::from(rows), f64::from(p / rows))
}

/// Each rank's seconds if `n_ranks` ranks take `seconds` in all, and all of them as much.
fn divide_equally(seconds: f64, n_ranks: u32) -> Vec<f64> {
    vec![seconds / f64::from(n_ranks); n_ranks as usize]
}

/// A region without waiting whose time is in one activity.
fn region(path: &str, activity: Activity, seconds: Vec<f64>) -> RegionFigures {
    let activities = [(activity, seconds)].into();
    RegionFigures { path: path.to_owned(), activities, blocked_s: Some(0.0), ..RegionFigures::default() }
}

/// A multiplication of matrices of n by n on p ranks.
pub fn multiplication(p: u32, n: f64) -> RunMetrics {
    let ranks = f64::from(p);
    let (rows, columns) = grid(p);
    let (operations, quanta) = (2.0 * n.powi(3), n * n * (rows + columns - 2.0));
    let (multiply_s, broadcast_s) = (DELTA * operations, DELTA_Q * quanta);
    let idle_s = 0.5 * broadcast_s;
    let elapsed_s = (multiply_s + broadcast_s + idle_s) / ranks;
    let (multiply, broadcast) = (divide_equally(multiply_s, p), divide_equally(broadcast_s + idle_s, p));
    let phases = vec![
        PhaseTime { phase: TimeCategory::Useful, seconds: multiply.clone() },
        PhaseTime { phase: TimeCategory::Activity(Activity::Collective), seconds: broadcast.clone() },
    ];
    let regions = vec![
        region("main", Activity::Computation, divide_equally(0.0, p)),
        RegionFigures { quanta, blocked_s: Some(idle_s), ..region("main/broadcast", Activity::Collective, broadcast) },
        RegionFigures { operations, ..region("main/multiply", Activity::Computation, multiply) },
    ];
    RunMetrics {
        command: vec!["./matmul".to_owned()],
        n_ranks: p,
        complete: true,
        params: [("n".to_owned(), n)].into(),
        times: EfficiencyTimes {
            elapsed_s,
            max_computation_s: multiply_s / ranks,
            avg_computation_s: multiply_s / ranks,
            t_ideal_s: None,
        },
        phases,
        regions,
        ..RunMetrics::default()
    }
}

/// Builds a study with n = 40, 60 … 160 on two ranks, and n = 80 on 1 to 16 ranks.
pub fn study() -> Vec<RunMetrics> {
    let sizes = [40.0, 60.0, 80.0, 100.0, 120.0, 140.0, 160.0].map(|n| multiplication(2, n));
    let ranks = [1, 4, 6, 8, 9, 16].map(|p| multiplication(p, 80.0));
    sizes.into_iter().chain(ranks).collect()
}
