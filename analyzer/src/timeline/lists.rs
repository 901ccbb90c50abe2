//! Lists of ranks that a rank's deeds name by number: its neighbours in communicators, and the groups of its epochs on windows.

use std::sync::Arc;

use lbprof_collector::Record;
use lbprof_collector::definition::RankList;
use lbprof_collector::record::NONE;
use rustc_hash::FxHashMap;

use super::step::EpochStep;
use crate::definitions::Definitions;

/// Most entries of a list that are looked at: one from a log may be as long as it likes.
const MOST: usize = 1 << 22;

/// The lists of one rank.
pub struct Lists {
    /// World rank, and how many there are.
    rank: u32,
    n_ranks: u32,
    /// How many lists there are.
    n: u32,
    /// Those that nobody has been given yet.
    new: Vec<Arc<[u32]>>,
    /// Numbers of lists by communicator, and by group.
    neighbours: FxHashMap<u32, u32>,
    groups: FxHashMap<u32, u32>,
    /// By window: whom it accesses, and to whom it is exposed.
    epochs: FxHashMap<i32, Sides>,
}

/// Numbers of lists; NONE: not known.
#[derive(Clone, Copy)]
struct Sides {
    targets: u32,
    origins: u32,
}

impl Lists {
    /// Those of `rank` among `n_ranks`, none yet.
    pub fn new(rank: u32, n_ranks: u32) -> Self {
        Lists {
            rank,
            n_ranks,
            n: 0,
            new: Vec::new(),
            neighbours: FxHashMap::default(),
            groups: FxHashMap::default(),
            epochs: FxHashMap::default(),
        }
    }

    /// Lists that came up since the last call, in the order of their numbers.
    pub fn take_new(&mut self) -> Vec<Arc<[u32]>> {
        std::mem::take(&mut self.new)
    }

    /// The number of the list of those that send to the rank on communicator `comm`; that behind it is of those that it sends to.
    /// NONE: not known.
    pub fn neighbours(&mut self, comm: u32, definitions: &Definitions) -> u32 {
        if let Some(&number) = self.neighbours.get(&comm) {
            return number;
        }
        let Some(found) = definitions.neighbours.get(&comm) else { return NONE };
        let number = self.add(&found.sources);
        self.add(&found.destinations);
        self.neighbours.insert(comm, number);
        number
    }

    /// The number of the list of the ranks with which a call synchronises as a step of an epoch; NONE: not known.
    pub fn epoch(&mut self, record: &Record, step: EpochStep, definitions: &Definitions) -> u32 {
        let begins = matches!(step, EpochStep::Post | EpochStep::Start);
        let group = if begins { self.group(record, definitions) } else { NONE };
        let sides = self.epochs.entry(record.tag).or_insert(Sides { targets: NONE, origins: NONE });
        let side = match step {
            EpochStep::Start | EpochStep::Complete => &mut sides.targets,
            _ => &mut sides.origins,
        };
        if begins {
            *side = group;
        }
        *side
    }

    fn group(&mut self, record: &Record, definitions: &Definitions) -> u32 {
        let Some(ranks) = definitions.group_of(record) else { return NONE };
        if let Some(&number) = self.groups.get(&record.count) {
            return number;
        }
        let number = self.add(ranks);
        self.groups.insert(record.count, number);
        number
    }

    /// A rank is there once, and the rank itself not at all: it waits for nobody when it waits for itself.
    fn add(&mut self, ranks: &RankList) -> u32 {
        let others = |&rank: &u32| rank != self.rank && rank < self.n_ranks;
        let mut list: Vec<u32> = ranks.iter().take(MOST).filter(others).collect();
        list.sort_unstable();
        list.dedup();
        self.new.push(list.into());
        self.n += 1;
        self.n - 1
    }
}
