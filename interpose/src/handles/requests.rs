//! Open requests: handles → what was started.
//!
//! A request may be completed by another thread than the one that started it, and its handle may be given to a new request
//! the moment MPI has completed it, before this library sees the return. So the table may hold one handle twice, and
//! [`take`] gives the one that was started first. It is an array of buckets without chains, entered without a lock. Each handle has a home,
//! one of its bucket's places, where nearly all are found at once; what finds that taken goes to another one, and where the bucket is full,
//! to an ordinary map.
//!
//! Where no two threads call MPI at the same time, a handler of a signal is all that can come in between: then the processor's instructions need not keep
//! other cores out, which takes as long as all else that the table does.

use std::collections::{HashMap, VecDeque};
use std::hint;
use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
    fence,
};

use lbprof_collector::{Activity, CallFlags};

use crate::harmless::enter;
use crate::harmless::signals::HandlerLock;
use crate::processor::{add_on_this_core, exchange_on_this_core, rare_branch};
use crate::state::thread;
use crate::word::Word;

/// The facts about an open request or matched message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenRequest {
    /// Its id in the log.
    pub id: u32,
    /// Id of the communicator.
    pub comm: u32,
    /// Peer as given at its start.
    pub peer: i32,
    /// Tag as given at its start.
    pub tag: i32,
    /// Bytes that it sends or contributes.
    pub sent: u64,
    /// Bytes that a collective is given; of a message they are known when it has arrived.
    pub received: u64,
    /// Number of the activity that its completion belongs to, and the bits below. Wide, for padding would be copied with the rest.
    pub kind: u64,
}

// Bits of [`OpenRequest::kind`]. Those that a record's flags have, too, are the same there.
/// Bit of a request whose source was MPI_ANY_SOURCE.
pub const ANY_SOURCE: u64 = CallFlags::ANY_SOURCE.0 as u64;
/// Bit of a request whose tag was MPI_ANY_TAG.
pub const ANY_TAG: u64 = CallFlags::ANY_TAG.0 as u64;
/// Bit of a persistent request: completion leaves it open, inactive.
pub const PERSISTENT: u64 = CallFlags::PERSISTENT.0 as u64;
/// Bit of a persistent request that is active.
pub const ACTIVE: u64 = 1 << 16;
/// Bit of a request that receives a message, so that its status says who sent what.
pub const RECEIVES: u64 = 1 << 17;
/// Bit of a request for a communicator that is being made (MPI_Comm_idup).
pub const MAKES_COMM: u64 = 1 << 18;
/// Bit of a request that reads a file: its status has the bytes.
pub const READS: u64 = 1 << 19;
/// Bit of a request that writes a file: its status has the bytes.
pub const WRITES: u64 = 1 << 20;

/// Bits of a record's flags that are its activity.
const ACTIVITY: u64 = Activity::MASK as u64;

/// The activity and the wildcards of a record's flags, as an [`OpenRequest::kind`].
#[inline(always)]
pub fn kind_of(flags: CallFlags) -> u64 {
    u64::from(flags.0) & (ACTIVITY | ANY_SOURCE | ANY_TAG)
}

/// The activity, the wildcards and the persistence that an [`OpenRequest::kind`] shows, as a record's flags.
#[inline(always)]
fn flags_of(kind: u64) -> CallFlags {
    CallFlags((kind & (ACTIVITY | ANY_SOURCE | ANY_TAG | PERSISTENT)) as u16)
}

#[inline(always)]
fn is_usual(kind: u64) -> bool {
    kind & (PERSISTENT | MAKES_COMM | READS | WRITES) == 0
}

const WAYS: usize = 8;
const BUCKETS: usize = 512;
/// A slot without a request; no MPI gives out such a handle, and each interface's null request is another.
const FREE: usize = 0;
/// A slot that is being filled or read; no handle, either.
const CLAIMED: usize = 1;

/// Returns whether a word can be a request's handle. Programs pass others, too, which MPI refuses.
#[inline(always)]
fn is_handle(handle: Word) -> bool {
    handle > CLAIMED
}

/// A place for a request: its handle and what is known of it, in one cache line.
#[repr(C, align(64))]
struct RequestSlot {
    handle: AtomicUsize,
    sent: AtomicU64,
    received: AtomicU64,
    /// The peer, and in the upper half the tag.
    peer_and_tag: AtomicU64,
    /// The communicator's id, and in the upper half the request's.
    comm_and_id: AtomicU64,
    kind: AtomicU64,
    /// Number of requests whose home is this slot but which are elsewhere: in the lower half those in [`OVERFLOW`], in the upper one those
    /// at other places of the bucket. If there is none, a handle can only be here. Counted before the request is there, and until it is
    /// not.
    elsewhere: AtomicU64,
}

impl RequestSlot {
    const fn free() -> RequestSlot {
        RequestSlot {
            handle: AtomicUsize::new(FREE),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
            peer_and_tag: AtomicU64::new(0),
            comm_and_id: AtomicU64::new(0),
            kind: AtomicU64::new(0),
            elsewhere: AtomicU64::new(0),
        }
    }
}

/// Places of which a request has one.
type Bucket = [RequestSlot; WAYS];

/// A request in another slot, in [`RequestSlot::elsewhere`].
const AT_ANOTHER_PLACE: u64 = 1 << 32;

static TABLE: [Bucket; BUCKETS] = [const { [const { RequestSlot::free() }; WAYS] }; BUCKETS];

static OVERFLOW: HandlerLock<Option<HashMap<Word, VecDeque<OpenRequest>, foldhash::fast::FixedState>>> =
    HandlerLock::new(None);

/// The state that all requests share.
#[repr(C, align(64))]
struct RequestCommons {
    /// True if several threads may call MPI at the same time.
    is_concurrent: AtomicBool,
    next_id: AtomicU32,
}

#[unsafe(link_section = ".data.lbprof_frequent")]
static COMMONS: RequestCommons = RequestCommons { is_concurrent: AtomicBool::new(true), next_id: AtomicU32::new(0) };

/// Several threads may call MPI at the same time from here on, or not.
pub fn set_concurrent(is_concurrent: bool) {
    COMMONS.is_concurrent.store(is_concurrent, SeqCst);
}

/// The answer of [`concurrency`], which a call asks once.
#[derive(Clone, Copy)]
pub struct ThreadConcurrency(bool);

/// Returns whether several threads may call MPI at the same time.
#[inline(always)]
pub fn concurrency() -> ThreadConcurrency {
    ThreadConcurrency(COMMONS.is_concurrent.load(Relaxed))
}

/// A new request id, unique in the rank until it wraps, after 2³¹ requests.
pub fn new_id() -> u32 {
    next_id(concurrency())
}

/// Returns a new request id like [`new_id`].
#[inline(always)]
pub fn next_id(concurrency: ThreadConcurrency) -> u32 {
    let id = if concurrency.0 {
        rare_branch();
        COMMONS.next_id.fetch_add(1, Relaxed)
    } else {
        add_on_this_core(&COMMONS.next_id, 1)
    };
    id & 0x7fff_ffff
}

/// Returns whether request `id` was started before `other`; both may be the same.
#[inline(always)]
fn is_older(id: u32, other: u32) -> bool {
    // Ids have 31 bits: moved up by one, the sign of their difference gives the nearer way round.
    (id.wrapping_sub(other) << 1) as i32 <= 0
}

/// The home of a handle: its bucket, and the index of its place.
#[inline(always)]
fn home(handle: Word) -> (&'static Bucket, usize) {
    let index = index_of(handle);
    // SAFETY: the shift leaves as many bits as there are places.
    (unsafe { TABLE.get_unchecked(index / WAYS) }, index % WAYS)
}

/// The place at which a handle is at home.
#[inline(always)]
fn place_of(handle: Word) -> &'static RequestSlot {
    // SAFETY: as above.
    unsafe { TABLE.as_flattened().get_unchecked(index_of(handle)) }
}

/// The index of a handle's home among all places.
#[inline(always)]
fn index_of(handle: Word) -> usize {
    // Handles are multiples of a power of two (pointers) or small steps apart (integers): a multiplication spreads both.
    let hash = (handle as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash >> (64 - (BUCKETS * WAYS).trailing_zeros())) as usize
}

/// The place of this index in a bucket.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "a remainder is never too large")]
fn place_at(bucket: &Bucket, index: usize) -> &RequestSlot {
    &bucket[index % WAYS]
}

impl RequestSlot {
    /// Returns whether a handle that is at home here can only be here.
    #[inline(always)]
    fn has_all(&self) -> bool {
        self.elsewhere.load(Acquire) == 0
    }

    fn has_overflowed(&self) -> bool {
        self.elsewhere.load(Acquire) as u32 != 0
    }
}

impl OpenRequest {
    /// Returns whether nothing more is to be done about it when it completes than to record that, and what arrived: most are such.
    #[inline(always)]
    pub fn is_usual(&self) -> bool {
        is_usual(self.kind)
    }

    /// The activity that its completion belongs to, its wildcards, and whether it is persistent, as a record's flags.
    #[inline(always)]
    pub fn flags(&self) -> CallFlags {
        flags_of(self.kind)
    }

    /// Returns whether it is persistent and not started: completing it completes nothing.
    #[inline(always)]
    pub fn is_inactive(&self) -> bool {
        self.kind & (PERSISTENT | ACTIVE) == PERSISTENT
    }
}

impl RequestSlot {
    #[inline(always)]
    fn store(&self, open: OpenRequest) {
        self.sent.store(open.sent, Relaxed);
        self.received.store(open.received, Relaxed);
        self.peer_and_tag.store(pair(open.peer as u32, open.tag as u32), Relaxed);
        self.comm_and_id.store(pair(open.comm, open.id), Relaxed);
        self.kind.store(open.kind, Relaxed);
    }

    #[inline(always)]
    fn load(&self) -> OpenRequest {
        self.load_of_kind(self.kind.load(Relaxed))
    }

    #[inline(always)]
    fn load_of_kind(&self, kind: u64) -> OpenRequest {
        let (peer_and_tag, comm_and_id) = (self.peer_and_tag.load(Relaxed), self.comm_and_id.load(Relaxed));
        OpenRequest {
            id: (comm_and_id >> 32) as u32,
            comm: comm_and_id as u32,
            peer: peer_and_tag as i32,
            tag: (peer_and_tag >> 32) as i32,
            sent: self.sent.load(Relaxed),
            received: self.received.load(Relaxed),
            kind,
        }
    }

    #[inline(always)]
    fn id(&self) -> u32 {
        (self.comm_and_id.load(Relaxed) >> 32) as u32
    }
}

#[inline(always)]
fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Exchanges what a place holds for `new`, if it is still `found`; whether it was.
#[inline(always)]
fn exchange(place: &RequestSlot, found: usize, new: usize, concurrency: ThreadConcurrency) -> bool {
    if !concurrency.0 {
        exchange_on_this_core(&place.handle, found, new)
    } else {
        rare_branch();
        place.handle.compare_exchange(found, new, Acquire, Relaxed).is_ok()
    }
}

#[inline(always)]
fn claim(place: &RequestSlot, found: usize) -> bool {
    exchange(place, found, CLAIMED, concurrency())
}

/// Puts a request into a place, if that is free; whether it did. It is read when the place is taken, so that few registers are needed until then.
#[inline(always)]
fn put(place: &RequestSlot, handle: Word, open: impl FnOnce() -> OpenRequest, concurrency: ThreadConcurrency) -> bool {
    let is_free = place.handle.load(Relaxed) == FREE && exchange(place, FREE, CLAIMED, concurrency);
    if is_free {
        place.store(open());
        place.handle.store(handle, Release);
    }
    is_free
}

/// Remembers an open request.
#[inline(always)]
pub fn insert(handle: Word, open: OpenRequest) {
    if is_handle(handle) && !insert_at_home(handle, || open, concurrency()) {
        // A copy, so that the other one can stay in registers.
        insert_elsewhere(handle, &OpenRequest { ..open });
    }
}

/// Remembers an open request at its home, and returns whether there was room; the handle is one of MPI's. If not, [`insert_elsewhere`] is to be called.
#[inline(always)]
pub fn insert_at_home(handle: Word, open: impl FnOnce() -> OpenRequest, concurrency: ThreadConcurrency) -> bool {
    put(place_of(handle), handle, open, concurrency)
}

/// Remembers an open request whose home is taken.
#[cold]
#[inline(never)]
pub fn insert_elsewhere(handle: Word, open: &OpenRequest) {
    let open = *open;
    let (bucket, index) = home(handle);
    let home = place_at(bucket, index);
    home.elsewhere.fetch_add(AT_ANOTHER_PLACE, AcqRel);
    if (1..WAYS).any(|step| put(place_at(bucket, index + step), handle, || open, concurrency())) {
        return;
    }
    home.elsewhere.fetch_sub(AT_ANOTHER_PLACE, AcqRel);
    // SAFETY: the calling thread's state.
    unsafe {
        enter::quiet(thread::current(), || {
            let Some(mut map) = OVERFLOW.lock() else { return };
            map.get_or_insert_default().entry(handle).or_default().push_back(open);
            home.elsewhere.fetch_add(1, AcqRel);
        });
    }
}

/// The index of the place of the oldest request of the bucket with this handle.
fn find(bucket: &Bucket, handle: Word) -> Option<usize> {
    // A bit for each place that has it: mostly one.
    let mut found = 0u32;
    for (i, place) in bucket.iter().enumerate() {
        found |= u32::from(place.handle.load(Acquire) == handle) << i;
    }
    match found.count_ones() {
        0 => None,
        1 => Some(found.trailing_zeros() as usize),
        _ => Some(oldest(bucket, found)),
    }
}

/// Of the places whose bits are set in `found`, the one whose request was started first.
#[cold]
#[inline(never)]
fn oldest(bucket: &Bucket, found: u32) -> usize {
    let places = bucket.iter().enumerate().filter(|(i, _)| found >> i & 1 != 0);
    let first = places.reduce(|a, b| if is_older(a.1.id(), b.1.id()) { a } else { b });
    first.map_or(0, |(i, _)| i)
}

/// Takes the request at `place`, unless another thread has just done so.
#[inline(always)]
fn take_at(place: &RequestSlot, handle: Word) -> Option<OpenRequest> {
    if !claim(place, handle) {
        hint::spin_loop();
        return None;
    }
    let open = place.load();
    place.handle.store(FREE, Release);
    Some(open)
}

/// Takes the request at place `index` of the bucket where some are not at home, unless another thread has just done so.
fn take_any(bucket: &Bucket, index: usize, handle: Word) -> Option<OpenRequest> {
    let open = take_at(place_at(bucket, index), handle)?;
    let (_, at_home) = home(handle);
    if index != at_home {
        place_at(bucket, at_home).elsewhere.fetch_sub(AT_ANOTHER_PLACE, AcqRel);
    }
    Some(open)
}

/// Reads the request at `place`, unless another thread has just taken it.
#[inline(always)]
fn look_at(place: &RequestSlot, handle: Word) -> Option<OpenRequest> {
    // Between the same id at both ends and the handle, the rest is that request's.
    let id = (place.comm_and_id.load(Acquire) >> 32) as u32;
    if place.handle.load(Acquire) != handle {
        return None;
    }
    let open = place.load();
    fence(Acquire);
    (place.handle.load(Relaxed) == handle && place.id() == id).then_some(open)
}

/// The facts about an open request that an unsuccessful poll records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolledRequest {
    /// Id, see [`OpenRequest::id`].
    pub id: u32,
    /// Communicator, see [`OpenRequest::comm`].
    pub comm: u32,
    /// Number of the activity that its completion belongs to.
    pub activity: u16,
}

/// Reads less of a slot than [`look_at`].
#[inline(always)]
fn look_at_polled(place: &RequestSlot, handle: Word) -> Option<PolledRequest> {
    // The same order of loads.
    let id = (place.comm_and_id.load(Acquire) >> 32) as u32;
    if place.handle.load(Acquire) != handle {
        return None;
    }
    let polled = PolledRequest {
        id,
        comm: place.comm_and_id.load(Relaxed) as u32,
        activity: Activity::number_in(place.kind.load(Relaxed)),
    };
    fence(Acquire);
    (place.handle.load(Relaxed) == handle && place.id() == id).then_some(polled)
}

/// Peeks for a poll, of which a program makes millions: unlike [`peek`] it is inlined, and reads only what the poll's record needs.
#[inline(always)]
pub fn peek_polled(handle: Word) -> Option<PolledRequest> {
    if !is_handle(handle) {
        return None;
    }
    let place = place_of(handle);
    if place.has_all() {
        if place.handle.load(Acquire) != handle {
            return None;
        }
        if let Some(polled) = look_at_polled(place, handle) {
            return Some(polled);
        }
    }
    peek_again(handle)
}

/// Peeks again if the request may be elsewhere, or another thread has just changed its place.
#[cold]
#[inline(never)]
fn peek_again(handle: Word) -> Option<PolledRequest> {
    let open = peek(handle)?;
    Some(PolledRequest { id: open.id, comm: open.comm, activity: Activity::number_in(open.kind) })
}

/// Takes out the oldest open request with this handle.
#[inline(always)]
pub fn take(handle: Word) -> Option<OpenRequest> {
    if !is_handle(handle) {
        return None;
    }
    let place = place_of(handle);
    if place.has_all() {
        if place.handle.load(Acquire) != handle {
            return None;
        }
        if let Some(open) = take_at(place, handle) {
            return Some(open);
        }
    }
    take_again(handle)
}

/// Takes a request that is at home and usual ([`OpenRequest::is_usual`]), as most are. For others it does nothing and returns `None`; see
/// [`take`]. `handle` is one that MPI has completed, so it is a request's.
#[inline(always)]
pub fn take_usual(handle: Word) -> Option<OpenRequest> {
    let place = place_of(handle);
    if !place.has_all() || place.handle.load(Acquire) != handle {
        return None;
    }
    let kind = place.kind.load(Relaxed);
    if !is_usual(kind) {
        return None;
    }
    if !COMMONS.is_concurrent.load(Relaxed) {
        let open = place.load_of_kind(kind);
        return exchange_on_this_core(&place.handle, handle, FREE).then_some(open);
    }
    rare_branch();
    if place.handle.compare_exchange(handle, CLAIMED, Acquire, Relaxed).is_err() {
        return None;
    }
    let open = place.load();
    if !open.is_usual() {
        // Other threads have taken the one that was looked at, and put in another one.
        place.handle.store(handle, Release);
        return None;
    }
    place.handle.store(FREE, Release);
    Some(open)
}

/// Takes again if the request may be elsewhere, or another thread has just taken it.
#[cold]
#[inline(never)]
fn take_again(handle: Word) -> Option<OpenRequest> {
    let (bucket, index) = home(handle);
    if place_at(bucket, index).has_overflowed() {
        return of_both(bucket, handle, true);
    }
    loop {
        if let Some(open) = take_any(bucket, find(bucket, handle)?, handle) {
            return Some(open);
        }
    }
}

/// Looks at the oldest open request with this handle, which stays open.
pub fn peek(handle: Word) -> Option<OpenRequest> {
    if !is_handle(handle) {
        return None;
    }
    let (bucket, index) = home(handle);
    if place_at(bucket, index).has_overflowed() {
        return of_both(bucket, handle, false);
    }
    loop {
        let place = place_at(bucket, find(bucket, handle)?);
        if let Some(open) = look_at(place, handle) {
            return Some(open);
        }
        hint::spin_loop();
    }
}

/// Finds the oldest request of a handle if the bucket was full: it may be in either place.
#[cold]
#[inline(never)]
fn of_both(bucket: &Bucket, handle: Word, take: bool) -> Option<OpenRequest> {
    // SAFETY: the calling thread's state.
    unsafe { enter::quiet(thread::current(), || older_of_both(bucket, handle, take)) }
}

fn older_of_both(bucket: &Bucket, handle: Word, take: bool) -> Option<OpenRequest> {
    let mut map = OVERFLOW.lock()?;
    loop {
        let first = map.as_ref().and_then(|map| map.get(&handle)).and_then(VecDeque::front).copied();
        match (find(bucket, handle), first) {
            (Some(index), first) if first.is_none_or(|first| is_older(place_at(bucket, index).id(), first.id)) => {
                let place = place_at(bucket, index);
                let inside = if take { take_any(bucket, index, handle) } else { look_at(place, handle) };
                if inside.is_some() {
                    return inside;
                }
            }
            (_, Some(first)) if take => {
                let map = map.as_mut()?;
                let same = map.get_mut(&handle)?;
                same.pop_front();
                if same.is_empty() {
                    map.remove(&handle);
                }
                place_at(bucket, home(handle).1).elsewhere.fetch_sub(1, AcqRel);
                return Some(first);
            }
            (_, first) => return first,
        }
    }
}
