//! A script's text: statements, expressions, repeated parts.

pub(super) mod expand;
pub(super) mod expression;
pub(super) mod parse;
pub(super) mod statement;
