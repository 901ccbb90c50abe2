// ranks: 3
// mpi: openmpi mpich
// truth: a ring of halo exchanges and a sum of energies, 12 steps; the last rank computes 20 ms a step, the others 4 ms. Rank 0
// truth: sends the others the number of steps, and a barrier begins them.
// records: Sendrecv 12 Allreduce 12 Bcast 1 Barrier 1
// calls: 81
// end: finalize
//! A program in Rust with the crate `mpi` (rsmpi). It calls MPI through generic functions of the crate, which become machine code
//! of the program's own.

use std::thread::sleep;
use std::time::Duration;

use mpi::collective::SystemOperation;
use mpi::point_to_point::send_receive_into;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

/// What a rank holds of a field: its own cells, and a copy of its left neighbour's.
struct Cells {
    own: [f64; 64],
    halo: [f64; 64],
}

impl Cells {
    /// Every rank gives its cells to the right and takes those of the left.
    fn exchange_halo(&mut self, world: &SimpleCommunicator) {
        let (rank, size) = (world.rank(), world.size());
        let right = world.process_at_rank((rank + 1) % size);
        let left = world.process_at_rank((rank + size - 1) % size);
        send_receive_into(&self.own[..], &right, &mut self.halo[..], &left);
    }

    /// Computes a step.
    fn advance(&mut self, world: &SimpleCommunicator) {
        let slow = world.rank() == world.size() - 1;
        sleep(Duration::from_millis(if slow { 20 } else { 4 }));
        for (own, halo) in self.own.iter_mut().zip(&self.halo) {
            *own = 0.5 * (*own + halo);
        }
    }
}

/// The sum of all ranks' energies.
fn total_energy(world: &SimpleCommunicator, cells: &Cells) -> f64 {
    let (own, mut total) = (cells.own.iter().sum::<f64>(), 0.0);
    world.all_reduce_into(&own, &mut total, SystemOperation::sum());
    total
}

fn main() {
    let universe = mpi::initialize().expect("MPI was not initialized before");
    let world = universe.world();
    let mut steps = if world.rank() == 0 { 12 } else { 0 };
    world.process_at_rank(0).broadcast_into(&mut steps);
    let mut cells = Cells { own: [f64::from(world.rank()); 64], halo: [0.0; 64] };
    let mut energy = 0.0;
    world.barrier();
    for _ in 0..steps {
        cells.exchange_halo(&world);
        cells.advance(&world);
        energy = total_energy(&world, &cells);
    }
    println!("rank {} of {}: {energy}", world.rank(), world.size());
}
