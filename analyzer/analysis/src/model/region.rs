//! Regions: paths of nested phases.

use bincode::{Decode, Encode};
use lbprof_collector::definition::RegionKind;

/// Index of a region in [`Model::regions`]; 0 is the whole program.
pub type RegionIdx = u32;

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
    /// Of code between calls: those after and before which it comes, in the innermost region around it that is a loop or marked; both are
    /// one where it lies in what that one calls.
    pub ends: Option<(String, String)>,
    /// Of code between calls of one function, these calls in words: "from the call in forces (h.c:9) to the call in fields (h.c:10)".
    pub between: Option<String>,
}

/// `region` and those around it in a table in which 0 is the outermost of all; innermost first.
pub fn chain(regions: &[Region], region: RegionIdx) -> Vec<RegionIdx> {
    let mut chain = vec![region];
    while let Some(&last) = chain.last().filter(|&&last| last != 0) {
        chain.push(regions[last as usize].parent);
    }
    chain
}
