//! Sums that a rank's log lacks: a file beside it keeps them, for the case that the process is killed.
//!
//! The log gets sums in slots of time, which get longer as the run does. Once a second the slot in progress is written here, in two places for each thread
//! by turns, so that one of them is whole at each instant:
//!
//! ```text
//!   | thread 0, place 0 | thread 0, place 1 | thread 1, place 0 | …        each of PLACE_BYTES
//!   a place: | magic "LBPSUMS1" | run's id u64 | length u32 | CRC-32 of the run's id and what follows | the sums |
//! ```
//!
//! When the log has the slot the places stay as they are: their records have sequence numbers below the log's end, and the reader drops them.

use std::fs::File;
use std::io;

use bincode::{Decode, Encode};

use crate::codec::{decode_value, put_value, u32_at, u64_at};
use crate::format::{MAX_PLAIN, checksum_of};
use crate::poll_gaps::ProfileGaps;
use crate::profile::ProfileBatch;
use crate::ring::MAX_RINGS;
use crate::ring::salvage::read_at_most;

const MAGIC: [u8; 8] = *b"LBPSUMS1";

/// Bytes of a place. Sums that need more are not saved.
pub const PLACE_BYTES: usize = 256 << 10;

/// Bytes of a place before the sums.
const HEAD_BYTES: usize = 24;

/// The sums of a thread since its log has had some.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct SavedSums {
    /// The sums.
    pub batch: ProfileBatch,
    /// The long gaps between polls in them, if there are any.
    pub gaps: Option<ProfileGaps>,
}

/// Returns the offset of the first place of a thread, or of its second one.
pub fn place_of(thread: u32, is_second: bool) -> u64 {
    (u64::from(thread) * 2 + u64::from(is_second)) * PLACE_BYTES as u64
}

impl SavedSums {
    /// Puts the bytes for a place into `out`, and returns whether they fit.
    pub fn encode(&self, run_id: u64, out: &mut Vec<u8>) -> bool {
        out.clear();
        out.resize(HEAD_BYTES, 0);
        put_value(self, out);
        let sums = &out[HEAD_BYTES..];
        let head = [&MAGIC[..], &run_id.to_le_bytes(), &(sums.len() as u32).to_le_bytes()].concat();
        let crc = checksum_of([&run_id.to_le_bytes()[..], sums]);
        out[..HEAD_BYTES - 4].copy_from_slice(&head);
        out[HEAD_BYTES - 4..HEAD_BYTES].copy_from_slice(&crc.to_le_bytes());
        out.len() <= PLACE_BYTES
    }

    /// Returns the sums in the bytes of a place, if they are whole and of the run with this id.
    fn decode(bytes: &[u8], run_id: u64) -> Option<SavedSums> {
        let (head, rest) = bytes.split_at_checked(HEAD_BYTES)?;
        let sums = rest.get(..u32_at(head, 16) as usize)?;
        let is_whole = head[..8] == MAGIC
            && u64_at(head, 8) == run_id
            && u32_at(head, 20) == checksum_of([&run_id.to_le_bytes()[..], sums]);
        let (saved, _) = decode_value::<SavedSums>(sums).filter(|_| is_whole)?;
        (saved.batch.head.thread == saved.batch.next.thread).then_some(saved)
    }
}

/// Reads the latest whole sums of each thread of the run with this id, in the order of threads. At most 64 MiB are read.
///
/// Errors: what the system says.
pub fn read_saved_sums(file: &File, run_id: u64) -> io::Result<Vec<SavedSums>> {
    let n_threads = file.metadata()?.len().div_ceil(2 * PLACE_BYTES as u64).min(MAX_RINGS as u64);
    let mut all = Vec::new();
    let (mut place, mut bytes) = (vec![0; PLACE_BYTES], 0);
    for thread in 0..n_threads as u32 {
        if bytes > MAX_PLAIN {
            break;
        }
        let mut latest: Option<SavedSums> = None;
        for turn in [false, true] {
            let length = read_at_most(file, &mut place, place_of(thread, turn))?;
            let saved = SavedSums::decode(&place[..length], run_id);
            let saved = saved.filter(|saved| saved.batch.head.thread == thread);
            bytes += saved.as_ref().map_or(0, |_| u32_at(&place, 16) as usize);
            latest = [latest, saved].into_iter().flatten().max_by_key(|saved| saved.batch.next.first);
        }
        all.extend(latest);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::format::BatchHead;

    fn sums_up_to(thread: u32, next: u64) -> SavedSums {
        let head = BatchHead { thread, first: 10, ..BatchHead::default() };
        let batch = ProfileBatch { next: BatchHead { first: next, ..head.clone() }, head, ..ProfileBatch::default() };
        SavedSums { batch, gaps: None }
    }

    #[test]
    fn the_latest_whole_place_of_each_thread_counts() {
        let file = tempfile::tempfile().unwrap();
        let mut bytes = Vec::new();
        for (thread, turn, next) in [(0, false, 20), (0, true, 30), (2, false, 40), (2, true, 50)] {
            assert!(sums_up_to(thread, next).encode(7, &mut bytes));
            file.write_all_at(&bytes, place_of(thread, turn)).unwrap();
        }
        assert_eq!(read_saved_sums(&file, 7).unwrap(), [sums_up_to(0, 30), sums_up_to(2, 50)]);
        assert_eq!(read_saved_sums(&file, 8).unwrap(), [], "of another run");
        // The process was killed while it wrote the later one.
        file.write_all_at(&[0xff; 8], place_of(2, true) + 30).unwrap();
        assert_eq!(read_saved_sums(&file, 7).unwrap(), [sums_up_to(0, 30), sums_up_to(2, 40)]);
    }

    #[test]
    fn a_file_of_any_length_and_content_is_read_in_bounds() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 40).unwrap();
        file.write_all_at(&[[0xff; 8], MAGIC].concat(), 0).unwrap();
        file.write_all_at(&MAGIC, place_of(1, false)).unwrap();
        file.write_all_at(&[0xff; 64], place_of(1, false) + 8).unwrap();
        assert_eq!(read_saved_sums(&file, 7).unwrap(), []);
    }
}
