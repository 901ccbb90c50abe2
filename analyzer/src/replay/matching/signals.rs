//! What a rank tells some others, and they wait for: that it has entered a neighbourhood collective (MPI-4.1 §8.6), has exposed its window,
//! or has completed its access to theirs (§12.5.2).
//!
//! ```text
//!   a told b:    1   2   3
//!   b hears:     1   2   3   4          the n-th that it hears is the n-th that it was told
//!                └───┘ over, forgotten
//! ```

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::model::kind::Ns;
use crate::replay::what_if::Noted;

/// What is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Says {
    /// The rank has entered a neighbourhood collective.
    Entered,
    /// It has exposed its window.
    Posted,
    /// It has completed its access.
    Completed,
}

/// Who tells whom what, and on what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    /// Index of the communicator.
    pub comm: u32,
    /// 0 the communicator itself, else a window.
    pub on: i32,
    /// World rank that tells.
    pub from: u32,
    /// World rank that is told.
    pub to: u32,
    /// What.
    pub says: Says,
}

/// Something told.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// The thread.
    pub thread: u32,
    /// When.
    pub at: Ns,
    /// Its clocks in the replays then.
    pub noted: Noted,
}

/// What one call hears, all of the same kind.
#[derive(Clone, Debug)]
pub struct Hearing {
    /// The lines, and the number of what is told there.
    pub lines: Vec<(Line, u64)>,
    /// What is told.
    pub says: Says,
    /// Whether the call cannot end before all was told.
    pub certain: bool,
    /// Bytes that come from each.
    pub bytes: u64,
}

/// A [`Hearing`] that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HearingId(u32);

#[derive(Clone, Copy, Debug)]
enum Slot {
    /// Heard before it was told.
    Awaited,
    Told(Told),
    /// Who heard it is over, maybe before it was told.
    Over,
}

/// What was told on a line, or is awaited there.
#[derive(Debug, Default)]
struct Queue {
    /// Number of the first of `slots`.
    first: u64,
    slots: VecDeque<Slot>,
    n_told: u64,
    n_heard: u64,
    /// Threads that cannot go on before more is told.
    waiters: Vec<u32>,
}

impl Queue {
    /// The slot of a number that is not over.
    fn slot(&mut self, number: u64) -> Option<&mut Slot> {
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        while self.slots.len() <= at {
            self.slots.push_back(Slot::Awaited);
        }
        self.slots.get_mut(at)
    }

    fn drop_over(&mut self) {
        while self.first < self.n_told && matches!(self.slots.front(), Some(Slot::Over)) {
            self.slots.pop_front();
            self.first += 1;
        }
    }
}

/// Fewest lines of which those are dropped on which nothing is left.
const FEWEST: usize = 1 << 12;

/// All that was told and not heard, or is heard and not over.
#[derive(Debug, Default)]
pub struct Signals {
    lines: FxHashMap<Line, Queue>,
    hearings: Vec<Hearing>,
    free: Vec<u32>,
    /// Number of lines from which on the empty ones are dropped.
    sweep_at: usize,
}

impl Signals {
    /// A rank tells another something: threads that waited for it, and what nobody needs any more.
    pub fn tell(&mut self, line: Line, told: Told) -> (Vec<u32>, Option<Noted>) {
        self.sweep();
        let queue = self.lines.entry(line).or_default();
        let number = queue.n_told;
        queue.n_told += 1;
        let unheard = match queue.slot(number) {
            Some(slot @ Slot::Awaited) => {
                *slot = Slot::Told(told);
                None
            }
            _ => Some(told.noted),
        };
        queue.drop_over();
        (std::mem::take(&mut queue.waiters), unheard)
    }

    /// A call will hear the next of each of `lines`.
    pub fn hear(&mut self, lines: impl Iterator<Item = Line>, says: Says, certain: bool, bytes: u64) -> HearingId {
        self.sweep();
        let mut next = |line| {
            let queue = self.lines.entry(line).or_default();
            queue.n_heard += 1;
            (line, queue.n_heard - 1)
        };
        let hearing = Hearing { lines: lines.map(&mut next).collect(), says, certain, bytes };
        match self.free.pop() {
            Some(id) => {
                self.hearings[id as usize] = hearing;
                HearingId(id)
            }
            None => {
                self.hearings.push(hearing);
                HearingId(self.hearings.len() as u32 - 1)
            }
        }
    }

    /// What is heard.
    pub fn hearing(&self, id: HearingId) -> &Hearing {
        &self.hearings[id.0 as usize]
    }

    /// What was told on a line under this number, if it was.
    pub fn told(&self, line: &Line, number: u64) -> Option<Told> {
        let queue = self.lines.get(line)?;
        match queue.slots.get(usize::try_from(number.checked_sub(queue.first)?).ok()?)? {
            Slot::Told(told) => Some(*told),
            Slot::Awaited | Slot::Over => None,
        }
    }

    /// Lets a thread wait for what is told next on a line.
    pub fn wait(&mut self, line: &Line, thread: u32) {
        if let Some(queue) = self.lines.get_mut(line) {
            queue.waiters.push(thread);
        }
    }

    /// What one call heard is over: that, or `None` of what was not told.
    pub fn end(&mut self, id: HearingId) -> Vec<Option<Told>> {
        let Some(hearing) = self.hearings.get_mut(id.0 as usize) else { return Vec::new() };
        let lines = std::mem::take(&mut hearing.lines);
        self.free.push(id.0);
        let end = |(line, number): (Line, u64)| {
            let queue = self.lines.get_mut(&line)?;
            let was = std::mem::replace(queue.slot(number)?, Slot::Over);
            queue.drop_over();
            match was {
                Slot::Told(told) => Some(told),
                Slot::Awaited | Slot::Over => None,
            }
        };
        lines.into_iter().map(end).collect()
    }

    /// How much was heard that was never told: of neighbourhood collectives, and of epochs.
    pub fn left(&self) -> (u64, u64) {
        let (mut neighbours, mut epochs) = (0, 0);
        for (line, queue) in &self.lines {
            let all = if line.says == Says::Entered { &mut neighbours } else { &mut epochs };
            *all += queue.n_heard.saturating_sub(queue.n_told);
        }
        (neighbours, epochs)
    }

    /// Drops lines on which nothing is left: what comes counts from the begin again.
    fn sweep(&mut self) {
        if self.lines.len() >= self.sweep_at.max(FEWEST) {
            self.lines.retain(|_, queue| queue.n_told != queue.n_heard || queue.first != queue.n_told);
            self.sweep_at = 2 * self.lines.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::what_if::Clocks;

    fn line(from: u32) -> Line {
        Line { comm: 0, on: 0, from, to: 9, says: Says::Entered }
    }

    #[test]
    fn the_nth_heard_is_the_nth_told_whichever_comes_first() {
        let mut clocks = Clocks::new(&[], 0);
        let mut signals = Signals::default();
        let mut told = |at| Told { thread: 0, at, noted: clocks.note(0) };
        let hear = |signals: &mut Signals, from: &[u32]| {
            signals.hear(from.iter().map(|&from| line(from)), Says::Entered, true, 0)
        };
        signals.tell(line(1), told(10));
        let (first, second) = (hear(&mut signals, &[1, 2]), hear(&mut signals, &[1]));
        signals.wait(&line(2), 7);
        let (woken, unheard) = signals.tell(line(2), told(20));
        assert_eq!((woken, unheard.is_some()), (vec![7], false));
        assert!(signals.end(second).iter().all(Option::is_none), "ends before it is told");
        let at = |told: Vec<Option<Told>>| told.into_iter().map(|one| one.map(|told| told.at)).collect::<Vec<_>>();
        assert_eq!(at(signals.end(first)), [Some(10), Some(20)]);
        assert_eq!(signals.left(), (1, 0));
        // What the second heard is told late: nobody needs it, and nothing is left.
        assert!(signals.tell(line(1), told(30)).1.is_some());
        assert_eq!(signals.left(), (0, 0));
        assert!(signals.lines.values().all(|queue| queue.slots.is_empty()));
        // What was told before it is heard waits for that.
        signals.tell(line(1), told(40));
        let third = hear(&mut signals, &[1]);
        assert_eq!(at(signals.end(third)), [Some(40)]);
    }
}
