//! No module imports one that imports it, and those of the analysis and the recorder keep to their order: none imports one below it.
//!
//! The sources are parsed: `use` declarations and paths that begin with `crate`, `self`, `super` or a module's name. A name that a module
//! hands on (`pub use`) counts as that of the module that defines it. Tests within files may import what they like.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use quote::ToTokens;
use syn::visit::Visit;

/// The modules of the analysis: each may import those above it.
const ANALYSIS: &str =
    "codec partial_result read model structure profile replay metrics select views analyse distributed";

/// The recorder's modules, likewise.
const INTERPOSE: &str = "machine mpi state harmless run log sampling recording handles forward sources lifecycle calls";

/// A module's path in its crate; the root's is empty.
type Module = Vec<String>;

#[derive(Default)]
struct Modules {
    files: BTreeMap<Module, syn::File>,
    /// By module and name: the path that a `use` of the module gives the name.
    handed_on: BTreeMap<(Module, String), Vec<String>>,
}

impl Modules {
    /// Those of the crate whose root is `root`, `lib.rs` or `main.rs`.
    fn of(root: &Path) -> Modules {
        let mut modules = Modules::default();
        modules.add(Vec::new(), root.to_owned());
        let uses: Vec<_> = modules
            .files
            .iter()
            .flat_map(|(module, file)| {
                imports(file).into_iter().filter_map(|import| Some(((module.clone(), import.name?), import.path)))
            })
            .collect();
        modules.handed_on.extend(uses);
        modules
    }

    fn add(&mut self, module: Module, path: PathBuf) {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let is_root = ["mod.rs", "lib.rs", "main.rs"].iter().any(|name| path.ends_with(name));
        let folder = if is_root { path.with_file_name("") } else { path.with_extension("") };
        for item in &file.items {
            let syn::Item::Mod(child) = item else { continue };
            if child.content.is_some() || is_test(&child.attrs) {
                continue;
            }
            let name = child.ident.to_string();
            let places = match named_path(&child.attrs) {
                Some(place) => vec![path.with_file_name(place)],
                None => vec![folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")],
            };
            let Some(place) = places.into_iter().find(|place| place.exists()) else { continue };
            self.add([module.clone(), vec![name]].concat(), place);
        }
        self.files.insert(module, file);
    }

    /// The module that defines what `path`, used in `module`, names; `None` where that lies in another crate.
    fn definer(&self, module: &Module, path: &[String]) -> Option<Module> {
        self.definer_within(module, path, 8)
    }

    fn definer_within(&self, module: &Module, path: &[String], depth: u32) -> Option<Module> {
        let (first, mut rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => Vec::new(),
            "self" => module.clone(),
            "super" => module.split_last()?.1.to_vec(),
            name => {
                let child = [module.clone(), vec![name.to_owned()]].concat();
                self.files.contains_key(&child).then_some(child)?
            }
        };
        while let Some((name, more)) = rest.split_first() {
            if name == "super" {
                at.pop()?;
            } else {
                let child = [at.clone(), vec![name.clone()]].concat();
                if !self.files.contains_key(&child) {
                    break;
                }
                at = child;
            }
            rest = more;
        }
        let handed_on = rest.first().and_then(|name| self.handed_on.get(&(at.clone(), name.clone())));
        let further = handed_on.filter(|_| depth > 0).and_then(|path| self.definer_within(&at, path, depth - 1));
        Some(further.unwrap_or(at))
    }

    fn edges(&self) -> Imports {
        let imported = |(module, file): (&Module, &syn::File)| {
            let mut all = BTreeSet::new();
            for import in imports(file) {
                let definer = self.definer(module, &import.path);
                // A folder's module may show what its files define: it does not use it.
                all.extend(definer.filter(|other| other != module && !(import.handed_on && other.starts_with(module))));
            }
            (module.clone(), all)
        };
        self.files.iter().map(imported).collect()
    }
}

/// The file that a module is in where `#[path]` names it.
fn named_path(attributes: &[syn::Attribute]) -> Option<String> {
    let named = attributes.iter().find(|attribute| attribute.path().is_ident("path"))?;
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &named.meta.require_name_value().ok()?.value
    else {
        return None;
    };
    Some(text.value())
}

struct Import {
    path: Vec<String>,
    /// What the file calls it, where a `use` at the file's top says so.
    name: Option<String>,
    /// Whether it is only made visible from here.
    handed_on: bool,
}

fn imports(file: &syn::File) -> Vec<Import> {
    let mut finder = Finder::default();
    finder.visit_file(file);
    finder.found
}

#[derive(Default)]
struct Finder {
    found: Vec<Import>,
}

impl Finder {
    fn tree(&mut self, before: &[String], tree: &syn::UseTree, handed_on: bool) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.tree(&with(&path.ident), &path.tree, handed_on),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(before, tree, handed_on)),
            syn::UseTree::Glob(_) => self.found.push(Import { path: before.to_vec(), name: None, handed_on }),
            syn::UseTree::Name(name) if name.ident == "self" => {
                self.found.push(Import { path: before.to_vec(), name: before.last().cloned(), handed_on });
            }
            syn::UseTree::Name(name) => {
                self.found.push(Import { path: with(&name.ident), name: Some(name.ident.to_string()), handed_on });
            }
            syn::UseTree::Rename(name) => {
                self.found.push(Import { path: with(&name.ident), name: Some(name.rename.to_string()), handed_on });
            }
        }
    }

    /// The paths within a macro's arguments.
    fn tokens(&mut self, tokens: &str) {
        let words: Vec<&str> = tokens.split_whitespace().collect();
        for (at, word) in words.iter().enumerate() {
            if !["crate", "super", "self"].contains(word) {
                continue;
            }
            let pairs = words[at + 1..].chunks_exact(2).take_while(|pair| pair[0] == "::");
            let path: Vec<String> = [*word].into_iter().chain(pairs.map(|pair| pair[1])).map(str::to_owned).collect();
            if path.len() > 1 {
                self.found.push(Import { path, name: None, handed_on: false });
            }
        }
    }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            _ => return syn::visit::visit_item(self, item),
        };
        if !is_test(attributes) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.tree(&[], &item.tree, !matches!(item.vis, syn::Visibility::Inherited));
    }

    /// Whoever may see an item is not used by it.
    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            let path = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.found.push(Import { path, name: None, handed_on: false });
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.tokens(&call.tokens.to_token_stream().to_string());
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let condition = attribute.meta.to_token_stream().to_string();
        attribute.path().is_ident("cfg") && condition.contains("test") && !condition.contains("not (test)")
    })
}

/// The nodes that import themselves through others: the circles, each sorted.
fn circles(edges: &Imports) -> Vec<Vec<String>> {
    let reached = |from: &Module| {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&Module> = edges[from].iter().collect();
        while let Some(next) = open.pop() {
            if reached.insert(next.clone()) {
                open.extend(edges.get(next).into_iter().flatten());
            }
        }
        reached
    };
    let reached: BTreeMap<&Module, BTreeSet<Module>> = edges.keys().map(|module| (module, reached(module))).collect();
    let mut circles = BTreeSet::new();
    for (module, all) in reached.iter().filter(|(module, all)| all.contains(**module)) {
        let circle = all.iter().filter(|other| reached.get(other).is_some_and(|back| back.contains(*module)));
        circles.insert(circle.map(|module| module.join("::")).collect::<Vec<_>>());
    }
    circles.into_iter().collect()
}

/// The circles among the modules of each folder; all that lies in a module's own folder is one with it.
fn circles_of_folders(edges: &Imports) -> Vec<Vec<String>> {
    let parents: BTreeSet<&[String]> = edges.keys().filter_map(|module| Some(module.split_last()?.1)).collect();
    let mut all = Vec::new();
    for parent in parents {
        let child = |module: &Module| {
            (module.len() > parent.len() && module.starts_with(parent)).then(|| module[..=parent.len()].to_vec())
        };
        let mut inner: Imports = BTreeMap::new();
        for (module, imported) in edges {
            let Some(from) = child(module) else { continue };
            let to = imported.iter().filter_map(child).filter(|to| *to != from);
            inner.entry(from.clone()).or_default().extend(to);
        }
        all.extend(circles(&inner));
    }
    all
}

fn source(path: &str) -> PathBuf {
    lbprof_tests::place::workspace().join(path)
}

type Imports = BTreeMap<Module, BTreeSet<Module>>;

/// Returns the imports of one of the crates in [`ROOTS`], which are parsed once for all tests.
fn edges_of(root: &str) -> &'static Imports {
    static IMPORTS: LazyLock<BTreeMap<&str, Imports>> =
        LazyLock::new(|| ROOTS.iter().map(|root| (*root, Modules::of(&source(root)).edges())).collect());
    &IMPORTS[root]
}

/// The crates without circles.
const ROOTS: [&str; 9] = [
    "collector/src/lib.rs",
    "analyzer/analysis/src/lib.rs",
    "analyzer/report/src/lib.rs",
    "analyzer/export/src/lib.rs",
    "analyzer/study/src/lib.rs",
    "analyzer/lb-report/src/lib.rs",
    "interpose/src/lib.rs",
    "interpose/lb-run/main.rs",
    "tests/simulator/src/lib.rs",
];

#[test]
fn no_module_imports_one_that_imports_it() {
    for root in ROOTS {
        let circles = circles_of_folders(edges_of(root));
        assert!(circles.is_empty(), "{root}: {circles:#?}");
    }
}

/// The pairs of a folder's own module and a file or folder in it that use each other.
fn folders_that_use_their_users(edges: &Imports) -> Vec<String> {
    let mut pairs = BTreeSet::new();
    for (module, imported) in edges {
        for depth in 0..module.len() {
            let (folder, child) = (&module[..depth], &module[..=depth]);
            let back = edges.get(folder).and_then(|used| used.iter().find(|used| used.starts_with(child)));
            if let Some(back) = back.filter(|_| imported.iter().any(|used| used == folder)) {
                let (folder, module) = (folder.join("::"), module.join("::"));
                pairs.insert(format!("{module} uses {folder}, which uses {}", back.join("::")));
            }
        }
    }
    pairs.into_iter().collect()
}

#[test]
fn no_folders_module_uses_a_file_that_uses_it() {
    let mut all = Vec::new();
    for root in ROOTS {
        let pairs = folders_that_use_their_users(edges_of(root));
        all.extend(pairs.into_iter().map(|pair| format!("{root}: {pair}")));
    }
    assert!(all.is_empty(), "{}: {all:#?}", all.len());
}

/// Which modules of the crate at `root` import one that comes after them in `order`, or are not in it.
fn out_of_order(root: &str, order: &str) -> Vec<String> {
    let place = |module: &Module| order.split(' ').position(|name| module.first().is_some_and(|first| first == name));
    let edges = edges_of(root);
    let mut wrong = Vec::new();
    for (module, imported) in edges.iter().filter(|(module, _)| !module.is_empty()) {
        if place(module).is_none() {
            wrong.push(format!("{} has no place", module.join("::")));
        }
        for other in imported.iter().filter(|other| place(other) > place(module)) {
            wrong.push(format!("{} imports {}", module.join("::"), other.join("::")));
        }
    }
    wrong
}

#[test]
fn the_modules_of_the_analysis_and_the_recorder_import_those_above_them() {
    for (root, order) in [("analyzer/analysis/src/lib.rs", ANALYSIS), ("interpose/src/lib.rs", INTERPOSE)] {
        let wrong = out_of_order(root, order);
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
