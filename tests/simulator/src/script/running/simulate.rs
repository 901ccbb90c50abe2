//! Runs a script: one event after the other, in the order of time.

use std::cmp::Reverse;

use super::simulation::{SimulatedRank, Simulation};
use super::world::{EventKind, World};
use crate::script::error::ScriptError;
use crate::script::record::Event as Logged;
use crate::script::step::{Action, ScriptStep};

impl World<'_> {
    pub fn run(mut self) -> Result<Simulation, ScriptError> {
        for rank in 0..self.ranks.len() {
            self.event(self.ranks[rank].now, EventKind::Go, rank, 0);
        }
        while let Some(Reverse(event)) = self.events.pop() {
            match event.kind {
                EventKind::Go => self.go(event.rank)?,
                EventKind::Head => self.head(event.message, event.time),
                EventKind::Look => self.look(event.rank, event.time)?,
            }
        }
        let stuck: Vec<_> = (0..).zip(&self.ranks).filter_map(|(number, rank)| rank.stuck(number)).collect();
        if !stuck.is_empty() {
            return Err(ScriptError::Deadlock(stuck));
        }
        let ranks = self.ranks.into_iter().map(|rank| SimulatedRank { end_ns: rank.now, ..rank.result });
        Ok(Simulation { ranks: ranks.collect() })
    }

    fn go(&mut self, number: usize) -> Result<(), ScriptError> {
        loop {
            let rank = &mut self.ranks[number];
            let Some(step) = rank.steps.get(rank.at) else { return Ok(()) };
            let time = rank.now;
            let events = &mut rank.result.events;
            match &step.action {
                Action::Call(call) => return self.begin(number, step, call),
                Action::Compute(0) => {}
                Action::Compute(ns) => {
                    rank.now += ns;
                    rank.at += 1;
                    rank.result.computation_ns += ns;
                    let next = rank.now;
                    self.event(next, EventKind::Go, number, 0);
                    return Ok(());
                }
                Action::Enter { name, kind, iterated } => {
                    events.push(Logged::Enter { time, name: name.clone(), kind: *kind, iterated: *iterated });
                    rank.poll = None;
                }
                Action::Leave => {
                    events.push(Logged::Leave { time });
                    rank.poll = None;
                }
            }
            rank.at += 1;
        }
    }

    fn look(&mut self, number: usize, time: u64) -> Result<(), ScriptError> {
        let rank = &self.ranks[number];
        match (&rank.blocked, rank.steps.get(rank.at)) {
            (Some(_), Some(ScriptStep { action: Action::Call(call), .. })) => self.end_if_ready(number, call, time),
            _ => Ok(()),
        }
    }
}
