//! Regions: paths of nested phases.

use bincode::{Decode, Encode};
use lbprof_collector::definition::RegionKind;

use super::code_name::CodeName;

/// Index of a region in [`Model::regions`]; 0 is the whole program.
pub type RegionIdx = u32;

/// The calls after and before which code comes, as they are called in a region around it: both are one where it lies in what that one calls.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct CodeEnds {
    /// In the innermost region that is a loop or marked.
    pub in_region: (String, String),
    /// In the innermost function around both.
    pub in_function: (String, String),
}

/// A region: a path of nested phases.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Region {
    /// Its own name.
    pub name: String,
    /// The names from the outermost on, joined with '/'; one within a name is `\/`.
    pub path: String,
    /// The region around it; of the first, itself.
    pub parent: RegionIdx,
    /// The kind of time in the region.
    pub kind: RegionKind,
    /// True if its invocations are iterations.
    pub iterated: bool,
    /// True if it was found in the calls, not marked.
    pub found: bool,
    /// True if it is code between calls, or a function around such code.
    pub is_code: bool,
    /// True if it is a function around code between calls.
    pub is_function: bool,
    /// The call of the function that is it, or whose code it is, as a node of the run's call tree; `None` for loops and marked regions, and
    /// where it is not known.
    pub call: Option<u32>,
    /// Of code between calls: these calls.
    pub ends: Option<CodeEnds>,
    /// Its name without lines, and without the regions around it; `None` for a marked region.
    pub code: Option<CodeName>,
    /// Of code between calls of one function, these calls in words: "from the call of forces (h.c:9) to the call of fields (h.c:10)".
    pub between: Option<String>,
}

impl Region {
    /// A marked region of useful time in no other one but the first.
    pub(crate) fn marked(name: &str) -> Region {
        Region {
            name: name.to_owned(),
            path: name.to_owned(),
            parent: 0,
            kind: RegionKind::Useful,
            iterated: false,
            found: false,
            is_code: false,
            is_function: false,
            call: None,
            ends: None,
            code: None,
            between: None,
        }
    }
}

/// `region` and those around it in a table in which 0 is the outermost of all; innermost first.
pub fn chain(regions: &[Region], region: RegionIdx) -> Vec<RegionIdx> {
    let mut chain = vec![region];
    while let Some(&last) = chain.last().filter(|&&last| last != 0) {
        chain.push(regions[last as usize].parent);
    }
    chain
}
