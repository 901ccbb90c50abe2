#!/usr/bin/env bash
# The step of action.yml: lb-report compare with the inputs, which come as variables LB_*.
set -uo pipefail
read -r -a before <<<"${LB_BEFORE//$'\n'/ }"
read -r -a after <<<"${LB_AFTER//$'\n'/ }"
read -r -a further <<<"${LB_ARGUMENTS//$'\n'/ }"
options=()
while IFS= read -r condition; do
    [ -z "${condition//[[:space:]]/}" ] || options+=(--fail-if "$condition")
done <<<"$LB_FAIL_IF"
# What an earlier step wrote must not be taken for this one's.
[ -z "$LB_JUNIT" ] || { rm -f "$LB_JUNIT" && options+=(--junit "$LB_JUNIT"); }
[ -z "$LB_MARKDOWN" ] || { rm -f "$LB_MARKDOWN" && options+=(--markdown "$LB_MARKDOWN"); }

"$LB_REPORT" compare "${before[@]}" --with "${after[@]}" "${options[@]}" "${further[@]}"
code=$?

[ -z "$LB_MARKDOWN" ] || [ ! -e "$LB_MARKDOWN" ] || cat "$LB_MARKDOWN" >>"$GITHUB_STEP_SUMMARY"
{
    echo "exit-code=$code"
    if [ "$code" -eq 3 ]; then echo failed=true; else echo failed=false; fi
} >>"$GITHUB_OUTPUT"
case "$code" in
    0) ;;
    3) echo "::error title=lbprof::A condition to fail on holds, or is not known" ;;
    4) echo "::warning title=lbprof::The comparison was made from incomplete data" && code=0 ;;
    *) echo "::error title=lbprof::lb-report compare ended with exit code $code" ;;
esac
exit "$code"
