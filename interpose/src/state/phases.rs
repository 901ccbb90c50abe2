//! The phases that a thread has open.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;
use lbprof_collector::format::OpenRegion;

use crate::machine::system::clock::read_ticks;

#[derive(Clone)]
pub struct OpenPhase {
    /// Its region, and which iteration of that it is.
    pub region: OpenRegion,
    pub name: Arc<str>,
    /// Time at which it was begun, in ticks.
    pub begun: u64,
}

/// A thread's open phases.
///
/// While recording is paused the program goes on to begin and end phases. These are followed, but leave no records; the
/// changes are written when recording resumes ([`crate::sources::markers::stack::catch_up`]), with their times.
#[derive(Default)]
pub struct OpenPhases {
    /// The phases in the program, outermost first.
    pub stack: Vec<OpenPhase>,
    /// The phases in the records. Unless recording is paused, the same as `stack`.
    pub recorded: Vec<OpenRegion>,
    /// While paused: when the innermost of `recorded` was ended, then the one around it, and so on.
    pub ended: Option<Vec<u64>>,
    /// Iterations begun, by region.
    pub iterations: HashMap<u32, u32, FixedState>,
}

impl OpenPhases {
    /// Follows phases without records from here on.
    pub fn pause(&mut self) {
        self.ended = Some(Vec::new());
    }

    pub fn paused(&self) -> bool {
        self.ended.is_some()
    }

    /// Returns the number of records that `catch_up` would write.
    pub fn changes_in_pause(&self) -> usize {
        let ended = self.ended.as_ref().map_or(0, Vec::len);
        (ended + self.stack.len() + ended).saturating_sub(self.recorded.len())
    }

    /// Returns the innermost open region; 0, the whole program, if none is open.
    pub fn innermost(&self) -> u32 {
        self.stack.last().map_or(0, |phase| phase.region.region)
    }

    /// Ends a phase while recording is paused.
    pub fn pop_unrecorded(&mut self) {
        self.stack.pop();
        if let Some(ended) = self.ended.as_mut()
            && self.stack.len() + ended.len() < self.recorded.len()
        {
            ended.push(read_ticks());
        }
    }
}
