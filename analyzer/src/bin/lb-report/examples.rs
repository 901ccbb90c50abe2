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

  Complete lb-report's options in bash; its manual:
      source <(lb-report completions bash)
      lb-report man | man -l -

  Every call of rank 3, as JSON lines:
      lb-report dump lbprof-out --rank 3

EXIT CODES
  0  the report was made
  1  lb-report itself failed; please report it
  2  the command line was wrong, or selects what the run does not have
  3  (reserved) a condition on the run does not hold
  4  the report was made, from incomplete data
  5  there is no run that can be read
  6  the report could not be written

docs/reading-a-report.md explains every figure, docs/report-json.md every key of the JSON.";
