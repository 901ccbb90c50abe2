//! Datatypes: handles → sizes in bytes.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::harmless::enter::enter_cold;
use crate::harmless::signals::HandlerLock;
use crate::machine::word::Word;
use crate::mpi::call::ask_mpi;
use crate::mpi::predefined::{self, PredefinedHandle, is_predefined};
use crate::recording::registry;
use crate::state::handle_cache::forget_handle;
use crate::state::thread::RecorderThread;

/// Sizes of datatypes whose handles do not show it, by handle.
static SIZES: HandlerLock<HashMap<Word, u64, FixedState>> =
    HandlerLock::new(HashMap::with_hasher(FixedState::with_seed(0)));

/// Returns the bytes of data in an element of `datatype`, 0 for the null datatype.
#[inline(always)]
pub fn datatype_size(thread: &RecorderThread, datatype: Word) -> u64 {
    if datatype == thread.type_handle.get() { thread.type_size.get() } else { look_up(thread, datatype) }
}

#[cold]
#[inline(never)]
fn look_up(thread: &RecorderThread, datatype: Word) -> u64 {
    let known = predefined::size_in_handle(datatype).or_else(|| thread.tables().types.find(datatype));
    let size = known.or_else(|| {
        let size = enter_cold(|| known_or_asked(datatype, thread.asking.get()))?;
        thread.tables().types.keep(datatype, size);
        Some(size)
    });
    let Some(size) = size else {
        thread.note_unseen();
        return 0;
    };
    thread.type_handle.set(datatype);
    thread.type_size.set(size);
    size
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
    if let Some(size) = SIZES.lock().and_then(|sizes| sizes.get(&datatype).copied()) {
        return Some(size);
    }
    asking.then(|| {
        // MPI_Type_size_x gives sizes beyond 2 GiB, which MPI_Type_size cannot.
        let size = u64::try_from(ask_mpi(c"PMPI_Type_size_x", [datatype], 0i64)).unwrap_or(0);
        if let Some(mut sizes) = SIZES.lock() {
            sizes.insert(datatype, size);
        }
        size
    })
}

/// Forgets a datatype that is about to be freed, because its handle may be given to another one.
pub fn forget_datatype(datatype: Word) {
    if let Some(mut sizes) = SIZES.lock() {
        sizes.remove(&datatype);
    }
    registry::for_each_thread(|thread| {
        forget_handle(&thread.type_handle, datatype);
        thread.tables().types.forget(datatype);
    });
}
