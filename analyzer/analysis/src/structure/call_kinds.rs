//! Numbers for the kinds of calls of a rank: one for each call site, operation and communicator, in the order of appearance.
//!
//! The communicator of a call that completes requests does not count. It depends on the requests that the call found: a Waitall has none if all
//! were complete before, as after a test that succeeded, though it is the same step of the program.

use lbprof_collector::record::NONE;
use lbprof_collector::semantics::CompletionEffect;
use lbprof_collector::{Operation, Record};
use rustc_hash::FxHashMap;

use crate::structure::interning::intern;

/// A kind of call, with the ids of the rank's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallKind {
    /// Id of the call site, or `u64::MAX` if it is not known.
    pub call_site: u64,
    /// Number of the operation.
    pub operation: u16,
    /// Id of the communicator; NONE for a call that completes requests.
    pub comm: u32,
}

/// The kinds of calls seen so far.
#[derive(Clone, Debug)]
pub struct CallKinds {
    all: Vec<CallKind>,
    numbers: FxHashMap<CallKind, u32>,
    /// Kind that followed each kind the last time: programs repeat themselves, so that it mostly follows again.
    followed: Vec<u32>,
    last: u32,
}

impl Default for CallKinds {
    fn default() -> Self {
        CallKinds { all: Vec::new(), numbers: FxHashMap::default(), followed: Vec::new(), last: NONE }
    }
}

impl CallKinds {
    /// Returns the number of the kind of the next call. The number of a new kind is the largest.
    #[inline(always)]
    pub fn intern(&mut self, record: &Record) -> u32 {
        let comm = match Operation::completes(record.operation) {
            CompletionEffect::Nothing => record.comm,
            _ => NONE,
        };
        let kind = CallKind { call_site: record.call_site, operation: record.operation, comm };
        let guess = self.followed.get(self.last as usize).copied().unwrap_or(NONE);
        let number = match self.all.get(guess as usize) {
            Some(guessed) if *guessed == kind => guess,
            _ => self.look_up(kind),
        };
        self.last = number;
        number
    }

    #[inline(never)]
    fn look_up(&mut self, kind: CallKind) -> u32 {
        let number = intern(&mut self.numbers, &mut self.all, kind);
        self.followed.resize(self.all.len(), NONE);
        if let Some(place) = self.followed.get_mut(self.last as usize) {
            *place = number;
        }
        number
    }

    /// Returns the number of the last call's kind, or NONE before the first.
    pub fn last(&self) -> u32 {
        self.last
    }

    /// Iterates over the kinds, by number.
    pub fn iter(&self) -> impl Iterator<Item = &CallKind> {
        self.all.iter()
    }

    /// Returns the kind of a number that [`CallKinds::intern`] gave.
    pub fn get(&self, number: u32) -> &CallKind {
        &self.all[number as usize]
    }
}
