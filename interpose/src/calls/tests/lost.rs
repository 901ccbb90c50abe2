//! What stays of a ring whose file was emptied: records that are whole, however the loss came between the fields of the others.

use lbprof_collector::Operation;
use lbprof_collector::record::Record;

use crate::recording::lost_records as lost;

/// Slots that hold nothing.
const EMPTY: Record = Record {
    begin: 0,
    end: 0,
    call_site: 0,
    sent: 0,
    received: 0,
    peer: 0,
    tag: 0,
    comm: 0,
    request: 0,
    operation: 0,
    flags: lbprof_collector::CallFlags(0),
    count: 0,
};

/// Calls of 5 ticks each, one every 10 ticks from 100 on.
fn calls(n: u64) -> Vec<Record> {
    let call = |begin| Record { end: begin + 5, call_site: 1, ..Record::new(Operation::Barrier, begin) };
    (0..n).map(|i| call(100 + 10 * i)).collect()
}

fn begins(records: &[Record]) -> Vec<u64> {
    records.iter().map(|record| record.begin).collect()
}

#[test]
fn what_was_being_filled_when_the_memory_was_replaced_is_left_out() {
    // Replaced between the calls at 130 and 140. Either may have been half stored: the end of the first, or the facts of the second.
    let mut records = calls(8);
    let kept = lost::leave_out_lost(&mut records, [137, 139]);
    assert_eq!(begins(&records[..kept]), [100, 110, 120, 150, 160, 170]);
    assert!(records[kept..].iter().all(|slot| (slot.begin, slot.end) == (0, 0)), "slots to come are empty");
    // Replaced within the call at 130, which has lost its end.
    let mut records = calls(8);
    records[3].end = 0;
    let kept = lost::leave_out_lost(&mut records, [132, 134]);
    assert_eq!(begins(&records[..kept]), [100, 110, 120, 150, 160, 170]);
    // Before all of them: only the first can have been half stored.
    let kept = lost::leave_out_lost(&mut calls(3), [50, 60]);
    assert_eq!(kept, 2);
    // After all of them.
    let kept = lost::leave_out_lost(&mut calls(3), [500, 600]);
    assert_eq!(kept, 2);
}

#[test]
fn a_record_after_lost_ones_is_left_out_wherever_the_loss_began() {
    // The file was emptied and made as long as before at 138, which is noticed at 500: the call at 140 has lost all but its begin.
    let mut records = calls(8);
    records[..4].fill(EMPTY);
    records[4] = Record { begin: 140, end: 145, ..EMPTY };
    let kept = lost::leave_out_lost(&mut records, [500, 600]);
    assert_eq!(begins(&records[..kept]), [150, 160]);
    // All are gone.
    assert_eq!(lost::leave_out_lost(&mut [EMPTY; 5], [500, 600]), 0);
    assert_eq!(lost::leave_out_lost(&mut [], [500, 600]), 0);
}

#[test]
fn records_that_cannot_be_are_left_out() {
    let mut records = calls(8);
    // Of no operation; that ends before it begins; that begins before the one before it ended.
    records[1].operation = 0;
    records[2].end = 1;
    records[3].begin = 90;
    let kept = lost::leave_out_lost(&mut records, [1000, 1001]);
    assert_eq!(begins(&records[..kept]), [100, 140, 150, 160]);
}

#[test]
fn a_lost_page_shows_in_its_first_or_last_slot() {
    let whole = calls(200);
    assert!(!lost::has_lost_pages(&whole) && !lost::has_lost_pages(&[]));
    for lost in [0..64, 64..128, 100..128, 128..200, 150..200] {
        let mut records = whole.clone();
        records[lost.clone()].fill(EMPTY);
        assert!(lost::has_lost_pages(&records), "{lost:?}");
    }
}

#[test]
fn slots_of_calls_that_never_began_are_left_out() {
    let mut records = calls(4);
    records[2] = Record { end: 7, ..EMPTY };
    let kept = lost::leave_out_unbegun(&mut records);
    assert_eq!(begins(&records[..kept]), [100, 110, 130]);
    assert_eq!(records[3].end, 0);
}
