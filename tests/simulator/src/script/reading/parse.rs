//! The text of a script → what each rank does.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::expand::Expander;
use super::expression::evaluate;
use super::statement::{Node, Statement, duration, names, whole};
use crate::scenario::{Clock, Noted};
use crate::script::error::ScriptError;
use crate::script::program::{Comm, Network, Script};

/// Lines that a script may have, and statements that a line may: each is a call site of its own in the module of a scenario.
const MOST_LINES: u32 = 65_000;
const MOST_ON_A_LINE: u32 = 16;

const BLOCKS: &[&str] = &["repeat", "if", "phase", "iteration"];

type Rest<'a> = Peekable<IntoIter<Statement<'a>>>;

struct Section<'a> {
    ranks: Vec<u32>,
    body: Vec<Node<'a>>,
}

pub(in crate::script) fn parse(text: &str) -> Result<Script, ScriptError> {
    let mut statements = statements(text)?.into_iter().peekable();
    let mut script = Script {
        text: text.to_owned(),
        lines: text.lines().count() as u32,
        network: Network::default(),
        ..Script::default()
    };
    while let Some(statement) = statements.next_if(|statement| statement.split().0 != "rank") {
        set(&mut script, &statement).map_err(|what| statement.error(what))?;
    }
    if script.n_ranks() == 0 {
        return Err(ScriptError::Line { line: 1, what: "`ranks` and their number are missing".to_owned() });
    }
    let mut sections = Vec::new();
    while let Some(statement) = statements.next() {
        sections.push(section(&script, statement, &mut statements)?);
    }
    for rank in 0..script.n_ranks() {
        let mut expander = Expander::new(&script, rank);
        for section in sections.iter().filter(|section| section.ranks.contains(&rank)) {
            expander.nodes(&section.body)?;
        }
        script.programs[rank as usize] = expander.steps;
    }
    Ok(script)
}

fn statements(text: &str) -> Result<Vec<Statement<'_>>, ScriptError> {
    let mut statements = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.split('#').next().unwrap_or("");
        // What follows `rank 0:` on its line is a statement, too.
        let (section, text) = match text.split_once(':') {
            Some((section, rest)) => (Some(section), rest),
            None => (None, text),
        };
        let parts = section.into_iter().chain(text.split(';')).map(str::trim).filter(|part| !part.is_empty());
        for (index, text) in (0..).zip(parts) {
            let statement = Statement { line, index, text };
            if line > MOST_LINES || index >= MOST_ON_A_LINE {
                let most = format!("a script has at most {MOST_LINES} lines, of {MOST_ON_A_LINE} statements each");
                return Err(statement.error(most));
            }
            if section.is_some() && index == 0 && statement.split().0 != "rank" {
                return Err(statement.error("only `rank …` ends with a colon"));
            }
            statements.push(statement);
        }
    }
    Ok(statements)
}

fn section<'a>(script: &Script, statement: Statement<'a>, rest: &mut Rest<'a>) -> Result<Section<'a>, ScriptError> {
    let (_, list) = statement.split();
    let ranks = ranks(script, list).map_err(|what| statement.error(what))?;
    let body = body(rest)?;
    match rest.peek() {
        Some(next) if next.split().0 == "end" => Err(next.error("this `end` closes nothing")),
        _ => Ok(Section { ranks, body }),
    }
}

/// Statements up to the `end` that closes them, or the next section.
fn body<'a>(rest: &mut Rest<'a>) -> Result<Vec<Node<'a>>, ScriptError> {
    let mut nodes = Vec::new();
    while let Some(statement) = rest.next_if(|next| !matches!(next.split().0, "end" | "rank")) {
        let is_block = BLOCKS.contains(&statement.split().0);
        let inner = if is_block { body(rest)? } else { Vec::new() };
        if is_block && rest.next_if(|next| next.text == "end").is_none() {
            return Err(statement.error(format!("`{}` is not closed by `end`", statement.text)));
        }
        nodes.push(Node { statement, body: inner });
    }
    Ok(nodes)
}

/// The ranks of a list such as `0`, `1..3`, `0,2..$n-1` or `*`.
fn ranks(script: &Script, list: &str) -> Result<Vec<u32>, String> {
    let n = script.n_ranks();
    let rank = |text: &str| whole(text, &[("n".to_owned(), f64::from(n))]);
    let mut ranks = Vec::new();
    for part in list.split(',').map(str::trim) {
        let (first, last) = match part.split_once("..") {
            _ if part == "*" => (0, u64::from(n.saturating_sub(1))),
            Some((first, last)) => (rank(first)?, rank(last)?),
            None => (rank(part)?, rank(part)?),
        };
        if first > last || last >= u64::from(n) {
            return Err(format!("`{part}` is not in the ranks, which are 0 to {}", n.saturating_sub(1)));
        }
        ranks.extend(first as u32..=last as u32);
    }
    Ok(ranks)
}

fn set(script: &mut Script, statement: &Statement<'_>) -> Result<(), String> {
    let (word, rest) = statement.split();
    let words: Vec<_> = rest.split_whitespace().collect();
    if word != "ranks" && script.n_ranks() == 0 {
        return Err("a script begins with `ranks` and their number".to_owned());
    }
    let network = &mut script.network;
    match (word, &words[..]) {
        ("ranks", [n]) => set_ranks(script, whole(n, &[])?)?,
        ("latency", [ms]) => network.latency_ms = duration(ms, &[])? as f64 / 1e6,
        ("overhead", [ms]) => network.overhead_ms = duration(ms, &[])? as f64 / 1e6,
        ("eager", [bytes]) => network.eager = whole(bytes, &[])?,
        ("bandwidth", [bytes]) => {
            network.bandwidth = evaluate(bytes, &[])?;
            if network.bandwidth <= 0.0 {
                return Err("nothing gets through without bandwidth".to_owned());
            }
        }
        ("requests", ["empty"]) => script.empty_requests = true,
        ("epochs", ["deferred"]) => script.deferred_epochs = true,
        ("graph", [name, edges @ ..]) if !edges.is_empty() => add_edges(script, name, edges)?,
        ("comm", [name, members @ ..]) if !members.is_empty() => add_comm(script, name, members)?,
        ("late", [list, ms]) => {
            for rank in ranks(script, list)? {
                script.late[rank as usize] = duration(ms, &names(script, rank))?;
            }
        }
        ("clock", [list, ms, rest @ ..]) => {
            for rank in ranks(script, list)? {
                script.clocks[rank as usize] = clock(script, rank, ms, rest)?;
            }
        }
        ("ranks" | "latency" | "overhead" | "eager" | "bandwidth" | "requests", _)
        | ("epochs" | "comm" | "graph" | "late" | "clock", _) => {
            return Err(format!("`{word}` has other arguments"));
        }
        _ => return Err(format!("`{word}` does not belong before the first `rank`")),
    }
    Ok(())
}

fn set_ranks(script: &mut Script, n: u64) -> Result<(), String> {
    if script.n_ranks() > 0 {
        return Err("the number of ranks was given before".to_owned());
    }
    if !(1..=100_000).contains(&n) {
        return Err("there may be 1 to 100,000 ranks".to_owned());
    }
    let n = n as u32;
    script.comms.push(Comm::new("world", (0..n).collect()));
    script.comms.extend((0..n).map(|rank| Comm::new("self", vec![rank])));
    script.late = vec![0; n as usize];
    script.clocks = vec![Clock::default(); n as usize];
    script.programs = vec![Vec::new(); n as usize];
    Ok(())
}

fn add_comm(script: &mut Script, name: &str, members: &[&str]) -> Result<(), String> {
    let mut group = Vec::new();
    for list in members {
        for rank in ranks(script, list)? {
            let taken = script.comms.iter().any(|comm| comm.name == name && comm.group.contains(&rank));
            if taken || group.contains(&rank) {
                return Err(format!("rank {rank} is in a communicator `{name}` already"));
            }
            group.push(rank);
        }
    }
    script.comms.push(Comm::new(name, group));
    Ok(())
}

/// Neighbours in all communicators of a name: `0>1` sends one way, `0-1` both.
fn add_edges(script: &mut Script, name: &str, edges: &[&str]) -> Result<(), String> {
    let mut all = Vec::new();
    for edge in edges {
        let both = edge.split_once('-');
        let (from, to) = both.or_else(|| edge.split_once('>')).ok_or(format!("`{edge}` is neither `0>1` nor `0-1`"))?;
        let (from, to) = (whole(from, &[])?, whole(to, &[])?);
        all.push((from, to));
        all.extend(both.map(|_| (to, from)));
    }
    let largest = all.iter().map(|&(from, to)| from.max(to)).max().unwrap_or(0);
    let of_name = |comm: &&mut Comm| comm.name == name && name != "self";
    let mut found = script.comms.iter_mut().filter(of_name).peekable();
    if found.peek().is_none() {
        return Err(format!("there is no communicator `{name}`"));
    }
    for comm in found {
        if largest >= comm.group.len() as u64 {
            return Err(format!("there is no rank {largest} in `{name}`"));
        }
        comm.edges.extend(all.iter().map(|&(from, to)| (from as u32, to as u32)));
    }
    Ok(())
}

fn clock(script: &Script, rank: u32, ms: &str, rest: &[&str]) -> Result<Clock, String> {
    if rank == 0 {
        return Err("rank 0's clock is the one that the others are compared with".to_owned());
    }
    let names = names(script, rank);
    let ns = |text| evaluate(text, &names).map(|ms| (ms * 1e6).round() as i64);
    let mut clock = Clock { ahead_ns: ns(ms)?, ..Clock::default() };
    let mut rest = rest.iter();
    while let Some(&word) = rest.next() {
        match (word, rest.as_slice().first()) {
            ("unknown", _) => clock.noted = Noted::Never,
            ("drift", Some(drift)) => clock.drift = evaluate(drift, &names)?,
            ("error", Some(ms)) => clock.noted = Noted::WrongBy(ns(ms)?),
            _ => return Err(format!("`{word}` is not expected: a clock has a `drift`, an `error`, or is `unknown`")),
        }
        if word != "unknown" {
            rest.next();
        }
    }
    Ok(clock)
}
