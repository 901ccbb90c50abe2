//! Datatypes: handles → sizes in bytes.

use std::collections::HashMap;

use crate::handles::cache::{cache_slot, forget_cached};
use crate::harmless::signals::HandlerLock;
use crate::mpi::call;
use crate::mpi::predefined::{self, PredefinedHandle, is_predefined};
use crate::recording::registry;
use crate::state::thread::{RecorderThread, UNSEEN, thread_tables};
use crate::word::Word;

/// Sizes of datatypes whose handles do not show it, by handle.
static SIZES: HandlerLock<Option<HashMap<Word, u64, foldhash::fast::FixedState>>> = HandlerLock::new(None);

/// Returns the bytes of data in an element of `datatype`, 0 for the null datatype.
///
/// # Safety
/// `thread` is the calling thread's state; `datatype` is a valid handle or a null one.
#[inline(always)]
pub unsafe fn datatype_size(thread: *mut RecorderThread, datatype: Word) -> u64 {
    // SAFETY: the thread's own state.
    unsafe { if datatype == (*thread).type_handle { (*thread).type_size } else { look_up(thread, datatype) } }
}

/// # Safety
/// As [`datatype_size`].
#[cold]
#[inline(never)]
unsafe fn look_up(thread: *mut RecorderThread, datatype: Word) -> u64 {
    // SAFETY: the thread's own state.
    unsafe {
        let size = if let Some(size) = predefined::size_in_handle(datatype) {
            size
        } else {
            let cached = (&raw mut (*thread_tables(thread)).types).cast::<(Word, u64)>().add(cache_slot(datatype));
            if (*cached).0 != datatype {
                let asking = (*thread).asking;
                let Some(size) = crate::harmless::enter::enter_cold(thread, || known_or_asked(datatype, asking)) else {
                    // Until a call with it has succeeded (slot::learn_arguments).
                    (*thread).unusual |= UNSEEN;
                    return 0;
                };
                *cached = (datatype, size);
            }
            (*cached).1
        };
        (*thread).type_handle = datatype;
        (*thread).type_size = size;
        size
    }
}

/// Returns the size of a datatype if it is known or MPI may be asked.
#[cold]
fn known_or_asked(datatype: Word, asking: bool) -> Option<u64> {
    if is_predefined(PredefinedHandle::DatatypeNull, datatype)
        || datatype == 0
        || !predefined::may_be_datatype(datatype)
    {
        return Some(0);
    }
    if let Some(size) = SIZES.lock().and_then(|sizes| sizes.as_ref()?.get(&datatype).copied()) {
        return Some(size);
    }
    asking.then(|| {
        // MPI_Type_size_x gives sizes beyond 2 GiB, which MPI_Type_size cannot.
        let mut size = 0i64;
        // SAFETY: a call with the handle has succeeded, so it is valid; the function is a local look-up.
        let code = unsafe { call::call2(c"PMPI_Type_size_x", datatype, &raw mut size as Word) };
        let size = if code == 0 { u64::try_from(size).unwrap_or(0) } else { 0 };
        if let Some(mut sizes) = SIZES.lock() {
            sizes.get_or_insert_default().insert(datatype, size);
        }
        size
    })
}

/// Forgets a datatype that is about to be freed, because its handle may be given to another one.
pub fn forget_datatype(datatype: Word) {
    if let Some(sizes) = SIZES.lock().as_deref_mut().and_then(Option::as_mut) {
        sizes.remove(&datatype);
    }
    // SAFETY: the states of registered threads are live.
    registry::for_each_thread(|thread| unsafe {
        forget_cached(&raw mut (*thread).type_handle, datatype);
        let cached = (&raw mut (*thread_tables(thread)).types).cast::<(Word, u64)>().add(cache_slot(datatype));
        forget_cached(&raw mut (*cached).0, datatype);
    });
}
