//! A batch of one thread's records ↔ columns of bytes. docs/log-format.md describes them for other readers.
//!
//! Programs repeat themselves, so each record is guessed from what followed the last time that the three records before it
//! came in a row, and only what differs is written. A record guessed right costs a zero byte, a byte that compresses well
//! and the significant bytes of two times:
//!
//! | column | a record | what it holds |
//! |---|---|---|
//! | masks | one byte | which fields were guessed wrong, a bit each |
//! | lengths | one byte | how many bytes each of the two times takes, four bits each |
//! | contexts … rare | where the mask says so | the fields guessed wrong, mostly as differences, a column each |
//! | times, the tail | 0 to 16 bytes | begin less the end before, end less begin; they are noise and are not compressed |
//!
//! The columns but the tail are the plain bytes of a [`crate::format::BlockKind::Records`] block, behind the batch's head.
//! The encoder runs in the program's own threads: in the steady state it allocates nothing.

use crate::codec::{put, put_varint, take_slice, take_varint, unzigzag, zigzag};
use crate::format::{BatchHead, MAX_RECORDS};
use crate::operation::Operation;
use crate::record::{Flags, NO_PEER, NONE, Record};

/// Bits of a record's mask: the fields that differ from the guess.
mod mask {
    /// The call site or the operation; the contexts column tells which they are.
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

/// Columns of fields, in their order in a block.
#[derive(Clone, Copy)]
enum Column {
    Contexts,
    Peers,
    Tags,
    Sent,
    Received,
    Requests,
    Counts,
    Rare,
}

/// How many columns of fields there are.
const COLUMNS: usize = 8;

/// A pair of call site and operation, and the last record that had them.
#[derive(Clone, Copy)]
struct Context {
    /// As the records at hand state it: an address in the encoder, an id in the decoder.
    call_site: u64,
    operation: u16,
    /// Whether `request` is the id of a request: such ids are written relative to the newest one.
    counts_requests: bool,
    /// Index of the last record.
    last: u32,
}

impl Context {
    fn new(call_site: u64, operation: u16) -> Self {
        Context { call_site, operation, counts_requests: counts_requests(operation), last: NONE }
    }
}

/// Whether `request` of such records is the id of a request, not of a region or counter: calls, and the parts
/// [`Operation::Completed`] and [`Operation::Started`].
fn counts_requests(operation: u16) -> bool {
    operation < Operation::FIRST_MARKER
        || operation == Operation::Completed as u16
        || operation == Operation::Started as u16
}

/// What the model keeps of a record beside the record itself.
#[derive(Clone, Copy, Default)]
struct Seen {
    context: u32,
    /// Its `request`, less the newest request before it where its context counts requests.
    request: u32,
}

/// Slots of the table of guesses: enough for the distinct situations in a batch, small enough for the first-level cache.
const GUESSES: usize = 2048;

/// What encoder and decoder know at the same record, and guess the next record from. It starts empty in each batch, so that
/// each batch can be read without the others.
struct Model {
    /// One more than the index of the record that came last in the situation of a slot; 0: none.
    guesses: Box<[u32; GUESSES]>,
    contexts: Vec<Context>,
    seen: Vec<Seen>,
    /// The last three records' contexts and peers, eleven bits each.
    situation: u32,
    /// The newest request id.
    newest: u32,
}

impl Model {
    fn new() -> Self {
        Model { guesses: Box::new([0; GUESSES]), contexts: Vec::new(), seen: Vec::new(), situation: 0, newest: 0 }
    }

    fn reset(&mut self) {
        self.guesses.fill(0);
        self.contexts.clear();
        self.seen.clear();
        (self.situation, self.newest) = (0, 0);
    }

    /// One more than the index of the record that record `i` is guessed to resemble, 0 for none; and notes that `i` came here.
    #[inline(always)]
    fn guess(&mut self, i: usize) -> usize {
        let slot = self.situation.wrapping_mul(0x9e37_79b1) >> (32 - GUESSES.ilog2());
        let slot = &mut self.guesses[slot as usize];
        std::mem::replace(slot, i as u32 + 1) as usize
    }

    /// What the ids of requests are relative to in a context.
    #[inline(always)]
    fn origin(&self, context: u32) -> u32 {
        if self.contexts[context as usize].counts_requests { self.newest } else { 0 }
    }

    /// Takes in that the next record is `record`, of `context`, whose requests are relative to `origin`.
    #[inline(always)]
    fn learn(&mut self, i: usize, context: u32, origin: u32, record: &Record) {
        let request = record.request.wrapping_sub(origin);
        self.seen.push(Seen { context, request });
        let known = &mut self.contexts[context as usize];
        known.last = i as u32;
        if known.counts_requests && record.request != NONE && (request as i32) > 0 {
            self.newest = record.request;
        }
        let symbol = context.wrapping_mul(0x9e37_79b1) ^ (record.peer as u32).wrapping_mul(0x85eb_ca6b);
        self.situation = (self.situation << 11) ^ (symbol >> 21);
    }
}

/// The request of a record that resembles one with `request`, seen as `seen`.
#[inline(always)]
fn expected_request(request: u32, seen: u32, origin: u32) -> u32 {
    if request == NONE { NONE } else { origin.wrapping_add(seen) }
}

/// What the first record of a context is guessed to be.
const FIRST: Record = Record {
    begin: 0,
    end: 0,
    call_site: 0,
    sent: 0,
    received: 0,
    peer: NO_PEER,
    tag: NO_PEER,
    comm: NONE,
    request: NONE,
    operation: 0,
    flags: Flags(0),
    count: 0,
};

/// The end from which the next record's begin is counted.
#[inline(always)]
fn end_of(record: &Record) -> u64 {
    if record.end == 0 { record.begin } else { record.end }
}

/// How many bytes hold `value`: 0 for 0, to 8.
#[inline(always)]
fn significant_bytes(value: u64) -> u32 {
    (71 - value.leading_zeros()) / 8
}

/// Slots of the encoder's table of contexts.
const CONTEXT_SLOTS: usize = 1024;

/// Turns batches of records into columns, reusing its memory.
pub struct Encoder {
    model: Model,
    /// Contexts by a hash of address and operation, open addressing: one more than the context's index; 0: free.
    by_address: Box<[u32; CONTEXT_SLOTS]>,
    columns: [Vec<u8>; COLUMNS],
    plain: Vec<u8>,
    tail: Vec<u8>,
    tail_len: usize,
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Encoder {
    /// An encoder without any memory for records yet.
    pub fn new() -> Self {
        Encoder {
            model: Model::new(),
            by_address: Box::new([0; CONTEXT_SLOTS]),
            columns: Default::default(),
            plain: Vec::new(),
            tail: Vec::new(),
            tail_len: 0,
        }
    }

    /// The columns but the times, of the last batch encoded.
    pub fn plain(&self) -> &[u8] {
        &self.plain
    }

    /// The times of the last batch encoded.
    pub fn tail(&self) -> &[u8] {
        &self.tail[..self.tail_len]
    }

    /// Encodes `records`, which follow `head`, at most [`MAX_RECORDS`]. `site` gives the id of a record's call site and is
    /// asked at least once for each call site; records with equal `call_site` and `operation` must have equal ids.
    pub fn encode(&mut self, head: &BatchHead, records: &[Record], mut site: impl FnMut(&Record) -> u64) {
        debug_assert!(records.len() <= MAX_RECORDS);
        self.model.reset();
        self.by_address.fill(0);
        self.columns.iter_mut().for_each(Vec::clear);
        self.plain.clear();
        put(head, &mut self.plain);
        put_varint(records.len() as u64, &mut self.plain);
        let masks_at = self.plain.len();
        self.plain.resize(masks_at + 2 * records.len(), 0);
        if self.tail.len() < 16 * records.len() + 8 {
            self.tail.resize(16 * records.len() + 8, 0);
        }

        let mut plain = std::mem::take(&mut self.plain);
        let (masks, lengths) = plain[masks_at..].split_at_mut(records.len());
        let mut previous_end = head.previous_end;
        let mut at = 0;
        for (i, ((record, mask), lengths)) in records.iter().zip(masks).zip(lengths).enumerate() {
            *mask = self.fields(records, i, &mut site);
            let (gap, duration) = (record.begin.wrapping_sub(previous_end), record.end.wrapping_sub(record.begin));
            let (n_gap, n_duration) = (significant_bytes(gap), significant_bytes(duration));
            *lengths = (n_gap | n_duration << 4) as u8;
            // Eight bytes are stored and the position moves by those that count: no branch on the size.
            self.tail[at..at + 8].copy_from_slice(&gap.to_le_bytes());
            at += n_gap as usize;
            self.tail[at..at + 8].copy_from_slice(&duration.to_le_bytes());
            at += n_duration as usize;
            previous_end = end_of(record);
        }
        self.tail_len = at;

        for column in &self.columns {
            put_varint(column.len() as u64, &mut plain);
        }
        for column in &self.columns {
            plain.extend_from_slice(column);
        }
        self.plain = plain;
    }

    /// Writes the fields of record `i` that are guessed wrong, and gives their mask.
    #[inline(always)]
    fn fields(&mut self, records: &[Record], i: usize, site: &mut impl FnMut(&Record) -> u64) -> u8 {
        let record = &records[i];
        let guess = self.model.guess(i);
        if let Some(base) = records.get(guess.wrapping_sub(1))
            && base.call_site == record.call_site
            && base.operation == record.operation
        {
            let Seen { context, request } = self.model.seen[guess - 1];
            let origin = self.model.origin(context);
            let expected = expected_request(base.request, request, origin);
            self.model.learn(i, context, origin, record);
            let same = base.sent == record.sent
                && base.received == record.received
                && base.peer == record.peer
                && base.tag == record.tag
                && base.comm == record.comm
                && base.flags == record.flags
                && base.count == record.count
                && expected == record.request;
            if same { 0 } else { differences(&mut self.columns, base, expected, origin, record) }
        } else {
            self.unexpected(records, i, site)
        }
    }

    /// As [`Encoder::fields`], for a record whose call site or operation was not guessed.
    #[inline(never)]
    fn unexpected(&mut self, records: &[Record], i: usize, site: &mut impl FnMut(&Record) -> u64) -> u8 {
        let record = &records[i];
        let context = self.context(record, site);
        let last = self.model.contexts[context as usize].last as usize;
        let origin = self.model.origin(context);
        let (base, expected) = match (records.get(last), self.model.seen.get(last)) {
            (Some(base), Some(seen)) => (base, expected_request(base.request, seen.request, origin)),
            _ => (&FIRST, NONE),
        };
        self.model.learn(i, context, origin, record);
        mask::CONTEXT | differences(&mut self.columns, base, expected, origin, record)
    }

    /// The context of a record, new where it has none; writes it to its column.
    fn context(&mut self, record: &Record, site: &mut impl FnMut(&Record) -> u64) -> u32 {
        let out = &mut self.columns[Column::Contexts as usize];
        let contexts = &mut self.model.contexts;
        let hash = (record.call_site ^ u64::from(record.operation) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let first = (hash >> (64 - CONTEXT_SLOTS.ilog2())) as usize;
        // Where more contexts meet in a few slots than these hold, one is forgotten and written again as a new one.
        let slots = (0..8).map(|probe| (first + probe) % CONTEXT_SLOTS);
        let mut slot = first;
        for candidate in slots {
            match (self.by_address[candidate] as usize).checked_sub(1) {
                None => {
                    slot = candidate;
                    break;
                }
                Some(index) => {
                    let known = contexts[index];
                    if known.call_site == record.call_site && known.operation == record.operation {
                        put_varint(index as u64, out);
                        return index as u32;
                    }
                }
            }
        }
        let index = contexts.len();
        contexts.push(Context::new(record.call_site, record.operation));
        self.by_address[slot] = index as u32 + 1;
        put_varint(index as u64, out);
        put_varint(site(record).wrapping_add(1), out);
        put_varint(u64::from(record.operation), out);
        index as u32
    }
}

/// Writes the fields of `record` that differ from those of `base` and from the `expected` request; gives their mask.
#[inline(never)]
fn differences(columns: &mut [Vec<u8>; COLUMNS], base: &Record, expected: u32, origin: u32, record: &Record) -> u8 {
    let mut mask = 0;
    let mut write = |bit: u8, column: Column, value: u64| {
        mask |= bit;
        put_varint(value, &mut columns[column as usize]);
    };
    if record.peer != base.peer {
        write(mask::PEER, Column::Peers, zigzag(record.peer.wrapping_sub(base.peer).into()));
    }
    if record.tag != base.tag {
        write(mask::TAG, Column::Tags, zigzag(record.tag.wrapping_sub(base.tag).into()));
    }
    if record.sent != base.sent {
        write(mask::SENT, Column::Sent, zigzag(record.sent.wrapping_sub(base.sent) as i64));
    }
    if record.received != base.received {
        write(mask::RECEIVED, Column::Received, zigzag(record.received.wrapping_sub(base.received) as i64));
    }
    if record.request != expected {
        let distance = record.request.wrapping_sub(origin) as i32;
        let value = if record.request == NONE { 0 } else { 1 + zigzag(distance.into()) };
        write(mask::REQUEST, Column::Requests, value);
    }
    if record.count != base.count {
        write(mask::COUNT, Column::Counts, zigzag((record.count.wrapping_sub(base.count) as i32).into()));
    }
    if record.flags != base.flags || record.comm != base.comm {
        write(mask::RARE, Column::Rare, record.flags.0.into());
        write(mask::RARE, Column::Rare, record.comm.wrapping_add(1).into());
    }
    mask
}

/// Turns columns back into records, reusing its memory.
pub struct Decoder {
    model: Model,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// A decoder without any memory for records yet.
    pub fn new() -> Self {
        Decoder { model: Model::new() }
    }

    /// The batch whose columns are `plain` and `tail`, or `None` where they hold none. The memory taken is at most
    /// 64 bytes for every two bytes of `plain`, and for [`MAX_RECORDS`] records.
    pub fn decode(&mut self, plain: &[u8], tail: &[u8]) -> Option<(BatchHead, Vec<Record>)> {
        let (head, used) = crate::codec::get::<BatchHead>(plain)?;
        let mut rest = &plain[used..];
        let n = usize::try_from(take_varint(&mut rest)?).ok().filter(|&n| n <= MAX_RECORDS && n <= rest.len() / 2)?;
        let masks = take_slice(&mut rest, n)?;
        let lengths = take_slice(&mut rest, n)?;
        let mut sizes = [0; COLUMNS];
        for size in &mut sizes {
            *size = usize::try_from(take_varint(&mut rest)?).ok()?;
        }
        let mut columns: [&[u8]; COLUMNS] = [&[]; COLUMNS];
        for (column, size) in columns.iter_mut().zip(sizes) {
            *column = take_slice(&mut rest, size)?;
        }

        self.model.reset();
        let mut records = Vec::with_capacity(n);
        let mut times = Times { bytes: tail, at: 0 };
        let mut previous_end = head.previous_end;
        for (i, (&mask, &lengths)) in masks.iter().zip(lengths).enumerate() {
            let mut record = self.fields(&records, i, mask, &mut columns)?;
            record.begin = previous_end.wrapping_add(times.take(lengths & 15)?);
            record.end = record.begin.wrapping_add(times.take(lengths >> 4)?);
            previous_end = end_of(&record);
            records.push(record);
        }
        let all_used = rest.is_empty() && times.at == tail.len() && columns.iter().all(|column| column.is_empty());
        all_used.then_some((head, records))
    }

    /// How many of `records`, the batch decoded last, have an operation that this version does not know.
    pub fn unknown_operations(&self, records: &[Record]) -> u64 {
        let known = |operation| Operation::from_number(operation).is_some();
        if self.model.contexts.iter().all(|context| known(context.operation)) {
            return 0;
        }
        records.iter().filter(|record| !known(record.operation)).count() as u64
    }

    /// Record `i` but its times.
    #[inline(always)]
    fn fields(&mut self, records: &[Record], i: usize, mask: u8, columns: &mut [&[u8]; COLUMNS]) -> Option<Record> {
        let guess = self.model.guess(i).wrapping_sub(1);
        let (context, base) = if mask & mask::CONTEXT == 0 {
            (self.model.seen.get(guess)?.context, guess)
        } else {
            let context = self.context(&mut columns[Column::Contexts as usize])?;
            (context, self.model.contexts[context as usize].last as usize)
        };
        let origin = self.model.origin(context);
        let mut record = match (records.get(base), self.model.seen.get(base)) {
            (Some(base), Some(seen)) => {
                Record { request: expected_request(base.request, seen.request, origin), ..*base }
            }
            _ => {
                let Context { call_site, operation, .. } = self.model.contexts[context as usize];
                Record { call_site, operation, ..FIRST }
            }
        };
        if mask & !mask::CONTEXT != 0 {
            apply(&mut record, mask, origin, columns)?;
        }
        self.model.learn(i, context, origin, &record);
        Some(record)
    }

    /// The next context in its column.
    fn context(&mut self, column: &mut &[u8]) -> Option<u32> {
        let index = usize::try_from(take_varint(column)?).ok()?;
        if index == self.model.contexts.len() {
            let call_site = take_varint(column)?.wrapping_sub(1);
            let operation = u16::try_from(take_varint(column)?).ok()?;
            self.model.contexts.push(Context::new(call_site, operation));
        }
        (index < self.model.contexts.len()).then_some(index as u32)
    }
}

/// Changes the fields of `record` that `mask` names, by the next values of their columns.
#[inline(never)]
fn apply(record: &mut Record, mask: u8, origin: u32, columns: &mut [&[u8]; COLUMNS]) -> Option<()> {
    let mut read = |column: Column| take_varint(&mut columns[column as usize]);
    if mask & mask::PEER != 0 {
        record.peer = record.peer.wrapping_add(unzigzag(read(Column::Peers)?) as i32);
    }
    if mask & mask::TAG != 0 {
        record.tag = record.tag.wrapping_add(unzigzag(read(Column::Tags)?) as i32);
    }
    if mask & mask::SENT != 0 {
        record.sent = record.sent.wrapping_add(unzigzag(read(Column::Sent)?) as u64);
    }
    if mask & mask::RECEIVED != 0 {
        record.received = record.received.wrapping_add(unzigzag(read(Column::Received)?) as u64);
    }
    if mask & mask::REQUEST != 0 {
        record.request = match read(Column::Requests)?.checked_sub(1) {
            None => NONE,
            Some(distance) => origin.wrapping_add(unzigzag(distance) as u32),
        };
    }
    if mask & mask::COUNT != 0 {
        record.count = record.count.wrapping_add(unzigzag(read(Column::Counts)?) as u32);
    }
    if mask & mask::RARE != 0 {
        record.flags = Flags(u16::try_from(read(Column::Rare)?).ok()?);
        record.comm = u32::try_from(read(Column::Rare)?).ok()?.wrapping_sub(1);
    }
    Some(())
}

/// The tail, read from its begin.
struct Times<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Times<'_> {
    /// The next value, of `n` bytes.
    #[inline(always)]
    fn take(&mut self, n: u8) -> Option<u64> {
        let n = usize::from(n);
        if n > 8 {
            return None;
        }
        let mut value = [0; 8];
        if let Some(eight) = self.bytes.get(self.at..self.at + 8) {
            value.copy_from_slice(eight);
        } else {
            let rest = self.bytes.get(self.at..)?;
            value.get_mut(..rest.len())?.copy_from_slice(rest);
            if rest.len() < n {
                return None;
            }
        }
        self.at += n;
        let unused = 64 - 8 * n as u32;
        Some(u64::from_le_bytes(value).checked_shl(unused).map_or(0, |value| value >> unused))
    }
}
