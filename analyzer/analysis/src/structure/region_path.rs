//! The path of a rank's region, marked or found: what makes regions of several ranks the same.

use lbprof_collector::definition::RegionKind;

use crate::model::{CodeEnds, Region};
use crate::read::definitions::RankDefinitions;
use crate::structure::{CodePath, FoundRegion, RunStructure};

/// A part of a region's path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathPart {
    /// The region's own name.
    pub name: String,
    /// Its kind.
    pub kind: RegionKind,
    /// True if its invocations are iterations.
    pub iterated: bool,
    /// True if it was found in the calls, not marked.
    pub found: bool,
    /// True if it is code between calls, or a function around such code.
    pub is_code: bool,
    /// True if it is a function around code between calls.
    pub is_function: bool,
    /// See [`Region::call`].
    pub call: Option<u32>,
    /// See [`Region::ends`].
    pub ends: Option<CodeEnds>,
    /// See [`Region::between`].
    pub between: Option<String>,
}

impl PathPart {
    /// Returns the part of a model's region.
    pub fn from_region(region: &Region) -> Self {
        PathPart {
            name: region.name.clone(),
            kind: region.kind,
            iterated: region.iterated,
            found: region.found,
            is_code: region.is_code,
            is_function: region.is_function,
            call: region.call,
            ends: region.ends.clone(),
            between: region.between.clone(),
        }
    }

    /// A region that was found, and whether it is iterated.
    fn found(name: &str, iterated: bool) -> Self {
        PathPart {
            name: name.to_owned(),
            kind: RegionKind::Useful,
            iterated,
            found: true,
            is_code: false,
            is_function: false,
            call: None,
            ends: None,
            between: None,
        }
    }

    /// Code between calls and the functions around it.
    fn code(code: CodePath) -> impl Iterator<Item = Self> {
        let last = code.names.len().saturating_sub(1);
        code.names.into_iter().enumerate().map(move |(at, name)| {
            let ends = code.ends.clone().filter(|_| at == last);
            let between = code.between.clone().filter(|_| at == last);
            let call = code.calls.get(at).copied().flatten();
            let is_function = at < code.n_functions;
            PathPart { is_code: true, is_function, call, ends, between, ..PathPart::found(&name, false) }
        })
    }
}

/// Region `number` of `rank`, whose log has these definitions, and those around it, outermost first, without the whole program.
pub fn region_path(structure: &RunStructure, definitions: &RankDefinitions, rank: u32, number: u32) -> Vec<PathPart> {
    let mut path = Vec::new();
    match FoundRegion::of_number(number) {
        None => path.extend(marked_path(definitions, number)),
        Some(FoundRegion::Found { in_loop, segment }) => {
            path.extend(in_loop.into_iter().flat_map(|at| loop_path(structure, at)));
            path.extend(segment.into_iter().flat_map(|at| PathPart::code(structure.code_path(in_loop, at))));
        }
        Some(FoundRegion::InMarked(region, segment)) => {
            path.extend(marked_path(definitions, region));
            path.extend(PathPart::code(structure.code_path(None, segment)));
        }
        Some(FoundRegion::MarkedInLoop(region)) => {
            path.extend(structure.main_loop(rank).into_iter().flat_map(|at| loop_path(structure, at)));
            path.extend(marked_path(definitions, region));
        }
    }
    path
}

/// A found loop and those around it, from the main loop on.
pub fn loop_path(structure: &RunStructure, at: usize) -> Vec<PathPart> {
    structure.loop_path(at).into_iter().map(|(name, iterated)| PathPart::found(name, iterated)).collect()
}

fn marked_path(definitions: &RankDefinitions, number: u32) -> impl Iterator<Item = PathPart> {
    definitions.region_chain(number).into_iter().rev().map(|id| {
        let defined = definitions.regions.get(&id);
        let (kind, iterated) = defined.map_or((RegionKind::Useful, false), |region| (region.kind, region.iterated));
        let name = definitions.region_name(id);
        PathPart { kind, found: false, ..PathPart::found(&name, iterated) }
    })
}
