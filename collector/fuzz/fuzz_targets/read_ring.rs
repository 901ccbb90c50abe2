//! Any bytes are the ring of a killed rank or not, without a panic: as they are, and as head and slots after a magic and a
//! version that hold.
#![no_main]

use lbprof_collector::format::VERSION;
use lbprof_collector::ring::{HEAD_BYTES, MAGIC};
use lbprof_collector::salvage;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    let (head, slots) = bytes.split_at(bytes.len() / 2);
    let head = &head[..head.len().min(HEAD_BYTES - 12)];
    let mut ring = [&MAGIC, &u32::from(VERSION).to_le_bytes()[..], head].concat();
    ring.resize(HEAD_BYTES, 0);
    ring.extend_from_slice(slots);
    assert!(read(&ring), "magic and version are those of a ring");
});

fn read(ring: &[u8]) -> bool {
    let Some(found) = salvage::parse_ring(ring) else { return false };
    assert!(found.records.len() <= ring.len() / 64);
    assert!(found.records.iter().all(|record| record.begin != 0));
    true
}
