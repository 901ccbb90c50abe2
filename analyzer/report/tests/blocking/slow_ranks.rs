//! Runs with a known slow rank: one that makes all others wait is to be named for all of that, however ranks communicate.
//!
//! ```text
//!   step   rank 0   1        2        3 slow   4        a delay takes k steps to reach a rank k places away, whose
//!   1      == 8     == 8     == 8     ==== 16  == 8     neighbours have waited before it and are not to be blamed
//!   2      == 8     == 8     . == 8   ==== 16  . == 8
//!   3      == 8     . == 8   . == 8   ==== 16  . == 8
//! ```

use std::collections::BTreeMap;
use std::fmt::Write;

use lbprof_analysis::metrics::blocking::BlockingSums;

use super::run::Run;

const STEPS: usize = 18;

/// How ranks exchange what they need in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Style {
    Waitall,
    Waits,
    Sendrecv,
    IsendRecv,
    Rendezvous,
    Synchronous,
    OddEven,
    Persistent,
    Neighbours,
    PostStart,
    Fence,
    LockBarrier,
    ReduceBcast,
    Allreduce,
    NonblockingAllreduce,
    Doubling,
    Tree,
}

/// Those in which a rank waits for its neighbours on a line.
const ON_A_LINE: [Style; 10] = [
    Style::Waitall,
    Style::Waits,
    Style::Sendrecv,
    Style::IsendRecv,
    Style::Rendezvous,
    Style::Synchronous,
    Style::OddEven,
    Style::Persistent,
    Style::Neighbours,
    Style::PostStart,
];

/// Those in which all wait for all within a step.
const OF_ALL: [Style; 7] = [
    Style::Fence,
    Style::LockBarrier,
    Style::ReduceBcast,
    Style::Allreduce,
    Style::NonblockingAllreduce,
    Style::Doubling,
    Style::Tree,
];

/// A program: ranks on a line that compute, then exchange, step by step.
#[derive(Clone, Copy)]
struct Halo {
    style: Style,
    n_ranks: usize,
    /// Whether each rank computes in a region of its own, so that no equal code of theirs can cancel.
    own_regions: bool,
}

impl Halo {
    /// Returns the script in which a rank computes so many milliseconds in a step.
    fn script(&self, ms: impl Fn(usize, usize) -> f64) -> String {
        let n = self.n_ranks;
        let mut text = format!("ranks {n}\nlatency 0.02\noverhead 0.01\n");
        if matches!(self.style, Style::Rendezvous) {
            text += "eager 4096\n";
        }
        if self.style == Style::Neighbours {
            let line: String = (1..n).map(|rank| format!(" {}-{rank}", rank - 1)).collect();
            writeln!(text, "comm line 0..{}\ngraph line{line}", n - 1).unwrap();
        }
        for rank in 0..n {
            let region = if self.own_regions { format!("stencil{rank}") } else { "stencil".into() };
            writeln!(text, "rank {rank}:\n{}", self.prepare(rank)).unwrap();
            for step in 0..STEPS {
                // Nobody computes exactly as long as another.
                let noise = 0.02 * ((7 * step + 3 * rank) % 5) as f64;
                let ms = ms(step, rank) + noise;
                writeln!(text, "phase {region}; compute {ms}; end\n{}", self.exchange(rank)).unwrap();
            }
        }
        text
    }

    /// Returns the ranks beside one.
    fn neighbours(&self, rank: usize) -> Vec<usize> {
        let right = (rank + 1 < self.n_ranks).then_some(rank + 1);
        rank.checked_sub(1).into_iter().chain(right).collect()
    }

    fn prepare(&self, rank: usize) -> String {
        let each = |call: &str| self.for_neighbours(rank, call);
        match self.style {
            Style::Persistent => each("send_init {} as s{}; recv_init {} as r{}; "),
            Style::PostStart | Style::Fence | Style::LockBarrier => "win_create as w".into(),
            _ => String::new(),
        }
    }

    /// Returns a statement for each neighbour, whose rank replaces `{}`.
    fn for_neighbours(&self, rank: usize, call: &str) -> String {
        self.neighbours(rank).iter().map(|other| call.replace("{}", &other.to_string())).collect()
    }

    fn exchange(&self, rank: usize) -> String {
        let each = |call: &str| self.for_neighbours(rank, call);
        let n = self.n_ranks;
        match self.style {
            Style::Waitall => each("irecv {} as r{}; ") + &each("isend {} as s{}; ") + "waitall",
            Style::Rendezvous => each("irecv {} as r{}; ") + &each("isend {} bytes 5000 as s{}; ") + "waitall",
            Style::Waits => each("irecv {} as r{}; ") + &each("isend {} as s{}; ") + &each("wait r{}; wait s{}; "),
            Style::IsendRecv => each("isend {} as s{}; ") + &each("recv {}; ") + "waitall",
            Style::Synchronous => each("irecv {} as r{}; ") + &each("ssend {}; ") + "waitall",
            Style::Persistent => {
                let names = each("r{} s{} ");
                format!("startall {names}; waitall {names}")
            }
            Style::Sendrecv => {
                let other = |other: Option<usize>| other.map_or("null".into(), |other| other.to_string());
                let (left, right) = (other(rank.checked_sub(1)), other(Some(rank + 1).filter(|&right| right < n)));
                format!(
                    "sendrecv to {left} from {right} tag 1 recvtag 1; sendrecv to {right} from {left} tag 2 recvtag 2"
                )
            }
            Style::OddEven => {
                let exchange = |other: usize| match rank.is_multiple_of(2) {
                    true => format!("send {other}; recv {other}; "),
                    false => format!("recv {other}; send {other}; "),
                };
                let mut others = self.neighbours(rank);
                others.sort_by_key(|&other| rank.min(other) % 2);
                others.into_iter().map(exchange).collect()
            }
            Style::Neighbours => "neighbor_alltoall 8 on line".into(),
            Style::PostStart => {
                let group = each(" {}");
                format!("win_post w{group}; win_start w{group}; win_complete w; win_wait w")
            }
            Style::Fence => "fence w".into(),
            Style::LockBarrier => {
                each("win_lock {} shared on w; put {} bytes 8 on w; win_unlock {} on w; ") + "barrier"
            }
            Style::ReduceBcast => "reduce 8 root 0; bcast 8 root 0".into(),
            Style::Allreduce => "allreduce 8".into(),
            Style::NonblockingAllreduce => "iallreduce 8 as c; wait c".into(),
            Style::Doubling => {
                let distances = (0..n.ilog2()).map(|bit| rank ^ (1 << bit));
                distances.map(|other| format!("sendrecv to {other} from {other}; ")).collect()
            }
            Style::Tree => {
                // Sums go up a binomial tree, and come down again.
                let children: Vec<usize> = (0..n.ilog2())
                    .map(|bit| 1 << bit)
                    .take_while(|bit| rank & bit == 0)
                    .map(|bit| rank | bit)
                    .filter(|&child| child < n)
                    .collect();
                let parent = rank & rank.wrapping_sub(1);
                let mut calls: String = children.iter().map(|child| format!("recv {child}; ")).collect();
                if rank > 0 {
                    write!(calls, "send {parent}; recv {parent}; ").unwrap();
                }
                calls.extend(children.iter().rev().map(|child| format!("send {child}; ")));
                calls
            }
        }
    }
}

/// Returns the fraction of all waiting that each rank causes.
fn shares(sums: &BlockingSums) -> BTreeMap<u32, f64> {
    let mut shares = BTreeMap::new();
    for cause in &sums.causes {
        *shares.entry(cause.rank).or_insert(0.0) += cause.caused_s / sums.total_s;
    }
    shares
}

fn find_largest(values: impl IntoIterator<Item = (u32, f64)>) -> u32 {
    values.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("some rank").0
}

/// Returns the fraction of the waiting that is attributed to the slow rank, which is to be the critical path's, too.
fn find_slow_share(halo: Halo, slow: usize) -> f64 {
    let run = Run::of(&halo.script(|_, rank| if rank == slow { 16.0 } else { 8.0 }));
    let shares = shares(&run.sums());
    let mut on_path = BTreeMap::new();
    for part in &run.followed().critical_path {
        *on_path.entry(run.followed().world_rank(part.thread)).or_insert(0.0) += part.ns;
    }
    let name = (halo.style, halo.n_ranks, slow);
    assert_eq!((find_largest(shares.clone()), find_largest(on_path)), (slow as u32, slow as u32), "{name:?}");
    shares[&(slow as u32)]
}

#[test]
fn one_slow_rank_causes_all_waiting_in_whatever_style() {
    for (n_ranks, slow, own_regions) in [(2, 0, false), (4, 1, true), (8, 6, false), (16, 7, true)] {
        let n_styles = if n_ranks < 16 { ON_A_LINE.len() } else { 3 };
        let share = |&style: &Style| (find_slow_share(Halo { style, n_ranks, own_regions }, slow), style);
        let found: Vec<(f64, Style)> = ON_A_LINE[..n_styles].iter().chain(&OF_ALL).map(share).collect();
        let (least, most) =
            found.iter().fold((1.0_f64, 0.0_f64), |(least, most), one| (least.min(one.0), most.max(one.0)));
        assert!(least > 0.9 && most - least < 0.05, "{n_ranks} ranks, {slow} is slow: {found:?}");
    }
}

#[test]
fn a_delay_that_takes_k_steps_to_reach_a_rank_is_that_of_the_slow_one() {
    let (n_ranks, slow) = (10, 3);
    for style in ON_A_LINE {
        let halo = Halo { style, n_ranks, own_regions: false };
        let run = Run::of(&halo.script(|step, rank| if (step, rank) == (4, slow) { 48.0 } else { 8.0 }));
        let sums = run.sums();
        for rank in (0..n_ranks as u32).filter(|&rank| rank != slow as u32) {
            let of_rank = |pair: &&(u32, u32, f64)| pair.0 == rank;
            let all_s: f64 = sums.pairs.iter().filter(of_rank).map(|pair| pair.2).sum();
            let by_slow =
                sums.pairs.iter().filter(of_rank).find(|pair| pair.1 == slow as u32).map_or(0.0, |pair| pair.2);
            assert!(by_slow > 0.036 && by_slow > 0.85 * all_s, "{style:?}, rank {rank}: {by_slow} of {all_s} s");
        }
    }
}

#[test]
fn two_slow_ranks_share_the_blame_by_their_excess() {
    for style in OF_ALL {
        let halo = Halo { style, n_ranks: 8, own_regions: false };
        // Rank 6 takes 8 more in even steps, rank 1 takes 4 more in odd ones.
        let run = Run::of(&halo.script(|step, rank| match (step % 2, rank) {
            (0, 6) => 16.0,
            (1, 1) => 12.0,
            _ => 8.0,
        }));
        let shares = shares(&run.sums());
        let found = [6, 1].map(|rank| shares[&rank]);
        assert!((found[0] - 2.0 / 3.0).abs() < 0.05 && (found[1] - 1.0 / 3.0).abs() < 0.05, "{style:?}: {found:?}");
    }
}

#[test]
fn a_slow_rank_that_moves_is_blamed_for_each_of_its_turns() {
    // In every ninth step another rank takes 16 more. Until the next one does, that has reached all others.
    const SLOW: [usize; 2] = [2, 7];
    for style in ON_A_LINE.into_iter().chain(OF_ALL) {
        let halo = Halo { style, n_ranks: 8, own_regions: false };
        let is_slow = |step: usize, rank: usize| step % 9 == 2 && SLOW[step / 9 % 2] == rank;
        let run = Run::of(&halo.script(|step, rank| if is_slow(step, rank) { 24.0 } else { 8.0 }));
        let turns = |rank: usize| (0..STEPS).filter(|&step| is_slow(step, rank)).count() as f64;
        let all: f64 = SLOW.into_iter().map(turns).sum();
        let shares = shares(&run.sums());
        let is_right = |&rank: &usize| (shares[&(rank as u32)] - turns(rank) / all).abs() < 0.05;
        assert!(SLOW.iter().all(is_right), "{style:?}: {shares:.3?}");
    }
}

/// Ranks of a pipeline pass their work by other calls: the first after a send, the last after a receive. Those before the slow rank wait at the end for
/// the last rank, which has worked as long as they have.
#[test]
fn a_slow_rank_within_a_pipeline_is_blamed_for_the_waiting_before_and_after_it() {
    let run = Run::found(
        "ranks 4\nlatency 0.02\nrank *:\nrepeat 16\nif $r > 0\nrecv $r-1\nend\nif $r == 2\ncompute 12\nend\ncompute 6\nif $r < 3\nsend $r+1\nend\nend\n\
         barrier\n",
    );
    let mut by_rank = BTreeMap::new();
    for ((rank, ..), ms) in run.causes() {
        *by_rank.entry(rank).or_insert(0.0) += ms;
    }
    // Ranks wait 648 ms, of which 72 are for the pipeline to be filled and to run dry.
    let all_ms: f64 = by_rank.values().sum();
    assert!((all_ms - 648.0).abs() < 5.0 && by_rank[&2] >= 0.88 * all_ms, "{by_rank:?} of {all_ms} ms");
}
