#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Make a Debian tree into the beds' root file system. usage: customize.sh ROOT
set -euo pipefail
root=$1

echo bed > "$root/etc/hostname"
cat > "$root/etc/hosts" <<'HOSTS'
127.0.0.1 localhost
127.0.1.1 bed
10.8.0.1 host
10.8.0.2 target
HOSTS
: > "$root/etc/fstab"
: > "$root/etc/machine-id"   # each machine gets its own on the kernel command line
rm -f "$root"/etc/apt/sources.list "$root"/etc/apt/sources.list.d/* "$root"/etc/apt/apt.conf.d/99mmdebstrap
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*.bin
# Python looks for its byte code; made here, else every start compiles it again into the overlay.
chroot "$root" python3 -m compileall -q /usr/lib/python3/dist-packages >/dev/null || true

# Nothing runs on its own but what a bed is for, and systemd still reaches "running".
units=(
  apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer
  man-db.timer systemd-tmpfiles-clean.timer
  getty@tty1.service uuidd.socket iwpmd.service ibacm.socket rdma-ndd.service
  nvmf-autoconnect.service nvmefc-boot-connections.service
  systemd-pstore.service systemd-machine-id-commit.service ldconfig.service systemd-journal-flush.service
  systemd-update-utmp-runlevel.service systemd-update-utmp.service systemd-sysusers.service
  systemd-binfmt.service proc-sys-fs-binfmt_misc.automount
  systemd-networkd-wait-online.service systemd-timesyncd.service
  modprobe@drm.service modprobe@efi_pstore.service modprobe@fuse.service
)
for unit in "${units[@]}"; do ln -sfn /dev/null "$root/etc/systemd/system/$unit"; done
rm -f "$root"/etc/udev/rules.d/70-nvmf-autoconnect.rules "$root"/usr/lib/udev/rules.d/70-nvmf-autoconnect.rules
ln -sfn /usr/lib/systemd/system/multi-user.target "$root/etc/systemd/system/default.target"
# iSER and NFS over RDMA are not part of the guests' modules.
rm -f "$root"/etc/rdma/modules/{iwarp,opa,roce,rdma}.conf

for user in alice bob; do chroot "$root" useradd --create-home --shell /bin/bash "$user"; done
chroot "$root" passwd --quiet --delete root
# A root shell on the console without a login session, whose user manager would slow every boot.
console=$root/etc/systemd/system/serial-getty@ttyS0.service.d
mkdir -p "$console"
cat > "$console/shell.conf" <<'CONF'
[Service]
Environment=HOME=/root
WorkingDirectory=/root
ExecStart=
ExecStart=-/sbin/agetty --skip-login --login-program /bin/bash --noissue --noclear --keep-baud 115200 ttyS0 vt100
CONF
