//! A thread's state, and the hot path: reserve a slot, fill it, store the end.
//!
//! The state is thread-local storage of the initial-exec kind, which a preloaded library may use: its address is the thread
//! pointer plus a constant, two instructions, where `thread_local!` in a shared object calls `__tls_get_addr`.
//!
//! A call's record is filled so that whatever happens to the process, the ring tells the truth: `begin` is stored last
//! before the real call, `end` first after it. So the recorder's own time counts as computation, not as MPI.
//!
//! Only a thread's outermost MPI call records. That a call is under way is marked by the address of a canary in the frame
//! of its wrapper. Calls from frames further down the stack are nested, but a wrapper may have been left by longjmp or by an
//! exception, and then the mark means nothing: a call from elsewhere than MPI looks whether the frame is there ([`nesting`]).

use std::arch::{asm, global_asm};
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::atomic::{Ordering::Release, compiler_fence};

use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::{Flags, NO_PEER, NONE, Record};

use crate::handles::comms::CommInfo;
use crate::harmless::guard;
use crate::mpi::nesting;
use crate::recording::flush::ThreadLog;
use crate::system::clock::ticks;

/// A register-wide argument of an MPI function.
pub type Word = usize;

/// Entries in a thread's cache of datatype sizes and in its cache of communicators.
pub const CACHE: usize = 16;

/// A thread's state. The first two fields are written by the entry stubs (wrappers/mod.rs) at these offsets.
#[repr(C)]
pub struct Thread {
    /// Return address of the call being entered: the call site.
    pub caller: usize,
    /// Address of the slot in `forward::NEXT` of the Fortran function being entered.
    pub next: usize,
    /// Address of the canary of the outermost call under way, 0 before the first.
    inside: usize,
    /// The next free slot of the ring; null while the thread does not record.
    pub cursor: *mut Record,
    /// One past the ring's last slot.
    pub limit: *mut Record,
    /// The communicator last used, as a handle.
    pub comm_handle: usize,
    /// And what is known of it.
    pub comm: *const CommInfo,
    /// The datatype last used, as a handle.
    pub type_handle: usize,
    /// And its size in bytes.
    pub type_size: u64,
    /// The record of unsuccessful polls to which further ones may be added, or null.
    pub poll: *mut Record,
    /// The first of the records of polls that follow one another at once, of which that is the last.
    pub first_poll: *mut Record,
    /// When the last poll in them ended.
    pub poll_end: u64,
    /// Ticks within the polls whose time the last record has.
    pub poll_ticks: u64,
    /// Status to pass where the program ignores it.
    pub status: [u64; 8],
    /// What the thread needs when its ring is full; null before its first call.
    pub log: *mut ThreadLog,
    /// Communicators lately used, by a hash of their handles.
    pub comms: [(usize, *const CommInfo); CACHE],
    /// Datatypes lately used, by a hash of their handles, and their sizes.
    pub types: [(usize, u64); CACHE],
    /// Statuses to pass where the program ignores an array of them.
    pub statuses: *mut u8,
    /// Their room in bytes.
    pub statuses_bytes: usize,
    /// Requests of an array as they were before the call.
    pub requests: *mut usize,
    /// Their room, in requests.
    pub requests_room: usize,
    /// How often the recorder itself is entered on this thread, so that nothing of its own is recorded. While it is not 0 the
    /// thread may be using its log; see [`crate::recording::flush::close_all`].
    pub busy: u32,
    /// Where records go while recording is paused: what calls do to requests and communicators is followed all the same.
    pub aside: MaybeUninit<Record>,
    /// The call being entered names a communicator or datatype of which nothing is known.
    pub unseen: bool,
    /// Whether such a handle is known to be good, so that MPI may be asked about it.
    pub asking: bool,
    /// The thread can have no ring; what it calls is not recorded.
    pub refused: bool,
    /// How often the thread has begun to end.
    pub ends: u8,
    /// How many critical sections the thread is in ([`crate::harmless::signals`]).
    pub critical: u32,
    /// Address of the canary of the recorder's own innermost frame, while it is at work on this thread.
    at_work: usize,
}

/// Bytes reserved for a [`Thread`] in thread-local storage.
const THREAD_BYTES: usize = 1024;
const _: () = assert!(size_of::<Thread>() <= THREAD_BYTES);

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
compile_error!(
    "lbprof knows only Linux on x86-64 so far: thread.rs, wrappers/mod.rs and clock.rs hold what depends on it"
);

global_asm!(
    ".pushsection .tbss.lbprof_thread,\"awT\",@nobits",
    ".globl lbprof_thread",
    ".hidden lbprof_thread",
    ".type lbprof_thread, @object",
    ".size lbprof_thread, {bytes}",
    ".balign 64",
    "lbprof_thread:",
    ".zero {bytes}",
    ".popsection",
    bytes = const THREAD_BYTES,
);

/// The state of the calling thread; all zero at first. It is valid for as long as the thread lives.
#[inline(always)]
pub fn current() -> *mut Thread {
    let thread: *mut Thread;
    // SAFETY: reads the thread pointer and a link-time constant, nothing else.
    unsafe {
        asm!(
            "mov {t}, qword ptr [rip + lbprof_thread@GOTTPOFF]",
            "add {t}, qword ptr fs:[0]",
            t = out(reg) thread,
            options(pure, nomem, nostack),
        );
    }
    thread
}

/// What a call's arguments say, before it is made.
#[derive(Clone, Copy)]
pub struct Facts {
    /// As [`Record::peer`].
    pub peer: i32,
    /// As [`Record::tag`].
    pub tag: i32,
    /// As [`Record::comm`].
    pub comm: u32,
    /// As [`Record::sent`].
    pub sent: u64,
    /// As [`Record::received`].
    pub received: u64,
    /// As [`Record::flags`], besides the activity.
    pub flags: u16,
}

impl Facts {
    /// Nothing known but the communicator.
    #[inline(always)]
    pub fn on(comm: u32) -> Self {
        Facts { peer: NO_PEER, tag: NO_PEER, comm, sent: 0, received: 0, flags: 0 }
    }

    /// Nothing known at all.
    #[inline(always)]
    pub fn none() -> Self {
        Self::on(NONE)
    }
}

/// A word in a wrapper's frame: while the wrapper's call is under way, it holds the address of the thread's state.
pub type Canary = MaybeUninit<usize>;

/// Whether a call entered now, with its frame at `canary`, is made from inside another one of the same thread.
///
/// # Safety
/// `thread` is the calling thread's state.
#[inline(always)]
pub unsafe fn nested(thread: *mut Thread, canary: *const Canary) -> bool {
    // SAFETY: the caller's promise.
    let inside = unsafe { (*thread).inside };
    (canary as usize) < inside && {
        // SAFETY: the caller's promise.
        unsafe { nesting::is_mpi((*thread).caller) || still_inside(thread, (*thread).caller) }
    }
}

/// Whether the wrapper that [`Thread::inside`] tells of has still to return. If not, the mark is taken away.
///
/// # Safety
/// `thread` is the calling thread's state.
#[cold]
#[inline(never)]
unsafe fn still_inside(thread: *mut Thread, caller: usize) -> bool {
    // SAFETY: the thread's own state.
    unsafe {
        let there =
            nesting::is_any_mpi(caller) || quiet(thread, || nesting::frame_is_there((*thread).inside, thread as usize));
        if !there {
            (*thread).inside = 0;
        }
        there
    }
}

/// Reserves the next slot for a call whose wrapper holds `canary`; `None` where nothing is to be recorded.
///
/// # Safety
/// `thread` is the calling thread's state, `canary` a word of the caller's frame that outlives the call.
#[inline(always)]
pub unsafe fn reserve(thread: *mut Thread, canary: *mut Canary) -> Option<NonNull<Record>> {
    // SAFETY: the caller's promises; between cursor and limit lie slots of this thread's ring.
    unsafe {
        let cursor = (*thread).cursor;
        let slot = if cursor == (*thread).limit {
            NonNull::new(crate::recording::flush::make_room(thread))?
        } else {
            // A thread without a ring has cursor and limit null, so this one has a ring.
            NonNull::new_unchecked(cursor)
        };
        (*thread).cursor = slot.as_ptr().add(1);
        canary.cast::<usize>().write_volatile(thread as usize);
        (*thread).inside = canary as usize;
        Some(slot)
    }
}

/// Fills the reserved slot; the real call follows.
///
/// # Safety
/// `slot` came from [`reserve`] on this thread.
#[inline(always)]
pub unsafe fn open(thread: *mut Thread, slot: *mut Record, operation: u16, activity: u16, facts: Facts) {
    // SAFETY: the slot is this thread's own until the ring wraps.
    unsafe {
        // `end` is 0 since the slot was cleared.
        (*slot).call_site = (*thread).caller as u64;
        (*slot).sent = facts.sent;
        (*slot).received = facts.received;
        (*slot).peer = facts.peer;
        (*slot).tag = facts.tag;
        (*slot).comm = facts.comm;
        (*slot).request = NONE;
        (*slot).operation = operation;
        (*slot).flags = Flags(facts.flags | activity);
        (*slot).count = 0;
        compiler_fence(Release);
        (&raw mut (*slot).begin).write_volatile(ticks());
    }
}

/// The call at `slot` was successful: what it names is good, and MPI is asked about it while `facts` reads the arguments anew.
///
/// # Safety
/// `slot` came from [`reserve`] on this thread and its call has just returned.
pub unsafe fn learn(thread: *mut Thread, slot: *mut Record, facts: impl FnOnce() -> Facts) {
    // SAFETY: as above.
    unsafe {
        (*thread).asking = true;
        let facts = facts();
        (*thread).asking = false;
        (*slot).sent = facts.sent;
        (*slot).received = facts.received;
        (*slot).peer = facts.peer;
        (*slot).comm = facts.comm;
        (*slot).flags |= Flags(facts.flags);
    }
}

/// Stores the end of a call, first of all that follows it.
///
/// # Safety
/// `slot` came from [`reserve`] on this thread and its call has just returned.
#[inline(always)]
pub unsafe fn close(slot: *mut Record) {
    // SAFETY: as above.
    unsafe { (&raw mut (*slot).end).write_volatile(ticks()) };
}

/// The call is over, all of its facts stored.
///
/// # Safety
/// `thread` is the calling thread's state, its call's wrapper about to return.
#[inline(always)]
pub unsafe fn release(thread: *mut Thread) {
    // SAFETY: the thread's own state.
    unsafe { (*thread).inside = 0 };
}

/// Whether an MPI call is under way on this thread, as seen from a marker in `frame`, or the recorder itself runs.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn in_call(thread: *mut Thread, frame: *const Canary) -> bool {
    // SAFETY: the caller's promise.
    unsafe { (*thread).busy != 0 || ((frame as usize) < (*thread).inside && still_inside(thread, 0)) }
}

/// Writes a record that is not an intercepted call: a marker, or a part of the call before it. Counts it as lost
/// nowhere: it returns false only where the thread does not record.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn append(thread: *mut Thread, mut record: Record) -> bool {
    // SAFETY: as in `reserve`.
    unsafe {
        let mut slot = (*thread).cursor;
        if slot == (*thread).limit {
            slot = crate::recording::flush::refill(thread);
            if slot.is_null() {
                return false;
            }
            // Its time was taken before the flush, whose record it follows.
            record.begin = ticks();
            record.end = record.end.max(record.begin);
        }
        (*thread).cursor = slot.add(1);
        store(slot, record);
        true
    }
}

/// Stores a whole record in a slot that was taken for it.
///
/// # Safety
/// The slot is this thread's own.
#[inline(always)]
pub unsafe fn store(slot: *mut Record, record: Record) {
    // SAFETY: the caller's promise.
    unsafe {
        (*slot).end = record.end;
        (*slot).call_site = record.call_site;
        (*slot).sent = record.sent;
        (*slot).received = record.received;
        (*slot).peer = record.peer;
        (*slot).tag = record.tag;
        (*slot).comm = record.comm;
        (*slot).request = record.request;
        (*slot).operation = record.operation;
        (*slot).flags = record.flags;
        (*slot).count = record.count;
        compiler_fence(Release);
        (&raw mut (*slot).begin).write_volatile(record.begin);
    }
}

/// Takes the next slot for a part of the call that has just ended, and fills it from `template`, all but its begin; null where
/// the thread does not record. [`publish_part`] ends it.
///
/// # Safety
/// `thread` is the calling thread's state.
#[inline(always)]
pub unsafe fn add_part(thread: *mut Thread, template: &Record) -> *mut Record {
    // SAFETY: as in `reserve`.
    unsafe {
        let (mut slot, mut end) = ((*thread).cursor, template.end);
        if slot == (*thread).limit {
            slot = crate::recording::flush::make_room(thread);
            if slot.is_null() {
                return slot;
            }
            // As in `append`: it follows the flush.
            end = ticks();
        }
        (*thread).cursor = slot.add(1);
        slot.write(Record { begin: 0, end, ..*template });
        slot
    }
}

/// All facts of a part are stored: its begin, which is its end, makes it valid.
///
/// # Safety
/// `slot` came from [`add_part`] and is not null.
#[inline(always)]
pub unsafe fn publish_part(slot: *mut Record) {
    compiler_fence(Release);
    // SAFETY: the caller's promise.
    unsafe { (&raw mut (*slot).begin).write_volatile((*slot).end) };
}

/// Takes back the slot of the call that has just ended; its record is part of an earlier one.
///
/// # Safety
/// `slot` is the newest record of this thread's ring.
pub unsafe fn take_back(thread: *mut Thread, slot: *mut Record) {
    // SAFETY: the caller's promise.
    unsafe {
        (&raw mut (*slot).begin).write_volatile(0);
        (*slot).end = 0;
        (*thread).cursor = slot;
    }
}

/// Runs `work`, which does not unwind, with the thread marked busy, `errno` kept and the thread's cancellation put off.
///
/// Writing and opening files are cancellation points. A cancelled thread unwinds, which must not begin in the recorder: it
/// would find `catch_unwind` in its way, or leave a lock taken.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn quiet<T>(thread: *mut Thread, work: impl FnOnce() -> T) -> T {
    // SAFETY: the thread's own state, errno and cancellation.
    unsafe {
        let errno = libc::__errno_location();
        let kept = *errno;
        let (mut cancelled, mut ours) = (0, 0);
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut cancelled);
        let mut canary = Canary::uninit();
        canary.as_mut_ptr().write_volatile(thread as usize);
        let outer = std::mem::replace(&mut (*thread).at_work, canary.as_ptr() as usize);
        (*thread).busy += 1;
        let result = work();
        (*thread).busy -= 1;
        (*thread).at_work = outer;
        *errno = kept;
        pthread_setcancelstate(cancelled, &mut ours);
        result
    }
}

/// Runs `work` as [`quiet`] does, unless recording was given up. A panic in it ends recording.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn cold<T: Default>(thread: *mut Thread, work: impl FnOnce() -> T) -> T {
    // SAFETY: the caller's promise.
    unsafe { quiet(thread, || guard::guarded(work)) }
}

/// A call or marker finds the recorder at work on this thread: a handler has interrupted it, and what is called there is not
/// recorded; or has left it by siglongjmp. Then its locks and the thread's log are as they were at that instant: recording ends.
///
/// # Safety
/// `thread` is the calling thread's state, which is busy.
#[cold]
#[inline(never)]
pub unsafe fn found_at_work(thread: *mut Thread) {
    // SAFETY: the thread's own state.
    unsafe {
        // What comes after the recorder gave up is no longer recorded: that was counted once, by what ended it.
        if guard::disabled() {
            return;
        }
        if nesting::frame_is_there((*thread).at_work, thread as usize) {
            guard::count(ProblemKind::MarkerInsideCall, 1);
        } else {
            guard::give_up_after_jump();
        }
    }
}

/// How often the recorder is entered on a thread, be it another one than the caller.
///
/// # Safety
/// The thread's state is there.
pub unsafe fn busy(thread: *mut Thread) -> u32 {
    // SAFETY: the caller's promise; aligned words are read whole.
    unsafe { (&raw const (*thread).busy).read_volatile() }
}

/// Of pthread.h; the same in glibc and musl.
const PTHREAD_CANCEL_DISABLE: c_int = 1;

unsafe extern "C-unwind" {
    /// Enabling it again may end a thread whose cancellation is asynchronous.
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
}
