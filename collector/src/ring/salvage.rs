//! Reads the file of a rank's rings: what a killed or still running rank has not yet written to its log.
//!
//! The file is read as plain bytes at the offsets of [`RingHead`] and [`Record`], all integers little-endian, for the process
//! that maps it may be gone, on another machine, or writing while we read.

use std::fs::File;
use std::io;
use std::mem::offset_of;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use rustix::fs::{SeekFrom as Find, seek};
use rustix::io::Errno;

use crate::codec::{take_array, u32_at, u64_at};
use crate::definition::{ClockPair, EndReason, ResourceUsage};
use crate::format::{BatchHead, OpenRegion, VERSION};
use crate::joined;
use crate::record::{CallFlags, FIXED, Record};
use crate::ring::waiting::{WaitingDefinitions, waiting_in};
use crate::ring::{ALIGNMENT, HEAD_BYTES, MAGIC, MANY_EMPTY, MAX_OPEN, MAX_PROBLEMS, MAX_RINGS, RingHead, piece_bytes};

/// Maximum number of bytes of a ring that are read, four times the largest ring (LBPROF_BUFFER).
const MAX_RING: u64 = 64 << 20;

/// Maximum number of offsets without a ring at which a file is searched.
const MAX_PLACES_IN_VAIN: usize = 1 << 14;

const ATTEMPTS: usize = 8;

/// The contents of a ring.
#[derive(Clone, Debug, PartialEq)]
pub struct SalvagedRing {
    /// The run's id.
    pub run_id: u64,
    /// Rank in MPI_COMM_WORLD.
    pub rank: u32,
    /// Position of the records in their thread.
    pub head: BatchHead,
    /// The records, whose `call_site` is a return address. One without an end is [`CallFlags::UNFINISHED`].
    pub records: Vec<Record>,
    /// Records dropped because the log could not be written; in the first ring also calls made after recording stopped.
    pub dropped: u64,
    /// Problems met: number of the [`crate::ProblemKind`], how many times.
    pub problems: Vec<(u16, u64)>,
    /// Reason and time of the process's end, if it could still say so.
    pub end: Option<(EndReason, u64)>,
    /// Resources used by then, and that instant on both clocks, where they are known.
    pub end_usage: Option<(ResourceUsage, ClockPair)>,
    /// The status with which it ended, where it did so by exit().
    pub exit_status: Option<i32>,
    /// End of the analysed window, in ticks, if it ended.
    pub window_end: Option<u64>,
    /// Bytes of the log up to the end of its last block that is not of records; 0: not known.
    pub facts_end: u64,
    /// Definitions that the log does not have yet, unless it is longer by now, or `None` if they are damaged.
    pub waiting: Option<WaitingDefinitions>,
    /// True if its file ends before the last slot, so that records may be missing.
    pub cut: bool,
    /// Number of records that were lost before others, with pages of the file, because the file was emptied.
    pub lost: usize,
}

/// Reads the rings in the file of a rank's rings, in the order of threads. Skips rings of another version, and rings that their threads had not set up
/// yet.
///
/// Errors: what the system says.
pub fn read_rings(file: &File) -> io::Result<Vec<SalvagedRing>> {
    let mut rings = Vec::new();
    // The first thread's ring last: definitions wait there that records in the others refer to.
    for place in find_rings(file)?.into_iter().rev() {
        rings.extend(read_ring(file, place)?);
    }
    rings.reverse();
    Ok(rings)
}

/// Reads the first ring in the file of a rank's rings, or returns `None` if it is not of this version, or its thread had not set it up yet.
///
/// Errors: what the system says.
pub fn read_first_ring(file: &File) -> io::Result<Option<SalvagedRing>> {
    match find_rings(file)?.first() {
        Some(place) => read_ring(file, place.clone()),
        None => Ok(None),
    }
}

fn find_rings(file: &File) -> io::Result<Vec<Range<u64>>> {
    let length = file.metadata()?.len();
    let mut rings = Vec::new();
    let (mut at, mut in_vain) = (0, 0);
    while at < length && in_vain < MAX_PLACES_IN_VAIN && rings.len() < MAX_RINGS {
        at = match seek(file, Find::Data(at)) {
            Ok(data) => at.max(data - data % ALIGNMENT as u64),
            Err(Errno::NXIO) => break,
            Err(_) => at,
        };
        let mut head = [0; offset_of!(RingHead, first)];
        if read_at_most(file, &mut head, at)? == head.len() && head[..MAGIC.len()] == MAGIC {
            let capacity = u32_at(&head, offset_of!(RingHead, capacity)) as usize;
            rings.push(at..at + (HEAD_BYTES + capacity * size_of::<Record>()) as u64);
            at += piece_bytes(capacity);
        } else {
            at += ALIGNMENT as u64;
            in_vain += 1;
        }
    }
    Ok(rings)
}

/// Reads a ring in a part of a file, of which at most 64 MiB are looked at.
///
/// Errors: what the system says.
fn read_ring(file: &File, part: Range<u64>) -> io::Result<Option<SalvagedRing>> {
    let mut bytes = Vec::new();
    let length = file.metadata()?.len().clamp(part.start, part.end.min(part.start + MAX_RING)) - part.start;
    for _ in 0..ATTEMPTS {
        bytes.clear();
        // The first hole holds no record, and none comes after it unless the file was emptied.
        let end = part.start + length;
        let hole = seek(file, Find::Hole(part.start)).unwrap_or(end);
        let has_more = seek(file, Find::Data(hole)).is_ok_and(|data| data < end);
        let data = if has_more { end } else { hole.min(end) };
        bytes.resize((data - part.start) as usize, 0);
        let read = read_at_most(file, &mut bytes, part.start)?;
        bytes.truncate(read);
        // A flush in between would give slots of two batches; it shows in the sequence number of the first.
        let mut again = [0; HEAD_BYTES];
        if read_at_most(file, &mut again, part.start)? < HEAD_BYTES {
            break;
        }
        // Records may refer to definitions that came after the head was read.
        let waiting = offset_of!(RingHead, waiting_from)..HEAD_BYTES;
        if let (Some(place), Some(later)) = (bytes.get_mut(waiting.clone()), again.get(waiting)) {
            place.copy_from_slice(later);
        }
        if first_of(&again) == first_of(&bytes) && waiting_in(&again).is_some() {
            break;
        }
    }
    Ok(ring_of(&bytes, length))
}

/// Fills `buffer` with the bytes from `at` on, and returns their number.
pub(crate) fn read_at_most(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    let mut read = 0;
    while read < buffer.len() {
        match file.read_at(&mut buffer[read..], at + read as u64) {
            Ok(0) => break,
            Ok(n) => read += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

/// Parses the bytes of a ring, or returns `None` if they are not a ring of this version.
pub fn parse_ring(bytes: &[u8]) -> Option<SalvagedRing> {
    ring_of(bytes, bytes.len() as u64)
}

fn ring_of(bytes: &[u8], length: u64) -> Option<SalvagedRing> {
    let (head, slots) = bytes.split_at_checked(HEAD_BYTES)?;
    let version = u16::try_from(u32_at(head, offset_of!(RingHead, version))).ok()?;
    if head[..8] != MAGIC || version != VERSION {
        return None;
    }
    let n_open = (u32_at(head, offset_of!(RingHead, n_open)) as usize).min(MAX_OPEN);
    let open = (0..n_open).map(|i| {
        let at = offset_of!(RingHead, open) + 8 * i;
        OpenRegion { region: u32_at(head, at), iteration: u32_at(head, at + 4) }
    });
    let problems = (0..MAX_PROBLEMS).filter_map(|kind| {
        let count = u64_at(head, offset_of!(RingHead, problems) + 8 * kind);
        (count > 0).then_some((kind as u16, count))
    });
    let end_reason = match u32_at(head, offset_of!(RingHead, end_reason)) {
        1 => Some(EndReason::Finalize),
        2 => Some(EndReason::Exit),
        3 => Some(EndReason::Abort(u32_at(head, offset_of!(RingHead, abort_code)) as i32)),
        _ => None,
    };
    let end_ticks = u64_at(head, offset_of!(RingHead, end_ticks));
    let [ticks, monotonic_ns] = [0, 8].map(|at| u64_at(head, offset_of!(RingHead, end_instant) + at));
    let usage = ResourceUsage::from_bytes(&head[offset_of!(RingHead, end_usage)..]);
    let usage = usage.filter(|usage| end_reason.is_some() && monotonic_ns != 0 && usage.ticks != 0);
    let capacity = u32_at(head, offset_of!(RingHead, capacity)) as usize;
    let (first, handed_over) =
        (u64_at(head, offset_of!(RingHead, first)), u64_at(head, offset_of!(RingHead, handed_over)));
    let slots = slots.as_chunks().0.iter().take(if handed_over > first { 0 } else { capacity });
    let (mut records, lost) = collect_slot_records(slots);
    joined::take_apart(&mut records);
    Some(SalvagedRing {
        run_id: u64_at(head, offset_of!(RingHead, run_id)),
        rank: u32_at(head, offset_of!(RingHead, rank)),
        head: BatchHead {
            thread: u32_at(head, offset_of!(RingHead, thread)),
            first: first.max(handed_over),
            previous_end: u64_at(head, offset_of!(RingHead, previous_end)),
            open: open.collect(),
            paused: u32_at(head, offset_of!(RingHead, paused)) != 0,
        },
        records,
        dropped: u64_at(head, offset_of!(RingHead, dropped)),
        problems: problems.collect(),
        end: end_reason.map(|reason| (reason, end_ticks)),
        end_usage: usage.map(|usage| (usage, ClockPair { ticks, monotonic_ns })),
        exit_status: (u32_at(head, offset_of!(RingHead, has_exit_status)) == 1)
            .then(|| u32_at(head, offset_of!(RingHead, exit_status)) as i32),
        window_end: Some(u64_at(head, offset_of!(RingHead, window_end))).filter(|&ticks| ticks != 0),
        facts_end: u64_at(head, offset_of!(RingHead, facts_end)),
        waiting: waiting_in(head),
        cut: (length.saturating_sub(HEAD_BYTES as u64) / size_of::<Record>() as u64) < capacity as u64,
        lost,
    })
}

/// Returns the records in slots, and the number that were lost before others: many unused slots in a row, and the record after them, which may have been
/// half filled at that instant. A single slot is also unused if a signal handler came between taking and filling it, and did not return.
fn collect_slot_records<'a>(slots: impl Iterator<Item = &'a [u8; size_of::<Record>()]>) -> (Vec<Record>, usize) {
    let (mut records, mut lost, mut empty) = (Vec::new(), 0, 0);
    for slot in slots {
        let Some(record) = parse_slot(slot) else {
            empty += 1;
            continue;
        };
        let before = std::mem::take(&mut empty);
        if MANY_EMPTY <= before {
            lost += before + 1;
        } else {
            records.push(record);
        }
    }
    (records, lost)
}

fn parse_slot(slot: &[u8; size_of::<Record>()]) -> Option<Record> {
    // The fields of a record have no gaps between them.
    let (mut record, _): (Record, usize) = bincode::decode_from_slice(slot, FIXED).ok()?;
    if record.end == 0 {
        record.flags |= CallFlags::UNFINISHED;
        // A call that has not ended has no part yet, whatever a slot says that was being filled.
        if let Some((call, _)) = record.apart() {
            record = call;
        }
    }
    (record.begin != 0).then_some(record)
}

fn first_of(head: &[u8]) -> Option<u64> {
    take_array(&mut head.get(offset_of!(RingHead, first)..)?).map(u64::from_le_bytes)
}
