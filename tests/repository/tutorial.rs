//! The tutorial does what it says: each of its commands runs, in a copy of the example, and the fix has the effect described.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use lbprof_tests::mpi::{self, Mpi};
use lbprof_tests::{place, run};

/// Returns the commands of a document: its blocks of code that are marked as bash, one after another.
fn commands(document: &str) -> String {
    let mut found = String::new();
    let mut is_command = false;
    for line in document.lines() {
        if line.starts_with("```") {
            is_command = line == "```bash";
        } else if is_command {
            found += &format!("{line}\n");
        }
    }
    found
}

/// Makes a command in `folder` that starts another one, as the user of one MPI would call it.
fn write_shim(folder: &Path, name: &str, command: &[String]) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\nexec {} \"$@\"\n", command.join(" "))).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn load_balance(folder: &Path) -> f64 {
    let report = run::report(folder).unwrap();
    report["efficiency"]["load_balance"].as_f64().unwrap()
}

#[test]
fn commands_are_those_of_blocks_marked_as_bash() {
    assert_eq!(commands("a\n```text\nb\n```\n```bash\nc\nd\n```\n    e\n```bash\nf\n```\n"), "c\nd\nf\n");
}

#[test]
fn each_command_runs_and_the_fix_balances_the_ranks() {
    let mpi = Mpi::named(mpi::names().first().unwrap()).unwrap();
    let folder = place::fresh_folder("tutorial").unwrap();
    let example = place::workspace().join("examples/heat2d");
    for name in ["heat2d.c", "fix.patch"] {
        fs::copy(example.join(name), folder.join(name)).unwrap();
    }
    let shims = folder.join("bin");
    fs::create_dir(&shims).unwrap();
    write_shim(&shims, "mpicc", &mpi.cc);
    write_shim(&shims, "mpirun", &mpi.launcher);
    for name in ["lb-run", "lb-report"] {
        write_shim(&shims, name, &[place::built(name).unwrap().display().to_string()]);
    }
    let tutorial = fs::read_to_string(place::workspace().join("docs/tutorial.md")).unwrap();
    let mut bash = Command::new("bash");
    bash.arg("-euxc").arg(commands(&tutorial)).current_dir(&folder);
    bash.env("PATH", format!("{}:{}", shims.display(), std::env::var("PATH").unwrap()));
    // lb-run knows all variables of that name.
    bash.env_remove("LBPROF_BUILD_DIR");
    // A rank that sleeps for its work needs no core of its own.
    bash.envs(mpi.env.iter().map(|(name, value)| (name, value))).env("HEAT2D_SLEEP", "5");
    let output = bash.output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{said}");

    // 2, 2, 2 and 5 blocks: 0.55; 3, 3, 3 and 2: 0.92.
    let (before, after) = (load_balance(&folder.join("before")), load_balance(&folder.join("after")));
    assert!((0.5..0.7).contains(&before) && (0.8..1.0).contains(&after), "{before} → {after}");
    assert!(said.contains("ended with exit code 3"), "{said}");
    assert!(fs::read_to_string(folder.join("summary.md")).unwrap().contains("passes"));
    assert!(fs::read_to_string(folder.join("result.xml")).unwrap().contains("failures=\"0\""));
    for page in ["before.html", "heat2d.html"] {
        assert!(fs::read_to_string(folder.join(page)).unwrap().contains("</html>"), "{page}");
    }
}
