//! `lb-report-mpi`: lb-report on several processes of an MPI job.
//!
//! Process 0 is lb-report, with all its commands. Where all records of a run are read, the other processes read their share
//! ([`lbprof_analysis::distributed`]).

mod transport;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;

use lb_report::command_line::{CommandLine, parse_arguments, run_command};
use lb_report::exit::{ReportExit, print_note};
use lb_report::limits::{limit_memory, raise_open_files};
use lb_report::{code_reader, exit, opening};
use lbprof_analysis::analyse::ProcessFailure;
use lbprof_analysis::distributed::{LeaderProcess, ProcessGroup, serve_leader};
use mpi::traits::Communicator;

use crate::transport::MpiTransport;

fn main() -> ExitCode {
    if let Some(exit) = code_reader::serve_if_asked() {
        return exit;
    }
    exit::set_name(env!("CARGO_BIN_NAME"));
    raise_open_files();
    let Some((universe, _)) = mpi::initialize_with_threading(mpi::Threading::Funneled) else {
        return ReportExit::Bug.into();
    };
    let world = universe.world();
    let team = ProcessGroup::new(Box::new(MpiTransport::new()));
    let process = team.process();
    // If this process does not reach its end, MPI ends the others.
    let done = catch_unwind(AssertUnwindSafe(|| match (parse_arguments(process == 0), process) {
        (Err(exit), _) => Ok(exit),
        (Ok(arguments), 0) => run_leader(team, &arguments),
        (Ok(_), _) => serve_leader(&team, limit_memory).map(|()| ReportExit::Good),
    }));
    let exit = match done {
        Ok(Ok(exit)) => exit,
        Ok(Err(failure)) => {
            print_note(failure);
            world.abort(ReportExit::Process as i32)
        }
        Err(_) => world.abort(ReportExit::Bug as i32),
    };
    drop(universe);
    exit.into()
}

fn run_leader(team: ProcessGroup, arguments: &CommandLine) -> Result<ReportExit, ProcessFailure> {
    let leader = Arc::new(LeaderProcess::new(team));
    opening::open_with(leader.clone());
    let exit = run_command(arguments);
    leader.end()?;
    Ok(exit)
}
