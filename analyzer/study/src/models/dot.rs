//! The causal model for Graphviz.

use std::fmt::Write;

use super::causal::{CausalEdge, CausalGraph, CausalNodeKind, DependenceReason};
use lbprof_report::words::{clean, percent};

/// The graph in Graphviz' language: `dot -Tsvg`.
pub fn dot(graph: &CausalGraph) -> String {
    let mut text = format!("digraph {} {{\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n", quoted(&graph.program));
    text.push_str("  edge [fontname=\"sans-serif\", fontsize=10];\n");

    for node in &graph.nodes {
        let shape = match node.kind {
            CausalNodeKind::Variable => "diamond",
            CausalNodeKind::Work => "box",
            CausalNodeKind::Phase | CausalNodeKind::Total => "ellipse",
            CausalNodeKind::Result => "doubleoctagon",
        };
        writeln!(text, "  {} [label={}, shape={shape}];", quoted(&node.id.to_string()), quoted(&node.label))
            .unwrap_or(());
    }
    for edge in &graph.edges {
        let style = match edge.because {
            DependenceReason::Fitted { .. } => "solid",
            DependenceReason::Defined { .. } => "dashed",
            DependenceReason::Unknown { .. } => "dotted",
        };
        let (from, to) = (quoted(&edge.from.to_string()), quoted(&edge.to.to_string()));
        writeln!(text, "  {from} -> {to} [label={}, style={style}];", quoted(&label(edge))).unwrap_or(());
    }
    text + "}\n"
}

/// The equation, and its error in a second line.
fn label(edge: &CausalEdge) -> String {
    match &edge.because {
        DependenceReason::Fitted { equation, relative_error, .. } => {
            let error = relative_error.map_or_else(String::new, |error| format!("\nerror {}", percent(error)));
            format!("{equation}{error}")
        }
        DependenceReason::Defined { .. } => String::new(),
        DependenceReason::Unknown { reason } => reason.clone(),
    }
}

/// A string of the language. Names are the user's: they end no string, and are no escape of Graphviz'.
fn quoted(text: &str) -> String {
    let lines: Vec<String> =
        text.split('\n').map(|line| clean(line).replace('\\', "\\\\").replace('"', "\\\"")).collect();
    format!("\"{}\"", lines.join("\\n"))
}

#[cfg(test)]
mod tests {
    use super::super::matrix_multiplication::study;
    use super::super::relations::StudyModels;
    use super::*;

    #[test]
    fn the_graph_of_a_multiplication() {
        let text = dot(&CausalGraph::from_models(&StudyModels::from_runs(&study()).unwrap()));
        assert!(text.starts_with("digraph \"matmul\" {\n") && text.ends_with("}\n"));
        assert!(text.contains("  \"#op main/multiply\" [label=\"#op multiply\", shape=box];\n"), "{text}");
        let edge = "  \"n\" -> \"#op main/multiply\" [label=\"#op = 2.00·n³\\nerror 0.0 %\", style=solid];\n";
        assert!(text.contains(edge), "{text}");
        assert!(text.contains("  \"T_seq\" -> \"S\" [label=\"\", style=dashed];\n"), "{text}");
    }

    #[test]
    fn names_end_no_string() {
        assert_eq!(quoted("a\" ]; b\\"), "\"a\\\" ]; b\\\\\"");
        assert_eq!(quoted("a\x1b\r"), "\"a\\\\u{1b}\\\\r\"");
        let mut runs = study();
        for run in &mut runs {
            let n = run.params.remove("n").unwrap();
            run.params.insert("n\"]\n".to_owned(), n);
        }
        let text = dot(&CausalGraph::from_models(&StudyModels::from_runs(&runs).unwrap()));
        let quotes = |line: &str| line.replace("\\\\", "").replace("\\\"", "").matches('"').count();
        assert!(text.lines().all(|line| quotes(line).is_multiple_of(2)), "{text}");
    }
}
