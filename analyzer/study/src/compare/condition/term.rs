//! The two sides of a condition, and how they are compared.

use super::metric::ConditionMetric;

/// A comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparisonOperator {
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
    Equal,
    NotEqual,
}

/// A number made of numbers, the metric and its base value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ConditionTerm {
    Number(f64),
    Metric(ConditionMetric),
    Base,
    Negative(Box<ConditionTerm>),
    Pair(Box<ConditionTerm>, char, Box<ConditionTerm>),
}

impl ConditionTerm {
    pub(super) fn metrics(&self, found: &mut Vec<ConditionMetric>) {
        match self {
            ConditionTerm::Metric(metric) => found.push(metric.clone()),
            ConditionTerm::Negative(inner) => inner.metrics(found),
            ConditionTerm::Pair(left, _, right) => {
                left.metrics(found);
                right.metrics(found);
            }
            ConditionTerm::Number(_) | ConditionTerm::Base => {}
        }
    }

    pub(super) fn has_base(&self) -> bool {
        match self {
            ConditionTerm::Base => true,
            ConditionTerm::Negative(inner) => inner.has_base(),
            ConditionTerm::Pair(left, _, right) => left.has_base() || right.has_base(),
            ConditionTerm::Number(_) | ConditionTerm::Metric(_) => false,
        }
    }

    /// Its value; `None` where something in it is not known, or is no number, as 1/0.
    pub(super) fn value(&self, metric: Option<f64>, base: Option<f64>) -> Option<f64> {
        let value = match self {
            ConditionTerm::Number(number) => *number,
            ConditionTerm::Metric(_) => metric?,
            ConditionTerm::Base => base?,
            ConditionTerm::Negative(inner) => -inner.value(metric, base)?,
            ConditionTerm::Pair(left, operator, right) => {
                let (left, right) = (left.value(metric, base)?, right.value(metric, base)?);
                match operator {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    _ => left / right,
                }
            }
        };
        value.is_finite().then_some(value)
    }
}

impl ComparisonOperator {
    pub(super) fn holds(self, left: f64, right: f64) -> bool {
        match self {
            ComparisonOperator::Less => left < right,
            ComparisonOperator::LessOrEqual => left <= right,
            ComparisonOperator::More => left > right,
            ComparisonOperator::MoreOrEqual => left >= right,
            ComparisonOperator::Equal => left == right,
            ComparisonOperator::NotEqual => left != right,
        }
    }
}
