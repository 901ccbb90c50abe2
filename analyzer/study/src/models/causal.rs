//! The causal model: what depends on what, with the equations (Lemeire et al. 2004, Figs. 3 and 5). Plain data, which a terminal and
//! a page draw.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::equation;
use super::linear::LinearLaw;
use super::observations::phases::TimeClass;
use super::observations::quantity::CausalQuantity;
use super::relations::{QuantityRelation, StudyModels};
use lbprof_report::rows::words::escape_name;
use lbprof_thresholds::study::MIN_DEPARTURE_FROM_LAW;

/// The kind of a node, in the order from causes to effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, crate::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CausalNodeKind {
    /// P, or a parameter.
    Variable,
    /// #op or #q of a phase.
    Work,
    /// A part of a phase's time.
    Phase,
    /// A part of the whole run's time.
    Total,
    /// T_par, T_seq or S.
    Result,
}

/// A quantity.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct CausalNode {
    /// Symbol and path: unique. Edges refer to it.
    #[schemars(with = "String")]
    pub id: CausalQuantity,
    /// Symbol and short path, for readers; escaped as in the text.
    pub label: String,
    /// Kind of the node.
    pub kind: CausalNodeKind,
}

/// The evidence for a dependence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, crate::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EdgeEvidence {
    /// Fitted to the runs.
    Fitted,
    /// By definition.
    Defined,
    /// Possible, but nothing can be fitted.
    Unknown,
}

/// A dependence of one quantity on another.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct CausalEdge {
    /// The cause.
    #[schemars(with = "String")]
    pub from: CausalQuantity,
    /// The effect.
    #[schemars(with = "String")]
    pub to: CausalQuantity,
    /// Evidence for the dependence.
    pub kind: EdgeEvidence,
    /// The equation, or why there is none.
    pub text: String,
    /// LOOCV error of a fitted one by the size of the values; null where all are 0.
    pub relative_error: Option<f64>,
    /// R² of a fitted one; null where all values are the same.
    pub r_squared: Option<f64>,
    /// Number of runs that it was fitted to.
    pub n_runs: Option<usize>,
    /// A remark on the fit.
    pub note: Option<String>,
}

/// The causal model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, crate::JsonSchema)]
pub struct CausalGraph {
    /// Name of the program.
    pub program: String,
    /// Number of runs.
    pub n_runs: usize,
    /// Quantities, causes before effects.
    pub nodes: Vec<CausalNode>,
    /// Dependences, by effect in the order of nodes.
    pub edges: Vec<CausalEdge>,
    /// Pairs of which the first does not influence the second: no degree but 0 predicts better.
    #[schemars(with = "Vec<(String, String)>")]
    pub independent: Vec<(CausalQuantity, CausalQuantity)>,
    /// The largest |E·Σ Ovh − 1| of a run: that E = 1/Σ Ovh holds; null where no run has an efficiency.
    pub difference: Option<f64>,
    /// Remarks on the runs, a sentence each.
    pub remarks: Vec<String>,
}

const PARALLEL_TIME: &str = "T_par = (Σ T) / P";

/// True if `relation` is the one that explains its time: by work if any does, because P and parameters act through the work.
fn is_direct_cause(relation: &QuantityRelation, models: &StudyModels) -> bool {
    let mut of_time = models.phases.iter().flat_map(|phase| &phase.relations).filter(|one| one.to == relation.to);
    let by_work = of_time.find(|one| !matches!(one.from, CausalQuantity::Variable(_)));
    by_work.is_none_or(|one| one.from == relation.from)
}

impl CausalGraph {
    /// Builds the graph of `models`.
    pub fn from_models(models: &StudyModels) -> CausalGraph {
        let (program, remarks) = (models.program.clone(), models.remarks.clone());
        let mut graph = CausalGraph { program, n_runs: models.n_runs, remarks, ..CausalGraph::default() };
        let mut parts: BTreeSet<TimeClass> = BTreeSet::new();
        for relation in models.phases.iter().flat_map(|phase| &phase.relations) {
            let CausalQuantity::Time(_, part) = &relation.to else {
                graph.fitted(relation);
                continue;
            };
            if is_direct_cause(relation, models) {
                graph.fitted(relation);
            }
            if parts.insert(*part) || !graph.edges.iter().any(|edge| edge.from == relation.to) {
                let equation = format!("{} = Σ of phases", part.symbol());
                graph.defined(relation.to.clone(), CausalQuantity::Total(*part), &equation);
            }
        }
        for part in parts {
            graph.defined(CausalQuantity::Total(part), CausalQuantity::ParallelTime, PARALLEL_TIME);
        }
        graph.results(models);
        graph.sort();
        graph
    }

    fn results(&mut self, models: &StudyModels) {
        let n_ranks = CausalQuantity::Variable(super::observations::variables::RANKS.to_owned());
        self.defined(n_ranks, CausalQuantity::ParallelTime, PARALLEL_TIME);
        if models.totals.iter().any(|totals| totals.other_s > 0.0) {
            self.defined(CausalQuantity::Other, CausalQuantity::ParallelTime, PARALLEL_TIME);
        }
        for time in [CausalQuantity::ParallelTime, CausalQuantity::SequentialTime] {
            self.defined(time, CausalQuantity::Speedup, "S = T_seq / T_par = P / Σ Ovh");
        }
        let differences = models.totals.iter().filter_map(|totals| totals.difference);
        self.difference = differences.map(f64::abs).reduce(f64::max);
    }

    fn defined(&mut self, from: CausalQuantity, to: CausalQuantity, equation: &str) {
        let edge = CausalEdge::new(from, to, EdgeEvidence::Defined, equation.to_owned());
        if !self.edges.contains(&edge) {
            self.edges.push(edge);
        }
    }

    fn fitted(&mut self, relation: &QuantityRelation) {
        if relation.is_independent() {
            self.independent.push((relation.from.clone(), relation.to.clone()));
        } else {
            self.edges.push(CausalEdge::from_relation(relation));
        }
    }

    /// Nodes from the edges, causes before effects, and edges in their order.
    fn sort(&mut self) {
        let of_edges = self.edges.iter().flat_map(|edge| [&edge.from, &edge.to]);
        let of_pairs = self.independent.iter().flat_map(|(from, to)| [from, to]);
        let all: BTreeSet<&CausalQuantity> = of_edges.chain(of_pairs).collect();
        let nodes = all.into_iter();
        self.nodes = nodes
            .map(|id| CausalNode { id: id.clone(), label: escape_name(&id.label()), kind: node_kind(id) })
            .collect();
        self.nodes.sort_by_cached_key(|node| {
            (node.kind, node.id.symbol() != super::observations::variables::RANKS, node.id.clone())
        });
        let places: BTreeMap<&CausalQuantity, usize> =
            self.nodes.iter().enumerate().map(|(place, node)| (&node.id, place)).collect();
        self.edges.sort_by_key(|edge| (places.get(&edge.to), places.get(&edge.from)));
    }
}

fn node_kind(id: &CausalQuantity) -> CausalNodeKind {
    use CausalQuantity::{Operations, Other, ParallelTime, Quanta, SequentialTime, Speedup, Time, Total, Variable};
    match id {
        Variable(_) => CausalNodeKind::Variable,
        Operations(_) | Quanta(_) => CausalNodeKind::Work,
        Time(..) => CausalNodeKind::Phase,
        Total(_) | Other => CausalNodeKind::Total,
        ParallelTime | SequentialTime | Speedup => CausalNodeKind::Result,
    }
}

impl CausalEdge {
    fn new(from: CausalQuantity, to: CausalQuantity, kind: EdgeEvidence, text: String) -> CausalEdge {
        CausalEdge { from, to, kind, text, relative_error: None, r_squared: None, n_runs: None, note: None }
    }

    /// The edge of a relation: by the linear law where that holds, else by the polynomial.
    pub fn from_relation(relation: &QuantityRelation) -> CausalEdge {
        let (from, to) = (&relation.from, &relation.to);
        let edge = CausalEdge::new(from.clone(), to.clone(), EdgeEvidence::Fitted, String::new());
        match (relation.law(), &relation.polynomial) {
            (Some(law), _) => CausalEdge {
                text: equation::of_law(law, from, to),
                relative_error: law.relative_error(),
                r_squared: law.r_squared,
                n_runs: Some(law.n_points),
                note: law_note(relation, law).map(str::to_owned),
                ..edge
            },
            (None, Some(chosen)) => CausalEdge {
                text: equation::of_fit(&chosen.fit, from, to),
                relative_error: chosen.relative_error(),
                r_squared: chosen.fit.r_squared,
                n_runs: Some(chosen.fit.n_points),
                note: (relation.is_polynomial() == Some(false)).then(|| "no polynomial fits well".to_owned()),
                ..edge
            },
            (None, None) => {
                let text = relation.no_polynomial.as_ref().map_or_else(String::new, ToString::to_string);
                CausalEdge { kind: EdgeEvidence::Unknown, text, ..edge }
            }
        }
    }
}

fn law_note(relation: &QuantityRelation, law: &LinearLaw) -> Option<&'static str> {
    match law.relative_error() {
        _ if relation.has_few_sizes() => Some("too few sizes to see whether it holds"),
        Some(error) if error > MIN_DEPARTURE_FROM_LAW => Some("no curve fits well"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::multiplication_tests::study;
    use super::*;

    fn graph() -> CausalGraph {
        CausalGraph::from_models(&StudyModels::from_runs(&study()).unwrap())
    }

    #[test]
    fn nodes_are_in_the_order_of_causes() {
        let kinds: Vec<CausalNodeKind> = graph().nodes.iter().map(|node| node.kind).collect();
        assert!(kinds.is_sorted(), "{kinds:?}");
    }
}
