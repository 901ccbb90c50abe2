//! Runs in node files: the same bytes of the ranks' logs, in the files of nodes.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use lbprof_collector::format::{
    BLOCK_HEAD_BYTES, BlockHead, PREAMBLE_BYTES, log_name, rank_and_thread_of_ring, rank_of_log, ring_name,
};
use lbprof_collector::node::frame::{OF_NO_RANK, frame_into, node_name, node_rings_name};
use lbprof_collector::node::rings::{first_words, piece_bytes};
use lbprof_collector::ring::{HEAD_BYTES, RINGS_HEAD_BYTES};

/// The frame of a part of a rank's log.
pub fn frame(run_id: u64, rank: u32, offset: u64, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    assert!(frame_into(&mut frame, run_id, rank, offset, payload), "a payload that a frame can hold");
    frame
}

/// The parts of a log as the recorder writes them: the header, then each block.
pub fn parts(log: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let length = log.get(10..14).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes);
    let (mut part, mut rest) = log.split_at((PREAMBLE_BYTES + length as usize).min(log.len()));
    while !part.is_empty() {
        parts.push(part);
        let head = rest.first_chunk::<BLOCK_HEAD_BYTES>().and_then(BlockHead::from_bytes);
        let bytes = head.map_or(rest.len(), |head| BLOCK_HEAD_BYTES + head.stored as usize);
        (part, rest) = rest.split_at(bytes.min(rest.len()));
    }
    parts
}

/// The node file of some ranks' logs, a part of each in turn; its first frame names the ranks.
pub fn node_file(run_id: u64, logs: &BTreeMap<u32, Vec<u8>>) -> Vec<u8> {
    let ranks: Vec<u8> = logs.keys().flat_map(|rank| rank.to_le_bytes()).collect();
    let mut file = frame(run_id, OF_NO_RANK, 0, &ranks);
    let mut left: Vec<_> = logs.iter().map(|(&rank, log)| (rank, 0, parts(log).into_iter())).collect();
    while !left.is_empty() {
        left.retain_mut(|(rank, offset, parts)| {
            let Some(part) = parts.next() else { return false };
            file.extend(frame(run_id, *rank, *offset, part));
            *offset += part.len() as u64;
            true
        });
    }
    file
}

/// The file of some rings, as their own files hold them.
pub fn rings_file(run_id: u64, rings: &[Vec<u8>]) -> Vec<u8> {
    let bytes = rings.iter().map(|ring| piece_bytes(ring.len().saturating_sub(HEAD_BYTES))).max().unwrap_or(4096);
    let mut file = first_words(bytes as u32, run_id).to_vec();
    file.resize(RINGS_HEAD_BYTES, 0);
    for (number, ring) in rings.iter().enumerate() {
        file.extend(ring);
        file.resize(RINGS_HEAD_BYTES + (number + 1) * bytes, 0);
    }
    file
}

/// Puts the ranks' files in `folder` into node files, `ranks_a_node` ranks in each.
///
/// Errors: what the system says.
pub fn into_node_files(folder: &Path, run_id: u64, ranks_a_node: u32) -> io::Result<()> {
    let (mut logs, mut rings) =
        (BTreeMap::<u32, BTreeMap<u32, Vec<u8>>>::new(), BTreeMap::<u32, BTreeMap<_, _>>::new());
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let path = folder.join(&name);
        if let Some(rank) = rank_of_log(&name) {
            assert_eq!(name, log_name(rank));
            logs.entry(rank / ranks_a_node).or_default().insert(rank, fs::read(&path)?);
        } else if let Some((rank, thread)) = rank_and_thread_of_ring(&name) {
            assert_eq!(name, ring_name(rank, thread));
            rings.entry(rank / ranks_a_node).or_default().insert((rank, thread), fs::read(&path)?);
        } else {
            continue;
        }
        fs::remove_file(path)?;
    }
    for (node, logs) in logs {
        fs::write(folder.join(node_name(node * ranks_a_node)), node_file(run_id, &logs))?;
    }
    for (node, rings) in rings {
        let rings: Vec<Vec<u8>> = rings.into_values().collect();
        fs::write(folder.join(node_rings_name(node * ranks_a_node)), rings_file(run_id, &rings))?;
    }
    Ok(())
}
