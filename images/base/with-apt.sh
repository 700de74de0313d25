#!/bin/sh
# Runs a command while apt uses the mirrors and settings of the host (/tmp/host/apt), and takes them away again.
set -eu
host=/tmp/host
export DEBIAN_FRONTEND=noninteractive

if [ -s "$host/apt/sources.list" ]; then
  mkdir /tmp/own-sources
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    if [ -f "$file" ]; then mv "$file" /tmp/own-sources/; fi
  done
  cp "$host/apt/sources.list" /etc/apt/sources.list
fi
if [ -s "$host/apt/apt.conf" ]; then cp "$host/apt/apt.conf" /etc/apt/apt.conf.d/99host; fi

apt-get update -q
"$@"

rm -f /etc/apt/apt.conf.d/99host
if [ -d /tmp/own-sources ]; then
  rm -f /etc/apt/sources.list
  for file in /tmp/own-sources/*; do
    case "$file" in
      */sources.list) mv "$file" /etc/apt/ ;;
      *) if [ -f "$file" ]; then mv "$file" /etc/apt/sources.list.d/; fi ;;
    esac
  done
fi
# debootstrap writes the mirror it used; a password in its address is the host's.
if [ -f /etc/apt/sources.list ]; then sed -i 's#://[^/@ ]*@#://#' /etc/apt/sources.list; fi
apt-get clean
rm -rf /tmp/* /var/lib/apt/lists/* /var/cache/debconf/*-old /var/log/apt /var/log/dpkg.log /var/log/alternatives.log
