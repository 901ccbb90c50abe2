//! Faults of the rings' pages: a ring is a file's memory, and the system raises SIGBUS where the file was cut short or its disk fails.
//!
//! A handler of ours puts memory without a file in place of such a ring, and the thread goes on in it. Any other SIGBUS is the
//! program's: the handler puts back what the program had installed and returns. The instruction then faults again, or the signal
//! comes again with all that it carries, and the system does exactly what it would do without us: on the program's stack, with its mask
//! and flags, and with its exit status or core where it has no handler.
//!
//! Nothing of the program is intercepted. A program that asks for its handler sees ours, and may put it back later, call it, or compare it.
//! So each of the program's actions is covered by a handler of its own, which knows what it stands for ([`COVERED`]). A handler
//! that the program installs is covered at the next flush. A program that ignores the signal is left alone, because children inherit that.
//!
//! System calls are made directly: the functions that change mappings are patched by UCX, whose hooks take locks.
//! All here may run in a handler: it takes no lock, allocates nothing and keeps `errno`.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize};

use lbprof_collector::ring::MAX_RINGS;

use crate::machine::system::actions::{SignalAction, exchange_action};
use crate::machine::system::clock::read_ticks;

type Handler = unsafe extern "C-unwind" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// An action of the program, and the handler that stands in its place.
struct CoveredAction {
    ours: Handler,
    /// True if `theirs` is there; it never changes from then on.
    taken: AtomicBool,
    theirs: UnsafeCell<SignalAction>,
}

// SAFETY: written once, by the thread that holds `COVERING`, before `taken` is set.
unsafe impl Sync for CoveredAction {}

impl CoveredAction {
    const fn with_handler(ours: Handler) -> Self {
        CoveredAction { ours, taken: AtomicBool::new(false), theirs: UnsafeCell::new(SignalAction::DEFAULT) }
    }

    /// Returns the action of the program that this one stands for.
    fn theirs(&self) -> Option<SignalAction> {
        // SAFETY: it does not change any more.
        self.taken.load(Acquire).then(|| unsafe { *self.theirs.get() })
    }

    /// Returns the action that replaces the program's. No other handler may interrupt ours. It runs on the stack that the program has
    /// chosen, because it may have freed another one, and it interrupts the system calls that the program's would interrupt.
    fn action(&self, theirs: SignalAction) -> SignalAction {
        let kept = theirs.flags & (libc::SA_ONSTACK | libc::SA_RESTART) as u64;
        let flags = kept | libc::SA_SIGINFO as u64;
        SignalAction { mask: u64::MAX, ..SignalAction::of_handler(self.ours as usize, flags) }
    }
}

/// Actions of the program: one as it comes from MPI, and some that it installs. With one more it is left alone.
static COVERED: [CoveredAction; 8] = [
    CoveredAction::with_handler(caught::<0>),
    CoveredAction::with_handler(caught::<1>),
    CoveredAction::with_handler(caught::<2>),
    CoveredAction::with_handler(caught::<3>),
    CoveredAction::with_handler(caught::<4>),
    CoveredAction::with_handler(caught::<5>),
    CoveredAction::with_handler(caught::<6>),
    CoveredAction::with_handler(caught::<7>),
];

/// True if a thread is covering an action.
static COVERING: AtomicBool = AtomicBool::new(false);

fn covered_by(handler: usize) -> Option<&'static CoveredAction> {
    COVERED.iter().find(|covered| covered.ours as usize == handler)
}

/// Installs our handler over the program's, unless it is there already. Returns whether it is there.
pub fn cover_sigbus() -> bool {
    let Some(now) = exchange_action(libc::SIGBUS, None) else { return false };
    if covered_by(now.handler).is_some() {
        return true;
    }
    if now.handler == libc::SIG_IGN || COVERING.swap(true, SeqCst) {
        return false;
    }
    let done = taken_for(now).is_some_and(|covered| install_cover(covered, now));
    COVERING.store(false, SeqCst);
    done
}

/// Returns the place for an action: where it was before, or a free one.
fn taken_for(now: SignalAction) -> Option<&'static CoveredAction> {
    let known = COVERED.iter().find(|covered| covered.theirs() == Some(now));
    known.or_else(|| {
        let free = COVERED.iter().find(|covered| covered.theirs().is_none())?;
        // SAFETY: no thread reads it yet, and one thread covers at a time.
        unsafe { *free.theirs.get() = now };
        free.taken.store(true, Release);
        Some(free)
    })
}

fn install_cover(covered: &CoveredAction, now: SignalAction) -> bool {
    let Some(before) = exchange_action(libc::SIGBUS, Some(&covered.action(now))) else { return false };
    if before != now {
        // The program has installed another one at this instant.
        exchange_action(libc::SIGBUS, Some(&before));
    }
    before == now
}

/// Puts the program's action back, where ours is there.
pub fn uncover_sigbus() {
    if let Some(theirs) =
        exchange_action(libc::SIGBUS, None).and_then(|now| covered_by(now.handler)).and_then(CoveredAction::theirs)
    {
        exchange_action(libc::SIGBUS, Some(&theirs));
    }
}

unsafe extern "C-unwind" fn caught<const N: usize>(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: called by the system, or by code that asked the system for the handler, with a handler's arguments.
    unsafe {
        let errno = libc::__errno_location();
        let kept = *errno;
        if let Some(covered) = COVERED.get(N) {
            handle_fault(covered, signal, info, context);
        }
        *errno = kept;
    }
}

/// # Safety
/// The arguments are those that the system gives to a handler.
unsafe fn handle_fault(covered: &CoveredAction, signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let (Some(now), Some(theirs)) = (exchange_action(libc::SIGBUS, None), covered.theirs()) else { return };
    let is_installed = now.handler == covered.ours as usize;
    if is_installed && now.flags & libc::SA_SIGINFO as u64 == 0 {
        // Put back by signal(), which has no such flags: what has happened is not known until it happens again.
        exchange_action(libc::SIGBUS, Some(&covered.action(theirs)));
        return;
    }
    // SAFETY: the system has filled it, as the flags say.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    if is_fault(code) && rescue_ring(address) {
        return;
    }
    if is_installed || now == theirs {
        exchange_action(libc::SIGBUS, Some(&theirs));
        if !is_fault(code) {
            // SAFETY: to this very thread, which gets it when this handler returns.
            unsafe { send_again(signal, info) };
        }
    } else if [libc::SIG_DFL, libc::SIG_IGN].contains(&theirs.handler) {
        // A handler of the program passes on to what it believes to have been there.
        exchange_action(libc::SIGBUS, Some(&theirs));
    } else {
        // SAFETY: likewise; a handler of the program, which reads as many of the arguments as it has.
        unsafe { std::mem::transmute::<usize, Handler>(theirs.handler)(signal, info, context) };
    }
}

/// Returns whether an instruction raised the signal, and does so again when it is run again.
fn is_fault(code: c_int) -> bool {
    /// The processor's own, such as an address that no pointer can have.
    const SI_KERNEL: c_int = 0x80;
    matches!(code, libc::BUS_ADRALN | libc::BUS_ADRERR | libc::BUS_OBJERR | libc::BUS_MCEERR_AR | SI_KERNEL)
}

/// # Safety
/// The system has filled `info`.
unsafe fn send_again(signal: c_int, info: *mut libc::siginfo_t) {
    // SAFETY: the caller's promise. A process may send itself any signal.
    unsafe {
        let (process, thread) = (libc::getpid(), libc::gettid());
        if libc::syscall(libc::SYS_rt_tgsigqueueinfo, process, thread, signal, info) != 0 {
            libc::syscall(libc::SYS_tgkill, process, thread, signal);
        }
    }
}

struct RingMapping {
    /// 0: none.
    start: AtomicUsize,
    bytes: AtomicUsize,
    state: AtomicU8,
    /// Before and after memory was put in its place, in ticks.
    replaced: [AtomicU64; 2],
}

/// The ring is a file's memory.
const OF_FILE: u8 = 0;
/// Memory is being put in its place.
const MOVING: u8 = 1;
/// The file is lost, which is not reported yet.
const LOST: u8 = 2;
/// State of a ring whose loss is known, and reported in the log.
const KNOWN: u8 = 3;
/// There was no memory to put in its place.
const STUCK: u8 = 4;

static RINGS: [RingMapping; MAX_RINGS] = [const {
    RingMapping {
        start: AtomicUsize::new(0),
        bytes: AtomicUsize::new(0),
        state: AtomicU8::new(OF_FILE),
        replaced: [const { AtomicU64::new(0) }; 2],
    }
}; MAX_RINGS];

/// End of the numbers in use so far.
static N_RINGS: AtomicUsize = AtomicUsize::new(0);

pub fn look_after(number: u32, start: usize, bytes: usize) {
    if let Some(ring) = RINGS.get(number as usize) {
        ring.bytes.store(bytes, Relaxed);
        ring.state.store(OF_FILE, Relaxed);
        ring.start.store(start, Release);
        N_RINGS.fetch_max(number as usize + 1, SeqCst);
    }
}

/// Stops looking after ring `number`, whose pages are about to be freed.
pub fn forget_ring(number: u32) {
    if let Some(ring) = RINGS.get(number as usize) {
        ring.start.store(0, SeqCst);
    }
}

/// Returns whether ring `number` has lost its file, which [`newly_lost`] has not reported yet, or its file was emptied so that it is not set up any more.
pub fn has_lost_file(number: u32, is_set_up: impl FnOnce() -> bool) -> bool {
    RINGS.get(number as usize).is_some_and(|ring| match ring.state.load(SeqCst) {
        // Looking at it may show the loss.
        OF_FILE => !is_set_up() || ring.state.load(SeqCst) == LOST,
        state => state == LOST,
    })
}

/// Returns the ticks before and after memory was put in place of ring `number`, if it has lost its file since the last call.
pub fn newly_lost(number: u32) -> Option<[u64; 2]> {
    let ring = RINGS.get(number as usize)?;
    ring.state.compare_exchange(LOST, KNOWN, SeqCst, Relaxed).ok()?;
    Some([0, 1].map(|at| ring.replaced.get(at).map_or(0, |ticks| ticks.load(Relaxed))))
}

/// Gives up the file of ring `number`, which was emptied and is as long as before: no page of it may be used as it is.
pub fn give_up_file(number: u32) {
    if let Some(ring) = RINGS.get(number as usize) {
        rescue_ring(ring.start.load(Acquire));
    }
}

/// Has the system check whether all pages of ring `number` can be written, for use where our handler is not installed. Works since Linux 5.14.
pub fn try_pages(number: u32) {
    const MADV_POPULATE_WRITE: c_int = 23;
    let Some(ring) = RINGS.get(number as usize) else { return };
    let (start, bytes) = (ring.start.load(Acquire), ring.bytes.load(Relaxed));
    if start == 0 || ring.state.load(Relaxed) != OF_FILE {
        return;
    }
    // SAFETY: our own pages; nothing in them changes.
    unsafe {
        let refused = libc::syscall(libc::SYS_madvise, start, bytes, MADV_POPULATE_WRITE) != 0;
        if refused && *libc::__errno_location() == libc::EFAULT {
            rescue_ring(start);
        }
    }
}

/// Returns whether the address is in a ring and can be used now.
fn rescue_ring(address: usize) -> bool {
    let rings = RINGS.get(..N_RINGS.load(Acquire)).unwrap_or_default();
    let ring = rings.iter().find(|ring| {
        let start = ring.start.load(Acquire);
        start != 0 && address.checked_sub(start).is_some_and(|offset| offset < ring.bytes.load(Relaxed))
    });
    let Some(ring) = ring else { return false };
    match ring.state.compare_exchange(OF_FILE, MOVING, SeqCst, SeqCst) {
        Ok(_) => {
            let [before, after] = &ring.replaced;
            before.store(read_ticks(), Relaxed);
            // SAFETY: a ring's pages, and no other thread moves them.
            let moved = unsafe { replace_pages(ring.start.load(Acquire), ring.bytes.load(Relaxed)) };
            after.store(read_ticks(), Relaxed);
            ring.state.store(if moved { LOST } else { STUCK }, SeqCst);
            moved
        }
        // Another thread is at it, or has done it.
        Err(state) => state != STUCK,
    }
}

/// Puts memory without a file in the place of the pages, with what can be read of them still.
///
/// # Safety
/// The pages are a ring's, and no other thread moves them.
unsafe fn replace_pages(start: usize, bytes: usize) -> bool {
    const PAGE: usize = 4096;
    // SAFETY: new pages that are ours alone; then they take the place of other pages of ours. The system reads the old ones, and gives an
    // error where an instruction would fault.
    unsafe {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let new = libc::syscall(libc::SYS_mmap, 0usize, bytes, access, kind, -1isize, 0usize);
        if new == -1 {
            return false;
        }
        let own = libc::getpid();
        for offset in (0..bytes).step_by(PAGE) {
            let iov_len = PAGE.min(bytes - offset);
            let to = libc::iovec { iov_base: (new as usize + offset) as *mut c_void, iov_len };
            let from = libc::iovec { iov_base: (start + offset) as *mut c_void, iov_len };
            libc::process_vm_readv(own, &to, 1, &from, 1, 0);
        }
        let how = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        let moved = libc::syscall(libc::SYS_mremap, new, bytes, bytes, how, start) != -1;
        if !moved {
            libc::syscall(libc::SYS_munmap, new, bytes);
        }
        moved
    }
}
