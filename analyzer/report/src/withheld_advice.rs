//! Advice that the data do not justify is not given.

use crate::Report;
use crate::findings::may_compute;
use crate::loss_kind::LossKind;

impl Report {
    /// Removes predicted gains that the data do not justify.
    pub(crate) fn withhold_advice(&mut self) {
        if self.is_only_described() {
            for loss in &mut self.losses {
                loss.take_remedy();
            }
        }
        // What a network without costs would save is then mostly that ranks have no core, or that others are late of which nothing is known.
        if self.has_crowded_cores() || self.has_unrecorded_partners() {
            let of_network = self.losses.iter_mut().filter(|loss| loss.kind == LossKind::Communication);
            for loss in of_network {
                loss.take_remedy();
            }
        }
        let computing: Vec<bool> = self.losses.iter().map(|loss| may_compute(self, loss)).collect();
        for (loss, _) in self.losses.iter_mut().zip(computing).filter(|(_, computes)| *computes) {
            loss.take_remedy();
        }
    }
}
