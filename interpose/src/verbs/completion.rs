//! Starting persistent requests, and completing requests of all kinds (MPI-4.1 §§3.7.3–3.9, 4.2).
//!
//! A call that completes one request is one record. A call that completes several is followed by a
//! [`Operation::Completed`] part for each.

use lbprof_collector::record::{Flags, NONE, Record};
use lbprof_collector::{Activity, Operation, ProblemKind};

use super::point_to_point::{status_or_own, store_arrived};
use super::polls::found_nothing;
use super::{After, Event};
use crate::handles::comms::births;
use crate::handles::requests::{self, ACTIVE, Open, PERSISTENT, READS, RECEIVES, WRITES};
use crate::harmless::guard;
use crate::mpi::abi::abi;
use crate::mpi::lang::{Convert, Language};
use crate::mpi::predefined::{self, Null, is_null};
use crate::mpi::status;
use crate::recording::room;
use crate::recording::slot::{self, Facts};
use crate::state::buffers;
use crate::state::thread::Thread;
use crate::word::{Word, int_at};

/// Fills the record of a completed request.
#[inline(never)]
unsafe fn store_completed(record: *mut Record, handle: Word, status: Word, open: Option<Open>) {
    // SAFETY: the caller's promise.
    unsafe { store_completed_here(record, handle, status, open) };
}

/// The same, inlined where it matters: a part of a call that completed several requests. `status` is 0 where the call failed,
/// for then nothing says which statuses are filled.
#[inline(always)]
unsafe fn store_completed_here(record: *mut Record, handle: Word, status: Word, open: Option<Open>) {
    // SAFETY: a live record; a filled status.
    unsafe {
        let Some(open) = open else {
            (*record).flags |= Flags::NOTHING;
            if predefined::is_shared_request(handle) {
                return;
            }
            (*record).flags |= Flags::UNKNOWN_REQUEST;
            if status != 0 {
                let arrived = status::read_status(status);
                if arrived.source >= 0 {
                    (*record).peer = arrived.source;
                    (*record).tag = arrived.tag;
                    (*record).received = arrived.bytes;
                }
            }
            return;
        };
        (*record).comm = open.comm;
        (*record).flags = Flags((*record).flags.0 & !7) | open.flags();
        if open.is_inactive() {
            (*record).flags |= Flags::NOTHING;
            return;
        }
        (*record).request = open.id;
        (*record).peer = open.peer;
        (*record).tag = open.tag;
        (*record).sent = open.sent;
        let message = open.kind & 7 == Activity::PointToPoint as u16;
        if status == 0 {
        } else if message || open.kind & (RECEIVES | READS | WRITES) != 0 {
            let arrived = status::read_status(status);
            // Transfers to files cannot be cancelled (MPI-4.1 §3.8.4), and Open MPI 4 leaves that part of their status as it was.
            if arrived.cancelled && open.kind & (READS | WRITES) == 0 {
                (*record).flags |= Flags::CANCELLED;
                (*record).sent = 0;
            } else if open.kind & RECEIVES != 0 {
                store_arrived(record, arrived);
            } else if open.kind & READS != 0 {
                (*record).received = arrived.bytes;
            } else if open.kind & WRITES != 0 {
                (*record).sent = arrived.bytes;
            }
        }
        if open.kind & requests::MAKES_COMM != 0 {
            births::finish_later(open.id);
        }
    }
}

/// Takes the completed request out of the table; a persistent one stays, inactive.
#[inline(always)]
unsafe fn take_completed(handle: Word) -> Option<Open> {
    let open = requests::take(handle)?;
    if open.kind & PERSISTENT != 0 {
        requests::insert(handle, Open { kind: open.kind & !ACTIVE, ..open });
    }
    Some(open)
}

/// A completion of one request, maybe of an array.
#[derive(Clone, Copy)]
pub struct Completes<L> {
    request: Word,
    handle: Word,
    status: Word,
    /// Address of the flag, 0 where the call waits.
    flag: Word,
    language: std::marker::PhantomData<L>,
}

/// A wait for one request.
#[inline(always)]
pub unsafe fn completes<L: Language>(thread: *mut Thread, request: Word, status: &mut Word) -> Event<Completes<L>> {
    // SAFETY: the verbs' contract.
    unsafe { completes_if::<L>(thread, request, 0, status) }
}

/// A test of one request. Unsuccessful ones in a row fold into one record.
#[inline(always)]
pub unsafe fn completes_if<L: Language>(
    thread: *mut Thread,
    request: Word,
    flag: Word,
    status: &mut Word,
) -> Event<Completes<L>> {
    // SAFETY: the verbs' contract.
    unsafe {
        let status = status_or_own::<L>(thread, status);
        let handle = L::handle_at(request, 0, Convert::Request);
        Event {
            facts: Facts::none(),
            after: Completes { request, handle, status, flag, language: std::marker::PhantomData },
        }
    }
}

impl<L: Language> After for Completes<L> {
    #[inline(always)]
    unsafe fn after(self, thread: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: the flag and the status of a completed request are filled.
        unsafe {
            if is_null(Null::Request, self.handle) {
                (*slot).flags |= Flags::NOTHING;
                return;
            }
            // The request that an error is about is complete, and null; others are left as they were.
            let completed = if ok {
                self.flag == 0 || int_at(self.flag) != 0
            } else {
                L::handle_at(self.request, 0, Convert::Request) != self.handle
            };
            if !completed {
                // What kind of wait it is, is known all the same.
                if let Some(polled) = requests::peek_polled(self.handle) {
                    (*slot).comm = polled.comm;
                    (*slot).request = polled.id;
                    (*slot).flags = Flags((*slot).flags.0 & !7 | polled.activity);
                }
                if ok {
                    found_nothing(thread, slot);
                }
                return;
            }
            store_completed(slot, self.handle, if ok { self.status } else { 0 }, take_completed(self.handle));
        }
    }
}

/// Copies the handles of an array before MPI overwrites them; null where there is no memory, or where MPI will refuse the call.
///
/// MPI looks at the handles in turn, up to the first that is none: behind it there may be no array, whatever the count says.
unsafe fn keep_requests<L: Language>(thread: *mut Thread, count: usize, array: Word) -> *const Word {
    // SAFETY: the array has `count` handles, or one that is none before its end; the thread's buffer is grown first.
    unsafe {
        let interface = abi().kind;
        if (*thread).requests_room < count {
            if !(0..count).all(|i| predefined::may_be_request(interface, L::handle_at(array, i, Convert::Request))) {
                return std::ptr::null();
            }
            buffers::grow_requests(thread, count);
        }
        let kept = (*thread).requests;
        if (*thread).requests_room < count {
            return std::ptr::null();
        }
        for i in 0..count {
            let handle = L::handle_at(array, i, Convert::Request);
            if !predefined::may_be_request(interface, handle) {
                return std::ptr::null();
            }
            kept.add(i).write(handle);
        }
        kept
    }
}

/// Statuses that can be read afterwards: the program's, or our own where it wants none; 0 where there is no memory.
unsafe fn statuses_or_own<L: Language>(thread: *mut Thread, count: usize, statuses: &mut Word) -> Word {
    // SAFETY: the thread's own buffer is grown before MPI may write `count` statuses to it.
    unsafe {
        if !L::statuses_ignored(*statuses) {
            return *statuses;
        }
        // Where INTEGER has 8 bytes, Fortran's statuses are twice as wide as C's.
        let bytes = count * abi().status_bytes * if L::FORTRAN { 2 } else { 1 };
        if (*thread).statuses_bytes < bytes {
            buffers::grow_statuses(thread, bytes);
        }
        if (*thread).statuses_bytes < bytes {
            return 0;
        }
        *statuses = (*thread).statuses as Word;
        *statuses
    }
}

/// A completion of several requests.
#[derive(Clone, Copy)]
pub struct CompletesSeveral<L, const WHICH: u8> {
    requests: Word,
    kept: *const Word,
    count: usize,
    statuses: Word,
    /// Address of the flag (all), outcount (some) or index (any); 0 where there is none.
    out: Word,
    /// Address of the indices (some), or of the flag (any).
    indices: Word,
    language: std::marker::PhantomData<L>,
}

const ALL: u8 = 0;
const SOME: u8 = 1;
const ANY: u8 = 2;

#[inline(always)]
unsafe fn several<L: Language, const WHICH: u8>(
    thread: *mut Thread,
    count: Word,
    array_of_requests: Word,
    out: Word,
    indices: Word,
    statuses: Word,
) -> Event<CompletesSeveral<L, WHICH>> {
    // SAFETY: the verbs' contract.
    unsafe {
        let count = usize::try_from(L::int(count)).unwrap_or(0);
        let kept = keep_requests::<L>(thread, count, array_of_requests);
        let after = CompletesSeveral {
            requests: array_of_requests,
            kept,
            count,
            statuses,
            out,
            indices,
            language: std::marker::PhantomData,
        };
        Event { facts: Facts::none(), after }
    }
}

/// The same, with a status for each request that is looked at afterwards.
#[inline(always)]
unsafe fn with_statuses<L: Language, const WHICH: u8>(
    thread: *mut Thread,
    mut event: Event<CompletesSeveral<L, WHICH>>,
    statuses: &mut Word,
) -> Event<CompletesSeveral<L, WHICH>> {
    if !event.after.kept.is_null() {
        // SAFETY: the verbs' contract.
        event.after.statuses = unsafe { statuses_or_own::<L>(thread, event.after.count, statuses) };
    }
    event
}

/// A wait for all.
#[inline(always)]
pub unsafe fn completes_all<L: Language>(
    thread: *mut Thread,
    count: Word,
    array_of_requests: Word,
    statuses: &mut Word,
) -> Event<CompletesSeveral<L, ALL>> {
    // SAFETY: the verbs' contract.
    unsafe { completes_all_if::<L>(thread, count, array_of_requests, 0, statuses) }
}

/// A test of all.
#[inline(always)]
pub unsafe fn completes_all_if<L: Language>(
    thread: *mut Thread,
    count: Word,
    array_of_requests: Word,
    flag: Word,
    statuses: &mut Word,
) -> Event<CompletesSeveral<L, ALL>> {
    // SAFETY: the verbs' contract.
    unsafe { with_statuses(thread, several::<L, ALL>(thread, count, array_of_requests, flag, 0, *statuses), statuses) }
}

/// A wait or test for some.
#[inline(always)]
pub unsafe fn completes_some<L: Language>(
    thread: *mut Thread,
    incount: Word,
    array_of_requests: Word,
    outcount: Word,
    array_of_indices: Word,
    statuses: &mut Word,
) -> Event<CompletesSeveral<L, SOME>> {
    // SAFETY: the verbs' contract.
    unsafe {
        let some = several::<L, SOME>(thread, incount, array_of_requests, outcount, array_of_indices, *statuses);
        with_statuses(thread, some, statuses)
    }
}

/// A wait for any one.
#[inline(always)]
pub unsafe fn completes_any<L: Language>(
    thread: *mut Thread,
    count: Word,
    array_of_requests: Word,
    index: Word,
    status: &mut Word,
) -> Event<CompletesSeveral<L, ANY>> {
    // SAFETY: the verbs' contract.
    unsafe { completes_any_if::<L>(thread, count, array_of_requests, index, 0, status) }
}

/// A test for any one.
#[inline(always)]
pub unsafe fn completes_any_if<L: Language>(
    thread: *mut Thread,
    count: Word,
    array_of_requests: Word,
    index: Word,
    flag: Word,
    status: &mut Word,
) -> Event<CompletesSeveral<L, ANY>> {
    // SAFETY: the verbs' contract.
    unsafe {
        let status = status_or_own::<L>(thread, status);
        several::<L, ANY>(thread, count, array_of_requests, index, flag, status)
    }
}

impl<L: Language, const WHICH: u8> After for CompletesSeveral<L, WHICH> {
    #[inline]
    unsafe fn after(self, thread: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: see the arms; `kept` holds `count` handles or is null.
        unsafe {
            if self.kept.is_null() {
            } else if !ok {
                self.failed(thread, slot);
            } else {
                match WHICH {
                    ANY => self.any(thread, slot),
                    SOME => self.some(thread, slot),
                    _ => self.all(thread, slot),
                }
            }
        }
    }
}

impl<L: Language, const WHICH: u8> CompletesSeveral<L, WHICH> {
    /// One was completed, or none.
    #[inline(always)]
    unsafe fn any(self, thread: *mut Thread, slot: *mut Record) {
        // SAFETY: a successful call has filled flag and index, and the status where it completed one.
        unsafe {
            let flag = self.indices;
            if flag != 0 && L::out_int(flag) == 0 {
                found_nothing(thread, slot);
            } else if let Some(i) = self.index(self.out, 0) {
                let handle = self.kept.add(i).read();
                store_completed(slot, handle, self.statuses, take_completed(handle));
            } else {
                // MPI_UNDEFINED: no request of the array is active.
                (*slot).flags |= Flags::NOTHING;
            }
        }
    }

    /// Some were completed.
    #[inline(always)]
    unsafe fn some(self, thread: *mut Thread, slot: *mut Record) {
        // SAFETY: a successful call has filled the count, and as many indices and statuses.
        unsafe {
            // MPI_UNDEFINED is negative.
            let outcount = usize::try_from(L::out_int(self.out)).unwrap_or(0).min(self.count);
            if outcount == 0 {
                return self.found_nothing(thread, slot);
            }
            let mut parts = Parts::of(slot);
            for k in 0..outcount {
                if let Some(i) = self.index(self.indices, k) {
                    parts.add(thread, self.kept.add(i).read(), self.status(k));
                }
            }
            parts.finish(slot);
        }
    }

    /// All were completed, unless a flag says that none was.
    #[inline(always)]
    unsafe fn all(self, thread: *mut Thread, slot: *mut Record) {
        // SAFETY: a successful call has filled the flag, and the statuses where it is set.
        unsafe {
            if self.out != 0 && L::out_int(self.out) == 0 {
                return self.found_nothing(thread, slot);
            }
            let mut parts = Parts::of(slot);
            for i in 0..self.count {
                let handle = self.kept.add(i).read();
                if !is_null(Null::Request, handle) {
                    parts.add(thread, handle, self.status(i));
                }
            }
            parts.finish(slot);
        }
    }

    /// The call failed. Which of its results are filled depends on the error and on the MPI; what was completed is null now.
    #[cold]
    #[inline(never)]
    unsafe fn failed(self, thread: *mut Thread, slot: *mut Record) {
        // SAFETY: both arrays have `count` handles.
        unsafe {
            let mut completed = (0..self.count).filter(|&i| {
                let now = L::handle_at(self.requests, i, Convert::Request);
                now != self.kept.add(i).read() && is_null(Null::Request, now)
            });
            if WHICH == ANY {
                if let Some(i) = completed.next_back() {
                    let handle = self.kept.add(i).read();
                    store_completed(slot, handle, 0, take_completed(handle));
                }
                return;
            }
            let mut parts = Parts::of(slot);
            for i in completed {
                parts.add(thread, self.kept.add(i).read(), 0);
            }
            parts.finish(slot);
        }
    }

    /// None was completed.
    unsafe fn found_nothing(&self, thread: *mut Thread, slot: *mut Record) {
        // SAFETY: `kept` holds `count` handles.
        unsafe {
            if self.count > 0 {
                found_nothing(thread, slot);
            }
        }
    }

    /// Element `k` of the indices that MPI stored, counted from 0; `None` for MPI_UNDEFINED.
    ///
    /// Fortran counts from 1, but mpi_f08 of MPICH 4.0 from 0: the request that changed tells.
    unsafe fn index(&self, indices: Word, k: usize) -> Option<usize> {
        // SAFETY: a successful call stored the indices; request and kept arrays have `count` elements.
        unsafe {
            let index = i64::from(L::index_at(indices, k));
            let changed = |i: i64| {
                usize::try_from(i).ok().filter(|&i| {
                    i < self.count && L::handle_at(self.requests, i, Convert::Request) != self.kept.add(i).read()
                })
            };
            if L::FORTRAN && changed(index).is_none() && changed(index + 1).is_some() {
                return changed(index + 1);
            }
            usize::try_from(index).ok().filter(|&i| i < self.count)
        }
    }

    /// Address of status `k`, or of an empty one where there was no memory for statuses.
    fn status(&self, k: usize) -> Word {
        static NO_STATUS: [u64; 8] = [0; 8];
        if self.statuses == 0 { NO_STATUS.as_ptr() as Word } else { self.statuses + k * abi().status_bytes }
    }
}

/// The parts of a call that completed several requests.
struct Parts {
    template: Record,
    completed: u32,
    /// Activity of the requests; the last collective or one-sided one where they are mixed.
    activity: Activity,
    comm: u32,
}

impl Parts {
    /// Of the call at `slot`, which has returned.
    unsafe fn of(slot: *mut Record) -> Self {
        // SAFETY: a live record.
        let mut template = unsafe { *slot };
        template.operation = Operation::Completed as u16;
        template.begin = template.end;
        Parts { template, completed: 0, activity: Activity::PointToPoint, comm: NONE }
    }

    /// One request was completed.
    unsafe fn add(&mut self, thread: *mut Thread, handle: Word, status: Word) {
        // SAFETY: a filled status; the part is a local copy.
        unsafe {
            let open = take_completed(handle);
            self.completed += 1;
            match open {
                Some(open) => {
                    self.comm = open.comm;
                    // A persistent request that was not active did not complete anything.
                    if open.is_inactive() {
                        return;
                    }
                }
                None if predefined::is_shared_request(handle) => return,
                None => guard::count(ProblemKind::UnknownRequest, 1),
            }
            let part = room::add_part(thread, &self.template);
            if part.is_null() {
                return;
            }
            // Where there was a flush before this part, those that follow come after it, too.
            self.template.end = (*part).end;
            store_completed_here(part, handle, status, open);
            if open.is_some() {
                self.activity = (*part).activity();
            }
            slot::publish_part(part);
        }
    }

    /// All parts are written. The call's slot may have been flushed while they were; then its count stays 0.
    unsafe fn finish(self, slot: *mut Record) {
        // SAFETY: the slot lies in the ring; where a flush intervened it holds nothing or another record, maybe one of the parts.
        unsafe {
            let is_call = (*slot).operation != self.template.operation && (*slot).call_site == self.template.call_site;
            if is_call && (*slot).end == self.template.end {
                (*slot).count = self.completed;
                (*slot).flags = (*slot).flags.with_activity(self.activity);
                (*slot).comm = self.comm;
            }
        }
    }
}

/// Starts one persistent or partitioned request.
#[derive(Clone, Copy)]
pub struct StartsPersistent {
    handle: Word,
}

/// MPI_Start.
#[inline(always)]
pub unsafe fn starts<L: Language>(_: *mut Thread, request: Word) -> Event<StartsPersistent> {
    // SAFETY: the verbs' contract.
    unsafe {
        let handle = L::handle_at(request, 0, Convert::Request);
        Event { facts: Facts::none(), after: StartsPersistent { handle } }
    }
}

/// Marks a persistent request as started, under a new id; gives what is known of it.
fn activate(handle: Word) -> Option<Open> {
    let open = requests::take(handle)?;
    let open = Open { id: requests::new_id(), kind: open.kind | ACTIVE, ..open };
    requests::insert(handle, open);
    Some(open)
}

/// Puts what a start starts into its record.
unsafe fn store_started(record: *mut Record, open: Option<Open>) {
    // SAFETY: a live record.
    unsafe {
        (*record).flags |= Flags::PERSISTENT;
        match open {
            None => (*record).flags |= Flags::UNKNOWN_REQUEST,
            Some(open) => {
                (*record).request = open.id;
                (*record).comm = open.comm;
                (*record).peer = open.peer;
                (*record).tag = open.tag;
                (*record).sent = open.sent;
                (*record).received = open.received;
                (*record).flags = Flags((*record).flags.0 & !7) | open.flags();
            }
        }
    }
}

impl After for StartsPersistent {
    #[inline]
    unsafe fn after(self, _: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: the slot is this call's.
        unsafe {
            if ok {
                store_started(slot, activate(self.handle));
            }
        }
    }
}

/// Starts several persistent requests; each is a part of the call.
#[derive(Clone, Copy)]
pub struct StartsAll<L> {
    count: usize,
    requests: Word,
    language: std::marker::PhantomData<L>,
}

/// MPI_Startall.
#[inline(always)]
pub unsafe fn starts_all<L: Language>(_: *mut Thread, count: Word, array_of_requests: Word) -> Event<StartsAll<L>> {
    // SAFETY: the verbs' contract.
    unsafe {
        let count = usize::try_from(L::int(count)).unwrap_or(0);
        let after = StartsAll { count, requests: array_of_requests, language: std::marker::PhantomData };
        Event { facts: Facts::none(), after }
    }
}

impl<L: Language> After for StartsAll<L> {
    #[inline]
    unsafe fn after(self, thread: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: persistent handles stay in the array.
        unsafe {
            if !ok {
                return;
            }
            let mut parts = Parts::of(slot);
            parts.template.operation = Operation::Started as u16;
            for i in 0..self.count {
                let open = activate(L::handle_at(self.requests, i, Convert::Request));
                parts.completed += 1;
                let part = room::add_part(thread, &parts.template);
                if part.is_null() {
                    continue;
                }
                // Where there was a flush before this part, those that follow come after it, too.
                parts.template.end = (*part).end;
                store_started(part, open);
                parts.activity = (*part).activity();
                parts.comm = (*part).comm;
                slot::publish_part(part);
            }
            parts.finish(slot);
        }
    }
}

/// A look at a request that leaves it as it is (MPI_Request_get_status).
#[inline(always)]
pub unsafe fn looks_at<L: Language>(_: *mut Thread, request: Word, flag: Word) -> Event<LooksAt> {
    // SAFETY: the verbs' contract: the handle is passed by value here.
    unsafe {
        let handle = L::handle(request, Convert::Request);
        Event { facts: Facts::none(), after: LooksAt { handle, flag } }
    }
}

/// Folds unsuccessful looks.
#[derive(Clone, Copy)]
pub struct LooksAt {
    handle: Word,
    flag: Word,
}

impl After for LooksAt {
    #[inline]
    unsafe fn after(self, thread: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: the flag is filled by a successful call.
        unsafe {
            if let Some(open) = requests::peek(self.handle) {
                (*slot).request = open.id;
                (*slot).comm = open.comm;
            }
            if ok && int_at(self.flag) == 0 {
                found_nothing(thread, slot);
            }
        }
    }
}

/// Folds unsuccessful looks at several requests.
#[derive(Clone, Copy)]
pub struct LooksAtSeveral {
    /// Address of the flag or outcount.
    out: Word,
}

impl After for LooksAtSeveral {
    #[inline]
    unsafe fn after(self, thread: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: flag or outcount is filled by a successful call. MPI_UNDEFINED, no active request, is not 0.
        unsafe {
            if ok && int_at(self.out) == 0 {
                found_nothing(thread, slot);
            }
        }
    }
}

/// A look at requests of an array (MPI-4.1 §3.7.6): at all, any, or some; `out` is the flag or outcount.
#[inline(always)]
pub unsafe fn looks_at_several<L: Language>(_: *mut Thread, _: Word, out: Word) -> Event<LooksAtSeveral> {
    Event { facts: Facts::none(), after: LooksAtSeveral { out } }
}

/// A request is freed: nothing tells when it completes.
#[inline(always)]
pub unsafe fn frees_request<L: Language>(_: *mut Thread, request: Word) -> Event<Frees> {
    // SAFETY: the verbs' contract.
    unsafe {
        let handle = L::handle_at(request, 0, Convert::Request);
        let open = requests::take(handle);
        Event { facts: of_request(handle, open), after: Frees { handle, open } }
    }
}

/// Takes a request out of the table before the call, for afterwards its handle may be another's; puts it back where MPI
/// has refused the call.
#[derive(Clone, Copy)]
pub struct Frees {
    handle: Word,
    open: Option<Open>,
}

impl After for Frees {
    #[inline]
    unsafe fn after(self, _: *mut Thread, _: *mut Record, ok: bool) {
        if let (false, Some(open)) = (ok, self.open) {
            requests::insert(self.handle, open);
        }
    }
}

/// A request is cancelled; its completion tells whether it was.
#[inline(always)]
pub unsafe fn cancels<L: Language>(_: *mut Thread, request: Word) -> Event<WithRequest> {
    // SAFETY: the verbs' contract.
    unsafe { with_request(L::handle_at(request, 0, Convert::Request)) }
}

/// Partitions of a request are made ready (MPI-4.1 §4.2.2).
#[inline(always)]
pub unsafe fn ready<L: Language>(_: *mut Thread, request: Word) -> Event<WithRequest> {
    // SAFETY: the verbs' contract; the handle is passed by value here.
    unsafe { with_request(L::handle(request, Convert::Request)) }
}

/// A test whether a partition has arrived.
#[inline(always)]
pub unsafe fn arrived<L: Language>(thread: *mut Thread, request: Word, flag: Word) -> Event<LooksAt> {
    // SAFETY: the verbs' contract.
    unsafe { looks_at::<L>(thread, request, flag) }
}

/// Stores the id of the request that a call is about.
#[derive(Clone, Copy)]
pub struct WithRequest(u32);

unsafe fn with_request(handle: Word) -> Event<WithRequest> {
    let open = requests::peek(handle);
    Event { facts: of_request(handle, open), after: WithRequest(open.map_or(NONE, |open| open.id)) }
}

fn of_request(handle: Word, open: Option<Open>) -> Facts {
    let mut facts = Facts::none();
    match open {
        Some(open) => {
            facts.comm = open.comm;
            facts.peer = open.peer;
            facts.tag = open.tag;
        }
        None if predefined::is_shared_request(handle) => facts.flags |= Flags::NOTHING.0,
        None => facts.flags |= Flags::UNKNOWN_REQUEST.0,
    }
    facts
}

impl After for WithRequest {
    #[inline(always)]
    unsafe fn after(self, _: *mut Thread, slot: *mut Record, _: bool) {
        // SAFETY: the slot is this call's.
        unsafe { (*slot).request = self.0 };
    }
}
