//! Test programs: what their heads say, and their compilation.
//!
//! A head is the first block of lines that begin with `//`, `!` or `#`. Lines of the form `key: value` in it are for the
//! tests, the others for the reader:
//!
//! - `ranks:` the numbers of ranks to run it on;
//! - `mpi:` the MPIs that can run it, by name; none given: all that are tested. A name with `-` in front leaves that one out;
//! - `expect:` a fact of the report, see [`crate::facts`];
//! - `link:` further arguments of the compiler;
//! - `interpreter: alone`: a script that calls MPI without mpi4py, and so runs under any MPI;
//! - `compiler:` the compiler, for a program that is not linked with an MPI;
//! - anything else: see the tests that use it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context, bail, ensure};

use crate::mpi::Mpi;
use crate::place;
use crate::stored::{self, RunSource};

#[derive(Clone, Debug)]
pub struct Program {
    pub source: PathBuf,
    pub name: String,
    /// Lines `key: value` of its head, in order.
    pub head: Vec<(String, String)>,
}

/// The programs in a folder of `tests/programs`, sorted by name. Only files with a `ranks:` line in their heads count.
pub fn programs_in(folder: &str) -> anyhow::Result<Vec<Program>> {
    let folder = place::programs().join(folder);
    let mut programs = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.is_file() {
            let program = Program::read(&path)?;
            if program.value("ranks").is_some() {
                programs.push(program);
            }
        }
    }
    programs.sort_by(|a, b| a.source.cmp(&b.source));
    Ok(programs)
}

impl Program {
    /// The program at `source`, a path below `tests/programs` or an absolute one.
    pub fn read(source: &Path) -> anyhow::Result<Program> {
        let source = place::programs().join(source);
        let text = fs::read_to_string(&source).with_context(|| format!("reading {}", source.display()))?;
        let mut head = Vec::new();
        for line in text.lines() {
            let Some(comment) = ["//", "!", "#"].iter().find_map(|mark| line.strip_prefix(mark)) else { break };
            if let Some((key, value)) = comment.split_once(": ")
                && key.trim().chars().all(|c| c.is_ascii_lowercase() || c == '-')
            {
                head.push((key.trim().to_owned(), value.trim().to_owned()));
            }
        }
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Program { source, name, head })
    }

    pub fn value(&self, key: &str) -> Option<&str> {
        self.head.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    pub fn values<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.head.iter().filter(move |(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    pub fn ranks(&self) -> Vec<usize> {
        let ranks = self.value("ranks").unwrap_or("4");
        ranks.split_whitespace().filter_map(|n| n.trim_end_matches(',').parse().ok()).collect()
    }

    pub fn runs_under(&self, mpi: &Mpi) -> bool {
        if self.is_fortran() && mpi.fortran.is_none() {
            return false;
        }
        let names: Vec<&str> =
            self.value("mpi").unwrap_or("").split([' ', ',']).filter(|name| !name.is_empty()).collect();
        let left_out = names.iter().any(|name| name.strip_prefix('-') == Some(&mpi.name));
        let named = names.iter().any(|name| *name == mpi.name);
        let only = names.iter().any(|name| !name.starts_with('-'));
        !left_out && (named || !only)
    }

    fn extension(&self) -> &str {
        self.source.extension().and_then(|extension| extension.to_str()).unwrap_or("")
    }

    fn is_fortran(&self) -> bool {
        matches!(self.extension(), "f90" | "f")
    }

    pub fn is_script(&self) -> bool {
        self.extension() == "py"
    }

    /// Builds a program in Rust, whose manifest is in a folder of its name beside it.
    ///
    /// A target folder for each MPI: the crate `mpi` is not built anew where nothing but the MPI has changed.
    fn built_by_cargo(&self, mpi: &Mpi) -> anyhow::Result<PathBuf> {
        let target = place::binaries(&mpi.name).join("cargo");
        let _lock = place::lock(&format!("{}-{}", mpi.name, self.name))?;
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(["build", "--locked", "--quiet", "--manifest-path"]);
        command.arg(self.source.with_extension("").join("Cargo.toml")).arg("--target-dir").arg(&target);
        let [compiler] = mpi.cc.as_slice() else { bail!("MPICC takes a command without arguments: {:?}", mpi.cc) };
        let done = command.env("MPICC", compiler).output().context("running cargo")?;
        ensure!(done.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&done.stderr));
        Ok(target.join("debug").join(&self.name))
    }

    /// The program compiled with `mpi`, once for all tests; of a script, its source.
    pub fn compiled(&self, mpi: &Mpi) -> anyhow::Result<PathBuf> {
        self.compiled_in(mpi, None, "")
    }

    /// The same, of a program in C, compiled by clang: the wrappers of MPIs take another compiler from variables.
    pub fn compiled_by_clang(&self, mpi: &Mpi) -> anyhow::Result<PathBuf> {
        let words = ["env", "OMPI_CC=clang", "MPICH_CC=clang"].map(str::to_owned);
        self.compiled_in(mpi, Some(words.into_iter().chain(mpi.cc.iter().cloned()).collect()), "clang")
    }

    /// The compiler that its head names, as words; `mpicxx` is the MPI's own.
    fn named_compiler(&self, mpi: &Mpi) -> Option<Vec<String>> {
        let words = self.value("compiler")?.split(' ').map(str::to_owned);
        Some(words.flat_map(|word| if word == "mpicxx" { mpi.cxx.clone() } else { vec![word] }).collect())
    }

    fn compiled_in(&self, mpi: &Mpi, compiler: Option<Vec<String>>, subfolder: &str) -> anyhow::Result<PathBuf> {
        if self.is_script() {
            return Ok(self.source.clone());
        }
        if self.extension() == "rs" {
            return self.built_by_cargo(mpi);
        }
        let own = compiler.or_else(|| self.named_compiler(mpi));
        let compiler = match self.extension() {
            _ if own.is_some() => own.as_ref(),
            "c" => Some(&mpi.cc),
            "cpp" => Some(&mpi.cxx),
            _ => mpi.fortran.as_ref(),
        };
        let compiler =
            compiler.with_context(|| format!("{} has no compiler for {}", mpi.name, self.source.display()))?;
        // Programs of one name in two folders are two programs.
        let group = self.source.parent().and_then(Path::file_name).context("a program without a folder")?;
        let folder = place::binaries(&mpi.name).join("programs").join(group).join(subfolder);
        let output = folder.join(&self.name);
        let mut arguments = vec!["-g".to_owned(), "-O1".into()];
        if self.is_fortran() {
            // Module files of one program must not meet another's.
            let modules = folder.join(format!("{}.mod", self.name));
            fs::create_dir_all(&modules)?;
            arguments.extend(["-J".into(), modules.display().to_string(), "-ffree-form".into()]);
            if self.extension() == "f" {
                arguments.pop();
            }
        } else {
            arguments.extend(["-Wall".into(), "-Wno-unused-function".into()]);
        }
        arguments.push(format!("-I{}", place::programs().display()));
        arguments.push(format!("-I{}", place::workspace().join("interpose/include").display()));
        let with = self.value("with").map(|with| place::workspace().join(with).display().to_string());
        arguments.extend(with);
        build(compiler, &arguments, &self.source, self.value("link"), &output)?;
        Ok(output)
    }
}

/// The C functions of interpose/calls.table, without `MPI_`, large-count twins included.
pub fn calls_of_table() -> anyhow::Result<BTreeSet<String>> {
    let path = place::workspace().join("interpose/calls.table");
    let table = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut functions = BTreeSet::new();
    for line in table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let mut words = line.split_whitespace();
        let function = words.next().context("a row without a function")?;
        functions.extend((words.next() == Some("c")).then(|| format!("{function}_c")));
        functions.insert(function.to_owned());
    }
    Ok(functions)
}

/// A shared object of ours, compiled from `source` (below `tests`) with `compiler`.
pub fn shared_object(compiler: &[String], source: &str, mpi: &Mpi) -> anyhow::Result<PathBuf> {
    let source = place::workspace().join("tests").join(source);
    let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let output = place::binaries(&mpi.name).join(format!("lib{name}.so"));
    let arguments = ["-g", "-O1", "-fPIC", "-shared"].map(str::to_owned);
    build(compiler, &arguments, &source, Some("-ldl"), &output)?;
    Ok(output)
}

/// The folder with an MPI that takes no time, in place of MPICH's library; for LD_LIBRARY_PATH.
pub fn instant_mpi() -> anyhow::Result<PathBuf> {
    let folder = place::binaries("instant");
    let source = place::workspace().join("tests/support/instant_mpi.c");
    let arguments = ["-g", "-O1", "-fPIC", "-shared"].map(str::to_owned);
    build(&["cc".into()], &arguments, &source, None, &folder.join("libmpich.so.12"))?;
    Ok(folder)
}

/// Compiles unless the output is newer than all sources. Processes that want the same output wait for each other.
fn build(
    compiler: &[String],
    arguments: &[String],
    source: &Path,
    link: Option<&str>,
    output: &Path,
) -> anyhow::Result<()> {
    if stored::source() == RunSource::Stored {
        return stored::place_program(output);
    }
    let folder = output.parent().context("an output without a folder")?;
    fs::create_dir_all(folder)?;
    let names: Vec<_> = output.iter().rev().take(4).map(|name| name.to_string_lossy()).collect();
    let _lock = place::lock(&names.join("-"))?;
    if let Ok(built) = fs::metadata(output).and_then(|metadata| metadata.modified())
        && newest_source(source)? < built
    {
        return Ok(());
    }
    let (program, first) = compiler.split_first().context("an empty compiler command")?;
    let mut command = Command::new(program);
    // Fortran's modules of a program in C go where the compiler runs.
    command.current_dir(folder);
    command.args(first).args(arguments).arg("-o").arg(output).arg(source).args(link.unwrap_or("").split_whitespace());
    let done = command.output().with_context(|| format!("running {program}: is this MPI installed?"))?;
    if !done.status.success() {
        bail!("{command:?}\n{}", String::from_utf8_lossy(&done.stderr));
    }
    ensure!(output.exists(), "{program} made no {}", output.display());
    if stored::source() == RunSource::Storing { stored::keep_program(output) } else { Ok(()) }
}

/// When the source, a header beside it, or the phase markers' header was last changed.
fn newest_source(source: &Path) -> anyhow::Result<SystemTime> {
    let mut newest = fs::metadata(source)?.modified()?;
    let include = place::workspace().join("interpose/include");
    let folders = [source.parent().map(Path::to_path_buf), Some(place::programs()), Some(include)];
    for folder in folders.into_iter().flatten() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "h" || extension == "f90") {
                newest = newest.max(entry.metadata()?.modified()?);
            }
        }
    }
    Ok(newest)
}
