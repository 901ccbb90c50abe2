//! The limit of a path's depth.

/// Frames of a path at most: what is further out is cut off.
pub const MAX_DEPTH: usize = 256;
