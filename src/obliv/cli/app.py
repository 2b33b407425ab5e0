"""The application: its verbs, which are imported when used, their groups, top-level help, and what is installed."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from difflib import get_close_matches
from functools import cache
from itertools import pairwise
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from obliv.capabilities import CAPABILITIES, Parts, load, named
from obliv.cli.options import flat
from obliv.errors import InputError


def option_names(verb: Any) -> dict[str, str]:
    """Return the options of a verb by the names that messages give their parameters."""
    names = {"import": "--import"}  # of the command, wherever it stands
    for parameter in verb.params:
        option = max(parameter.opts, key=len, default="")
        if option.startswith("--"):
            for name in (parameter.name.rstrip("_"), option[2:].replace("-", "_")):
                names |= {name: option, f"{name}=True": option} if parameter.is_flag else {name: option}
    others = {name: option for name, option in _OTHERWISE.items() if option.split()[0] in names.values()}
    return others | names


#: Options whose parameters have other names in Python.
_OTHERWISE = {
    "draw": "--plot DIR",
    "fewest_virtual_channels": "--fewest",
    "missing='skip'": "--skip-missing",
    "paths=True": "--to booksim-paths",
    "rng": "--seed",
    "tables": "--lft",
}


def hint_at(options: Collection[str], words: Sequence[str], extra: Sequence[str]) -> str:
    """Return what words of a command line, the last ones too many, may be meant for, as the end of a refusal."""
    from obliv.specs.registry import PATTERNS, ROUTINGS, TOPOLOGIES

    files = [word for word in words if os.path.isfile(word)]
    if "--lft" in options and len(files) > 1:
        return f": forwarding tables follow --lft, as in --lft {files[1]}"
    for name, argument in pairwise(words):
        if name in TOPOLOGIES and argument.startswith(tuple("(0123456789")):
            return f": a network is one word, {name}:{argument}"
    if extra and extra[0].partition(":")[0] in PATTERNS:
        return f": what a traffic pattern does to a routing is  obliv throughput {' '.join([*words[:2], extra[0]])}"
    if extra and sum(word.partition(":")[0] in ROUTINGS for word in words[1:]) > 1:
        return ": use obliv compare for several routings"
    return ""


_UsageError: Any = typer.BadParameter.__base__  # which is click's where Typer uses click


class _Verbs(Parts):
    """The functions, or groups, behind the verbs."""

    def __getitem__(self, name: str) -> Any:
        one = named(name)
        if one is None or not one.summary:
            raise KeyError(name)
        if one.verb:
            return load(one.verb)
        from obliv.cli.made import verb_of

        return verb_of(one)


VERBS = _Verbs("summary")

_SAVED = "save the answer with --output RESULT.json, then  obliv plot result RESULT.json FILE"

#: Options that verbs no longer have, and what to write instead.
_FORMER = {
    "--dark": f"{_SAVED} --dark",
    "--width": f"{_SAVED} --width PIXELS",
    "--picture": f"{_SAVED} --picture KIND",
    "--executor": "write --jobs N, --dask ADDRESS or --mpi",
    "--set": "write --traffic matrix:FILE",
    "--base": "a change is answered from the files, and no state is kept",
    "--symmetry": "symmetries are used where they save time; no answer depends on them",
}


class VerbGroup(TyperGroup):
    """A group of verbs: it says what a word that is not one of them may be meant for; `help VERB` prints help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except _UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] == "help":
            args = [*(word for word in args if word != "help"), "--help"]
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-") and not ctx.resilient_parsing:
            ctx.fail(f"No such command {name!r}{self.hint(ctx, name)}")
        return super().resolve_command(ctx, args)

    def hint(self, ctx: Any, name: str) -> str:
        """Return what an unknown word may be meant for, as the end of a refusal."""
        verbs = self.list_commands(ctx)
        spec = ":" in name or "." in name
        if not spec and (near := get_close_matches(name, verbs)):
            return f". Did you mean {', '.join(map(repr, near))}?"
        if spec or os.path.exists(name):
            return f": write {', '.join(verbs)} before it"
        return f": choose {', '.join(verbs)}" if ctx.parent is not None else ""


class Verb(TyperCommand):
    """A verb: it says what unknown options and words that are too many may be meant for."""

    allow_extra_args = True  # refused here, with a hint

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for parameter in self.params:
            parameter.type = _plain(parameter.type)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        args = self._traffic_last(args)
        words = list(args)
        try:
            with self._given_otherwise(ctx, words):
                extra = super().parse_args(ctx, args)
        except _UsageError as error:
            kind = type(error).__name__
            if kind == "NoSuchOption" and error.option_name in _FORMER:
                ctx.fail(f"{ctx.command_path} has no {error.option_name} any more: {_FORMER[error.option_name]}")
            if kind == "NoSuchOption" and (name := error.option_name.removeprefix("--")) in self._formats():
                ctx.fail(f"No such option: --{name}: write --format {name}")
            if kind == "MissingParameter" and (hint := self._hint(ctx, words)):
                ctx.fail(error.format_message().rstrip(".") + hint)
            error.ctx = error.ctx or ctx
            raise
        if extra and not ctx.resilient_parsing:
            arguments = "argument" if len(extra) == 1 else "arguments"
            ctx.fail(f"Got unexpected extra {arguments} ({' '.join(extra)}){self._hint(ctx, words)}")
        return extra

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except InputError as error:  # its message names parameters
            error.args = (error.text(option_names(self)),)
            raise

    def _traffic_last(self, args: list[str]) -> list[str]:
        """Return the words with ``--traffic T`` as the argument TRAFFIC, where the verb has no such option."""
        named = {name for parameter in self.params for name in (parameter.name, *parameter.opts)}
        if "--traffic" in named or "words" not in named:
            return args
        rest, given = [], []
        words = iter(args)
        for word in words:
            name, equals, value = word.partition("=")
            if name == "--traffic":
                given += [value] if equals else [text for text in [next(words, None)] if text is not None]
            else:
                rest.append(word)
        return rest + given

    @contextmanager
    def _given_otherwise(self, ctx: Any, words: list[str]) -> Iterator[None]:
        """Do not require --lft where the topology is a folder with tables."""
        required = [parameter for parameter in self.params if parameter.name == "lft" and parameter.required]
        if required:
            topology = self.make_parser(ctx).parse_args(list(words))[0].get("topology")
            folder = isinstance(topology, str) and os.path.isdir(topology)
            for parameter in required:
                parameter.required = not folder
        try:
            yield
        finally:
            for parameter in required:
                parameter.required = True

    def _formats(self) -> tuple[str, ...]:
        """Return the formats of the answer."""
        types = (parameter.type for parameter in self.params if "--format" in parameter.opts)
        return getattr(next(types, None), "choices", ())

    def _hint(self, ctx: Any, words: list[str]) -> str:
        """Return what the words that are not options may be meant for, as the end of a refusal."""
        given, extra, _ = self.make_parser(ctx).parse_args(words)
        options = [name for parameter in self.params if parameter.name not in given for name in parameter.opts]
        arguments = [
            given.get(str(argument.name)) for argument in self.params if argument.param_type_name == "argument"
        ]
        several = [value if isinstance(value, tuple) else (value,) for value in arguments]
        words = [word for value in (*several, extra) for word in value if isinstance(word, str)]
        return hint_at(options, words, extra) or self._choice_among(given, extra)

    def _choice_among(self, given: Collection[str], extra: Sequence[str]) -> str:
        """Return how to write a word that an option takes, by the list of words that its help is."""
        for parameter in self.params:
            about = getattr(parameter, "help", None) or ""
            if parameter.name not in given and re.fullmatch(r"[\w-]+(, [\w-]+)+ or [\w-]+\.", about):
                for word in set(re.findall(r"[\w-]+", about)).intersection(extra):
                    return f": write {min(parameter.opts, key=len)} {word}"
        return ""


def _plain(kind: Any) -> Any:
    """Return a type of numbers that says in plain words what is not one; other types stay as they are."""
    whole = kind.name.startswith("int")
    if not whole and not kind.name.startswith("float"):
        return kind

    def convert(value: Any, *place: Any) -> Any:
        try:
            (int if whole else float)(value)
        except ValueError:
            kind.fail(f"{value!r} is not a {'whole ' if whole else ''}number", *place)
        return kind.convert(value, *place)

    plain = copy(kind)
    plain.convert = convert
    return plain


def group(help: str, *verbs: Callable[..., None]) -> typer.Typer:
    """Return the application of some sub-verbs, which are called as their functions are."""
    own = typer.Typer(cls=VerbGroup, help=help, no_args_is_help=True, add_completion=False, rich_markup_mode=None)
    for verb in verbs:
        own.command(verb.__name__.rstrip("_"), cls=Verb)(flat(verb))
    return own


@cache
def _verb(verb: str) -> Any:
    """Return the command of a verb; a process that runs several command lines makes it once."""
    function = VERBS[verb]
    if not isinstance(function, typer.Typer):
        own = typer.Typer(rich_markup_mode=None, add_completion=False)
        own.command(verb, cls=Verb)(flat(function))
        function = own
    command = get_command(function)
    command.name = verb
    return command


class Verbs(VerbGroup):
    """The group of all verbs; the module of a verb is imported when the verb is used."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _imports_first(ctx, args))

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        one = named(cmd_name)
        return _verb(one.name) if one is not None and one.summary else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, CAPABILITIES[name].summary) for name in VERBS])

    def hint(self, ctx: Any, name: str) -> str:
        return ": write obliv --version" if name == "version" else super().hint(ctx, name)


def _imports_first(ctx: Any, args: list[str]) -> list[str]:
    """Return the words of a command line with ``--import FILE`` first, wherever it stands."""
    first, rest = [], []
    words = iter(args)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word == "--import":
            first += [word, next(words, "")]
            if not first[-1]:
                ctx.fail("Option '--import' requires an argument.")
        elif word.startswith("--import="):
            first.append(word)
        else:
            rest.append(word)
    return first + rest


def _import(context: typer.Context, files: list[str]) -> None:
    if files:
        from obliv.specs.registry import run_files

        run_files(files)
        context.meta.setdefault("obliv.imports", []).extend(files)


ImportOption = Annotated[
    list[str] | None,
    typer.Option(
        "--import",
        metavar="FILE.py",
        callback=_import,
        is_eager=True,
        expose_value=False,
        help="Python file to run first; it may register topologies, routings, traffic.",
    ),
]


app = typer.Typer(
    name="obliv",
    cls=Verbs,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@cache
def command() -> Any:
    """Return the command of all verbs; a process that runs several command lines makes it once."""
    return get_command(app)


# What is installed, for reports of bugs: ``obliv --version --verbose``


def installed() -> str:
    """Return Python, platform, cores and the versions of all packages that obliv can use, a line each."""
    import platform

    from obliv._util.executors import cores

    lines = [
        ("Python", f"{platform.python_version()} ({platform.python_implementation()})"),
        ("platform", platform.platform()),
        ("cores", str(cores())),
        ("encoding", f"{sys.stdout.encoding}, file names {sys.getfilesystemencoding()}"),
    ]
    lines += [(name, _version_of(name) or "not installed") for name in _packages()]
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"  {name:<{width}}  {value}" for name, value in lines)


def _packages() -> list[str]:
    """Return the names of the required packages, then of those of extras, each once."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        required = requires("obliv") or []
    except PackageNotFoundError:  # run from a folder that is not installed
        required = []
    names = dict.fromkeys(re.split(r"[^\w.-]", requirement, maxsplit=1)[0] for requirement in required)
    return [name for name in names if name != "obliv"]


def _version_of(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _show_version(verbose: bool) -> None:
    from obliv import __version__

    typer.echo(f"obliv {__version__}")
    if verbose:
        typer.echo(installed())


@app.callback(invoke_without_command=True)
def whole(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="With --version: what a report of a bug should say.")
    ] = False,
    import_: ImportOption = None,
) -> None:
    """Exact worst-case traffic of oblivious routings, with proofs.

    obliv worst torus:9x9 romm              the worst traffic of ROMM

    obliv worst mesh:8x8 o1turn -o c.json   save the certificate, then

    obliv verify c.json                     check it with independent code

    obliv list routings                     list the available routings
    """
    if version:
        _show_version(verbose)
        raise typer.Exit
    if verbose:
        raise typer.BadParameter("use it with --version", param_hint="--verbose")
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
