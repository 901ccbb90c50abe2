//! Makes the ranks of a job agree on the run's folder, and measures their clocks.
//!
//! Other ranks of the job, such as one of two coupled codes, may run without this library and take part in nothing. So where the
//! launcher names the job ([`crate::run::job`]) the ranks of a host find each other by themselves ([`crate::run::peers`]), one of them finds or
//! makes the folder by that name ([`crate::run::place`]), and only ranks that are known to be there exchange messages, to measure clocks
//! that differ. Where nothing names the job, each rank finds the folder of its host by what the launcher's processes there have in common.

use std::io;

use lbprof_collector::definition::ClockOffset;

use crate::harmless::guard;
use crate::machine::word::Word;
use crate::mpi::call::{call_mpi, call2};
use crate::mpi::{abi, predefined, world};
use crate::run::messages::{
    RankIntroduction, RunDirectory, decode_measurers, decode_offer, encode_measurers, encode_offer,
};
use crate::run::peers::{self, HostMeeting, HostPeers};
use crate::run::place;
use crate::run::settings::RecorderSettings;
use crate::run::{hosts, job, launcher, offsets};

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
    if own.size == 1 {
        return of_single_rank(own);
    }
    let key = key_of_job(own.size);
    let peer = RankIntroduction { rank: own.rank as u32, wanted: own.wanted, clock: offsets::clock_identity(own.rank) };
    match registered.map_or(HostMeeting::Alone, |registered| peers::meet_peers(registered, peer)) {
        // SAFETY: the caller's promise.
        HostMeeting::Leader(company) => unsafe { lead_host(own, &key, peer, company) },
        HostMeeting::Member(leader, offer) => {
            let Some(place) = decode_offer(&offer) else { return (None, None) };
            let measuring = decode_measurers(&peers::receive_conclusion(leader));
            // SAFETY: the caller's promise; all that measure have been asked to.
            let offset = unsafe { measure_offset(measuring.as_deref(), own, peer, &place) };
            (Some(place), offset)
        }
        HostMeeting::Alone => by_key(own, &key),
    }
}

/// Finds the folder alone: after MPI_Session_init, which only some ranks may call.
pub fn of_session(own: StartingRank) -> Agreement {
    if own.size == 1 { of_single_rank(own) } else { by_key(own, &key_of_job(own.size)) }
}

/// Makes a folder for a job of one rank.
fn of_single_rank(own: StartingRank) -> Agreement {
    (report_failure(own, || place::make_new_folder(own.settings, own.size)), Some(same_clock()))
}

/// Returns the key by which the ranks find the folder, the same on all of them. Where the launcher does not name the job, each host has a key of its own.
fn key_of_job(size: i32) -> String {
    match job::job_key() {
        Some(key) if launcher::single_host(size) == Some(true) => launcher::key_on_host(key),
        Some(key) => key,
        None => job::parent_key(),
    }
}

fn same_clock() -> ClockOffset {
    ClockOffset { ticks: crate::machine::system::clock::read_ticks(), offset_ns: 0, error_ns: 0 }
}

/// Finds the folder of the job without asking anyone.
fn by_key(own: StartingRank, key: &str) -> Agreement {
    let clock = offsets::clock_identity(own.rank);
    let one_host = launcher::single_host(own.size) == Some(true) || key.starts_with(job::PARENT);
    let place = report_failure(own, || place::of_job(own.settings, key, &[own.rank as u32], clock, one_host));
    let offset = place.as_ref().filter(|place| one_host && place.clock == Some(clock)).map(|_| same_clock());
    (place, offset)
}

/// Makes or finds the folder, if this rank is `wanted`; says so if that fails.
fn report_failure(own: StartingRank, find: impl FnOnce() -> io::Result<RunDirectory>) -> Option<RunDirectory> {
    guard::catch_panic(|| own.wanted.then(find))?.inspect_err(|error| place::say_failure(own.settings, error)).ok()
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
    let any = StartingRank { wanted, ..own };
    let place = report_failure(any, || place::of_job(settings, key, &ranks, peer.clock, one_host));
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
