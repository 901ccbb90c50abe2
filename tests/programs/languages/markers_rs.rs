// ranks: 2
// problems: Paused
// maybe: UnevenPause
// truth: the phases, iterations, work, counters and parameters that the markers_* programs mark in their languages
//! Marks by the crate lbprof-markers. It calls MPI through the crate `mpi`.

use lbprof_markers::{PhaseKind, count, iteration, param, phase, phase_of_kind, record, work};
use mpi::traits::*;

fn main() {
    param("before MPI", 0.5);
    let all = phase("all");
    let universe = mpi::initialize().expect("MPI starts");
    let world = universe.world();
    let rank = world.rank();
    param("n", 42.0);
    drop(phase_of_kind("setup", PhaseKind::Serial));
    for i in 0..3 {
        let _in_step = iteration("step");
        {
            let _in_force = phase("force");
            world.barrier();
            work(100.0 * f64::from(i), 10.0);
            count("pairs", 1.5 * f64::from(i) + f64::from(rank));
        }
        let _in_balance = phase_of_kind("balance", PhaseKind::Control);
        record(false);
        world.barrier();
        record(true);
    }
    count("pairs", -1.0);
    drop(all);
    println!("{rank}: done");
    drop(universe);
    drop(phase("after MPI"));
}
