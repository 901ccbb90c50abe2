//! Columns of bytes → the batch of records from which [`crate::encode`] made them.

use crate::codec::{get, take_slice, take_varint, unzigzag};
use crate::format::{BatchHead, MAX_RECORDS};
use crate::model::{COLUMNS, Column, Context, Entry, MASKS, Model, PAIRS, Recent, end_of, mask};
use crate::operation::Operation;
use crate::record::{Flags, NO_PEER, NONE, Record};

/// Columns that are read from their begins.
type Columns<'a> = [&'a [u8]; COLUMNS];

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
    /// 128 bytes for each byte of `tail` and of `plain`, and for [`MAX_RECORDS`] records.
    pub fn decode(&mut self, plain: &[u8], tail: &[u8]) -> Option<(BatchHead, Vec<Record>)> {
        let (head, used) = get::<BatchHead>(plain)?;
        let mut rest = &plain[used..];
        let n = usize::try_from(take_varint(&mut rest)?).ok().filter(|&n| n <= MAX_RECORDS)?;
        let mut columns = columns(rest)?;
        let mut times = tail;
        let codes = take_slice(&mut times, n.div_ceil(2))?;

        self.model.reset();
        let mut records = Vec::with_capacity(n);
        let mut recent = Recent::default();
        let mut times = Times { bytes: times, at: 0 };
        let mut previous_end = head.previous_end;
        let (mut surprise_at, mut mask) = next_surprise(0, &mut columns)?;
        for i in 0..n {
            let code = codes.get(i / 2)? >> (4 * (i % 2)) & 15;
            let (n_gap, n_duration) = match PAIRS.get(usize::from(code)) {
                Some(&pair) => pair,
                None => {
                    let [lengths] = *take_slice(&mut columns[Column::Lengths as usize], 1)? else { return None };
                    (lengths & 15, lengths >> 4)
                }
            };
            let begin = previous_end.wrapping_add(times.take(n_gap)?);
            let end = begin.wrapping_add(times.take(n_duration)?);
            let entry = if i == surprise_at {
                let entry = self.surprise(mask, recent, &mut columns)?;
                (surprise_at, mask) = next_surprise(i + 1, &mut columns)?;
                entry
            } else {
                self.model.guess(recent.slot())?
            };
            let record = entry.record(recent, begin, end);
            recent.advance(entry);
            previous_end = end_of(&record);
            records.push(record);
        }
        let all_used = times.at == times.bytes.len() && columns.iter().all(|column| column.is_empty());
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

    /// The entry of a record that was guessed wrong, in what `mask` tells.
    #[inline(never)]
    fn surprise(&mut self, mask: u8, recent: Recent, columns: &mut Columns) -> Option<&Entry> {
        let slot = recent.slot();
        let (context, base) = if mask & mask::CONTEXT == 0 {
            (self.model.guess(slot)?.context, self.model.guesses.get(slot)?.checked_sub(1)?)
        } else {
            let context = next_context(&mut self.model.contexts, &mut columns[Column::Contexts as usize])?;
            (context, self.model.contexts.get(context as usize)?.last)
        };
        let relative = self.model.contexts.get(context as usize)?.relative;
        let entry = self.model.learn(slot, context, base)?;
        change(entry, mask, relative, recent, columns)?;
        Some(entry)
    }
}

/// The columns, behind their sizes.
fn columns(mut rest: &[u8]) -> Option<Columns<'_>> {
    let mut sizes = [0; COLUMNS];
    for size in &mut sizes {
        *size = usize::try_from(take_varint(&mut rest)?).ok()?;
    }
    let mut columns: Columns = [&[]; COLUMNS];
    for (column, size) in columns.iter_mut().zip(sizes) {
        *column = take_slice(&mut rest, size)?;
    }
    rest.is_empty().then_some(columns)
}

/// Index of the next record, from `i` on, that was guessed wrong, and its mask; `usize::MAX`: there is none.
fn next_surprise(i: usize, columns: &mut Columns) -> Option<(usize, u8)> {
    let steps = &mut columns[Column::Steps as usize];
    if steps.is_empty() {
        return Some((usize::MAX, 0));
    }
    let step = usize::try_from(take_varint(steps)?).ok()?;
    let (run, common) = (step / MASKS.len(), step % MASKS.len());
    let mask = match common {
        0 => *take_slice(&mut columns[Column::Masks as usize], 1)?.first()?,
        common => *MASKS.get(common)?,
    };
    Some((i.checked_add(run)?, mask))
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

/// Changes the fields of `entry` that `mask` names, by the next values of their columns.
fn change(entry: &mut Entry, mask: u8, relative: u32, recent: Recent, columns: &mut Columns) -> Option<()> {
    let mut read = |column: Column| take_varint(&mut columns[column as usize]);
    if mask & mask::PEER != 0 {
        entry.set_peer(gone(entry.peer, read(Column::Peers)?));
    }
    if mask & mask::TAG != 0 {
        entry.tag = gone(entry.tag, read(Column::Tags)?);
    }
    if mask & mask::SENT != 0 {
        entry.sent = entry.sent.wrapping_add(unzigzag(read(Column::Sent)?) as u64);
    }
    if mask & mask::RECEIVED != 0 {
        entry.received = entry.received.wrapping_add(unzigzag(read(Column::Received)?) as u64);
    }
    if mask & mask::REQUEST != 0 {
        let request = match read(Column::Requests)?.checked_sub(1) {
            None => NONE,
            Some(distance) => (recent.newest & relative).wrapping_add(unzigzag(distance) as u32),
        };
        entry.set_request(request, relative, recent);
    }
    if mask & mask::COUNT != 0 {
        entry.count = entry.count.wrapping_add(unzigzag(read(Column::Counts)?) as u32);
    }
    if mask & mask::RARE != 0 {
        entry.flags = Flags(u16::try_from(read(Column::Rare)?).ok()?);
        entry.comm = u32::try_from(read(Column::Rare)?).ok()?.wrapping_sub(1);
    }
    Some(())
}

/// The peer or tag that lies `distance` from another.
fn gone(from: i32, distance: u64) -> i32 {
    let from = if from == NO_PEER { 0 } else { from };
    distance.checked_sub(1).map_or(NO_PEER, |distance| from.wrapping_add(unzigzag(distance) as i32))
}

/// The times, read from their begin.
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
