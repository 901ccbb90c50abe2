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

/// What the model keeps of a record beside the record itself. Equal records in equal contexts have equal ones, so the
/// encoder copies it where a guess was right.
#[derive(Clone, Copy, Default)]
struct Seen {
    context: u32,
    /// Its `request`, less [`Recent::origin`].
    request: u32,
    /// Eleven bits made of its context and peer.
    symbol: u32,
    /// Whether `request` is relative to the newest request.
    counts_requests: bool,
    /// Whether its request became the newest one.
    is_newest: bool,
}

/// Slots of the table of guesses: enough for the distinct situations in a batch, small enough for the first-level cache.
const GUESSES: usize = 2048;

/// The last few records, as far as the next guess depends on them.
#[derive(Clone, Copy, Default)]
struct Recent {
    /// The symbols of the last three records, eleven bits each, the last in the lowest.
    situation: u32,
    /// The newest request id.
    newest: u32,
}

impl Recent {
    /// The slot of the present situation in the table of guesses.
    #[inline(always)]
    fn slot(self) -> usize {
        (self.situation.wrapping_mul(0x9e37_79b1) >> (32 - GUESSES.ilog2())) as usize
    }

    /// What the ids of requests are relative to.
    #[inline(always)]
    fn origin(self, counts_requests: bool) -> u32 {
        if counts_requests { self.newest } else { 0 }
    }

    /// What is to be kept of a record of `context` that comes next.
    #[inline(always)]
    fn seen(self, record: &Record, context: u32, counts_requests: bool) -> Seen {
        let request = record.request.wrapping_sub(self.origin(counts_requests));
        let symbol = context.wrapping_mul(0x9e37_79b1) ^ (record.peer as u32).wrapping_mul(0x85eb_ca6b);
        let is_newest = counts_requests && record.request != NONE && (request as i32) > 0;
        Seen { context, request, symbol: symbol >> 21, counts_requests, is_newest }
    }

    /// Goes on behind a record with `request`.
    #[inline(always)]
    fn advance(&mut self, seen: &Seen, request: u32) {
        self.situation = (self.situation << 11) ^ seen.symbol;
        self.newest = if seen.is_newest { request } else { self.newest };
    }
}

/// What encoder and decoder know at the same record, and guess the next record from. It starts empty in each batch, so that
/// each batch can be read without the others.
struct Model {
    /// One more than the index of the record that came last in the situation of a slot; 0: none.
    guesses: Box<[u32; GUESSES]>,
    contexts: Vec<Context>,
    /// By record; those of the batch before lie behind the present record until they are overwritten.
    seen: Vec<Seen>,
}

impl Model {
    fn new() -> Self {
        Model { guesses: Box::new([0; GUESSES]), contexts: Vec::new(), seen: Vec::new() }
    }

    /// Makes it ready for a batch of `n` records.
    fn reset(&mut self, n: usize) {
        self.guesses.fill(0);
        self.contexts.clear();
        if self.seen.len() < n {
            self.seen.resize(n, Seen::default());
        }
    }
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
fn significant_bytes(value: u64) -> usize {
    (71 - value.leading_zeros() as usize) / 8
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
        let n = records.len();
        let Encoder { model, by_address, columns, plain, tail, tail_len } = self;
        model.reset(n);
        by_address.fill(0);
        columns.iter_mut().for_each(Vec::clear);
        plain.clear();
        put(head, plain);
        put_varint(n as u64, plain);
        let masks_at = plain.len();
        plain.resize(masks_at + 2 * n, 0);
        if tail.len() < 16 * (n + 1) {
            tail.resize(16 * (n + 1), 0);
        }

        let (masks, lengths) = plain[masks_at..].split_at_mut(n);
        let Model { guesses, contexts, seen } = model;
        let (guesses, seen) = (&mut **guesses, &mut seen[..n]);
        let mut known = Known { contexts, by_address, columns };
        let mut recent = Recent::default();
        let mut previous_end = head.previous_end;
        let mut at = 0;
        for i in 0..n {
            let record = &records[i];
            let guess = (std::mem::replace(&mut guesses[recent.slot()], i as u32 + 1) as usize).wrapping_sub(1);
            match records.get(guess) {
                Some(base) if same(base, record) && request_like(base, &seen[guess], recent) == record.request => {
                    known.contexts[seen[guess].context as usize].last = i as u32;
                    seen[i] = seen[guess];
                }
                _ => (masks[i], seen[i]) = known.surprise(records, seen, i, guess, recent, &mut site),
            }
            recent.advance(&seen[i], record.request);

            let (gap, duration) = (record.begin.wrapping_sub(previous_end), record.end.wrapping_sub(record.begin));
            let (n_gap, n_duration) = (significant_bytes(gap), significant_bytes(duration));
            lengths[i] = (n_gap | n_duration << 4) as u8;
            // Eight bytes are stored and the position moves by those that count: no branch on the size.
            let place = &mut tail[at..at + 16];
            place[..8].copy_from_slice(&gap.to_le_bytes());
            place[n_gap..n_gap + 8].copy_from_slice(&duration.to_le_bytes());
            at += n_gap + n_duration;
            previous_end = end_of(record);
        }
        *tail_len = at;

        for column in columns.iter() {
            put_varint(column.len() as u64, plain);
        }
        for column in columns.iter() {
            plain.extend_from_slice(column);
        }
    }
}

/// Whether two records differ in their times at most, and in their requests.
#[inline(always)]
fn same(base: &Record, record: &Record) -> bool {
    // One word after the other without a branch: most often all are equal.
    let ends = |r: &Record| u64::from(r.peer as u32) | u64::from(r.tag as u32) << 32;
    let kinds = |r: &Record| u64::from(r.operation) | u64::from(r.flags.0) << 16 | u64::from(r.count) << 32;
    let differences = (base.call_site ^ record.call_site)
        | (base.sent ^ record.sent)
        | (base.received ^ record.received)
        | (ends(base) ^ ends(record))
        | (kinds(base) ^ kinds(record))
        | u64::from(base.comm ^ record.comm);
    differences == 0
}

/// The request of a record that resembles `base`, seen as `seen`.
#[inline(always)]
fn request_like(base: &Record, seen: &Seen, recent: Recent) -> u32 {
    if base.request == NONE { NONE } else { recent.origin(seen.counts_requests).wrapping_add(seen.request) }
}

/// What the encoder needs beside the guesses.
struct Known<'a> {
    contexts: &'a mut Vec<Context>,
    by_address: &'a mut [u32; CONTEXT_SLOTS],
    columns: &'a mut [Vec<u8>; COLUMNS],
}

impl Known<'_> {
    /// Writes the fields of record `i` that differ from record `guess`; gives their mask, and what to keep of the record.
    #[inline(never)]
    fn surprise(
        &mut self,
        records: &[Record],
        seen: &[Seen],
        i: usize,
        guess: usize,
        recent: Recent,
        site: &mut impl FnMut(&Record) -> u64,
    ) -> (u8, Seen) {
        let record = &records[i];
        let guessed =
            records.get(guess).filter(|base| base.call_site == record.call_site && base.operation == record.operation);
        let (context, base, mask) = match guessed {
            Some(_) => (seen[guess].context, guess, 0),
            None => {
                let context = self.context(record, site);
                (context, self.contexts[context as usize].last as usize, mask::CONTEXT)
            }
        };
        let known = &mut self.contexts[context as usize];
        known.last = i as u32;
        let (base, expected) = match (records.get(base), seen.get(base)) {
            (Some(base), Some(seen)) => (base, request_like(base, seen, recent)),
            _ => (&FIRST, NONE),
        };
        let origin = recent.origin(known.counts_requests);
        let now = recent.seen(record, context, known.counts_requests);
        (mask | differences(self.columns, base, expected, origin, record), now)
    }

    /// The context of a record, new where it has none; writes it to its column.
    fn context(&mut self, record: &Record, site: &mut impl FnMut(&Record) -> u64) -> u32 {
        let out = &mut self.columns[Column::Contexts as usize];
        let hash = (record.call_site ^ u64::from(record.operation) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let first = (hash >> (64 - CONTEXT_SLOTS.ilog2())) as usize;
        // Where more contexts meet in a few slots than these hold, one is forgotten and written again as a new one.
        let mut slot = first;
        for candidate in (first..first + 8).map(|slot| slot % CONTEXT_SLOTS) {
            let Some(index) = (self.by_address[candidate] as usize).checked_sub(1) else {
                slot = candidate;
                break;
            };
            let known = self.contexts[index];
            if known.call_site == record.call_site && known.operation == record.operation {
                put_varint(index as u64, out);
                return index as u32;
            }
        }
        let index = self.contexts.len();
        self.contexts.push(Context::new(record.call_site, record.operation));
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

        self.model.reset(n);
        let mut records = Vec::with_capacity(n);
        let mut recent = Recent::default();
        let mut times = Times { bytes: tail, at: 0 };
        let mut previous_end = head.previous_end;
        for (i, (&mask, &lengths)) in masks.iter().zip(lengths).enumerate() {
            let mut record = self.fields(&records, i, mask, &mut recent, &mut columns)?;
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
    fn fields(
        &mut self,
        records: &[Record],
        i: usize,
        mask: u8,
        recent: &mut Recent,
        columns: &mut [&[u8]; COLUMNS],
    ) -> Option<Record> {
        let Model { guesses, contexts, seen } = &mut self.model;
        let guess = (std::mem::replace(&mut guesses[recent.slot()], i as u32 + 1) as usize).wrapping_sub(1);
        if mask == 0 {
            let base = records.get(guess)?;
            let known = *seen.get(guess)?;
            let record = Record { request: request_like(base, &known, *recent), ..*base };
            contexts.get_mut(known.context as usize)?.last = i as u32;
            *seen.get_mut(i)? = known;
            recent.advance(&known, record.request);
            return Some(record);
        }
        let (context, base) = if mask & mask::CONTEXT == 0 {
            records.get(guess)?;
            (seen.get(guess)?.context, guess)
        } else {
            let context = next_context(contexts, &mut columns[Column::Contexts as usize])?;
            (context, contexts.get(context as usize)?.last as usize)
        };
        let known = contexts.get_mut(context as usize)?;
        known.last = i as u32;
        let mut record = match (records.get(base), seen.get(base)) {
            (Some(base), Some(seen)) => Record { request: request_like(base, seen, *recent), ..*base },
            _ => Record { call_site: known.call_site, operation: known.operation, ..FIRST },
        };
        apply(&mut record, mask, recent.origin(known.counts_requests), columns)?;
        let now = recent.seen(&record, context, known.counts_requests);
        *seen.get_mut(i)? = now;
        recent.advance(&now, record.request);
        Some(record)
    }
}

/// The next context in its column.
fn next_context(contexts: &mut Vec<Context>, column: &mut &[u8]) -> Option<u32> {
    let index = usize::try_from(take_varint(column)?).ok()?;
    if index == contexts.len() {
        let call_site = take_varint(column)?.wrapping_sub(1);
        let operation = u16::try_from(take_varint(column)?).ok()?;
        contexts.push(Context::new(call_site, operation));
    }
    (index < contexts.len()).then_some(index as u32)
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
