//! The phases that a thread has open.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;
use lbprof_collector::format::OpenRegion;

use crate::system::clock::ticks;

/// A phase that the program has open.
#[derive(Clone)]
pub struct OpenPhase {
    /// Its region, and which iteration of that it is.
    pub region: OpenRegion,
    /// Its name.
    pub name: Arc<str>,
    /// Time at which it was begun, in ticks.
    pub begun: u64,
}

/// A thread's open phases.
///
/// While recording is paused the program goes on to begin and end phases. These are followed, but leave no records; what
/// has changed when recording goes on is written then ([`crate::markers::stack::catch_up`]), with the times of the changes.
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
    /// The regions that are open by the records so far, outermost first.
    pub fn open(&self) -> Vec<OpenRegion> {
        self.recorded.clone()
    }

    /// From here on there are no records.
    pub fn pause(&mut self) {
        self.ended = Some(Vec::new());
    }

    /// Returns whether recording is paused.
    pub fn paused(&self) -> bool {
        self.ended.is_some()
    }

    /// The number of records that `catch_up` would write.
    pub fn changes_in_pause(&self) -> usize {
        let ended = self.ended.as_ref().map_or(0, Vec::len);
        (ended + self.stack.len() + ended).saturating_sub(self.recorded.len())
    }

    /// The innermost open region; 0, the whole program, where none is.
    pub fn innermost(&self) -> u32 {
        self.stack.last().map_or(0, |phase| phase.region.region)
    }

    /// A phase ends while recording is paused.
    pub fn pop_unrecorded(&mut self) {
        self.stack.pop();
        if let Some(ended) = self.ended.as_mut()
            && self.stack.len() + ended.len() < self.recorded.len()
        {
            ended.push(ticks());
        }
    }
}
