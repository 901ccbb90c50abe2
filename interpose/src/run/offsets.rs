//! Measures the offset of this rank's clock from rank 0's.
//!
//! Ranks that read the same clock (one host, one time namespace) have offset 0. Among the others, one leader for each clock
//! measures against a leader that already knows its offset, in log₂ rounds: in the round of distance d leaders 0 … d−1
//! answer leaders d … 2d−1. Each pair exchanges a message and its answer some times; the shortest round trip counts, half of
//! it bounds the error.

use std::hash::{BuildHasher, Hasher};

use lbprof_collector::definition::ClockOffset;

use crate::harmless::signals::HandlerLock;
use crate::machine::system::clock::{monotonic_ns, read_ticks};
use crate::machine::word::Word;
use crate::mpi::call::{self, ask_mpi, call_mpi};
use crate::mpi::{abi, predefined};

const EXCHANGES: usize = 12;
const TAG: Word = 0x6c62;

/// Communicators kept for the measurement at the end, where there are several clocks.
struct ClockComms {
    domain: Word,
    /// Rank 0 of each domain; null on the others.
    leaders: Option<Word>,
}

/// Held for two words at a time, never while messages are sent: a handler may call MPI_Finalize.
static SEVERAL: HandlerLock<Option<ClockComms>> = HandlerLock::new(None);

/// Returns a number that is the same for processes that read the same clock.
pub fn clock_identity(rank: i32) -> i32 {
    let mut hasher = foldhash::quality::FixedState::with_seed(1).build_hasher();
    match std::fs::read("/proc/sys/kernel/random/boot_id") {
        Ok(boot) => hasher.write(&boot),
        // The host is unknown, so this counts as a clock of its own, which is measured.
        Err(_) => hasher.write_i32(rank),
    }
    // Time namespaces shift CLOCK_MONOTONIC, which offsets are stated in.
    let namespace = std::fs::read_link("/proc/self/ns/time").unwrap_or_default();
    hasher.write(namespace.as_os_str().as_encoded_bytes());
    (hasher.finish() & 0x7fff_ffff) as i32
}

/// Measures at the start. Collective over `comm`, whose first rank's clock the others are compared with; `rank`: in MPI_COMM_WORLD.
///
/// # Safety
/// MPI is initialised, and all members of `comm` call this. The calls here and below are the same on all ranks, in the same order.
pub unsafe fn measure_first(comm: Word, rank: i32) -> Option<ClockOffset> {
    let domain = split_comm(comm, clock_identity(rank), rank)?;
    let is_leader = ask_mpi(c"PMPI_Comm_rank", [domain], 0i32) == 0;
    let leaders = split_comm(comm, if is_leader { 0 } else { abi::current_abi().undefined }, rank)?;
    let leaders = is_leader.then_some(leaders);
    let clocks = leaders.map_or(0, |leaders| ask_mpi(c"PMPI_Comm_size", [leaders], 0i32));
    let (clocks, _) = broadcast_value(clocks, domain);
    let several = ClockComms { domain, leaders };
    if clocks <= 1 {
        several.free();
        return Some(ClockOffset { ticks: read_ticks(), offset_ns: 0, error_ns: 0 });
    }
    let offset = several.measure();
    if let Some(mut kept) = SEVERAL.lock() {
        *kept = Some(several);
    }
    offset
}

/// Splits `comm` by `color`, with the ranks in their order. Returns `None` if MPI could not.
fn split_comm(comm: Word, color: i32, rank: i32) -> Option<Word> {
    let new = ask_mpi(c"PMPI_Comm_split", [comm, color as u32 as Word, rank as u32 as Word], 0usize);
    (new != 0).then_some(new & abi::current_abi().handle_mask)
}

/// Measures at the end, where there are several clocks; where there is one no message is sent. Collective like MPI_Finalize, over all ranks that measured at
/// the start.
pub fn measure_last() -> Option<ClockOffset> {
    let several = SEVERAL.lock()?.take()?;
    let offset = several.measure();
    several.free();
    offset
}

/// Gives the members of `comm` the value of its first rank, and whether MPI could.
fn broadcast_value<T: Copy>(value: T, comm: Word) -> (T, bool) {
    let mut all = value;
    let (address, bytes) = (&raw mut all as Word, size_of::<T>());
    // SAFETY: the value has these bytes on every member.
    let code = unsafe { call_mpi(c"PMPI_Bcast", [address, bytes, predefined::mpi_byte(), 0, comm, 0, 0, 0]) };
    (all, code == 0)
}

impl ClockComms {
    fn free(self) {
        for comm in [Some(self.domain), self.leaders].into_iter().flatten() {
            call::free_handle(c"PMPI_Comm_free", comm);
        }
    }

    fn measure(&self) -> Option<ClockOffset> {
        // Offset and error of the domain's clock, in nanoseconds.
        let found = self.leaders.map_or([0; 2], measure_leader);
        let ([offset_ns, error], is_known) = broadcast_value(found, self.domain);
        is_known.then(|| ClockOffset { ticks: read_ticks(), offset_ns, error_ns: error.unsigned_abs() })
    }
}

fn measure_leader(leaders: Word) -> [i64; 2] {
    let [rank, size] = [c"PMPI_Comm_rank", c"PMPI_Comm_size"].map(|name| ask_mpi(name, [leaders], 0i32));
    let mut own = [0i64; 2];
    let mut distance = 1;
    while distance < size {
        if rank < distance && rank + distance < size {
            answer_peer(leaders, rank + distance, own);
        } else if rank >= distance && rank < 2 * distance {
            own = ask_peer(leaders, rank - distance);
        }
        distance *= 2;
    }
    own
}

/// The peer is in [`receive_numbers`].
fn send_numbers(buffer: &[i64], peer: i32, comm: Word) {
    let (address, bytes) = (buffer.as_ptr() as Word, size_of_val(buffer));
    // SAFETY: the buffer lives across the blocking call.
    unsafe { call_mpi(c"PMPI_Send", [address, bytes, predefined::mpi_byte(), peer as Word, TAG, comm, 0, 0]) };
}

/// The peer is in [`send_numbers`].
fn receive_numbers(buffer: &mut [i64], peer: i32, comm: Word) {
    let (address, bytes, no_status) =
        (buffer.as_mut_ptr() as Word, size_of_val(buffer), abi::current_abi().status_ignore);
    // SAFETY: as above.
    unsafe { call_mpi(c"PMPI_Recv", [address, bytes, predefined::mpi_byte(), peer as Word, TAG, comm, no_status, 0]) };
}

/// The peer is in [`ask_peer`].
fn answer_peer(comm: Word, peer: i32, [offset, error]: [i64; 2]) {
    for _ in 0..EXCHANGES {
        receive_numbers(&mut [0], peer, comm);
        send_numbers(&[monotonic_ns() as i64, offset, error], peer, comm);
    }
}

/// The peer is in [`answer_peer`].
fn ask_peer(comm: Word, peer: i32) -> [i64; 2] {
    let mut best = (i64::MAX, [0i64; 2]);
    for _ in 0..EXCHANGES {
        let mut reply = [0i64; 3];
        let before = monotonic_ns() as i64;
        send_numbers(&[0], peer, comm);
        receive_numbers(&mut reply, peer, comm);
        let after = monotonic_ns() as i64;
        let [theirs, offset, error] = reply;
        let trip = after - before;
        if trip < best.0 {
            // The answer was given somewhere between `before` and `after`: the middle, give or take half.
            best = (trip, [before + trip / 2 - theirs + offset, trip / 2 + error]);
        }
    }
    best.1
}
