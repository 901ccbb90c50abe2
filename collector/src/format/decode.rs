//! Columns of bytes → the batch of records from which [`crate::encode`] made them.

use crate::codec::{decode_value, decode_zigzag, take_columns, take_slice, take_varint};
use crate::format::{BatchHead, MAX_RECORDS};
use crate::joined::JOINED_COMPLETED;
use crate::operation::Operation;
use crate::record::{CallFlags, NO_PEER, NONE, Record};
use crate::record_predictor::{
    COLUMNS, CallContext, MASKS, MispredictionColumn, PAIRS, RecentRecords, RecordEntry, RecordPredictor, end_of, mask,
};

/// Turns columns back into records, reusing its memory.
#[derive(Default)]
pub struct RecordDecoder {
    model: RecordPredictor,
    /// The times of a batch, and [`ROOM`] bytes after them.
    times: Vec<u8>,
    spare: Vec<Record>,
}

/// Bytes that may be read after the last time.
const ROOM: usize = 16;

impl RecordDecoder {
    /// Decodes the batch whose columns are `plain` and `tail`, or returns `None` if they hold none. It takes at most 128 bytes of memory for each byte
    /// of `tail` and of `plain`, and no more than [`MAX_RECORDS`] records need.
    pub fn decode(&mut self, plain: &[u8], tail: &[u8]) -> Option<(BatchHead, Vec<Record>)> {
        let (head, used) = decode_value::<BatchHead>(plain)?;
        let mut rest = &plain[used..];
        let n = usize::try_from(take_varint(&mut rest)?).ok().filter(|&n| n <= MAX_RECORDS)?;
        let mut wrong = MispredictedValues { columns: take_columns(rest)?, next: 0, mask: 0 };
        let (codes, times) = tail.split_at_checked(n.div_ceil(2))?;
        self.times.clear();
        self.times.extend_from_slice(times);
        self.times.resize(times.len() + ROOM, 0);

        self.model.reset();
        let mut records = std::mem::take(&mut self.spare);
        records.clear();
        records.reserve_exact(n);
        let mut recent = RecentRecords::default();
        let mut at = 0;
        let mut previous_end = head.previous_end;
        wrong.find_next()?;
        while records.len() < n {
            let i = records.len();
            let code = codes.get(i / 2)? >> (4 * (i % 2)) & 15;
            let (gap, duration);
            (gap, duration, at) = match TIMES[usize::from(code)] {
                Some(pair) => pair.take(&self.times, at)?,
                None => odd_pair(&self.times, at, &mut wrong.columns[MispredictionColumn::Lengths as usize])?,
            };
            if i == wrong.next {
                wrong.learn(&mut self.model, recent)?;
            }
            let entry = self.model.guess(recent.slot())?;
            let begin = previous_end.wrapping_add(gap);
            let end = begin.wrapping_add(duration);
            previous_end = end_of(begin, end);
            if records.len() == records.capacity() {
                // Never happens, but lets the compiler know that there is room.
                return None;
            }
            records.push(entry.record(recent, begin, end));
            recent.advance(entry);
        }
        let all_used = at == times.len() && wrong.columns.iter().all(|column| column.is_empty());
        all_used.then_some((head, records))
    }

    /// Takes back the memory of records that are no longer needed, for the next batch.
    pub fn recycle(&mut self, records: Vec<Record>) {
        if records.capacity() > self.spare.capacity() {
            self.spare = records;
        }
    }

    /// Counts the records of the batch decoded last whose operation this version does not know.
    pub fn unknown_operations(&self, records: &[Record]) -> u64 {
        if self.model.contexts.iter().all(|context| is_known(context.operation)) {
            return 0;
        }
        records.iter().filter(|record| !is_known(record.operation)).count() as u64
    }
}

type Columns<'a> = [&'a [u8]; COLUMNS];

struct MispredictedValues<'a> {
    columns: Columns<'a>,
    /// Index of the next one; `usize::MAX`: there is none.
    next: usize,
    /// Bits of the given fields.
    mask: u8,
}

impl MispredictedValues<'_> {
    /// Makes the guess of the next one right, and finds the one after it.
    #[cold]
    fn learn(&mut self, model: &mut RecordPredictor, recent: RecentRecords) -> Option<()> {
        let slot = recent.slot();
        let (context, base) = if self.mask & mask::CONTEXT == 0 {
            (model.guess(slot)?.context, model.guesses.get(slot)?.checked_sub(1)?)
        } else {
            let context = next_context(&mut model.contexts, &mut self.columns[MispredictionColumn::Contexts as usize])?;
            (context, model.contexts.get(context as usize)?.last)
        };
        let relative = model.contexts.get(context as usize)?.relative;
        read_changed_fields(model.learn(slot, context, base)?, self.mask, relative, recent, &mut self.columns)?;
        self.next += 1;
        self.find_next()
    }

    /// Finds the next one, from record `next` on.
    fn find_next(&mut self) -> Option<()> {
        let steps = &mut self.columns[MispredictionColumn::Steps as usize];
        if steps.is_empty() {
            self.next = usize::MAX;
            return Some(());
        }
        let step = usize::try_from(take_varint(steps)?).ok()?;
        let (run, common) = (step / MASKS.len(), step % MASKS.len());
        self.mask = match common {
            0 => *take_slice(&mut self.columns[MispredictionColumn::Masks as usize], 1)?.first()?,
            common => *MASKS.get(common)?,
        };
        self.next = self.next.checked_add(run)?;
        Some(())
    }
}

fn next_context(contexts: &mut Vec<CallContext>, column: &mut &[u8]) -> Option<u32> {
    let index = usize::try_from(take_varint(column)?).ok()?;
    if index == contexts.len() {
        let call_site = take_varint(column)?.wrapping_sub(1);
        let operation = u16::try_from(take_varint(column)?).ok()?;
        contexts.push(CallContext::new(call_site, operation));
    }
    (index < contexts.len()).then_some(index as u32)
}

/// Returns whether this version knows the operation of a record, which may be joined with its part.
fn is_known(operation: u16) -> bool {
    Operation::from_number(operation & !JOINED_COMPLETED).is_some()
}

#[inline]
fn take_column_value(columns: &mut Columns, column: MispredictionColumn) -> Option<u64> {
    take_varint(&mut columns[column as usize])
}

/// Changes the fields of `entry` that `mask` names, by the next values of their columns.
fn read_changed_fields(
    entry: &mut RecordEntry,
    mask: u8,
    relative: u32,
    recent: RecentRecords,
    columns: &mut Columns,
) -> Option<()> {
    if mask & mask::PEER != 0 {
        entry.set_peer(add_distance(entry.peer, take_column_value(columns, MispredictionColumn::Peers)?));
    }
    if mask & mask::TAG != 0 {
        entry.tag = add_distance(entry.tag, take_column_value(columns, MispredictionColumn::Tags)?);
    }
    if mask & mask::SENT != 0 {
        entry.sent =
            entry.sent.wrapping_add(decode_zigzag(take_column_value(columns, MispredictionColumn::Sent)?) as u64);
    }
    if mask & mask::RECEIVED != 0 {
        entry.received = entry
            .received
            .wrapping_add(decode_zigzag(take_column_value(columns, MispredictionColumn::Received)?) as u64);
    }
    if mask & mask::REQUEST != 0 {
        let request = match take_column_value(columns, MispredictionColumn::Requests)?.checked_sub(1) {
            None => NONE,
            Some(distance) => (recent.newest & relative).wrapping_add(decode_zigzag(distance) as u32),
        };
        entry.set_request(request, relative, recent);
    }
    if mask & mask::COUNT != 0 {
        entry.count =
            entry.count.wrapping_add(decode_zigzag(take_column_value(columns, MispredictionColumn::Counts)?) as u32);
    }
    if mask & mask::RARE != 0 {
        entry.flags = CallFlags(u16::try_from(take_column_value(columns, MispredictionColumn::Rare)?).ok()?);
        entry.comm = u32::try_from(take_column_value(columns, MispredictionColumn::Rare)?).ok()?.wrapping_sub(1);
    }
    Some(())
}

/// Returns the peer or tag that lies `distance` from another.
fn add_distance(from: i32, distance: u64) -> i32 {
    let from = if from == NO_PEER { 0 } else { from };
    distance.checked_sub(1).map_or(NO_PEER, |distance| from.wrapping_add(decode_zigzag(distance) as i32))
}

/// The layout of two times in at most eight bytes.
#[derive(Clone, Copy)]
struct TimePair {
    first: u64,
    second: u64,
    bits: u8,
    bytes: u8,
}

/// The pair of times of each code; `None` of [`OTHER_PAIR`](crate::record_predictor::OTHER_PAIR), whose lengths are given.
const TIMES: [Option<TimePair>; 16] = {
    let mut times = [None; 16];
    let mut code = 0;
    while code < PAIRS.len() {
        let (first, second) = PAIRS[code];
        times[code] = Some(TimePair {
            first: low_bytes_mask(first),
            second: low_bytes_mask(second),
            bits: 8 * first,
            bytes: first + second,
        });
        code += 1;
    }
    times
};

const fn low_bytes_mask(n: u8) -> u64 {
    if n == 0 { 0 } else { u64::MAX >> (64 - 8 * n as u32) }
}

impl TimePair {
    /// Returns the two times at `at`, and the offset of the next ones.
    #[inline(always)]
    fn take(self, times: &[u8], at: usize) -> Option<(u64, u64, usize)> {
        let both = eight_bytes_at(times, at)?;
        Some((both & self.first, both >> self.bits & self.second, at + usize::from(self.bytes)))
    }
}

/// Reads a pair of times whose lengths are the next of their column.
#[cold]
fn odd_pair(times: &[u8], at: usize, lengths: &mut &[u8]) -> Option<(u64, u64, usize)> {
    let [lengths] = *take_slice(lengths, 1)? else { return None };
    let (first, second) = (lengths & 15, lengths >> 4);
    if first > 8 || second > 8 {
        return None;
    }
    let between = at + usize::from(first);
    Some((
        eight_bytes_at(times, at)? & low_bytes_mask(first),
        eight_bytes_at(times, between)? & low_bytes_mask(second),
        between + usize::from(second),
    ))
}

#[inline(always)]
fn eight_bytes_at(times: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*times.get(at..)?.first_chunk()?))
}
