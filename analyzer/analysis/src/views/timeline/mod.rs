//! Ranks × time: what ranks do in each bin of time, the longest waits, messages, and of short runs each call.
//!
//! ```text
//!   follow ─→ watch.rs ─┬→ shares.rs    states × rows × bins
//!                       ├→ region_shares.rs  regions × bins, all ranks together
//!                       ├→ longest.rs   the longest waits and messages
//!                       ├→ blocked.rs   waiting by row and iteration
//!                       └→ spans, where there are few calls
//! ```

mod blocked;
mod longest;
mod observer;
mod region_shares;
mod shares;

use std::collections::HashMap;

use bincode::{Decode, Encode};
use lbprof_collector::record::NONE;

use super::{StackCourse, ValueMatrix};
use crate::model::code::region_state::Ns;
use crate::model::replayed::statistics;
pub use crate::model::replayed::statistics::{STATES, state_name};
use crate::model::{Model, RegionIdx};
use crate::structure::code::symbols::CodePlace;
use lbprof_collector::words::GroupedNumber;
pub use observer::{TimelineObservations, TimelineObserver};

/// The state of waiting.
pub const WAITING: u8 = statistics::WAITING as u8;

/// The observations of a replay for a timeline. Times are nanoseconds from the begin of the run's window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimelineView {
    /// End of the run's window.
    pub end: Ns,
    /// Number of bins into which the window is cut.
    pub bins: usize,
    /// The share of each bin's time that a row's ranks are in a state, in 255ths, by row and bin; of states that occur, by number.
    pub shares: Vec<(u8, Vec<u8>)>,
    /// In which regions the ranks are.
    pub regions: RegionCourse,
    /// The longest waits, the longest first.
    pub waits: Vec<WaitSeen>,
    /// Number of waits in all.
    pub all_waits: u64,
    /// Messages, those that ended waits first, each kind by how long they were in transit, the longest first.
    pub messages: Vec<MessageSeen>,
    /// Number of messages in all.
    pub all_messages: u64,
    /// Activities of each rank, by rank and time; `None` where there is too much of it.
    pub spans: Option<Vec<SpanSeen>>,
    /// Instances of parallel regions, and the time of each of their threads where the log has it, the longest first.
    pub teams: Vec<TeamSeen>,
    /// Number of them in all.
    pub all_teams: u64,
    /// Seconds of waiting by row and column of iterations, summed; `None` where no main loop is known.
    pub blocked: Option<ValueMatrix>,
    /// The code that ranks are in, by samples; `None` where there are none.
    pub stacks: Option<StackCourse>,
}

/// In which regions the ranks are over time, all ranks together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RegionCourse {
    /// Number of bins into which the window is cut.
    pub bins: usize,
    /// The regions in which most time is spent, by number.
    pub regions: Vec<RegionIdx>,
    /// The share of the ranks' time in a bin, in 255ths, by region and bin; the last row is of all other regions. Empty if nothing was seen.
    pub share: Vec<u8>,
}

/// A wait.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub struct WaitSeen {
    /// Number of the rank.
    pub rank: u32,
    /// Begin of the wait.
    pub begin: Ns,
    /// End of the wait.
    pub end: Ns,
    /// Why.
    pub state: crate::model::replayed::waits::WaitState,
    /// Region of the wait.
    pub region: RegionIdx,
    /// Index of the call site; NONE where there is none.
    pub site: u32,
    /// Number of the rank that ended it last; NONE: none did.
    pub delay_source: u32,
}

/// A message.
pub type MessageSeen = crate::replay::MatchedMessage;

/// An interval of a rank in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct SpanSeen {
    /// Number of the rank.
    pub rank: u32,
    /// Begin of the wait.
    pub begin: Ns,
    /// End of the wait.
    pub end: Ns,
    /// State of the rank.
    pub state: u8,
    /// Region of the wait.
    pub region: RegionIdx,
    /// Index of the call site; NONE where there is none.
    pub site: u32,
}

/// An instance of a parallel region, or the time of a thread of its team in it.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub struct TeamSeen {
    /// Number of the rank.
    pub rank: u32,
    /// Number of the thread in the team; NONE: the instance, on the thread that starts it.
    pub thread: u32,
    /// Begin of it.
    pub begin: Ns,
    /// End of it.
    pub end: Ns,
    /// Index of the call site that stands for the region; NONE where it is not known.
    pub site: u32,
    /// Threads of the team; 0: of the time of a thread.
    pub team: u32,
    /// Work of the thread; 0: of an instance.
    pub useful: Ns,
}

impl TimelineView {
    /// Describes what was reduced, a sentence each.
    pub fn reduced(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let bounded = [
            (self.waits.len() as u64, self.all_waits, "waits, the longest"),
            (
                self.messages.len() as u64,
                self.all_messages,
                "messages, those that ended waits and were longest in transit first",
            ),
            (
                self.teams.len() as u64,
                self.all_teams,
                "instances of parallel regions and of their threads, the longest",
            ),
        ];
        for (shown, all, what) in bounded.into_iter().filter(|(shown, all, _)| shown < all) {
            notes.push(format!("{} of {} {what}", GroupedNumber(shown), GroupedNumber(all)));
        }
        if self.spans.is_none() {
            let bin_s = self.end as f64 * 1e-9 / self.bins.max(1) as f64;
            notes.push(format!("the timeline in steps of {}", lbprof_collector::words::format_seconds(bin_s)));
        }
        notes
    }
}

/// Names of what a timeline refers to, each once.
#[derive(Clone, Debug, Default)]
pub struct TimelineNames<'a> {
    regions: HashMap<RegionIdx, u32>,
    sites: HashMap<u32, u32>,
    /// Paths of the regions that were asked for.
    pub region_paths: Vec<&'a str>,
    /// Labels of the call sites that were asked for.
    pub site_labels: Vec<String>,
}

impl<'a> TimelineNames<'a> {
    /// The place of a region's path; NONE where the model does not have it.
    pub fn region(&mut self, model: &'a Model, idx: RegionIdx) -> u32 {
        let Some(region) = model.regions.get(idx as usize) else { return NONE };
        *self.regions.entry(idx).or_insert_with(|| {
            self.region_paths.push(&region.path);
            self.region_paths.len() as u32 - 1
        })
    }

    /// The place of a call site's label; NONE where it is not known.
    pub fn site(&mut self, places: &[CodePlace], site: u32) -> u32 {
        let Some(place) = places.get(site as usize) else { return NONE };
        *self.sites.entry(site).or_insert_with(|| {
            self.site_labels.push(place.label());
            self.site_labels.len() as u32 - 1
        })
    }
}
