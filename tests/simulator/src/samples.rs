//! Samples of a rank made by hand: where its threads execute, and the samples that follow from it exactly, one at the end of each period of
//! CPU time.

use lbprof_collector::definition::Definition;
use lbprof_collector::record::NONE;
use lbprof_collector::sample::{CodeAddress, ProcessorCounts, Sample, SampleHead, SampledThread};

/// Instructions and cycles of a nanosecond of CPU time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Instructions a nanosecond.
    pub instructions: f64,
    /// Cycles a nanosecond: the core's frequency in GHz.
    pub cycles: f64,
}

pub(crate) struct Sampled {
    pub(crate) thread: SampledThread,
    period: u64,
    /// CPU time since the last sample.
    since: u64,
    counts: (f64, f64),
    speed: Option<Speed>,
    samples: Vec<Sample>,
    /// After how many samples how many were lost.
    lost: Vec<(usize, u64)>,
}

impl Sampled {
    /// A thread that gets a sample each `period` nanoseconds of CPU time; `number` is that of its records, or NONE.
    pub(crate) fn new(id: u32, system_id: u32, number: u32, period: u64) -> Self {
        let thread = SampledThread { id, system_id, number, pool: NONE };
        Sampled { thread, period, since: 0, counts: (0.0, 0.0), speed: None, samples: Vec::new(), lost: Vec::new() }
    }

    /// From here on the processor counts, and these are the counts of a nanosecond. From the begin on or never.
    pub(crate) fn set_speed(&mut self, speed: Speed) {
        self.speed = Some(speed);
    }

    /// The thread executes at `location` from `begin` for `ns`, all of it CPU time.
    pub(crate) fn run(&mut self, begin: u64, ns: u64, location: CodeAddress, call_path: u32) {
        let (mut now, end) = (begin, begin + ns);
        while self.period - self.since <= end - now {
            let step = self.period - self.since;
            self.count(step);
            now += step;
            self.since = 0;
            let counts = std::mem::take(&mut self.counts);
            let whole = |_| ProcessorCounts { instructions: counts.0.round() as u64, cycles: counts.1.round() as u64 };
            let (ticks, weight_ns) = (now, self.period);
            self.samples.push(Sample { ticks, location, call_path, weight_ns, counts: self.speed.map(whole) });
        }
        self.count(end - now);
        self.since += end - now;
    }

    fn count(&mut self, ns: u64) {
        if let Some(speed) = self.speed {
            self.counts.0 += speed.instructions * ns as f64;
            self.counts.1 += speed.cycles * ns as f64;
        }
    }

    pub(crate) fn lose(&mut self, n: u64) {
        self.lost.push((self.samples.len(), n));
    }

    pub(crate) fn definition(&self) -> Definition {
        Definition::SampledThread(self.thread)
    }

    /// Its samples in blocks of at most `most`, with times of the clock that `clock` makes of the common one.
    pub(crate) fn blocks(&self, most: usize, clock: impl Fn(u64) -> u64) -> Vec<(SampleHead, Vec<Sample>)> {
        let ticks = |sample: &Sample| Sample { ticks: clock(sample.ticks), ..*sample };
        let samples: Vec<_> = self.samples.iter().map(ticks).collect();
        let mut head = SampleHead { thread: self.thread.id, rate: SampleHead::rate_of(1.0), ..SampleHead::default() };
        let mut blocks = Vec::new();
        let mut add = |head: &mut SampleHead, part: &[Sample]| {
            for block in part.chunks(most.max(1)) {
                blocks.push((head.clone(), block.to_vec()));
                head.advance(block);
            }
            if part.is_empty() && head.lost > 0 {
                blocks.push((head.clone(), Vec::new()));
                head.lost = 0;
            }
        };
        let mut done = 0;
        for &(at, n) in &self.lost {
            add(&mut head, &samples[done..at]);
            done = at;
            (head.first, head.lost) = (head.first + n, n);
        }
        add(&mut head, &samples[done..]);
        blocks
    }
}
