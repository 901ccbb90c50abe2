//! Relations with the points that they were taken from, and the graph of them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::models::causal::{CausalEdge, CausalGraph, CausalNodeKind, DependenceReason};
use crate::models::equation;
use crate::models::relations::{QuantityRelation, StudyModels};
use lbprof_report::words::clean;

/// Points of a curve.
const STEPS: usize = 80;

/// A dependence between quantities, in a region or in the whole run.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RelationRow {
    /// Path of the region; empty: the whole run.
    phase: String,
    /// Quantity that `to` depends on.
    from: String,
    /// Dependent quantity.
    to: String,
    /// True if `to` is in seconds.
    is_time: bool,
    /// The equation; null if there is none.
    equation: Option<String>,
    /// Why there is none.
    problem: Option<String>,
    /// True if it is the linear law.
    is_law: bool,
    /// True if no degree but 0 predicts better.
    independent: bool,
    /// Cross-validation error by the size of the values.
    relative_error: Option<f64>,
    /// R² of the equation.
    r_squared: Option<f64>,
    /// Variables that all its runs have in common, where others differ.
    held: BTreeMap<String, f64>,
    /// The points that it was taken from, by `x`.
    points: Vec<PointRow>,
    /// Places of the curve, `[x, y]`; empty if there is no equation.
    curve: Vec<(f64, f64)>,
    /// The chosen degree of the polynomial.
    degree: Option<usize>,
    /// The cross-validation error of each degree.
    errors: Vec<DegreeRow>,
    /// Runs beyond the law.
    leaving: Vec<LeavingRow>,
}

/// A run's place in a relation.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct PointRow {
    /// The run's number in the study.
    run: Option<u32>,
    /// Value of the quantity that the relation depends on.
    x: f64,
    /// Value of the dependent quantity.
    y: f64,
    /// True if the run is beyond the law.
    leaves: bool,
    /// `y` less the curve.
    residual: Option<f64>,
}

/// A degree of a polynomial.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct DegreeRow {
    /// The degree.
    degree: usize,
    /// Its cross-validation error.
    error: f64,
}

/// A run beyond the law.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct LeavingRow {
    /// Its number in the study.
    run: Option<u32>,
    /// Value of the quantity that the law depends on.
    x: f64,
    /// Seconds that it takes beyond the law.
    excess_s: f64,
    /// Largest resident memory of a rank; null if it was not sampled.
    max_resident_bytes: Option<u64>,
    /// Largest swapped memory of a rank; null if it was not sampled.
    max_swapped_bytes: Option<u64>,
}

/// The causal model.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GraphRow {
    /// Quantities.
    nodes: Vec<NodeRow>,
    /// Dependences between the nodes.
    edges: Vec<EdgeRow>,
    /// Pairs of which the first does not influence the second.
    independent: Vec<(String, String)>,
}

/// A quantity.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct NodeRow {
    /// Its name, which edges refer to.
    id: String,
    /// Its name for a reader.
    label: String,
    /// Kind of the node.
    kind: NodeWord,
}

/// The kind of a quantity.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum NodeWord {
    /// A variable of the runs.
    Variable,
    /// Operations or quanta.
    Work,
    /// A phase's time.
    Phase,
    /// A sum over phases.
    Total,
    /// A result: efficiency, speedup.
    Result,
}

impl From<CausalNodeKind> for NodeWord {
    fn from(kind: CausalNodeKind) -> NodeWord {
        match kind {
            CausalNodeKind::Variable => NodeWord::Variable,
            CausalNodeKind::Work => NodeWord::Work,
            CausalNodeKind::Phase => NodeWord::Phase,
            CausalNodeKind::Total => NodeWord::Total,
            CausalNodeKind::Result => NodeWord::Result,
        }
    }
}

/// A dependence of one quantity on another.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct EdgeRow {
    /// On which.
    from: String,
    /// Dependent quantity.
    to: String,
    /// Evidence for the dependence.
    kind: EdgeWord,
    /// The equation, or why there is none.
    text: String,
    /// Cross-validation error of a fitted one.
    relative_error: Option<f64>,
    /// Runs that it was fitted to.
    n_runs: Option<usize>,
    /// A remark on it.
    note: Option<String>,
}

/// The evidence for a dependence.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum EdgeWord {
    /// Fitted to the runs.
    Fitted,
    /// By definition.
    Defined,
    /// Not known how.
    Unknown,
}

/// The relations of all phases, then those of the whole run. `numbers`: those of the runs in the study.
pub(super) fn relations(models: &StudyModels, numbers: &[u32]) -> Vec<RelationRow> {
    let phases = models.phases.iter().flat_map(|phase| phase.relations.iter().map(|one| (phase.region.as_str(), one)));
    let whole = models.whole.iter().map(|one| ("", one));
    phases.chain(whole).map(|(region, one)| relation(region, one, numbers)).collect()
}

fn relation(region: &str, of: &QuantityRelation, numbers: &[u32]) -> RelationRow {
    let law = of.law().map(|model| &model.law);
    let fit = of.polynomial.as_ref().map(|chosen| &chosen.fit);

    // Beside a law, the lack of a polynomial is no problem.
    let problem = of.no_polynomial.as_ref().or(of.no_law.as_ref()).filter(|_| law.is_none()).map(ToString::to_string);
    let points = of.points.iter().zip(&of.runs).map(|(&(x, y), &run)| PointRow {
        run: numbers.get(run).copied(),
        x,
        y,
        leaves: of.leaving.iter().any(|leaving| leaving.run == run),
        residual: expected_value(of, x).map(|expected| y - expected),
    });
    let mut points: Vec<PointRow> = points.collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let equation = match (law, fit) {
        (Some(law), _) => Some(equation::of_law(law, &of.from, &of.to)),
        (None, fit) => fit.map(|fit| equation::of_fit(fit, &of.from, &of.to)),
    };
    RelationRow {
        phase: region.to_owned(),
        from: clean(&of.from.label()),
        to: clean(&of.to.label()),
        is_time: of.to.is_time(),
        equation,
        problem,
        is_law: law.is_some(),
        independent: of.is_independent(),
        relative_error: match law {
            Some(law) => law.relative_error(),
            None => of.polynomial.as_ref().and_then(|chosen| chosen.relative_error()),
        },
        r_squared: law.map_or_else(|| fit.and_then(|fit| fit.r_squared), |law| law.r_squared),
        held: of.held.clone(),
        points,
        curve: curve(of),
        degree: fit.map(|fit| fit.degree),
        errors: of
            .polynomial
            .iter()
            .flat_map(|chosen| &chosen.errors)
            .map(|one| DegreeRow { degree: one.degree, error: one.error })
            .collect(),
        leaving: of
            .leaving
            .iter()
            .map(|one| LeavingRow {
                run: numbers.get(one.run).copied(),
                x: one.x,
                excess_s: one.excess_s,
                max_resident_bytes: one.max_resident_bytes,
                max_swapped_bytes: one.max_swapped_bytes,
            })
            .collect(),
    }
}

/// The value at `x` by the law of a relation, else by its polynomial; `None` if it has neither.
fn expected_value(relation: &QuantityRelation, x: f64) -> Option<f64> {
    match relation.law() {
        Some(model) => Some(model.law.value_at(x)),
        None => relation.polynomial.as_ref().map(|chosen| chosen.fit.value_at(x)),
    }
}

/// A curve over the points of a relation, from the smallest x to the largest; empty where there is none.
fn curve(relation: &QuantityRelation) -> Vec<(f64, f64)> {
    let low = relation.points.iter().map(|point| point.0).fold(f64::INFINITY, f64::min);
    let high = relation.points.iter().map(|point| point.0).fold(f64::NEG_INFINITY, f64::max);
    let points = (0..=STEPS).filter_map(|step| {
        let x = low + (high - low) * step as f64 / STEPS as f64;
        Some((x, expected_value(relation, x)?))
    });
    points.filter(|(x, y)| x.is_finite() && y.is_finite()).collect()
}

/// The causal model.
pub(super) fn graph(graph: &CausalGraph) -> GraphRow {
    let nodes = graph.nodes.iter();
    let independent = graph.independent.iter();
    GraphRow {
        nodes: nodes
            .map(|node| NodeRow { id: node.id.to_string(), label: clean(&node.label), kind: node.kind.into() })
            .collect(),
        edges: graph.edges.iter().map(edge).collect(),
        independent: independent.map(|(one, other)| (one.to_string(), other.to_string())).collect(),
    }
}

fn edge(edge: &CausalEdge) -> EdgeRow {
    let (kind, text, relative_error, n_runs, note) = match &edge.because {
        DependenceReason::Fitted { equation, relative_error, n_runs, note, .. } => {
            (EdgeWord::Fitted, equation, *relative_error, Some(*n_runs), note.clone())
        }
        DependenceReason::Defined { equation } => (EdgeWord::Defined, equation, None, None, None),
        DependenceReason::Unknown { reason } => (EdgeWord::Unknown, reason, None, None, None),
    };
    EdgeRow {
        from: edge.from.to_string(),
        to: edge.to.to_string(),
        kind,
        text: clean(text),
        relative_error,
        n_runs,
        note,
    }
}
