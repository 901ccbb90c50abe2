//! A batch of one thread's records → columns of bytes; [`crate::decode`] turns them back.
//!
//! Each record is guessed from those before it (`model.rs`), and only what was guessed wrong is written, a column for each
//! field. A record guessed right costs half a byte and the significant bytes of two times. The batch's head and the columns
//! of wrong guesses are the plain bytes of a [`crate::format::BlockKind::Records`] block. Its tail is what does not compress:
//!
//! | part of the tail | a record | what it holds |
//! |---|---|---|
//! | codes | four bits | how many bytes each of the two times takes |
//! | times | 0 to 16 bytes | begin less the end before, end less begin |
//!
//! The encoder runs in the program's own threads: in the steady state it allocates nothing.

use crate::codec::{encode_zigzag, put_columns, put_value, put_varint};
use crate::format::{BatchHead, MAX_RECORDS};
use crate::record::{NO_PEER, NONE, Record};
use crate::record_predictor::{
    COLUMNS, CallContext, MASKS, MispredictionColumn, OTHER_PAIR, PAIRS, RecentRecords, RecordEntry, RecordPredictor,
    end_of, mask, significant_bytes,
};

const CONTEXT_SLOTS: usize = 512;

/// The code of each pair of lengths, at 16 times the first and the second.
const CODES: [u8; 144] = {
    let mut codes = [OTHER_PAIR; 144];
    let mut code = 0;
    while code < PAIRS.len() {
        codes[PAIRS[code].0 as usize * 16 + PAIRS[code].1 as usize] = code as u8;
        code += 1;
    }
    codes
};

/// Turns batches of records into columns, reusing its memory.
pub struct RecordEncoder {
    model: RecordPredictor,
    /// Contexts by a hash of address and operation, open addressing: one more than the context's index; 0: free.
    by_address: Box<[u32; CONTEXT_SLOTS]>,
    columns: [Vec<u8>; COLUMNS],
    codes: Vec<u8>,
    plain: Vec<u8>,
    tail: Vec<u8>,
    tail_len: usize,
}

impl Default for RecordEncoder {
    fn default() -> Self {
        RecordEncoder {
            model: RecordPredictor::default(),
            by_address: Box::new([0; CONTEXT_SLOTS]),
            columns: Default::default(),
            codes: Vec::new(),
            plain: Vec::new(),
            tail: Vec::new(),
            tail_len: 0,
        }
    }
}

impl RecordEncoder {
    /// Returns the compressible bytes of the batch encoded last: its head and the columns of wrong guesses.
    pub fn plain(&self) -> &[u8] {
        &self.plain
    }

    /// Returns the times of the batch encoded last, which do not compress.
    pub fn tail(&self) -> &[u8] {
        &self.tail[..self.tail_len]
    }

    /// Encodes records that follow `head`, at most [`MAX_RECORDS`]. `site` returns the id of a record's call site, or `u64::MAX` if it has none.
    /// Records with equal `call_site` and `operation` must have equal ids.
    pub fn encode(&mut self, head: &BatchHead, records: &[Record], mut site: impl FnMut(&Record) -> u64) {
        debug_assert!(records.len() <= MAX_RECORDS);
        let n = records.len();
        self.model.reset();
        self.by_address.fill(0);
        for column in &mut self.columns {
            column.clear();
        }
        if self.codes.len() < n + 1 {
            self.codes.resize(n + 1, 0);
            self.tail.resize(17 * (n + 1), 0);
        }

        let mut recent = RecentRecords::default();
        let mut rest = records;
        loop {
            let (run, now) = right_guesses(&self.model, rest, recent);
            recent = now;
            let Some((record, others)) = rest.get(run..).and_then(<[Record]>::split_first) else { break };
            self.surprise(record, run, &mut recent, &mut site);
            rest = others;
        }
        let codes = n.div_ceil(2);
        let lengths = &mut self.columns[MispredictionColumn::Lengths as usize];
        let times = write_record_times(records, head.previous_end, &mut self.codes, &mut self.tail[codes..], lengths);
        self.tail_len = codes + times;
        self.codes[n] = 0;
        for (two, pair) in self.tail.iter_mut().zip(self.codes[..n + 1].as_chunks::<2>().0) {
            *two = pair[0] | pair[1] << 4;
        }

        self.plain.clear();
        put_value(head, &mut self.plain);
        put_varint(n as u64, &mut self.plain);
        put_columns(&self.columns, &mut self.plain);
    }

    /// Writes the fields of a record that differ from its guess, after `run` right guesses.
    #[inline(never)]
    fn surprise(
        &mut self,
        record: &Record,
        run: usize,
        recent: &mut RecentRecords,
        site: &mut impl FnMut(&Record) -> u64,
    ) {
        let slot = recent.slot();
        let (context, base, mut mask) = match self.model.guess(slot) {
            Some(entry) if entry.call_site == record.call_site && entry.operation == record.operation => {
                (entry.context, self.model.guesses[slot] - 1, 0)
            }
            _ => {
                let context = self.context(record, site);
                (context, self.model.contexts[context as usize].last, mask::CONTEXT)
            }
        };
        let relative = self.model.contexts[context as usize].relative;
        if let Some(entry) = self.model.learn(slot, context, base) {
            mask |= write_changed_fields(entry, record, relative, *recent, &mut self.columns);
            recent.advance(entry);
        }
        let common = MASKS.iter().position(|&common| common == mask).unwrap_or(0);
        put_varint((run * MASKS.len() + common) as u64, &mut self.columns[MispredictionColumn::Steps as usize]);
        if common == 0 {
            self.columns[MispredictionColumn::Masks as usize].push(mask);
        }
    }

    /// Finds or makes the context of a record, and writes it to its column.
    fn context(&mut self, record: &Record, site: &mut impl FnMut(&Record) -> u64) -> u32 {
        let out = &mut self.columns[MispredictionColumn::Contexts as usize];
        let contexts = &mut self.model.contexts;
        let hash = (record.call_site ^ u64::from(record.operation) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let first = (hash >> (64 - CONTEXT_SLOTS.ilog2())) as usize;
        // If these slots are full, one context is forgotten and later written again as a new one.
        let mut slot = first;
        for candidate in (first..first + 8).map(|slot| slot % CONTEXT_SLOTS) {
            let Some(index) = (self.by_address[candidate] as usize).checked_sub(1) else {
                slot = candidate;
                break;
            };
            let known = contexts[index];
            if known.call_site == record.call_site && known.operation == record.operation {
                put_varint(index as u64, out);
                return index as u32;
            }
        }
        let index = contexts.len();
        contexts.push(CallContext::new(record.call_site, record.operation));
        self.by_address[slot] = index as u32 + 1;
        put_varint(index as u64, out);
        put_varint(site(record).wrapping_add(1), out);
        put_varint(u64::from(record.operation), out);
        index as u32
    }
}

/// Counts the first records that are guessed right, and returns the recent records after them.
///
/// Most records take only this loop and the loop of [`write_record_times`]. Each is a function of its own that calls nothing, so that its variables stay in registers.
#[inline(never)]
fn right_guesses(model: &RecordPredictor, records: &[Record], mut recent: RecentRecords) -> (usize, RecentRecords) {
    let mut left = records;
    while let [record, others @ ..] = left {
        let Some(entry) = model.guess(recent.slot()).filter(|entry| entry.is(record, recent)) else { break };
        recent.advance(entry);
        left = others;
    }
    (records.len() - left.len(), recent)
}

/// Writes the code of each record to `codes` and its times to `tail`, which has 16 bytes for each record and 16 more. Returns the number of bytes of
/// the times. Lengths that have no code go to `lengths`.
#[inline(never)]
fn write_record_times(
    records: &[Record],
    mut previous_end: u64,
    codes: &mut [u8],
    tail: &mut [u8],
    lengths: &mut Vec<u8>,
) -> usize {
    let room = tail.len();
    let mut rest = &mut tail[..];
    for (record, code) in records.iter().zip(codes) {
        let (gap, duration) = (record.begin.wrapping_sub(previous_end), record.end.wrapping_sub(record.begin));
        previous_end = end_of(record.begin, record.end);
        let (n_gap, n_duration) = (significant_bytes(gap), significant_bytes(duration));
        *code = CODES[n_gap * 16 + n_duration];
        if *code == OTHER_PAIR {
            lengths.push((n_gap | n_duration << 4) as u8);
        }
        // Always storing eight bytes avoids a branch on the size.
        let Some(place) = rest.first_chunk_mut::<16>() else { break };
        place[..8].copy_from_slice(&gap.to_le_bytes());
        place[n_gap..n_gap + 8].copy_from_slice(&duration.to_le_bytes());
        rest = &mut rest[n_gap + n_duration..];
    }
    room - rest.len()
}

#[inline]
fn put_mispredicted(columns: &mut [Vec<u8>; COLUMNS], column: MispredictionColumn, value: u64) {
    put_varint(value, &mut columns[column as usize]);
}

/// Makes `entry` like `record`, and writes the fields that change to their columns. Returns the mask of these fields.
fn write_changed_fields(
    entry: &mut RecordEntry,
    record: &Record,
    relative: u32,
    recent: RecentRecords,
    columns: &mut [Vec<u8>; COLUMNS],
) -> u8 {
    let mut mask = 0;
    if record.peer != entry.peer {
        mask |= mask::PEER;
        put_mispredicted(columns, MispredictionColumn::Peers, peer_distance(entry.peer, record.peer));
        entry.set_peer(record.peer);
    }
    if record.tag != entry.tag {
        mask |= mask::TAG;
        put_mispredicted(columns, MispredictionColumn::Tags, peer_distance(entry.tag, record.tag));
        entry.tag = record.tag;
    }
    if record.sent != entry.sent {
        mask |= mask::SENT;
        put_mispredicted(
            columns,
            MispredictionColumn::Sent,
            encode_zigzag(record.sent.wrapping_sub(entry.sent) as i64),
        );
        entry.sent = record.sent;
    }
    if record.received != entry.received {
        mask |= mask::RECEIVED;
        put_mispredicted(
            columns,
            MispredictionColumn::Received,
            encode_zigzag(record.received.wrapping_sub(entry.received) as i64),
        );
        entry.received = record.received;
    }
    if record.request != entry.request(recent) {
        let distance = record.request.wrapping_sub(recent.newest & relative) as i32;
        mask |= mask::REQUEST;
        let value = if record.request == NONE { 0 } else { 1 + encode_zigzag(distance.into()) };
        put_mispredicted(columns, MispredictionColumn::Requests, value);
        entry.set_request(record.request, relative, recent);
    }
    if record.count != entry.count {
        mask |= mask::COUNT;
        put_mispredicted(
            columns,
            MispredictionColumn::Counts,
            encode_zigzag((record.count.wrapping_sub(entry.count) as i32).into()),
        );
        entry.count = record.count;
    }
    if record.flags != entry.flags || record.comm != entry.comm {
        mask |= mask::RARE;
        put_mispredicted(columns, MispredictionColumn::Rare, record.flags.0.into());
        put_mispredicted(columns, MispredictionColumn::Rare, record.comm.wrapping_add(1).into());
        (entry.flags, entry.comm) = (record.flags, record.comm);
    }
    mask
}

/// Returns the distance from a peer or tag to another, plus 1; 0: there is no other. An absent one counts as 0.
fn peer_distance(from: i32, to: i32) -> u64 {
    let from = if from == NO_PEER { 0 } else { from };
    if to == NO_PEER { 0 } else { 1 + encode_zigzag(i64::from(to) - i64::from(from)) }
}
