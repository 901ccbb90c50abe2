//! Scripts of chance whose ranks synchronise with some of the others: neighbourhood collectives, epochs with groups, locks.

use std::fmt::Write;

use lbprof_simulator::script::Script;

/// A generator of numbers (SplitMix64).
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    pub fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % u64::from(n)) as u32
    }

    /// Milliseconds to a nanosecond, so that events of several ranks hardly ever coincide.
    pub fn ms(&mut self, most: u32) -> f64 {
        f64::from(self.below(most * 1_000_000)) / 1e6
    }

    fn some(&mut self, all: &[u32]) -> Vec<u32> {
        let kept: Vec<u32> = all.iter().copied().filter(|_| self.below(2) == 0).collect();
        if kept.is_empty() { vec![all[self.below(all.len() as u32) as usize]] } else { kept }
    }
}

/// The script of `seed`, with `rounds` rounds to which all ranks come in the same order, so that no rank can wait for one that waits for
/// it; with locks if they are wanted, whose order follows from when they are asked for.
pub fn among_some(seed: u64, rounds: u32, locks: bool) -> Script {
    let mut chance = Chance(seed);
    let n = 3 + chance.below(5);
    let mut text = format!("# Script {seed} of {rounds} rounds.\nranks {n}\nlatency {}\n", chance.ms(1));
    let _ = write!(text, "bandwidth {}\ncomm all 0..{}\ngraph all", 10_000 + chance.below(90_000), n - 1);
    for from in 0..n {
        let others: Vec<u32> = (0..n).filter(|&to| to != from).collect();
        text.extend(chance.some(&others).into_iter().map(|to| format!(" {from}>{to}")));
    }
    text.push('\n');
    let mut lines = vec!["  win_create as w on all\n".to_owned(); n as usize];
    for _ in 0..rounds {
        for line in &mut lines {
            let _ = writeln!(line, "  compute {}", chance.ms(10));
        }
        match chance.below(if locks { 3 } else { 2 }) {
            0 => neighbours(&mut chance, &mut lines),
            1 => epoch(&mut chance, n, &mut lines),
            _ => locked(&mut chance, n, &mut lines),
        }
    }
    for (rank, lines) in lines.iter().enumerate() {
        let _ = write!(text, "rank {rank}:\n{lines}  compute {}\n", chance.ms(1));
    }
    Script::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn neighbours(chance: &mut Chance, lines: &mut [String]) {
    const CALLS: [&str; 4] = ["neighbor_allgather", "neighbor_alltoall", "neighbor_allgatherv", "neighbor_alltoallw"];
    let (call, bytes) = (CALLS[chance.below(4) as usize], 1 + chance.below(1000));
    let nonblocking = chance.below(2) == 0;
    for line in lines {
        let _ = match nonblocking {
            true => writeln!(line, "  i{call} {bytes} on all as c; compute {}; wait c", chance.ms(5)),
            false => writeln!(line, "  {call} {bytes} on all"),
        };
    }
}

/// One or two ranks are accessed by some of the others.
fn epoch(chance: &mut Chance, n: u32, lines: &mut [String]) {
    let targets: Vec<u32> = chance.some(&(0..n).collect::<Vec<_>>()).into_iter().take(2).collect();
    let others: Vec<u32> = (0..n).filter(|rank| !targets.contains(rank)).collect();
    let origins = chance.some(&others);
    let group = |ranks: &[u32]| ranks.iter().map(|rank| format!(" {rank}")).collect::<String>();
    for &target in &targets {
        let ms = chance.ms(5);
        let _ = writeln!(lines[target as usize], "  win_post w{}; compute {ms}; win_wait w", group(&origins));
    }
    for &origin in &origins {
        let ms = chance.ms(5);
        let _ = writeln!(lines[origin as usize], "  win_start w{}; compute {ms}; win_complete w", group(&targets));
    }
}

/// Each has a lock for a while: of some rank, or of all.
fn locked(chance: &mut Chance, n: u32, lines: &mut [String]) {
    for line in lines {
        let (target, ms) = (chance.below(2.min(n)), chance.ms(5));
        let _ = match chance.below(4) {
            0 => writeln!(line, "  win_lock_all on w; compute {ms}; win_unlock_all on w"),
            1 => writeln!(line, "  win_lock {target} shared on w; compute {ms}; win_unlock {target} on w"),
            _ => writeln!(line, "  win_lock {target} on w; compute {ms}; win_unlock {target} on w"),
        };
    }
}
