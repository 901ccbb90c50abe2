//! A thread's state.
//!
//! It is thread-local storage of the initial-exec kind, which a preloaded library may use: its address is the thread pointer plus a
//! constant, two instructions, where `thread_local!` in a shared object calls `__tls_get_addr`.

use std::arch::global_asm;
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, AtomicUsize};

use lbprof_collector::record::Record;

use crate::mpi::abi::AbiFamily;
use crate::processor::{self, PARKED_BYTES};
use crate::state::call_paths::{CallPaths, KnownPath};
use crate::state::comm::{CommInfo, UNKNOWN};
use crate::state::parallel::TeamMember;
use crate::state::thread_log::ThreadLog;

/// Entries in a thread's cache of datatype sizes and in its cache of communicators.
pub const CACHE: usize = 16;

/// A word in a frame of this library: while a call, or the recorder, is at work there, it holds the address of the thread's state.
pub type Canary = MaybeUninit<usize>;

/// A thread's state. The entries of wrappers (crate::processor) use the first five fields at these offsets. The fields that most calls use fill the first
/// cache lines.
#[repr(C)]
pub struct RecorderThread {
    /// Return address of the call being entered: the call site.
    pub caller: usize,
    /// Address of the slot in `forward::NEXT` of the Fortran function being entered; where functions of C share a body, which of them it is.
    pub next: usize,
    /// The stack pointer of the call being entered: where the processor pushes the return address, it points to that. 0: no call is being entered.
    pub sp: usize,
    /// The frame pointer of the call being entered.
    pub bp: usize,
    /// Number of calls that are parked ([`crate::state::entered`]).
    pub n_parked: usize,
    /// Address of the canary of the outermost call under way, 0 before the first.
    pub inside: usize,
    /// The next free slot of the ring; null while the thread does not record.
    pub cursor: *mut Record,
    /// End of the ring's slots.
    pub limit: *mut Record,
    /// The paths that each call is compared with; null while the thread has no ring.
    pub known_paths: *const KnownPath,
    /// Value that the stack pointer is mixed with in the key of a path ([`crate::recording::call_path`]). Other threads change it, too.
    pub path_key: usize,
    /// The communicator last used, as a handle.
    pub comm_handle: usize,
    /// Facts about it.
    pub comm: *const CommInfo,
    pub comm_id: u32,
    /// Bits that make a call one that the usual path does not serve: [`UNSEEN`], [`CLOCK_MONOTONIC`].
    pub unusual: u32,
    /// The datatype last used, as a handle.
    pub type_handle: usize,
    pub type_size: u64,
    /// Statuses to pass where the program ignores an array of them that [`ThreadTables::few_statuses`] has no room for.
    pub statuses: *mut u8,
    pub statuses_bytes: usize,
    /// The functions that the wrappers in C of [`NEXT_FREQUENT`] forward to, those that are called most last, all but the last ones.
    pub next_frequent: [usize; N_FREQUENT - N_MOST_FREQUENT],
    /// MPI_STATUS_IGNORE, a copy beside the functions of the calls that take a status.
    pub status_ignore: usize,
    /// Likewise, the interface of the MPI library.
    pub interface: AbiFamily,
    /// The last of these functions.
    pub next_most_frequent: [usize; N_MOST_FREQUENT],
    /// Requests of an array as they were before the call, where they are few, as in most calls.
    pub few_requests: [usize; FEW],
    pub requests: *mut usize,
    pub requests_room: usize,
    /// The last of the records of unsuccessful polls to which further ones may be added, or null.
    pub poll: *mut Record,
    /// The first of these records, which follow one another at once.
    pub first_poll: *mut Record,
    /// The one of them that has the time of all polls since it began; the later ones have none.
    pub timed_poll: *mut Record,
    /// Time at which the last poll in them ended.
    pub poll_end: u64,
    /// Ticks within the polls whose time that record has.
    pub poll_ticks: u64,
    /// Ticks that a poll takes, as measured of some of them.
    pub usual_poll_ticks: u64,
    /// Polls in a row that followed one another at once: after some, only one of several reads the clock.
    pub quick_polls: u32,
    /// Polls since `poll_end` that did not read it.
    pub unmeasured_polls: u32,
    /// The last of the records of calls on a window that repeat one another, or null.
    pub spin: *mut Record,
    /// Number of them that repeat one before.
    pub spin_repetitions: u32,
    /// The call paths that the thread has had; null while it has no ring.
    pub paths: *mut CallPaths,
    /// Further state that the thread needs when its ring is full; null before its first call.
    pub log: *mut ThreadLog,
    /// Number of times that the recorder itself is entered on this thread, so that nothing of its own is recorded. While it is not 0 the
    /// thread may be using its log; see [`crate::recording::close::close_all`].
    pub busy: u32,
    /// Scratch record for calls made while recording is paused, whose effects on requests and communicators are followed all the same.
    pub aside: MaybeUninit<Record>,
    /// True if the handle in use is known to be good, so that MPI may be asked about it.
    pub asking: bool,
    /// The thread can have no ring; what it calls is not recorded.
    pub refused: bool,
    /// Number of times that the thread has begun to end.
    pub ends: u8,
    /// The index of the function that the thread last called though MPI does not have it ([`crate::forward`]).
    pub missing: usize,
    /// Number of critical sections that the thread is in ([`crate::harmless::signals`]).
    pub critical: u32,
    /// Address of the canary of the recorder's own innermost frame, while it is at work on this thread; 0: it is not.
    pub at_work: usize,
    /// Address of its outermost one.
    pub first_at_work: usize,
    /// State of the thread's cancellation before the recorder came to work on it and put that off.
    pub cancellation: CancelState,
    /// The thread's number in the system; 0: not known.
    pub id: c_int,
    /// The locks that it holds, each by a counter of its own ([`crate::harmless::signals::HandlerLock`]); null: none.
    pub held: [*const AtomicU32; MAX_HELD],
    /// True if the recorder is known to have been left by siglongjmp while it was at work on this thread.
    pub left: bool,
    /// State of the thread in parallel regions.
    pub team: TeamMember,
}

/// In [`RecorderThread::unusual`]: the call being entered names a communicator or datatype of which nothing is known.
pub const UNSEEN: u32 = 1;
/// In [`RecorderThread::unusual`]: ticks are read from CLOCK_MONOTONIC ([`crate::system::clock`]).
pub const CLOCK_MONOTONIC: u32 = 2;

/// The tables that fewer calls use than the fields of [`RecorderThread`], before which they lie: so that is near to the C library's data of
/// the thread, most often in the same page.
#[repr(C, align(64))]
pub struct ThreadTables {
    /// Communicators lately used, by a hash of their handles.
    pub comms: [(usize, *const CommInfo); CACHE],
    /// Datatypes lately used, by a hash of their handles, and their sizes.
    pub types: [(usize, u64); CACHE],
    /// A status, or the statuses of a few requests, to pass where the program ignores them. One has 32 bytes at most; where INTEGER has 8 bytes, Fortran's has
    /// twice as many.
    pub few_statuses: [[u64; 4]; FEW],
}

#[inline(always)]
pub fn thread_tables(thread: *mut RecorderThread) -> *mut ThreadTables {
    thread.wrapping_byte_sub(PARKED_BYTES + size_of::<ThreadTables>()).cast()
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
pub fn current_thread() -> *mut RecorderThread {
    processor::thread_state().cast()
}

/// Empties a thread's cache of communicators.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn forget_comms(thread: *mut RecorderThread) {
    // SAFETY: the thread's own state.
    unsafe {
        (*thread).comm_handle = 0;
        (*thread).comm = &UNKNOWN;
        (*thread).comm_id = UNKNOWN.id;
        (*thread_tables(thread)).comms = [(0, std::ptr::null()); CACHE];
    }
}
