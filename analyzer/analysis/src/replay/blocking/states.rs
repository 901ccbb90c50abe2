//! Numbers for the states of threads: a thread and a kind of its time are one dense number, so that sums over them are lists.

use crate::model::code::region_state::RegionState;

/// A thread and a kind of its time, by number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadState(u32);

/// The thread does no such thing.
const UNHEARD: u32 = u32::MAX;

/// The numbered states of all threads, in order of appearance.
#[derive(Debug, Default)]
pub struct ThreadStates {
    all: Vec<(u32, RegionState)>,
    numbers: Vec<Vec<u32>>,
}

impl ThreadState {
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ThreadStates {
    /// The number of what a thread does.
    #[inline]
    pub fn intern(&mut self, thread: u32, kind: RegionState) -> ThreadState {
        self.find(thread, kind).unwrap_or_else(|| self.add(thread, kind))
    }

    /// The number, if the thread is known to do that.
    #[inline]
    pub fn find(&self, thread: u32, kind: RegionState) -> Option<ThreadState> {
        let number = *self.numbers.get(thread as usize)?.get(kind.0 as usize)?;
        (number != UNHEARD).then_some(ThreadState(number))
    }

    #[inline]
    pub fn get(&self, state: ThreadState) -> (u32, RegionState) {
        self.all[state.index()]
    }

    #[inline]
    pub fn is_computation_of(&self, state: ThreadState, thread: u32) -> bool {
        let (by, kind) = self.get(state);
        by == thread && kind.is_computation()
    }

    #[inline]
    pub fn kind_number(&self, state: ThreadState) -> usize {
        self.get(state).1.0 as usize
    }

    pub fn entries(&self) -> &[(u32, RegionState)] {
        &self.all
    }

    #[cold]
    fn add(&mut self, thread: u32, kind: RegionState) -> ThreadState {
        let (thread_at, kind_at) = (thread as usize, kind.0 as usize);
        if self.numbers.len() <= thread_at {
            self.numbers.resize_with(thread_at + 1, Vec::new);
        }
        let of_thread = &mut self.numbers[thread_at];
        if of_thread.len() <= kind_at {
            of_thread.resize(kind_at + 1, UNHEARD);
        }
        of_thread[kind_at] = self.all.len() as u32;
        self.all.push((thread, kind));
        ThreadState(of_thread[kind_at])
    }
}
