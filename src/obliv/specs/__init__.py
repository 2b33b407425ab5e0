"""Specs: the texts that name topologies, routings and traffic, and the registries behind them.

The built-in names are known before anything is imported: ``obliv._builtin`` and the wings fill the tables below, and a
registry imports only the module of the name in a spec. The tables are empty here, since these modules belong to rooms
above this one.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CONVERTERS", "FILE_FORMATS", "MODULES", "Converter", "FileFormat"]


class FileFormat(NamedTuple):
    """A format of network files that ``file:PATH`` hands to another room.

    Parameters
    ----------
    sign : str
        A regular expression that fits the beginning of some line of such files and of no other kind.
    module, function : str
        The function that reads a path and returns a topology.
    """

    sign: str
    module: str
    function: str


class Converter(NamedTuple):
    """A function that takes an object of another package and a spec, and returns a topology."""

    module: str
    function: str


#: The module that registers each built-in name, by kind.
MODULES: dict[str, dict[str, str]] = {"topology": {}, "routing": {}, "traffic": {}}

#: Formats of network files that have a reader of their own, in :mod:`obliv.io` or in a room above it, by name.
FILE_FORMATS: dict[str, FileFormat] = {
    "tenstorrent": FileFormat(
        r"[ \t]*(?:mesh_descriptors|top_level_instance)\s*:?\s*\{", "obliv.io.formats.tenstorrent", "read_tenstorrent"
    ),
}

#: What turns objects into topologies, by the package of their class.
CONVERTERS: dict[str, Converter] = {}
