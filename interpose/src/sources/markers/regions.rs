//! The regions and counters that the log knows, by name.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use foldhash::fast::FixedState;
use lbprof_collector::definition::{Definition, Region, RegionKind};
use lbprof_collector::problem::ProblemKind;

use crate::harmless::guard;
use crate::harmless::signals::HandlerLock;
use crate::log;

const MAX_REGIONS: u32 = 1 << 16;

#[derive(Default)]
struct MarkerNames {
    /// Ids by parent, then by name.
    regions: HashMap<u32, HashMap<Arc<str>, u32, FixedState>, FixedState>,
    counters: HashMap<String, u32, FixedState>,
}

static NAMES: HandlerLock<Option<MarkerNames>> = HandlerLock::new(None);
static NEXT_REGION: AtomicU32 = AtomicU32::new(1);

/// Returns the id of region `name` inside `parent`, and its name to keep. Defines a new region in the log. If there are too many, the id is
/// the parent's.
pub fn intern_region(parent: u32, name: &str, kind: RegionKind, iterated: bool) -> (u32, Arc<str>) {
    let Some(mut names) = NAMES.lock() else { return (parent, name.into()) };
    let inside = names.get_or_insert_default().regions.entry(parent).or_default();
    if let Some((name, &id)) = inside.get_key_value(name) {
        return (id, name.clone());
    }
    let kept: Arc<str> = name.into();
    let id = NEXT_REGION.load(Relaxed);
    if id >= MAX_REGIONS {
        let what = format_args!("more than {MAX_REGIONS} phases; further ones count to the phase around them");
        guard::report_problem(ProblemKind::TooMany, what);
        return (parent, kept);
    }
    NEXT_REGION.store(id + 1, Relaxed);
    inside.insert(kept.clone(), id);
    log::define_now(Definition::Region(Region { id, parent, name: name.to_owned(), kind, iterated }));
    (id, kept)
}

/// Returns the id of a counter, or `None` if recording has ended. Defines a new counter in the log.
pub fn intern_counter(name: &str) -> Option<u32> {
    let mut names = NAMES.lock()?;
    let names = names.get_or_insert_default();
    if let Some(&id) = names.counters.get(name) {
        return Some(id);
    }
    let id = names.counters.len() as u32;
    names.counters.insert(name.to_owned(), id);
    log::define_now(Definition::Counter(id, name.to_owned()));
    Some(id)
}
