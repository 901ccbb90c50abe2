//! The ranks that meet in a collective: the n-th collective of each member on a communicator is the same one (MPI-4.1 §6.12).

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::model::kind::Ns;
use crate::replay::timeline::Meeting;
use crate::replay::what_if::Noted;

/// A meeting that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MeetingId(u32);

/// A rank that has entered.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// World rank.
    pub rank: u32,
    /// Its number in the communicator.
    pub member: u32,
    /// The thread.
    pub thread: u32,
    /// When.
    pub at: Ns,
}

/// A meeting: who has entered, and when.
#[derive(Clone, Debug)]
pub struct Gathering {
    /// Number of the operation of the first to enter.
    pub operation: u16,
    /// Who waits for whom.
    pub meeting: Meeting,
    /// Index of the communicator.
    pub comm: u32,
    /// The world rank of the root, where there is one.
    pub root: Option<u32>,
    /// The entries, where it matters who entered when: not where all wait for all.
    pub entries: Vec<Entry>,
    /// How many have entered.
    pub entered: u32,
    /// The last to enter.
    pub last: Entry,
    /// The latest clocks of all who entered, in the replays.
    pub noted: Noted,
    /// The root's clocks when it entered.
    pub root_noted: Option<Noted>,
    /// How many will enter.
    pub expected: u32,
    /// Whether members call different operations, so that nothing can be said of it.
    pub mixed: bool,
    /// Threads that can't go on before others have entered.
    pub waiters: Vec<u32>,
    left: u32,
    key: (u32, i32),
    /// Which one on `key` it is, counted from 0.
    number: u64,
}

/// The meetings of a communicator, window or file that are not over.
#[derive(Debug, Default)]
struct Club {
    /// Number of the first of `open`.
    from: u64,
    /// `None`: it is over.
    open: VecDeque<Option<u32>>,
}

impl Club {
    /// Where in `open` the meeting of a number is; `None`: it was over, as were all before it.
    fn place(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.from)?).ok()
    }

    /// The meeting of a number is over. One that never ends may be before it, and any number of others behind that one.
    fn is_over(&mut self, number: u64) {
        if let Some(place) = self.place(number).and_then(|place| self.open.get_mut(place)) {
            *place = None;
        }
        while self.open.front() == Some(&None) {
            self.open.pop_front();
            self.from += 1;
        }
    }
}

/// All meetings that are not over.
#[derive(Debug, Default)]
pub struct Gatherings {
    all: Vec<Gathering>,
    free: Vec<u32>,
    clubs: FxHashMap<(u32, i32), Club>,
    /// How many meetings each rank has entered.
    entered: FxHashMap<(u32, u32, i32), u64>,
}

impl Gatherings {
    /// The meeting that a rank enters next on `key`, a communicator and what it is on there; none where it would be one that is over.
    /// `new` makes it where the rank is the first.
    pub fn enter(&mut self, rank: u32, key: (u32, i32), new: impl FnOnce() -> Gathering) -> Option<MeetingId> {
        let entered = self.entered.entry((rank, key.0, key.1)).or_default();
        let club = self.clubs.entry(key).or_default();
        let number = *entered;
        let place = club.place(number)?;
        *entered += 1;
        while club.open.len() <= place {
            club.open.push_back(None);
        }
        if let Some(id) = club.open[place] {
            return Some(MeetingId(id));
        }
        let gathering = Gathering { key, number, ..new() };
        let id = match self.free.pop() {
            Some(id) => {
                self.all[id as usize] = gathering;
                id
            }
            None => {
                self.all.push(gathering);
                self.all.len() as u32 - 1
            }
        };
        club.open[place] = Some(id);
        Some(MeetingId(id))
    }

    /// The meeting.
    pub fn get(&self, id: MeetingId) -> &Gathering {
        &self.all[id.0 as usize]
    }

    /// The meeting, to change it.
    pub fn get_mut(&mut self, id: MeetingId) -> &mut Gathering {
        &mut self.all[id.0 as usize]
    }

    /// One member leaves. Where it was the last, the meeting is over: what it noted comes back.
    pub fn leave(&mut self, id: MeetingId) -> Option<(Noted, Option<Noted>)> {
        let gathering = self.all.get_mut(id.0 as usize)?;
        gathering.left += 1;
        if gathering.left < gathering.expected {
            return None;
        }
        let (key, number, noted) = (gathering.key, gathering.number, (gathering.noted, gathering.root_noted));
        (gathering.waiters, gathering.entries) = (Vec::new(), Vec::new());
        self.free.push(id.0);
        if let Some(club) = self.clubs.get_mut(&key) {
            club.is_over(number);
        }
        Some(noted)
    }

    /// Meetings that not all have left: those which not all entered, and how many they were to be.
    pub fn left(&self) -> u64 {
        self.clubs.values().flat_map(|club| &club.open).flatten().count() as u64
    }
}

impl Gathering {
    /// A meeting that nobody has entered yet.
    pub fn new(first: Entry, operation: u16, meeting: Meeting, comm: u32, expected: u32, noted: Noted) -> Self {
        Gathering {
            operation,
            meeting,
            comm,
            root: None,
            entries: Vec::new(),
            entered: 0,
            last: first,
            noted,
            root_noted: None,
            expected,
            mixed: false,
            waiters: Vec::new(),
            left: 0,
            key: (comm, 0),
            number: 0,
        }
    }

    /// A member enters. Its clocks are noted apart.
    pub fn add(&mut self, entry: Entry, operation: u16, root: Option<u32>) {
        self.mixed |= operation != self.operation;
        self.entered += 1;
        self.root = self.root.or(root);
        if entry.at > self.last.at {
            self.last = entry;
        }
        if self.meeting != Meeting::All {
            self.entries.push(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::what_if::Clocks;

    #[test]
    fn meetings_behind_one_that_never_ends_cost_no_more_the_more_there_are() {
        let noted = Clocks::new(&[], 0).note(0);
        let mut gatherings = Gatherings::default();
        let enter = |gatherings: &mut Gatherings, rank| {
            let entry = Entry { rank, member: 0, thread: rank, at: 0 };
            gatherings.enter(rank, (0, 0), || Gathering::new(entry, 0, Meeting::All, 0, 2, noted)).unwrap()
        };
        // The first is never left by rank 1. Searched for one by one the others would be 80 billion.
        let n = 400_000;
        let first = enter(&mut gatherings, 0);
        assert_eq!(enter(&mut gatherings, 1), first);
        gatherings.leave(first);
        for at in 0..n {
            let id = enter(&mut gatherings, 0);
            assert_eq!(enter(&mut gatherings, 1), id, "meeting {at}");
            assert_ne!(id, first);
            assert!(gatherings.leave(id).is_none());
            assert!(gatherings.leave(id).is_some());
        }
        assert_eq!((gatherings.left(), gatherings.all.len()), (1, 2));
        assert!(gatherings.leave(first).is_some());
        assert_eq!((gatherings.left(), gatherings.clubs[&(0, 0)].from), (0, n + 1));
    }
}
