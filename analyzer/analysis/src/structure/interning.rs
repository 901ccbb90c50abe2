//! Numbers for values, each stored once.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

/// Returns the index of an item in `list`, appended if it is new. `indices` has the index of each item.
pub(crate) fn intern<T: Clone + Eq + Hash, S: BuildHasher>(
    indices: &mut HashMap<T, u32, S>,
    list: &mut Vec<T>,
    item: T,
) -> u32 {
    *indices.entry(item).or_insert_with_key(|item| {
        list.push(item.clone());
        list.len() as u32 - 1
    })
}
