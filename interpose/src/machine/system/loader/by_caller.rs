//! Addresses of functions by the object that calls them, for functions that each object may see another definition of.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicPtr, AtomicUsize};

use crate::machine::system::loader::objects;

/// Objects that are known; where there are more, functions are looked up on each call.
const MAX_OBJECTS: usize = 16;

/// The table: `N` functions, for some objects. Reading it takes no lock.
pub struct AddressesByCaller<const N: usize>([AtomicPtr<ObjectAddresses<N>>; MAX_OBJECTS]);

/// Functions visible to an object.
struct ObjectAddresses<const N: usize> {
    /// The first address of the object, and one past its last.
    bounds: (usize, usize),
    /// Count of unloads before: if it has changed, it may be this object.
    unloads: u64,
    addresses: [AtomicUsize; N],
}

impl<const N: usize> AddressesByCaller<N> {
    pub const fn new() -> Self {
        AddressesByCaller([const { AtomicPtr::new(std::ptr::null_mut()) }; MAX_OBJECTS])
    }

    /// Returns the address of a function for calls from `caller`; 0: it is not known.
    pub fn find(&self, function: usize, caller: usize) -> usize {
        let unloads = objects::count_unloads();
        for place in &self.0 {
            // SAFETY: null, or one that was made below and is never freed.
            let Some(object) = (unsafe { place.load(Acquire).as_ref() }) else { break };
            if object.unloads == unloads
                && (object.bounds.0..object.bounds.1).contains(&caller)
                && let Some(address) = object.addresses.get(function)
                && address.load(Relaxed) != 0
            {
                return address.load(Relaxed);
            }
        }
        0
    }

    /// Keeps the address of a function for calls from an object at these addresses.
    pub fn keep(&self, function: usize, bounds: (usize, usize), found: usize) {
        let unloads = objects::count_unloads();
        let mut new: *mut ObjectAddresses<N> = std::ptr::null_mut();
        for place in &self.0 {
            let mut known = place.load(Acquire);
            if known.is_null() {
                if new.is_null() {
                    let addresses = [const { AtomicUsize::new(0) }; N];
                    new = Box::into_raw(Box::new(ObjectAddresses { bounds, unloads, addresses }));
                }
                match place.compare_exchange(known, new, AcqRel, Acquire) {
                    Ok(_) => known = std::mem::replace(&mut new, std::ptr::null_mut()),
                    Err(other) => known = other,
                }
            }
            // SAFETY: an entry of the table, never freed.
            let known = unsafe { &*known };
            if (known.bounds, known.unloads) == (bounds, unloads) {
                if let Some(address) = known.addresses.get(function) {
                    address.store(found, Relaxed);
                }
                break;
            }
        }
        if !new.is_null() {
            // SAFETY: made above, and not in the table.
            drop(unsafe { Box::from_raw(new) });
        }
    }
}
