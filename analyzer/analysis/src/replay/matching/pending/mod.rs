//! Calls that wait for their partners, by kind.

pub(super) mod channels;
pub(super) mod collectives;
pub(super) mod entries;
pub(super) mod free_places;
pub(super) mod signals;
