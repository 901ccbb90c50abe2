//! Messages between the ranks of a host in MPI_Init, and their bytes ([`crate::run::peers`]). A socket may send anything.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

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
    pub const BYTES: usize = 9;

    pub fn encoded(self) -> [u8; Self::BYTES] {
        let [r0, r1, r2, r3] = self.rank.to_le_bytes();
        let [c0, c1, c2, c3] = self.clock.to_le_bytes();
        [r0, r1, r2, r3, u8::from(self.wanted), c0, c1, c2, c3]
    }

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
    pub run_id: u64,
    /// The clock of the rank that made the folder, where it was found by the job's key.
    pub clock: Option<i32>,
}

/// Encodes the offer of the leader of a host to the other ranks on it: the folder, or `None` if nothing is recorded.
pub fn encode_offer(offer: Option<&RunDirectory>) -> Vec<u8> {
    let Some(RunDirectory { dir, run_id, clock }) = offer else { return Vec::new() };
    let (run_id, clock) = (run_id.to_le_bytes(), clock.unwrap_or_default().to_le_bytes());
    [&run_id[..], &clock, dir.as_os_str().as_bytes()].concat()
}

/// Decodes the leader's offer. No bytes are none.
pub fn decode_offer(bytes: &[u8]) -> Option<RunDirectory> {
    let (run_id, rest) = bytes.split_first_chunk()?;
    let (clock, dir) = rest.split_first_chunk()?;
    let dir = PathBuf::from(OsString::from_vec(dir.to_vec()));
    let (run_id, clock) = (u64::from_le_bytes(*run_id), Some(i32::from_le_bytes(*clock)));
    Some(RunDirectory { dir, run_id, clock })
}

/// Encodes the ranks that measure their clocks, or `None` if ranks of one host compare theirs with the folder maker's.
pub fn encode_measurers(ranks: Option<&[u32]>) -> Vec<u8> {
    let Some(ranks) = ranks else { return vec![0] };
    [1].into_iter().chain(ranks.iter().flat_map(|rank| rank.to_le_bytes())).collect()
}

/// Decodes the ranks that measure their clocks. No bytes are no ranks: the leader is gone.
pub fn decode_measurers(bytes: &[u8]) -> Option<Vec<u32>> {
    match bytes.split_first() {
        Some((0, _)) => None,
        Some((_, ranks)) => Some(ranks.as_chunks().0.iter().map(|&rank| u32::from_le_bytes(rank)).collect()),
        None => Some(Vec::new()),
    }
}

/// Reads a message: its length, then its bytes.
///
/// Errors: InvalidData if it is too long to be one.
pub fn receive_message(stream: &mut impl Read) -> io::Result<Vec<u8>> {
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

/// Returns the bytes of a message, to be read by [`receive_message`].
pub fn frame_message(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u32).to_le_bytes(), message].concat()
}
