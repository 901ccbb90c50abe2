//! The contract between a wrapper and its verb: how a verb reads the arguments of a call.

use std::ffi::{CStr, c_char};
use std::marker::PhantomData;

use crate::handles::{comms, datatypes};
use crate::harmless::enter;
use crate::machine::word::{Word, int_at};
use crate::mpi::abi::current_abi;
use crate::mpi::fortran::{FortranPlace, is_fortran_place};
use crate::mpi::lang::{ArgumentLanguage, ConvertedHandle};
use crate::state::comm::CommInfo;
use crate::state::thread::RecorderThread;

/// The call that a verb is about. Its methods read the words that the verb was given.
///
/// # Safety
/// Whoever makes a value ([`ThisCall::from_thread`]) promises: the words that a verb is given with it are the arguments of the MPI
/// function in whose row the verb stands, in this language, as the program passed them and named as in the row; the thread is the calling
/// one. So a method may read whatever the standard says is there, and after the call what MPI has stored there. Null addresses are
/// allowed where a method says so.
pub unsafe trait VerbCall: Copy {
    type Language: ArgumentLanguage;

    fn thread(self) -> &'static RecorderThread;

    /// Reads an int, see [`ArgumentLanguage::int`].
    #[inline(always)]
    fn int(self, word: Word) -> i32 {
        // SAFETY: the contract.
        unsafe { Self::Language::int(word) }
    }

    /// Reads a count, which is an MPI_Count in large-count variants and else an int.
    #[inline(always)]
    fn count(self, word: Word) -> u64 {
        if Self::Language::LARGE { self.large_count(word) } else { self.int(word).max(0) as u64 }
    }

    /// Reads an MPI_Count, also in variants whose other counts are ints.
    #[inline(always)]
    fn large_count(self, word: Word) -> u64 {
        // SAFETY: the contract. Fortran passes an address, C the value.
        let count = if Self::Language::FORTRAN { unsafe { (word as *const i64).read() } } else { word as i64 };
        count.max(0) as u64
    }

    /// Reads element `i` of an array of counts; 0 if the array is null.
    #[inline(always)]
    fn count_at(self, array: Word, i: usize) -> u64 {
        if array == 0 {
            return 0;
        }
        // SAFETY: the contract. Both languages pass the address of the first element.
        unsafe {
            if Self::Language::LARGE {
                (array as *const i64).add(i).read().max(0) as u64
            } else {
                (array as *const i32).add(i).read().max(0) as u64
            }
        }
    }

    /// Reads an index that MPI has stored, counted from 0; negative if the array is null.
    #[inline(always)]
    fn index_at(self, array: Word, i: usize) -> i32 {
        if array == 0 {
            return -1;
        }
        // SAFETY: the contract. MPI_UNDEFINED is negative in all interfaces and stays so.
        let index = unsafe { (array as *const i32).add(i).read() };
        if Self::Language::FORTRAN { index - 1 } else { index }
    }

    /// Reads a handle, see [`ArgumentLanguage::handle`].
    #[inline(always)]
    fn handle(self, word: Word, convert: ConvertedHandle) -> Word {
        // SAFETY: the contract.
        unsafe { Self::Language::handle(word, convert) }
    }

    /// Reads a handle in an array or at an address, see [`ArgumentLanguage::handle_at`].
    #[inline(always)]
    fn handle_at(self, array: Word, i: usize, convert: ConvertedHandle) -> Word {
        // SAFETY: the contract.
        unsafe { Self::Language::handle_at(array, i, convert) }
    }

    /// Returns whether a status argument is MPI_STATUS_IGNORE.
    #[inline(always)]
    fn status_ignored(self, word: Word) -> bool {
        if Self::Language::FORTRAN {
            return is_fortran_place(FortranPlace::StatusIgnore, word);
        }
        word == self.thread().status_ignore.get()
    }

    /// Returns whether an array of statuses is MPI_STATUSES_IGNORE.
    #[inline(always)]
    fn statuses_ignored(self, word: Word) -> bool {
        if Self::Language::FORTRAN {
            is_fortran_place(FortranPlace::StatusesIgnore, word)
        } else {
            word == current_abi().statuses_ignore
        }
    }

    /// Returns whether a buffer argument is MPI_IN_PLACE.
    #[inline(always)]
    fn in_place(self, word: Word) -> bool {
        if !Self::Language::FORTRAN {
            return word == current_abi().in_place;
        }
        // SAFETY: the address of a descriptor. Other buffers are not read, because they may be a device's memory.
        let address = if Self::Language::DESCRIPTORS { unsafe { (word as *const usize).read() } } else { word };
        is_fortran_place(FortranPlace::InPlace, address)
    }

    /// Reads a string; empty if the address is null. Fortran's strings have a hidden length, and are not read.
    fn text(self, word: Word) -> String {
        if Self::Language::FORTRAN || word == 0 {
            return String::new();
        }
        // SAFETY: the contract. In C it ends with a NUL.
        unsafe { CStr::from_ptr(word as *const c_char) }.to_string_lossy().into_owned()
    }

    /// Runs `work` as [`enter::enter_cold`] does.
    fn cold<T: Default>(self, work: impl FnOnce() -> T) -> T {
        enter::enter_cold(work)
    }

    #[inline(always)]
    fn comm(self, comm: Word) -> &'static CommInfo {
        // In C the word is mostly the handle itself. Then its unused bits need not be masked.
        if !Self::Language::FORTRAN
            && let Some(last) = comms::last_used(self.thread(), comm)
        {
            return last;
        }
        comms::find_comm(self.thread(), self.handle(comm, ConvertedHandle::Comm))
    }

    /// Returns the id of a communicator in the log.
    #[inline(always)]
    fn comm_id(self, comm: Word) -> u32 {
        let thread = self.thread();
        if Self::Language::FORTRAN {
            self.comm(comm).id
        } else if comm == thread.comm_handle.get() {
            // It lies beside the handle in the thread's state.
            thread.comm_id.get()
        } else {
            other_comm_id(self, comm)
        }
    }

    /// Returns the bytes of an element of a datatype.
    #[inline(always)]
    fn size(self, datatype: Word) -> u64 {
        let thread = self.thread();
        if Self::Language::FORTRAN {
            datatypes::datatype_size(thread, self.handle(datatype, ConvertedHandle::Datatype))
        } else if datatype == thread.type_handle.get() {
            thread.type_size.get()
        } else {
            other_size(self, datatype)
        }
    }

    /// Returns the bytes of an element of datatype `i` of an array.
    #[inline(always)]
    fn size_at(self, array: Word, i: usize) -> u64 {
        datatypes::datatype_size(self.thread(), self.handle_at(array, i, ConvertedHandle::Datatype))
    }

    #[inline(always)]
    fn bytes(self, count: Word, datatype: Word) -> u64 {
        self.count(count).wrapping_mul(self.size(datatype))
    }
}

/// Looks up the communicator of a word that is not the handle used last, see [`VerbCall::comm_id`].
#[cold]
#[inline(never)]
fn other_comm_id<C: VerbCall>(call: C, comm: Word) -> u32 {
    comms::find_comm(call.thread(), call.handle(comm, ConvertedHandle::Comm)).id
}

/// Looks up the size of a datatype that is not the handle used last, see [`VerbCall::size`].
#[cold]
#[inline(never)]
fn other_size<C: VerbCall>(call: C, datatype: Word) -> u64 {
    datatypes::datatype_size(call.thread(), call.handle(datatype, ConvertedHandle::Datatype))
}

/// Reads an int that MPI has stored (a flag, an outcount); 0 if the address is null. MPICH 5 returns MPI_SUCCESS from a call that it
/// refused if the program's error handler came back from it.
///
/// # Safety
/// `address` is null or the address of an int.
#[inline(always)]
pub(super) unsafe fn stored_int(address: Word) -> i32 {
    // SAFETY: the caller's promise.
    if address == 0 { 0 } else { unsafe { int_at(address) } }
}

/// The call under way on a thread, with arguments of language `L`.
#[derive(Clone, Copy)]
pub struct ThisCall<L> {
    thread: &'static RecorderThread,
    pub operation: u16,
    language: PhantomData<L>,
}

impl<L: ArgumentLanguage> ThisCall<L> {
    /// Describes the call under way on `thread`.
    ///
    /// # Safety
    /// The contract of [`VerbCall`].
    #[inline(always)]
    pub unsafe fn from_thread(thread: &'static RecorderThread, operation: u16) -> Self {
        ThisCall { thread, operation, language: PhantomData }
    }
}

// SAFETY: `from_thread` has asked for it.
unsafe impl<L: ArgumentLanguage> VerbCall for ThisCall<L> {
    type Language = L;

    #[inline(always)]
    fn thread(self) -> &'static RecorderThread {
        self.thread
    }
}
