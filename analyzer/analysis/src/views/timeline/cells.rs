//! The cells of a matrix in which a segment of the run has something: it has few of the columns.

use bincode::{Decode, Encode};

#[derive(Encode, Decode)]
pub(super) struct CellTimes(Vec<(u32, u64)>);

impl CellTimes {
    pub(super) fn from_dense(all: &[u64]) -> CellTimes {
        CellTimes((0..).zip(all.iter().copied()).filter(|&(_, ns)| ns > 0).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn add_to(&self, all: &mut [u64]) {
        for &(at, ns) in &self.0 {
            if let Some(sum) = all.get_mut(at as usize) {
                *sum += ns;
            }
        }
    }
}
