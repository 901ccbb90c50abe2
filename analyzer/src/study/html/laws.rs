//! Relations with the points that they were taken from, and the graph of them.

use serde_json::{Value, json};

use crate::report::words::clean;
use crate::study::models::causal::{Because, Edge, Graph, NodeKind};
use crate::study::models::equation;
use crate::study::models::relations::{Models, Relation};

/// Points of a curve.
const STEPS: usize = 80;

/// The relations of all phases, then those of the whole run. `numbers`: those of the runs in the study.
pub(super) fn relations(models: &Models, numbers: &[u32]) -> Value {
    let phases = models.phases.iter().flat_map(|phase| phase.relations.iter().map(|one| (phase.region.as_str(), one)));
    let whole = models.whole.iter().map(|one| ("", one));
    phases.chain(whole).map(|(region, one)| relation(region, one, numbers)).collect()
}

fn relation(region: &str, of: &Relation, numbers: &[u32]) -> Value {
    let law = of.law().map(|model| &model.law);
    let fit = of.polynomial.as_ref().map(|chosen| &chosen.fit);
    let at = |x: f64| law.map(|law| law.at(x)).or_else(|| fit.map(|fit| fit.at(x)));
    // Beside a law, the lack of a polynomial is no problem.
    let problem = of.no_polynomial.as_ref().or(of.no_law.as_ref()).filter(|_| law.is_none()).map(ToString::to_string);
    let number = |run: usize| numbers.get(run).copied();
    let points = of.points.iter().zip(&of.runs).map(|(&(x, y), &run)| {
        json!({
            "run": number(run),
            "x": x,
            "y": y,
            "leaves": of.leaving.iter().any(|leaving| leaving.run == run),
            "residual": at(x).map(|expected| y - expected),
        })
    });
    let mut points: Vec<Value> = points.collect();
    points.sort_by(|a, b| a["x"].as_f64().unwrap_or(0.0).total_cmp(&b["x"].as_f64().unwrap_or(0.0)));
    let equation = match (law, fit) {
        (Some(law), _) => Some(equation::of_law(law, &of.from, &of.to)),
        (None, fit) => fit.map(|fit| equation::of_fit(fit, &of.from, &of.to)),
    };
    json!({
        "phase": region,
        "from": clean(&of.from.label()),
        "to": clean(&of.to.label()),
        "is_time": of.to.is_time(),
        "equation": equation,
        "problem": problem,
        "is_law": law.is_some(),
        "independent": of.is_independent(),
        "relative_error": match law {
            Some(law) => law.relative_error(),
            None => of.polynomial.as_ref().and_then(|chosen| chosen.relative_error()),
        },
        "r_squared": law.map_or_else(|| fit.and_then(|fit| fit.r_squared), |law| law.r_squared),
        "held": of.held,
        "points": points,
        "curve": curve(&of.points, at),
        "degree": fit.map(|fit| fit.degree),
        "errors": of.polynomial.iter().flat_map(|chosen| &chosen.errors).map(|one| {
            json!({ "degree": one.degree, "error": one.error })
        }).collect::<Value>(),
        "leaving": of.leaving.iter().map(|one| json!({
            "run": number(one.run),
            "x": one.x,
            "excess_s": one.excess_s,
            "max_resident_bytes": one.max_resident_bytes,
            "max_swapped_bytes": one.max_swapped_bytes,
        })).collect::<Value>(),
    })
}

/// A curve over the points, from the smallest x to the largest; empty where there is none.
fn curve(points: &[(f64, f64)], at: impl Fn(f64) -> Option<f64>) -> Vec<(f64, f64)> {
    let low = points.iter().map(|point| point.0).fold(f64::INFINITY, f64::min);
    let high = points.iter().map(|point| point.0).fold(f64::NEG_INFINITY, f64::max);
    let place = |step: usize| low + (high - low) * step as f64 / STEPS as f64;
    (0..=STEPS).map(place).filter_map(|x| Some((x, at(x)?))).filter(|(x, y)| x.is_finite() && y.is_finite()).collect()
}

/// The causal model.
pub(super) fn graph(graph: &Graph) -> Value {
    let kind = |kind: NodeKind| match kind {
        NodeKind::Variable => "variable",
        NodeKind::Work => "work",
        NodeKind::Phase => "phase",
        NodeKind::Total => "total",
        NodeKind::Result => "result",
    };
    let nodes =
        graph.nodes.iter().map(|node| json!({ "id": node.id, "label": clean(&node.label), "kind": kind(node.kind) }));
    json!({
        "nodes": nodes.collect::<Value>(),
        "edges": graph.edges.iter().map(edge).collect::<Value>(),
        "independent": graph.independent,
    })
}

fn edge(edge: &Edge) -> Value {
    let (kind, text, relative_error, n_runs, note) = match &edge.because {
        Because::Fitted { equation, relative_error, n_runs, note, .. } => {
            ("fitted", equation, *relative_error, Some(n_runs), note.as_ref())
        }
        Because::Defined { equation } => ("defined", equation, None, None, None),
        Because::Unknown { reason } => ("unknown", reason, None, None, None),
    };
    json!({
        "from": edge.from,
        "to": edge.to,
        "kind": kind,
        "text": clean(text),
        "relative_error": relative_error,
        "n_runs": n_runs,
        "note": note,
    })
}
