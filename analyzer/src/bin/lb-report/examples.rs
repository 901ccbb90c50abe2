//! What the help shows by example.

/// Of `lb-report` itself.
pub const REPORT: &str = "\
EXAMPLES
  Record a run, then read its report:
      mpirun -n 4 lb-run ./program
      lb-report

  The same as a page for a browser, in one file that can be sent:
      lb-report --html report.html

  Of a certain run, all tables, of long ones the first 8 rows; with all rows:
      lb-report lbprof-out-2 --top 8
      lb-report lbprof-out-2 --full

  Its tables for a spreadsheet:
      lb-report --csv tables

  The same as data, for a script:
      lb-report lbprof-out --json | jq .efficiency
      lb-report lbprof-out --json report.json

  Of every fourth rank alone; of the ranks of some hosts:
      lb-report --ranks 0-:4
      lb-report --ranks 'host=node1*'

  Of a second of the run; of iterations 10 to 20 of its main loop, both with their ends:
      lb-report --from 1.5s --to 2.5s
      lb-report --from iteration=10 --to iteration=20

  Of one region alone; what ranks do in collective calls:
      lb-report --region force
      lb-report --activity collective

  How long the run would take with a region twice as fast:
      lb-report --what-if faster=force:2

  Keep the figures of several runs, and show them side by side:
      lb-report study add scaling.study out-1 out-2 out-4
      lb-report study show scaling.study

  Complete lb-report's options in bash; its manual:
      source <(lb-report completions bash)
      lb-report man | man -l -

  What changed between two runs; in CI, fail where the new one is 5 % slower:
      lb-report compare before after
      lb-report compare before after --fail-if 'elapsed_s > base * 1.05'

  Every call of rank 3, as JSON lines:
      lb-report dump lbprof-out --rank 3

EXIT CODES
  0  the report was made
  1  lb-report itself failed; please report it
  2  the command line was wrong, or selects what the run or the study does not have
  3  a condition to fail on (--fail-if) holds, or is not known
  4  the report was made, or the run added to a study, from incomplete data
  5  there is no run, or no study, that can be read, or it needs too much memory (LB_REPORT_MAX_MEMORY) or time (LB_REPORT_MAX_CPU)
  6  the report or the study could not be written

docs/report-reference.md explains every figure, docs/report-json.md every key of the JSON.";

/// Of `lb-report compare`.
pub const COMPARE: &str = "\
EXAMPLES
  What changed between two runs, and why:
      lb-report compare lbprof-out lbprof-out-2

  Several runs a side, which show the noise:
      lb-report compare before-1 before-2 before-3 --with after-1 after-2 after-3

  In CI: fail where the new run is slower by 5 %, or less efficient than it has to be:
      lb-report compare before after --fail-if 'elapsed_s > base * 1.05' --fail-if 'parallel_efficiency < 0.9'
      lb-report compare before after --fail-if 'regions[\"main/step/force\"].time_s > base * 1.1' --junit result.xml

CONDITIONS
  A metric, numbers, base (the metric of the runs to compare with), + - * / and parentheses, compared by < <= > >= == or !=.
  Metrics are named as in the JSON report: elapsed_s, parallel_efficiency, load_balance, micro_load_balance, transfer,
  communication, t_ideal_s, max_computation_s, blocked_s …; of a region also time_s, invocations, operations.
  A metric that is not known fails. Of several runs it is the median.

EXIT CODES
  As of lb-report; 3 where a condition to fail on holds, or is not known.

docs/compare.md explains every figure, docs/compare-json.md every key of the JSON.";

/// Of `lb-report study`.
pub const STUDY: &str = "\
EXAMPLES
  Record a program on 1 to 8 ranks, and put the runs into a study:
      for p in 1 2 4 8; do mpirun -n $p lb-run --dir out-$p ./program; done
      lb-report study add scaling.study out-*

  Its runs; side by side, with speedup against the run with the fewest ranks:
      lb-report study list scaling.study
      lb-report study show scaling.study

  Name a parameter that the program does not state itself (LBPROF_PARAM), and show the runs by it:
      lb-report study add grid.study out-512 --param n=512
      lb-report study add grid.study out-1024 --param n=1024
      lb-report study show grid.study --by n --where ranks=4

  Of one region; of work that grows with the ranks; against a certain run:
      lb-report study show scaling.study --region force
      lb-report study show scaling.study --weak
      lb-report study show scaling.study --base 2

  How operations, times and speedup depend on ranks and parameters; what a run on 64 ranks would take:
      lb-report study model grid.study
      lb-report study model grid.study --at P=64,n=2048
      lb-report study graph grid.study --dot - | dot -Tsvg > grid.svg

  A page for a browser, with plots, models and the causal model, in one file:
      lb-report study html scaling.study scaling.html

  All that is kept, for a script, pandas or R:
      lb-report study export scaling.study --json - | jq .runs
      lb-report study export scaling.study --csv tables
      sqlite3 scaling.study 'SELECT n_ranks, elapsed_s FROM runs'

A study is one file; docs/study-format.md explains its tables.";

/// Of `lb-report study add`.
pub const ADD: &str = "\
EXAMPLES
  Runs with the parameters that the program states (LBPROF_PARAM); another that it does not:
      lb-report study add scaling.study out-1 out-2 out-4
      lb-report study add scaling.study out-8 --param n=512 --param method=2

  A run that is there already, with its parameter put right:
      lb-report study add scaling.study out-8 --param n=1024 --replace";

/// Of `lb-report study show`.
pub const SHOW: &str = "\
EXAMPLES
  By ranks, a table for each combination of parameters:
      lb-report study show scaling.study

  By the problem size, on 4 and on 8 ranks:
      lb-report study show scaling.study --by n --where ranks=4 --where ranks=8

  All in one table; work that grows with the ranks; a region:
      lb-report study show scaling.study --by ranks,n
      lb-report study show scaling.study --weak
      lb-report study show scaling.study --region force --base 3

docs/study.md explains the figures.";
