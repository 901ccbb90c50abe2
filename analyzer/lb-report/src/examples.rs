//! Examples and exit codes that the help shows.

pub const SHORT: &str = "\
Examples:
  mpirun -n 4 lb-run ./program      record a run into lbprof-out
  lb-report                         report on the newest run
  lb-report --html report.html      the same, and a page for a browser
  lb-report compare before after    what changed between two runs

lb-report --help explains every option, with more examples and the exit codes.";

/// Ends the short help of a command.
pub const MORE: &str = "--help explains every option, with examples and the exit codes.";

pub const REPORT: &str = "\
EXAMPLES
  Record a run, then read its report:
      mpirun -n 4 lb-run ./program
      lb-report

  The same as a page for a browser, in one file that can be sent:
      lb-report --html report.html

  Choose the run; show the tables that most users need; all tables:
      lb-report lbprof-out-2 --top 8
      lb-report lbprof-out-2 --full

  Show one list of its JSON as a table:
      lb-report --table dispersion.patterns

  Write its tables for a spreadsheet:
      lb-report --csv tables

  Read it from a script:
      lb-report lbprof-out --json | jq .efficiency
      lb-report lbprof-out --json report.json

  Report on every fourth rank; on the ranks of some hosts:
      lb-report --ranks 0-:4
      lb-report --ranks 'host=node1*'

  Report on one second of the run; on iterations 10 to 20 of its main loop:
      lb-report --from 1.5s --to 2.5s
      lb-report --from iteration=10 --to iteration=20

  Report on one region:
      lb-report --region force

  Predict the run with a region twice as fast:
      lb-report --what-if faster=force:2

  Keep the figures of several runs and show them side by side:
      lb-report study add scaling.study out-1 out-2 out-4
      lb-report study show scaling.study

  Complete lb-report's options in bash; read its manual page:
      source <(lb-report completions bash)
      lb-report man | man -l -

  Compare two runs; in CI, fail if the new one is 5 % slower:
      lb-report compare before after
      lb-report compare before after --fail-if 'elapsed_s > base * 1.05'

  Print every call of rank 3 as JSON lines:
      lb-report dump lbprof-out --rank 3

  Open a run in Perfetto:
      lb-report export perfetto lbprof-out -o run.pftrace

EXIT CODES
  0  the report was made
  1  lb-report itself failed; please report it
  2  the command line was wrong, or selects something that the run or study does not have
  3  a condition of --fail-if holds, or its metric is not known
  4  the report was made, or the run added to a study, from incomplete data
  5  no readable run or study was found, or reading it takes too much memory (LB_REPORT_MAX_MEMORY)
  6  the report or the study could not be written
  7  a process of lb-report-mpi failed

docs/report-reference.md explains every figure, docs/report-json.md every key of the JSON.";

pub const EXPORT: &str = "\
EXAMPLES
  Open a run in https://ui.perfetto.dev:
      lb-report export perfetto lbprof-out -o run.pftrace

  The same for four ranks and ten iterations:
      lb-report export perfetto --ranks 0-3 --from iteration=10 --to iteration=19 -o part.pftrace

  A flame graph of the time, and one of the waiting:
      lb-report export folded lbprof-out | inferno-flamegraph > time.svg
      lb-report export folded lbprof-out --weight waiting | inferno-flamegraph > waiting.svg

  A trace for Paraver: run.prv, run.pcf and run.row:
      lb-report export paraver lbprof-out -o run.prv

  A trace for Vampir or Scalasca, in a new folder:
      lb-report export otf2 lbprof-out -o trace

  Efficiencies for the pages that TALP-Pages makes of many runs:
      lb-report export talp lbprof-out -o pages/app/8.json

  Tables for pandas or DuckDB, in a folder; then the time that ranks wait, by wait state:
      lb-report export parquet lbprof-out -o tables
      duckdb -c \"select state, sum(end_ns - begin_ns) / 1e9 as s from 'tables/waits.parquet' group by state\"

docs/exports.md describes the formats.";

pub const COMPARE: &str = "\
EXAMPLES
  Explain what changed between two runs:
      lb-report compare lbprof-out lbprof-out-2

  Compare several runs on each side, to tell change from noise:
      lb-report compare before-1 before-2 before-3 --with after-1 after-2 after-3

  In CI, fail if the new run is 5 % slower or not efficient enough:
      lb-report compare before after --fail-if 'elapsed_s > base * 1.05' --fail-if 'parallel_efficiency < 0.9'
      lb-report compare before after --fail-if 'regions[\"main/step/force\"].time_s > base * 1.1' --junit result.xml

CONDITIONS
  A metric, one of < <= > >= == !=, and a number, also in %, or base (the metric's value in the runs before), base * 1.05 and the like
  with + - * or /. Metrics are named as in the JSON report: elapsed_s, parallel_efficiency, load_balance, micro_load_balance, transfer,
  communication, t_ideal_s, max_computation_s, blocked_s …; of a region also time_s, invocations, operations.
  A condition whose metric is not known fails. For several runs the median is used.

EXIT CODES
  As for lb-report; 3 if a condition of --fail-if holds or its metric is not known.

docs/compare.md explains every figure, docs/compare-json.md every key of the JSON.";

pub const STUDY: &str = "\
EXAMPLES
  Record a program on 1 to 8 ranks and add the runs to a study:
      for p in 1 2 4 8; do mpirun -n $p lb-run --dir out-$p ./program; done
      lb-report study add scaling.study out-*

  List its runs; show them side by side, with speedup over the run with the fewest ranks:
      lb-report study list scaling.study
      lb-report study show scaling.study

  Name a parameter that the program does not state itself (LBPROF_PARAM) and show the runs by it:
      lb-report study add grid.study out-512 --param n=512
      lb-report study add grid.study out-1024 --param n=1024
      lb-report study show grid.study --by n --where ranks=4

  Show one region; weak scaling; speedup over a certain run:
      lb-report study show scaling.study --region force
      lb-report study show scaling.study --weak
      lb-report study show scaling.study --base 2

  Fit models of operations and times by ranks and parameters:
      lb-report study model grid.study
      lb-report study graph grid.study

  Write a page for a browser with plots, models and the causal model:
      lb-report study html scaling.study scaling.html

  Keep a history of commits, with a page:
      lb-report study add history.study lbprof-out --label $(git rev-parse --short HEAD)
      lb-report study html history.study history.html

  Read it in scripts, or export it for Extra-P:
      sqlite3 -csv scaling.study 'SELECT n_ranks, elapsed_s FROM runs'
      lb-report study export scaling.study --extrap scaling.jsonl

A study is one file; docs/study-format.md explains its tables.";

pub const ADD: &str = "\
EXAMPLES
  Add runs with the parameters that the program states (LBPROF_PARAM), then one with other parameters:
      lb-report study add scaling.study out-1 out-2 out-4
      lb-report study add scaling.study out-8 --param n=512 --param method=2

  Correct the parameter of a run that is already in the study:
      lb-report study add scaling.study out-8 --param n=1024 --replace";

pub const SHOW: &str = "\
EXAMPLES
  Columns by ranks, one table for each combination of parameters:
      lb-report study show scaling.study

  Columns by problem size, on 4 and on 8 ranks:
      lb-report study show scaling.study --by n --where ranks=4 --where ranks=8

  One table for all; weak scaling; a region:
      lb-report study show scaling.study --by ranks,n
      lb-report study show scaling.study --weak
      lb-report study show scaling.study --region force --base 3

docs/study.md explains the figures.";
