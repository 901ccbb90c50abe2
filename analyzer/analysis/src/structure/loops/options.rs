//! The settings of the search for loops and regions.

/// The structure to find, and the user's hints.
#[derive(Clone, Debug, PartialEq)]
pub struct StructureOptions {
    /// True to look for loops and regions at all.
    pub detect: bool,
    /// The call that ends an iteration: a part of the label of its call site, as `solve (cg.c:120)`, with `/3` after it if every third of
    /// these calls does.
    pub loop_at: Option<String>,
}

impl Default for StructureOptions {
    fn default() -> Self {
        StructureOptions { detect: true, loop_at: None }
    }
}
