//! This rank's neighbours in a communicator's topology (MPI-4.1 chapter 8).

use crate::mpi::abi::current_abi;
use crate::mpi::call;
use crate::word::Word;

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
///
/// # Safety
/// `comm` is a valid handle.
pub unsafe fn read_neighbours(comm: Word) -> TopologyNeighbours {
    // SAFETY: local look-ups on a valid communicator.
    unsafe {
        // MPI_Topo_test gives MPI_UNDEFINED, or one of three values that differ between MPIs.
        let mut kind = current_abi().undefined;
        call::call2(c"PMPI_Topo_test", comm, &raw mut kind as Word);
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
}

/// # Safety
/// `comm` is a valid handle, of this topology.
unsafe fn on_grid(comm: Word) -> TopologyNeighbours {
    let mut dimensions = 0i32;
    let mut neighbours = Vec::new();
    // SAFETY: as the caller says; results are stored in variables of this frame.
    unsafe {
        call::call2(c"PMPI_Cartdim_get", comm, &raw mut dimensions as Word);
        // A grid has fewer than 32 dimensions, because each useful one doubles the number of ranks.
        for dimension in 0..dimensions.clamp(0, 32) {
            let (mut before, mut behind) = (current_abi().proc_null, current_abi().proc_null);
            let (to_before, to_behind) = (&raw mut before as Word, &raw mut behind as Word);
            call::call_mpi(c"PMPI_Cart_shift", [comm, dimension as Word, 1, to_before, to_behind, 0, 0, 0]);
            neighbours.extend([before, behind]);
        }
    }
    TopologyNeighbours::symmetric(&neighbours)
}

/// # Safety
/// `comm` is a valid handle, of this topology.
unsafe fn on_graph(comm: Word) -> TopologyNeighbours {
    let (mut rank, mut count) = (0i32, 0i32);
    // SAFETY: as the caller says; the array is as long as is stated.
    unsafe {
        call::call2(c"PMPI_Comm_rank", comm, &raw mut rank as Word);
        call::call3(c"PMPI_Graph_neighbors_count", comm, rank as Word, &raw mut count as Word);
        let count = count.clamp(0, MOST);
        let mut neighbours = vec![current_abi().proc_null; count as usize];
        let to = neighbours.as_mut_ptr() as Word;
        call::call_mpi(c"PMPI_Graph_neighbors", [comm, rank as Word, count as Word, to, 0, 0, 0, 0]);
        TopologyNeighbours::symmetric(&neighbours)
    }
}

/// # Safety
/// `comm` is a valid handle, of this topology.
unsafe fn on_dist_graph(comm: Word) -> TopologyNeighbours {
    let (mut n_sources, mut n_destinations, mut weighted) = (0i32, 0i32, 0i32);
    let to = [&raw mut n_sources as Word, &raw mut n_destinations as Word, &raw mut weighted as Word];
    // SAFETY: as the caller says; the arrays, including the unused weights, are as long as is stated.
    unsafe {
        call::call_mpi(c"PMPI_Dist_graph_neighbors_count", [comm, to[0], to[1], to[2], 0, 0, 0, 0]);
        let (n_sources, n_destinations) = (n_sources.clamp(0, MOST), n_destinations.clamp(0, MOST));
        let [mut sources, mut destinations] =
            [n_sources, n_destinations].map(|n| vec![current_abi().proc_null; n as usize]);
        let (mut source_weights, mut destination_weights) = (sources.clone(), destinations.clone());
        call::call_mpi(
            c"PMPI_Dist_graph_neighbors",
            [
                comm,
                n_sources as Word,
                sources.as_mut_ptr() as Word,
                source_weights.as_mut_ptr() as Word,
                n_destinations as Word,
                destinations.as_mut_ptr() as Word,
                destination_weights.as_mut_ptr() as Word,
                0,
            ],
        );
        TopologyNeighbours {
            is_there: true,
            sources: existing_ranks(&sources),
            destinations: existing_ranks(&destinations),
            absent: 0,
        }
    }
}
