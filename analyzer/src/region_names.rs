//! The names of a rank's regions, marked or found, as they nest.

use crate::definitions::Definitions;
use crate::structure::{FoundRegion, Structure};

/// The names of region `number` of `rank` and of those around it, outermost first, without the whole program.
pub fn region_names(structure: &Structure, definitions: &Definitions, rank: u32, number: u32) -> Vec<String> {
    let marked = |number: u32| {
        let chain = definitions.region_chain(number);
        chain.into_iter().rev().map(|id| definitions.region_name(id)).collect::<Vec<String>>()
    };
    let in_loop = |at: Option<usize>| {
        let path = at.map_or_else(Vec::new, |at| structure.loop_path(at));
        path.into_iter().map(|(name, _)| name.to_owned()).collect::<Vec<String>>()
    };
    let segment = |segment: u32| structure.segment_name(segment).to_owned();
    match FoundRegion::of_number(number) {
        None => marked(number),
        Some(FoundRegion::Found { in_loop: at, segment: of }) => {
            in_loop(at).into_iter().chain(of.map(segment)).collect()
        }
        Some(FoundRegion::InMarked(region, of)) => marked(region).into_iter().chain([segment(of)]).collect(),
        Some(FoundRegion::MarkedInLoop(region)) => {
            in_loop(structure.main_loop(rank)).into_iter().chain(marked(region)).collect()
        }
    }
}
