//! Messages between the ranks of a host in MPI_Init, and their bytes ([`crate::run::peers`]). A socket may send anything.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// The introduction of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankIntroduction {
    /// Its rank in MPI_COMM_WORLD.
    pub rank: u32,
    /// True if it is to be recorded.
    pub wanted: bool,
    /// Number that is the same for ranks that read the same clock.
    pub clock: i32,
}

impl RankIntroduction {
    /// Bytes of the encoded peer.
    pub const BYTES: usize = 9;

    /// Encodes the introduction.
    pub fn encoded(self) -> [u8; Self::BYTES] {
        let [r0, r1, r2, r3] = self.rank.to_le_bytes();
        let [c0, c1, c2, c3] = self.clock.to_le_bytes();
        [r0, r1, r2, r3, u8::from(self.wanted), c0, c1, c2, c3]
    }

    /// The peer that these bytes state.
    pub fn decoded(bytes: [u8; Self::BYTES]) -> RankIntroduction {
        let [r0, r1, r2, r3, wanted, c0, c1, c2, c3] = bytes;
        let (rank, clock) = (u32::from_le_bytes([r0, r1, r2, r3]), i32::from_le_bytes([c0, c1, c2, c3]));
        RankIntroduction { rank, wanted: wanted != 0, clock }
    }
}

/// The directory of a run's logs, and the number that marks them as one run's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunDirectory {
    /// The folder, absolute.
    pub dir: PathBuf,
    /// The run's number.
    pub run_id: u64,
    /// The clock of the rank that made the folder, where it was found by the job's key.
    pub clock: Option<i32>,
}

/// The offer of the leader of a host to the others on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaderOffer {
    /// Nothing is recorded.
    Nothing,
    /// The folder.
    Place(RunDirectory),
}

impl LeaderOffer {
    /// Encodes the offer.
    pub fn encoded(&self) -> Vec<u8> {
        match self {
            LeaderOffer::Nothing => vec![0],
            LeaderOffer::Place(RunDirectory { dir, run_id, clock }) => {
                let mut bytes = vec![1];
                bytes.extend(run_id.to_le_bytes());
                bytes.extend(clock.unwrap_or_default().to_le_bytes());
                bytes.extend(dir.as_os_str().as_bytes());
                bytes
            }
        }
    }

    /// The offer that these bytes state. Without any there is nothing.
    pub fn decoded(bytes: &[u8]) -> LeaderOffer {
        match bytes.split_first() {
            Some((1, rest)) => decode_directory(rest).map_or(LeaderOffer::Nothing, LeaderOffer::Place),
            _ => LeaderOffer::Nothing,
        }
    }
}

fn decode_directory(bytes: &[u8]) -> Option<RunDirectory> {
    let (run_id, rest) = bytes.split_first_chunk()?;
    let (clock, dir) = rest.split_first_chunk()?;
    let dir = PathBuf::from(OsString::from_vec(dir.to_vec()));
    let (run_id, clock) = (u64::from_le_bytes(*run_id), Some(i32::from_le_bytes(*clock)));
    Some(RunDirectory { dir, run_id, clock })
}

/// The ranks that measure clocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClockMeasurer {
    /// Nobody: ranks of one host compare theirs with that of the folder's maker.
    Nobody,
    /// The given ranks, ascending.
    These(Vec<u32>),
}

impl ClockMeasurer {
    /// Encodes the measurers.
    pub fn encoded(&self) -> Vec<u8> {
        match self {
            ClockMeasurer::Nobody => vec![0],
            ClockMeasurer::These(ranks) => {
                [1].into_iter().chain(ranks.iter().flat_map(|rank| rank.to_le_bytes())).collect()
            }
        }
    }

    /// The conclusion that these bytes state. Without any the leader is gone.
    pub fn decoded(bytes: &[u8]) -> ClockMeasurer {
        match bytes.split_first() {
            Some((0, _)) => ClockMeasurer::Nobody,
            Some((_, ranks)) => {
                let (ranks, _) = ranks.as_chunks();
                ClockMeasurer::These(ranks.iter().map(|&rank| u32::from_le_bytes(rank)).collect())
            }
            None => ClockMeasurer::These(Vec::new()),
        }
    }
}

/// Reads a message: its length, then so many bytes.
///
/// Errors: those of `stream`; InvalidData where it is too long to be one.
pub fn receive(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    /// More than a path and the ranks of the largest machines need.
    const MAX_BYTES: u64 = 64 << 20;
    let mut length = [0u8; 4];
    stream.read_exact(&mut length)?;
    let mut message = Vec::new();
    let length = u64::from(u32::from_le_bytes(length));
    if length > MAX_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    stream.take(length).read_to_end(&mut message)?;
    if message.len() as u64 == length { Ok(message) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// The bytes of a message, to be read by [`receive`].
pub fn framed(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u32).to_le_bytes(), message].concat()
}
