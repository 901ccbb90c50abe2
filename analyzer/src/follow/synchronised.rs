//! When two threads were last synchronised: by a message between them, or in a collective (METRICS §4, T*).

use rustc_hash::FxHashMap;

use crate::model::Communicator;
use crate::timeline::Ns;

/// The last synchronisations of all threads.
#[derive(Debug)]
pub struct Synchronised {
    /// Of two threads, the smaller number first, by messages and rooted collectives.
    pairs: FxHashMap<(u32, u32), Ns>,
    /// Of all members of a communicator, in its order in the model; `None`: not yet.
    communicators: Vec<Option<Ns>>,
    /// World ranks in each communicator, ascending; `None`: all.
    members: Vec<Option<Vec<u32>>>,
    /// Communicators in which all members met, by the first member.
    met: Vec<u32>,
}

impl Synchronised {
    /// Nobody is synchronised yet.
    pub fn new(communicators: &[Communicator], n_ranks: u32) -> Self {
        let members = |comm: &Communicator| {
            if comm.remote.is_empty() && comm.group.len() >= u64::from(n_ranks) {
                return None;
            }
            // A list from a log may be as long as it likes; what lies beyond the world's size is nobody.
            let all = comm.group.iter().chain(comm.remote.iter()).take(2 * n_ranks as usize);
            let mut members: Vec<u32> = all.filter(|&rank| rank < n_ranks).collect();
            members.sort_unstable();
            members.dedup();
            Some(members)
        };
        Synchronised {
            pairs: FxHashMap::default(),
            communicators: vec![None; communicators.len()],
            members: communicators.iter().map(members).collect(),
            met: Vec::new(),
        }
    }

    /// The world ranks in a communicator, ascending; `None`: all.
    pub fn members(&self, comm: u32) -> Option<&[u32]> {
        self.members.get(comm as usize).and_then(|members| members.as_deref())
    }

    /// Two threads are synchronised.
    pub fn pair(&mut self, a: u32, b: u32, at: Ns) {
        let last = self.pairs.entry((a.min(b), a.max(b))).or_insert(at);
        *last = at.max(*last);
    }

    /// All members of a communicator are.
    pub fn all(&mut self, comm: u32, at: Ns) {
        let Some(last) = self.communicators.get_mut(comm as usize) else { return };
        if last.is_none() {
            self.met.push(comm);
        }
        *last = Some(last.unwrap_or(at).max(at));
    }

    /// When two threads, of these world ranks, were last synchronised; `Ns::MIN`: never.
    pub fn last(&self, (a, rank_a): (u32, u32), (b, rank_b): (u32, u32)) -> Ns {
        let mut last = self.pairs.get(&(a.min(b), a.max(b))).copied().unwrap_or(Ns::MIN);
        for &comm in &self.met {
            let at = self.communicators[comm as usize].unwrap_or(Ns::MIN);
            if at > last && self.has(comm, rank_a) && self.has(comm, rank_b) {
                last = at;
            }
        }
        last
    }

    fn has(&self, comm: u32, rank: u32) -> bool {
        self.members(comm).is_none_or(|members| members.binary_search(&rank).is_ok())
    }
}
