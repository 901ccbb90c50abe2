//! The definitions of a trace: machine, processes and threads, regions, groups and communicators.

use std::collections::{BTreeMap, HashMap};
use std::io;

use super::comms::TraceComm;
use super::library::{CALL_SITE, DELAY_SOURCE, DefinitionWriter, MPI, Ref, UNDEFINED, WAIT_STATE, WAITING};
use super::regions::TraceRegion;
use super::texts::TraceTexts;

/// Values of `OTF2_GroupType`: the locations of MPI, and members of a communicator.
const LOCATIONS: u8 = 4;
const MEMBERS: u8 = 5;

/// The number of the group of all locations of MPI. The groups of communicators follow it, in their order.
const LOCATIONS_GROUP: Ref = 0;

/// The value of `OTF2_ParadigmClass` of processes.
const PROCESSES: u8 = 0;

/// Values of `OTF2_Type`.
const U32: u8 = 3;
const U64: u8 = 4;
const TEXT: u8 = 11;

/// A rank of a trace; it is numbered by its place.
pub struct TraceRank {
    /// Its number in MPI_COMM_WORLD.
    pub rank: u32,
    /// Its host.
    pub host: String,
}

/// The definitions, before they are written.
pub struct TraceDefinitions<'a> {
    /// The ranks, ascending.
    pub ranks: &'a [TraceRank],
    /// The regions, by number.
    pub regions: &'a [TraceRegion],
    /// The communicators, by number.
    pub comms: &'a [TraceComm],
    /// The threads by location, with the numbers of their events.
    pub n_events: &'a BTreeMap<u64, u64>,
}

impl TraceDefinitions<'_> {
    /// Writes them, with the texts that events refer to and their own.
    ///
    /// Errors: writing fails.
    pub fn write(&self, mut texts: TraceTexts, out: &DefinitionWriter) -> io::Result<()> {
        let texts = &mut texts;
        out.define_paradigm(MPI, texts.define("MPI", out)?, PROCESSES)?;
        for (number, name, description, kind) in [
            (CALL_SITE, "call site", "Function, file and line that the call is made from", TEXT),
            (WAIT_STATE, "wait state", "What the call waits for first", TEXT),
            (WAITING, "waiting", "How long it only waits, from its begin, in nanoseconds", U64),
            (DELAY_SOURCE, "delay source", "The rank in MPI_COMM_WORLD that ended the wait", U32),
        ] {
            let (name, description) = (texts.define(name, out)?, texts.define(description, out)?);
            out.define_attribute(number, name, description, kind)?;
        }
        self.write_machine(texts, out)?;
        let empty = texts.define("", out)?;
        for (number, &TraceRegion { ref name, role, paradigm }) in (0..).zip(self.regions) {
            out.define_region(number, texts.define(name, out)?, role, paradigm, empty)?;
        }
        self.write_comms(texts, out)
    }

    fn write_machine(&self, texts: &mut TraceTexts, out: &DefinitionWriter) -> io::Result<()> {
        let (machine, node) = (texts.define("machine", out)?, texts.define("node", out)?);
        out.define_machine_part(0, machine, machine, UNDEFINED)?;
        let mut hosts: HashMap<&str, Ref> = HashMap::new();
        for (place, TraceRank { rank, host }) in (0..).zip(self.ranks) {
            let next = hosts.len() as Ref + 1;
            let host = match hosts.get(host.as_str()) {
                Some(&known) => known,
                None => {
                    out.define_machine_part(next, texts.define(host, out)?, node, 0)?;
                    hosts.insert(host, next);
                    next
                }
            };
            out.define_process(place, texts.define(&format!("MPI Rank {rank}"), out)?, host)?;
        }
        for (&location, &n_events) in self.n_events {
            let (rank, number) = (location as u32, location >> 32);
            let name = if number == 0 { "Master thread".to_owned() } else { format!("thread {number}") };
            out.define_thread(location, texts.define(&name, out)?, n_events, rank)?;
        }
        Ok(())
    }

    fn write_comms(&self, texts: &mut TraceTexts, out: &DefinitionWriter) -> io::Result<()> {
        let empty = texts.define("", out)?;
        // The first threads, whose locations are the places of their ranks.
        let members: Vec<u64> = (0..self.ranks.len() as u64).collect();
        out.define_group(LOCATIONS_GROUP, empty, LOCATIONS, &members)?;
        for (number, comm) in (0..).zip(self.comms) {
            let (name, group) = (texts.define(&comm.name, out)?, LOCATIONS_GROUP + 1 + number);
            out.define_group(group, empty, MEMBERS, &comm.places)?;
            out.define_comm(number, name, group)?;
        }
        Ok(())
    }
}
