//! Finds ids that a log refers to but does not define: their definitions were lost with its end.
//!
//! The log of a killed rank may end within a block whose records are all in its ring. That is no loss only if the block, and those
//! after it, held no definition that something refers to.

use rustc_hash::FxHashSet;

use crate::definition::{Definition, ObjectKind};
use crate::format::BatchHead;
use crate::operation::Operation;
use crate::profile::ProfileBatch;
use crate::reader::LogItem;
use crate::record::{NONE, Record};
use crate::sample::Sample;
use crate::states::Activity;

/// Ids that are remembered as missing. A hostile log has no more of them, and takes no more memory.
const MAX_MISSING: usize = 1 << 16;

/// Kinds of things that have ids of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum IdKind {
    Module,
    CallSite,
    Function,
    Region,
    Communicator,
    Group,
    Counter,
    Window,
    File,
    SampledThread,
    SampleCaller,
}

/// Ids that were referred to before they were defined.
#[derive(Debug, Default)]
pub(crate) struct UndefinedIds {
    defined: FxHashSet<(IdKind, u32)>,
    missing: FxHashSet<(IdKind, u32)>,
}

impl UndefinedIds {
    /// The number of ids that were never defined.
    pub(crate) fn count(&self) -> usize {
        self.missing.len()
    }

    /// Adds what an item defines, and what it refers to.
    pub(crate) fn add_item(&mut self, item: &LogItem) {
        match item {
            LogItem::Definitions(definitions) => self.add_definitions(definitions),
            LogItem::Records { head, records } => self.add_records(head, records),
            LogItem::Profile(batch) => self.refer_in_profile(batch),
            LogItem::Samples { head, samples } => {
                self.refer(IdKind::SampledThread, head.thread);
                self.refer_in_samples(samples);
            }
            LogItem::Summary(_) | LogItem::Problem(_) | LogItem::Polls(_) => {}
        }
    }

    /// Adds definitions, which may refer to others.
    pub(crate) fn add_definitions(&mut self, definitions: &[Definition]) {
        for definition in definitions {
            match definition {
                Definition::Module(module) => self.define(IdKind::Module, module.id),
                Definition::Function(function) => self.define(IdKind::Function, function.id),
                Definition::Group(group) => self.define(IdKind::Group, group.id),
                Definition::Counter(id, _) => self.define(IdKind::Counter, *id),
                Definition::SampledThread(thread) => self.define(IdKind::SampledThread, thread.id),
                Definition::CallSite(site) => {
                    self.define(IdKind::CallSite, site.id);
                    self.refer(IdKind::Module, site.module);
                    self.refer(IdKind::CallSite, site.parent);
                    self.refer(IdKind::Function, site.function);
                }
                Definition::SampleCaller(caller) => {
                    self.define(IdKind::SampleCaller, caller.id);
                    self.refer(IdKind::Module, caller.module);
                    self.refer(IdKind::SampleCaller, caller.parent);
                    self.refer(IdKind::Function, caller.function);
                }
                Definition::Region(region) => {
                    self.define(IdKind::Region, region.id);
                    self.refer_to_region(region.parent);
                }
                Definition::Communicator(comm) => self.define(IdKind::Communicator, comm.id),
                Definition::Object(object) => {
                    let kind = match object.kind {
                        ObjectKind::Window => IdKind::Window,
                        ObjectKind::File => IdKind::File,
                    };
                    self.define(kind, object.id);
                    self.refer(IdKind::Communicator, object.comm);
                }
                Definition::SamplePlaces(places) => {
                    for run in &places.runs {
                        self.refer_to_region(run.region);
                    }
                }
                Definition::OffCore(times) => {
                    for run in &times.places {
                        self.refer_to_region(run.region);
                    }
                }
                Definition::ProfileGaps(found) => {
                    for place in &found.places {
                        self.refer_to_region(place.region);
                        self.refer(IdKind::CallSite, place.call_site);
                    }
                }
                Definition::ParallelSums(sums) => self.refer(IdKind::CallSite, sums.call_site),
                Definition::ThreadPool(pool) => self.refer(IdKind::CallSite, pool.routine),
                Definition::MutexSums(sums) => {
                    self.refer(IdKind::CallSite, sums.region);
                    self.refer(IdKind::CallSite, sums.call_site);
                }
                _ => {}
            }
        }
    }

    /// Adds what records refer to.
    pub(crate) fn add_records(&mut self, head: &BatchHead, records: &[Record]) {
        self.refer_in_head(head);
        for record in records {
            self.refer_in_record(record);
        }
    }

    fn refer_in_record(&mut self, record: &Record) {
        if record.is_call() || record.is_part() {
            self.refer(IdKind::Communicator, record.comm);
        }
        if record.has_call_site()
            && let Ok(site) = u32::try_from(record.call_site)
        {
            self.refer(IdKind::CallSite, site);
        }
        match (record.operation(), u32::try_from(record.tag)) {
            (Some(Operation::RegionEnter | Operation::RegionLeave), _) => self.refer_to_region(record.request),
            (Some(Operation::Counter), _) => self.refer(IdKind::Counter, record.request),
            (Some(operation), Ok(object)) if record.is_call() => match operation.activity() {
                Activity::OneSided => self.refer(IdKind::Window, object),
                Activity::Io => self.refer(IdKind::File, object),
                _ => {}
            },
            _ => {}
        }
    }

    fn refer_in_head(&mut self, head: &BatchHead) {
        for open in &head.open {
            self.refer_to_region(open.region);
        }
    }

    fn refer_in_profile(&mut self, batch: &ProfileBatch) {
        self.refer_in_head(&batch.head);
        self.refer_in_head(&batch.next);
        for (key, _) in &batch.profile.cells {
            self.refer_to_region(key.region);
        }
        for ((region, _), _) in &batch.profile.states {
            self.refer_to_region(*region);
        }
        for (key, _) in &batch.profile.sites {
            self.refer_to_region(key.region);
            self.refer(IdKind::CallSite, key.call_site);
        }
        for &((region, counter), _) in &batch.profile.counters {
            self.refer_to_region(region);
            self.refer(IdKind::Counter, counter);
        }
    }

    fn refer_in_samples(&mut self, samples: &[Sample]) {
        for sample in samples {
            self.refer(IdKind::Module, sample.location.module);
            self.refer(IdKind::SampleCaller, sample.call_path);
        }
    }

    fn define(&mut self, kind: IdKind, id: u32) {
        self.defined.insert((kind, id));
        self.missing.remove(&(kind, id));
    }

    /// Region 0 is the whole program, which no log defines.
    fn refer_to_region(&mut self, id: u32) {
        if id != 0 {
            self.refer(IdKind::Region, id);
        }
    }

    fn refer(&mut self, kind: IdKind, id: u32) {
        if id != NONE && !self.defined.contains(&(kind, id)) && self.missing.len() < MAX_MISSING {
            self.missing.insert((kind, id));
        }
    }
}
