//! Writes the small runs of which the tests of the HTML report make pages.
//!
//! `cargo run -p lbprof-simulator --example page_runs -- FOLDER` makes in FOLDER:
//!
//! - `small`: 4 ranks on 2 hosts, 20 marked iterations, rank 3 the slowest, messages between neighbours;
//! - `hostile`: the same with names that are markup, quotes and escape codes;
//! - `sums`: the same recorded as sums, so without timeline and waiting;
//! - `gaps`: the same without the records of some calls of rank 1, which can't be read;
//! - `found`: 4 ranks without markers, a loop of 20 iterations: the computation before the first one is not known;
//! - `slow`: 4,096 ranks, a few iterations, one rank slower than all others;
//! - `study`: runs of a multiplication of matrices, of several sizes on several numbers of ranks;
//! - `hostile-study`: some of them with such names;
//! - `history`: runs of a program at five commits, of which the third makes one rank slower.

use std::io;
use std::path::{Path, PathBuf};

use lbprof_collector::format::{BLOCK_HEAD_BYTES, BlockHead, BlockKind, log_name};
use lbprof_collector::sample::CodeAddress;
use lbprof_simulator::scenario::{RankScript, Scenario};

const RANKS: u32 = 4;
const ITERATIONS: u32 = 20;

struct Names {
    step: &'static str,
    force: &'static str,
    halo: &'static str,
    host: &'static str,
}

const PLAIN: Names = Names { step: "step", force: "force", halo: "halo", host: "node" };

const HOSTILE: Names = Names {
    step: "<script>document.title='taken'</script>",
    force: "\"'><img src=x onerror=\"document.title='taken'\">\x1b[31m&amp;</script>",
    halo: "</section>`${document.title='taken'}`\u{202e}",
    host: "</script><b>host</b>",
};

fn main() -> io::Result<()> {
    let Some(folder) = std::env::args().nth(1).map(PathBuf::from) else {
        eprintln!("usage: page_runs FOLDER");
        std::process::exit(2);
    };
    run(&PLAIN).write(&folder.join("small"))?;
    run(&HOSTILE).write(&folder.join("hostile"))?;
    run(&PLAIN).profile_mode().write(&folder.join("sums"))?;
    run(&PLAIN).rank(1, |log| log.batch(8)).write(&folder.join("gaps"))?;
    damage(&folder.join("gaps").join(log_name(1)))?;
    unmarked().write(&folder.join("found"))?;
    slow().write(&folder.join("slow"))?;
    for (study, names, sizes) in [("study", &PLAIN, &SIZES[..]), ("hostile-study", &HOSTILE, &SIZES[..4])] {
        for &n in sizes {
            for ranks in [1, 2, 4, 8] {
                multiplication(names, ranks, n).write(&folder.join(study).join(format!("{n}-{ranks}")))?;
            }
        }
    }
    for commit in 1..=5 {
        at_commit(commit).write(&folder.join("history").join(format!("{commit}")))?;
    }
    Ok(())
}

/// The program at a commit: from the third on, the last rank computes twice as long.
fn at_commit(commit: u32) -> Scenario {
    let longest_ms = if commit >= 3 { 20.0 } else { 10.0 };
    Scenario::ranks(4).run_id(0x1_0000 + u64::from(commit)).each(|rank, script| {
        let work_ms = if rank == 3 { longest_ms } else { 10.0 };
        script.param("n", 512.0).repeat(10, |_, script| {
            script.iteration("step", |script| script.compute(work_ms).allreduce(8, longest_ms + 1.0 - work_ms))
        })
    })
}

fn unmarked() -> Scenario {
    Scenario::ranks(RANKS).each(|rank, script| {
        let work_ms = 1.0 + f64::from(rank);
        script.compute(2.0).at("start").barrier(0.5).repeat(ITERATIONS, |_, script| {
            script.compute(work_ms).at("exchange").barrier(0.25).compute(0.5).at("reduce").allreduce(8, 5.0 - work_ms)
        })
    })
}

/// Ranks of a run of which the page has a row for several each.
const MANY: u32 = 4096;

const LAST: u32 = 3;

/// The one among them that computes half as long again as the others.
const SLOW: u32 = 2345;

/// Many ranks that compute 0.1 ms, give or take 2 %, and wait for the slow one; in the last iteration all take twice as long.
///
/// ```text
///   rank 2345   |===== compute 0.15 =====| Allreduce |
///   the others  |== compute 0.1 ==|........Allreduce |
/// ```
fn slow() -> Scenario {
    let each = |at: u32| if at == LAST { 0.2 } else { 0.1 };
    let computes = |rank: u32, at: u32| match rank {
        SLOW => 1.5 * each(at),
        // Spread evenly, in another order in each iteration.
        other => each(at) * (0.98 + 0.04 * f64::from((other * 1237 + at * 1013) % MANY) / f64::from(MANY)),
    };
    Scenario::ranks(MANY).hosts(|rank| format!("node{}", rank / 64)).each(|rank, script| {
        script.repeat(LAST + 1, |at, script| {
            script.iteration("step", |now| {
                let own = computes(rank, at);
                now.compute(own).at("agree").allreduce(8, 1.5 * each(at) + 0.002 - own)
            })
        })
    })
}

/// Makes the block of records in the middle of a log unreadable.
fn damage(log: &Path) -> io::Result<()> {
    let mut bytes = std::fs::read(log)?;
    let is_head = |at: &usize| {
        let head = bytes[*at..].first_chunk().and_then(BlockHead::from_bytes);
        head.is_some_and(|head| head.kind == BlockKind::Records as u8)
    };
    let heads: Vec<usize> = (0..bytes.len()).filter(is_head).collect();
    bytes[heads[heads.len() / 2] + BLOCK_HEAD_BYTES] ^= 0xff;
    std::fs::write(log, bytes)
}

const SIZES: [u32; 6] = [100, 200, 300, 400, 500, 600];

/// A multiplication of matrices of `n` rows: 2n³ operations of 1 ns, of which ranks do a share each, after 3n² numbers were sent around.
fn multiplication(names: &'static Names, ranks: u32, n: u32) -> Scenario {
    let (size, share) = (f64::from(n), 1.0 / f64::from(ranks));
    let operations = 2.0 * size.powi(3) * share;
    let compute_ms = operations * 1e-6;
    let quanta = 3.0 * size * size * share;
    Scenario::ranks(ranks).run_id(u64::from(n) << 8 | u64::from(ranks)).each(|rank, script| {
        // Rank r waits a little for those before it.
        let exchange_ms = quanta * 2e-5 * f64::from(ranks - 1) + 0.01;
        script
            .param(names.step, size)
            .region(names.halo, |script| script.work(0.0, quanta).allreduce(8, exchange_ms))
            .region(names.force, |script| script.compute(compute_ms).work(operations, 0.0))
            .compute(0.02 * f64::from(rank))
            .barrier(0.02 * f64::from(ranks - rank))
    })
}

/// A solver that computes, exchanges with its neighbour and agrees in each step.
///
/// ```text
///   even rank  |== compute ==|= 2 =|send|......... Allreduce |
///   odd rank   |==== compute ====|recv .|......... Allreduce |
/// ```
fn run(names: &'static Names) -> Scenario {
    Scenario::ranks(RANKS).hosts(|rank| format!("{}{}", names.host, rank / 2)).each(|rank, script| {
        script
            .places(&["force", "halo"])
            .sampled(2000)
            .repeat(ITERATIONS, |at, script| script.iteration(names.step, |now| step(names, rank, at, now)))
    })
}

/// What a rank computes in an iteration, in milliseconds: more on higher ranks, but in every fifth iteration most on rank 0.
fn computation(rank: u32, at: u32) -> f64 {
    10.0 + 2.0 * f64::from(rank) + if rank == 0 && at % 5 == 4 { 12.0 } else { 0.1 * f64::from(at) }
}

/// How long after the begin of the step a rank is done with its message, in milliseconds.
fn exchanged(rank: u32, at: u32) -> f64 {
    let sent = computation(rank / 2 * 2, at) + 4.5;
    if rank.is_multiple_of(2) { sent } else { sent.max(computation(rank, at)) + 0.5 }
}

fn step(names: &'static Names, rank: u32, at: u32, script: RankScript) -> RankScript {
    let latest = (0..RANKS).map(|rank| exchanged(rank, at)).fold(0.0, f64::max);
    let (own, done) = (computation(rank, at), exchanged(rank, at));
    let peer = (rank ^ 1).cast_signed();
    // Samples see two places: the program, and code that was generated.
    let generated = CodeAddress::outside(0x7000);
    let script = script.region(names.force, |now| {
        let now = now.worker(4000 + rank, "force", 0.6 * own);
        now.compute_in("force", 0.7 * own).compute_at(generated, 0.3 * own)
    });
    let script = script.region(names.halo, |now| {
        let now = now.through(&["step", "exchange"]);
        if rank.is_multiple_of(2) {
            now.compute_in("halo", 4.0).at("halo").send(peer, 7, 8000, 0.5)
        } else {
            now.at("halo").recv(peer, 7, 8000, done - own)
        }
    });
    script.through(&["step"]).at("agree").allreduce(8, latest - done + 0.2)
}
