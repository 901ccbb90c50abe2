//! Activities as users name them, and a model of their time alone.

use std::str::FromStr;

use lbprof_collector::Activity;

use crate::model::{IterationSeries, Model};

/// Activities, in the order of their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActivitySet(pub Vec<Activity>);

/// Why a text names no activities.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{part:?} is no activity; there are {}, and mpi for all but computation and recorder", names())]
pub struct ActivityError {
    part: String,
}

fn names() -> String {
    Activity::ALL.map(Activity::name).join(", ")
}

impl FromStr for ActivitySet {
    type Err = ActivityError;

    fn from_str(text: &str) -> Result<Self, ActivityError> {
        let mut wanted = [false; Activity::COUNT];
        for part in text.split(',').map(str::trim) {
            let named = Activity::ALL.map(|activity| match part {
                "mpi" => activity.is_mpi(),
                _ => activity.name() == part,
            });
            if !named.contains(&true) {
                return Err(ActivityError { part: part.to_owned() });
            }
            for (wanted, named) in wanted.iter_mut().zip(named) {
                *wanted |= named;
            }
        }
        Ok(ActivitySet(Activity::ALL.into_iter().filter(|&activity| wanted[activity as usize]).collect()))
    }
}

/// `model` with the time, calls and bytes of these activities alone. Windows, and so the elapsed time, stay; efficiencies, which
/// are of the computation, are those of the whole model.
pub fn only(model: &Model, activities: &[Activity]) -> Model {
    let others: Vec<usize> = (Activity::ALL.into_iter())
        .filter(|activity| !activities.contains(activity))
        .map(|other| other as usize)
        .collect();
    let mut model = model.clone();
    for rank in &mut model.ranks {
        rank.cells.retain(|((_, activity), _)| activities.contains(activity));
        rank.sites.retain(|(key, _)| activities.contains(&key.activity));
        rank.other_sites.retain(|(key, _)| activities.contains(&key.activity));
        for (_, seconds) in &mut rank.inclusive {
            for &other in &others {
                seconds[other] = 0.0;
            }
        }
        for (_, IterationSeries { seconds, parts, .. }) in &mut rank.iterations {
            for &other in &others {
                seconds[other].clear();
            }
            if !activities.contains(&Activity::Computation) {
                parts.clear();
            }
        }
    }
    model
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<Activity>, String> {
        text.parse().map(|ActivitySet(all)| all).map_err(|error: ActivityError| error.to_string())
    }

    #[test]
    fn activities_are_named_as_in_the_report() {
        for activity in Activity::ALL {
            assert_eq!(parse(activity.name()), Ok(vec![activity]));
        }
        assert_eq!(parse("io, collective,io"), Ok(vec![Activity::Collective, Activity::Io]));
        assert_eq!(parse("mpi,computation").unwrap().len(), Activity::COUNT - 1);
    }

    #[test]
    fn what_is_no_activity_is_refused() {
        for text in ["", "collectives", "io,", "MPI_Send", "Computation"] {
            assert!(parse(text).unwrap_err().contains("there are computation, point-to-point,"), "{text:?}");
        }
    }
}
