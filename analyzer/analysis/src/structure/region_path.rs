//! The path of a rank's region, marked or found. Regions of several ranks with one path are the same.

use lbprof_collector::definition::RegionKind;

use crate::model::{CodeName, Region};
use crate::read::definitions::RankDefinitions;
use crate::structure::{CodePath, FoundRegion, RunStructure};

/// Makes a region that was found, without its parent.
fn found_region(name: &str, code: CodeName) -> Region {
    Region { found: true, code: Some(code), ..Region::marked(name) }
}

fn code_regions(code: CodePath) -> impl Iterator<Item = Region> {
    let last = code.parts.len().saturating_sub(1);
    code.parts.into_iter().enumerate().map(move |(at, part)| Region {
        is_code: true,
        is_function: part.is_function,
        call: part.call,
        ends: code.ends.clone().filter(|_| at == last),
        between: code.between.clone().filter(|_| at == last),
        ..found_region(&part.name, part.code)
    })
}

/// Returns region `number` of `rank`, whose log has these definitions, and the regions around it, outermost first, without the whole program.
/// They have no parents yet.
pub fn region_path(structure: &RunStructure, definitions: &RankDefinitions, rank: u32, number: u32) -> Vec<Region> {
    let mut path = Vec::new();
    match FoundRegion::of_number(number) {
        None => path.extend(marked_path(definitions, number)),
        Some(FoundRegion::Found { in_loop, segment }) => {
            path.extend(in_loop.into_iter().flat_map(|at| loop_path(structure, at)));
            path.extend(segment.into_iter().flat_map(|at| code_regions(structure.code_path(in_loop, at))));
        }
        Some(FoundRegion::InMarked(region, segment)) => {
            path.extend(marked_path(definitions, region));
            path.extend(code_regions(structure.code_path(None, segment)));
        }
        Some(FoundRegion::MarkedInLoop(region)) => {
            path.extend(structure.main_loop(rank).into_iter().flat_map(|at| loop_path(structure, at)));
            path.extend(marked_path(definitions, region));
        }
    }
    path
}

/// Returns a found loop and the loops around it, from the main loop on.
pub fn loop_path(structure: &RunStructure, at: usize) -> Vec<Region> {
    structure
        .loop_path(at)
        .into_iter()
        .map(|(name, iterated)| Region { iterated, ..found_region(name, CodeName::of_loop(name)) })
        .collect()
}

fn marked_path(definitions: &RankDefinitions, number: u32) -> impl Iterator<Item = Region> {
    definitions.region_chain(number).into_iter().rev().map(|id| {
        let defined = definitions.regions.get(&id);
        let (kind, iterated) = defined.map_or((RegionKind::Useful, false), |region| (region.kind, region.iterated));
        let name = definitions.region_name(id);
        Region { kind, iterated, ..Region::marked(&name) }
    })
}
