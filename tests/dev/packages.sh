#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Install the packages that a purpose needs, as far as they are missing. usage: packages.sh build|test|bed ...
set -euo pipefail
list=$(dirname "$(readlink -f "$0")")/packages

if ! command -v dpkg-query >/dev/null; then
  echo "./dev: not Debian, so install by yourself what $list names for: $*" >&2
  exit 0
fi

wanted=()
for purpose in "$@"; do
  while read -r word package; do
    if [ "$word" = "$purpose" ]; then wanted+=("$package"); fi
  done < "$list"
done

# A package may be there as another one that provides it (pkgconf for pkg-config).
installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package} ${Provides}\n' | sed -n 's/^installed //p' |
  sed 's/([^)]*)//g; s/[, ]\+/\n/g')
missing=()
for package in "${wanted[@]}"; do
  grep -qxF "$package" <<< "$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
echo "./dev: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends
  -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "${missing[@]}")
if ! "${install[@]}" >&2; then
  echo "./dev: once more, with fresh package lists" >&2
  "${as_root[@]}" apt-get -o DPkg::Lock::Timeout=300 update >&2
  "${install[@]}" >&2
fi
