//! The predictor that encoder and decoder share: both know the same records of a batch, and predict the next one from them.
//!
//! Programs repeat themselves: what followed the last time that three records came in a row mostly follows again. The model
//! holds the distinct records of a batch as [`RecordEntry`]s, and a table from the *situation*, a hash of the last three records,
//! to the entry that came next when it was there before. A right guess changes nothing in the model but the situation.
//! It starts empty in each batch, so that each can be read without the others. docs/log-format.md has the rules in full.

use crate::joined::JOINED_COMPLETED;
use crate::operation::Operation;
use crate::record::{CallFlags, NO_PEER, NONE, Record};

/// Bits of the mask of a record that was guessed wrong: the fields that differ from the guess.
pub(crate) mod mask {
    /// The call site or the operation; the contexts column says which they are.
    pub const CONTEXT: u8 = 1;
    pub const PEER: u8 = 2;
    pub const TAG: u8 = 4;
    pub const SENT: u8 = 8;
    pub const RECEIVED: u8 = 16;
    pub const REQUEST: u8 = 32;
    pub const COUNT: u8 = 64;
    /// The flags or the communicator; both are written.
    pub const RARE: u8 = 128;
}

/// Columns of what was guessed wrong, in their order in a block.
#[derive(Clone, Copy)]
pub(crate) enum MispredictionColumn {
    /// For each wrong guess four times the number of right ones before it, plus the index of its mask in [`MASKS`].
    Steps,
    /// The masks of wrong guesses that are not in [`MASKS`].
    Masks,
    Contexts,
    Peers,
    Tags,
    Sent,
    Received,
    Requests,
    Counts,
    Rare,
    /// Pairs of lengths of times that [`PAIRS`] does not have.
    Lengths,
}

pub(crate) const COLUMNS: usize = 11;

/// The commonest masks: another place in the program, another number of bytes. Index 0 stands for any other mask.
pub(crate) const MASKS: [u8; 4] = [0, mask::CONTEXT, mask::SENT, mask::RECEIVED];

/// Numbers of bytes of a record's two times by the code that stands for them, 0 to 14: those that programs have. Code
/// [`OTHER_PAIR`] stands for a byte in the column of lengths.
pub(crate) const PAIRS: [(u8, u8); 15] = [
    (0, 0),
    (1, 1),
    (1, 2),
    (1, 3),
    (1, 4),
    (2, 1),
    (2, 2),
    (2, 3),
    (2, 4),
    (3, 1),
    (3, 2),
    (3, 3),
    (3, 4),
    (4, 2),
    (4, 3),
];

/// The code of a pair of lengths that [`PAIRS`] does not have.
pub(crate) const OTHER_PAIR: u8 = 15;

/// A pair of call site and operation.
#[derive(Clone, Copy)]
pub(crate) struct CallContext {
    /// Call site as the records state it: an address in the encoder, an id in the decoder.
    pub call_site: u64,
    pub operation: u16,
    /// Mask: all ones if `request` is the id of a request, because such ids are relative to the newest one; else 0.
    pub relative: u32,
    /// Index of the entry of its last record that was guessed wrong; [`NONE`]: there was none yet.
    pub last: u32,
}

impl CallContext {
    pub(crate) fn new(call_site: u64, operation: u16) -> Self {
        let counts_requests = operation < Operation::FIRST_MARKER
            || operation & JOINED_COMPLETED == JOINED_COMPLETED
            || operation == Operation::Completed as u16
            || operation == Operation::Started as u16;
        CallContext { call_site, operation, relative: if counts_requests { u32::MAX } else { 0 }, last: NONE }
    }
}

/// A record without its times, and what follows from it. 64 bytes, its fields next to each other as in [`Record`], so that
/// the comparison takes eight bytes at a time.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct RecordEntry {
    pub call_site: u64,
    pub sent: u64,
    pub received: u64,
    pub peer: i32,
    pub tag: i32,
    pub comm: u32,
    /// The record's `request`, less the newest request where it is relative.
    request: u32,
    pub operation: u16,
    pub flags: CallFlags,
    pub count: u32,
    /// Mask: all ones if `request` is relative, else 0.
    relative: u32,
    /// Distance by which such a record moves the newest request.
    step: u32,
    /// Eleven bits made of context and peer.
    symbol: u32,
    /// Index of its context.
    pub context: u32,
}

#[inline(always)]
fn pack_pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

#[inline(always)]
fn pack_kinds(operation: u16, flags: CallFlags, count: u32) -> u64 {
    u64::from(operation) | u64::from(flags.0) << 16 | u64::from(count) << 32
}

impl RecordEntry {
    /// The guess at the first record of `context`, whose index is `index`.
    fn predict_first(index: u32, context: &CallContext) -> RecordEntry {
        let &CallContext { call_site, operation, .. } = context;
        let (peer, tag, comm, request) = (NO_PEER, NO_PEER, NONE, NONE);
        let mut entry =
            RecordEntry { call_site, operation, peer, tag, comm, request, context: index, ..RecordEntry::default() };
        entry.find_symbol();
        entry
    }

    /// The `request` of such a record that comes next.
    #[inline(always)]
    pub(crate) fn request(&self, recent: RecentRecords) -> u32 {
        self.request.wrapping_add(recent.newest & self.relative)
    }

    /// True if `record` is such a record, whatever its times.
    #[inline(always)]
    pub(crate) fn is(&self, record: &Record, recent: RecentRecords) -> bool {
        // One word after the other without a branch: most often all are equal.

        let differences = (self.call_site ^ record.call_site)
            | (self.sent ^ record.sent)
            | (self.received ^ record.received)
            | (pack_pair(self.peer as u32, self.tag as u32) ^ pack_pair(record.peer as u32, record.tag as u32))
            | (pack_kinds(self.operation, self.flags, self.count)
                ^ pack_kinds(record.operation, record.flags, record.count))
            | u64::from((self.comm ^ record.comm) | (self.request(recent) ^ record.request));
        differences == 0
    }

    #[inline(always)]
    pub(crate) fn record(&self, recent: RecentRecords, begin: u64, end: u64) -> Record {
        Record {
            begin,
            end,
            call_site: self.call_site,
            sent: self.sent,
            received: self.received,
            peer: self.peer,
            tag: self.tag,
            comm: self.comm,
            request: self.request(recent),
            operation: self.operation,
            flags: self.flags,
            count: self.count,
        }
    }

    pub(crate) fn set_peer(&mut self, peer: i32) {
        self.peer = peer;
        self.find_symbol();
    }

    /// Changes the request to `request`, relative to the newest one if `relative` is all ones.
    pub(crate) fn set_request(&mut self, request: u32, relative: u32, recent: RecentRecords) {
        self.relative = if request == NONE { 0 } else { relative };
        self.request = request.wrapping_sub(recent.newest & self.relative);
        let is_newer = self.relative != 0 && (self.request as i32) > 0;
        self.step = if is_newer { self.request } else { 0 };
    }

    fn find_symbol(&mut self) {
        let symbol = self.context.wrapping_mul(0x9e37_79b1) ^ (self.peer as u32).wrapping_mul(0x85eb_ca6b);
        self.symbol = symbol >> 21;
    }
}

/// Slots of the table of guesses: enough for the distinct situations in a batch, small enough for the first-level cache.
const GUESSES: usize = 2048;

/// The last few records, as far as the next guess depends on them.
#[derive(Clone, Copy, Default)]
pub(crate) struct RecentRecords {
    /// The symbols of the last three records, eleven bits each, the last in the lowest.
    situation: u32,
    /// The newest request id.
    pub newest: u32,
}

impl RecentRecords {
    /// The slot of the present situation in the table of guesses.
    #[inline(always)]
    pub(crate) fn slot(self) -> usize {
        (self.situation.wrapping_mul(0x9e37_79b1) >> (32 - GUESSES.ilog2())) as usize
    }

    /// Goes on after a record like `entry`.
    #[inline(always)]
    pub(crate) fn advance(&mut self, entry: &RecordEntry) {
        self.situation = (self.situation << 11) ^ entry.symbol;
        self.newest = self.newest.wrapping_add(entry.step);
    }
}

/// The model of a batch.
pub(crate) struct RecordPredictor {
    /// By slot, one more than the index of the entry that came last in its situation; 0: none.
    pub guesses: Box<[u32; GUESSES]>,
    pub contexts: Vec<CallContext>,
    pub entries: Vec<RecordEntry>,
}

impl Default for RecordPredictor {
    fn default() -> Self {
        RecordPredictor { guesses: Box::new([0; GUESSES]), contexts: Vec::new(), entries: Vec::new() }
    }
}

impl RecordPredictor {
    /// Makes it ready for a batch.
    pub(crate) fn reset(&mut self) {
        self.guesses.fill(0);
        self.contexts.clear();
        self.entries.clear();
    }

    /// The entry that came last in the situation of `slot`.
    #[inline(always)]
    pub(crate) fn guess(&self, slot: usize) -> Option<&RecordEntry> {
        self.entries.get((*self.guesses.get(slot)? as usize).wrapping_sub(1))
    }

    /// A new entry for a record that was guessed wrong in the situation of `slot` and belongs to the context with index
    /// `context`: a copy of entry `base`, or of what the first of the context is guessed to be where there is none.
    #[inline(always)]
    pub(crate) fn learn(&mut self, slot: usize, context: u32, base: u32) -> Option<&mut RecordEntry> {
        let index = self.entries.len() as u32;
        let known = self.contexts.get_mut(context as usize)?;
        known.last = index;
        *self.guesses.get_mut(slot)? = index + 1;
        let entry =
            self.entries.get(base as usize).copied().unwrap_or_else(|| RecordEntry::predict_first(context, known));
        self.entries.push(entry);
        self.entries.last_mut()
    }
}

/// The number of bytes that hold `value`: from 0 for 0 to 8.
#[inline(always)]
pub(crate) fn significant_bytes(value: u64) -> usize {
    (71 - value.leading_zeros() as usize) / 8
}

/// The end from which the begin of what follows a record is counted.
#[inline(always)]
pub(crate) fn end_of(begin: u64, end: u64) -> u64 {
    if end == 0 { begin } else { end }
}
