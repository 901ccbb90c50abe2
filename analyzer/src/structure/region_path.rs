//! The path of a rank's region, marked or found: what makes regions of several ranks the same.

use lbprof_collector::definition::RegionKind;

use crate::model::Region;
use crate::read::definitions::Definitions;
use crate::structure::{FoundRegion, Structure};

/// A part of a region's path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathPart {
    /// The region's own name.
    pub name: String,
    /// Its kind.
    pub kind: RegionKind,
    /// Whether its invocations are iterations.
    pub iterated: bool,
    /// Whether it was found in the calls, not marked.
    pub found: bool,
}

impl PathPart {
    /// That of a region of a model.
    pub fn of(region: &Region) -> Self {
        PathPart { name: region.name.clone(), kind: region.kind, iterated: region.iterated, found: region.found }
    }

    /// A region that was found, and whether it is iterated.
    fn found((name, iterated): (&str, bool)) -> Self {
        PathPart { name: name.to_owned(), kind: RegionKind::Useful, iterated, found: true }
    }
}

/// Region `number` of `rank`, whose log has these definitions, and those around it, outermost first, without the whole program.
pub fn region_path(structure: &Structure, definitions: &Definitions, rank: u32, number: u32) -> Vec<PathPart> {
    let in_loop = |at: Option<usize>| at.map_or_else(Vec::new, |at| loop_path(structure, at));
    let marked = |number: u32| marked_path(definitions, number);
    let segment = |segment: u32| PathPart::found((structure.segment_name(segment), false));
    match FoundRegion::of_number(number) {
        None => marked(number).collect(),
        Some(FoundRegion::Found { in_loop: at, segment: of }) => {
            in_loop(at).into_iter().chain(of.map(segment)).collect()
        }
        Some(FoundRegion::InMarked(region, of)) => marked(region).chain([segment(of)]).collect(),
        Some(FoundRegion::MarkedInLoop(region)) => {
            in_loop(structure.main_loop(rank)).into_iter().chain(marked(region)).collect()
        }
    }
}

/// A found loop and those around it, from the main loop on.
pub fn loop_path(structure: &Structure, at: usize) -> Vec<PathPart> {
    structure.loop_path(at).into_iter().map(PathPart::found).collect()
}

fn marked_path(definitions: &Definitions, number: u32) -> impl Iterator<Item = PathPart> {
    definitions.region_chain(number).into_iter().rev().map(|id| {
        let defined = definitions.regions.get(&id);
        let (kind, iterated) = defined.map_or((RegionKind::Useful, false), |region| (region.kind, region.iterated));
        PathPart { name: definitions.region_name(id), kind, iterated, found: false }
    })
}
