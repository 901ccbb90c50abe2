//! lb-run as its users meet it: what it hands to the program, what it says, how it ends. No MPI is needed: whether calls are
//! recorded is for the tests under real MPIs.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How a run ended, what it wrote.
struct LaunchedRun {
    code: Option<i32>,
    out: String,
    err: String,
}

/// A library that the test's own process has loaded, so that it can be preloaded, here in place of liblbprof.so.
fn some_library() -> PathBuf {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let path = maps.split_whitespace().find(|word| word.ends_with("/libc.so.6")).unwrap();
    path.into()
}

/// lb-run with these arguments, in an environment without settings.
fn lb_run(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lb-run"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("LBPROF_")) {
        command.env_remove(name);
    }
    for rank in ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "LD_PRELOAD"] {
        command.env_remove(rank);
    }
    command.env("LBPROF_LIBRARY", some_library()).args(arguments).stdin(Stdio::null());
    command
}

fn run(mut command: Command) -> LaunchedRun {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    LaunchedRun { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// A folder of this test's own, removed with the value.
struct TestFolder(PathBuf);

impl TestFolder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        TestFolder(path)
    }

    /// Writes a file of this name and mode; gives its path.
    fn file(&self, name: &str, content: &[u8], mode: u32) -> String {
        let path = self.0.join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path.into_os_string().into_string().unwrap()
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The head of an ELF file without program headers, so without a dynamic loader, for this machine number.
fn elf(machine: u8) -> Vec<u8> {
    let mut bytes = vec![0; 120];
    for (at, value) in [(0, 0x7f), (1, b'E'), (2, b'L'), (3, b'F'), (4, 2), (5, 1), (6, 1), (16, 2), (18, machine)] {
        *bytes.get_mut(at).unwrap() = value;
    }
    bytes
}

#[test]
fn the_program_gets_its_arguments_its_input_and_its_exit_code() {
    let mut child = lb_run(&["sh", "-c", "cat; printf '<%s>' \"$@\"; exit 7", "sh", "a b", "", "--help"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"input ").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "input <a b><><--help>");
    assert_eq!(output.status.code(), Some(7));
}

#[test]
fn the_program_is_the_same_process_and_dies_by_its_own_signal() {
    let child = lb_run(&["sh", "-c", "echo $$; kill -TERM $$"]).stdout(Stdio::piped()).spawn().unwrap();
    let id = child.id();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), id.to_string());
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&output.status), Some(15));
}

#[test]
fn options_become_variables_of_the_program_alone() {
    let library = some_library();
    let script = "echo $LD_PRELOAD; env | grep ^LBPROF_ | grep -v -e LIBRARY -e JOB -e PROCESS | sort";
    let mut command = lb_run(&["--mode", "profile", "-v", "--ranks=0-3:2", "sh", "-c", script]);
    command.env("LBPROF_MODE", "events").env("LBPROF_LIMIT", "1G");
    let out = run(command).out;
    let (preload, variables) = out.split_once('\n').unwrap();
    assert!(preload.starts_with("$ORIGIN/..") && preload.ends_with(library.to_str().unwrap()), "{preload}");
    assert_eq!(variables, "LBPROF_LIMIT=1G\nLBPROF_MODE=profile\nLBPROF_RANKS=0-3:2\nLBPROF_VERBOSE=1\n");
}

#[test]
fn what_was_preloaded_before_stays_behind_the_library() {
    let folder = TestFolder::new("preloaded");
    let other = folder.file("other.so", &fs::read(some_library()).unwrap(), 0o755);
    let mut command = lb_run(&["sh", "-c", "echo $LD_PRELOAD"]);
    command.env("LD_PRELOAD", &other);
    let preload = run(command).out;
    assert!(preload.ends_with(&format!("{}:{other}\n", some_library().display())), "{preload}");
}

#[test]
fn help_goes_to_stdout_and_mistakes_are_code_2() {
    let help = run(lb_run(&["--help"]));
    assert_eq!((help.code, help.err.as_str()), (Some(0), ""));
    assert!(help.out.contains("mpirun -n 4 lb-run ./app"), "{}", help.out);
    let widest = help.out.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{widest:?} columns");
    let short = run(lb_run(&["-h"]));
    assert_eq!((short.code, short.err.as_str()), (Some(0), ""));
    assert!(short.out.lines().count() * 2 < help.out.lines().count() && short.out.contains("--mode"), "{}", short.out);
    for (arguments, said) in [
        (&[][..], "PROGRAM"),
        (&["--mdoe", "off", "true"], "--mode"),
        (&["--mode", "all", "true"], "events | profile | off"),
    ] {
        let wrong = run(lb_run(arguments));
        assert_eq!((wrong.code, wrong.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(wrong.err.contains(said), "{arguments:?}: {}", wrong.err);
    }
}

#[test]
fn it_prints_its_manual() {
    let manual = run(lb_run(&["--man"]));
    assert_eq!((manual.code, manual.err.as_str()), (Some(0), ""));
    assert!(manual.out.contains(".TH lb-run 1") && manual.out.contains("LBPROF_LIMIT"), "{}", manual.out);
    // It runs no program. What comes after the program is the program's own.
    assert_eq!(run(lb_run(&["--man", "echo"])).code, Some(2));
    assert_eq!(run(lb_run(&["echo", "--man", "bash"])).out, "--man bash\n");
}

#[test]
fn a_program_that_cannot_start_is_reported_with_the_code_of_shells() {
    let folder = TestFolder::new("cannot-start");
    let cases = [
        ("/no/such/program".to_owned(), 127, "no such file"),
        ("no-such-command".to_owned(), 127, "no such command in PATH"),
        (folder.0.display().to_string(), 126, "folder"),
        (folder.file("plain", b"text", 0o644), 126, "chmod +x"),
        (folder.file("script", b"#!/no/such/shell\n", 0o755), 126, "interpreter"),
        (folder.file("aarch64", &elf(183), 0o755), 126, "another processor"),
    ];
    for (program, code, said) in cases {
        let run = run(lb_run(&[&program]));
        assert_eq!(run.code, Some(code), "{program}: {}", run.err);
        assert!(run.err.contains(said), "{program}: {}", run.err);
        assert!(run.err.lines().all(|line| line.starts_with("lb-run: ")), "{}", run.err);
    }
}

#[test]
fn without_the_library_the_program_is_not_started() {
    for (library, said) in [("/no/such.so", "LBPROF_LIBRARY=/no/such.so"), ("/tmp", "not a file")] {
        let mut command = lb_run(&["echo", "started"]);
        command.env("LBPROF_LIBRARY", library);
        let run = run(command);
        assert_eq!((run.code, run.out.as_str()), (Some(125), ""));
        assert!(run.err.contains(said), "{}", run.err);
    }
}

#[test]
fn what_cannot_be_recorded_is_reported_by_the_first_rank_and_runs() {
    let folder = TestFolder::new("obstacles");
    let launcher = folder.file("mpirun", b"#!/bin/sh\necho launched\n", 0o755);
    let first = run(lb_run(&[&launcher]));
    assert_eq!((first.code, first.out.as_str()), (Some(0), "launched\n"));
    assert!(first.err.contains("after the launcher"), "{}", first.err);
    let mut second = lb_run(&[&launcher]);
    second.env("OMPI_COMM_WORLD_RANK", "1");
    assert_eq!(run(second).err, "");

    // Nothing but a head: the system kills it, but what it is was reported before.
    let linked_statically = folder.file("static", &elf(62), 0o755);
    let run = run(lb_run(&[&linked_statically]));
    assert!(run.err.contains("linked statically"), "{}", run.err);
}

#[test]
fn closed_output_is_no_error() {
    let code = Command::new("sh")
        .args(["-c", "\"$0\" --help >&- && \"$0\" --version >/dev/full", env!("CARGO_BIN_EXE_lb-run")])
        .status()
        .unwrap();
    assert_eq!(code.code(), Some(0));
}

/// Compiles a source; `None`: there is no such compiler.
fn compiled(folder: &TestFolder, compiler: &str, name: &str, source: &str, options: &[&str]) -> Option<String> {
    let (source, output) = (folder.file(&format!("{name}.c"), source.as_bytes(), 0o644), folder.0.join(name));
    match Command::new(compiler).arg(&source).args(options).arg("-o").arg(&output).output() {
        Ok(done) if done.status.success() => output.into_os_string().into_string().ok(),
        done => {
            eprintln!("not tried: {compiler} {options:?}: {done:?}");
            None
        }
    }
}

const HELLO: &str = "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 3; }";

/// Says on stderr that it was loaded, by functions that no C library has but the GNU one.
const GNU_LIBRARY: &str = "#include <stdio.h>\n#include <gnu/libc-version.h>\n
__attribute__((constructor)) static void loaded(void) { fprintf(stderr, \"loaded %d\\n\", *gnu_get_libc_version() != 0); }";

#[test]
fn programs_that_cannot_load_the_library_start_all_the_same() {
    let folder = TestFolder::new("other-libc");
    let library = compiled(&folder, "cc", "library.so", GNU_LIBRARY, &["-shared", "-fPIC"]).unwrap();
    let gnu = compiled(&folder, "cc", "gnu", HELLO, &[]).unwrap();
    let others = [("musl-gcc", "musl", &[][..]), ("cc", "static", &["-static"]), ("cc", "narrow", &["-m32"])];
    let others = others.map(|(compiler, name, options)| (name, compiled(&folder, compiler, name, HELLO, options)));
    let with = |arguments: &[&str]| {
        let mut command = lb_run(arguments);
        command.env("LBPROF_LIBRARY", &library);
        run(command)
    };
    let loaded = with(&[&gnu]);
    assert_eq!((loaded.code, loaded.out.as_str(), loaded.err.as_str()), (Some(3), "hello\n", "loaded 1\n"));
    for (name, program) in others.iter().filter_map(|(name, program)| Some((*name, program.as_deref()?))) {
        let alone = with(&[program]);
        assert_eq!((alone.code, alone.out.as_str()), (Some(3), "hello\n"), "{name}: {}", alone.err);
        assert!(alone.err.starts_with("lb-run: ") && alone.err.lines().count() == 1, "{name}: {}", alone.err);
        // A shell of the GNU C library is the program, which starts it.
        let child = with(&["sh", "-c", "\"$0\" || exit $?", program]);
        assert_eq!((child.code, child.out.as_str()), (Some(3), "hello\n"), "{name}: {}", child.err);
        if name != "narrow" {
            assert_eq!(child.err, "loaded 1\n", "{name}");
        }
    }
}

#[test]
fn the_library_is_loaded_from_wherever_the_program_lies() {
    let folder = TestFolder::new("wherever");
    let library = compiled(&folder, "cc", "library.so", GNU_LIBRARY, &["-shared", "-fPIC"]).unwrap();
    let gnu = compiled(&folder, "cc", "gnu", HELLO, &[]).unwrap();
    let deep = folder.0.join("a/".repeat(40));
    fs::create_dir_all(&deep).unwrap();
    fs::copy(&gnu, deep.join("program")).unwrap();
    std::os::unix::fs::symlink(&deep, folder.0.join("link")).unwrap();
    let loader = fs::read_to_string("/proc/self/maps").unwrap();
    let loader = loader.split_whitespace().find(|word| word.contains("/ld-linux")).unwrap().to_owned();
    let in_folder = |arguments: &[&str], inside: &Path| {
        let mut command = lb_run(arguments);
        command.env("LBPROF_LIBRARY", &library).current_dir(inside);
        run(command).err
    };
    assert_eq!(in_folder(&["link/program"], &folder.0), "loaded 1\n");
    assert_eq!(in_folder(&["./program"], &deep), "loaded 1\n");
    assert_eq!(in_folder(&[&loader, "./gnu"], &folder.0), "loaded 1\n", "the loader as a program");
    // A launcher that hands the variable to a shell.
    let script = "eval \"LD_PRELOAD=$LD_PRELOAD \\\"\\$0\\\"\"";
    assert_eq!(in_folder(&["sh", "-c", script, &gnu], &folder.0), "loaded 1\nloaded 1\n");
}

/// Starts the command after it as a process that adopts orphans and, where CHILD is y, has a child that ends with 42 after SECONDS.
const ADOPTING: &str = "\
import ctypes, os, signal, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
if os.environ['CHILD'] == 'y':
    child = os.fork()
    if not child:
        time.sleep(float(os.environ['SECONDS']))
        os._exit(42)
os.execv(sys.argv[1], sys.argv[1:])";

/// Prints the exit codes of all children that a program has, or had as lb-run, and its action on SIGCHLD.
const CHILDREN: &str = "\
import os, signal
action, codes = signal.getsignal(signal.SIGCHLD), []
while True:
    try:
        codes.append(os.waitstatus_to_exitcode(os.waitpid(-1, 0)[1]))
    except ChildProcessError:
        break
print(codes, action.name, flush=True)";

#[test]
fn the_program_has_the_children_that_lb_run_was_started_with_and_no_other() {
    let said = |child: &str, seconds: &str| {
        let command = lb_run(&[]);
        let mut adopting = Command::new("python3");
        adopting.args(["-c", ADOPTING]).arg(command.get_program()).args(["python3", "-c", CHILDREN]);
        adopting.env("OMPI_COMM_WORLD_LOCAL_RANK", "0").env("CHILD", child).env("SECONDS", seconds);
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => adopting.env(name, value),
                None => adopting.env_remove(name),
            };
        }
        run(adopting).out
    };
    assert_eq!(said("n", "0"), "[] SIG_DFL\n");
    // It ends while lb-run is at work, or before, or after.
    for seconds in ["0", "0.001", "0.003", "0.006", "0.01", "0.03"] {
        assert_eq!(said("y", seconds), "[42] SIG_DFL\n", "a child that ends after {seconds} s");
    }
}

#[test]
fn without_proc_the_program_runs_unrecorded() {
    let hide = ["--mount", "sh", "-c", "umount -l /proc && exec \"$@\"", "sh"];
    let can_hide = Command::new("unshare").args(hide).arg("true").stderr(Stdio::null()).status();
    if !can_hide.is_ok_and(|status| status.success()) {
        eprintln!("not tested: /proc cannot be hidden from a process here");
        return;
    }
    let inner = lb_run(&["sh", "-c", "echo hello; exit 3"]);
    let mut command = Command::new("unshare");
    command.args(hide).arg(inner.get_program()).args(inner.get_args()).stdin(Stdio::null());
    command.env_remove("LBPROF_LIBRARY").env_remove("LD_PRELOAD");
    let run = run(command);
    assert_eq!((run.code, run.out.as_str()), (Some(3), "hello\n"), "{}", run.err);
    assert!(run.err.starts_with("lb-run: /proc is not there") && run.err.lines().count() == 1, "{}", run.err);
}
