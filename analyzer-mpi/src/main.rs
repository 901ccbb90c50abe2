//! `lb-report-mpi`: lb-report on several processes of an MPI job.
//!
//! Process 0 is lb-report, with all its commands. Where all records of a run are read, the other processes read their share
//! ([`lbprof_analyzer::serve`]).

// The modules of lb-report, but for the one that opens a run.
#[path = "../../analyzer/src/bin/lb-report/command_line.rs"]
mod command_line;
#[path = "../../analyzer/src/bin/lb-report/compare.rs"]
mod compare;
#[path = "../../analyzer/src/bin/lb-report/dump.rs"]
mod dump;
#[path = "../../analyzer/src/bin/lb-report/examples.rs"]
mod examples;
#[path = "../../analyzer/src/bin/lb-report/exit.rs"]
mod exit;
#[path = "../../analyzer/src/bin/lb-report/export.rs"]
mod export;
#[path = "../../analyzer/src/bin/lb-report/memory.rs"]
mod memory;
#[path = "../../analyzer/src/bin/lb-report/on_disk.rs"]
mod on_disk;
#[path = "../../analyzer/src/bin/lb-report/output.rs"]
mod output;
#[path = "../../analyzer/src/bin/lb-report/processor.rs"]
mod processor;
#[path = "../../analyzer/src/bin/lb-report/progress.rs"]
mod progress;
#[path = "../../analyzer/src/bin/lb-report/report/mod.rs"]
mod report;
#[path = "../../analyzer/src/bin/lb-report/run.rs"]
mod run;
#[path = "../../analyzer/src/bin/lb-report/shell.rs"]
mod shell;
#[path = "../../analyzer/src/bin/lb-report/study/mod.rs"]
mod study;
#[path = "../../analyzer/src/bin/lb-report/whole_file.rs"]
mod whole_file;

mod opening;
mod transport;

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;

use lbprof_analyzer::read::together::Leader;
use lbprof_analyzer::serve::serve;
use lbprof_analyzer::transport::{Failure, Team};
use mpi::traits::Communicator;

use crate::command_line::{Arguments, parsed, run};
use crate::exit::{Exit, NAME};
use crate::on_disk::OnDisk;
use crate::transport::MpiTransport;

fn main() -> ExitCode {
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let Some((universe, _)) = mpi::initialize_with_threading(mpi::Threading::Funneled) else {
        return Exit::Bug.into();
    };
    let world = universe.world();
    let team = Team::new(Box::new(MpiTransport::new()));
    let process = team.process();
    // MPI ends the others where this one does not get to its end.
    let done = catch_unwind(AssertUnwindSafe(|| match (parsed(process == 0), process) {
        (Err(exit), _) => Ok(exit),
        (Ok(arguments), 0) => lead(team, &arguments),
        (Ok(_), _) => serve(&team, bound).map(|()| Exit::Good),
    }));
    let exit = match done {
        Ok(Ok(exit)) => exit,
        Ok(Err(failure)) => {
            let _ = writeln!(io::stderr(), "{NAME}: {failure}");
            world.abort(Exit::Process as i32)
        }
        Err(_) => world.abort(Exit::Bug as i32),
    };
    drop(universe);
    exit.into()
}

/// What process 0 does.
fn lead(team: Team, arguments: &Arguments) -> Result<Exit, Failure> {
    let leader = Arc::new(Leader::new(team));
    opening::by(leader.clone());
    let exit = run(arguments);
    leader.end()?;
    Ok(exit)
}

/// Bounds a process that reads a share of a run by what that run may take, as process 0 is bounded.
fn bound(bytes_on_disk: Option<u64>) {
    let on_disk = bytes_on_disk.map(|bytes| OnDisk { bytes });
    memory::bound_by(on_disk);
    processor::bound_by(on_disk);
}
