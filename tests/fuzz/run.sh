#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Build the fuzz targets with clang, address and undefined sanitizers, and run each over its corpus: one TAP test a target.
# usage: run.sh SECONDS (in all)
#
# What a run found that is new stays in $NTPROF_BUILD-fuzz/found/TARGET for the next one, and an input that failed in
# $NTPROF_BUILD-fuzz/failed. What is worth keeping in the tree is chosen by libFuzzer:
#     FUZZ-TARGET -merge=1 tests/fuzz/corpus/TARGET $NTPROF_BUILD-fuzz/found/TARGET
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
seconds=${1:?usage: run.sh SECONDS}
build=${NTPROF_BUILD:-build}-fuzz
corpora=tests/fuzz/corpus
mapfile -t targets < <(ls "$corpora")
each=$((seconds / ${#targets[@]} > 0 ? seconds / ${#targets[@]} : 1))

tests/dev/packages.sh build fuzz
if [ ! -e "$build/build.ninja" ]; then
  CC=clang meson setup "$build" --prefix=/usr -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false >&2
fi
ninja -C "$build" "${targets[@]/#/tests/fuzz/fuzz-}" >&2
mkdir -p "$build/failed"

# GLib's own allocator would hide what is wrong from the sanitizer.
export G_SLICE=always-malloc ASAN_OPTIONS=${ASAN_OPTIONS:-} UBSAN_OPTIONS=print_stacktrace=1
echo "1..${#targets[@]}"
number=0 status=0
for target in "${targets[@]}"; do
  number=$((number + 1))
  mkdir -p "$build/found/$target"
  log=$build/found/$target.log
  if "$build/tests/fuzz/fuzz-$target" -max_total_time="$each" -max_len=4096 -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix="$build/failed/$target-" "$build/found/$target" "$corpora/$target" > "$log" 2>&1; then
    sed -n 's/^stat::\(number_of_executed_units\|peak_rss_mb\)/# \1/p' "$log"
    echo "ok $number fuzz-$target"
  else
    tail -n 60 "$log" | sed 's/^/# /'
    echo "# again: $build/tests/fuzz/fuzz-$target INPUT, with the INPUT that is named above"
    echo "not ok $number fuzz-$target"
    status=1
  fi
done
exit $status
