"""What the wing adds to obliv: networks and routings from files of InfiniBand fabrics, their verbs and results."""

from __future__ import annotations

from obliv.capabilities import capability
from obliv.specs import FILE_FORMATS, MODULES, FileFormat

__all__: list[str] = []

MODULES["topology"]["fabric"] = "obliv.fabric.specs"
MODULES["routing"].update(dict.fromkeys(("lft", "far"), "obliv.fabric.specs"))

FILE_FORMATS["ibnetdiscover"] = FileFormat(
    r'(?:(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid)=|(?:Switch|Ca|Hca|Rt|\?\?\?)[ \t]+\d+[ \t]+")',
    "obliv.fabric.specs",
    "fabric",
)

#: Other files of fabrics.
_FABRICS = {
    "ibnetdiscover-p": r"[ \t]*(?:CA|SW|RT|\?\?)[ \t]+\d+[ \t]+\d+[ \t]+0x[0-9a-fA-F]+[ \t]+\S+[ \t]+\S+",
    "iblinkinfo": r"[^\n=]{0,200}==\([^)\n]*\)==>",
    "opensm-subnet": r"[ \t]*\{ \S+ Ports:[0-9a-fA-F]+ ",
    "ibdiagnet-net-dump": r'[ \t]*"[^"\n]{0,200}",[^,\n]{0,100}, *0x[0-9a-fA-F]{1,16}, *LID +\d',
    "ibdiagnet-db-csv": r"START_(?:NODES|LINKS)\b",
}
FILE_FORMATS.update({name: FileFormat(sign, "obliv.fabric.specs", "fabric") for name, sign in _FABRICS.items()})

capability(
    "fabric",
    summary="Check InfiniBand fabrics, analyze and improve their tables.",
    verb="obliv.fabric.cli:app",
    measure="obliv.fabric.specs:MEASURE",
)
capability("worst", "obliv.fabric.results.worst")
capability("throughput", "obliv.fabric.results.worst")
capability("fabric-check", "obliv.fabric.results.check")
capability("fabric-job", "obliv.fabric.results.job", draw="obliv.fabric.charts:plot_job")
capability("fabric-route", "obliv.fabric.results.route")
capability("what-if", "obliv.fabric.results.worst")
capability("fabric-shifts", "obliv.fabric.results.worst")
capability("fabric-bisection", "obliv.fabric.results.worst")
capability("failures of tables", check="obliv.fabric.checker.failures:check_failures")
