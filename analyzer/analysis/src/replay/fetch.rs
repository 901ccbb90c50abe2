//! Fetches data into the caches before they are needed: what is known of thousands of ranks does not fit there.

use prefetch_index::prefetch_index;

/// Has the processor fetch the first cache line of a value, without waiting for it.
#[inline]
pub fn fetch<T>(value: &T) {
    prefetch_index(std::slice::from_ref(value), 0);
}
