//! The two sides of a condition.

/// A number made of numbers, the metric and its base value.
#[derive(Clone, Debug)]
pub(super) enum ConditionTerm {
    Number(f64),
    Metric,
    Base,
    Negative(Box<ConditionTerm>),
    Pair(Box<ConditionTerm>, char, Box<ConditionTerm>),
}

impl ConditionTerm {
    /// Computes its value, or `None` if a part of it is not known or not a number, such as 1/0.
    pub(super) fn value(&self, metric: Option<f64>, base: Option<f64>) -> Option<f64> {
        let value = match self {
            ConditionTerm::Number(number) => *number,
            ConditionTerm::Metric => metric?,
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
