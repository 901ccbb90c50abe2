//! Programs given as text, simulated and written as logs: what a run's causes, waits and gains are is then known exactly.
//!
//! A [`crate::scenario`] states when each call ends; a script states what each rank does, and when calls end follows from a
//! network.
//!
//! ```
//! # use lbprof_simulator::script::Script;
//! // rank 0  |======= compute 30 =======| send
//! // rank 1  |= 10 =| recv ................|
//! let script = Script::parse("
//!     ranks 2
//!     latency 0.1
//!     rank 0: compute 30; send 1 bytes 800
//!     rank 1: compute 10; recv 0
//! ")?;
//! let run = script.simulate()?;
//! assert_eq!(run.elapsed_ms(), 30.1);
//! let folder = std::env::temp_dir().join("a-script-of-lbprof");
//! # let _ = std::fs::remove_dir_all(&folder);
//! script.write(&folder)?;
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), lbprof_simulator::script::ScriptError>(())
//! ```
//!
//! # The language
//!
//! A line holds statements, divided by `;`, up to `#`. Times are milliseconds. A script begins with
//!
//! ```text
//! ranks 4
//! latency 0.1                  # from the begin of a send to its arrival; 0 unless said
//! bandwidth 1000               # bytes a millisecond; unlimited unless said
//! overhead 0.05                # what each call takes besides waiting; 0 unless said
//! eager 4096                   # larger sends wait for their receive; unlimited unless said
//! comm row 0..1                # a communicator; ranks that are in none of this name may make another
//! comm row 2 3
//! late 1 5                     # rank 1's window begins 5 ms later
//! clock 1 +3 drift 1e-5        # its clock is 3 ms ahead, and gains 10 µs a second; the log says so
//! clock 2 -1 error 0.2         # the log is wrong by 0.2 ms
//! clock 3 +2 unknown           # the log says nothing
//! graph row 0>1 1-2            # neighbours in communicators of this name, by their ranks there: 0 sends to 1, 1 and 2 to each other
//! epochs deferred              # win_start returns at once and win_complete waits for the targets, where it is the other way round otherwise
//! requests empty               # eager nonblocking sends return a request that is complete and has no id, as under Open MPI
//! ```
//!
//! Then follows what ranks do, in sections that begin with `rank 0:`, `rank 1..3:`, `rank 0,2..$n-1:` or `rank *:` and last until
//! the next:
//!
//! ```text
//! rank *:
//!   phase setup control        # kinds: useful (unless said), control, serial
//!     compute 30
//!   end
//!   repeat 10                  # $i counts from 0; `repeat 3 as k` counts $k
//!     iteration step           # a region whose invocations are iterations
//!       compute 10+5*$r        # $r: this rank, $n: their number
//!       if $i % 3 == 0
//!         allreduce 8 on row
//!       end
//!     end
//!   end
//! ```
//!
//! | statement | what it is |
//! |---|---|
//! | `compute 10` | computation |
//! | `send 1 tag 5 bytes 100 on row`; `ssend`, `bsend`, `rsend` | peers and roots are ranks in the communicator, MPI_COMM_WORLD unless said; `self` is one, too; tag 0 and 8 bytes unless said; `send null` is to MPI_PROC_NULL |
//! | `recv 2`, `recv any`, `recv 2 tag any` | |
//! | `sendrecv to 1 from 2 tag 3 recvtag 4`; `sendrecv_replace` | |
//! | `probe 1`, `iprobe 1`, `mprobe 1 as m`, `improbe 1 as m`; `mrecv m`, `imrecv m as a` | |
//! | `isend 1 as a`, `irecv any as b` | names of requests may end with an expression: `as left$i` |
//! | `send_init 1 as a`, `recv_init 1 as b`; `start a`, `startall a b`, `request_free a` | persistent requests |
//! | `wait a`, `waitall a b`, `waitall`, `waitany a b`, `waitsome`, `test a`, `testall`, `testany`, `testsome` | without names: all that are active |
//! | `barrier`, `allreduce 8`, `allgather 8`, `alltoall 8`, `reduce_scatter_block 8` … | all wait for the last; bytes are those of a block |
//! | `bcast 100 root 0`, `scatter 8 root 0` | all wait for the root |
//! | `reduce 8 root 0`, `gather 8 root 0` | the root waits for all |
//! | `scan 8`, `exscan 8` | each waits for those before it in the communicator |
//! | `neighbor_allgather 8 on row`, `neighbor_alltoall 8 on row` … | each waits for the last of those that send to it |
//! | `ibarrier as a`, `iallreduce 8 as b`, `ibcast 8 root 0 as c` …; `barrier_init as d` … | nonblocking and persistent collectives |
//! | `win_create as w on row`, `fence w`, `put 1 bytes 8 on w`, `get`, `win_free w` | one-sided, as synchronisation alone |
//! | `win_post w 1 2`, `win_start w 0`, `win_complete w`, `win_wait w` | the ranks are the group; start waits for each target's post, wait for each origin's complete |
//! | `win_lock 1 on w`, `win_lock 1 shared on w`, `win_unlock 1 on w`, `win_lock_all on w`, `win_unlock_all on w` | exclusive unless said; who comes first is first |
//!
//! # When calls end
//!
//! Every call ends at max(its begin, when what it waits for is complete) + overhead. What it waits for is complete:
//!
//! - an eager send when it begins; its message arrives at begin + latency + bytes / bandwidth, which completes its receive;
//! - a send of more bytes than are eager, or a synchronous one, with its receive, at max(begin, receive posted) + latency +
//!   bytes / bandwidth. Nonblocking ones make progress meanwhile;
//! - an all-to-all collective for all at the last entry + latency (in a communicator of one rank, at its entry);
//! - a broadcast or scatter for the root at its entry, for the others at max(own entry, root's entry + latency);
//! - a reduction or gather for the root at max(own entry, last other's entry + latency), for the others at their entry;
//! - a neighbourhood collective at max(own entry, last source's entry + latency + bytes / bandwidth), without sources at its entry;
//! - win_start at max(its begin, last target's win_post + latency), win_wait at max(its begin, last origin's win_complete + latency);
//! - a lock that others hold, unless all are shared, when the last of them begins to unlock it, + latency; else at its begin;
//! - a scan at max(own entry, last entry of those before it + latency);
//! - a probe when a message's head is there, which arrives at begin + latency, whatever its bytes.
//!
//! Messages are matched by their heads, in the order of their arrival and, of a sender, of sending; of heads that arrive at once
//! that from the lowest rank comes first. A test sees what is complete at its begin, and what arrives at that very moment.

mod error;
mod program;
mod random;
mod reading;
mod record;
mod reshape;
mod rounds;
mod running;
mod step;

use std::path::Path;

use lbprof_collector::definition::Definition;

pub use error::{ScriptError, Stuck};
pub use program::{Network, Script};
pub use reading::expression::evaluate;
pub use running::simulation::{SimulatedCall, SimulatedRank, Simulation, Wait};

use crate::scenario::Scenario;
use program::offset;
use running::world::World;

impl Script {
    /// Reads a script.
    ///
    /// Errors: the line that is wrong.
    pub fn parse(text: &str) -> Result<Script, ScriptError> {
        reading::parse::parse(text)
    }

    /// Runs it.
    ///
    /// Errors: a rank cannot do what a line says, or some wait for ever.
    pub fn simulate(&self) -> Result<Simulation, ScriptError> {
        World::new(self, self.network, None).run()
    }

    /// Makes `run`, a run of this script, again on another network, with all its choices: wildcards take the messages that they
    /// took, and completions and probes find what they found, those that found nothing nothing. A test that found something
    /// waits for it.
    ///
    /// Errors: `run` is that of another script.
    pub fn replay(&self, run: &Simulation, network: Network) -> Result<Simulation, ScriptError> {
        World::new(self, network, Some(run)).run()
    }

    /// Runs it, and replays the run on the ideal network, where sends that waited for their receives still do: its elapsed time is
    /// the T_ideal of micro load balance.
    ///
    /// Errors: as those of [`Script::simulate`].
    pub fn ideal(&self) -> Result<Simulation, ScriptError> {
        self.replay(&self.simulate()?, Network { eager: self.network.eager, ..Network::default() })
    }

    /// Runs it, and gives the run for its logs to be written.
    ///
    /// Errors: as those of [`Script::simulate`].
    pub fn scenario(&self) -> Result<Scenario, ScriptError> {
        let simulation = self.simulate()?;
        let mut scenario = Scenario::ranks(self.n_ranks());
        for (rank, simulated) in (0..).zip(&simulation.ranks) {
            scenario = scenario.rank(rank, |log| {
                let mut log = log.late(self.late[rank as usize] as f64 / 1e6).clock(self.clocks[rank as usize]);
                for (i, comm) in self.own_comms(rank) {
                    log = log.communicator(100 + i as u64, &comm.group);
                }
                let comms =
                    std::iter::once(&self.comms[0]).zip(0..).chain(self.own_comms(rank).map(|(_, comm)| comm).zip(2..));
                for neighbours in comms.filter_map(|(comm, id)| comm.neighbours(rank, id)) {
                    log = log.define(Definition::Neighbours(neighbours));
                }
                log = simulated.events.iter().fold(log, |log, event| event.clone().write(log));
                log.finalize_at(simulated.end_ns, offset(self.lines + 1, 0))
            });
        }
        Ok(scenario)
    }

    /// Runs it, and writes its logs into `folder`, which is made where it does not exist.
    ///
    /// Errors: as those of [`Script::simulate`], and what the system says.
    pub fn write(&self, folder: &Path) -> Result<(), ScriptError> {
        Ok(self.scenario()?.write(folder)?)
    }
}
