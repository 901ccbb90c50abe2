//! Serializers for fields that readers of the JSON need in another form: names for what other crates number, objects for pairs.

use std::collections::BTreeMap;

use lbprof_collector::{Activity, CoreState};
use serde::{Serialize, Serializer};

use lbprof_analysis::metrics::sampled::core_time::CoreTime;
use lbprof_analysis::model::Seconds;

/// Serializes an activity as its name.
pub(crate) fn activity<S: Serializer>(activity: &Activity, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(activity.name())
}

/// Serializes a state of computation as its name.
pub(crate) fn core_state<S: Serializer>(state: &CoreState, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(state.name())
}

/// Serializes an activity as its name, if there is one.
pub(crate) fn known_activity<S: Serializer>(activity: &Option<Activity>, serializer: S) -> Result<S::Ok, S::Error> {
    activity.map(Activity::name).serialize(serializer)
}

/// Serializes seconds by the name of the activity. Activities without time are left out.
pub(crate) fn by_activity<S: Serializer>(seconds: &Seconds, serializer: S) -> Result<S::Ok, S::Error> {
    let spent = Activity::ALL.into_iter().filter(|&activity| seconds[activity as usize] > 0.0);
    let by_name: BTreeMap<&str, f64> = spent.map(|activity| (activity.name(), seconds[activity as usize])).collect();
    by_name.serialize(serializer)
}

/// Serializes computation by the name of its state, if it is known. States without time are left out.
pub(crate) fn by_core_state<S: Serializer>(time: &Option<CoreTime>, serializer: S) -> Result<S::Ok, S::Error> {
    let by_name = time.map(|time| {
        let spent = CoreState::ALL.into_iter().filter(|&state| time.get(state) > 0.0);
        spent.map(|state| (state.name(), time.get(state))).collect::<BTreeMap<&str, f64>>()
    });
    by_name.serialize(serializer)
}

/// Serializes a value as an `R`, or, if flattened, as the fields of one.
pub(crate) fn written_as<'a, T, R, S>(value: &'a T, serializer: S) -> Result<S::Ok, S::Error>
where
    R: From<&'a T> + Serialize,
    S: Serializer,
{
    R::from(value).serialize(serializer)
}

/// The name of an activity.
#[cfg(feature = "schema")]
pub(crate) struct ActivityName;

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ActivityName {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ActivityName".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "enum": Activity::ALL.map(Activity::name) })
    }
}
