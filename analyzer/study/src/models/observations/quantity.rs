//! The quantities of the causal model.

use std::fmt;

use serde::{Serialize, Serializer};

use super::phases::TimeClass;
use lbprof_report::rows::words::short_path;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CausalQuantity {
    /// The number of ranks P, or a parameter of the user's.
    Variable(String),
    /// #op of a region, by its path.
    Operations(String),
    /// #q of a region.
    Quanta(String),
    /// Seconds of a part of a region's time, summed over ranks.
    Time(String, TimeClass),
    /// Seconds of a part of the whole run's time, summed over ranks.
    Total(TimeClass),
    /// Seconds of the recorder and those that no record covers, summed over ranks.
    Other,
    /// T_par: seconds that the run takes.
    ParallelTime,
    /// T_seq: seconds that it takes on one rank.
    SequentialTime,
    /// S = T_seq / T_par.
    Speedup,
}

impl CausalQuantity {
    pub fn region(&self) -> Option<&str> {
        use CausalQuantity::{Operations, Quanta, Time};
        if let Operations(region) | Quanta(region) | Time(region, _) = self { Some(region) } else { None }
    }

    pub fn is_time(&self) -> bool {
        use CausalQuantity::{Operations, Quanta, Speedup, Variable};
        !matches!(self, Variable(_) | Operations(_) | Quanta(_) | Speedup)
    }

    /// The name of one of it in the unit of a law's δ.
    pub fn unit_phrase(&self) -> &str {
        match self {
            CausalQuantity::Operations(_) => "operation",
            CausalQuantity::Quanta(_) => "quantum",
            CausalQuantity::Variable(name) => name,
            _ => "s",
        }
    }

    pub fn symbol(&self) -> &str {
        match self {
            CausalQuantity::Variable(name) => name,
            CausalQuantity::Operations(_) => "#op",
            CausalQuantity::Quanta(_) => "#q",
            CausalQuantity::Time(_, part) | CausalQuantity::Total(part) => part.symbol(),
            CausalQuantity::Other => "T_other",
            CausalQuantity::ParallelTime => "T_par",
            CausalQuantity::SequentialTime => "T_seq",
            CausalQuantity::Speedup => "S",
        }
    }

    /// Symbol and short name of the region, for readers: `#op multiply`.
    pub fn label(&self) -> String {
        [Some(self.symbol()), self.region().map(short_path)].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// Symbol and path of the region: `#op main/multiply`. It is unique.
impl fmt::Display for CausalQuantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.region() {
            Some(region) => write!(f, "{} {region}", self.symbol()),
            None => f.write_str(self.symbol()),
        }
    }
}

impl Serialize for CausalQuantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
