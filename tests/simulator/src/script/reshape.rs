//! The same program on other ranks.

use super::program::{Comm, Script};
use super::step::{Action, Call, Collective, Incoming, On, Outgoing, Start};
use crate::scenario::Clock;

impl Script {
    /// The same program where rank p does what rank `to[p]` now is: `to` holds each rank once, as its new number.
    ///
    /// What goes over MPI_COMM_WORLD goes over a communicator of the old ranks in their old order. Clocks stay with the
    /// numbers, for all are compared with rank 0's. The text stays as it was.
    pub fn renumbered(&self, to: &[u32]) -> Script {
        self.on_ranks(to, self.n_ranks())
    }

    /// The same program with one more rank, the last, that does nothing. Otherwise as [`Script::renumbered`].
    pub fn with_idle_rank(&self) -> Script {
        let same: Vec<_> = (0..self.n_ranks()).collect();
        self.on_ranks(&same, self.n_ranks() + 1)
    }

    fn on_ranks(&self, to: &[u32], n: u32) -> Script {
        let n_before = self.n_ranks() as usize;
        let mut script = Script {
            comms: vec![Comm::new("world", (0..n).collect())],
            late: vec![0; n as usize],
            clocks: vec![Clock::default(); n as usize],
            programs: vec![Vec::new(); n as usize],
            ..self.clone()
        };
        script.comms.extend((0..n).map(|rank| Comm::new("self", vec![rank])));
        let moved = |comm: &Comm| Comm {
            name: comm.name.clone(),
            group: comm.group.iter().map(|&rank| to[rank as usize]).collect(),
            edges: comm.edges.clone(),
        };
        script.comms.extend(self.comms.iter().skip(n_before + 1).chain(&self.comms[..1]).map(moved));
        let old_world = script.comms.len() - 1;
        let comm = |index: usize| match index {
            0 => old_world,
            own if own <= n_before => 1 + to[own - 1] as usize,
            other => other - n_before + n as usize,
        };
        for (program, &rank) in self.programs.iter().zip(to) {
            let mut program = program.clone();
            for step in &mut program {
                if let Action::Call(call) = &mut step.action {
                    call.comms().into_iter().for_each(|index| *index = comm(*index));
                }
            }
            script.programs[rank as usize] = program;
        }
        for (rank, (&late, &clock)) in self.late.iter().zip(&self.clocks).enumerate() {
            script.late[to[rank] as usize] = late;
            script.clocks[rank] = clock;
        }
        script
    }
}

impl Call {
    /// The indices of the communicators that it names.
    fn comms(&mut self) -> Vec<&mut usize> {
        match self {
            Call::Blocking(_, start) | Call::Nonblocking(_, start, _) | Call::Prepare(_, start, _) => start.comms(),
            Call::Probe { incoming, .. } => vec![&mut incoming.comm],
            Call::Start(..) | Call::Complete { .. } | Call::Free(_) | Call::Access { .. } => Vec::new(),
        }
    }
}

impl Start {
    fn comms(&mut self) -> Vec<&mut usize> {
        match self {
            Start::Send(Outgoing { comm, .. }) | Start::Receive(Incoming { comm, .. }) => vec![comm],
            Start::Exchange(outgoing, incoming) => vec![&mut outgoing.comm, &mut incoming.comm],
            Start::Collective(Collective { on: On::Comm(comm) | On::NewWindow(comm, _), .. }) => vec![comm],
            Start::Collective(_) | Start::Matched(_) | Start::Epoch(_) => Vec::new(),
        }
    }
}
