#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Install what the build needs, configure it as a distribution would, and build. usage: build.sh
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
build=${NTPROF_BUILD:-build}

tests/dev/packages.sh build
if [ ! -e meson.build ]; then
  echo "./dev: no meson.build, nothing to build" >&2
  exit 1
fi
# /usr: elsewhere neither systemd, polkit nor the bus would find the files once the build is installed in the test bed.
options=(--prefix=/usr --sysconfdir=/etc --localstatedir=/var)
if grep -qs "option('tests'" meson_options.txt; then options+=(-Dtests=true); fi
if [ ! -e "$build/build.ninja" ]; then
  meson setup "$build" "${options[@]}"
elif ! meson introspect "$build" --buildoptions | grep -q '"name": "prefix", "value": "/usr",'; then
  meson configure "$build" "${options[@]}"
fi
ninja -C "$build"
