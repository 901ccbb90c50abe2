//! Another user of the host can read the names of the ranks' sockets, and make sockets of such names: the ranks neither ask him nor wait for him, nor
//! believe what he says (docs/harmless.md, "Who may do what to a recorded job").
//!
//! The tests need root, to act as another user. Otherwise they are ignored.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, ensure};
use lbprof_tests::launch::Job;
use lbprof_tests::mpi::{self, Mpi};
use lbprof_tests::program::Program;
use lbprof_tests::suite;
use lbprof_tests::unharmed::lines_of_recorder;
use lbprof_tests::{place, run};
use libtest_mimic::Trial;
use serde_json::Value;

/// A user that exists nowhere else.
const OTHER_USER: u32 = 61_734;

const RANKS: usize = 4;

/// Acts as another user, before all other processes if it may, until its standard input ends: it takes the first name among the sockets of each job, answers nobody, and says on all of the job's
/// sockets that it is rank 3 with another clock. It prints a line for each name taken, and one for each peer that sent it something.
const INTRUDER: &str = r#"
import os, re, select, socket, struct, sys, threading
os.nice(-19)
os.setgid(int(sys.argv[1]))
os.setuid(int(sys.argv[1]))
print("ready", flush=True)
def serve(listener):
    while True:
        peer, _ = listener.accept()
        kept.append(peer)
        threading.Thread(target=lambda: peer.recv(9) and print("believed", flush=True), daemon=True).start()
kept, taken = [], set()
while not select.select([sys.stdin], [], [], 0.001)[0]:
    names = set(re.findall(r"@((lbprof-[0-9a-f]{16}-)\d{8}-\d+)", open("/proc/net/unix").read()))
    for name, job in sorted(names):
        if job not in taken:
            taken.add(job)
            listener = socket.socket(socket.AF_UNIX)
            listener.bind("\0" + job + "00000000-0")
            listener.listen(1)
            threading.Thread(target=serve, args=(listener,), daemon=True).start()
            print("taken", flush=True)
        if name not in taken and not name.endswith("00000000-0"):
            taken.add(name)
            member = socket.socket(socket.AF_UNIX)
            try:
                member.connect("\0" + name)
                member.send(struct.pack("<IBi", 3, 1, 77777))
                kept.append(member)
            except OSError:
                pass
"#;

struct Intruder {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Intruder {
    /// Starts an intruder that looks for sockets from now on.
    fn start() -> anyhow::Result<Self> {
        let mut command = Command::new("/usr/bin/python3");
        command.args(["-c", INTRUDER, &OTHER_USER.to_string()]).current_dir("/");
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = child.context("/usr/bin/python3 as another user")?;
        let mut output = BufReader::new(process.stdout.take().context("its output is a pipe")?);
        let mut ready = String::new();
        output.read_line(&mut ready)?;
        ensure!(ready == "ready\n", "it did not start: {ready:?}");
        Ok(Self { process, output })
    }

    fn end(mut self) -> anyhow::Result<Vec<String>> {
        drop(self.process.stdin.take());
        let lines = self.output.lines().collect::<Result<_, _>>()?;
        self.process.wait()?;
        Ok(lines)
    }
}

fn intruder_is_ignored(mpi: &Mpi) -> anyhow::Result<()> {
    let program = Program::read(Path::new("settings/mixed.c"))?.compiled(mpi)?;
    let folder = place::fresh_folder(&format!("other_users::{}", mpi.name))?;
    let job = Job::new(mpi, RANKS, &program, &folder);
    let intruder = Intruder::start()?;
    let outcome = job.recorded();
    let printed = intruder.end()?;
    let outcome = outcome?.must_succeed()?;
    ensure!(printed.iter().any(|line| line == "taken"), "the intruder came too late: {printed:?}");
    ensure!(!printed.iter().any(|line| line == "believed"), "ranks spoke to another user: {printed:?}");
    ensure!(lines_of_recorder(&outcome.stderr).is_empty(), "{}", outcome.stderr);
    let report = run::report(&job.run_folder()?)?;
    ensure!(report["run"]["complete"] == Value::Bool(true), "{}", report["run"]);
    ensure!(report["run"]["ranks"].as_u64() == Some(RANKS as u64), "{}", report["run"]);
    Ok(())
}

/// One trial for all MPIs, because an intruder disturbs all jobs of the host.
pub fn trials() -> anyhow::Result<Vec<Trial>> {
    let check = || mpi::all()?.iter().try_for_each(|mpi| intruder_is_ignored(mpi).context(mpi.name.clone()));
    let trial = suite::trial("intruder_is_ignored".to_owned(), check);
    Ok(vec![suite::needing_root(trial)])
}
