//! Names by which the code of one version of a program is found again in another one.
//!
//! Lines move when a program is changed, so they are only shown. Code is the same if it lies in the same function, between calls of the same names:
//!
//! ```text
//!   shown                         code name
//!   main/loop/relax (heat.c:20 → 29)   relax (Sendrecv → Allreduce)
//!   main/loop/relax (heat.c:31 → 40)   relax (Sendrecv → Allreduce) #2
//! ```

use std::fmt;

use bincode::{Decode, Encode};
use serde::Serialize;

use super::region::{Region, RegionIdx, chain};

/// The name of code, without lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Encode, Decode)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CodeName {
    /// The function in which it lies, after the functions and marked regions around it, joined with `/`; empty for a loop.
    pub function: String,
    /// The calls after and before which it runs, as `Sendrecv → Allreduce`; empty for all of the function.
    pub calls: String,
    /// Its place, from 1 on, among the code between such calls in the order of the source.
    pub ordinal: u32,
}

impl CodeName {
    /// The name of a loop, without the line at which it is.
    pub(crate) fn of_loop(shown: &str) -> CodeName {
        let calls = shown.split_once(" (").map_or(shown, |(name, _)| name).to_owned();
        CodeName { function: String::new(), calls, ordinal: 1 }
    }

    /// The function with its number if there are several of this name.
    fn numbered_function(&self) -> String {
        if self.ordinal > 1 { format!("{} #{}", self.function, self.ordinal) } else { self.function.clone() }
    }
}

impl fmt::Display for CodeName {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.calls.as_str() {
            "" => f.write_str(&self.function)?,
            calls if self.function.is_empty() => f.write_str(calls)?,
            calls => write!(f, "{} ({calls})", self.function)?,
        }
        if self.ordinal > 1 { write!(f, " #{}", self.ordinal) } else { Ok(()) }
    }
}

/// Returns the name of a region's code with the functions and marked regions around it, or `None` for a marked region.
pub fn code_name(regions: &[Region], region: RegionIdx) -> Option<CodeName> {
    let own = regions.get(region as usize)?.code.as_ref()?;
    let mut outer: Vec<String> = Vec::new();
    for at in chain(regions, region).into_iter().skip(1).filter(|&at| at != 0) {
        match regions.get(at as usize).map(|around| (&around.code, &around.name)) {
            Some((None, name)) => outer.push(name.clone()),
            Some((Some(code), _)) if !code.function.is_empty() => outer.push(code.numbered_function()),
            _ => {}
        }
    }
    outer.reverse();
    // The code between calls of a function that is a region has the name of this function.
    let is_in_itself = outer.last().is_some_and(|last| without_number(last) == own.function);
    outer.extend((!is_in_itself && !own.function.is_empty()).then(|| own.function.clone()));
    Some(CodeName { function: outer.join("/"), ..own.clone() })
}

/// Returns a name without the number that distinguishes it from others.
fn without_number(name: &str) -> &str {
    name.split_once(" #").map_or(name, |(name, _)| name)
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
