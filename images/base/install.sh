#!/bin/sh
# The packages of the base image, with security updates, and the host's local CA certificates.
set -eu

# No manuals and translations, and no fsync for every file: a build that breaks off is thrown away anyway.
cat >/etc/dpkg/dpkg.cfg.d/glovebox <<'END'
force-unsafe-io
path-exclude /usr/share/doc/*
path-exclude /usr/share/info/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/man/*
END

apt-get upgrade -y -q
xargs apt-get install -y -q --no-install-recommends </tmp/packages.txt

if [ -n "$(ls -A /tmp/host/ca 2>/dev/null)" ]; then
  cp /tmp/host/ca/*.crt /usr/local/share/ca-certificates/
  update-ca-certificates
fi

rm -rf /usr/share/doc/* /usr/share/info/* /usr/share/locale/* /usr/share/man/*
