//! Records what started the ranks of a run: a file in its folder, by which the reader finds the runs that another has spawned.
//!
//! Two short lines: a number of the process that started the ranks, which starts spawned ones, too; and whether it did so for
//! MPI_Comm_spawn.

use std::fmt;

/// Name of the file.
pub const STARTER_FILE: &str = ".starter";

/// The process that started the ranks of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunStarter {
    /// The number of the process.
    pub number: u64,
    /// True if MPI_Comm_spawn had it start the ranks.
    pub spawned: bool,
}

impl fmt::Display for RunStarter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:016x}\n{}", self.number, if self.spawned { "spawned" } else { "started" })
    }
}

impl RunStarter {
    /// From the file's text; `None` where that is something else.
    pub fn parse(text: &str) -> Option<RunStarter> {
        let mut lines = text.lines();
        let number = u64::from_str_radix(lines.next()?, 16).ok()?;
        Some(RunStarter { number, spawned: lines.next()? == "spawned" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for starter in [RunStarter { number: u64::MAX, spawned: true }, RunStarter { number: 0xa1, spawned: false }] {
            assert_eq!(RunStarter::parse(&starter.to_string()), Some(starter));
        }
        assert_eq!(RunStarter { number: 0xa1, spawned: true }.to_string(), "00000000000000a1\nspawned\n");
        assert_eq!(
            (RunStarter::parse(""), RunStarter::parse("a1"), RunStarter::parse("x\nspawned")),
            (None, None, None)
        );
    }
}
