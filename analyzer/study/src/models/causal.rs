//! The causal model: what depends on what, with the equations (Lemeire et al. 2004, Figs. 3 and 5). Plain data, which a terminal, Graphviz
//! and a page draw.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::equation;
use super::phases::TimeClass;
use super::quantity::CausalQuantity;
use super::regime::LinearRegime;
use super::relations::{QuantityRelation, StudyModels};
use lbprof_report::words::plural;
use lbprof_thresholds::study::MIN_DEPARTURE_FROM_LAW;

/// The kind of a node, in the order from causes to effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CausalNode {
    /// Symbol and path: unique.
    pub id: CausalQuantity,
    /// Symbol and short path, for readers.
    pub label: String,
    /// Kind of the node.
    pub kind: CausalNodeKind,
}

/// The evidence for a dependence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum DependenceReason {
    /// The dependence was fitted to runs.
    Fitted {
        /// The equation.
        equation: String,
        /// LOOCV error by the size of the values; `None` where all are 0.
        relative_error: Option<f64>,
        /// R²; `None` where all values are the same.
        r_squared: Option<f64>,
        /// Number of runs.
        n_runs: usize,
        /// Note on the fit.
        note: Option<String>,
    },
    /// The dependence holds by definition.
    Defined {
        /// The equation.
        equation: String,
    },
    /// The dependence is possible, but nothing can be fitted.
    Unknown {
        /// Why.
        reason: String,
    },
}

/// A dependence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CausalEdge {
    /// The cause.
    pub from: CausalQuantity,
    /// The effect.
    pub to: CausalQuantity,
    /// Evidence for the dependence.
    pub because: DependenceReason,
}

/// The graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
    pub independent: Vec<(CausalQuantity, CausalQuantity)>,
    /// The largest |E·Σ Ovh − 1| of a run: that E = 1/Σ Ovh holds. `None` where no run has an efficiency.
    pub difference: Option<f64>,
    /// Remarks on the runs, a sentence each.
    pub remarks: Vec<String>,
}

/// The definition of T_par.
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

    /// Adds the quantities that follow by definition from T_par.
    fn results(&mut self, models: &StudyModels) {
        let n_ranks = CausalQuantity::Variable(super::variables::RANKS.to_owned());
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
        let edge = CausalEdge { from, to, because: DependenceReason::Defined { equation: equation.to_owned() } };
        if !self.edges.contains(&edge) {
            self.edges.push(edge);
        }
    }

    fn fitted(&mut self, relation: &QuantityRelation) {
        let (from, to) = (relation.from.clone(), relation.to.clone());
        if relation.is_independent() {
            self.independent.push((from, to));
        } else {
            self.edges.push(CausalEdge { from, to, because: because(relation) });
        }
    }

    /// Nodes from the edges, causes before effects, and edges in their order.
    fn sort(&mut self) {
        let of_edges = self.edges.iter().flat_map(|edge| [&edge.from, &edge.to]);
        let of_pairs = self.independent.iter().flat_map(|(from, to)| [from, to]);
        let all: BTreeSet<&CausalQuantity> = of_edges.chain(of_pairs).collect();
        self.nodes =
            all.into_iter().map(|id| CausalNode { id: id.clone(), label: id.label(), kind: kind(id) }).collect();
        self.nodes.sort_by_cached_key(|node| (node.kind, node.id.symbol() != super::variables::RANKS, node.id.clone()));
        let places: BTreeMap<&CausalQuantity, usize> =
            self.nodes.iter().enumerate().map(|(place, node)| (&node.id, place)).collect();
        self.edges.sort_by_key(|edge| (places.get(&edge.to), places.get(&edge.from)));
    }
}

fn kind(id: &CausalQuantity) -> CausalNodeKind {
    match id {
        CausalQuantity::Variable(_) => CausalNodeKind::Variable,
        CausalQuantity::Operations(_) | CausalQuantity::Quanta(_) => CausalNodeKind::Work,
        CausalQuantity::Time(..) => CausalNodeKind::Phase,
        CausalQuantity::Total(_) | CausalQuantity::Other | CausalQuantity::Rest => CausalNodeKind::Total,
        CausalQuantity::ParallelTime | CausalQuantity::SequentialTime | CausalQuantity::Speedup => {
            CausalNodeKind::Result
        }
    }
}

/// The evidence for a relation: the linear law where that holds, else the polynomial.
fn because(relation: &QuantityRelation) -> DependenceReason {
    let (from, to) = (&relation.from, &relation.to);
    if let Some(model) = relation.law() {
        let note = match &model.regime {
            LinearRegime::Until { x, beyond } => {
                let (runs, lie) = (plural(beyond.len() as u64, "run"), if beyond.len() == 1 { "lies" } else { "lie" });
                Some(format!("up to {} = {}; {runs} {lie} above it", from.symbol(), equation::digits(*x)))
            }
            LinearRegime::Unknown { found } => {
                Some(format!("{}: too few to see where it ends", plural(*found as u64, "size")))
            }
            LinearRegime::Whole if model.law.relative_error().is_some_and(|error| error > MIN_DEPARTURE_FROM_LAW) => {
                Some("no curve fits well".to_owned())
            }
            _ => None,
        };
        return DependenceReason::Fitted {
            equation: equation::of_law(&model.law, from, to),
            relative_error: model.law.relative_error(),
            r_squared: model.law.r_squared,
            n_runs: model.law.n_points,
            note,
        };
    }
    match &relation.polynomial {
        Some(chosen) => DependenceReason::Fitted {
            equation: equation::of_fit(&chosen.fit, from, to),
            relative_error: chosen.relative_error(),
            r_squared: chosen.fit.r_squared,
            n_runs: chosen.fit.n_points,
            note: (relation.is_polynomial() == Some(false)).then(|| "no polynomial fits well".to_owned()),
        },
        None => {
            let reason = relation.no_polynomial.as_ref().map_or_else(String::new, ToString::to_string);
            DependenceReason::Unknown { reason }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::matrix_multiplication::study;
    use super::*;

    fn graph() -> CausalGraph {
        CausalGraph::from_models(&StudyModels::from_runs(&study()).unwrap())
    }

    #[test]
    fn the_causal_model_of_a_multiplication() {
        let graph = graph();
        let edges: Vec<String> = graph.edges.iter().map(|edge| format!("{} → {}", edge.from, edge.to)).collect();
        assert_eq!(
            edges,
            [
                "n → #op main/multiply",
                "P → #q main/broadcast",
                "n → #q main/broadcast",
                "#q main/broadcast → T_comm main/broadcast",
                "#q main/broadcast → T_idle main/broadcast",
                "#op main/multiply → T_comp main/multiply",
                "T_comp main/multiply → T_comp",
                "T_comm main/broadcast → T_comm",
                "T_idle main/broadcast → T_idle",
                "P → T_par",
                "T_comp → T_par",
                "T_comm → T_par",
                "T_idle → T_par",
                "T_par → S",
                "T_seq → S",
            ]
        );
        let pairs: Vec<String> = graph.independent.iter().map(|(from, to)| format!("{from} {to}")).collect();
        assert_eq!(pairs, ["P #op main/multiply"]);
        assert!(graph.difference.unwrap() < 1e-14);
    }

    #[test]
    fn edges_carry_equations() {
        let graph = graph();
        let of = |to: &str| graph.edges.iter().find(|edge| edge.to.to_string() == to).unwrap();
        let DependenceReason::Fitted { equation, relative_error, n_runs, note, .. } =
            &of("T_comp main/multiply").because
        else {
            panic!("fitted");
        };
        assert_eq!((equation.as_str(), *n_runs, note), ("T_comp = 50.0 ns/operation·#op", 13, &None));
        assert!(relative_error.unwrap() < 1e-9);
        let DependenceReason::Fitted { equation, n_runs, .. } = &of("#op main/multiply").because else {
            panic!("fitted")
        };
        assert_eq!((equation.as_str(), *n_runs), ("#op = 2.00·n³", 7));
        assert!(matches!(of("S").because, DependenceReason::Defined { .. }));
    }

    #[test]
    fn nodes_are_in_the_order_of_causes() {
        let kinds: Vec<CausalNodeKind> = graph().nodes.iter().map(|node| node.kind).collect();
        assert!(kinds.is_sorted(), "{kinds:?}");
    }
}
