//! Facts that findings of several kinds use: parts of the loss, places, gains, storage.

pub(super) mod amounts;
pub(super) mod coordinator;
pub(super) mod gain;
pub(super) mod loss_parts;
pub(super) mod place;
pub(super) mod windows;
