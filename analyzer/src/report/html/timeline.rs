//! The timeline in the page's own data.

use std::io;

use serde_json::{Map, Value, json};

use super::packed::{numbers, signed, small, whole};
use crate::model::Model;
use crate::model::kind::Ns;
use crate::model::waits::WaitState;
use crate::report::views::timeline::{MessageSeen, Names, STATES, SpanSeen, WaitSeen, Watched, state_name};
use crate::structure::symbols::Place;

/// The timeline of a run with this model, whose call sites are at `places`.
pub(super) fn object(seen: &Watched, model: &Model, places: &[Place]) -> io::Result<Value> {
    let writer = Writer::new(seen);
    let mut names = Names::default();
    let mut share = Map::new();
    for (state, bytes) in &seen.shares {
        share.insert(state_name(*state).to_owned(), small(bytes, 1.0 / 255.0)?);
    }
    let waits = writer.waits(&seen.waits, |region, site| (names.region(model, region), names.site(places, site)))?;
    let mut place = |span: &SpanSeen| (names.region(model, span.region), names.site(places, span.site));
    let spans = seen.spans.as_ref().map(|spans| writer.spans(spans, &mut place)).transpose()?;
    Ok(json!({
        "begin_s": 0.0,
        "end_s": seen.end as f64 * 1e-9,
        "bins": seen.bins,
        "states": writer.states.iter().map(|&state| state_name(state)).collect::<Vec<_>>(),
        "share": share,
        "waits": waits,
        "messages": writer.messages(&seen.messages)?,
        "spans": spans,
        "regions": names.region_paths,
        "sites": names.site_labels,
    }))
}

/// What columns of the timeline have in common.
struct Writer {
    /// Seconds of one unit of time: the window is as long as a u32 can say.
    unit_s: f64,
    end: Ns,
    /// States that occur, by number.
    states: Vec<u8>,
}

impl Writer {
    fn new(seen: &Watched) -> Writer {
        let unit_s = seen.end as f64 * 1e-9 / f64::from(u32::MAX - 1);
        Writer { unit_s, end: seen.end, states: seen.shares.iter().map(|(state, _)| *state).collect() }
    }

    fn times(&self, times: impl Iterator<Item = Ns>) -> io::Result<Value> {
        let unit = |time: Ns| (time.clamp(0, self.end) as f64 * 1e-9 / self.unit_s).round() as u32;
        whole(&times.map(unit).collect::<Vec<_>>(), self.unit_s)
    }

    fn waits(&self, waits: &[WaitSeen], mut place: impl FnMut(u32, u32) -> (u32, u32)) -> io::Result<Value> {
        let mut states: Vec<WaitState> = waits.iter().map(|wait| wait.state).collect();
        states.sort_unstable();
        states.dedup();
        let state = |wait: &WaitSeen| states.binary_search(&wait.state).unwrap_or(0) as u8;
        let (regions, sites): (Vec<u32>, Vec<u32>) = waits.iter().map(|wait| place(wait.region, wait.site)).unzip();
        Ok(json!({
            "rank": ids(waits, |wait| wait.rank)?,
            "begin_s": self.times(waits.iter().map(|wait| wait.begin))?,
            "end_s": self.times(waits.iter().map(|wait| wait.end))?,
            "state": small(&waits.iter().map(state).collect::<Vec<_>>(), 1.0)?,
            "states": states.iter().map(|state| state.name()).collect::<Vec<_>>(),
            "region": whole(&regions, 1.0)?,
            "site": whole(&sites, 1.0)?,
            "delay_source": ids(waits, |wait| wait.delay_source)?,
        }))
    }

    fn messages(&self, messages: &[MessageSeen]) -> io::Result<Value> {
        Ok(json!({
            "from": ids(messages, |one| one.from)?,
            "to": ids(messages, |one| one.to)?,
            "sent_s": self.times(messages.iter().map(|one| one.sent))?,
            "received_s": self.times(messages.iter().map(|one| one.received))?,
            "bytes": numbers(&messages.iter().map(|one| one.bytes as f32).collect::<Vec<_>>())?,
            "tag": signed(&messages.iter().map(|one| one.tag).collect::<Vec<_>>())?,
        }))
    }

    fn spans(&self, spans: &[SpanSeen], place: &mut impl FnMut(&SpanSeen) -> (u32, u32)) -> io::Result<Value> {
        let mut numbers = [0; STATES];
        for (at, &state) in (0..).zip(&self.states) {
            numbers[usize::from(state).min(STATES - 1)] = at;
        }
        let state = |span: &SpanSeen| numbers.get(usize::from(span.state)).copied().unwrap_or(0);
        let (regions, sites): (Vec<u32>, Vec<u32>) = spans.iter().map(place).unzip();
        Ok(json!({
            "rank": ids(spans, |span| span.rank)?,
            "begin_s": self.times(spans.iter().map(|span| span.begin))?,
            "end_s": self.times(spans.iter().map(|span| span.end))?,
            "state": small(&spans.iter().map(state).collect::<Vec<_>>(), 1.0)?,
            "region": whole(&regions, 1.0)?,
            "site": whole(&sites, 1.0)?,
        }))
    }
}

fn ids<T>(all: &[T], of: impl Fn(&T) -> u32) -> io::Result<Value> {
    whole(&all.iter().map(of).collect::<Vec<_>>(), 1.0)
}
