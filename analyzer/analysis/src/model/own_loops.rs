//! Loops that some ranks have by themselves, as ranks that serve others, hand out their work or write their output do.
//!
//! Their computation there is no part of the others' work: in such a loop they are compared with each other alone, and bringing one of them
//! to the mean of all ranks is no gain.

use crate::model::{Model, RegionIdx};

/// The loops of a run whose ranks do not all pass the same one.
#[derive(Debug, Default)]
pub struct OwnLoops {
    /// The name of each, with its ranks as places in [`Model::ranks`], ascending.
    loops: Vec<(String, Vec<usize>)>,
}

impl OwnLoops {
    /// The main loops found in the calls that have no kind of call in common with another one. None where all are one loop.
    pub fn from_model(model: &Model) -> OwnLoops {
        let mains = model.loops.iter().filter(|one| one.main && !one.named);
        let mut loops: Vec<(String, Vec<usize>)> = Vec::new();
        for one in mains.clone() {
            // Groups of ranks that pass one loop by different calls have one name for it.
            let mut others = mains.clone().filter(|other| other.name != one.name);
            if others.any(|other| one.has_common_kinds(other)) {
                continue;
            }
            let ranks = (0..).zip(&model.ranks).filter(|(_, rank)| one.ranks.binary_search(&rank.rank).is_ok());
            let places = ranks.map(|(place, _)| place);
            match loops.iter_mut().find(|(name, _)| *name == one.name) {
                Some((_, known)) => known.extend(places),
                None => loops.push((one.name.clone(), places.collect())),
            }
        }
        for (_, places) in &mut loops {
            places.sort_unstable();
        }
        loops.retain(|(_, places)| !places.is_empty() && places.len() < model.ranks.len());
        OwnLoops { loops }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// The ranks of the loop that a region is, or lies in, as places in [`Model::ranks`]; `None` where all ranks may come there.
    pub fn ranks_in(&self, model: &Model, region: RegionIdx) -> Option<&[usize]> {
        let chain = model.chain(region);
        let mut around = chain.iter().filter_map(|&at| model.regions.get(at as usize));
        let main = around.find(|one| one.found && one.iterated && one.parent == 0)?;
        self.loops.iter().find(|(name, _)| *name == main.name).map(|(_, places)| places.as_slice())
    }
}
