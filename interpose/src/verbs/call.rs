//! The contract between a wrapper and its verb: whose arguments a verb reads, and how.

use std::marker::PhantomData;

use crate::handles::{comms, datatypes};
use crate::harmless::enter;
use crate::mpi::lang::{ArgumentLanguage, ConvertedHandle};
use crate::state::comm::CommInfo;
use crate::state::thread::RecorderThread;
use crate::word::Word;

/// The call that a verb is about. A verb gives its methods the words that it was given, and so reads them as what they are.
///
/// # Safety
/// This is the verbs' contract, kept by whoever makes a value ([`ThisCall::from_thread`]). The words that a verb is given with it are the
/// arguments of the MPI function in whose row the verb stands, in this language, as the program passed them, and in the place of the
/// row's names; the thread is the calling one. So a method may read what the standard says is there. Null addresses are allowed
/// where [`ArgumentLanguage`] says so.
pub unsafe trait VerbCall: Copy {
    /// The language of its arguments.
    type Language: ArgumentLanguage;

    /// The calling thread's state.
    fn thread(self) -> *mut RecorderThread;

    /// The number of the call's operation.
    fn operation(self) -> u16;

    /// Reads an int, see [`ArgumentLanguage::int`].
    #[inline(always)]
    fn int(self, word: Word) -> i32 {
        // SAFETY: the contract.
        unsafe { Self::Language::int(word) }
    }

    /// Reads a count, see [`ArgumentLanguage::count`].
    #[inline(always)]
    fn count(self, word: Word) -> u64 {
        // SAFETY: the contract.
        unsafe { Self::Language::count(word) }
    }

    /// An MPI_Count, whatever the variant has for other counts.
    #[inline(always)]
    fn large_count(self, word: Word) -> u64 {
        // SAFETY: the contract. Fortran passes an address, C the value.
        let count = if Self::Language::FORTRAN { unsafe { (word as *const i64).read() } } else { word as i64 };
        u64::try_from(count).unwrap_or(0)
    }

    /// Reads a count in an array, see [`ArgumentLanguage::count_at`].
    #[inline(always)]
    fn count_at(self, array: Word, i: usize) -> u64 {
        // SAFETY: the contract.
        unsafe { Self::Language::count_at(array, i) }
    }

    /// Reads a handle, see [`ArgumentLanguage::handle`].
    #[inline(always)]
    fn handle(self, word: Word, convert: ConvertedHandle) -> Word {
        // SAFETY: the contract.
        unsafe { Self::Language::handle(word, convert) }
    }

    /// Reads a handle in an array, see [`ArgumentLanguage::handle_at`].
    #[inline(always)]
    fn handle_at(self, array: Word, i: usize, convert: ConvertedHandle) -> Word {
        // SAFETY: the contract.
        unsafe { Self::Language::handle_at(array, i, convert) }
    }

    /// Returns whether the status is ignored, see [`ArgumentLanguage::status_ignored`].
    #[inline(always)]
    fn status_ignored(self, word: Word) -> bool {
        // SAFETY: the contract.
        unsafe { Self::Language::status_ignored(word, (*self.thread()).status_ignore) }
    }

    /// Returns whether the statuses are ignored, see [`ArgumentLanguage::statuses_ignored`].
    #[inline(always)]
    fn statuses_ignored(self, word: Word) -> bool {
        // SAFETY: the contract.
        unsafe { Self::Language::statuses_ignored(word) }
    }

    /// Returns whether the buffer is MPI_IN_PLACE, see [`ArgumentLanguage::in_place`].
    #[inline(always)]
    fn in_place(self, word: Word) -> bool {
        // SAFETY: the contract.
        unsafe { Self::Language::in_place(word) }
    }

    /// Runs `work` as [`enter::cold`] does.
    fn cold<T: Default>(self, work: impl FnOnce() -> T) -> T {
        // SAFETY: the calling thread's state.
        unsafe { enter::cold(self.thread(), work) }
    }

    /// The facts about a communicator.
    #[inline(always)]
    fn comm(self, comm: Word) -> &'static CommInfo {
        // SAFETY: the contract.
        unsafe {
            // In C, mostly the word is the handle: then there is no need to ask which of its bits count.
            if !Self::Language::FORTRAN
                && let Some(last) = comms::last_used(self.thread(), comm)
            {
                return last;
            }
            comms::find(self.thread(), self.handle(comm, ConvertedHandle::Comm))
        }
    }

    /// The id of a communicator in the log.
    #[inline(always)]
    fn comm_id(self, comm: Word) -> u32 {
        // SAFETY: the contract. As above; its id is beside it in the thread's state.
        unsafe {
            let thread = self.thread();
            if Self::Language::FORTRAN {
                self.comm(comm).id
            } else if comm == (*thread).comm_handle {
                (*thread).comm_id
            } else {
                other_comm_id::<Self::Language>(thread, comm)
            }
        }
    }

    /// Bytes of an element of a datatype.
    #[inline(always)]
    fn size(self, datatype: Word) -> u64 {
        // SAFETY: the contract.
        unsafe {
            let thread = self.thread();
            if Self::Language::FORTRAN {
                datatypes::size(thread, self.handle(datatype, ConvertedHandle::Datatype))
            } else if datatype == (*thread).type_handle {
                (*thread).type_size
            } else {
                other_size::<Self::Language>(thread, datatype)
            }
        }
    }

    /// Bytes of an element of datatype `i` of an array.
    #[inline(always)]
    fn size_at(self, array: Word, i: usize) -> u64 {
        // SAFETY: the contract.
        unsafe { datatypes::size(self.thread(), self.handle_at(array, i, ConvertedHandle::Datatype)) }
    }

    /// Bytes of `count` elements of a datatype.
    #[inline(always)]
    fn bytes(self, count: Word, datatype: Word) -> u64 {
        self.count(count).wrapping_mul(self.size(datatype))
    }
}

/// Looks up the communicator of a word that is not the handle used last, see [`VerbCall::comm_id`].
///
/// # Safety
/// The contract of [`VerbCall`].
#[cold]
#[inline(never)]
unsafe fn other_comm_id<L: ArgumentLanguage>(thread: *mut RecorderThread, comm: Word) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { comms::find(thread, L::handle(comm, ConvertedHandle::Comm)).id }
}

/// Looks up the size of a datatype that is not the handle used last, see [`VerbCall::size`].
///
/// # Safety
/// The contract of [`VerbCall`].
#[cold]
#[inline(never)]
unsafe fn other_size<L: ArgumentLanguage>(thread: *mut RecorderThread, datatype: Word) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { datatypes::size(thread, L::handle(datatype, ConvertedHandle::Datatype)) }
}

/// The call under way on a thread, whose arguments are those of language `L`.
#[derive(Clone, Copy)]
pub struct ThisCall<L> {
    thread: *mut RecorderThread,
    operation: u16,
    language: PhantomData<L>,
}

impl<L: ArgumentLanguage> ThisCall<L> {
    /// The call under way on `thread`, of the operation with this number.
    ///
    /// # Safety
    /// The contract of [`VerbCall`].
    #[inline(always)]
    pub unsafe fn from_thread(thread: *mut RecorderThread, operation: u16) -> Self {
        ThisCall { thread, operation, language: PhantomData }
    }
}

// SAFETY: `of` has asked for it.
unsafe impl<L: ArgumentLanguage> VerbCall for ThisCall<L> {
    type Language = L;

    #[inline(always)]
    fn thread(self) -> *mut RecorderThread {
        self.thread
    }

    #[inline(always)]
    fn operation(self) -> u16 {
        self.operation
    }
}
