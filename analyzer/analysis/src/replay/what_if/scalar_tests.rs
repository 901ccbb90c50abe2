//! A simple version of [`ScenarioClocks`] for tests: one scenario and one number at a time, as the definition says. Tests compare both.

use lbprof_collector::Activity;
use proptest::collection::vec;
use proptest::prelude::*;

use super::clocks::{NotedClocks, ScenarioClocks};
use super::conditions::{ScenarioConditions, ScenarioNetwork, ScenarioWork};
use super::group::RETURNS;
use super::pace::ComputationPace;
use crate::model::interval::TimeInterval;
use crate::model::region_state::{Ns, RegionState};

/// The clocks of all threads in one replay.
struct ScalarReplay {
    condition: ScenarioConditions<'static>,
    begin: Ns,
    threads: Vec<ScalarThread>,
    /// By number of the note.
    notes: Vec<f64>,
}

struct ScalarThread {
    rank: u32,
    window: TimeInterval,
    now: f64,
    /// Clock when the thread entered its last call.
    entered: f64,
    at_end: Option<f64>,
    returns: [f64; RETURNS],
}

impl ScalarReplay {
    fn is_measured(&self) -> bool {
        self.condition.network == ScenarioNetwork::Measured
    }

    fn add_thread(&mut self, rank: u32, late: Ns, window: TimeInterval) {
        let now = if self.is_measured() { (late - self.begin) as f64 } else { 0.0 };
        self.threads.push(ScalarThread { rank, window, now, entered: 0.0, at_end: None, returns: [0.0; RETURNS] });
    }

    /// Returns the factor of a thread's computation around a time.
    fn factor(&self, thread: usize, region: u32, middle: Ns) -> f64 {
        let one = &self.threads[thread];
        match &self.condition.work {
            _ if one.at_end.is_some() => 1.0,
            ScenarioWork::Measured => 1.0,
            ScenarioWork::Region { regions, factors } if regions.get(region as usize) == Some(&true) => {
                factors[one.rank as usize]
            }
            ScenarioWork::Region { .. } => 1.0,
            ScenarioWork::Regions(by_region) => by_region
                .get(region as usize)
                .and_then(|factors| factors.get(one.rank as usize))
                .copied()
                .unwrap_or(1.0),
            ScenarioWork::Rank(rank, factors) if *rank == one.rank => {
                factors.get(region as usize).copied().unwrap_or(1.0)
            }
            ScenarioWork::Rank(..) | ScenarioWork::Threads(_) => 1.0,
            ScenarioWork::Times(paces) => paces[one.rank as usize].plain(middle),
        }
    }

    fn compute(&mut self, thread: usize, kind: RegionState, time: TimeInterval) {
        let middle = time.begin + time.ns() / 2;
        let window = self.threads[thread].window;
        let begin = time.begin.max(window.begin.min(time.end));
        if time.begin < window.begin || time.end <= window.begin {
            self.threads[thread].now = (begin - self.begin) as f64;
        }
        // Where the window ends within, the rest takes as long as it did.
        let ends = begin <= window.end && window.end < time.end && time.end > window.begin;
        for (from, to) in if ends { [(begin, window.end), (window.end, time.end)] } else { [(begin, time.end); 2] } {
            let ns = (to - from) as f64;
            self.threads[thread].now += match kind.is_computation() {
                true => ns * self.factor(thread, kind.region(), middle),
                false => ns * f64::from(u8::from(self.is_measured())),
            };
            self.threads[thread].entered = self.threads[thread].now;
            if !ends {
                break;
            }
            let now = self.threads[thread].now;
            self.threads[thread].at_end.get_or_insert(now);
        }
    }

    fn waits(&mut self, thread: usize, from: f64, bytes: u64, steps: u32) {
        let delay_ns = match self.condition.network {
            ScenarioNetwork::Measured => 0.0,
            ScenarioNetwork::Given { latency_s, bytes_per_s } => {
                (latency_s * 1e9 + bytes as f64 * (1e9 / bytes_per_s)) * f64::from(steps)
            }
        };
        self.threads[thread].now = self.threads[thread].now.max(from + delay_ns);
    }

    fn calls(&mut self, thread: usize, time: TimeInterval, needs: &[(ScalarSource, u64, u32)]) {
        let window = self.threads[thread].window;
        if time.begin < window.begin {
            self.threads[thread].now = (time.end.min(window.begin) - self.begin) as f64;
            if time.end <= window.begin {
                return;
            }
            self.threads[thread].entered = self.threads[thread].now;
        }
        for &(source, bytes, steps) in needs {
            match source {
                ScalarSource::Note(note) => self.waits(thread, self.notes[note], bytes, steps),
                ScalarSource::Return(other, slot) => self.waits(thread, self.threads[other].returns[slot], bytes, 1),
            }
        }
        let begin = time.begin.max(window.begin);
        let measured = self.is_measured();
        let one = &mut self.threads[thread];
        one.now += if measured { (time.end - begin) as f64 } else { 0.0 };
        if begin <= window.end && window.end < time.end {
            let counts = (window.end - begin) as f64;
            one.at_end.get_or_insert(one.now.min(one.entered + counts));
        }
    }

    fn time_s(&self) -> f64 {
        self.threads.iter().map(|one| one.at_end.unwrap_or(one.now)).fold(0.0, f64::max) * 1e-9
    }
}

/// The event that a call waits for.
#[derive(Clone, Copy, Debug)]
enum ScalarSource {
    Note(usize),
    Return(usize, usize),
}

/// Something that a thread does next.
#[derive(Clone, Debug)]
enum ScalarEvent {
    Computes(usize, u32, Option<Activity>, Ns),
    Calls(usize, Ns, Vec<(ScalarSource, u64, u32)>),
    Notes(usize, usize),
    NotesLater(usize, usize),
    ComesBack(usize, usize),
}

const THREADS: usize = 3;
const NOTES: usize = 4;

fn network() -> impl Strategy<Value = ScenarioNetwork> {
    let bytes_per_s = prop_oneof![Just(f64::INFINITY), 1e6..1e11];
    prop_oneof![
        Just(ScenarioNetwork::Measured),
        Just(ScenarioNetwork::IDEAL),
        (0.0..1e-4, bytes_per_s).prop_map(|(latency_s, bytes_per_s)| ScenarioNetwork::Given { latency_s, bytes_per_s }),
    ]
}

/// A rank's iterations, of some lengths after some gaps, each brought to some time, as regions that take turns.
fn pace() -> impl Strategy<Value = ComputationPace<'static>> {
    let iteration = (0..3_usize, 0..400_i64, 0..500_i64, 0.0..2.0, 0.0..3.0);
    (vec(iteration, 0..5), 0.0..3.0).prop_map(|(iterations, outside)| {
        let (mut now, mut regions) = (0, [const { (Vec::new(), Vec::new()) }; 3]);
        for (region, gap, ns, own_s, mean_s) in iterations {
            let begin = now + gap;
            now = begin + ns;
            regions[region].0.push((TimeInterval::new(begin, now), own_s));
            regions[region].1.push(mean_s);
        }
        ComputationPace::of_iterations(regions.into(), outside)
    })
}

fn work() -> impl Strategy<Value = ScenarioWork<'static>> {
    prop_oneof![
        Just(ScenarioWork::Measured),
        (vec(any::<bool>(), 0..4), vec(0.0..3.0, THREADS))
            .prop_map(|(regions, factors)| ScenarioWork::Region { regions, factors }),
        (0..THREADS as u32, vec(0.0..3.0, 0..4)).prop_map(|(rank, factors)| ScenarioWork::Rank(rank, factors)),
        vec(vec(0.0..3.0, THREADS), 0..4).prop_map(ScenarioWork::Regions),
        vec(pace(), THREADS).prop_map(ScenarioWork::Times),
    ]
}

fn event() -> impl Strategy<Value = ScalarEvent> {
    let activity =
        prop_oneof![3 => Just(Some(Activity::Computation)), 1 => Just(Some(Activity::Recorder)), 1 => Just(None)];
    let source = prop_oneof![
        (0..NOTES).prop_map(ScalarSource::Note),
        (0..THREADS, 0..RETURNS).prop_map(|(thread, slot)| ScalarSource::Return(thread, slot)),
    ];
    let needs = vec((source, 0..100_000_u64, 1..4_u32), 0..3);
    prop_oneof![
        3 => (0..THREADS, 0..5_u32, activity, 0..300_i64).prop_map(|(thread, region, activity, ns)| ScalarEvent::Computes(thread, region, activity, ns)),
        3 => (0..THREADS, 0..300_i64, needs).prop_map(|(thread, ns, needs)| ScalarEvent::Calls(thread, ns, needs)),
        1 => (0..NOTES, 0..THREADS).prop_map(|(note, thread)| ScalarEvent::Notes(note, thread)),
        1 => (0..NOTES, 0..THREADS).prop_map(|(note, thread)| ScalarEvent::NotesLater(note, thread)),
        1 => (0..THREADS, 0..RETURNS).prop_map(|(thread, slot)| ScalarEvent::ComesBack(thread, slot)),
    ]
}

/// Does the same in all replays, together and one by one.
struct ReplayPair {
    together: ScenarioClocks<'static>,
    alone: Vec<ScalarReplay>,
    notes: Vec<NotedClocks>,
    /// Until when each thread is done.
    now: [Ns; THREADS],
}

impl ReplayPair {
    fn new(conditions: &[ScenarioConditions<'static>], windows: &[TimeInterval]) -> Self {
        let begin = windows.iter().map(|window| window.begin).min().unwrap_or(0);
        let alone = conditions.iter().map(|condition| ScalarReplay {
            condition: condition.clone(),
            begin,
            threads: Vec::new(),
            notes: Vec::new(),
        });
        let mut both = ReplayPair {
            together: ScenarioClocks::new(conditions.to_vec(), begin, 0),
            alone: alone.collect(),
            notes: Vec::new(),
            now: [begin; THREADS],
        };
        for (rank, &window) in (0..).zip(windows) {
            both.together.add_thread(rank, both.now[rank as usize], window);
            for one in both.alone.iter_mut() {
                one.add_thread(rank, window.begin.min(one.begin), window);
            }
        }
        both.notes = (0..NOTES).map(|_| both.together.note(0)).collect();
        for one in both.alone.iter_mut() {
            one.notes = vec![one.threads[0].now; NOTES];
        }
        both
    }

    fn passes(&mut self, thread: usize, ns: Ns) -> TimeInterval {
        let begin = self.now[thread];
        self.now[thread] = begin + ns;
        TimeInterval::new(begin, begin + ns)
    }

    fn apply(&mut self, event: ScalarEvent) {
        match event {
            ScalarEvent::Computes(thread, region, activity, ns) => {
                let kind = activity.map_or(RegionState::unknown(region), |activity| RegionState::new(region, activity));
                let time = self.passes(thread, ns);
                self.together.compute(thread as u32, kind, time, &[]);
                for one in self.alone.iter_mut() {
                    one.compute(thread, kind, time);
                }
            }
            ScalarEvent::Calls(thread, ns, needs) => {
                let time = self.passes(thread, ns);
                self.calls(thread as u32, time, &needs);
                for one in self.alone.iter_mut() {
                    one.calls(thread, time, &needs);
                }
            }
            ScalarEvent::Notes(note, thread) => {
                self.together.forget(self.notes[note]);
                self.notes[note] = self.together.note(thread as u32);
                for one in self.alone.iter_mut() {
                    one.notes[note] = one.threads[thread].now;
                }
            }
            ScalarEvent::NotesLater(note, thread) => {
                self.together.note_later(self.notes[note], thread as u32);
                for one in self.alone.iter_mut() {
                    one.notes[note] = one.notes[note].max(one.threads[thread].now);
                }
            }
            ScalarEvent::ComesBack(thread, slot) => {
                self.together.keep_return(thread as u32, slot as u8);
                for one in self.alone.iter_mut() {
                    one.threads[thread].returns[slot] = one.threads[thread].now;
                }
            }
        }
    }

    fn calls(&mut self, thread: u32, time: TimeInterval, needs: &[(ScalarSource, u64, u32)]) {
        let Some(begin) = self.together.begin_call(thread, time) else { return };
        for &(source, bytes, steps) in needs {
            match source {
                ScalarSource::Note(note) => self.together.wait_for(thread, self.notes[note], bytes, steps),
                ScalarSource::Return(other, slot) => {
                    self.together.wait_for_return(thread, other as u32, slot as u8, bytes);
                }
            }
        }
        self.together.communicate(thread, time.end - begin);
        self.together.end_call(thread, TimeInterval { begin, ..time });
    }
}

proptest! {
    #[test]
    fn replays_counted_together_take_as_long_as_each_alone(
        conditions in vec((network(), work()), 1..10),
        windows in vec((0..300_i64, 0..1500_i64).prop_map(|(begin, ns)| TimeInterval::new(begin, begin + ns)), THREADS),
        events in vec(event(), 0..60),
    ) {
        let conditions: Vec<ScenarioConditions<'static>> =
            conditions.into_iter().map(|(network, work)| ScenarioConditions { network, work }).collect();
        let mut both = ReplayPair::new(&conditions, &windows);
        for event in events { both.apply(event); }
        let alone: Vec<f64> = both.alone.iter().map(ScalarReplay::time_s).collect();
        prop_assert_eq!(both.together.times_s(0..THREADS as u32), alone);
    }
}
