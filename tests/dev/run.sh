#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Run a command against ntprofd and ntprof-peerd from the build on a private bus. usage: run.sh CMD ...
set -euo pipefail
root=$(readlink -f "$(dirname "$(readlink -f "$0")")/../..")
build=${NTPROF_BUILD:-$root/build}
[ $# -gt 0 ] || { echo "usage: ./dev run CMD ..." >&2; exit 2; }
for program in daemon/ntprofd peerd/ntprof-peerd; do
  [ -x "$build/$program" ] || { echo "./dev run: no $build/$program; ./dev build first" >&2; exit 1; }
done
read -ra arguments <<< "${NTPROFD_ARGS:-}"
read -ra peerd_arguments <<< "${NTPROF_PEERD_ARGS:-}"

folder=$(mktemp --directory --tmpdir ntprof-run.XXXXXX)
bus='' daemon='' peerd=''
# shellcheck disable=SC2317  # called by the trap
cleanup() {
  for process in $peerd $daemon $bus; do
    kill "$process" 2>/dev/null || continue
    wait "$process" || true
  done
  rm -rf "$folder"
}
trap cleanup EXIT

cat > "$folder/bus.conf" <<CONF
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=$folder/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_type="method_call"/>
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
  </policy>
</busconfig>
CONF
dbus-daemon --nofork --nopidfile --config-file="$folder/bus.conf" 2> "$folder/bus.log" &
bus=$!
for _ in {1..100}; do [ ! -S "$folder/bus" ] || break; sleep 0.05; done
[ -S "$folder/bus" ] || { cat "$folder/bus.log" >&2; exit 1; }
address=unix:path=$folder/bus

export LD_LIBRARY_PATH=$build/client/libntprof${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export GI_TYPELIB_PATH=$build/client/libntprof${GI_TYPELIB_PATH:+:$GI_TYPELIB_PATH}
export PATH=$build/client/ntprofctl:$build/daemon:$PATH
export NTPROF_PEERS_DIR=$folder/peers.d
mkdir --mode 0755 "$folder/peers.d"
"$build/daemon/ntprofd" --bus "$address" --peers-dir "$folder/peers.d" "${arguments[@]}" &
daemon=$!
# Later arguments win: NTPROF_PEERD_ARGS may name another --state-dir, to keep it.
"$build/peerd/ntprof-peerd" --bus "$address" --state-dir "$folder/state" --peers-dir "$folder/peers.d" --listen 127.0.0.1:0 \
  "${peerd_arguments[@]}" &
peerd=$!

export DBUS_SYSTEM_BUS_ADDRESS=$address
owned() {
  dbus-send --bus="$address" --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner \
    "string:$1" 2>/dev/null | grep -q 'boolean true'
}
wait_owned() {
  for _ in {1..200}; do
    if owned "$1"; then return; fi
    kill -0 "$3" 2>/dev/null || { echo "./dev run: $2 ended" >&2; exit 1; }
    sleep 0.05
  done
  echo "./dev run: $2 does not own $1" >&2
  exit 1
}
wait_owned org.ntprof1 ntprofd "$daemon"
wait_owned org.ntprof1.Peers ntprof-peerd "$peerd"

status=0
"$@" || status=$?
exit $status
