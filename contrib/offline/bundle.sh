#!/usr/bin/env bash
# Packs obliv and everything it needs into one archive, for machines without network:
#
#     bash contrib/offline/bundle.sh [EXTRAS] [FILE]      # all, obliv-VERSION-offline.tar.gz
#
# On the other machine, with the same version of Python, operating system and processor:
#
#     tar xzf obliv-*-offline.tar.gz && obliv-*-offline/install.sh /opt/obliv && /opt/obliv/bin/obliv --version
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
extras=${1-all}
with=${extras:+[$extras]}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/tools"
tools=$work/tools/bin/python
"$tools" -m pip wheel --quiet --disable-pip-version-check --wheel-dir "$work/wheels" "$root$with" pip
version=$(basename "$work"/wheels/obliv-*.whl | cut -d- -f2)
python=$("$tools" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
name=obliv-$version-offline
mkdir "$work/$name"
mv "$work/wheels" "$work/$name/wheels"
"$tools" -m pip install --quiet --disable-pip-version-check --no-index --find-links "$work/$name/wheels" "obliv$with"
"$tools" "$root/docs/man.py" "$work/$name/man" >/dev/null
cat >"$work/$name/install.sh" <<INSTALL
#!/usr/bin/env bash
# Installs obliv $version into a folder of its own, from this archive alone: bash install.sh FOLDER
set -euo pipefail
here=\$(cd "\$(dirname "\$0")" && pwd)
folder=\${1:?name the folder, such as /opt/obliv}
python=\${PYTHON:-python$python}
command -v "\$python" >/dev/null || { echo "these wheels need Python $python; name it with PYTHON=" >&2; exit 2; }
"\$python" -m venv "\$folder"
"\$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --find-links "\$here/wheels" "obliv$with"
mkdir -p "\$folder/share/man/man1" && cp "\$here"/man/*.1 "\$folder/share/man/man1"
"\$folder/bin/obliv" --version
INSTALL
chmod +x "$work/$name/install.sh"
file=${2:-$name.tar.gz}
tar czf "$file" -C "$work" "$name"
echo "$file: $(du -h "$file" | cut -f1), for Python $python on $(uname -sm)"
