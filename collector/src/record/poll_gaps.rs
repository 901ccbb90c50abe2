//! Long gaps between a thread's unsuccessful polls where the log has sums alone.
//!
//! The recorder counts them as computation when it folds records into a profile: how the thread spends them is known only when all of its CPU time is
//! ([`crate::gap_use`]). So it writes with each profile how much of the computation lies in such gaps and which call goes on after them, and the reader puts their
//! time there if they turn out to be waiting ([`crate::settled_gaps`]).

use bincode::{Decode, Encode};

use crate::gap_use::{GapSums, PolledSite};
use crate::record::{NONE, Record};

/// The place of a thread's call.
#[derive(Clone, Copy, Debug)]
pub struct CallPlace {
    /// Id of the innermost open region.
    pub region: u32,
    /// Its iteration, or [`NONE`].
    pub iteration: u32,
    /// Id of the call site; `u64::MAX`: none.
    pub call_site: u64,
}

impl CallPlace {
    /// Place of a call of which nothing is known.
    pub(crate) const UNKNOWN: CallPlace = CallPlace { region: 0, iteration: NONE, call_site: u64::MAX };

    /// The place to which a gap before a record here belongs.
    pub(crate) fn next_call(&self, record: &Record) -> NextCall {
        NextCall {
            region: self.region,
            call_site: self.call_site as u32,
            operation: record.operation,
            activity: record.activity() as u8,
        }
    }
}

/// The call after a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub struct NextCall {
    /// Id of the region.
    pub region: u32,
    /// Id of the call site, or [`NONE`].
    pub call_site: u32,
    /// Number of the operation.
    pub operation: u16,
    /// Number of the activity.
    pub activity: u8,
}

/// Between which calls a gap lies, and in which iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub struct GapPlace {
    /// Site of the poll before it.
    pub site: PolledSite,
    /// The call that goes on after it.
    pub next: NextCall,
    /// Iteration of the innermost enclosing iterated region, or [`NONE`].
    pub iteration: u32,
}

/// The gaps at one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct PlacedGaps {
    /// Sums over all gaps.
    pub sums: GapSums,
    /// The ticks that counted as computation, and may turn out to be waiting.
    pub computation: u64,
    /// Gaps that counted as computation, but may be waiting.
    pub maybe_waiting: u64,
}

/// The gaps of the polls in a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct ProfileGaps {
    /// Number of the thread.
    pub thread: u32,
    /// Sequence number of the first record in the profile.
    pub first: u64,
    /// The gaps by place.
    pub gaps: Vec<(GapPlace, PlacedGaps)>,
}
