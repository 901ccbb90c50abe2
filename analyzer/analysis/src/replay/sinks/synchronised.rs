//! When two threads were last synchronised: by a message between them, or in a collective (METRICS §4, T*).
//!
//! A wait asks for the last time before that which ended it. But what ended it synchronises, too, and others may have shown that already:
//! all members of a collective are, from its last entry on. So the last two times are kept.

use std::sync::OnceLock;

use lbprof_collector::record::NONE;

use crate::model::Communicator;
use crate::model::region_state::Ns;

/// The last two times at which something happened, the later first; `Ns::MIN`: not yet.
#[derive(Clone, Copy, Debug)]
struct LastTwo(Ns, Ns);

impl LastTwo {
    const NEVER: LastTwo = LastTwo(Ns::MIN, Ns::MIN);

    fn add(&mut self, at: Ns) {
        if at > self.0 {
            *self = LastTwo(at, self.0);
        } else if at < self.0 {
            self.1 = self.1.max(at);
        }
    }

    /// The last one before `time`, as far as it is known: of two that are not, the first.
    fn before(self, time: Ns) -> Ns {
        if self.0 < time { self.0 } else { self.1 }
    }
}

/// Who is in which communicator.
#[derive(Debug)]
pub struct Members<'a> {
    communicators: &'a [Communicator],
    n_ranks: u32,
    /// World ranks in each communicator, ascending, listed when first asked for: most serve messages alone. `None`: all.
    lists: Vec<OnceLock<Option<Vec<u32>>>>,
}

impl<'a> Members<'a> {
    /// The members of communicators of a world of `n_ranks` ranks.
    pub fn new(communicators: &'a [Communicator], n_ranks: u32) -> Self {
        Members { communicators, n_ranks, lists: vec![OnceLock::new(); communicators.len()] }
    }

    /// The world ranks in a communicator, ascending; `None`: all.
    pub fn of(&self, comm: u32) -> Option<&[u32]> {
        let (list, comm) = (self.lists.get(comm as usize)?, self.communicators.get(comm as usize)?);
        list.get_or_init(|| self.list(comm)).as_deref()
    }

    /// The number of a world rank in a communicator's group.
    pub fn position(&self, comm: u32, world: u32) -> Option<u64> {
        self.communicators.get(comm as usize)?.group.position(world)
    }

    fn list(&self, comm: &Communicator) -> Option<Vec<u32>> {
        if comm.remote.is_empty() && comm.group.len() >= u64::from(self.n_ranks) {
            return None;
        }
        // A list from a log may be as long as it likes; what lies beyond the world's size is nobody.
        let all = comm.group.iter().chain(comm.remote.iter()).take(2 * self.n_ranks as usize);
        let mut members: Vec<u32> = all.filter(|&rank| rank < self.n_ranks).collect();
        members.sort_unstable();
        members.dedup();
        Some(members)
    }

    fn has(&self, comm: u32, rank: u32) -> bool {
        self.of(comm).is_none_or(|members| members.binary_search(&rank).is_ok())
    }
}

/// The last synchronisations of all threads.
#[derive(Debug)]
pub struct Synchronised<'a> {
    /// By messages and rooted collectives: of the thread with the larger number, those with smaller ones, ascending. Most have few.
    pairs: Vec<Vec<(u32, LastTwo)>>,
    members: &'a Members<'a>,
    /// World ranks of threads.
    worlds: Vec<u32>,
    /// Of all members of a communicator, in its order in the model.
    all: Vec<LastTwo>,
    /// Communicators in which all members were synchronised, by the first time.
    met: Vec<u32>,
}

impl<'a> Synchronised<'a> {
    /// Nobody is synchronised yet.
    pub fn new(members: &'a Members<'a>) -> Self {
        let all = vec![LastTwo::NEVER; members.communicators.len()];
        Synchronised { pairs: Vec::new(), members, worlds: Vec::new(), all, met: Vec::new() }
    }

    /// A further thread, of this world rank; its number is the next one.
    pub fn add_thread(&mut self, world: u32) {
        self.worlds.push(world);
    }

    /// Two threads are synchronised.
    pub fn pair(&mut self, a: u32, b: u32, at: Ns) {
        let (smaller, larger) = (a.min(b), a.max(b) as usize);
        if self.pairs.len() <= larger {
            self.pairs.resize_with(larger + 1, Vec::new);
        }
        let with = &mut self.pairs[larger];
        match with.binary_search_by_key(&smaller, |&(other, _)| other) {
            Ok(known) => with[known].1.add(at),
            Err(place) => with.insert(place, (smaller, LastTwo(at, Ns::MIN))),
        }
    }

    /// All members of a communicator are.
    pub fn all(&mut self, comm: u32, at: Ns) {
        let Some(last) = self.all.get_mut(comm as usize) else { return };
        if last.0 == Ns::MIN {
            self.met.push(comm);
        }
        last.add(at);
    }

    /// When all members of a communicator were last.
    pub fn last_of_all(&self, comm: u32) -> Option<Ns> {
        self.all.get(comm as usize).map(|last| last.0).filter(|&at| at > Ns::MIN)
    }

    /// When two threads were last synchronised before `time`; `Ns::MIN`: never.
    pub fn last(&self, a: u32, b: u32, time: Ns) -> Ns {
        let world = |thread: u32| self.worlds.get(thread as usize).copied().unwrap_or(NONE);
        let with = self.pairs.get(a.max(b) as usize).map_or(&[][..], Vec::as_slice);
        let pair = with.binary_search_by_key(&a.min(b), |&(other, _)| other);
        let mut last = pair.map_or(Ns::MIN, |known| with[known].1.before(time));
        for &comm in &self.met {
            let at = self.all[comm as usize].before(time);
            if at > last && self.members.has(comm, world(a)) && self.members.has(comm, world(b)) {
                last = at;
            }
        }
        last
    }
}
