//! A run in forms that other programs read: a file for each.

pub mod dump;
