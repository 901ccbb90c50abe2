//! A node of the program tree.

use crate::model::RegionIdx;

/// The program element of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProgramNodeKind {
    /// A loop that was found, or a marked phase; the first is the whole program.
    Region(RegionIdx),
    /// A function that no known call calls: that of this call, a node of the call tree.
    Start(u32),
    /// The function that this call calls, a node of the call tree.
    Function(u32),
    /// A call of MPI: its node of the call tree, `None` where it is not known, and the number of the operation.
    Call(Option<u32>, u16),
}

/// A node of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramTreeNode {
    /// The program element.
    pub step: ProgramNodeKind,
    /// The node around it, as an index; `None`: it is the whole program.
    pub parent: Option<usize>,
}
