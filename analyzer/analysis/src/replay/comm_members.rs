//! The members of communicators, as ranks in MPI_COMM_WORLD.

use std::sync::OnceLock;

use crate::model::Communicator;

#[derive(Debug)]
pub struct CommMembers<'a> {
    communicators: &'a [Communicator],
    world_size: u32,
    /// Sorted world ranks by communicator, or `None` if it contains all ranks. Each list is built on first use, because most communicators
    /// only carry messages.
    lists: Vec<OnceLock<Option<Vec<u32>>>>,
}

impl<'a> CommMembers<'a> {
    pub fn new(communicators: &'a [Communicator], world_size: u32) -> Self {
        CommMembers { communicators, world_size, lists: vec![OnceLock::new(); communicators.len()] }
    }

    pub fn n_communicators(&self) -> usize {
        self.communicators.len()
    }

    /// Returns the sorted world ranks in `comm`, or `None` if it contains all ranks or is not known.
    pub fn world_ranks(&self, comm: u32) -> Option<&[u32]> {
        let communicator = self.communicators.get(comm as usize)?;
        self.lists[comm as usize].get_or_init(|| self.list_members(communicator)).as_deref()
    }

    pub fn group_rank(&self, comm: u32, world_rank: u32) -> Option<u64> {
        self.communicators.get(comm as usize)?.group.position(world_rank)
    }

    pub fn contains(&self, comm: u32, world_rank: u32) -> bool {
        self.world_ranks(comm).is_none_or(|ranks| ranks.binary_search(&world_rank).is_ok())
    }

    fn list_members(&self, comm: &Communicator) -> Option<Vec<u32>> {
        if comm.remote.is_empty() && comm.group.len() >= u64::from(self.world_size) {
            return None;
        }
        // Logs are untrusted: bound the length, and drop ranks that do not exist.
        let ranks = comm.group.iter().chain(comm.remote.iter()).take(2 * self.world_size as usize);
        let mut members: Vec<u32> = ranks.filter(|&rank| rank < self.world_size).collect();
        members.sort_unstable();
        members.dedup();
        Some(members)
    }
}
