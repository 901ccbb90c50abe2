//! A thread's state.
//!
//! It is thread-local storage of the initial-exec kind, which a preloaded library may use: its address is the thread pointer plus a
//! constant, two instructions, where `thread_local!` in a shared object calls `__tls_get_addr`.

use std::arch::global_asm;
use std::cell::Cell;
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, AtomicUsize};

use lbprof_collector::record::Record;

use crate::machine::processor::{self, PARKED_BYTES};
use crate::mpi::abi::AbiFamily;
use crate::state::buffers::GrowingArray;
use crate::state::call_paths::{CallPaths, KnownPath};
use crate::state::comm::{CommInfo, UNKNOWN};
use crate::state::handle_cache::HandleCache;
use crate::state::parallel::TeamMember;
use crate::state::thread_log::ThreadLog;

/// A word in a frame of this library: while a call, or the recorder, is at work there, it holds the address of the thread's state.
pub type Canary = MaybeUninit<usize>;

/// A thread's state. The entries of wrappers (crate::machine::processor) use the first five fields at these offsets. The fields that most calls use fill the first
/// cache lines.
#[repr(C)]
pub struct RecorderThread {
    /// Return address of the call being entered: the call site.
    pub caller: Cell<usize>,
    /// Address of the slot in `forward::NEXT` of the Fortran function being entered; where functions of C share a body, which of them it is.
    pub next: Cell<usize>,
    /// The stack pointer of the call being entered: where the processor pushes the return address, it points to that. 0: no call is being entered.
    pub sp: Cell<usize>,
    /// The frame pointer of the call being entered.
    pub bp: Cell<usize>,
    /// Number of calls that are parked ([`crate::state::entered`]).
    pub n_parked: Cell<usize>,
    /// Address of the canary of the outermost call under way, 0 before the first.
    pub inside: Cell<usize>,
    /// The next free slot of the ring; null while the thread does not record.
    pub cursor: Cell<*mut Record>,
    /// End of the ring's slots.
    pub limit: Cell<*mut Record>,
    /// The paths that each call is compared with; null while the thread has no ring.
    pub known_paths: Cell<*const KnownPath>,
    /// Value that the stack pointer is mixed with in the key of a path ([`crate::recording::call_path`]). Other threads change it, too.
    pub path_key: Cell<usize>,
    /// The communicator last used, as a handle.
    pub comm_handle: Cell<usize>,
    /// Facts about it.
    pub comm: Cell<*const CommInfo>,
    pub comm_id: Cell<u32>,
    /// Bits that make a call one that the usual path does not serve: [`UNSEEN`], [`CLOCK_MONOTONIC`].
    pub unusual: Cell<u32>,
    /// The datatype last used, as a handle.
    pub type_handle: Cell<usize>,
    pub type_size: Cell<u64>,
    /// Statuses to pass where the program ignores an array of them that [`ThreadTables::few_statuses`] has no room for.
    pub statuses: GrowingArray,
    /// The functions that the wrappers in C of [`NEXT_FREQUENT`] forward to, those that are called most last, all but the last ones.
    pub next_frequent: [Cell<usize>; N_FREQUENT - N_MOST_FREQUENT],
    /// MPI_STATUS_IGNORE, a copy beside the functions of the calls that take a status.
    pub status_ignore: Cell<usize>,
    /// Likewise, the interface of the MPI library.
    pub interface: Cell<AbiFamily>,
    /// The last of these functions.
    pub next_most_frequent: [Cell<usize>; N_MOST_FREQUENT],
    /// Requests of an array as they were before the call, where they are few, as in most calls.
    pub few_requests: Cell<[usize; FEW]>,
    pub requests: GrowingArray,
    /// The last of the records of unsuccessful polls to which further ones may be added, or null.
    pub poll: Cell<*mut Record>,
    /// The first of these records, which follow one another at once.
    pub first_poll: Cell<*mut Record>,
    /// The one of them that has the time of all polls since it began; the later ones have none.
    pub timed_poll: Cell<*mut Record>,
    /// Time at which the last poll in them ended.
    pub poll_end: Cell<u64>,
    /// Ticks within the polls whose time that record has.
    pub poll_ticks: Cell<u64>,
    /// Ticks that a poll takes, as measured of some of them.
    pub usual_poll_ticks: Cell<u64>,
    /// Polls in a row that followed one another at once: after some, only one of several reads the clock.
    pub quick_polls: Cell<u32>,
    /// Polls since `poll_end` that did not read it.
    pub unmeasured_polls: Cell<u32>,
    /// The last of the records of calls on a window that repeat one another, or null.
    pub spin: Cell<*mut Record>,
    /// Number of them that repeat one before.
    pub spin_repetitions: Cell<u32>,
    /// The call paths that the thread has had; null while it has no ring.
    pub paths: Cell<*mut CallPaths>,
    /// Further state that the thread needs when its ring is full; null before its first call.
    pub log: Cell<*mut ThreadLog>,
    /// Number of times that the recorder itself is entered on this thread, so that nothing of its own is recorded. While it is not 0 the
    /// thread may be using its log; see [`crate::recording::close::close_all`].
    pub busy: Cell<u32>,
    /// Scratch record for calls made while recording is paused, whose effects on requests and communicators are followed all the same.
    pub aside: Cell<MaybeUninit<Record>>,
    /// True if the handle in use is known to be good, so that MPI may be asked about it.
    pub asking: Cell<bool>,
    /// The thread can have no ring; what it calls is not recorded.
    pub refused: Cell<bool>,
    /// Number of times that the thread has begun to end.
    pub ends: Cell<u8>,
    /// The index of the function that the thread last called though MPI does not have it ([`crate::forward`]).
    pub missing: Cell<usize>,
    /// Number of critical sections that the thread is in ([`crate::harmless::signals`]).
    pub critical: Cell<u32>,
    /// Address of the canary of the recorder's own innermost frame, while it is at work on this thread; 0: it is not.
    pub at_work: Cell<usize>,
    /// Address of its outermost one.
    pub first_at_work: Cell<usize>,
    /// State of the thread's cancellation before the recorder came to work on it and put that off.
    pub cancellation: Cell<CancelState>,
    /// The thread's number in the system; 0: not known.
    pub id: Cell<c_int>,
    /// The locks that it holds, each by a counter of its own ([`crate::harmless::signals::HandlerLock`]); null: none.
    pub held: [Cell<*const AtomicU32>; MAX_HELD],
    /// True if the recorder is known to have been left by siglongjmp while it was at work on this thread.
    pub left: Cell<bool>,
    /// State of the thread in parallel regions.
    pub team: TeamMember,
}

/// In [`RecorderThread::unusual`]: the call being entered names a communicator or datatype of which nothing is known.
pub const UNSEEN: u32 = 1;
/// In [`RecorderThread::unusual`]: ticks are read from CLOCK_MONOTONIC ([`crate::machine::system::clock`]).
pub const CLOCK_MONOTONIC: u32 = 2;

/// The tables that fewer calls use than the fields of [`RecorderThread`], before which they lie: so that is near to the C library's data of
/// the thread, most often in the same page.
#[repr(C, align(64))]
pub struct ThreadTables {
    /// Communicators lately used.
    pub comms: HandleCache<*const CommInfo>,
    /// Datatypes lately used, and their sizes.
    pub types: HandleCache<u64>,
    /// A status, or the statuses of a few requests, to pass where the program ignores them. One has 32 bytes at most; where INTEGER has 8 bytes, Fortran's has
    /// twice as many.
    pub few_statuses: Cell<[[u64; 4]; FEW]>,
}

impl RecorderThread {
    /// Returns the address of the state, by which canaries and locks name the thread.
    #[inline(always)]
    pub fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    #[inline(always)]
    pub fn tables(&self) -> &ThreadTables {
        let tables: *const ThreadTables =
            std::ptr::from_ref(self).wrapping_byte_sub(PARKED_BYTES + size_of::<ThreadTables>()).cast();
        // SAFETY: they lie there ([`current_thread`]), all zero at first.
        unsafe { &*tables }
    }

    /// Returns the thread's log, or `None` if it has no ring. No two of its users hold it at one time: a function that may use it, too, is called when its
    /// caller is done with it.
    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "see above")]
    pub fn log(&self) -> Option<&mut ThreadLog> {
        // SAFETY: as above. The log lives until the thread gives it back.
        unsafe { self.log.get().as_mut() }
    }

    /// Returns the call paths that the thread has had, like [`RecorderThread::log`].
    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "see there")]
    pub fn paths(&self) -> Option<&mut CallPaths> {
        // SAFETY: see there.
        unsafe { self.paths.get().as_mut() }
    }

    #[inline(always)]
    pub fn has_log(&self) -> bool {
        !self.log.get().is_null()
    }

    /// Makes the call being entered one that the usual path does not serve, because nothing is known of a handle until a call with it has succeeded.
    pub fn note_unseen(&self) {
        self.unusual.set(self.unusual.get() | UNSEEN);
    }

    /// Empties the cache of communicators.
    pub fn forget_comms(&self) {
        self.comm_handle.set(0);
        self.comm.set(&UNKNOWN);
        self.comm_id.set(UNKNOWN.id);
        self.tables().comms.clear();
    }
}

/// Accesses to fields that signal handlers, and entries of wrappers, use, too: each is done, in the order of the code.
pub trait VolatileCell<T> {
    fn get_volatile(&self) -> T;
    fn set_volatile(&self, value: T);
}

impl<T: Copy> VolatileCell<T> for Cell<T> {
    #[inline(always)]
    fn get_volatile(&self) -> T {
        // SAFETY: the cell's own value.
        unsafe { self.as_ptr().read_volatile() }
    }

    #[inline(always)]
    fn set_volatile(&self, value: T) {
        // SAFETY: as above.
        unsafe { self.as_ptr().write_volatile(value) };
    }
}

/// Number of functions in build.rs's list of those that programs call most.
pub const N_FREQUENT: usize = 40;

/// Number of those that lie in a cache line with other data of their calls.
pub const N_MOST_FREQUENT: usize = 8;

/// The functions that their wrappers in C forward to, in the reverse order of that list, while recording; each thread has a copy beside other data of
/// its calls.
pub static NEXT_FREQUENT: [AtomicUsize; N_FREQUENT] = [const { AtomicUsize::new(0) }; N_FREQUENT];

/// Offset in the state of the arguments of the call that starts a region, for the entry of that call.
pub const LAUNCH_OFFSET: usize = std::mem::offset_of!(RecorderThread, team.launch);

// The functions of MPI_Waitall, MPI_Irecv and MPI_Isend are in one cache line with the requests of these calls; the functions of MPI_Sendrecv, MPI_Recv and
// MPI_Wait are in one with the facts about statuses.
const _: () = assert!(std::mem::offset_of!(RecorderThread, few_requests) % 64 == 24);

/// Number of requests of an array that have room in the thread's state.
pub const FEW: usize = 8;

/// The state of a thread's cancellation (pthread_setcancelstate(3)).
#[derive(Clone, Copy)]
pub struct CancelState {
    /// Enabled or disabled.
    pub state: c_int,
    /// Deferred or asynchronous.
    pub kind: c_int,
}

impl CancelState {
    /// Numbers that no C library uses.
    pub const UNKNOWN: CancelState = CancelState { state: -1, kind: -1 };
}

/// Locks that a thread holds at one time, of those that another thread may look at.
pub const MAX_HELD: usize = 4;

/// Bytes of a [`RecorderThread`] in thread-local storage, after its tables and the parked calls.
const THREAD_BYTES: usize = size_of::<RecorderThread>().next_multiple_of(64);
const _: () = assert!(PARKED_BYTES.is_multiple_of(64));

global_asm!(
    ".pushsection .tbss.lbprof_thread,\"awT\",@nobits",
    ".globl lbprof_thread",
    ".hidden lbprof_thread",
    ".type lbprof_thread, @object",
    ".size lbprof_thread, {bytes}",
    ".balign 64",
    ".zero {bytes_before}",
    "lbprof_thread:",
    ".zero {bytes}",
    ".popsection",
    bytes = const THREAD_BYTES,
    bytes_before = const size_of::<ThreadTables>() + PARKED_BYTES,
);

/// Returns the state of the calling thread, all zero at first. It is valid for as long as the thread lives.
#[inline(always)]
pub fn current_thread() -> &'static RecorderThread {
    // SAFETY: zeros are a state, and no other thread is given a reference that lasts.
    unsafe { &*processor::thread_state().cast() }
}
