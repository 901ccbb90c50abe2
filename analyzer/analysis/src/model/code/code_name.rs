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
    pub(crate) fn of_loop(shown: &str) -> CodeName {
        let calls = shown.split_once(" (").map_or(shown, |(name, _)| name).to_owned();
        CodeName { function: String::new(), calls, ordinal: 1 }
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
