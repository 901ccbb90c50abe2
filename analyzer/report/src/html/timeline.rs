//! The timeline in the page's data.

use std::collections::{BTreeSet, HashMap};
use std::io;

use lbprof_collector::record::NONE;
use serde::Serialize;

use super::packed::{ByName, PackedNumbers, pack_bytes, pack_floats, pack_signed, whole_numbers};
use crate::code::functions::FunctionName;
use lbprof_analysis::model::Model;
use lbprof_analysis::model::code::region_state::Ns;
use lbprof_analysis::model::replayed::waits::WaitState;
use lbprof_analysis::structure::code::sampled_code::SampledCode;
use lbprof_analysis::structure::code::symbols::{CodePlace, ResolvedNames};
use lbprof_analysis::views::StackCourse;
use lbprof_analysis::views::timeline::{
    MessageSeen, STATES, SpanSeen, TeamSeen, TimelineNames, TimelineView, WaitSeen, state_name,
};

/// The states of ranks over time.
#[derive(Serialize, crate::JsonSchema)]
pub(super) struct TimelineData {
    /// Start of the run's window.
    begin_s: f64,
    /// Its end.
    end_s: f64,
    /// Bins of equal length into which it is cut: at most 20,000, and at most a million numbers in a matrix.
    bins: usize,
    /// Names of states: activities, and `waiting`, which is the part of them in which a rank could do nothing but wait.
    states: Vec<&'static str>,
    /// By state, rows × bins: the share of the bin's time. Rounding errors of a bin are carried to the next. The sum is less than 1 where nothing
    /// was recorded.
    #[schemars(with = "std::collections::BTreeMap<String, PackedNumbers>")]
    share: ByName,
    /// The functions that ranks are in, by samples; null where there are none.
    stacks: Option<StacksData>,
    /// In which regions the ranks are, all ranks together.
    region_course: RegionCourseData,
    /// The 20,000 longest waits, the longest first, by columns.
    waits: WaitsData,
    /// At most 20,000 messages, those that ended waits first, and among these those longest in transit, by columns.
    messages: MessagesData,
    /// States of each rank, by rank and time, for runs of up to 50,000 calls, by columns; otherwise null.
    spans: Option<SpansData>,
    /// Instances of parallel regions that ranks' first threads start, and the time of each thread in them where the log has it (`LBPROF_OPENMP=threads`): the 50,000 longest;
    /// missing if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    teams: Option<TeamsData>,
    /// Paths of regions, to which waits and spans refer by index.
    regions: Vec<String>,
    /// Labels of call sites, likewise.
    sites: Vec<String>,
}

/// The functions that ranks are in over time, by the samples of their first threads, and the functions that called them.
#[derive(Serialize, crate::JsonSchema)]
pub(super) struct StacksData {
    /// Bins of equal length into which the window is cut: at most 1,000, each of two samples on average.
    bins: usize,
    /// Rows × bins: the function with most samples, as its node with most of them; none without samples.
    node: PackedNumbers,
    /// By node its function, as an index in `functions`.
    function: PackedNumbers,
    /// By node the node of its caller, which comes before it; none where that is not known.
    parent: PackedNumbers,
    /// Names of functions, with file; empty of those that are in no stack.
    functions: Vec<String>,
}

/// In which regions the ranks are over time, all ranks together.
#[derive(Serialize, crate::JsonSchema)]
pub(super) struct RegionCourseData {
    /// Bins of equal length into which the window is cut: at most 2,000.
    bins: usize,
    /// The regions in which most time is spent, at most 24, as indices in the timeline's `regions`.
    regions: Vec<u32>,
    /// A row for each of them, and a last one for all other regions, × bins: the share of the ranks' time in a bin that is in the region alone,
    /// without those in it. Empty if nothing was seen.
    share: PackedNumbers,
}

/// Waits, by columns.
#[derive(Serialize, crate::JsonSchema)]
pub(super) struct WaitsData {
    /// Number of the rank.
    rank: PackedNumbers,
    /// Start.
    begin_s: PackedNumbers,
    /// End.
    end_s: PackedNumbers,
    /// Why, as an index in `states`.
    state: PackedNumbers,
    /// Names as in the report's `blocking.states`.
    states: Vec<&'static str>,
    /// Region, as an index in the timeline's `regions`.
    region: PackedNumbers,
    /// The call site, as an index in the timeline's `sites`; none outside of calls, or where it is not known.
    site: PackedNumbers,
    /// Number of the rank that ended the wait, the last of several; none if no rank did.
    delay_source: PackedNumbers,
}

/// Messages, by columns.
#[derive(Serialize, crate::JsonSchema)]
pub(super) struct MessagesData {
    /// Number of the rank that sent.
    from: PackedNumbers,
    /// Number of the rank that received.
    to: PackedNumbers,
    /// Start of the send.
    sent_s: PackedNumbers,
    /// End of the call that received it.
    received_s: PackedNumbers,
    /// Its bytes.
    bytes: PackedNumbers,
    /// Its tag.
    tag: PackedNumbers,
}

/// States of ranks, by columns.
#[derive(Serialize, crate::JsonSchema)]
pub(super) struct SpansData {
    /// Number of the rank.
    rank: PackedNumbers,
    /// Start.
    begin_s: PackedNumbers,
    /// End.
    end_s: PackedNumbers,
    /// An index in the timeline's `states`; a call that waits is first `waiting`, then its activity.
    state: PackedNumbers,
    /// Region, as an index in the timeline's `regions`.
    region: PackedNumbers,
    /// The call site, as an index in the timeline's `sites`; none outside of calls, or where it is not known.
    site: PackedNumbers,
}

/// Instances of parallel regions and threads in them, by columns.
#[derive(Serialize, crate::JsonSchema)]
pub(super) struct TeamsData {
    /// Number of the rank.
    rank: PackedNumbers,
    /// Number of the thread in the team; none of an instance.
    thread: PackedNumbers,
    /// Start.
    begin_s: PackedNumbers,
    /// End.
    end_s: PackedNumbers,
    /// The region, as an index in `names`; none where it is not known.
    name: PackedNumbers,
    /// Threads of the team; 0 of a thread.
    team: PackedNumbers,
    /// Work of a thread; 0 of an instance.
    useful_s: PackedNumbers,
    /// Names of parallel regions.
    names: Vec<String>,
}

pub(super) fn timeline_data(seen: &TimelineView, model: &Model, found: &ResolvedNames) -> io::Result<TimelineData> {
    let writer = TimelineWriter::new(seen, model, &found.places);
    let mut names = TimelineNames::default();
    let share =
        seen.shares.iter().map(|(state, bytes)| Ok((state_name(usize::from(*state)), pack_bytes(bytes, 1.0 / 255.0)?)));
    let share = ByName(share.collect::<io::Result<Vec<_>>>()?);
    let course = &seen.regions;
    let region_course = RegionCourseData {
        bins: course.bins,
        regions: course.regions.iter().map(|&region| names.region(model, region)).collect(),
        share: pack_bytes(&course.share, 1.0 / 255.0)?,
    };
    let waits = writer.waits(&seen.waits, &mut names)?;
    let spans = seen.spans.as_ref().map(|spans| writer.spans(spans, &mut names)).transpose()?;
    Ok(TimelineData {
        begin_s: 0.0,
        end_s: seen.end as f64 * 1e-9,
        bins: seen.bins,
        states: writer.states.iter().map(|&state| state_name(usize::from(state))).collect(),
        share,
        stacks: seen.stacks.as_ref().map(|stacks| stacks_data(stacks, &found.sampled)).transpose()?,
        region_course,
        waits,
        messages: writer.messages(&seen.messages)?,
        teams: if seen.teams.is_empty() { None } else { Some(writer.teams(&seen.teams)?) },
        spans,
        regions: names.region_paths.into_iter().map(str::to_owned).collect(),
        sites: names.site_labels,
    })
}

fn stacks_data(stacks: &StackCourse, code: &SampledCode) -> io::Result<StacksData> {
    let used: BTreeSet<u32> = stacks.nodes.iter().flat_map(|&node| code.path(node)).map(|node| node.function).collect();
    let functions = (0..).zip(&code.functions).map(|(at, function)| match used.contains(&at) {
        true => FunctionName::for_function(function, None).label(),
        false => String::new(),
    });
    Ok(StacksData {
        bins: stacks.bins,
        node: pack_ids(&stacks.nodes, |&node| node)?,
        function: pack_ids(&code.nodes, |node| node.function)?,
        parent: pack_ids(&code.nodes, |node| node.parent.unwrap_or(NONE))?,
        functions: functions.collect(),
    })
}

struct TimelineWriter<'a> {
    model: &'a Model,
    places: &'a [CodePlace],
    /// Seconds of one unit of time: the window is as long as a u32 can say.
    unit_s: f64,
    end: Ns,
    /// States that occur, by number.
    states: Vec<u8>,
}

impl<'a> TimelineWriter<'a> {
    fn new(seen: &TimelineView, model: &'a Model, places: &'a [CodePlace]) -> TimelineWriter<'a> {
        let unit_s = seen.end as f64 * 1e-9 / f64::from(u32::MAX - 1);
        let states = seen.shares.iter().map(|(state, _)| *state).collect();
        TimelineWriter { model, places, unit_s, end: seen.end, states }
    }

    fn times(&self, times: impl Iterator<Item = Ns>) -> io::Result<PackedNumbers> {
        let units = times.map(|time| (time.clamp(0, self.end) as f64 * 1e-9 / self.unit_s).round() as u32);
        whole_numbers(&units.collect::<Vec<_>>(), self.unit_s)
    }

    fn waits(&self, waits: &[WaitSeen], names: &mut TimelineNames<'a>) -> io::Result<WaitsData> {
        let mut states: Vec<WaitState> = waits.iter().map(|wait| wait.state).collect();
        states.sort_unstable();
        states.dedup();
        let state_of_wait = waits.iter().map(|wait| states.binary_search(&wait.state).unwrap_or(0) as u8);
        Ok(WaitsData {
            rank: pack_ids(waits, |wait| wait.rank)?,
            begin_s: self.times(waits.iter().map(|wait| wait.begin))?,
            end_s: self.times(waits.iter().map(|wait| wait.end))?,
            state: pack_bytes(&state_of_wait.collect::<Vec<_>>(), 1.0)?,
            states: states.iter().map(|state| state.name()).collect::<Vec<_>>(),
            region: pack_ids(waits, |wait| names.region(self.model, wait.region))?,
            site: pack_ids(waits, |wait| names.site(self.places, wait.site))?,
            delay_source: pack_ids(waits, |wait| wait.delay_source)?,
        })
    }

    fn messages(&self, messages: &[MessageSeen]) -> io::Result<MessagesData> {
        Ok(MessagesData {
            from: pack_ids(messages, |one| one.from)?,
            to: pack_ids(messages, |one| one.to)?,
            sent_s: self.times(messages.iter().map(|one| one.sent))?,
            received_s: self.times(messages.iter().map(|one| one.received))?,
            bytes: pack_floats(&messages.iter().map(|one| one.bytes as f32).collect::<Vec<_>>())?,
            tag: pack_signed(&messages.iter().map(|one| one.tag).collect::<Vec<_>>())?,
        })
    }

    fn teams(&self, teams: &[TeamSeen]) -> io::Result<TeamsData> {
        let mut names: Vec<String> = Vec::new();
        let mut known: HashMap<u32, u32> = HashMap::new();
        let mut name = Vec::with_capacity(teams.len());
        for one in teams {
            name.push(*known.entry(one.site).or_insert_with(|| {
                let Some(label) = self.places.get(one.site as usize).map(|place| place.of_region().label()) else {
                    return NONE;
                };
                let at = names.iter().position(|known| *known == label).unwrap_or(names.len());
                if at == names.len() {
                    names.push(label);
                }
                at as u32
            }));
        }
        Ok(TeamsData {
            rank: pack_ids(teams, |one| one.rank)?,
            thread: pack_ids(teams, |one| one.thread)?,
            begin_s: self.times(teams.iter().map(|one| one.begin))?,
            end_s: self.times(teams.iter().map(|one| one.end))?,
            name: whole_numbers(&name, 1.0)?,
            team: pack_ids(teams, |one| one.team)?,
            useful_s: self.times(teams.iter().map(|one| one.useful))?,
            names,
        })
    }

    fn spans(&self, spans: &[SpanSeen], names: &mut TimelineNames<'a>) -> io::Result<SpansData> {
        let mut numbers = [0; STATES];
        for (at, &state) in (0..).zip(&self.states) {
            numbers[usize::from(state).min(STATES - 1)] = at;
        }
        let states = spans.iter().map(|span| numbers.get(usize::from(span.state)).copied().unwrap_or(0));
        Ok(SpansData {
            rank: pack_ids(spans, |span| span.rank)?,
            begin_s: self.times(spans.iter().map(|span| span.begin))?,
            end_s: self.times(spans.iter().map(|span| span.end))?,
            state: pack_bytes(&states.collect::<Vec<_>>(), 1.0)?,
            region: pack_ids(spans, |span| names.region(self.model, span.region))?,
            site: pack_ids(spans, |span| names.site(self.places, span.site))?,
        })
    }
}

fn pack_ids<T>(all: &[T], of: impl FnMut(&T) -> u32) -> io::Result<PackedNumbers> {
    whole_numbers(&all.iter().map(of).collect::<Vec<_>>(), 1.0)
}
