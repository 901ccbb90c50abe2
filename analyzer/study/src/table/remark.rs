//! Remarks that must be made beside a table.

/// A sentence that a reader of the figures must know.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRemark {
    /// True for a warning, false for an explanation.
    pub is_warning: bool,
    /// The sentence, without a capital and a full stop.
    pub text: String,
}

impl TableRemark {
    pub(super) fn warning(text: String) -> TableRemark {
        TableRemark { is_warning: true, text }
    }

    pub(super) fn explanation(text: String) -> TableRemark {
        TableRemark { is_warning: false, text }
    }
}
