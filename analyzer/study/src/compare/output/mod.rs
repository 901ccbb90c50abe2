//! A comparison as text, Markdown, JSON, JUnit and page.

pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod text;
pub(super) mod words;
