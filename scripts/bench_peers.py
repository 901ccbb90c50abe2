"""The profilers that scripts/bench compares the recorder with, built with Open MPI from their sources."""

import os
import shutil
import subprocess
import tarfile
from dataclasses import dataclass


class PeerFailure(Exception):
    """A profiler could not be built."""


@dataclass(frozen=True)
class PeerProfiler:
    """A profiler that is preloaded into a program of Open MPI."""

    title: str
    # Names that the folder of its sources may have, in lower case.
    sources: tuple
    # Commands that build and install it; `{prefix}` is where to.
    commands: tuple
    # Its library, below the prefix.
    library: str
    # Settings of a run; `{logs}` is a folder for its output.
    environment: dict


# mpiP's build asks who it is.
BUILD_ENVIRONMENT = {"LOGNAME": "bench", **os.environ}
PEERS = (
    PeerProfiler(
        title="mpiP -k 0",
        sources=("mpip",),
        commands=(
            "./configure CC=mpicc.openmpi F77=mpifort.openmpi --disable-bfd --disable-libunwind --prefix={prefix}",
            "make shared",
            "install -D libmpiP.so {prefix}/lib/libmpiP.so",
        ),
        library="lib/libmpiP.so",
        environment={"MPIP": "-k 0 -z -f {logs}"},
    ),
    PeerProfiler(
        title="TALP",
        sources=("dlb", "talp"),
        commands=(
            "./bootstrap",
            "./configure --with-mpi MPICC=mpicc.openmpi --disable-fortran --prefix={prefix}",
            "make -j2 install",
        ),
        library="lib/libdlb_mpi.so",
        environment={"DLB_ARGS": "--talp --quiet"},
    ),
    PeerProfiler(
        title="IPM",
        sources=("ipm",),
        commands=(
            "./bootstrap.sh",
            "./configure GCC=yes MPICC=mpicc.openmpi MPIFC=mpifort.openmpi --prefix={prefix}",
            # Its libtool does not find out that the compilers are GCC's.
            """sed -i s/^wl=""$/wl="-Wl,"/ libtool""",
            "make",
            "make install",
        ),
        library="lib/libipm.so",
        environment={"IPM_REPORT": "none", "IPM_LOG": "none"},
    ),
)


def build_all(sources, target, say):
    """Builds the profilers whose sources are in a folder, each in its own folder there or in an archive; gives the titles of those built."""
    built = []
    for peer in PEERS:
        found = [path for path in sorted(sources.iterdir()) if path.name.lower().startswith(peer.sources)]
        if not found:
            say(f"no sources of {peer.title} in {sources}")
            continue
        say(f"building {peer.title}")
        try:
            build(peer, found[0], target)
        except PeerFailure as failure:
            say(str(failure))
            continue
        built.append(peer.title)
    return built


def build(peer, source, target):
    """Builds a profiler in a copy of its sources."""
    prefix, work = install_folder(peer, target), target / "sources" / peer.sources[0]
    for folder in (prefix, work):
        shutil.rmtree(folder, ignore_errors=True)
    if source.is_dir():
        shutil.copytree(source, work, symlinks=True)
    else:
        with tarfile.open(source) as archive:
            archive.extractall(work, filter="data")
        inner = list(work.iterdir())
        work = inner[0] if len(inner) == 1 else work
    for command in peer.commands:
        words = command.format(prefix=prefix).split()
        done = subprocess.run(words, cwd=work, env=BUILD_ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise PeerFailure(f"{peer.title}: {command}: exit code {done.returncode}\n{done.stdout[-2000:]}")
    if not (prefix / peer.library).exists():
        raise PeerFailure(f"{peer.title}: its build made no {peer.library}")


def install_folder(peer, target):
    """Where a profiler is installed."""
    return target / peer.sources[0]


def installed(target):
    """The profilers that were built."""
    return [peer for peer in PEERS if (install_folder(peer, target) / peer.library).exists()]


def preloading(peer, target, logs):
    """The words before a program that preload a profiler into it."""
    logs.mkdir(parents=True, exist_ok=True)
    settings = {name: value.format(logs=logs) for name, value in peer.environment.items()}
    settings["LD_PRELOAD"] = str(install_folder(peer, target) / peer.library)
    return ["env", *(f"{name}={value}" for name, value in settings.items())]
