//! A sample: where a thread executed at an instant, and the CPU time that it stands for.
//!
//! Samples are taken by CPU time of the thread in user space: a thread that waits for a core or in the system has none. They are independent of
//! the thread's records, but on the same clock, so that a sample lies in a call, or in the computation between two, by its time.

use bincode::{Decode, Encode};
use serde::Serialize;

use crate::record::NONE;
use crate::states::Activity;

/// Most samples that a block may hold.
pub const MAX_SAMPLES: usize = 1 << 16;

/// A sample of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Time of the sample, in ticks of the rank's clock: the clock of the records.
    pub ticks: u64,
    /// The instruction that came next.
    pub location: CodeAddress,
    /// Id of the [`crate::Definition::SampleCaller`] from which the function at `location` was called, or [`NONE`] where that is not known.
    pub call_path: u32,
    /// CPU time in user space that it stands for, in nanoseconds: the period of the sampling at that time.
    pub weight_ns: u64,
    /// Processor counts since the thread's previous sample, if it has counters. In a block all samples have counts, or none.
    pub counts: Option<ProcessorCounts>,
}

/// An address in a program or shared object, which holds wherever that is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodeAddress {
    /// Id of the [`crate::definition::Module`], or [`NONE`] where the address lies in none (generated code).
    pub module: u32,
    /// Address of an instruction (not a return address) less the module's base, or the address itself if there is no module.
    pub offset: u64,
}

/// Counts of the processor's own counters, in user space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ProcessorCounts {
    /// Instructions that were executed.
    pub instructions: u64,
    /// Cycles of the core that the thread was given.
    pub cycles: u64,
}

/// The position of a block of samples: enough to read it without those before it.
#[derive(Clone, Debug, PartialEq, Eq, Default, Encode, Decode)]
pub struct SampleHead {
    /// Id of a [`SampledThread`].
    pub thread: u32,
    /// Sequence number of the first sample, counted by thread from 0. Lost samples are numbered, too.
    pub first: u64,
    /// Number of samples directly before the first one that are lost because the system had no room for them.
    pub lost: u64,
    /// Ticks of the sample before the first, or those at which the thread began to be sampled.
    pub previous: u64,
    /// Ticks of 2²⁰ ns, from which the time of the next sample is predicted; 0: it is not.
    pub rate: u64,
}

/// A thread of which there are samples. Where the log has several of an id, the last one holds: a thread may record later than it is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct SampledThread {
    /// Dense id.
    pub id: u32,
    /// Its id for the system.
    pub system_id: u32,
    /// Number in this log of the thread that records, or [`NONE`]: it has called no MPI function.
    pub number: u32,
    /// Id of its [`ThreadPool`], or [`NONE`].
    pub pool: u32,
}

/// The threads that the process starts with one routine. Where the log has several of an id, the last one holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct ThreadPool {
    /// Dense id.
    pub id: u32,
    /// Id of a call site, the first instruction of the routine plus 1; or [`NONE`].
    pub routine: u32,
    /// The most of them that there were at a time.
    pub threads: u32,
    /// Number of threads so far.
    pub started: u64,
    /// CPU time of those that have ended since MPI_Init, in nanoseconds: threads may be too short to be sampled.
    pub ended_cpu_ns: u64,
}

/// The state of a rank's first thread when samples of a thread were taken, for times of which the log has sums alone: the recorder has the
/// records then. Comes before the block of the samples.
#[derive(Clone, Debug, PartialEq, Eq, Default, Encode, Decode, Serialize)]
pub struct SamplePlaces {
    /// Id of the [`SampledThread`] whose samples they are.
    pub thread: u32,
    /// Sequence number of the first of these samples.
    pub first: u64,
    /// The places of all samples of the block, in order.
    pub runs: Vec<PlaceRun>,
}

/// Samples that follow each other, at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct PlaceRun {
    /// Number of samples.
    pub samples: u32,
    /// Id of the innermost region that was open, or [`NONE`]: it is not known.
    pub region: u32,
    /// Number of the [`Activity`].
    pub activity: u8,
}

/// The state of a thread: the id of the innermost open region, and the activity there.
pub type Place = (u32, Activity);

impl SamplePlaces {
    /// Makes the places of samples from number `first` on.
    pub fn from_places(thread: u32, first: u64, places: impl IntoIterator<Item = Option<Place>>) -> SamplePlaces {
        let mut runs: Vec<PlaceRun> = Vec::new();
        for place in places {
            let (region, activity) = place.map_or((NONE, 0), |(region, activity)| (region, activity as u8));
            match runs.last_mut().filter(|run| (run.region, run.activity) == (region, activity)) {
                Some(run) => run.samples = run.samples.saturating_add(1),
                None => runs.push(PlaceRun { samples: 1, region, activity }),
            }
        }
        SamplePlaces { thread, first, runs }
    }

    /// Returns the place of each sample, or `None` if it is not known. A hostile log may state any number of them.
    pub fn places(&self) -> impl Iterator<Item = Option<Place>> + '_ {
        self.runs.iter().flat_map(|run| {
            let activity = Activity::ALL.get(usize::from(run.activity)).filter(|_| run.region != NONE);
            let place = activity.map(|&activity| (run.region, activity));
            (0..run.samples).map(move |_| place)
        })
    }
}

/// The setup of a rank's sampling. The last one in a log holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, Serialize)]
pub struct SamplingSetup {
    /// CPU time between two samples of a thread on average, in nanoseconds, as it was asked for; 0: none.
    pub period_ns: u64,
    /// Outcome of the attempt to sample.
    pub outcome: SamplingOutcome,
    /// True if samples have [`ProcessorCounts`].
    pub counted: bool,
    /// Bound of the error of [`Sample::ticks`] that comes from reading two clocks, in nanoseconds; 0: the samples' clock is the rank's.
    pub error_ns: u64,
}

/// The outcome of an attempt to sample a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SamplingOutcome {
    /// The rank was sampled.
    Sampled,
    /// Sampling was not requested.
    Off,
    /// The system refused it, with this number of an error.
    Refused(i32),
}

impl SampleHead {
    /// Moves past `samples`, which follow it.
    pub fn advance(&mut self, samples: &[Sample]) {
        self.first = self.first.wrapping_add(samples.len() as u64);
        self.lost = 0;
        if let Some(last) = samples.last() {
            self.previous = last.ticks;
        }
    }

    /// Returns the ticks that `weight_ns` take if the thread keeps its core.
    pub(crate) fn expected_gap(&self, weight_ns: u64) -> u64 {
        ((u128::from(weight_ns) * u128::from(self.rate)) >> 20) as u64
    }

    /// Returns [`SampleHead::rate`] for ticks of `tick_ns` nanoseconds.
    pub fn rate_of(tick_ns: f64) -> u64 {
        let rate = f64::from(1 << 20) / tick_ns;
        if rate.is_finite() { rate.round() as u64 } else { 0 }
    }
}

impl CodeAddress {
    /// Returns the location of an address in no module.
    pub fn outside(address: u64) -> Self {
        CodeAddress { module: NONE, offset: address }
    }
}
