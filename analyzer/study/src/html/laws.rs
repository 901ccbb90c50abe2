//! Relations with the points that they were taken from.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::models::causal::{CausalEdge, EdgeEvidence};
use crate::models::relations::{QuantityRelation, StudyModels};
use crate::models::validation::DegreeError;
use lbprof_report::rows::words::escape_name;

const STEPS: usize = 80;

/// A dependence between quantities, in a region or in the whole run.
#[derive(Debug, Serialize, crate::JsonSchema)]
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
    errors: Vec<DegreeError>,
}

/// A run's place in a relation.
#[derive(Debug, Serialize, crate::JsonSchema)]
struct PointRow {
    /// The run's number in the study.
    run: Option<u32>,
    /// Value of the quantity that the relation depends on.
    x: f64,
    /// Value of the dependent quantity.
    y: f64,
    /// `y` less the curve.
    residual: Option<f64>,
}

/// Returns the relations of all phases, then of the whole run. `numbers` has the number of each run in the study.
pub(super) fn relation_rows(models: &StudyModels, numbers: &[u32]) -> Vec<RelationRow> {
    let phases = models.phases.iter().flat_map(|phase| phase.relations.iter().map(|one| (phase.region.as_str(), one)));
    let whole = models.whole.iter().map(|one| ("", one));
    phases.chain(whole).map(|(region, one)| relation_row(region, one, numbers)).collect()
}

fn relation_row(region: &str, of: &QuantityRelation, numbers: &[u32]) -> RelationRow {
    let fit = of.polynomial.as_ref().map(|chosen| &chosen.fit);
    let edge = CausalEdge::from_relation(of);
    let (equation, problem) =
        if edge.kind == EdgeEvidence::Fitted { (Some(edge.text), None) } else { (None, Some(edge.text)) };
    let points = of.points.iter().zip(&of.runs).map(|(&(x, y), &run)| PointRow {
        run: numbers.get(run).copied(),
        x,
        y,
        residual: expected_value(of, x).map(|expected| y - expected),
    });
    let mut points: Vec<PointRow> = points.collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    RelationRow {
        phase: region.to_owned(),
        from: escape_name(&of.from.label()),
        to: escape_name(&of.to.label()),
        is_time: of.to.is_time(),
        equation,
        problem,
        is_law: of.law().is_some(),
        independent: of.is_independent(),
        relative_error: edge.relative_error,
        r_squared: edge.r_squared,
        held: of.held.clone(),
        points,
        curve: curve_points(of),
        degree: fit.map(|fit| fit.degree),
        errors: of.polynomial.as_ref().map_or_else(Vec::new, |chosen| chosen.errors.clone()),
    }
}

/// The value at `x` by the law of a relation, else by its polynomial; `None` if it has neither.
fn expected_value(relation: &QuantityRelation, x: f64) -> Option<f64> {
    match relation.law() {
        Some(law) => Some(law.value_at(x)),
        None => relation.polynomial.as_ref().map(|chosen| chosen.fit.value_at(x)),
    }
}

/// A curve over the points of a relation, from the smallest x to the largest; empty where there is none.
fn curve_points(relation: &QuantityRelation) -> Vec<(f64, f64)> {
    let low = relation.points.iter().map(|point| point.0).fold(f64::INFINITY, f64::min);
    let high = relation.points.iter().map(|point| point.0).fold(f64::NEG_INFINITY, f64::max);
    let points = (0..=STEPS).filter_map(|step| {
        let x = low + (high - low) * step as f64 / STEPS as f64;
        Some((x, expected_value(relation, x)?))
    });
    points.filter(|(x, y)| x.is_finite() && y.is_finite()).collect()
}
