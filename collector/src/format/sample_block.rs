//! The samples of a thread ↔ the columns of a [`crate::format::BlockKind::Samples`] block; docs/log-format.md draws them.
//!
//! Threads run in few places: a block has a table of the locations in it, in ascending order, and a sample is the index of one. The time since
//! the sample before is the CPU time between samples but for short delays, as long as the thread keeps its core; only the difference is stored.

use crate::codec::{
    decode_value, decode_zigzag, encode_zigzag, put_columns, put_value, put_varint, take_columns, take_slice,
    take_varint,
};
use crate::sample::{CodeAddress, MAX_SAMPLES, ProcessorCounts, Sample, SampleHead};

#[derive(Clone, Copy)]
enum SampleColumn {
    /// The locations: two integers each.
    Locations,
    /// The low bytes of the samples' locations; where there are more than 256 of these, the high bytes follow.
    Indices,
    /// Number of successive samples with the same weight, and that weight, in nanoseconds.
    Weights,
    /// Number of successive samples with the same call path, and its id plus 1 (modulo 2³²).
    CallPaths,
    /// Four bits a sample: how many bytes its time takes in the tail.
    Lengths,
    /// Instructions and cycles of each sample; empty: these were not counted.
    Counts,
}

const COLUMNS: usize = 6;

/// Turns samples into columns, reusing its memory.
#[derive(Default)]
pub struct SampleEncoder {
    columns: [Vec<u8>; COLUMNS],
    locations: Vec<CodeAddress>,
    plain: Vec<u8>,
    tail: Vec<u8>,
}

impl SampleEncoder {
    /// The bytes that compress of the samples encoded last: head and columns.
    pub fn plain(&self) -> &[u8] {
        &self.plain
    }

    /// Returns the columns that are not run-length encoded: times.
    pub fn tail(&self) -> &[u8] {
        &self.tail
    }

    /// Encodes samples that follow `head`, at most [`MAX_SAMPLES`]. They have counts if the first one does.
    pub fn encode(&mut self, head: &SampleHead, samples: &[Sample]) {
        debug_assert!(samples.len() <= MAX_SAMPLES);
        for column in &mut self.columns {
            column.clear();
        }
        self.tail.clear();
        self.put_locations(samples);
        self.put_runs(samples, SampleColumn::Weights, |sample| sample.weight_ns);
        self.put_runs(samples, SampleColumn::CallPaths, |sample| u64::from(sample.call_path.wrapping_add(1)));
        self.put_times(head, samples);
        if samples.first().is_some_and(|sample| sample.counts.is_some()) {
            let column = &mut self.columns[SampleColumn::Counts as usize];
            for counts in samples.iter().map(|sample| sample.counts.unwrap_or_default()) {
                put_varint(counts.instructions, column);
                put_varint(counts.cycles, column);
            }
        }
        self.plain.clear();
        put_value(head, &mut self.plain);
        put_varint(samples.len() as u64, &mut self.plain);
        put_varint(self.locations.len() as u64, &mut self.plain);
        put_columns(&self.columns, &mut self.plain);
    }

    fn put_locations(&mut self, samples: &[Sample]) {
        self.locations.clear();
        self.locations.extend(samples.iter().map(|sample| sample.location));
        self.locations.sort_unstable();
        self.locations.dedup();
        let column = &mut self.columns[SampleColumn::Locations as usize];
        let mut before = CodeAddress { module: 0, offset: 0 };
        for &location in &self.locations {
            let step = location.module - before.module;
            put_varint(u64::from(step), column);
            put_varint(if step == 0 { location.offset - before.offset } else { location.offset }, column);
            before = location;
        }
        let column = &mut self.columns[SampleColumn::Indices as usize];
        column.extend(samples.iter().map(|sample| location_index(&self.locations, sample) as u8));
        if is_wide(self.locations.len()) {
            column.extend(samples.iter().map(|sample| (location_index(&self.locations, sample) >> 8) as u8));
        }
    }

    fn put_runs(&mut self, samples: &[Sample], column: SampleColumn, value: impl Fn(&Sample) -> u64) {
        let column = &mut self.columns[column as usize];
        for run in samples.chunk_by(|one, next| value(one) == value(next)) {
            put_varint(run.len() as u64, column);
            put_varint(value(&run[0]), column);
        }
    }

    fn put_times(&mut self, head: &SampleHead, samples: &[Sample]) {
        let lengths = &mut self.columns[SampleColumn::Lengths as usize];
        let mut previous = head.previous;
        for (i, sample) in samples.iter().enumerate() {
            let gap = sample.ticks.wrapping_sub(previous);
            let time = encode_zigzag(gap.wrapping_sub(head.expected_gap(sample.weight_ns)) as i64);
            let length = (64 - time.leading_zeros() as usize).div_ceil(8);
            self.tail.extend_from_slice(&time.to_le_bytes()[..length]);
            match i % 2 {
                0 => lengths.push(length as u8),
                _ => lengths[i / 2] |= (length as u8) << 4,
            }
            previous = sample.ticks;
        }
    }
}

fn is_wide(n_locations: usize) -> bool {
    n_locations > 256
}

fn location_index(locations: &[CodeAddress], sample: &Sample) -> usize {
    locations.binary_search(&sample.location).unwrap_or(0)
}

/// The samples whose columns are `plain` and `tail`, or `None` where they hold none. A sample takes at least a byte and a half of `plain`, so the
/// memory taken is at most 64 bytes for each byte of `plain`, and for [`MAX_SAMPLES`] samples.
pub fn decode_samples(plain: &[u8], mut tail: &[u8]) -> Option<(SampleHead, Vec<Sample>)> {
    let (head, used) = decode_value::<SampleHead>(plain)?;
    let mut rest = &plain[used..];
    let n = usize::try_from(take_varint(&mut rest)?).ok().filter(|&n| n <= MAX_SAMPLES)?;
    let n_locations = usize::try_from(take_varint(&mut rest)?).ok().filter(|&most| most <= n)?;
    let mut columns: [&[u8]; COLUMNS] = take_columns(rest)?;
    let locations = decode_locations(columns[SampleColumn::Locations as usize], n_locations)?;
    let (indices, lengths) = (columns[SampleColumn::Indices as usize], columns[SampleColumn::Lengths as usize]);
    let planes = if is_wide(n_locations) { 2 } else { 1 };
    if indices.len() != planes * n || lengths.len() != n.div_ceil(2) {
        return None;
    }
    let counted = !columns[SampleColumn::Counts as usize].is_empty();
    let mut samples = Vec::with_capacity(n);
    let (mut weight, mut call_path) = (RunLengthDecoder::default(), RunLengthDecoder::default());
    let mut previous = head.previous;
    for i in 0..n {
        let high = indices.get(n + i).copied().unwrap_or(0);
        let location = *locations.get(usize::from(u16::from_le_bytes([indices[i], high])))?;
        let weight_ns = weight.next(&mut columns[SampleColumn::Weights as usize])?;
        let path = u32::try_from(call_path.next(&mut columns[SampleColumn::CallPaths as usize])?).ok()?;
        let time = take_time(&mut tail, lengths[i / 2] >> (4 * (i % 2)) & 15)?;
        let gap = head.expected_gap(weight_ns).wrapping_add(decode_zigzag(time) as u64);
        previous = previous.wrapping_add(gap);
        let counts = if counted { Some(take_counts(&mut columns[SampleColumn::Counts as usize])?) } else { None };
        samples.push(Sample { ticks: previous, location, call_path: path.wrapping_sub(1), weight_ns, counts });
    }
    let read_here = [SampleColumn::Weights, SampleColumn::CallPaths, SampleColumn::Counts];
    let all_used = tail.is_empty()
        && weight.left == 0
        && call_path.left == 0
        && read_here.iter().all(|&column| columns[column as usize].is_empty());
    all_used.then_some((head, samples))
}

/// The table of `n` locations that is all of `column`.
fn decode_locations(mut column: &[u8], n: usize) -> Option<Vec<CodeAddress>> {
    let mut table = Vec::with_capacity(n);
    let mut before = CodeAddress { module: 0, offset: 0 };
    for _ in 0..n {
        let step = u32::try_from(take_varint(&mut column)?).ok()?;
        let offset = take_varint(&mut column)?;
        let module = before.module.checked_add(step)?;
        before = CodeAddress { module, offset: if step == 0 { before.offset.checked_add(offset)? } else { offset } };
        table.push(before);
    }
    column.is_empty().then_some(table)
}

#[derive(Default)]
struct RunLengthDecoder {
    left: u64,
    value: u64,
}

impl RunLengthDecoder {
    fn next(&mut self, column: &mut &[u8]) -> Option<u64> {
        if self.left == 0 {
            self.left = take_varint(column)?;
            self.value = take_varint(column)?;
        }
        self.left = self.left.checked_sub(1)?;
        Some(self.value)
    }
}

fn take_time(tail: &mut &[u8], length: u8) -> Option<u64> {
    let bytes = take_slice(tail, usize::from(length))?;
    let mut time = [0; 8];
    time.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(time))
}

fn take_counts(column: &mut &[u8]) -> Option<ProcessorCounts> {
    Some(ProcessorCounts { instructions: take_varint(column)?, cycles: take_varint(column)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::NONE;

    #[test]
    fn a_sample_of_a_busy_thread_takes_less_than_six_bytes() {
        // 200 samples of a thread that keeps its core, in 60 places of one function, each up to 8 µs late.
        let head = SampleHead { previous: 1 << 50, rate: SampleHead::rate_of(0.4), ..SampleHead::default() };
        let mut random = 1u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let mut ticks = head.previous;
        let samples: Vec<_> = (0..200)
            .map(|_| {
                ticks += 12_500_000 + next(20_000);
                let location = CodeAddress { module: 3, offset: 0x4_1000 + 7 * next(60) };
                Sample { ticks, location, call_path: NONE, weight_ns: 5_000_000, counts: None }
            })
            .collect();
        let mut encoder = SampleEncoder::default();
        encoder.encode(&head, &samples);
        let bytes = encoder.plain().len() + encoder.tail().len();
        assert!(bytes < 5 * samples.len(), "{bytes}");
    }
}
