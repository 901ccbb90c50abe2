//! What is wrong with scripts that cannot be run. When calls end, and what logs hold, the analyzer's tests rely on: analyzer/report/tests/blocking.

use lbprof_simulator::script::Script;

fn script(text: &str) -> Script {
    Script::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn a_deadlock_names_the_ranks_and_their_lines() {
    let error = script("ranks 3\nrank 0:\nrecv 1\nrank 1:\nrecv 0\nrank 2: compute 1").simulate().unwrap_err();
    assert_eq!(error.to_string(), "deadlock: rank 0 waits in Recv (line 3), rank 1 waits in Recv (line 5)");
}

#[test]
fn what_is_wrong_with_a_script_is_said_with_its_line() {
    for (text, error) in [
        ("", "line 1: `ranks` and their number are missing"),
        ("latency 1", "line 1: a script begins with `ranks` and their number"),
        ("ranks 2\nrank 0: jump", "line 2: `jump` is no statement"),
        ("ranks 2\nrank 0: send 2", "line 2: `2` is 2, but the communicator has 2 ranks"),
        ("ranks 2\nrank 0:\n\nphase a\ncompute 1", "line 4: `phase a` is not closed by `end`"),
        ("ranks 2\nrank 0: end", "line 2: this `end` closes nothing"),
        ("ranks 2\nrank 2: compute 1", "line 2: `2` is not in the ranks, which are 0 to 1"),
        ("ranks 2\nrank 0: compute 1 2", "line 2: `2` is not expected"),
        ("ranks 2\nrank 0: compute -1", "line 2: `-1` is -1 ms, but time does not run backwards"),
        ("ranks 2\nrank 0: isend 1", "line 2: `as` and a name is missing"),
        ("ranks 2\nrank 0: barrier on row", "line 2: rank 0 is in no communicator `row`"),
        ("ranks 2\ncomm row 0 0", "line 2: rank 0 is in a communicator `row` already"),
        ("ranks 2\nclock 0 1", "line 2: rank 0's clock is the one that the others are compared with"),
        ("ranks 2\nrank 0: wait a", "line 2: rank 0: no request `a` was ever started"),
        ("ranks 2\nrank 0: irecv 1 as a; irecv 1 as a", "line 2: rank 0: the request `a` is still open"),
        (
            "ranks 2\nrank 0: barrier\nrank 1: allreduce 8",
            "line 3: rank 1: calls Allreduce where rank 0 called Barrier on `world`",
        ),
        (
            "ranks 2\nrank 0: barrier\nrank 1: ibarrier as a",
            "line 3: rank 1: calls Ibarrier where rank 0 called Barrier on `world`",
        ),
        (
            "ranks 2\nrank *: bcast 8 root $r",
            "line 2: rank 1: calls Bcast with root 1 where rank 0 called Bcast with root 0 on `world`",
        ),
        ("ranks 2\nrank 0: mrecv m", "line 2: rank 0: no probe has found a message `m`"),
        (
            "ranks 2\nrank 0: isend 1 as a; start a",
            "line 2: rank 0: `a` is no persistent request that could be started",
        ),
        ("ranks 2\nrank 0: fence w", "line 2: there is no window `w`"),
    ] {
        let result = Script::parse(text).and_then(|script| script.simulate().map(|_| ()));
        assert_eq!(result.unwrap_err().to_string(), error, "{text}");
    }
}
