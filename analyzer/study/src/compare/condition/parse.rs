//! Reading a condition.

use std::ops::{Add, Div, Mul, Sub};
use std::str::FromStr;

use super::{ComparisonOperator, ConditionError, ConditionMetric, FailCondition, NumberOperator, list_metric_names};

const COMPARISONS: [(&str, ComparisonOperator); 6] =
    // The longer ones first.
    [("<=", f64::le), (">=", f64::ge), ("==", f64::eq), ("!=", f64::ne), ("<", f64::lt), (">", f64::gt)];

const OPERATORS: [(&str, NumberOperator); 4] = [("+", f64::add), ("-", f64::sub), ("*", f64::mul), ("/", f64::div)];

impl FromStr for FailCondition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<FailCondition, ConditionError> {
        parse_condition(text).map_err(|problem| ConditionError::Syntax(text.to_owned(), problem))
    }
}

fn parse_condition(text: &str) -> Result<FailCondition, String> {
    let mut parser = ConditionParser { rest: text.trim() };
    let metric = parser.metric()?;
    let holds = parser.one_of(&COMPARISONS).ok_or_else(|| match parser.rest {
        "" => "it has no comparison, as < or >".to_owned(),
        rest => format!("a comparison is expected (< <= > >= == !=), not {rest}"),
    })?;
    let (of_base, number) = match parser.has("base") {
        false => (None, parser.number()?),
        true => match parser.one_of(&OPERATORS) {
            Some(operator) => (Some(operator), parser.number()?),
            None => (Some(f64::mul as NumberOperator), 1.0),
        },
    };
    match parser.rest {
        "" => Ok(FailCondition { text: text.to_owned(), metric, holds, of_base, number }),
        rest => Err(format!("it goes on after its end: {rest}")),
    }
}

struct ConditionParser<'a> {
    /// The remaining text, without spaces before it.
    rest: &'a str,
}

impl<'a> ConditionParser<'a> {
    fn has(&mut self, token: &str) -> bool {
        let found = self.rest.strip_prefix(token);
        self.rest = found.map_or(self.rest, str::trim_start);
        found.is_some()
    }

    fn one_of<T: Copy>(&mut self, all: &[(&str, T)]) -> Option<T> {
        all.iter().find(|(token, _)| self.has(token)).map(|&(_, meaning)| meaning)
    }

    fn take(&mut self, is: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|char| !is(char)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    fn number(&mut self) -> Result<f64, String> {
        let word = self.take(|char| !char.is_whitespace() && char != '%');
        if word.is_empty() {
            return Err("it ends too early".to_owned());
        }
        let number: f64 = word.parse().map_err(|_| format!("a number, or base, is expected, not {word}"))?;
        Ok(if self.has("%") { number / 100.0 } else { number })
    }

    fn metric(&mut self) -> Result<ConditionMetric, String> {
        let region = if self.has("regions") { Some(self.region()?) } else { None };
        match self.take(is_of_name) {
            "" if self.rest.is_empty() => Err("it ends too early".to_owned()),
            "" => Err(format!("it begins with no metric: {}", list_metric_names())),
            name => {
                ConditionMetric::new(region, name).map_err(|like| format!("there is no metric {name}; there is {like}"))
            }
        }
    }

    fn region(&mut self) -> Result<String, String> {
        const SYNTAX: &str = "a region is written regions[\"main/force\"].time_s";
        let open = self.has("[");
        let quote = ['"', '\''].into_iter().find(|&quote| self.rest.starts_with(quote));
        let quote = quote.filter(|_| open).ok_or(SYNTAX)?;
        let inner = self.rest.strip_prefix(quote).unwrap_or_default();
        let (path, rest) = inner.split_once(quote).ok_or("a quote is missing")?;
        self.rest = rest.trim_start();
        if self.has("]") && self.has(".") { Ok(path.to_owned()) } else { Err(SYNTAX.to_owned()) }
    }
}

fn is_of_name(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}
