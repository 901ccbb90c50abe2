#!/bin/sh
# Records matmul over n and p, puts the runs into a study, and prints its laws and its causal model.
#
# usage: study.sh [FOLDER]        FOLDER: of the runs and the study; by default ./study. lb-run and lb-report are found by PATH.
#
# matmul sleeps 1000 ns for an operation, so δ is known, on any number of cores. NS= (nothing): it multiplies; then take no more ranks than cores.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-study}
ns=${NS-1000}
mpirun=${MPIRUN:-mpirun --oversubscribe}
mkdir -p "$folder"
# Of an installation the header's folder is told by pkg-config, in the source it lies beside.
header=$(pkg-config --cflags lbprof 2>/dev/null) || header=-I$here/../../interpose/include
# shellcheck disable=SC2086  # words of their own
${MPICC:-mpicc} -O2 -g $header "$here/matmul.c" -o "$folder/matmul" -lm
cd "$folder"
for n in ${SIZES:-20 40 60 80 100 120}; do
    for p in ${RANKS:-1 2 4 6 8}; do
        # shellcheck disable=SC2086  # words of their own
        LBPROF_DIR=out-$n-$p $mpirun -n "$p" lb-run ./matmul "$n" ${ns:+--sleep "$ns"}
    done
done
lb-report study add matmul.study out-*
lb-report study model matmul.study --region multiply
lb-report study model matmul.study --region broadcast
lb-report study graph matmul.study
