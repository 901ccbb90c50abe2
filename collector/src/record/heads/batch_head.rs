//! The position of a batch of records in a thread's regions.

use bincode::{Decode, Encode};
use serde::Serialize;

/// Most regions that are open at a time in a thread; the recorder opens no more.
pub const MAX_OPEN_REGIONS: usize = 128;

/// A region open at some point of a thread's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct OpenRegion {
    /// Id of the region.
    pub region: u32,
    /// Its iteration, or [`crate::record::NONE`].
    pub iteration: u32,
}

/// The position of a batch of a thread's records: enough to read it without the batches before it.
#[derive(Clone, Debug, PartialEq, Eq, Default, Encode, Decode, Serialize)]
pub struct BatchHead {
    /// Number of the thread in this log; 0 is the one that called MPI_Init.
    pub thread: u32,
    /// Sequence number of the first record, counted by thread from 0.
    pub first: u64,
    /// End of the thread's record before the first, or the ticks at which the thread began to record.
    pub previous_end: u64,
    /// Regions open before the first record, outermost first, without region 0.
    pub open: Vec<OpenRegion>,
    /// True if recording was paused before the first record.
    pub paused: bool,
}
