//! What scripts/install leaves, as its users meet it: in another folder than it was installed in, without the source tree; and
//! what scripts/package makes for sites.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use lbprof_tests::launch::{Job, without_settings};
use lbprof_tests::mpi::Mpi;
use lbprof_tests::{place, run};

fn done(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = both(&output);
    assert!(output.status.success(), "{command:?}: {}\n{text}", output.status);
    text
}

fn both(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.clone(), output.stderr.clone()].concat()).into_owned()
}

fn script(name: &str) -> Command {
    let mut command = Command::new(place::workspace().join("scripts").join(name));
    command.env_remove("DESTDIR");
    command
}

/// The folder with lb-run, lb-report and liblbprof.so that are tested.
fn built() -> PathBuf {
    let lb_run = fs::canonicalize(place::built("lb-run").unwrap()).unwrap();
    place::built("lb-report").unwrap();
    lb_run.parent().unwrap().into()
}

fn installed(folder: &Path) -> PathBuf {
    let (first, moved) = (folder.join("first"), folder.join("moved"));
    done(script("install").arg("--prefix").arg(&first).arg("--built").arg(built()));
    fs::rename(&first, &moved).unwrap();
    moved
}

fn executable(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn path_with(folder: &Path) -> String {
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

/// Runs lines of bash in a folder, without settings of lbprof.
fn bash(folder: &Path, lines: &str) -> String {
    let mut command = Command::new("bash");
    without_settings(&mut command);
    done(command.args(["-euc", lines]).current_dir(folder))
}

#[test]
fn no_setup_installs_nothing_of_the_system_and_cargo_is_made_to_stay_offline() {
    let folder = place::fresh_folder("installation::options").unwrap();
    let (tools, said) = (folder.join("tools"), folder.join("said"));
    fs::create_dir(&tools).unwrap();
    // A cargo that is too old for scripts/setup, and finds all built.
    executable(&tools.join("cargo"), &format!("echo \"$@\" >>{}; echo cargo 1.0.0", said.display()));
    executable(&tools.join("apt-get"), &format!("echo apt-get >>{}; exit 1", said.display()));
    let target = folder.join("target");
    fs::create_dir(&target).unwrap();
    std::os::unix::fs::symlink(built(), target.join("release")).unwrap();
    let mut install = script("install");
    install.arg("--prefix").arg(folder.join("prefix")).env("PATH", path_with(&tools)).env("CARGO_TARGET_DIR", &target);
    let refused = install.output().unwrap();
    assert_eq!(refused.status.code(), Some(1), "scripts/setup was not asked: {}", both(&refused));
    fs::remove_file(&said).unwrap();
    done(install.args(["--no-setup", "--locked", "--offline"]));
    let said = fs::read_to_string(&said).unwrap();
    assert_eq!(said, "build --release --locked --offline -p lbprof-interpose -p lb-report\n");
    assert!(folder.join("prefix/lib/liblbprof.so").exists());
}

fn missing(kind: &str, path: &str, root: &Path) -> Vec<String> {
    let output =
        script("setup").args(["--missing", kind]).env("PATH", path).env("LBPROF_SETUP_ROOT", root).output().unwrap();
    let packages: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(Into::into).collect();
    assert_eq!(output.status.code(), Some(i32::from(!packages.is_empty())), "{}", both(&output));
    packages
}

/// Debian's openmpi-bin has mpicc.openmpi, but only libopenmpi-dev has mpi.h: after scripts/demo, which installs the first, scripts/test did not compile.
#[test]
fn setup_takes_no_command_for_the_headers_and_modules_that_it_should_come_with() {
    let folder = place::fresh_folder("installation::setup").unwrap();
    let (tools, root) = (folder.join("tools"), folder.join("root"));
    for needed in ["tools", "root/usr/bin", "root/usr/lib/llvm-14/lib", "root/usr/share/lmod/lmod/init"] {
        fs::create_dir_all(folder.join(needed)).unwrap();
    }
    // For scripts/setup itself.
    for tool in ["bash", "grep", "ldd"] {
        std::os::unix::fs::symlink(bash(&folder, &format!("command -v {tool}")).trim(), tools.join(tool)).unwrap();
    }
    let compiler = bash(&folder, "command -v cc");
    for without_headers in ["cc", "c++", "mpicc.openmpi", "mpicc.mpich", "musl-gcc", "clang"] {
        executable(&tools.join(without_headers), &format!("exec {} -nostdinc \"$@\"", compiler.trim()));
    }
    executable(&tools.join("otf2-config"), &format!("echo -I{}", root.display()));
    // gfortran's driver without its compiler, python3-minimal, packet radio's node, the browser that asks for a snap.
    for unfit in ["tools/gfortran", "tools/python3", "root/usr/bin/python3", "tools/node", "root/usr/bin/chromium"] {
        executable(&folder.join(unfit), "exit 1");
    }
    // A program without MPI; a library without clang's headers; other modules.
    std::os::unix::fs::symlink("/bin/true", tools.join("lmp")).unwrap();
    fs::write(root.join("usr/lib/llvm-14/lib/libclang-14.so.1"), "").unwrap();
    fs::write(root.join("usr/share/lmod/lmod/init/bash"), "").unwrap();
    let commands =
        "make mpirun.openmpi mpirun.mpich otf2-print zstd xz patch pkg-config cmake mandoc col zsh fish valgrind npm";
    for enough in commands.split(' ') {
        executable(&tools.join(enough), "");
    }

    let path = tools.display().to_string();
    for (kind, expected) in [
        ("build", "gcc libc6-dev"),
        ("demo", "gcc libc6-dev lammps"),
        (
            "test",
            "gcc libc6-dev g++ gfortran libopenmpi-dev libmpich-dev musl-tools clang libomp-dev python3 python3-mpi4py python3-otf2 python3-six \
             libotf2-trace-dev environment-modules",
        ),
        ("all-tests", "libclang-dev r-cran-rmpi"),
        ("all-mpi", "python3-venv"),
        ("page", "gcc libc6-dev nodejs chromium"),
    ] {
        assert_eq!(missing(kind, &path, &root).join(" "), expected, "{kind}");
    }
    // Here all is as it should be, or other tests fail.
    assert_eq!(missing("test", &std::env::var("PATH").unwrap(), Path::new("")).join(" "), "");
}

/// Builds matmul, which an installation has as an example, by pkg-config and by CMake, each with another MPI; records it.
#[test]
#[ignore = "takes long: scripts/test --all"]
fn examples_build_and_run_by_pkg_config_and_by_cmake_outside_of_the_source() {
    let folder = place::fresh_folder("installation::examples").unwrap();
    let prefix = installed(&folder);
    done(Command::new("cp").arg("-r").arg(prefix.join("share/doc/lbprof/examples/matmul")).arg(&folder));
    let at = |name: &str| prefix.join(name).display().to_string();
    bash(
        &folder,
        &format!(
            "export PKG_CONFIG_PATH={}
            mpicc.openmpi -g matmul/matmul.c -o by-pkg-config $(pkg-config --cflags --libs lbprof) -lm
            test -f \"$(pkg-config --variable=fortrandir lbprof)/lbprof.f90\"
            cmake -S matmul -B build -DCMAKE_PREFIX_PATH={} -DMPI_C_COMPILER=mpicc.mpich -DCMAKE_BUILD_TYPE=Debug
            cmake --build build && mv build/matmul by-cmake",
            at("lib/pkgconfig"),
            prefix.display()
        ),
    );
    for (program, mpi) in [("by-pkg-config", "openmpi"), ("by-cmake", "mpich")] {
        let mpi = Mpi::named(mpi).unwrap();
        let runs = folder.join(format!("run-{program}"));
        fs::create_dir(&runs).unwrap();
        let mut job = Job::new(&mpi, 2, &folder.join(program), &runs);
        job.command =
            [at("bin/lb-run"), folder.join(program).display().to_string(), "20".into(), "--sleep".into(), "100".into()]
                .map(Into::into)
                .into();
        let logs = job.logs();
        job = job.with_env("LBPROF_DIR", &logs);
        job.bare().unwrap().must_succeed().unwrap();
        let report = run::report(&logs).unwrap();
        let paths: Vec<&str> =
            report["regions"].as_array().unwrap().iter().filter_map(|one| one["path"].as_str()).collect();
        assert!(paths.contains(&"main/multiply"), "{program}: {paths:?}");
    }
    the_action_passes_and_fails(&folder, &at("bin/lb-report"));
}

/// The step of the GitHub action on two recorded runs.
fn the_action_passes_and_fails(folder: &Path, lb_report: &str) {
    let action = place::workspace().join("packaging/github-action");
    let yaml = fs::read_to_string(action.join("action.yml")).unwrap();
    let read = |condition: &str, code: i32| {
        let (output, summary) = (folder.join("output"), folder.join("summary"));
        let _ = (fs::remove_file(&output), fs::remove_file(&summary));
        let mut step = Command::new("bash");
        step.arg(action.join("compare.sh")).current_dir(folder);
        step.env("GITHUB_OUTPUT", &output).env("GITHUB_STEP_SUMMARY", &summary);
        for (name, value) in [
            ("LB_BEFORE", "run-by-pkg-config/logs"),
            ("LB_AFTER", "run-by-cmake/logs"),
            ("LB_FAIL_IF", condition),
            ("LB_JUNIT", "lbprof.xml"),
            ("LB_MARKDOWN", "lbprof.md"),
            ("LB_ARGUMENTS", "--quiet\n--top 3"),
            ("LB_REPORT", lb_report),
        ] {
            assert!(yaml.contains(&format!("{name}: ${{{{ inputs.")), "{name} is not given by action.yml");
            step.env(name, value);
        }
        let ended = step.output().unwrap();
        assert_eq!(ended.status.code(), Some(code), "{condition}: {}", both(&ended));
        [both(&ended)]
            .into_iter()
            .chain([output, summary].map(|file| fs::read_to_string(file).unwrap_or_default()))
            .collect::<Vec<_>>()
    };
    let passed = read("elapsed_s > base * 1000\n\n  \nelapsed_s < 0", 0);
    assert_eq!(passed[1], "exit-code=0\nfailed=false\n");
    assert!(passed[2].contains("elapsed") && passed[2].contains('|'), "{}", passed[2]);
    let junit = || fs::read_to_string(folder.join("lbprof.xml")).unwrap();
    assert!(junit().contains("tests=\"2\"") && junit().contains("failures=\"0\""), "{}", junit());
    let failed = read("elapsed_s > 0", 3);
    assert_eq!(failed[1], "exit-code=3\nfailed=true\n");
    assert!(failed[0].contains("::error title=lbprof::") && junit().contains("<failure"), "{}\n{}", failed[0], junit());
    // Text of an input is not run as shell, and what an earlier step wrote is not taken for this one's.
    let mistaken = read("$(touch ran) > 0; touch ran", 2);
    assert_eq!((mistaken[1].as_str(), mistaken[2].as_str()), ("exit-code=2\nfailed=false\n", ""));
    assert!(!folder.join("ran").exists() && !folder.join("lbprof.xml").exists());
}

#[test]
fn cmake_refuses_another_series() {
    let folder = place::fresh_folder("installation::versions").unwrap();
    let prefix = installed(&folder);
    let lists = "cmake_minimum_required(VERSION 3.16)\nproject(versions LANGUAGES NONE)
        foreach(wanted 0.1 0.1.0 0.0 0.2 1 9)
            find_package(lbprof ${wanted} QUIET CONFIG)
            message(STATUS \"${wanted}:${lbprof_FOUND}\")
        endforeach()";
    fs::write(folder.join("CMakeLists.txt"), lists).unwrap();
    let mut cmake = Command::new("cmake");
    let said = done(
        cmake
            .args(["-S", ".", "-B", "build"])
            .arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()))
            .current_dir(&folder),
    );
    let found: Vec<&str> =
        said.lines().filter_map(|line| line.strip_prefix("-- ")).filter(|line| line.contains(':')).collect();
    let shown = &found[..6];
    assert_eq!(shown, ["0.1:1", "0.1.0:1", "0.0:0", "0.2:0", "1:0", "9:0"]);
}

fn pictures_of(document: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(document).unwrap();
    let shown = text.split("![").skip(1).filter_map(|rest| rest.split_once("](")?.1.split_once(')'));
    shown.map(|(path, _)| document.parent().unwrap().join(path)).collect()
}

fn documents_show_their_pictures(documents: &Path) {
    let in_folder = fs::read_dir(documents.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let documents = in_folder.chain([documents.join("README.md")]).filter(|path| path.extension().is_some());
    let pictures: Vec<PathBuf> = documents.flat_map(|document| pictures_of(&document)).collect();
    assert!(pictures.len() > 5, "{pictures:?}");
    for picture in pictures {
        let begin = fs::read(&picture).unwrap_or_else(|error| panic!("{}: {error}", picture.display()));
        assert!(begin.starts_with(b"\x89PNG"), "{} is no picture", picture.display());
    }
}

#[test]
fn manuals_render_and_shells_complete() {
    let folder = place::fresh_folder("installation::shells").unwrap();
    let prefix = installed(&folder);
    let share = prefix.join("share");
    let pages: Vec<_> = fs::read_dir(share.join("man/man1")).unwrap().map(|page| page.unwrap().path()).collect();
    assert!(pages.len() > 10, "{pages:?}");
    documents_show_their_pictures(&share.join("doc/lbprof"));
    for page in &pages {
        let name = page.file_stem().unwrap().to_string_lossy().into_owned();
        done(Command::new("mandoc").args(["-T", "lint", "-W", "error"]).arg(page));
        let shown = done(Command::new("mandoc").args(["-T", "ascii"]).arg(page));
        let plain = bash(&folder, &format!("mandoc -T utf8 {} | col -b", page.display()));
        assert!(shown.len() > 200 && plain.contains(&format!("{name}(1)")), "{name}: {plain}");
    }
    let of_bash = bash(
        &folder,
        &format!(
            "set +u; . {}/bash-completion/completions/lb-report; complete -p lb-report
            COMP_WORDS=(lb-report compare --fail) COMP_CWORD=2
            $(complete -p lb-report | sed 's/.*-F //; s/ .*//') lb-report --fail compare; echo ${{COMPREPLY[*]}}",
            share.display()
        ),
    );
    assert!(of_bash.contains(" lb-report\n") && of_bash.contains("\n--fail-if"), "{of_bash}");
    let of_zsh = format!(
        "fpath=({}/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D; print $_comps[lb-report]
        autoload +X _lb-report",
        share.display()
    );
    assert_eq!(done(Command::new("zsh").args(["-f", "-c", &of_zsh])), "_lb-report\n");
    let of_fish = format!(
        "source {}/fish/vendor_completions.d/lb-report.fish; complete -C 'lb-report compare --fail'",
        share.display()
    );
    let of_fish = done(Command::new("fish").args(["--no-config", "-c", &of_fish]).env("HOME", &folder));
    let first: Vec<&str> = of_fish.lines().filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(first, ["--fail-if"]);
}

#[test]
fn the_environment_module_is_loaded_and_unloaded() {
    let folder = place::fresh_folder("installation::module").unwrap();
    let prefix = installed(&folder);
    let said = bash(
        &folder,
        &format!(
            "set +eu; . /usr/share/modules/init/bash; module use {}/share/modulefiles
            module load lbprof || exit 1
            command -v lb-run lb-report; pkg-config --modversion lbprof; man -w lb-run; env | grep -c '^LBPROF_'
            echo '#include <lbprof.h>' | cc -fsyntax-only -x c - || exit 1
            /usr/bin/python3 -c 'import lbprof; print(lbprof.__file__)'
            module unload lbprof; command -v lb-run; echo end",
            prefix.display()
        ),
    );
    let at = |name: &str| prefix.join(name).display().to_string();
    let expected = [
        at("bin/lb-run"),
        at("bin/lb-report"),
        env!("CARGO_PKG_VERSION").into(),
        at("share/man/man1/lb-run.1"),
        // A variable LBPROF_* would be taken for a setting.
        "0".into(),
        at("share/lbprof/python/lbprof/__init__.py"),
        "end".into(),
    ];
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
}

#[test]
#[ignore = "takes long: scripts/test --all"]
fn the_binary_tarball_says_what_it_needs_and_refuses_more() {
    let folder = place::fresh_folder("installation::binary").unwrap();
    let package = || {
        let mut command = script("package");
        command.args(["binary", "--built"]).arg(built()).arg("--to").arg(&folder).env("LBPROF_XZ", "0");
        command
    };
    let refused = package().env("LBPROF_GLIBC", "2.2").output().unwrap();
    assert_eq!(refused.status.code(), Some(1), "{}", both(&refused));
    assert!(both(&refused).contains("more than glibc 2.2"), "{}", both(&refused));
    let said = done(&mut package());
    let name = format!("lbprof-{}-linux-x86_64", env!("CARGO_PKG_VERSION"));
    bash(&folder, &format!("tar xf {name}.tar.xz && {name}/bin/lb-run --version && {name}/bin/lb-report --version"));
    let needs = fs::read_to_string(folder.join(&name).join("share/doc/lbprof/NEEDS")).unwrap();
    let newest = needs.strip_prefix("glibc ").and_then(|rest| rest.split(' ').next()).unwrap();
    assert!(said.contains(&format!("{name}.tar.xz needs glibc {newest} or newer")), "{said}");
    // As another tool sees it.
    let symbols = bash(
        &folder,
        &format!(
            "readelf -W --version-info {name}/bin/* {name}/lib/*.so | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1"
        ),
    );
    assert_eq!(symbols.trim(), format!("GLIBC_{newest}"));
}

#[test]
#[ignore = "takes long: scripts/test --all"]
fn the_source_tarball_is_whole_without_network() {
    let folder = place::fresh_folder("installation::source").unwrap();
    done(script("package").args(["source", "--to"]).arg(&folder).env("LBPROF_XZ", "0"));
    let version = env!("CARGO_PKG_VERSION");
    let tarball = format!("lbprof-{version}-source.tar.xz");
    let lines = format!(
        "tar xf {tarball} && cd lbprof-{version} && export CARGO_HOME=$PWD/empty
        cargo metadata --offline --locked --format-version 1 >../metadata && test -x scripts/install && cd .. && rm -r lbprof-{version}
        sha256sum {tarball}"
    );
    let said = bash(&folder, &lines);
    let checksum = said.lines().last().unwrap().split(' ').next().unwrap();
    let metadata = fs::read_to_string(folder.join("metadata")).unwrap();
    assert!(metadata.contains("/vendor/clap") && !metadata.contains("/registry/src/"));
    let easyconfig = format!("easybuild/lbprof-{version}-GCCcore-14.3.0.eb");
    for recipe in ["spack/packages/lbprof/package.py", &easyconfig, "conda/recipe.yaml"] {
        let text = fs::read_to_string(folder.join(recipe)).unwrap();
        assert!(text.contains(checksum) && text.contains(version), "{recipe}:\n{text}");
        assert!(!text.contains("@VERSION@") && !text.contains("@SHA256@") && !text.contains("@RUST@"), "{recipe}");
        if !recipe.ends_with(".yaml") {
            let compile = "import sys; compile(open(sys.argv[1]).read(), sys.argv[1], 'exec')";
            done(Command::new("python3").args(["-c", compile, recipe]).current_dir(&folder));
        }
    }
}
