//! Finds the records of a ring that are whole after its file was emptied, or its disk has failed.
//!
//! Pages of the file are lost at any instant, and read as zeros. The thread goes on in pages of zeros, so the record
//! that it was filling at that instant has only the fields stored later.
//!
//! This module knows neither thread nor ring.

use lbprof_collector::record::Record;

/// Slots in a page; the first slot of a ring begins one.
const IN_PAGE: usize = 4096 / size_of::<Record>();

/// Moves the records that have begun to the front, and returns their number. The other slots were taken for calls that never began.
pub fn leave_out_unbegun(records: &mut [Record]) -> usize {
    keep_records(records, |_, record| record.begin != 0)
}

/// Moves the records that are known to be whole to the front, and returns their number. `replaced`: the ticks before and after other
/// memory took the place of the ring's pages.
///
/// A record after a lost slot may not be whole; nor may those that were being filled when the memory was replaced: the last that had begun
/// before, all that have begun meanwhile, and the first that has begun since, because its other fields may have been stored before.
pub fn leave_out_lost(records: &mut [Record], replaced: [u64; 2]) -> usize {
    let [before, after] = replaced;
    // A slot whose record has not begun has the time 0.
    let first = records.iter().rposition(|record| (1..=before).contains(&record.begin)).unwrap_or(0);
    let rest = records.get(first..).unwrap_or_default();
    let last = rest.iter().position(|record| after < record.begin).map_or(records.len(), |at| first + at);
    let (mut follows_lost, mut previous_end) = (false, 0);
    keep_records(records, |at, record| {
        let follows_lost = std::mem::replace(&mut follows_lost, record.begin == 0);
        let is_filled = record.begin != 0 && record.operation().is_some();
        let is_in_order = previous_end <= record.begin && (record.end == 0 || record.begin <= record.end);
        let stays = is_filled && is_in_order && !follows_lost && !(first..=last).contains(&at);
        if stays {
            previous_end = record.begin.max(record.end);
        }
        stays
    })
}

/// Returns whether a slot at the begin or end of a page holds nothing, although all slots have held records: the page was lost.
pub fn has_lost_pages(records: &[Record]) -> bool {
    let mut at_page_ends = records.chunks(IN_PAGE).flat_map(|page| [page.first(), page.last()]).flatten();
    // SAFETY: a valid reference; another process may empty the file at any time.
    at_page_ends.any(|record| unsafe { (&raw const record.begin).read_volatile() == 0 })
}

/// Moves the records that `stays` chooses to the front, in their order, and empties the other slots. Returns the number of the former.
fn keep_records(records: &mut [Record], mut stays: impl FnMut(usize, &Record) -> bool) -> usize {
    let mut kept = 0;
    for at in 0..records.len() {
        if records.get(at).is_some_and(|record| stays(at, record)) {
            records.swap(kept, at);
            kept += 1;
        }
    }
    for record in records.get_mut(kept..).unwrap_or_default() {
        (record.begin, record.end) = (0, 0);
    }
    kept
}
