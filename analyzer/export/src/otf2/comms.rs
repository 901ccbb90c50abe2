//! Communicators by the places of their members in the trace. OTF2 numbers ranks in messages and collectives by communicator.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use lbprof_analysis::model::Model;

use super::library::Ref;

/// The value of `OTF2_CollectiveRoot` of a collective without a root.
const NO_ROOT: u32 = u32::MAX;

/// A communicator.
pub struct TraceComm {
    /// Its name.
    pub name: String,
    /// Places of its members that are in the trace, in the order of their ranks in it. The two groups of an inter-communicator
    /// follow one another, because most readers do not know OTF2's definition of two groups.
    pub places: Vec<u64>,
    /// The members' ranks in `places`, by world rank.
    ranks: HashMap<u32, u32>,
}

/// The communicators of a trace, and one of all ranks for messages whose communicator is not known.
#[derive(Default)]
pub struct TraceComms {
    /// The communicators by their numbers in the model, and a last one that is not in the model.
    pub comms: Vec<TraceComm>,
}

impl TraceComms {
    /// Numbers the communicators of a model.
    pub fn new(model: &Model) -> TraceComms {
        let world: Vec<u32> = model.ranks.iter().map(|rank| rank.rank).collect();
        // A list with more members than twice the ranks of the run is damaged.
        let max_members = 2 * model.facts.n_ranks as usize;
        let mut comms = Vec::new();
        for comm in &model.communicators {
            let members = comm.group.iter().chain(comm.remote.iter()).take(max_members);
            comms.push(TraceComm::new(comm.label(), members, &world));
        }
        comms.push(TraceComm::new("unknown communicator".to_owned(), world.iter().copied(), &world));
        TraceComms { comms }
    }

    /// Returns the number of the communicator of a message of `rank`, and the rank of `peer` in it, or `None` if `peer` is not in the trace. If they
    /// are no members of the model's communicator `comm`, it is the one of all ranks.
    pub fn find_peer(&self, comm: u32, rank: u32, peer: u32) -> Option<(Ref, u32)> {
        let of_all_ranks = self.comms.len() as Ref - 1;
        [comm, of_all_ranks].into_iter().find_map(|comm| {
            let ranks = &self.comms.get(comm as usize)?.ranks;
            ranks.get(&rank).and(ranks.get(&peer)).map(|&found| (comm, found))
        })
    }

    /// Returns the root of a collective of `rank` as OTF2 has it, or `None` if the rank is not in the communicator.
    pub fn find_root(&self, comm: u32, rank: u32, root: Option<u32>) -> Option<u32> {
        let ranks = &self.comms.get(comm as usize)?.ranks;
        ranks.get(&rank)?;
        Some(root.and_then(|root| ranks.get(&root).copied()).unwrap_or(NO_ROOT))
    }
}

impl TraceComm {
    /// Creates a communicator of the `members` that are in `world`, the sorted ranks of the trace.
    fn new(name: String, members: impl Iterator<Item = u32>, world: &[u32]) -> TraceComm {
        let (mut places, mut ranks) = (Vec::new(), HashMap::new());
        for member in members {
            let Ok(place) = world.binary_search(&member) else { continue };
            if let Entry::Vacant(free) = ranks.entry(member) {
                free.insert(places.len() as u32);
                places.push(place as u64);
            }
        }
        TraceComm { name, places, ranks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_counted_by_communicator_among_those_in_the_trace() {
        // Ranks 1, 2, 4, 5 of 6 are selected.
        let world = [1, 2, 4, 5];
        let comm = |ranks: &[u32]| TraceComm::new(String::new(), ranks.iter().copied(), &world);
        let comms = TraceComms { comms: vec![comm(&[5, 3, 4]), comm(&world)] };
        assert_eq!(comms.comms[0].places, [3, 2]);
        assert_eq!(comms.find_peer(0, 5, 4), Some((0, 1)));
        assert_eq!(comms.find_peer(0, 1, 2), Some((1, 1)), "no members of it");
        assert_eq!(comms.find_peer(u32::MAX, 1, 2), Some((1, 1)), "not known");
        assert_eq!(comms.find_peer(0, 5, 3), None, "not in the trace");
        assert_eq!(comms.find_root(0, 5, Some(4)), Some(1));
        assert_eq!(comms.find_root(0, 5, None), Some(NO_ROOT));
        assert_eq!(comms.find_root(0, 5, Some(3)), Some(NO_ROOT));
        assert_eq!(comms.find_root(0, 1, None), None);
    }
}
