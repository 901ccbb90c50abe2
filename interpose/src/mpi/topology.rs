//! This rank's neighbours in a communicator's topology (MPI-4.1 chapter 8).

use crate::machine::word::Word;
use crate::mpi::abi::current_abi;
use crate::mpi::call::{self, ask_mpi};

/// This rank's neighbours, by their ranks in the communicator, in the order of the arguments of neighbourhood collectives (MPI-4.1 §8.6).
/// `None` is MPI_PROC_NULL.
#[derive(Debug, Default)]
pub struct TopologyNeighbours {
    pub is_there: bool,
    pub sources: Vec<Option<u32>>,
    pub destinations: Vec<Option<u32>>,
    /// Neighbours in a grid that are missing, beyond its edge: a bit for each.
    pub absent: u64,
}

impl TopologyNeighbours {
    fn symmetric(neighbours: &[i32]) -> Self {
        let (sources, destinations) = (existing_ranks(neighbours), existing_ranks(neighbours));
        let bits = sources.iter().take(64).enumerate();
        let absent = bits.filter(|(_, rank)| rank.is_none()).fold(0, |absent, (i, _)| absent | 1 << i);
        TopologyNeighbours { is_there: true, sources, destinations, absent }
    }
}

/// Converts ranks. Negative ones are MPI_PROC_NULL.
fn existing_ranks(ranks: &[i32]) -> Vec<Option<u32>> {
    ranks.iter().map(|&rank| u32::try_from(rank).ok()).collect()
}

/// The maximum number of neighbours. No sound library gives more.
const MOST: i32 = 1 << 24;

/// Reads the neighbours in `comm`.
pub fn read_neighbours(comm: Word) -> TopologyNeighbours {
    // MPI_Topo_test gives MPI_UNDEFINED, or one of three values that differ between MPIs.
    let kind = ask_mpi(c"PMPI_Topo_test", [comm], current_abi().undefined);
    let [cart, graph, dist_graph] = current_abi().topologies;
    if kind == cart {
        on_grid(comm)
    } else if kind == graph {
        on_graph(comm)
    } else if kind == dist_graph {
        on_dist_graph(comm)
    } else {
        TopologyNeighbours::default()
    }
}

fn on_grid(comm: Word) -> TopologyNeighbours {
    let mut neighbours = Vec::new();
    // A grid has fewer than 32 dimensions, because each useful one doubles the number of ranks.
    for dimension in 0..ask_mpi(c"PMPI_Cartdim_get", [comm], 0i32).clamp(0, 32) {
        let mut before = current_abi().proc_null;
        let arguments = [comm, dimension as Word, 1, &raw mut before as Word];
        let behind = ask_mpi(c"PMPI_Cart_shift", arguments, current_abi().proc_null);
        neighbours.extend([before, behind]);
    }
    TopologyNeighbours::symmetric(&neighbours)
}

fn on_graph(comm: Word) -> TopologyNeighbours {
    let rank = ask_mpi(c"PMPI_Comm_rank", [comm], 0i32) as Word;
    let count = ask_mpi(c"PMPI_Graph_neighbors_count", [comm, rank], 0i32).clamp(0, MOST);
    let mut neighbours = vec![current_abi().proc_null; count as usize];
    let to = neighbours.as_mut_ptr() as Word;
    // SAFETY: the array is as long as is stated.
    unsafe { call::call_mpi(c"PMPI_Graph_neighbors", [comm, rank, count as Word, to, 0, 0, 0, 0]) };
    TopologyNeighbours::symmetric(&neighbours)
}

fn on_dist_graph(comm: Word) -> TopologyNeighbours {
    let mut counts = [0i32; 2];
    let to = counts.each_mut().map(|count| std::ptr::from_mut(count) as Word);
    ask_mpi(c"PMPI_Dist_graph_neighbors_count", [comm, to[0], to[1]], 0i32);
    let [n_sources, n_destinations] = counts.map(|count| count.clamp(0, MOST) as usize);
    let [mut sources, mut destinations] = [n_sources, n_destinations].map(|n| vec![current_abi().proc_null; n]);
    let [mut source_weights, mut destination_weights] = [sources.clone(), destinations.clone()];
    let [from, from_weights] = [&mut sources, &mut source_weights].map(|ranks| ranks.as_mut_ptr() as Word);
    let [to, to_weights] = [&mut destinations, &mut destination_weights].map(|ranks| ranks.as_mut_ptr() as Word);
    let arguments = [comm, n_sources, from, from_weights, n_destinations, to, to_weights, 0];
    // SAFETY: the arrays, including the unused weights, are as long as is stated.
    unsafe { call::call_mpi(c"PMPI_Dist_graph_neighbors", arguments) };
    let (sources, destinations) = (existing_ranks(&sources), existing_ranks(&destinations));
    TopologyNeighbours { is_there: true, sources, destinations, absent: 0 }
}
