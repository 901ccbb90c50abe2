//! Any bytes are read as a log without a panic: as they are, with their checksums made right (start from real logs for that),
//! and as what blocks hold after a header that is whole (that needs no start).
#![no_main]

use lbprof_collector::format::{BlockHead, MAX_RECORDS};
use lbprof_collector::fold::ProfileFold;
use lbprof_collector::sample::MAX_SAMPLES;
use lbprof_collector::reader::{LogItem, LogReader};
use lbprof_simulator::scenario::{self, mend_checksums};
use lbprof_collector::writer::LogWriter;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    let mut mended = bytes.to_vec();
    mend_checksums(&mut mended);
    let found = read(&mended);
    assert_eq!(read(&mended), found, "reading is not the same each time");
    read(&as_blocks(bytes));
});

fn as_blocks(mut bytes: &[u8]) -> Vec<u8> {
    let header = scenario::header(0, 1);
    let mut log = LogWriter::new(Vec::new(), &header).expect("memory takes all").into_sink();
    while let Some((&[kind, low, high, tail], rest)) = bytes.split_first_chunk() {
        let plain = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
        let stored = (plain + usize::from(tail)).min(rest.len());
        let (payload, rest) = rest.split_at(stored);
        let head = BlockHead { kind: kind % 5, stored: stored as u32, frame: 0, plain: plain as u32, crc: 0 };
        log.extend(BlockHead { crc: head.checksum(payload), ..head }.to_bytes());
        log.extend_from_slice(payload);
        bytes = rest;
    }
    log
}

fn read(log: &[u8]) -> (usize, usize) {
    let Ok(mut reader) = LogReader::new(log) else { return (0, 0) };
    let (mut n_records, mut n_items) = (0, 0);
    let mut fold: Option<ProfileFold> = None;
    while let Some(item) = reader.next_item() {
        n_items += 1;
        match item {
            LogItem::Records { head, records } => {
                assert!(!records.is_empty() && records.len() <= MAX_RECORDS);
                n_records += records.len();
                let fold = fold.get_or_insert_with(|| ProfileFold::new(head.clone()));
                fold.skip_to(&head);
                fold.records(&records, |record| record.call_site);
            }
            LogItem::Profile(batch) => fold.get_or_insert_with(|| ProfileFold::new(batch.head.clone())).absorb(&batch),
            LogItem::Samples { samples, .. } => assert!(!samples.is_empty() && samples.len() <= MAX_SAMPLES),
            LogItem::Definitions(_) | LogItem::Problem(_) | LogItem::Polls(_) | LogItem::Summary(_) => {}
        }
    }
    if let Some(mut fold) = fold {
        assert!(fold.take().profile.records >= n_records as u64);
    }
    (n_records, n_items)
}
