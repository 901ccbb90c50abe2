//! Numbers for the kinds of calls of a rank: one for each call site, operation and communicator, in the order of appearance.
//!
//! The communicator of a call that completes requests is that of what it found: a Waitall has none where all were complete before, as after a test that
//! succeeded, though it is the same step of the program. So it does not count.

use lbprof_collector::record::NONE;
use lbprof_collector::semantics::CompletionEffect;
use lbprof_collector::{Operation, Record};
use rustc_hash::FxHashMap;

/// A kind of call, with the ids of the rank's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallKind {
    /// Id of the call site; `u64::MAX`: not known.
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
    /// The number of the kind of a call that follows those before; a new one is the largest.
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
        let number = *self.numbers.entry(kind).or_insert_with(|| {
            self.all.push(kind);
            self.followed.push(NONE);
            self.all.len() as u32 - 1
        });
        if let Some(place) = self.followed.get_mut(self.last as usize) {
            *place = number;
        }
        number
    }

    /// The number of the last call's kind; NONE before the first.
    pub fn last(&self) -> u32 {
        self.last
    }

    /// Iterates over the kinds, by number.
    pub fn iter(&self) -> impl Iterator<Item = &CallKind> {
        self.all.iter()
    }

    /// The kind of a number that [`CallKinds::intern`] gave.
    pub fn get(&self, number: u32) -> Option<&CallKind> {
        self.all.get(number as usize)
    }
}
