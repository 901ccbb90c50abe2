//! Models, forecasts and the causal model for a terminal. Colours are ANSI sequences; who writes to a file or pipe strips them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use anstyle::Style;

use super::causal::{CausalEdge, CausalGraph, DependenceReason};
use super::equation::{self, digits, time};
use super::forecast::{ExpectedValue, RunForecast};
use lbprof_thresholds::study::MIN_DEPARTURE_FROM_LAW;

use super::FitError;
use super::quantity::CausalQuantity;
use super::regime::{LinearModel, LinearRegime};
use super::relations::{ModelError, PhaseModels, QuantityRelation, RegimeDeparture, StudyModels};
use super::validation::SelectedFit;
use lbprof_report::table::TextTable;
use lbprof_report::words::{bytes, clean, percent, plural, short_path, shorten, wrap};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const INDENT: usize = 6;

/// The selection of models to show.
#[derive(Clone, Debug, Default)]
pub struct ShownModels {
    /// Only phases whose path is this or ends with it.
    pub region: Option<String>,
    /// Only what depends on this: P, a parameter, `#op` or `#q`.
    pub against: Option<String>,
}

impl ShownModels {
    fn has_region(&self, path: &str) -> bool {
        self.region.as_ref().is_none_or(|wanted| path == wanted || path.ends_with(&format!("/{wanted}")))
    }

    fn has(&self, relation: &QuantityRelation) -> bool {
        self.against.as_ref().is_none_or(|name| relation.from.symbol() == name)
    }
}

/// The models of a study.
pub fn models(models: &StudyModels, shown: &ShownModels, columns: usize) -> Result<String, ModelError> {
    let phases = models.phases.iter().filter(|phase| shown.has_region(&phase.region));
    let mut sections: Vec<String> = phases.filter_map(|phase| self::phase(models, phase, shown, columns)).collect();
    if shown.region.is_none() {
        let head = format!("{BOLD}the whole run{BOLD:#}\n");
        sections.extend(relations(models, &models.whole, shown, columns).map(|text| head + &text));
    }
    if sections.is_empty() {
        return Err(nothing(models, shown));
    }
    Ok(head(models, columns) + &sections.join("\n"))
}

/// Why nothing is shown.
fn nothing(models: &StudyModels, shown: &ShownModels) -> ModelError {
    let is_there = models.phases.iter().any(|phase| shown.has_region(&phase.region));
    match shown {
        ShownModels { region: Some(path), .. } if !is_there => {
            let known = models.phases.iter().map(|phase| phase.region.clone()).collect();
            ModelError::NoRegion { path: path.clone(), known }
        }
        ShownModels { against: Some(name), .. } => {
            let of_phases = models.phases.iter().flat_map(|phase| &phase.relations);
            let known = of_phases.chain(&models.whole).map(|relation| relation.from.symbol().to_owned());
            ModelError::NoQuantity { name: name.clone(), known: known.collect::<BTreeSet<_>>().into_iter().collect() }
        }
        _ => ModelError::NothingDiffers,
    }
}

fn head(models: &StudyModels, columns: usize) -> String {
    let ranges: Vec<String> = models.variables.iter().map(|name| range(models, name)).collect();
    let runs = format!("{BOLD}{}{BOLD:#}  {}", clean(&models.program), plural(models.n_runs as u64, "run"));
    let with = if ranges.is_empty() { "all with the same P and parameters".to_owned() } else { ranges.join(", ") };
    let errors = "Errors are of points left out (LOOCV), in per cent of the values; * is the degree that they choose.";
    let remarks: String =
        models.remarks.iter().map(|remark| format!("{}\n", wrap(&clean(remark), columns, 2))).collect();
    format!("{}\n{remarks}{DIM}{}{DIM:#}\n\n", wrap(&format!("{runs}, {with}"), columns, 2), wrap(errors, columns, 0))
}

fn range(models: &StudyModels, name: &str) -> String {
    let values = models.runs.iter().filter_map(|run| run.get(name).copied());
    let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), value| (a.min(value), b.max(value)));
    format!("{} = {} … {}", clean(name), plain(least), plain(most))
}

fn phase(models: &StudyModels, phase: &PhaseModels, shown: &ShownModels, columns: usize) -> Option<String> {
    let text = relations(models, &phase.relations, shown, columns)?;
    let name = shorten(&clean(short_path(&phase.region)), columns.saturating_sub(30));
    Some(format!("{BOLD}{name}{BOLD:#}  {DIM}up to {} of all time{DIM:#}\n{text}", percent(phase.share)))
}

fn relations(
    models: &StudyModels,
    relations: &[QuantityRelation],
    shown: &ShownModels,
    columns: usize,
) -> Option<String> {
    let texts: Vec<String> =
        relations.iter().filter(|one| shown.has(one)).map(|one| relation(models, one, columns)).collect();
    (!texts.is_empty()).then(|| texts.concat())
}

fn relation(models: &StudyModels, relation: &QuantityRelation, columns: usize) -> String {
    let held: Vec<String> =
        relation.held.iter().map(|(name, value)| format!("{} = {}", clean(name), plain(*value))).collect();
    let at = if held.is_empty() { String::new() } else { format!(" at {}", held.join(", ")) };
    let runs = format!("{}{at}", plural(relation.runs.len() as u64, "run"));
    let mut text =
        format!("  {} against {}  {DIM}{runs}{DIM:#}\n", clean(relation.to.symbol()), clean(relation.from.symbol()));
    let mut lines = Vec::new();
    if let Some(model) = &relation.linear {
        lines.push(law(model, relation));
    }
    if let Some(error) = &relation.no_law {
        lines.push(error.to_string());
    }
    match (&relation.polynomial, &relation.no_polynomial) {
        (Some(chosen), _) => {
            let equation = equation::of_fit(&chosen.fit, &relation.from, &relation.to);
            lines.push(match relation.is_independent() {
                true => format!("does not depend on it: {equation}"),
                false => equation,
            });
            lines.push(errors(chosen, relation));
        }
        // A law has said itself that there are too few sizes.
        (None, Some(FitError::TooFewSizes { .. })) if relation.linear.is_some() => {}
        (None, Some(error)) if relation.no_law.is_none() => lines.push(error.to_string()),
        _ => {}
    }
    for line in &lines {
        text.push_str(&indented(line, columns));
    }
    if !relation.leaving.is_empty() {
        text.push_str(&leaving(models, relation, columns));
    }
    text
}

fn wrap_in(said: &str, columns: usize) -> String {
    wrap(said, columns.saturating_sub(INDENT), 0).replace('\n', &format!("\n{}", " ".repeat(INDENT + 2)))
}

/// δ with its error, and where the law holds.
fn law(model: &LinearModel, relation: &QuantityRelation) -> String {
    let (from, to, law) = (&relation.from, &relation.to, &model.law);
    let delta = equation::delta(law.delta, from, to);
    let share = if law.delta == 0.0 { 0.0 } else { law.delta_error / law.delta };
    let error = law.relative_error().map_or_else(|| "–".to_owned(), percent);
    let where_it_holds = match &model.regime {
        LinearRegime::Whole if law.relative_error().is_some_and(|error| error > MIN_DEPARTURE_FROM_LAW) => {
            "fits badly, and no polynomial better".to_owned()
        }
        LinearRegime::Whole => "holds for all sizes".to_owned(),
        LinearRegime::Until { x, .. } => format!("holds up to {} = {}", from.symbol(), digits(*x)),
        LinearRegime::Nowhere => "does not hold".to_owned(),
        LinearRegime::Unknown { found } => {
            format!("{}: too few to see whether it holds", plural(*found as u64, "size"))
        }
    };
    format!("δ = {delta} ± {}, error {error}; {} = δ·{} {where_it_holds}", percent(share), to.symbol(), from.symbol())
}

/// The LOOCV error by degree.
fn errors(chosen: &SelectedFit, relation: &QuantityRelation) -> String {
    let mut all = Vec::new();
    for one in &chosen.errors {
        let error = if chosen.size > 0.0 { short_percent(one.error / chosen.size) } else { "0 %".to_owned() };
        let mark = if one.degree == chosen.fit.degree { "*" } else { "" };
        all.push(format!("{}: {error}{mark}", one.degree));
    }
    let squared = chosen.fit.r_squared.filter(|_| chosen.fit.degree > 0);
    let squared = squared.map_or_else(String::new, |share| format!("; R² {share:.4}"));
    let fits =
        if relation.is_polynomial() == Some(false) && chosen.fit.degree > 0 { "; no polynomial fits well" } else { "" };
    format!("error by degree  {}{squared}{fits}", all.join("  "))
}

/// Two digits of a small share: `0.021 %`.
fn short_percent(share: f64) -> String {
    let value = 100.0 * share;
    match value {
        value if value < 5e-4 => "0 %".to_owned(),
        value if value < 0.1 => format!("{value:.3} %"),
        value if value < 10.0 => format!("{value:.1} %"),
        value => format!("{value:.0} %"),
    }
}

/// The runs that leave the linear regime, with their memory.
fn leaving(models: &StudyModels, relation: &QuantityRelation, columns: usize) -> String {
    let names: Vec<String> = models.variables.iter().map(|name| clean(name)).collect();
    let mut heads: Vec<&str> = vec!["<beyond it"];
    heads.extend(names.iter().map(String::as_str));
    heads.extend([relation.from.symbol(), "ΔT", "resident", "swapped"]);
    let mut table = TextTable::new(&heads, 0);
    for one in &relation.leaving {
        let number = models.numbers.get(one.run).copied().unwrap_or_default();
        let mut cells = vec![format!("run {number}")];
        let values = models.variables.iter().map(|name| one.variables.get(name));
        cells.extend(values.map(|value| value.map_or_else(|| "–".to_owned(), |value| plain(*value))));
        let RegimeDeparture { x, excess_s, max_resident_bytes, max_swapped_bytes, .. } = one;
        cells.extend([digits(*x), time(*excess_s), memory(*max_resident_bytes), memory(*max_swapped_bytes)]);
        table.row(cells);
    }
    let margin = " ".repeat(INDENT - 2);
    let lines = table.render(columns.saturating_sub(INDENT), DIM);
    let mut text: String = lines.lines().map(|line| format!("{margin}{line}\n")).collect();
    if let Some(swap) = &relation.swap {
        let said = format!(
            "ΔT = {} for each MB swapped by the rank that swaps most, error {}",
            time(swap.delta * 1e6),
            swap.relative_error().map_or_else(|| "–".to_owned(), percent)
        );
        text.push_str(&indented(&said, columns));
    }
    text
}

fn memory(known_bytes: Option<u64>) -> String {
    known_bytes.map_or_else(|| "–".to_owned(), bytes)
}

/// A line of a relation, wrapped.
fn indented(text: &str, columns: usize) -> String {
    format!("{}{}\n", " ".repeat(INDENT), wrap_in(text, columns))
}

/// A value of a variable without needless digits.
fn plain(value: f64) -> String {
    if value != 0.0 && !(1e-4..1e7).contains(&value.abs()) { format!("{value:e}") } else { format!("{value}") }
}

/// Returns the expected time of a run, with the quantities that it follows from.
pub fn forecast(forecast: &RunForecast, columns: usize) -> String {
    let at: Vec<String> =
        forecast.variables.iter().map(|(name, value)| format!("{} = {}", clean(name), plain(*value))).collect();
    let mut text = format!("\n{BOLD}a run with {}{BOLD:#}\n", at.join(", "));
    let mut table = TextTable::new(&["<quantity", "expected", "from", "to", "<by"], 4);
    for step in &forecast.steps {
        let from: Vec<String> = step.from.iter().map(|from| clean(&from.label())).collect();
        let by = match (&step.why_not, &step.of) {
            (Some(_), _) => "not known, see below".to_owned(),
            (None, CausalQuantity::ParallelTime) => "(Σ T) / P".to_owned(),
            _ if step.is_beyond_regime => format!("{}, beyond the linear regime", from.join(", ")),
            _ => from.join(", "),
        };
        let format_value = if step.of.is_time() { time } else { digits };
        let cells = step.expected.map(|ExpectedValue { value, low, high }| [value, low, high].map(format_value));
        let cells = cells.unwrap_or_else(|| ["–", "–", "–"].map(str::to_owned));
        table.row([vec![clean(&step.of.label())], cells.to_vec(), vec![by]].concat());
    }
    text.push_str(&table.render(columns, DIM));
    text.push_str(&remarks(forecast, columns));
    text
}

fn remarks(forecast: &RunForecast, columns: usize) -> String {
    let mut remarks = vec![
        "from – to: 95 of 100 measurements, where the models hold. Times of phases are summed over ranks.".to_owned(),
    ];
    for step in &forecast.steps {
        if let Some(why_not) = &step.why_not {
            remarks.push(format!("{}: {}.", clean(&step.of.label()), clean(why_not)));
        }
    }
    for (name, widths) in &forecast.widths_outside {
        let (name, widths) = (clean(name), digits(*widths));
        remarks.push(format!("{name} lies outside of what was measured, by {widths} times that range."));
    }
    if forecast.steps.iter().any(|step| step.of == CausalQuantity::Rest) {
        remarks.push(
            "T_rest is the time in no phase above: idle outside of MPI calls, of the recorder, not recorded, of small phases."
                .to_owned(),
        );
    }
    if forecast.left_out > 0.0 {
        remarks.push(format!(
            "T_par leaves out the time in no phase above, up to {} of all time in these runs.",
            percent(forecast.left_out)
        ));
    }
    if forecast.is_product {
        remarks.push(
            "P and parameters are taken to act as factors of their own: no runs vary one of them there.".to_owned(),
        );
    }
    remarks.iter().map(|remark| format!("  {DIM}{}{DIM:#}\n", wrap(remark, columns.saturating_sub(2), 2))).collect()
}

/// The causal model: below each quantity what it depends on.
pub fn graph(graph: &CausalGraph, columns: usize) -> String {
    let of = plural(graph.n_runs as u64, "run");
    let mut text = format!("{BOLD}{}{BOLD:#}  what depends on what, in {of}\n\n", clean(&graph.program));
    for node in &graph.nodes {
        let edges: Vec<&CausalEdge> = graph.edges.iter().filter(|edge| edge.to == node.id).collect();
        if edges.is_empty() {
            continue;
        }
        writeln!(text, "{BOLD}{}{BOLD:#}", shorten(&clean(&node.label), columns)).unwrap_or(());
        for line in causes(&edges) {
            writeln!(text, "  {}", wrap(&line, columns.saturating_sub(2), 6).replace('\n', "\n  ")).unwrap_or(());
        }
    }
    text.push('\n');
    for remark in graph_remarks(graph) {
        writeln!(text, "{}", wrap(&remark, columns, 2)).unwrap_or(());
    }
    text
}

/// Lines for the causes of one quantity. What is defined is one line, whatever its number of causes.
fn causes(edges: &[&CausalEdge]) -> Vec<String> {
    let mut defined: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut lines = Vec::new();
    for edge in edges {
        let from = clean(&edge.from.label());
        match &edge.because {
            DependenceReason::Defined { equation } => defined.entry(equation).or_default().push(from),
            DependenceReason::Unknown { reason } => lines.push(format!("←─ {from}: {reason}")),
            DependenceReason::Fitted { equation, relative_error, n_runs, note, .. } => {
                let error =
                    relative_error.map_or_else(String::new, |error| format!("error {}, ", short_percent(error)));
                let note = note.as_ref().map_or_else(String::new, |note| format!("; {}", clean(note)));
                let runs = plural(*n_runs as u64, "run");
                lines.push(format!("←─ {from}:  {equation}  {DIM}({error}{runs}{note}){DIM:#}"));
            }
        }
    }
    lines.extend(defined.iter().map(|(equation, from)| format!("←─ {}:  {equation}", from.join(", "))));
    lines
}

fn graph_remarks(graph: &CausalGraph) -> Vec<String> {
    let mut by_cause: BTreeMap<&CausalQuantity, Vec<String>> = BTreeMap::new();
    for (from, to) in &graph.independent {
        by_cause.entry(from).or_default().push(clean(&to.label()));
    }
    let mut remarks: Vec<String> = by_cause
        .iter()
        .map(|(from, to)| format!("{} has no influence on {}.", clean(&from.label()), to.join(", ")))
        .collect();
    remarks.extend(graph.remarks.iter().map(|remark| clean(remark)));
    remarks.extend(graph.difference.map(|difference| match difference {
        difference if difference < 1e-6 => format!("E = 1 / Σ Ovh holds in all runs, to {difference:.0e}."),
        difference => {
            format!("E = 1 / Σ Ovh is off by up to {}: not all time of some run is known.", percent(difference))
        }
    }));
    remarks.push("Times are summed over ranks but T_par and T_seq; what has no equation is not known.".to_owned());
    remarks
}

#[cfg(test)]
mod tests {
    use super::super::matrix_multiplication::{multiplication, study};
    use super::*;
    use crate::RunMetrics;
    use lbprof_report::words::width;

    fn bare(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    fn swapping() -> StudyModels {
        let memory = 24.0 * 1000.0 * 1000.0;
        let runs = [200.0, 400.0, 600.0, 800.0, 1000.0, 1500.0, 2000.0].map(|n| multiplication(1, n, memory));
        StudyModels::from_runs(&runs).unwrap()
    }

    #[test]
    fn models_of_a_multiplication() {
        let of = StudyModels::from_runs(&study()).unwrap();
        insta::assert_snapshot!(bare(&models(&of, &ShownModels::default(), 100).unwrap()));
    }

    #[test]
    fn runs_beyond_the_linear_regime() {
        let shown = ShownModels { region: Some("multiply".to_owned()), against: Some("#op".to_owned()) };
        insta::assert_snapshot!(bare(&models(&swapping(), &shown, 100).unwrap()));
    }

    #[test]
    fn a_forecast_says_how_sure_it_is() {
        let of = StudyModels::from_runs(&study()).unwrap();
        let asked = [("P".to_owned(), 16.0), ("n".to_owned(), 400.0)].into();
        insta::assert_snapshot!(bare(&forecast(&of.forecast(&asked).unwrap(), 100)));
    }

    #[test]
    fn a_forecast_says_what_it_does_not_know() {
        let two = [40.0, 60.0].map(|n| multiplication(2, n, f64::INFINITY));
        let of = StudyModels::from_runs(&two).unwrap().forecast(&[("n".to_owned(), 100.0)].into()).unwrap();
        insta::assert_snapshot!(bare(&forecast(&of, 100)));
    }

    #[test]
    fn the_causal_model() {
        insta::assert_snapshot!(bare(&graph(
            &CausalGraph::from_models(&StudyModels::from_runs(&study()).unwrap()),
            100
        )));
    }

    #[test]
    fn lines_are_as_short_as_they_have_to_be() {
        let of = StudyModels::from_runs(&study()).unwrap();
        let asked = [("P".to_owned(), 16.0), ("n".to_owned(), 400.0)].into();
        for columns in [60, 80, 100] {
            let text = models(&of, &ShownModels::default(), columns).unwrap()
                + &models(&swapping(), &ShownModels::default(), columns).unwrap()
                + &forecast(&of.forecast(&asked).unwrap(), columns)
                + &graph(&CausalGraph::from_models(&of), columns);
            let text = bare(&text);
            let long: Vec<&str> = text.lines().filter(|line| width(line) > columns).collect();
            assert!(long.is_empty(), "{columns}: {long:#?}");
        }
    }

    #[test]
    fn nothing_is_shown_of_what_is_not_there() {
        let of = StudyModels::from_runs(&study()).unwrap();
        let refused = |shown: ShownModels| models(&of, &shown, 100).unwrap_err().to_string();
        let nowhere = refused(ShownModels { region: Some("nowhere".to_owned()), against: None });
        assert_eq!(nowhere, "no model of a region nowhere; there are: main/multiply, main/broadcast");
        let against = refused(ShownModels { region: None, against: Some("m".to_owned()) });
        assert_eq!(against, "no model against m; there are: #op, #q, P, n");
        let same = StudyModels::from_runs(&[RunMetrics { n_ranks: 2, ..RunMetrics::default() }]).unwrap();
        assert_eq!(models(&same, &ShownModels::default(), 100).unwrap_err(), ModelError::NothingDiffers);
    }
}
