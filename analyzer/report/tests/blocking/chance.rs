//! Scripts of chance whose ranks synchronise with some of the others: neighbourhood collectives, epochs with groups, locks.

use std::fmt::Write;

use lbprof_simulator::noise::Chance;
use lbprof_simulator::script::Script;

fn some_of(all: &[u32], chance: &mut Chance) -> Vec<u32> {
    let kept: Vec<u32> = all.iter().copied().filter(|_| chance.below(2) == 0).collect();
    if kept.is_empty() { vec![all[chance.below(all.len() as u32) as usize]] } else { kept }
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
        text.extend(some_of(&others, &mut chance).into_iter().map(|to| format!(" {from}>{to}")));
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
    let targets: Vec<u32> = some_of(&(0..n).collect::<Vec<_>>(), chance).into_iter().take(2).collect();
    let others: Vec<u32> = (0..n).filter(|rank| !targets.contains(rank)).collect();
    let origins = some_of(&others, chance);
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
