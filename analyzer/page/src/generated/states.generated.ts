// Generated from collector/src/record/states.table by `npm run build`; do not edit.

export const STATES: Record<string, { group: string; colour: string; sentence: string }> = {
    "computation": { group: "Outside", colour: "#0072b2", sentence: "All time outside of MPI." },
    "point-to-point": { group: "Mpi", colour: "#009e73", sentence: "Sends, receives, probes, and the waits and tests on their requests." },
    "collective": { group: "Mpi", colour: "#cc79a7", sentence: "Collectives other than barriers, blocking or not, and their waits." },
    "synchronization": { group: "Mpi", colour: "#f0e442", sentence: "Barriers and their waits." },
    "one-sided": { group: "Mpi", colour: "#56b4e9", sentence: "Puts, gets, accumulates, and the synchronisation of windows." },
    "io": { group: "Mpi", colour: "#e69f00", sentence: "Files through MPI." },
    "management": { group: "Mpi", colour: "#8c8c8c", sentence: "Making communicators, datatypes, windows and topologies." },
    "recorder": { group: "Recorder", colour: "#5f6670", sentence: "The recorder's own time: writing the log. Never counted as computation." },
    "useful": { group: "Useful", colour: "#0072b2", sentence: "Computation on a core, in user space: the program's own code." },
    "kernel": { group: "Kernel", colour: "#7a6fbe", sentence: "Computation on a core, in the kernel: page faults and system calls." },
    "asleep": { group: "Asleep", colour: "#d98880", sentence: "Outside of MPI, asleep: in sleep(), at a lock, in a call that reads or writes a file. Also stopped, where the system does not let the recorder see that." },
    "no core": { group: "NoCore", colour: "#b5651d", sentence: "Outside of MPI, ready to run, while others had the core." },
    "not known": { group: "NotKnown", colour: "#d9d9d9", sentence: "Computation of which the system does not say which of the others it is." },
    "stopped": { group: "Asleep", colour: "#a93226", sentence: "Outside of MPI, stopped between two instructions: by SIGSTOP (cpulimit, a batch system that suspends), by a debugger." },
};
