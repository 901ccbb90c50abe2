//! Scripts of chance: the same for the same seed, and free of deadlock.
//!
//! A script is a sequence of rounds, in which some of the ranks exchange something in one of the ways below. All ranks come to the
//! rounds in the same order, and what a round starts it ends, so no rank can wait for one that waits for it. Each round has a tag
//! of its own, in each iteration another: else a receive from any rank could take what belongs to a later round.

use std::fmt::Write;

use super::program::Script;
use crate::noise::Chance;

struct Author {
    chance: Chance,
    n: u32,
    lines: Vec<String>,
    round: u32,
    /// How many loops are open. Their variables are `l0`, `l1` …
    loops: usize,
    /// Whether ranks 0 to m − 1 and m to n − 1 have communicators `half`; m.
    half: u32,
}

pub(super) fn text(seed: u64, size: u32) -> String {
    let mut chance = Chance(seed);
    let n = 2 + chance.below(7);
    let half = 1 + chance.below(n - 1);
    let mut text = format!("# Script {seed} of {size} rounds.\nranks {n}\ncomm all 0..{}\n", n - 1);
    let _ = write!(text, "comm half 0..{}\ncomm half {half}..{}\n", half - 1, n - 1);
    if chance.once_in(2) {
        let _ = writeln!(text, "latency {}", chance.ms(1));
        let _ = writeln!(text, "bandwidth {}", 1000 + chance.below(100_000));
    }
    if chance.once_in(2) {
        let _ = writeln!(text, "overhead {}", chance.ms(1) / 10.0);
    }
    if chance.once_in(2) {
        let _ = writeln!(text, "eager {}", 4096 + chance.below(5000));
    }
    if chance.once_in(4) {
        text += "requests empty\n";
    }
    for rank in 0..n {
        if chance.once_in(4) {
            let _ = writeln!(text, "late {rank} {}", chance.ms(10));
        }
    }
    let mut author = Author { chance, n, lines: vec![String::new(); n as usize], round: 0, loops: 0, half };
    author.rounds(size, 0);
    for (rank, lines) in author.lines.iter().enumerate() {
        let _ = write!(text, "rank {rank}:\n{lines}");
    }
    text
}

impl Author {
    fn rounds(&mut self, size: u32, depth: u32) {
        let mut left = size;
        while left > 0 {
            let block = if depth < 3 && self.chance.once_in(3) { 1 + self.chance.below(left) } else { 0 };
            if block == 0 {
                self.round();
                left -= 1;
                continue;
            }
            left -= block;
            self.block(block, depth);
        }
    }

    fn block(&mut self, size: u32, depth: u32) {
        let name = self.chance.below(4);
        let opens = match self.chance.below(3) {
            0 => format!("repeat {} as l{}; iteration step{name}", 1 + self.chance.below(4), self.loops),
            1 => format!("phase control{name} control"),
            _ => format!("phase part{name}"),
        };
        let repeats = opens.starts_with("repeat");
        self.all(|_| opens.clone());
        self.loops += usize::from(repeats);
        self.rounds(size, depth + 1);
        self.loops -= usize::from(repeats);
        self.all(|_| if repeats { "end; end".to_owned() } else { "end".to_owned() });
    }

    fn round(&mut self) {
        self.round += 1;
        self.compute();
        match self.chance.below(10) {
            0 => self.pairs(),
            1 => self.workers(),
            2 => self.drained(),
            3 | 4 => self.ring(),
            5 => self.exchange(),
            6 => self.probed(),
            7 => self.persistent(),
            _ => self.collective(),
        }
    }

    fn does(&mut self, rank: u32, line: impl AsRef<str>) {
        let lines = &mut self.lines[rank as usize];
        lines.push_str("  ");
        lines.push_str(line.as_ref());
        lines.push('\n');
    }

    fn all(&mut self, line: impl Fn(u32) -> String) {
        for rank in 0..self.n {
            self.does(rank, line(rank));
        }
    }

    /// Each computes, now and then very little, for else all would go on at once after a collective.
    fn compute(&mut self) {
        for rank in 0..self.n {
            let ms = self.chance.ms(10) / if self.chance.once_in(5) { 1000.0 } else { 1.0 };
            self.does(rank, format!("compute {ms}"));
        }
    }

    fn bytes(&mut self) -> u32 {
        self.chance.below(10_000)
    }

    fn tag(&self) -> String {
        let loops = (0..self.loops).map(|i| format!("+{}*$l{i}", 10_u32.pow(4 + i as u32)));
        loops.fold(self.round.to_string(), |tag, part| tag + &part)
    }

    fn two(&mut self) -> (u32, u32) {
        let order = self.chance.order(self.n);
        (order[0], order[1])
    }

    fn pairs(&mut self) {
        for _ in 0..1 + self.chance.below(2 * self.n) {
            let (from, to) = self.two();
            let (send, bytes) = (self.chance.pick(&["send", "send", "ssend", "bsend"]), self.bytes());
            let tag = self.tag();
            self.does(from, format!("{send} {to} tag {tag} bytes {bytes} on all"));
            let tag = if self.chance.once_in(3) { "any".to_owned() } else { tag.to_string() };
            self.does(to, format!("recv {from} tag {tag} on all"));
        }
    }

    fn workers(&mut self) {
        let (master, tag) = (self.chance.below(self.n), self.tag());
        for worker in (0..self.n).filter(|&rank| rank != master) {
            let bytes = self.bytes();
            self.does(worker, format!("send {master} tag {tag} bytes {bytes} on all"));
            self.does(master, format!("recv any tag {tag} on all"));
        }
    }

    fn drained(&mut self) {
        let (master, tag) = (self.chance.below(self.n), self.tag());
        let others: Vec<_> = (0..self.n).filter(|&rank| rank != master).collect();
        for &worker in &others {
            let bytes = self.bytes();
            self.does(worker, format!("isend {master} tag {tag} bytes {bytes} on all as out; wait out"));
            self.does(master, format!("irecv {worker} tag {tag} on all as in{worker}"));
        }
        let ms = self.chance.ms(5);
        let tests = self.chance.pick(&["testany; ", "testsome; ", ""]);
        self.does(master, format!("{tests}compute {ms}"));
        for _ in &others {
            let line = self.chance.pick(&["waitany", "waitsome"]);
            self.does(master, line);
        }
        self.does(master, "waitall");
    }

    fn ring(&mut self) {
        let (n, tag, bytes) = (self.n, self.tag(), self.bytes());
        let step = 1 + self.chance.below(n - 1);
        let wait = self.chance.pick(&["waitall in out", "waitall", "wait in; wait out", "test in; waitall in out"]);
        for rank in 0..n {
            let (to, from) = ((rank + step) % n, (rank + n - step) % n);
            let ms = self.chance.ms(5);
            self.does(
                rank,
                format!("irecv {from} tag {tag} on all as in; isend {to} tag {tag} bytes {bytes} on all as out"),
            );
            self.does(rank, format!("compute {ms}; {wait}"));
        }
    }

    fn exchange(&mut self) {
        let (n, tag, bytes) = (self.n, self.tag(), self.bytes());
        let step = 1 + self.chance.below(n - 1);
        self.all(|rank| {
            let (to, from) = ((rank + step) % n, (rank + n - step) % n);
            format!("sendrecv to {to} from {from} tag {tag} bytes {bytes} on all")
        });
    }

    fn probed(&mut self) {
        let ((from, to), tag, bytes) = (self.two(), self.tag(), self.bytes());
        self.does(from, format!("send {to} tag {tag} bytes {bytes} on all"));
        let line = match self.chance.below(3) {
            0 => format!("probe any tag {tag} on all; recv any tag {tag} on all"),
            1 => format!("mprobe any tag {tag} on all as m; mrecv m"),
            _ => format!("iprobe {from} tag {tag} on all; recv {from} tag {tag} on all"),
        };
        self.does(to, line);
    }

    fn persistent(&mut self) {
        let ((from, to), tag, bytes) = (self.two(), self.tag(), self.bytes());
        let ms = self.chance.ms(3);
        self.does(from, format!("send_init {to} tag {tag} bytes {bytes} on all as p"));
        self.does(to, format!("recv_init {from} tag {tag} on all as q"));
        self.does(from, format!("repeat 3; start p; compute {ms}; wait p; end; request_free p"));
        self.does(to, "repeat 3; startall q; waitall q; end; request_free q");
    }

    fn collective(&mut self) {
        const ROOTED: &[&str] = &["bcast", "scatter", "reduce", "gather"];
        const OTHERS: &[&str] = &["barrier", "barrier", "allreduce", "allgather", "alltoall", "scan"];
        let rooted = self.chance.once_in(2);
        let name = self.chance.pick(if rooted { ROOTED } else { OTHERS });
        let comm = self.chance.pick(&["all", "all", "half"]);
        // A root that both halves have.
        let sizes = if comm == "half" { self.half.min(self.n - self.half) } else { self.n };
        let root = self.chance.below(sizes);
        let mut call = name.to_owned();
        if name != "barrier" {
            let _ = write!(call, " {}", self.bytes());
        }
        let _ = write!(call, " on {comm}");
        if rooted {
            let _ = write!(call, " root {root}");
        }
        if self.chance.once_in(3) {
            for rank in 0..self.n {
                let ms = self.chance.ms(5);
                self.does(rank, format!("i{call} as c; compute {ms}; wait c"));
            }
        } else {
            self.all(|_| call.clone());
        }
    }
}

impl Script {
    /// A script of chance, the same for the same `seed`: 2 to 8 ranks that meet in about `size` rounds of messages and collectives
    /// of all kinds, within regions and iterations. It never deadlocks, and events of several ranks hardly ever coincide.
    /// Messages and collectives go over communicators of its own, so that [`Script::renumbered`] and [`Script::with_idle_rank`]
    /// change nothing else. [`Script::text`] shows it.
    pub fn random(seed: u64, size: u32) -> Script {
        let text = text(seed, size);
        Script::parse(&text).unwrap_or_else(|error| panic!("script {seed} of {size} rounds: {error}\n{text}"))
    }
}
