#!/bin/sh
# Fills /opt/glovebox from the Debian packages of the base image: every program there runs with the loader and the
# libraries there, and nothing of the image it is mounted into. Argument: the path of the dynamic loader.
set -eu
apt-get install -y -q --no-install-recommends patchelf

root=/opt/glovebox
mkdir -p "$root/bin" "$root/lib" "$root/libexec/git-core" "$root/share/git-core/templates" "$root/host"

# Programs. The host's own node is executable but not readable, so the kernel keeps every other process, of the same
# user too, out of its descriptors and memory. Its name is one that no command guesses.
cp /usr/local/bin/node "$root/host/gbx-h"
cp /usr/bin/rg "$root/bin/rg"
cp /usr/bin/git "$root/bin/git"
cd /tmp
# The names of all system calls; those of 32-bit x86 with their numbers, and none where there is no such convention.
gcc -E -dM -include sys/syscall.h -x c /dev/null | sed -n 's/^#define SYS_\([a-z0-9_]*\) .*/{"\1", SYS_\1},/p' >calls-own.h
gcc -E -dM -include asm/unistd_32.h -x c /dev/null 2>/dev/null |
  sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$/{"\1", \2},/p' >calls-i386.h
for name in idle probe attempt terminal; do
  gcc -O2 -static -s -o "$root/bin/$name" "$name.c"
done
cd /

# git finds its helpers by name; nearly all are git itself. Those for networks and scripts are left out.
for helper in /usr/lib/git-core/git-*; do
  if [ "$(readlink -f "$helper")" = /usr/bin/git ] || cmp -s "$helper" /usr/bin/git; then
    ln -s ../../bin/git "$root/libexec/git-core/${helper##*/}"
  fi
done
ln -s ../../bin/git "$root/libexec/git-core/git"

# The closure of shared libraries, and the loader under its own name.
programs="$root/host/gbx-h $root/bin/rg $root/bin/git"
ldd $programs | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p' | sort -u | while read -r library; do
  cp -L "$library" "$root/lib/${library##*/}"
done
loader="$root/lib/${1##*/}"
cp -L "$1" "$loader"

for program in $programs; do
  patchelf --set-interpreter "$loader" --force-rpath --set-rpath "$root/lib" "$program"
done

# The loader and libc read these files of the image, which could load code of the image's choice. Same lengths.
sed -i -e 's#/etc/ld\.so\.preload#/opt/glovebox/none#' -e 's#/etc/ld\.so\.cache#/opt/glovebox/nc#' "$loader"
sed -i -e 's#/etc/nsswitch\.conf#/opt/glovebox/nssw#' "$root/lib/libc.so.6"
printf 'passwd: files\ngroup: files\nhosts: files dns\n' >"$root/nssw"

chown -R 0:0 "$root"
chmod 0755 "$root" "$root/bin" "$root/lib" "$root/host"
chmod 0644 "$root"/lib/* "$root/nssw"
chmod 0755 "$loader" "$root"/bin/*
chmod 0111 "$root/host/gbx-h"

# What was built must run from here.
"$root/host/gbx-h" -e 'require("node:zlib").gzipSync("x")'
"$root/bin/rg" --version
"$root/bin/attempt" "own getpid"
sleep 1 | "$root/bin/terminal" /usr/bin/tty
"$root/bin/git" --version
