//! The path of a rank's region, marked or found: what makes regions of several ranks the same.

use lbprof_collector::definition::RegionKind;

use crate::model::{CodeName, Region};
use crate::read::definitions::RankDefinitions;
use crate::structure::{CodePath, FoundRegion, RunStructure};

/// A region that was found, by itself.
fn found(name: &str, code: CodeName) -> Region {
    Region { found: true, code: Some(code), ..Region::marked(name) }
}

/// Code between calls and the functions around it.
fn code_regions(code: CodePath) -> impl Iterator<Item = Region> {
    let last = code.names.len().saturating_sub(1);
    code.names.into_iter().zip(code.codes).enumerate().map(move |(at, (name, own))| Region {
        is_code: true,
        is_function: at < code.n_functions,
        call: code.calls.get(at).copied().flatten(),
        ends: code.ends.clone().filter(|_| at == last),
        between: code.between.clone().filter(|_| at == last),
        ..found(&name, own)
    })
}

/// Region `number` of `rank`, whose log has these definitions, and those around it, outermost first, without the whole program; each by itself, in no other one.
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

/// A found loop and those around it, from the main loop on.
pub fn loop_path(structure: &RunStructure, at: usize) -> Vec<Region> {
    structure
        .loop_path(at)
        .into_iter()
        .map(|(name, iterated)| Region { iterated, ..found(name, CodeName::of_loop(name)) })
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
