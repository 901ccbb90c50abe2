//! The source of the bytes of a rank's log: its own file, or a node file.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use crate::log_paths::{LogPlace, open_file};
use crate::node::file::FrameReader;
use crate::problem::{Problem, ProblemKind};
use crate::reader::{LogReader, OpenError};
use crate::sparse_file::DataOnly;
use crate::words::CountedNoun;

/// The bytes of a rank's log.
pub(crate) enum LogSource {
    /// Of its own file.
    File(DataOnly),
    /// Of its parts in a node file.
    Frames(FrameReader),
}

impl LogSource {
    /// Opens the log at `place`. `may_run`: its rank may be writing still.
    pub(crate) fn open(place: &LogPlace, may_run: bool) -> Result<LogReader<LogSource>, OpenError> {
        match place {
            LogPlace::File(path) => {
                let file = open_file(path).map_err(|source| OpenError::Io { path: path.clone(), source })?;
                LogReader::named(LogSource::File(DataOnly::new(file)), path)
            }
            LogPlace::Node(node, id) => {
                if may_run {
                    node.look_again();
                }
                let name = node.name_of_log(id.rank);
                let frames = node.read(*id);
                if frames.parts().is_missing(0) {
                    return Err(OpenError::Header { path: name, what: "the part with it is missing".to_owned() });
                }
                LogReader::named(LogSource::Frames(frames), &name)
            }
        }
    }

    /// The problems of the log of `rank` that its place shows before it is read.
    pub(crate) fn problems(&self, rank: u32) -> Vec<Problem> {
        let LogSource::Frames(frames) = self else { return Vec::new() };
        let (chain, name) = (frames.parts(), frames.node().name());
        let mut problems = Vec::new();

        if let Some((first, _)) = chain.gaps.first() {
            let bytes = chain.missing();
            let several = if chain.gaps.len() > 1 {
                format!(" and {} further places", chain.gaps.len() - 1)
            } else {
                String::new()
            };
            let detail = format!(
                "missing in {name}: {} of its log, from byte {first} of the log{several}",
                CountedNoun(bytes, "byte")
            );
            problems.push(Problem { kind: ProblemKind::Damaged, rank: Some(rank), count: bytes, detail });
        }
        if chain.in_conflict > 0 {
            let (kind, detail) = (ProblemKind::PartsInConflict, format!("in {name}"));
            problems.push(Problem { kind, rank: Some(rank), count: chain.in_conflict, detail });
        }
        problems
    }

    /// Returns the problems found after reading to the end.
    pub(crate) fn problems_at_end(&self, rank: u32) -> Vec<Problem> {
        let (kind, count, detail) = match self {
            LogSource::File(data) => {
                let hole = data.skipped();
                (ProblemKind::Damaged, hole, format!("a hole of {} in the log's file", CountedNoun(hole, "byte")))
            }
            LogSource::Frames(frames) => {
                let (at, bytes) = frames.unfinished().map_or((0, 0), |skipped| (skipped.at, skipped.bytes));
                let name = frames.node().name();
                let detail = format!("{} of an unfinished block from byte {at} of {name}", CountedNoun(bytes, "byte"));
                (ProblemKind::Truncated, bytes, detail)
            }
        };
        if count == 0 { Vec::new() } else { vec![Problem { kind, rank: Some(rank), count, detail }] }
    }
}

impl Read for LogSource {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            LogSource::File(data) => data.read(buffer),
            LogSource::Frames(frames) => frames.read(buffer),
        }
    }
}

/// The bytes of a log at any offset.
pub(crate) enum LogBytes {
    /// Of its own file.
    File(File),
    /// Of its parts in a node file.
    Frames(FrameReader),
}

impl LogBytes {
    /// The bytes of the log at `place`, and how many; `None` where parts of it are missing or in conflict.
    ///
    /// Errors: what the system says.
    pub(crate) fn open(place: &LogPlace) -> io::Result<Option<(Self, u64)>> {
        match place {
            LogPlace::File(path) => {
                let file = open_file(path)?;
                let length = file.metadata()?.len();
                Ok(Some((LogBytes::File(file), length)))
            }
            LogPlace::Node(node, id) => {
                let frames = node.read(*id);
                let chain = frames.parts();
                let (length, is_whole) = (chain.end(), chain.gaps.is_empty() && chain.in_conflict == 0);
                Ok((is_whole && frames.unfinished().is_none()).then_some((LogBytes::Frames(frames), length)))
            }
        }
    }

    /// Fills `bytes` with those from `at` on.
    ///
    /// Errors: what the system says; UnexpectedEof where there are not as many.
    pub(crate) fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        match self {
            LogBytes::File(file) => file.read_exact_at(bytes, at),
            LogBytes::Frames(frames) => frames.read_exact_at(bytes, at),
        }
    }
}
