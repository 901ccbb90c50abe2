//! Regions: paths of nested phases.

use std::collections::HashMap;

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
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
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
    /// The calls around code between calls.
    pub ends: Option<CodeEnds>,
    /// Its name without lines, and without the regions around it; `None` for a marked region.
    pub code: Option<CodeName>,
    /// The calls around code in one function, in words: "from the call of forces (h.c:9) to the call of fields (h.c:10)".
    pub between: Option<String>,
}

impl Region {
    pub(crate) fn marked(name: &str) -> Region {
        Region { name: name.to_owned(), path: name.to_owned(), ..Region::default() }
    }
}

/// `region` and those around it in a table in which 0 is the outermost of all; innermost first.
pub fn regions_around(regions: &[Region], region: RegionIdx) -> Vec<RegionIdx> {
    let mut chain = vec![region];
    while let Some(&last) = chain.last().filter(|&&last| last != 0) {
        chain.push(regions[last as usize].parent);
    }
    chain
}

pub(crate) fn find_by_path(regions: &[Region], table: &[Region]) -> Vec<Option<RegionIdx>> {
    let by_path: HashMap<&str, RegionIdx> = table.iter().map(|one| one.path.as_str()).zip(0..).collect();
    regions.iter().map(|one| by_path.get(one.path.as_str()).copied()).collect()
}

/// Returns the name of a region's code with the functions and marked regions around it, or `None` for a marked region.
pub fn code_name(regions: &[Region], region: RegionIdx) -> Option<CodeName> {
    let own = regions.get(region as usize)?.code.as_ref()?;
    let mut outer: Vec<String> = Vec::new();
    let mut innermost: Option<&str> = None;
    for around in regions_around(regions, region).into_iter().skip(1).filter(|&at| at != 0) {
        let Some(around) = regions.get(around as usize) else { continue };
        let (name, shown) = match &around.code {
            None => (around.name.as_str(), around.name.clone()),
            Some(code) if code.function.is_empty() => continue,
            Some(code) => (code.function.as_str(), code.to_string()),
        };
        innermost = innermost.or(Some(name));
        outer.push(shown);
    }
    outer.reverse();
    // The code between calls of a function that is a region has the name of this function.
    let is_in_itself = innermost == Some(own.function.as_str());
    outer.extend((!is_in_itself && !own.function.is_empty()).then(|| own.function.clone()));
    Some(CodeName { function: outer.join("/"), ..own.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(name: &str, parent: RegionIdx, code: Option<(&str, &str, u32)>) -> Region {
        let code = code.map(|(function, calls, ordinal)| CodeName {
            function: function.to_owned(),
            calls: calls.to_owned(),
            ordinal,
        });
        Region { parent, code, ..Region::marked(name) }
    }

    #[test]
    fn code_is_named_by_functions_and_marks_around_it_without_loops_and_lines() {
        let regions = [
            region("main", 0, None),
            region("step", 0, None),
            region("loop in relax (heat.c:3)", 1, Some(("", "loop in relax", 1))),
            region("relax from step (heat.c:9)", 2, Some(("relax", "", 2))),
            region("relax (heat.c:20 → 29)", 3, Some(("relax", "Sendrecv → Allreduce", 1))),
            region("norm (norm.c:7)", 2, Some(("norm", "Allreduce → Allreduce", 3))),
        ];
        let name = |at| code_name(&regions, at).map(|name| name.to_string());
        assert_eq!(name(1), None);
        assert_eq!(name(2).as_deref(), Some("step (loop in relax)"));
        assert_eq!(name(3).as_deref(), Some("step/relax #2"));
        assert_eq!(name(4).as_deref(), Some("step/relax #2 (Sendrecv → Allreduce)"));
        assert_eq!(name(5).as_deref(), Some("step/norm (Allreduce → Allreduce) #3"));
    }
}
