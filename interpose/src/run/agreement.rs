//! Makes the ranks of a job agree on the run's folder, and measures their clocks.
//!
//! Other ranks of the job, such as one of two coupled codes, may run without this library and take part in nothing. So where the
//! launcher names the job ([`crate::run::job`]) the ranks of a host find each other by themselves ([`crate::run::peers`]), one of them finds or
//! makes the folder by that name ([`crate::run::place`]), and only ranks that are known to be there exchange messages, to measure clocks
//! that differ. Where nothing names the job, the ranks agree by messages, and give up if not all of them come.

use std::ffi::OsString;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lbprof_collector::definition::ClockOffset;

use crate::harmless::guard;
use crate::mpi::call::{call_at, call_mpi, call2};
use crate::mpi::symbols::find_symbol;
use crate::mpi::{abi, predefined, world};
use crate::run::messages::{
    RankIntroduction, RunDirectory, decode_measurers, decode_offer, encode_measurers, encode_offer,
};
use crate::run::peers::{self, HostMeeting, HostPeers};
use crate::run::place;
use crate::run::settings::RecorderSettings;
use crate::run::{hosts, job, launcher, offsets};
use crate::word::Word;

/// The agreement of the ranks: the folder, or `None` if nothing is recorded, and the offset of this rank's clock, or `None` if it is not known.
pub type Agreement = (Option<RunDirectory>, Option<ClockOffset>);

#[derive(Clone, Copy)]
pub struct StartingRank<'a> {
    pub settings: &'a RecorderSettings,
    /// Its number in MPI_COMM_WORLD.
    pub rank: i32,
    pub size: i32,
    /// True if it is to be recorded.
    pub wanted: bool,
}

/// Agrees with those ranks that run the library. After MPI_Init.
///
/// # Safety
/// MPI is initialised.
pub unsafe fn agree_on_run(own: StartingRank) -> Agreement {
    let registered = peers::take_registered();
    // SAFETY: the caller's promise.
    unsafe {
        match key_of_job(own.size) {
            Some(key) if own.size > 1 => {
                let peer = RankIntroduction {
                    rank: own.rank as u32,
                    wanted: own.wanted,
                    clock: offsets::clock_identity(own.rank),
                };
                match registered.map_or(HostMeeting::Alone, |registered| peers::meet_peers(registered, peer)) {
                    HostMeeting::Leader(company) => lead_host(own, &key, peer, company),
                    HostMeeting::Member(leader, offer) => {
                        let Some(place) = decode_offer(&offer) else { return (None, None) };
                        let measuring = decode_measurers(&peers::receive_conclusion(leader));
                        let offset = measure_offset(measuring.as_deref(), own, peer, &place);
                        (Some(place), offset)
                    }
                    HostMeeting::Alone => by_key(own, &key),
                }
            }
            None if launcher::started_in_parts() => go_apart(own, "the job is of several programs"),
            _ => by_messages(own),
        }
    }
}

/// Finds the folder alone: after MPI_Session_init, which only some ranks may call.
pub fn of_session(own: StartingRank) -> Agreement {
    match key_of_job(own.size) {
        Some(key) if own.size > 1 => by_key(own, &key),
        _ => go_apart(own, "MPI was started by a session"),
    }
}

/// Returns the key by which the ranks find the folder, the same on all of them.
fn key_of_job(size: i32) -> Option<String> {
    let key = job::job_key()?;
    Some(if launcher::single_host(size) == Some(true) { launcher::key_on_host(key) } else { key })
}

fn same_clock() -> ClockOffset {
    ClockOffset { ticks: crate::system::clock::read_ticks(), offset_ns: 0, error_ns: 0 }
}

/// Finds the folder of the job without asking anyone.
fn by_key(own: StartingRank, key: &str) -> Agreement {
    let clock = offsets::clock_identity(own.rank);
    let one_host = launcher::single_host(own.size) == Some(true);
    let place = find_run_folder(own, key, &[own.rank as u32], clock, one_host, own.wanted);
    let offset = place.as_ref().filter(|place| one_host && place.clock == Some(clock)).map(|_| same_clock());
    (place, offset)
}

/// Finds or makes the folder, if `wanted`; says so if that fails.
fn find_run_folder(
    own: StartingRank,
    key: &str,
    ranks: &[u32],
    clock: i32,
    one_host: bool,
    wanted: bool,
) -> Option<RunDirectory> {
    match guard::catch_panic(|| wanted.then(|| place::of_job(own.settings, key, ranks, clock, one_host)))? {
        Ok(place) => Some(place),
        Err(error) => {
            place::say_failure(own.settings, &error);
            None
        }
    }
}

/// Returns a folder of its own for a rank that has nothing to agree by.
fn go_apart(own: StartingRank, why: &str) -> Agreement {
    let one_host = launcher::single_host(own.size) != Some(false);
    (place::folder_apart(own.settings, own.rank, own.size, why), one_host.then(same_clock))
}

/// Returns this rank's clock as measured by the ranks in `measuring`, or compared if there are none. Collective over the ranks that measure.
///
/// # Safety
/// MPI is initialised, and all ranks that measure call this.
unsafe fn measure_offset(
    measuring: Option<&[u32]>,
    own: StartingRank,
    peer: RankIntroduction,
    place: &RunDirectory,
) -> Option<ClockOffset> {
    match measuring {
        None => (place.clock == Some(peer.clock)).then(same_clock),
        // SAFETY: the caller's promise.
        Some(ranks) if ranks.contains(&peer.rank) => unsafe { measured_among(ranks, own) },
        Some(_) => None,
    }
}

/// # Safety
/// MPI is initialised.
unsafe fn lead_host(own: StartingRank, key: &str, peer: RankIntroduction, mut company: HostPeers) -> Agreement {
    let (settings, size) = (own.settings, own.size as usize);
    company.keep_plausible(peer.rank, size);
    let host: Vec<RankIntroduction> = company.peers().chain([peer]).collect();
    let ranks: Vec<u32> = host.iter().map(|peer| peer.rank).collect();
    let one_host = host.len() == size || launcher::single_host(own.size) == Some(true);
    // Others may want it on other hosts.
    let wanted = host.iter().any(|peer| peer.wanted)
        || !one_host && settings.mode.is_some() && settings.ranks.as_ref().is_some_and(|ranks| !ranks.is_empty());
    let place = find_run_folder(own, key, &ranks, peer.clock, one_host, wanted);
    company.offer(&encode_offer(place.as_ref()));
    let Some(place) = place else { return (None, None) };
    let mut peers: Vec<RankIntroduction> = company.peers().chain([peer]).collect();
    peers.sort_unstable_by_key(|peer| peer.rank);
    let here: Vec<u32> = peers.iter().map(|peer| peer.rank).collect();
    let one_clock = host.iter().all(|peer| place.clock == Some(peer.clock));
    let measuring = match (one_host, one_clock) {
        (true, true) => None,
        (true, false) => Some(here),
        (false, _) => Some(guard::catch_panic(|| of_all_hosts(own, &place, &here))),
    };
    company.conclude(&encode_measurers(measuring.as_deref()));
    // SAFETY: all that measure have been asked to.
    let offset = unsafe { measure_offset(measuring.as_deref(), own, peer, &place) };
    (Some(place), offset)
}

/// Returns the ranks of all hosts that measure their clocks; none if there may be others that cannot be seen.
fn of_all_hosts(own: StartingRank, place: &RunDirectory, here: &[u32]) -> Vec<u32> {
    let all = hosts::agree_on_ranks(&place.dir, here, own.size as usize, hosts::PATIENCE);
    if all == here && place::is_of_one_host(own.settings) { Vec::new() } else { all }
}

/// Measures clocks among `ranks` of MPI_COMM_WORLD, against the clock of the first. Collective over them.
///
/// # Safety
/// MPI is initialised, and all of `ranks` call this.
unsafe fn measured_among(ranks: &[u32], own: StartingRank) -> Option<ClockOffset> {
    const TAG: Word = 0x6c62;
    let world = predefined::comm_world();
    // SAFETY: the caller's promise; the handles made here are freed here.
    unsafe {
        if ranks.len() == own.size as usize {
            return offsets::measure_first(world, own.rank);
        }
        let (mut group, mut comm): (Word, Word) = (0, 0);
        let all = world::world_group()?;
        let to = &raw mut group as Word;
        if call_mpi(c"PMPI_Group_incl", [all, ranks.len(), ranks.as_ptr() as Word, to, 0, 0, 0, 0]) != 0 {
            return None;
        }
        let handle = group & abi::current_abi().handle_mask;
        let code = call_mpi(c"PMPI_Comm_create_group", [world, handle, TAG, &raw mut comm as Word, 0, 0, 0, 0]);
        call2(c"PMPI_Group_free", &raw mut group as Word, 0);
        if code != 0 {
            return None;
        }
        let offset = offsets::measure_first(comm & abi::current_abi().handle_mask, own.rank);
        call2(c"PMPI_Comm_free", &raw mut comm as Word, 0);
        offset
    }
}

/// Makes all ranks agree by messages. If some of them do not come, each goes on with a folder of its own.
///
/// # Safety
/// MPI is initialised, and all ranks that are there call this.
unsafe fn by_messages(own: StartingRank) -> Agreement {
    // SAFETY: the caller's promise.
    unsafe {
        // In two rounds: a rank that gives up in the first one does not come to the second, so that none of the others completes it.
        let patience = own.settings.wait;
        if own.size > 1 && !(round_completes(own.size, patience) && round_completes(own.size, patience)) {
            guard::say_line(format_args!("not all ranks of the job run under lb-run; this one goes on without them"));
            let place = place::folder_apart(own.settings, own.rank, own.size, "not all ranks run under lb-run");
            return (place, None);
        }
        match broadcast_folder(own) {
            Some(place) => (Some(place), offsets::measure_first(predefined::comm_world(), own.rank)),
            None => (None, None),
        }
    }
}

/// Waits for all ranks, and says so if that takes long. Returns false if one does not come. Collective, over MPI_COMM_WORLD.
///
/// # Safety
/// As [`by_messages`].
unsafe fn round_completes(size: i32, patience: Duration) -> bool {
    /// Ranks mostly arrive together: for this time the processor is only yielded.
    const BUSY: Duration = Duration::from_millis(2);
    const NAP: Duration = Duration::from_micros(200);
    let test = find_symbol(c"PMPI_Test");
    // MPI writes to both also after we have given up.
    let state: &'static mut (Word, i32) = Box::leak(Box::new((0, 0)));
    let (request, arrived) = (&raw mut state.0, &raw mut state.1);
    // SAFETY: all ranks that are here take part; the request and the flag live on.
    unsafe {
        // Where MPI is older than this function, the ranks wait in the agreement itself.
        if call2(c"PMPI_Ibarrier", predefined::comm_world(), request as Word) != 0 {
            return true;
        }
        let begin = Instant::now();
        let mut message = None;
        loop {
            let arguments = [request as Word, arrived as Word, abi::current_abi().status_ignore, 0, 0, 0, 0, 0];
            if call_at(test, arguments) != 0 || *arrived != 0 {
                drop(Box::from_raw(state));
                return true;
            }
            let waited = begin.elapsed();
            if waited > patience {
                return false;
            }
            if waited < BUSY {
                libc::sched_yield();
            } else {
                std::thread::sleep(NAP);
            }
            if waited > patience / 2 && message.is_none() {
                message = Some(guard::catch_panic(|| say_waiting(size, patience - waited)));
            }
        }
    }
}

/// Says that this rank waits, unless another one of the job and host says so. Keep the listener while it waits.
fn say_waiting(size: i32, rest: Duration) -> Option<UnixListener> {
    // A name without a file, which one process can have: it goes with the process.
    let first = SocketAddr::from_abstract_name(format!("lbprof-waiting-{:016x}", launcher::job_number(size)))
        .and_then(|name| UnixListener::bind_addr(&name));
    if first.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse) {
        return None;
    }
    let rest_s = rest.as_secs_f64().ceil();
    guard::say_line(format_args!(
        "MPI_Init waits for ranks that are late or do not run under lb-run, for {rest_s} more seconds (docs/supported.md)"
    ));
    first.ok()
}

/// Rank 0 makes the folder and sends its name to the others, if any rank is to be recorded. Collective, over MPI_COMM_WORLD.
///
/// # Safety
/// As [`by_messages`]; all ranks are there.
unsafe fn broadcast_folder(own: StartingRank) -> Option<RunDirectory> {
    let StartingRank { settings, rank, size, wanted } = own;
    let world = predefined::comm_world();
    let (own, mut all) = ([u8::from(wanted)], vec![0u8; if rank == 0 { size as usize } else { 0 }]);
    // SAFETY: all ranks take part, with a byte each.
    let code = unsafe {
        let (send, receive, byte) = (own.as_ptr() as Word, all.as_mut_ptr() as Word, predefined::mpi_byte());
        call_mpi(c"PMPI_Gather", [send, 1, byte, receive, 1, byte, 0, world])
    };
    // A path's length, the run's id; then the path.
    let mut head = [0u64; 2];
    let mut path = Vec::new();
    if code == 0 && all.contains(&1) {
        match guard::catch_panic(|| Some(place::make_new_folder(settings, size))) {
            Some(Ok(place)) => {
                path = place.dir.into_os_string().into_vec();
                head = [path.len() as u64, place.run_id];
            }
            Some(Err(error)) => place::say_failure(settings, &error),
            None => {}
        }
    }
    // SAFETY: all ranks take part, with the same counts.
    unsafe {
        let byte = predefined::mpi_byte();
        let (address, bytes) = (head.as_mut_ptr() as Word, size_of_val(&head));
        if call_mpi(c"PMPI_Bcast", [address, bytes, byte, 0, world, 0, 0, 0]) != 0 || head == [0, 0] {
            return None;
        }
        let [length, run_id] = head;
        path.resize(length as usize, 0);
        if call_mpi(c"PMPI_Bcast", [path.as_mut_ptr() as Word, path.len(), byte, 0, world, 0, 0, 0]) != 0 {
            return None;
        }
        Some(RunDirectory { dir: PathBuf::from(OsString::from_vec(path)), run_id, clock: None })
    }
}
