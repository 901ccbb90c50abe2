//! Lists whose places are used again.

/// Puts a value in a free place of a list, or at its end. Returns its index.
pub(super) fn put_in_free_place<T>(all: &mut Vec<T>, free: &mut Vec<u32>, value: T) -> u32 {
    match free.pop() {
        Some(id) => {
            all[id as usize] = value;
            id
        }
        None => {
            all.push(value);
            all.len() as u32 - 1
        }
    }
}
