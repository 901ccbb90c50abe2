//! The report as one HTML file that needs nothing beside it: the page's style and script, the report's JSON and the page's own data.
//!
//! docs/page-data.md says what the page reads. The page is made in `analyzer/page`, and this crate holds what it is built into. Names
//! from logs are text everywhere: [`HtmlPage::write`] escapes them, and in the data elements no character is left that markup begins
//! or ends with.

mod packed;
mod timeline;
mod views;

#[cfg(feature = "schema")]
pub(crate) use views::ViewsData;

use std::fmt;
use std::io::{self, Write};

use serde::Serialize;

use super::Report;
use super::bounds::ListBounds;
use super::json::{self, GENERATOR};
use super::text;
use super::words::clean;
use crate::views::PageViews;
use lbprof_analysis::model::Model;
use lbprof_analysis::structure::symbols::CodePlace;

/// A page: what `analyzer/page` is built into, and the data that it reads.
pub struct HtmlPage {
    /// Title of the window.
    pub title: String,
    /// CSS.
    pub style: &'static str,
    /// JavaScript.
    pub script: &'static str,
    /// Text for readers without scripts.
    pub text: String,
    /// Ids of elements and the JSON in them, in which nothing is markup ([`inert`]).
    pub data: Vec<(&'static str, String)>,
    /// Name and version of what makes it.
    pub generator: &'static str,
}

impl HtmlPage {
    /// Creates a page of the panels in `style` and `script`.
    pub fn new(title: String, style: &'static str, script: &'static str) -> HtmlPage {
        HtmlPage { title, style, script, text: String::new(), data: Vec::new(), generator: GENERATOR }
    }

    /// Writes it.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(
            out,
            include_str!("page.html"),
            generator = escape(self.generator),
            title = escape(&self.title),
            style = self.style,
            text = escape(&self.text),
            data = DataElements(&self.data),
            script = self.script,
        )
    }
}

/// The elements of [`HtmlPage::data`].
struct DataElements<'a>(&'a [(&'static str, String)]);

impl fmt::Display for DataElements<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, json) in self.0 {
            writeln!(f, r#"<script type="application/json" id="{id}">{json}</script>"#)?;
        }
        Ok(())
    }
}

/// Returns a text in which nothing is markup, neither in an element nor in a quoted attribute.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '<' => escaped.push_str("&#60;"),
            '>' => escaped.push_str("&#62;"),
            '&' => escaped.push_str("&#38;"),
            '"' => escaped.push_str("&#34;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(char),
        }
    }
    escaped
}

/// The contents of a page.
#[derive(Clone, Copy, Debug)]
pub struct PageContent<'a> {
    /// The report.
    pub report: &'a Report,
    /// Views besides the report.
    pub views: &'a PageViews,
    /// The model that both are of.
    pub model: &'a Model,
    /// The places of its call sites.
    pub places: &'a [CodePlace],
}

/// Writes the report and what the page shows beside it as one HTML document; `options` are those of the text in it.
pub fn write(content: &PageContent, options: &text::TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let &PageContent { report, views, model, places } = content;
    let title = format!("lbprof: {}", clean(&report.facts.command.join(" ")));
    let (style, script) = (include_str!("../../../page/dist/page.css"), include_str!("../../../page/dist/page.js"));
    let page = HtmlPage {
        text: anstream::adapter::strip_str(&text::render(report, options)).to_string(),
        data: vec![
            ("report", inert(&json::document(report, &ListBounds::SMALL))?),
            ("views", inert(&views::document(views, model, places)?)?),
        ],
        ..HtmlPage::new(title, style, script)
    };
    page.write(out)
}

/// Formats a value as JSON that is safe in an HTML element. `<`, `>`, `&`, control characters and U+2028, which occur in strings only, are escaped.
pub fn inert(value: &impl Serialize) -> io::Result<String> {
    let mut bytes = Vec::new();
    json::write_compact(value, &mut bytes)?;
    let text = String::from_utf8(bytes).map_err(io::Error::other)?;
    match text.contains(['<', '>', '&']) {
        true => Ok(text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn title_and_text_are_no_markup() {
        let hostile = "</title>\"'<script>&amp;";
        let page = HtmlPage { text: hostile.to_owned(), ..HtmlPage::new(hostile.to_owned(), "", "") };
        let mut bytes = Vec::new();
        page.write(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let escaped = "&#60;/title&#62;&#34;&#39;&#60;script&#62;&#38;amp;";
        assert!(
            text.contains(&format!("<title>{escaped}</title>")) && text.contains(&format!("<pre>\n{escaped}</pre>"))
        );
        assert_eq!(text.matches(hostile).count(), 0);
    }

    #[test]
    fn names_in_data_are_no_markup_and_stay_what_they_are() {
        let hostile = "</script><!--<script>alert('1')&amp;\"\u{2028}\u{2029}\u{1b}[2J\u{7f}\\u003c";
        let text = inert(&json!({ hostile: [hostile] })).unwrap();
        assert!(!text.contains(['<', '>', '&', '\u{2028}', '\u{2029}', '\u{1b}', '\u{7f}']), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), json!({ hostile: [hostile] }));
    }

    #[test]
    fn style_and_script_of_the_page_do_not_end_their_elements() {
        let script = include_str!("../../../page/dist/page.js").to_ascii_lowercase();
        assert!(!script.contains("</script") && !script.contains("<!--"));
        assert!(!include_str!("../../../page/dist/page.css").to_ascii_lowercase().contains("</style"));
        let script = include_str!("../../../page/dist/study.js").to_ascii_lowercase();
        assert!(!script.contains("</script") && !script.contains("<!--"));
        assert!(!include_str!("../../../page/dist/study.css").to_ascii_lowercase().contains("</style"));
    }
}
