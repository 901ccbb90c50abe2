//! The places of findings: functions, code between calls, and the call in which ranks wait.

use crate::Report;
use crate::findings::phrases::functions;
use crate::findings::phrases::ranks::named_ranks;
use crate::losses::LossPlace;
use crate::losses::finding::FindingPlace;
use crate::losses::longest_rank::{LongestRank, WorstRegion};
use crate::losses::names::{LONGEST_NAME, call_in_words, code_in_words, region_name};
use crate::losses::slow_parts::SlowPart;
use crate::rows::words::{BEFORE_FIRST_CALL, escape_name, short_path, shorten_text};
use lbprof_analysis::read::definitions::WHOLE_PROGRAM;
use lbprof_thresholds::wording::{MIN_EXCESS_OF_NAMED_PLACE, MIN_FUNCTION_OF_WHOLE_REGION, MIN_SAMPLES_OF_PLACE};

/// Returns where the rank that computes longest exceeds the mean: its functions, then the code between calls.
pub fn of_excess(report: &Report) -> Option<FindingPlace> {
    place_of_rank(report, report.verdict.worst.as_ref()?)
}

/// Returns the functions in which the rank that computes longest does so by CPU time, which a rank without a core does not take.
pub fn by_cpu_time(report: &Report) -> Option<FindingPlace> {
    let mut worst = report.verdict.worst.clone()?;
    let excess = worst.explained.as_mut().filter(|excess| !excess.functions.is_empty())?;
    (excess.not_running_share, excess.states) = (None, None);
    place_of_rank(report, &worst)
}

/// Returns where a rank exceeds the mean, unless that is little.
pub fn place_of_rank(report: &Report, worst: &LongestRank) -> Option<FindingPlace> {
    if worst.over_mean_s <= MIN_EXCESS_OF_NAMED_PLACE * report.verdict.elapsed_s {
        return None;
    }
    let excess = worst.explained.as_ref();
    let explained = excess.and_then(functions::excess_in_words);
    let asleep = excess.and_then(|excess| functions::certain_asleep_share(report, excess));
    let is_asleep = asleep >= Some(MIN_FUNCTION_OF_WHOLE_REGION);
    // The code between calls says more than a function without a name.
    let first = excess.and_then(|excess| excess.functions.first());
    let is_explained = explained.is_some() && first.is_some_and(|one| one.name.function.is_some());
    // Few samples do not show an excess, but where the code is in which it must be.
    let function = explained.or_else(|| {
        let path = worst.region.as_ref().map(|region| region.path.as_str());
        principal_function(report, path).filter(|_| !is_asleep)
    });
    let region = worst.region.as_ref().map(|region| region_in_words(worst, region));
    let text = if is_explained { function } else { function_and_place(function, region) }?;
    let place = FindingPlace {
        region: worst.region.as_ref().map(|region| region.path.clone()),
        ..FindingPlace::in_words(text)
    };
    Some(match excess.and_then(functions::decisive_function) {
        Some(one) => place.with_function(&one.name, &one.call),
        None => place,
    })
}

/// Returns a function with the code between calls in brackets, or the one of them that is known.
fn function_and_place(function: Option<String>, place: Option<String>) -> Option<String> {
    match (function, place) {
        (Some(function), Some(place)) => Some(format!("{function} ({})", place.strip_prefix("in ").unwrap_or(&place))),
        (function, place) => function.or(place),
    }
}

/// Returns the function in which ranks spend most of their computation in a region, or in all, by samples: `mostly in force (md.c:12)`. `None` if there are too few, or if
/// ranks are mostly asleep there.
fn principal_function(report: &Report, path: Option<&str>) -> Option<String> {
    let table = report.functions.as_ref()?;
    let region = match path {
        Some(path) => table.regions.iter().find(|region| region.region == path)?,
        None => &table.program,
    };
    if !functions::may_lack_cores(report) && region.not_running_s >= MIN_FUNCTION_OF_WHOLE_REGION * region.computation_s
    {
        return None;
    }
    let function = region
        .functions
        .iter()
        .find(|row| row.share >= MIN_FUNCTION_OF_WHOLE_REGION && row.samples >= MIN_SAMPLES_OF_PLACE)?;
    let is_named = function.name.function.is_some() && !function.name.waits_for_threads();
    is_named.then(|| format!("mostly in {}", shorten_text(&escape_name(&function.name.label()), LONGEST_NAME)))
}

/// Returns the function in which all ranks together spend most of their computation.
pub fn of_all_ranks(report: &Report) -> Option<FindingPlace> {
    principal_function(report, None).map(FindingPlace::in_words)
}

/// Returns which rank is slow in which part: its function where samples show one, else the code between calls.
pub fn of_parts(report: &Report) -> Option<FindingPlace> {
    let parts: Vec<String> = report.verdict.slow_parts.iter().map(|part| part_in_words(report, part)).collect();
    (!parts.is_empty()).then(|| FindingPlace::in_words(parts.join("; ")))
}

/// Returns `rank 0 in forces (md.c:12)`.
fn part_in_words(report: &Report, part: &SlowPart) -> String {
    let function = part.explained.as_ref().and_then(functions::decisive_function);
    let place = match function {
        Some(function) => format!("in {}", functions::function_label(function)),
        None if part.region == WHOLE_PROGRAM => "outside of marked regions".to_owned(),
        None => place_of_region(report, &part.region),
    };
    format!("{} {place}", named_ranks(&part.equals))
}

/// Returns the region of a path as a place: `in main, from the call of forces (h.c:9) to the call of fields (h.c:10)`.
fn place_of_region(report: &Report, path: &str) -> String {
    let row = report.regions.iter().find(|row| row.path == path);
    let between = row.and_then(|row| row.between.as_deref());
    let name = row.map_or(path, |row| row.name.as_str());
    match row.filter(|row| row.found && between.is_none()).and_then(|row| after_one_call(&row.name)) {
        Some(place) => place,
        None if between.is_some() => format!("in {}", code_in_words(name, between)),
        None => format!("in {}", region_name(path)),
    }
}

/// Returns a region as a place: `in main, after the MPI call on line 19`.
fn region_in_words(worst: &LongestRank, region: &WorstRegion) -> String {
    if region.path == WHOLE_PROGRAM {
        return "outside of marked regions".to_owned();
    }
    if region.between.is_some() {
        let is_found = region.found && region.path != WHOLE_PROGRAM;
        let function = worst.explained.as_ref().and_then(functions::decisive_function);
        let caller = function.map(|one| functions::called_from(one, is_found.then_some(region.name.as_str())));
        let place = code_in_words(&region.name, region.between.as_deref());
        return match caller.filter(|caller| !caller.is_empty()) {
            Some(caller) => {
                let between = region.between.as_deref().map(escape_name).unwrap_or_default();
                format!("{}, {between}", caller.trim_start_matches(", "))
            }
            None => format!("in {place}"),
        };
    }
    let name = shorten_text(&escape_name(&region.name), LONGEST_NAME);
    match (region.found, after_one_call(&region.name)) {
        (true, Some(place)) => place,
        (true, None) if region.name.starts_with(BEFORE_FIRST_CALL) => {
            let first_call = region.name.trim_start_matches(BEFORE_FIRST_CALL);
            format!("in the code before the first MPI call, {}", shorten_text(&escape_name(first_call), LONGEST_NAME))
        }
        (true, None) if region.name.contains(" → ") => format!("in the code {name}"),
        (true, None) => format!("between the MPI calls of {name}"),
        (false, _) => format!("in region {}", shorten_text(&escape_name(short_path(&region.path)), LONGEST_NAME)),
    }
}

/// Returns code after the one call of a function, `main (spin.c:19)`, as `in main, after the MPI call on line 19`.
fn after_one_call(name: &str) -> Option<String> {
    let (function, place) = name.strip_suffix(')')?.rsplit_once(" (")?;
    let (file, line) = place.rsplit_once(':')?;
    let is_one = !name.contains(" → ") && !file.contains(' ') && line.bytes().all(|byte| byte.is_ascii_digit());
    is_one.then(|| {
        format!(
            "in {}, after the MPI call on line {line} of {}",
            shorten_text(&escape_name(function), LONGEST_NAME),
            escape_name(file)
        )
    })
}

/// Returns the places of serialization: where ranks compute for which others wait, and where these wait.
pub fn of_serialization(report: &Report, loss: Option<&LossPlace>) -> Option<FindingPlace> {
    let loss = loss?;
    let path = loss.region.as_deref().filter(|path| *path != WHOLE_PROGRAM);
    let region = path.and_then(|path| match principal_function(report, Some(path)) {
        Some(function) => function_and_place(Some(function), Some(place_of_region(report, path))),
        None => Some(format!("mostly {}", place_of_region(report, path))),
    });
    let at = loss.at.as_ref().map(|at| format!("ranks wait in {}", call_in_words(at)));
    let text = match (region, at) {
        (Some(region), Some(at)) => format!("{region}; {at}"),
        (region, at) => region.or(at)?,
    };
    Some(FindingPlace { region: path.map(str::to_owned), ..FindingPlace::in_words(text) })
}

#[cfg(test)]
mod tests {
    use super::after_one_call;

    #[test]
    fn code_after_a_call_is_named_by_its_line() {
        let place = after_one_call("main (spin.c:19)");
        assert_eq!(place.as_deref(), Some("in main, after the MPI call on line 19 of spin.c"));
        assert_eq!(after_one_call("solve (cg.c:3 → 7)"), None);
        assert_eq!(after_one_call("scenario+0x10"), None);
    }
}
