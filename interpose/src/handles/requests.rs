//! The table of open requests: handles → started operations.
//!
//! A request may be completed by another thread than the one that started it, and its handle may be given to a new request the moment MPI
//! has completed it, before this library sees the return. So the table may hold one handle twice, and [`take_request`] returns the request that was
//! started first. The table is an array of buckets without chains, used without a lock. Each handle has a home, one of its bucket's places,
//! where nearly all are found at once. If its home is taken, a request goes to another place, and if the bucket is full, to an ordinary map.
//!
//! If no two threads call MPI at the same time, only a signal handler can come in between. Then the processor's instructions need not keep
//! other cores out, which takes as long as everything else that the table does.

use std::collections::{HashMap, VecDeque};
use std::hint;
use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
    fence,
};

use foldhash::fast::FixedState;
use lbprof_collector::{Activity, CallFlags};

use crate::harmless::enter;
use crate::harmless::signals::HandlerLock;
use crate::machine::processor::{add_on_this_core, exchange_on_this_core, rare_branch};
use crate::machine::word::Word;

/// The facts about an open request or matched message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenRequest {
    pub id: u32,
    pub comm: u32,
    /// Peer as given at its start.
    pub peer: i32,
    /// Tag as given at its start.
    pub tag: i32,
    /// Bytes that it sends or contributes.
    pub sent: u64,
    /// Bytes that a collective receives. A message's bytes are known when it has arrived.
    pub received: u64,
    /// Number of the activity that its completion belongs to, and the bits below. It is wide because padding would be copied anyway.
    pub kind: u64,
}

// Bits of [`OpenRequest::kind`]. Bits that a record's flags also have are the same there.
/// Bit of a persistent request: completion leaves it open, inactive.
pub const PERSISTENT: u64 = CallFlags::PERSISTENT.0 as u64;
/// Bit of a persistent request that is active.
pub const ACTIVE: u64 = 1 << 16;
/// Bit of a request that receives a message, which its status describes.
pub const RECEIVES: u64 = 1 << 17;
/// Bit of a request for a communicator that is being made (MPI_Comm_idup).
pub const MAKES_COMM: u64 = 1 << 18;
/// Bit of a request that reads a file: its status has the bytes.
pub const READS: u64 = 1 << 19;
/// Bit of a request that writes a file: its status has the bytes.
pub const WRITES: u64 = 1 << 20;

/// Bits of a record's flags that an [`OpenRequest::kind`] keeps: the activity and the wildcards.
const FLAGS: u64 = Activity::MASK as u64 | (CallFlags::ANY_SOURCE.0 | CallFlags::ANY_TAG.0) as u64;

/// Returns the activity and the wildcards of a record's flags, as an [`OpenRequest::kind`].
#[inline(always)]
pub fn kind_of(flags: CallFlags) -> u64 {
    u64::from(flags.0) & FLAGS
}

#[inline(always)]
fn is_usual(kind: u64) -> bool {
    kind & (PERSISTENT | MAKES_COMM | READS | WRITES) == 0
}

const WAYS: usize = 8;
const BUCKETS: usize = 512;
/// A slot without a request; no MPI gives out such a handle, and each interface's null request is another.
const FREE: usize = 0;
/// A slot that is being filled or read. It is no handle, either.
const CLAIMED: usize = 1;

/// Returns whether a word can be a request's handle. Programs pass others, too, which MPI refuses.
#[inline(always)]
fn is_handle(handle: Word) -> bool {
    handle > CLAIMED
}

/// A place for a request: its handle and its facts, in one cache line.
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
    /// Number of requests whose home is this slot but which are elsewhere: in [`OVERFLOW`] (the lower half), or at other places of the bucket
    /// (the upper half). If there is none, a handle can only be here. A request counts before it gets there, and until it has left.
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

type Bucket = [RequestSlot; WAYS];

/// A request in another slot, in [`RequestSlot::elsewhere`].
const AT_ANOTHER_PLACE: u64 = 1 << 32;

static TABLE: [Bucket; BUCKETS] = [const { [const { RequestSlot::free() }; WAYS] }; BUCKETS];

static OVERFLOW: HandlerLock<HashMap<Word, VecDeque<OpenRequest>, FixedState>> =
    HandlerLock::new(HashMap::with_hasher(FixedState::with_seed(0)));

/// The state that all requests share.
#[repr(C, align(64))]
struct RequestCommons {
    is_concurrent: AtomicBool,
    next_id: AtomicU32,
}

#[unsafe(link_section = ".data.lbprof_frequent")]
static COMMONS: RequestCommons = RequestCommons { is_concurrent: AtomicBool::new(true), next_id: AtomicU32::new(0) };

/// Sets whether several threads may call MPI at the same time.
pub fn set_concurrent(is_concurrent: bool) {
    COMMONS.is_concurrent.store(is_concurrent, SeqCst);
}

#[inline(always)]
pub fn is_concurrent() -> bool {
    COMMONS.is_concurrent.load(Relaxed)
}

/// Returns a new request id. Ids are unique in the rank until they wrap, after 2³¹ requests.
pub fn new_id() -> u32 {
    next_id(is_concurrent())
}

/// Returns a new request id like [`new_id`].
#[inline(always)]
pub fn next_id(is_concurrent: bool) -> u32 {
    let id = if is_concurrent {
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

/// Returns the home of a handle: its bucket, and the index of its place.
#[inline(always)]
fn home_bucket(handle: Word) -> (&'static Bucket, usize) {
    let index = index_of(handle);
    // SAFETY: the shift leaves an index of a place.
    (unsafe { TABLE.get_unchecked(index / WAYS) }, index % WAYS)
}

/// Returns the place at which a handle is at home.
#[inline(always)]
fn place_of(handle: Word) -> &'static RequestSlot {
    // SAFETY: as above.
    unsafe { TABLE.as_flattened().get_unchecked(index_of(handle)) }
}

/// Returns the index of a handle's home among all places.
#[inline(always)]
fn index_of(handle: Word) -> usize {
    // Handles are multiples of a power of two (pointers) or small steps apart (integers): a multiplication spreads both.
    let hash = (handle as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash >> (64 - (BUCKETS * WAYS).trailing_zeros())) as usize
}

/// Returns the place with this index in a bucket.
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

    #[inline(always)]
    fn store(&self, open: OpenRequest) {
        self.sent.store(open.sent, Relaxed);
        self.received.store(open.received, Relaxed);
        self.peer_and_tag.store(pack_pair(open.peer as u32, open.tag as u32), Relaxed);
        self.comm_and_id.store(pack_pair(open.comm, open.id), Relaxed);
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

impl OpenRequest {
    /// Returns whether its completion needs no more work than recording that, and the received message. Most requests are usual.
    #[inline(always)]
    pub fn is_usual(&self) -> bool {
        is_usual(self.kind)
    }

    /// Returns the activity that its completion belongs to, its wildcards, and whether it is persistent, as a record's flags.
    #[inline(always)]
    pub fn flags(&self) -> CallFlags {
        CallFlags((self.kind & (FLAGS | PERSISTENT)) as u16)
    }

    /// Returns whether it is persistent and not started: completing it completes nothing.
    #[inline(always)]
    pub fn is_inactive(&self) -> bool {
        self.kind & (PERSISTENT | ACTIVE) == PERSISTENT
    }
}

#[inline(always)]
fn pack_pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Exchanges the contents of a place for `new` if they are still `found`. Returns whether they were.
#[inline(always)]
fn exchange_handle(place: &RequestSlot, found: usize, new: usize, is_concurrent: bool) -> bool {
    if !is_concurrent {
        exchange_on_this_core(&place.handle, found, new)
    } else {
        rare_branch();
        place.handle.compare_exchange(found, new, Acquire, Relaxed).is_ok()
    }
}

/// Puts a request into a place if that is free, and returns whether it was. `open` runs once the place is taken, so that few registers are
/// needed until then.
#[inline(always)]
fn put_request(place: &RequestSlot, handle: Word, open: impl FnOnce() -> OpenRequest, is_concurrent: bool) -> bool {
    let is_free = place.handle.load(Relaxed) == FREE && exchange_handle(place, FREE, CLAIMED, is_concurrent);
    if is_free {
        place.store(open());
        place.handle.store(handle, Release);
    }
    is_free
}

#[inline(always)]
pub fn insert_request(handle: Word, open: OpenRequest) {
    if is_handle(handle) && !insert_at_home(handle, || open, is_concurrent()) {
        // A copy, so that the other one can stay in registers.
        insert_elsewhere(handle, &OpenRequest { ..open });
    }
}

/// Remembers an open request at its home, and returns whether there was room. If not, the caller uses [`insert_elsewhere`]. The handle is
/// one of MPI's.
#[inline(always)]
pub fn insert_at_home(handle: Word, open: impl FnOnce() -> OpenRequest, is_concurrent: bool) -> bool {
    put_request(place_of(handle), handle, open, is_concurrent)
}

/// Remembers an open request whose home is taken.
#[cold]
#[inline(never)]
pub fn insert_elsewhere(handle: Word, open: &OpenRequest) {
    let open = *open;
    let (bucket, index) = home_bucket(handle);
    let home = place_at(bucket, index);
    home.elsewhere.fetch_add(AT_ANOTHER_PLACE, AcqRel);
    if (1..WAYS).any(|step| put_request(place_at(bucket, index + step), handle, || open, is_concurrent())) {
        return;
    }
    home.elsewhere.fetch_sub(AT_ANOTHER_PLACE, AcqRel);
    enter::enter_quietly(|| {
        let Some(mut map) = OVERFLOW.lock() else { return };
        map.entry(handle).or_default().push_back(open);
        home.elsewhere.fetch_add(1, AcqRel);
    });
}

/// Finds the index of the place of the oldest request of the bucket with this handle.
fn find_request(bucket: &Bucket, handle: Word) -> Option<usize> {
    // A bit for each place that has it, mostly one.
    let mut found = 0u32;
    for (i, place) in bucket.iter().enumerate() {
        found |= u32::from(place.handle.load(Acquire) == handle) << i;
    }
    match found.count_ones() {
        0 => None,
        1 => Some(found.trailing_zeros() as usize),
        _ => Some(oldest_request(bucket, found)),
    }
}

/// Returns the place whose request was started first, among those whose bits are set in `found`.
#[cold]
#[inline(never)]
fn oldest_request(bucket: &Bucket, found: u32) -> usize {
    let places = bucket.iter().enumerate().filter(|(i, _)| found >> i & 1 != 0);
    let first = places.reduce(|a, b| if is_older(a.1.id(), b.1.id()) { a } else { b });
    first.map_or(0, |(i, _)| i)
}

/// Takes the request at `place`, unless another thread has just done so.
#[inline(always)]
fn take_at(place: &RequestSlot, handle: Word) -> Option<OpenRequest> {
    if !exchange_handle(place, handle, CLAIMED, is_concurrent()) {
        hint::spin_loop();
        return None;
    }
    let open = place.load();
    place.handle.store(FREE, Release);
    Some(open)
}

/// Takes the request at place `index` of a bucket in which requests may not be at home, unless another thread has just done so.
fn take_any(bucket: &Bucket, index: usize, handle: Word) -> Option<OpenRequest> {
    let open = take_at(place_at(bucket, index), handle)?;
    let (_, at_home) = home_bucket(handle);
    if index != at_home {
        place_at(bucket, at_home).elsewhere.fetch_sub(AT_ANOTHER_PLACE, AcqRel);
    }
    Some(open)
}

/// Reads facts of the request at `place` by `read`, unless another thread has just taken it.
#[inline(always)]
fn look_at<T>(place: &RequestSlot, handle: Word, read: impl FnOnce(&RequestSlot) -> T) -> Option<T> {
    // If id and handle are the same before and after, everything read in between belongs to that request.
    let id = (place.comm_and_id.load(Acquire) >> 32) as u32;
    if place.handle.load(Acquire) != handle {
        return None;
    }
    let facts = read(place);
    fence(Acquire);
    (place.handle.load(Relaxed) == handle && place.id() == id).then_some(facts)
}

/// The facts about an open request that an unsuccessful poll records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolledRequest {
    pub id: u32,
    pub comm: u32,
    /// Number of the activity that its completion belongs to.
    pub activity: u16,
}

/// Peeks for a poll, of which a program makes millions. Unlike [`peek_request`] it is inlined, and reads only the facts that the poll's record needs.
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
        let polled = look_at(place, handle, |place| {
            let comm_and_id = place.comm_and_id.load(Relaxed);
            let activity = Activity::number_in(place.kind.load(Relaxed));
            PolledRequest { id: (comm_and_id >> 32) as u32, comm: comm_and_id as u32, activity }
        });
        if polled.is_some() {
            return polled;
        }
    }
    peek_again(handle)
}

/// Peeks again if the request may be elsewhere, or another thread has just changed its place.
#[cold]
#[inline(never)]
fn peek_again(handle: Word) -> Option<PolledRequest> {
    let open = peek_request(handle)?;
    Some(PolledRequest { id: open.id, comm: open.comm, activity: Activity::number_in(open.kind) })
}

/// Takes out the oldest open request with this handle.
#[inline(always)]
pub fn take_request(handle: Word) -> Option<OpenRequest> {
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

/// Takes a request that is at home and usual ([`OpenRequest::is_usual`]), as most are. Leaves others to [`take_request`] and returns `None`. MPI has
/// completed `handle`, so it is a request's.
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
    if !is_concurrent() {
        let open = place.load_of_kind(kind);
        return exchange_on_this_core(&place.handle, handle, FREE).then_some(open);
    }
    rare_branch();
    if place.handle.compare_exchange(handle, CLAIMED, Acquire, Relaxed).is_err() {
        return None;
    }
    let open = place.load();
    if !open.is_usual() {
        // Other threads have taken the request, and put in another one.
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
    let (bucket, index) = home_bucket(handle);
    if place_at(bucket, index).has_overflowed() {
        return of_both(bucket, handle, true);
    }
    loop {
        if let Some(open) = take_any(bucket, find_request(bucket, handle)?, handle) {
            return Some(open);
        }
    }
}

/// Returns the oldest open request with this handle, which stays open.
pub fn peek_request(handle: Word) -> Option<OpenRequest> {
    if !is_handle(handle) {
        return None;
    }
    let (bucket, index) = home_bucket(handle);
    if place_at(bucket, index).has_overflowed() {
        return of_both(bucket, handle, false);
    }
    loop {
        let place = place_at(bucket, find_request(bucket, handle)?);
        if let Some(open) = look_at(place, handle, RequestSlot::load) {
            return Some(open);
        }
        hint::spin_loop();
    }
}

/// Finds the oldest request of a handle if the bucket was full: it may be in the bucket or in the map.
#[cold]
#[inline(never)]
fn of_both(bucket: &Bucket, handle: Word, take: bool) -> Option<OpenRequest> {
    enter::enter_quietly(|| older_of_both(bucket, handle, take))
}

fn older_of_both(bucket: &Bucket, handle: Word, take: bool) -> Option<OpenRequest> {
    let mut map = OVERFLOW.lock()?;
    loop {
        let first = map.get(&handle).and_then(VecDeque::front).copied();
        match (find_request(bucket, handle), first) {
            (Some(index), first) if first.is_none_or(|first| is_older(place_at(bucket, index).id(), first.id)) => {
                let place = place_at(bucket, index);
                let inside =
                    if take { take_any(bucket, index, handle) } else { look_at(place, handle, RequestSlot::load) };
                if inside.is_some() {
                    return inside;
                }
            }
            (_, Some(first)) if take => {
                let same = map.get_mut(&handle)?;
                same.pop_front();
                if same.is_empty() {
                    map.remove(&handle);
                }
                place_at(bucket, home_bucket(handle).1).elsewhere.fetch_sub(1, AcqRel);
                return Some(first);
            }
            (_, first) => return first,
        }
    }
}
