#!/bin/sh
# Records matmul for several sizes n and numbers of ranks p, puts the runs into a study, and prints its laws and its causal model.
#
# usage: study.sh [FOLDER]        FOLDER: for the runs and the study; default ./study. lb-run and lb-report must be in PATH.
#
# matmul sleeps 1000 ns per operation, so δ is known on any number of cores. With NS= (empty) it really multiplies; then use no more
# ranks than cores.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-study}
ns=${NS-1000}
mpirun=${MPIRUN:-mpirun --oversubscribe}
mkdir -p "$folder"
# pkg-config knows the header's folder of an installation; otherwise use the one in the source tree.
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
