"""Files as text: loaded, decoded, and recognised by their content."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from obliv.errors import FileError, InputError, did_you_mean, require_memory

__all__ = ["lines", "load", "looks_like", "shown"]

_BINARY = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive: unpack it first"),
    (b"\x1f\x8b", "compressed with gzip: unpack it first (gunzip)"),
    (b"BZh", "compressed with bzip2: unpack it first (bunzip2)"),
    (b"\xfd7zXZ", "compressed with xz: unpack it first (unxz)"),
    (b"\x7fELF", "a program"),
)
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}["']([^"'>]{0,40})["']""")
_ENCODING = re.compile(
    r"(utf-?(8|16)|us-ascii|ascii|latin-?1|(iso-?)?8859-\d\d?|iso-8859-\d\d?|(windows-|cp)125\d|koi8-[ru]"
    r"|gbk|gb2312|gb18030|big5|shift_jis|euc-(jp|kr))\Z",
    re.IGNORECASE,
)

_HEAD = 1 << 16
_GML = re.compile(r"^[ \t]*graph[ \t\r\n]*\[", re.MULTILINE)
_GML_HEAD = re.compile(r"(Creator|Version)\s")
_DOT = re.compile(r"(strict\s+)?(di)?graph\b[^\[\n]*\{")
_FABRIC = re.compile(
    r'^(?:(?:vendid|devid|sysimgguid|switchguid|caguid)=|(?:Switch|Ca|Hca|Rt)[ \t]+\d+[ \t]+")', re.MULTILINE
)
_SNDLIB = re.compile(r"^(?:NODES|LINKS)[ \t]*\(", re.MULTILINE)
_ANYNET = re.compile(r"(router|node)[ \t]+\d+([ \t]|\Z)")


def load(path: str | Path) -> str:
    """The text of a file; FileError where there is none."""
    try:
        about = Path(path).stat()
        kind = about.st_mode
        if stat.S_ISREG(kind):
            require_memory(60.0 * about.st_size, f"reading {path}")
            data = Path(path).read_bytes()
    except FileNotFoundError:
        raise FileError(f"there is no such file{_misspelt(str(path))}", path) from None
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}", path) from None
    except InputError:
        raise
    except ValueError:  # a NUL in the name
        raise FileError("cannot be the name of a file", shown(str(path))) from None
    if stat.S_ISDIR(kind):
        raise FileError("is a directory: name a file in it", path)
    if not stat.S_ISREG(kind):
        raise FileError("is no regular file: save its content to a file first", path)
    if not data.strip():
        raise FileError("the file is empty", path)
    for magic, what in _BINARY:
        if data.startswith(magic):
            raise FileError(f"is {what}; a network is read from a text file", path)
    return _decoded(data, path)


def _misspelt(path: str) -> str:
    """A hint for ``file:NAME,bandwith=X``: what is no known option is taken for a part of the path."""
    name, comma, rest = path.partition(",")
    if not comma or not Path(name).is_file():
        return ""
    option = rest.partition("=")[0].strip()
    known = ("bandwidth", "component", "default", "ejection", "format", "injection", "terminals")
    return f", but there is {name}; if {shown(option)} is meant as an option, {did_you_mean(option, known)}"


def _decoded(data: bytes, path: str | Path) -> str:
    declared = _DECLARED.match(data.lstrip()[:400])
    encoding = next((name for bom, name in _BOMS if data.startswith(bom)), "")
    if not encoding and declared:
        encoding = declared[1].decode("ascii", "replace")
        if not _ENCODING.match(encoding):
            raise FileError(f"the encoding {shown(encoding)} is unknown: save the file as UTF-8", path, 1)
    try:
        text = data.decode(encoding or "utf-8")
    except UnicodeDecodeError as error:
        if 0 in data:
            raise FileError("is a binary file; a network is read from a text file", path) from None
        line = data.count(b"\n", 0, error.start) + 1
        remedy = "convert it, for example with  iconv -f latin1 -t utf-8"
        raise FileError(f"is not {encoding or 'UTF-8'} text: {remedy}", path, line) from None
    except LookupError:
        raise FileError(f"the encoding {shown(encoding)} is unknown: save the file as UTF-8", path, 1) from None
    if "\0" in text:
        raise FileError("is a binary file; a network is read from a text file", path)
    return text


def lines(text: str) -> list[str]:
    """The lines of a text as editors count them (str.splitlines also breaks at form feeds and the like)."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def shown(text: str) -> str:
    """A word from a file, quoted and cut short for a message of one line."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


def looks_like(text: str) -> str:
    """The format of a text: ``graphml``, ``gml``, ``anynet``, another kind by name, or ``edgelist`` if nothing fits."""
    head = text[:_HEAD].lstrip()
    if head.startswith("<"):
        if "graphml" in head.lower():
            return "graphml"
        return "sndlib" if "<network" in head else "html" if "<html" in head.lower() else "graphml"
    if head.startswith("?SNDlib") or _SNDLIB.search(head):
        return "sndlib"
    if head[:1] in "{[":
        return "json"
    if _FABRIC.search(head):
        return "ibnetdiscover"
    if _DOT.match(head):
        return "dot"
    first = next((line.strip() for line in lines(head) if line.strip() and line.lstrip()[0] != "#"), "")
    if _GML.search(head) or _GML_HEAD.match(first):
        return "gml"
    return "anynet" if _ANYNET.match(first) else "edgelist"
