//! Transport between the processes of an MPI job.
//!
//! A waiting process sleeps: it may wait for minutes while another one makes the report, and MPI's own waiting keeps a core busy.

use std::thread::sleep;
use std::time::Duration;

use lbprof_analysis::analyse::ProcessFailure;
use lbprof_analysis::distributed::Transport;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, Equivalence, Source};

/// The shortest and the longest sleep between two attempts.
const SLEEPS: [Duration; 2] = [Duration::from_micros(20), Duration::from_millis(5)];

/// Transport between all processes of the job.
pub struct MpiTransport {
    process: usize,
    processes: usize,
    host: Option<String>,
}

impl MpiTransport {
    /// Creates the transport of this process. MPI must be initialized.
    pub fn new() -> MpiTransport {
        let world = SimpleCommunicator::world();
        let [process, processes] = [world.rank(), world.size()].map(|number| usize::try_from(number).unwrap_or(0));
        MpiTransport { process, processes, host: mpi::environment::processor_name().ok() }
    }
}

impl Transport for MpiTransport {
    fn process(&self) -> usize {
        self.process
    }

    fn processes(&self) -> usize {
        self.processes
    }

    fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    fn send(&self, to: usize, bytes: &[u8]) -> Result<(), ProcessFailure> {
        // Errors of MPI end the job by default.
        let world = SimpleCommunicator::world();
        let other = world.process_at_rank(to as i32);
        mpi::request::scope(|scope| {
            let mut request = other.immediate_send(scope, bytes);
            let mut waits = GrowingWaits::new();
            while let Err(pending) = request.test() {
                request = pending;
                waits.wait();
            }
        });
        Ok(())
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, ProcessFailure> {
        let world = SimpleCommunicator::world();
        let other = world.process_at_rank(from as i32);
        let mut waits = GrowingWaits::new();
        loop {
            if let Some((message, status)) = other.immediate_matched_probe() {
                let mut bytes = vec![0; usize::try_from(status.count(u8::equivalent_datatype())).unwrap_or(0)];
                message.matched_receive_into(&mut bytes[..]);
                return Ok(bytes);
            }
            waits.wait();
        }
    }
}

struct GrowingWaits(Duration);

impl GrowingWaits {
    fn new() -> GrowingWaits {
        GrowingWaits(SLEEPS[0])
    }

    fn wait(&mut self) {
        sleep(self.0);
        self.0 = (self.0 * 2).min(SLEEPS[1]);
    }
}
