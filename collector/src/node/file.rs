//! A node file as a reader has it: opened once, with the places of all ranks' parts.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::node::chain::{FrameChain, LogExtent};
use crate::node::frame::OF_NO_RANK;
use crate::node::scan::{FrameScan, ScanItem, SkippedBytes, ValidFrame};
use crate::words::SystemError;

/// A rank's log in a node file: of which run, which rank. Frames of several runs in one file are several logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogId {
    /// Rank in MPI_COMM_WORLD.
    pub rank: u32,
    /// The run's id.
    pub run_id: u64,
}

/// A node file.
#[derive(Debug)]
pub struct NodeFile {
    path: PathBuf,
    file: File,
    index: Mutex<NodeFileIndex>,
}

/// Places without frames that are noted each: a file may have as many as it has bytes, and what is noted and reported of one takes hundreds.
const MOST_SKIPPED: usize = 1 << 12;

/// The index of the ranks' parts.
#[derive(Debug, Default)]
struct NodeFileIndex {
    /// Up to where the file was looked at.
    scanned: u64,
    logs: BTreeMap<LogId, Vec<ValidFrame>>,
    /// Bytes that are no frame: the first [`MOST_SKIPPED`] places; how many more there are, and their bytes.
    skipped: Vec<SkippedBytes>,
    more_skipped: (u64, u64),
    /// The begin of a frame at the end of the file: cut off, or still being written.
    tail: Option<SkippedBytes>,
    /// Why the rest could not be read.
    error: Option<String>,
}

impl NodeFileIndex {
    /// Looks at what the file has from where it was looked at last.
    fn extend(&mut self, file: &File) {
        if let Err(error) = self.extend_or_fail(file) {
            self.error = Some(SystemError(&error).to_string());
        }
    }

    fn extend_or_fail(&mut self, file: &File) -> io::Result<()> {
        self.tail = None;
        let mut scan = FrameScan::new(file, self.scanned)?;
        let mut unfinished = None;
        while let Some(found) = scan.next_found()? {
            // What ends the file may be finished later; whatever comes after it shows that it is not.
            if let Some(skipped) = unfinished.take() {
                self.skip(skipped);
            }
            match found {
                ScanItem::Frame(frame) => {
                    self.scanned = frame.at + u64::from(frame.head.length);
                    if frame.head.rank != OF_NO_RANK {
                        let id = LogId { rank: frame.head.rank, run_id: frame.head.run_id };
                        let frames = self.logs.entry(id).or_default();
                        // An empty frame says only that the rank is there.
                        frames.extend(Some(frame).filter(|frame| frame.head.length > 0));
                    }
                }
                ScanItem::Skipped(skipped) if skipped.is_cut => unfinished = Some(skipped),
                ScanItem::Skipped(skipped) => {
                    self.scanned = skipped.at + skipped.bytes;
                    self.skip(skipped);
                }
            }
        }
        self.tail = unfinished;
        Ok(())
    }

    fn skip(&mut self, skipped: SkippedBytes) {
        if self.skipped.len() < MOST_SKIPPED {
            self.skipped.push(skipped);
        } else {
            let (places, bytes) = &mut self.more_skipped;
            (*places, *bytes) = (*places + 1, bytes.saturating_add(skipped.bytes));
        }
    }
}

/// Damage to a node file, besides the damage reported of its ranks' logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeFileDamage {
    /// Bytes that are no part of any rank's log.
    Skipped(SkippedBytes),
    /// Bytes that are no frame, beyond the first places that have such.
    MoreSkipped {
        /// Number of damaged places.
        places: u64,
        /// Their bytes together.
        bytes: u64,
    },
    /// The file could not be read to its end.
    Unreadable(String),
}

impl NodeFile {
    /// Opens the node file at `path` and finds the parts of logs in it.
    ///
    /// Errors: what the system says.
    pub fn open(path: &Path, file: File) -> io::Result<NodeFile> {
        let mut index = NodeFileIndex::default();
        index.extend_or_fail(&file)?;
        Ok(NodeFile { path: path.to_path_buf(), file, index: Mutex::new(index) })
    }

    /// The first part of a log that stands at a log's begin, which is its header: the file is read up to there. `None`: there is none.
    ///
    /// Errors: what the system says.
    pub fn first_log_header(file: &File) -> io::Result<Option<Vec<u8>>> {
        let mut scan = FrameScan::new(file, 0)?;
        while let Some(found) = scan.next_found()? {
            if let ScanItem::Frame(ValidFrame { head, at }) = found
                && (head.offset, head.rank == OF_NO_RANK) == (0, false)
                && head.length > 0
            {
                let mut bytes = vec![0; head.length as usize];
                file.read_exact_at(&mut bytes, at)?;
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its name.
    pub fn name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The name of the log of `rank` in errors.
    pub fn name_of_log(&self, rank: u32) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(", rank {rank}"));
        name.into()
    }

    /// The logs in it, in ascending order.
    pub fn logs(&self) -> Vec<LogId> {
        self.index().logs.keys().copied().collect()
    }

    /// Looks for what was appended since: a job may be running.
    pub fn look_again(&self) {
        let mut index = self.index();
        if self.file.metadata().is_ok_and(|facts| facts.len() > index.scanned) {
            index.extend(&self.file);
        }
    }

    /// The damage of the file as a whole, and of parts of it that no rank's log accounts for.
    pub fn damage(&self) -> Vec<NodeFileDamage> {
        let index = self.index();
        let mut chains = BTreeMap::new();
        let skipped = index.skipped.iter().chain(&index.tail).filter(|skipped| {
            let Some(head) = skipped.claim else { return true };
            let id = LogId { rank: head.rank, run_id: head.run_id };
            let Some(frames) = index.logs.get(&id) else { return true };
            let chain = chains.entry(id).or_insert_with(|| FrameChain::from_frames(frames));
            // A part that was written again, one that the rank's log lacks, or the unfinished end of it: that is reported with the log.
            !(skipped.is_cut && head.offset <= chain.end() || chain.is_missing(head.offset))
        });
        let mut damage: Vec<NodeFileDamage> = skipped.copied().map(NodeFileDamage::Skipped).collect();
        let (places, bytes) = index.more_skipped;
        damage.extend((places > 0).then_some(NodeFileDamage::MoreSkipped { places, bytes }));
        damage.extend(index.error.clone().map(NodeFileDamage::Unreadable));
        damage
    }

    /// A reader of the log `id`, from its begin.
    pub fn read(self: &Arc<Self>, id: LogId) -> FrameReader {
        let index = self.index();
        let chain = index.logs.get(&id).map(|frames| FrameChain::from_frames(frames)).unwrap_or_default();
        let mut cut = index.tail.iter().chain(&index.skipped).filter(|skipped| skipped.is_cut);
        let unfinished = cut.find(|skipped| {
            let claim = skipped.claim.map(|head| (head.rank, head.run_id, head.offset));
            claim == Some((id.rank, id.run_id, chain.end()))
        });
        let unfinished = unfinished.copied();
        drop(index);
        FrameReader { node: self.clone(), chain, unfinished, next: 0, within: 0 }
    }

    fn index(&self) -> MutexGuard<'_, NodeFileIndex> {
        // Nothing in it is ever half changed but for frames that are missing.
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a rank's log from its parts in a node file.
#[derive(Debug)]
pub struct FrameReader {
    node: Arc<NodeFile>,
    chain: FrameChain,
    unfinished: Option<SkippedBytes>,
    /// The part that is read next, and from which of its bytes on.
    next: usize,
    within: u32,
}

impl FrameReader {
    /// The log as its frames give it.
    pub fn parts(&self) -> &FrameChain {
        &self.chain
    }

    /// The begin of a frame that would follow the log's end.
    pub fn unfinished(&self) -> Option<SkippedBytes> {
        self.unfinished
    }

    /// Fills `bytes` with those of the log from `at` on.
    ///
    /// Errors: what the system says; UnexpectedEof where there are not as many.
    pub fn read_exact_at(&self, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
        let parts = &self.chain.parts;
        let mut next = parts.partition_point(|part| part.offset + u64::from(part.length) <= at);
        while !bytes.is_empty() {
            let part = parts.get(next).filter(|part| part.offset <= at).ok_or(io::ErrorKind::UnexpectedEof)?;
            let within = at - part.offset;
            let n = bytes.len().min((u64::from(part.length) - within) as usize);
            let (now, later) = bytes.split_at_mut(n);
            self.node.file.read_exact_at(now, part.at + within)?;
            (bytes, at, next) = (later, at + n as u64, next + 1);
        }
        Ok(())
    }

    /// The file that it is read from.
    pub fn node(&self) -> &NodeFile {
        &self.node
    }
}

impl Read for FrameReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(&LogExtent { at, length, .. }) = self.chain.parts.get(self.next) else { return Ok(0) };
        let wanted = buffer.len().min((length - self.within) as usize);
        let read = self.node.file.read_at(&mut buffer[..wanted], at + u64::from(self.within))?;
        self.within += read as u32;
        if self.within == length {
            (self.next, self.within) = (self.next + 1, 0);
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::node::frame::frame_into;

    #[test]
    fn a_file_of_wrong_bytes_and_empty_frames_takes_no_more_memory_than_it_has_bytes() {
        const PLACES: u64 = 3 * MOST_SKIPPED as u64;
        let (mut empty, mut bytes) = (Vec::new(), Vec::new());
        assert!(frame_into(&mut empty, 7, 3, 0, &[]));
        (0..PLACES).for_each(|_| bytes.extend([&[1], empty.as_slice()].concat()));
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let node = NodeFile::open(Path::new("node-000000.lbp"), file).unwrap();
        assert_eq!(node.logs(), [LogId { rank: 3, run_id: 7 }]);
        let damage = node.damage();
        let index = node.index();
        let frames: usize = index.logs.values().map(Vec::capacity).sum();
        let kept = frames * size_of::<ValidFrame>() + index.skipped.capacity() * size_of::<SkippedBytes>();
        assert!(kept < bytes.len(), "{kept} bytes for {}", bytes.len());
        // Each is counted, whether it is listed or not.
        let more =
            NodeFileDamage::MoreSkipped { places: PLACES - MOST_SKIPPED as u64, bytes: PLACES - MOST_SKIPPED as u64 };
        assert_eq!((damage.len(), damage.last()), (MOST_SKIPPED + 1, Some(&more)));
    }
}
