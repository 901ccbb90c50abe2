//! Models and the causal model for a terminal. Colours are ANSI sequences; who writes to a file or pipe strips them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use anstyle::Style;

use super::causal::{CausalEdge, CausalGraph, EdgeEvidence};
use super::equation;
use lbprof_thresholds::study::MIN_DEPARTURE_FROM_LAW;

use super::FitError;
use super::linear::LinearLaw;
use super::observations::quantity::CausalQuantity;
use super::relations::{ModelError, PhaseModels, QuantityRelation, StudyModels};
use super::validation::SelectedFit;
use crate::phrases::format_number;
use lbprof_report::rows::words::{escape_name, format_percent, format_plural, short_path, shorten_text, wrap_text};

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
pub fn render_models(models: &StudyModels, shown: &ShownModels, columns: usize) -> Result<String, ModelError> {
    let phases = models.phases.iter().filter(|phase| shown.has_region(&phase.region));
    let mut sections: Vec<String> = phases.filter_map(|phase| self::render_phase(phase, shown, columns)).collect();
    if shown.region.is_none() {
        let head = format!("{BOLD}the whole run{BOLD:#}\n");
        sections.extend(render_relations(&models.whole, shown, columns).map(|text| head + &text));
    }
    if sections.is_empty() {
        return Err(explain_no_models(models, shown));
    }
    Ok(models_head(models, columns) + &sections.join("\n"))
}

fn explain_no_models(models: &StudyModels, shown: &ShownModels) -> ModelError {
    let is_there = models.phases.iter().any(|phase| shown.has_region(&phase.region));
    match shown {
        ShownModels { region: Some(path), .. } if !is_there => {
            let known = models.phases.iter().map(|phase| phase.region.clone()).collect();
            ModelError::NoRegion(path.clone(), known)
        }
        ShownModels { against: Some(name), .. } => {
            let of_phases = models.phases.iter().flat_map(|phase| &phase.relations);
            let known = of_phases.chain(&models.whole).map(|relation| relation.from.symbol().to_owned());
            ModelError::NoQuantity(name.clone(), known.collect::<BTreeSet<_>>().into_iter().collect())
        }
        _ => ModelError::NothingDiffers,
    }
}

fn models_head(models: &StudyModels, columns: usize) -> String {
    let ranges: Vec<String> = models.variables.iter().map(|name| variable_range(models, name)).collect();
    let runs =
        format!("{BOLD}{}{BOLD:#}  {}", escape_name(&models.program), format_plural(models.n_runs as u64, "run"));
    let with = if ranges.is_empty() { "all with the same P and parameters".to_owned() } else { ranges.join(", ") };
    let errors = "Errors are of points left out (LOOCV), in per cent of the values; * is the degree that they choose.";
    let remarks: String =
        models.remarks.iter().map(|remark| format!("{}\n", wrap_text(&escape_name(remark), columns, 2))).collect();
    format!(
        "{}\n{remarks}{DIM}{}{DIM:#}\n\n",
        wrap_text(&format!("{runs}, {with}"), columns, 2),
        wrap_text(errors, columns, 0)
    )
}

fn variable_range(models: &StudyModels, name: &str) -> String {
    let values = models.runs.iter().filter_map(|run| run.get(name).copied());
    let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), value| (a.min(value), b.max(value)));
    format!("{} = {} … {}", escape_name(name), format_number(least), format_number(most))
}

fn render_phase(phase: &PhaseModels, shown: &ShownModels, columns: usize) -> Option<String> {
    let text = render_relations(&phase.relations, shown, columns)?;
    let name = shorten_text(&escape_name(short_path(&phase.region)), columns.saturating_sub(30));
    Some(format!("{BOLD}{name}{BOLD:#}  {DIM}up to {} of all time{DIM:#}\n{text}", format_percent(phase.share)))
}

fn render_relations(relations: &[QuantityRelation], shown: &ShownModels, columns: usize) -> Option<String> {
    let texts: Vec<String> =
        relations.iter().filter(|one| shown.has(one)).map(|one| render_relation(one, columns)).collect();
    (!texts.is_empty()).then(|| texts.concat())
}

fn render_relation(relation: &QuantityRelation, columns: usize) -> String {
    let held: Vec<String> = relation
        .held
        .iter()
        .map(|(name, value)| format!("{} = {}", escape_name(name), format_number(*value)))
        .collect();
    let at = if held.is_empty() { String::new() } else { format!(" at {}", held.join(", ")) };
    let runs = format!("{}{at}", format_plural(relation.runs.len() as u64, "run"));
    let mut text = format!(
        "  {} against {}  {DIM}{runs}{DIM:#}\n",
        escape_name(relation.to.symbol()),
        escape_name(relation.from.symbol())
    );
    let mut lines: Vec<String> = relation.linear.iter().map(|linear| law_line(linear, relation)).collect();
    lines.extend(relation.no_law.as_ref().map(ToString::to_string));
    match (&relation.polynomial, &relation.no_polynomial) {
        (Some(chosen), _) => {
            let equation = equation::of_fit(&chosen.fit, &relation.from, &relation.to);
            let note = if relation.is_independent() { "does not depend on it: " } else { "" };
            lines.extend([format!("{note}{equation}"), error_line(chosen, relation)]);
        }
        // A law has said itself that there are too few sizes.
        (None, Some(FitError::TooFewSizes { .. })) if relation.linear.is_some() => {}
        (None, Some(error)) if relation.no_law.is_none() => lines.push(error.to_string()),
        _ => {}
    }
    text.extend(lines.iter().map(|line| indent_line(line, columns)));
    text
}

fn law_line(law: &LinearLaw, relation: &QuantityRelation) -> String {
    let (from, to) = (&relation.from, &relation.to);
    let delta = equation::delta_with_unit(law.delta, from, to);
    let share = if law.delta == 0.0 { 0.0 } else { law.delta_error / law.delta };
    let error = law.relative_error().map_or_else(|| "–".to_owned(), format_percent);
    let holds = match relation.law() {
        None => "does not hold",
        Some(_) if relation.has_few_sizes() => "fits, but the sizes are too few to see whether it holds",
        Some(law) if law.relative_error() > Some(MIN_DEPARTURE_FROM_LAW) => "fits badly, and no polynomial better",
        Some(_) => "holds for all sizes",
    };
    format!("δ = {delta} ± {}, error {error}; {} = δ·{} {holds}", format_percent(share), to.symbol(), from.symbol())
}

fn error_line(chosen: &SelectedFit, relation: &QuantityRelation) -> String {
    let all = chosen.errors.iter().map(|one| {
        let error = if chosen.size > 0.0 { short_percent(one.error / chosen.size) } else { "0 %".to_owned() };
        let mark = if one.degree == chosen.fit.degree { "*" } else { "" };
        format!("{}: {error}{mark}", one.degree)
    });
    let squared = chosen.fit.r_squared.filter(|_| chosen.fit.degree > 0);
    let squared = squared.map_or_else(String::new, |share| format!("; R² {share:.4}"));
    let fits =
        if relation.is_polynomial() == Some(false) && chosen.fit.degree > 0 { "; no polynomial fits well" } else { "" };
    format!("error by degree  {}{squared}{fits}", all.collect::<Vec<_>>().join("  "))
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

fn indent_line(text: &str, columns: usize) -> String {
    let wrapped =
        wrap_text(text, columns.saturating_sub(INDENT), 0).replace('\n', &format!("\n{}", " ".repeat(INDENT + 2)));
    format!("{}{wrapped}\n", " ".repeat(INDENT))
}

/// The causal model: below each quantity what it depends on.
pub fn render_graph(graph: &CausalGraph, columns: usize) -> String {
    let of = format_plural(graph.n_runs as u64, "run");
    let mut text = format!("{BOLD}{}{BOLD:#}  what depends on what, in {of}\n\n", escape_name(&graph.program));
    for node in &graph.nodes {
        let edges: Vec<&CausalEdge> = graph.edges.iter().filter(|edge| edge.to == node.id).collect();
        if edges.is_empty() {
            continue;
        }
        writeln!(text, "{BOLD}{}{BOLD:#}", shorten_text(&node.label, columns)).unwrap_or(());
        for line in cause_lines(&edges) {
            writeln!(text, "  {}", wrap_text(&line, columns.saturating_sub(2), 6).replace('\n', "\n  ")).unwrap_or(());
        }
    }
    text.push('\n');
    for remark in graph_remarks(graph) {
        writeln!(text, "{}", wrap_text(&remark, columns, 2)).unwrap_or(());
    }
    text
}

/// Returns a line for each cause of a quantity, or a single one for all causes by definition.
fn cause_lines(edges: &[&CausalEdge]) -> Vec<String> {
    let mut defined: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut lines = Vec::new();
    for edge in edges {
        let from = escape_name(&edge.from.label());
        let CausalEdge { text, note, .. } = edge;
        match edge.kind {
            EdgeEvidence::Defined => defined.entry(text).or_default().push(from),
            EdgeEvidence::Unknown => lines.push(format!("←─ {from}: {text}")),
            EdgeEvidence::Fitted => {
                let error =
                    edge.relative_error.map_or_else(String::new, |error| format!("error {}, ", short_percent(error)));
                let note = note.as_ref().map_or_else(String::new, |note| format!("; {note}"));
                let runs = format_plural(edge.n_runs.unwrap_or(0) as u64, "run");
                lines.push(format!("←─ {from}:  {text}  {DIM}({error}{runs}{note}){DIM:#}"));
            }
        }
    }
    lines.extend(defined.iter().map(|(equation, from)| format!("←─ {}:  {equation}", from.join(", "))));
    lines
}

fn graph_remarks(graph: &CausalGraph) -> Vec<String> {
    let mut by_cause: BTreeMap<&CausalQuantity, Vec<String>> = BTreeMap::new();
    for (from, to) in &graph.independent {
        by_cause.entry(from).or_default().push(escape_name(&to.label()));
    }
    let mut remarks: Vec<String> = Vec::new();
    for (from, to) in &by_cause {
        remarks.push(format!("{} has no influence on {}.", escape_name(&from.label()), to.join(", ")));
    }
    remarks.extend(graph.remarks.iter().map(|remark| escape_name(remark)));
    remarks.extend(graph.difference.map(|difference| match difference {
        difference if difference < 1e-6 => format!("E = 1 / Σ Ovh holds in all runs, to {difference:.0e}."),
        _ => {
            format!("E = 1 / Σ Ovh is off by up to {}: not all time of some run is known.", format_percent(difference))
        }
    }));
    remarks.push("Times are summed over ranks but T_par and T_seq; what has no equation is not known.".to_owned());
    remarks
}

#[cfg(test)]
mod tests {
    use super::super::multiplication_tests::study;
    use super::*;
    use crate::RunMetrics;
    use lbprof_report::rows::words::text_width;

    fn bare(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn models_of_a_multiplication() {
        let of = StudyModels::from_runs(&study()).unwrap();
        insta::assert_snapshot!(bare(&render_models(&of, &ShownModels::default(), 100).unwrap()));
    }

    #[test]
    fn the_causal_model() {
        insta::assert_snapshot!(bare(&render_graph(
            &CausalGraph::from_models(&StudyModels::from_runs(&study()).unwrap()),
            100
        )));
    }

    #[test]
    fn lines_are_as_short_as_they_have_to_be() {
        let of = StudyModels::from_runs(&study()).unwrap();
        for columns in [60, 80, 100] {
            let text = render_models(&of, &ShownModels::default(), columns).unwrap()
                + &render_graph(&CausalGraph::from_models(&of), columns);
            let text = bare(&text);
            let long: Vec<&str> = text.lines().filter(|line| text_width(line) > columns).collect();
            assert!(long.is_empty(), "{columns}: {long:#?}");
        }
    }

    #[test]
    fn nothing_is_shown_of_what_is_not_there() {
        let of = StudyModels::from_runs(&study()).unwrap();
        let refused = |shown: ShownModels| render_models(&of, &shown, 100).unwrap_err().to_string();
        let nowhere = refused(ShownModels { region: Some("nowhere".to_owned()), against: None });
        assert_eq!(nowhere, "no model of a region nowhere; there are: main/multiply, main/broadcast");
        let against = refused(ShownModels { region: None, against: Some("m".to_owned()) });
        assert_eq!(against, "no model against m; there are: #op, #q, P, n");
        let same = StudyModels::from_runs(&[RunMetrics { n_ranks: 2, ..RunMetrics::default() }]).unwrap();
        assert_eq!(render_models(&same, &ShownModels::default(), 100).unwrap_err(), ModelError::NothingDiffers);
    }
}
