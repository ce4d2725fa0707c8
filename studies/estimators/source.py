"""Load single functions from the source of a package that is not installed and need not import.

A function is compiled from its own file. What its body names is looked up when it runs: in the
same file, in the package's other files, among installed packages; what is nowhere is a stub.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from setrl.support.errors import DataError

IMPORTED = "imported_by_the_study"
KEPT = ("staticmethod", "classmethod", "property", "dataclass", "torch.no_grad")  # decorators
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Stub:
    """What a package imports and this machine lacks: it may be called, but decides nothing."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, attribute: str) -> Stub:
        if attribute.startswith("__"):  # NumPy asks for __array__, and must not get a stub
            raise AttributeError(attribute)
        return Stub(f"{self.name}.{attribute}")

    def __call__(self, *_: Any, **__: Any) -> Stub:
        """Return the stub."""
        return self

    def __bool__(self) -> bool:
        raise DataError(f"the code depends on {self.name}, which is not installed")


@dataclass(frozen=True)
class Loaded:
    """A function with the place that it came from.

    Attributes:
        function: What can be called.
        path: Its file, relative to the folder of the package.
        line: Where it begins in this file.
        sha256: The hash of this file.
    """

    function: Any
    path: str
    line: int
    sha256: str


@dataclass(eq=False)
class Package:
    """The source of one package.

    Attributes:
        folder: Where it is.
        beside: The folders of packages that it imports.
        files: Its files that were read.
        known: What its imports gave: functions import again in each call.
    """

    folder: Path
    beside: Sequence[Path] = ()
    files: dict[Path, _File] = field(default_factory=dict)
    known: dict[tuple[str, str | None], Any] = field(default_factory=dict)

    def load(self, where: str) -> Loaded:
        """Return what a place names.

        Args:
            where: `path/to/file.py:function`, `…:Class` or `…:Class.method`, which is then a
                function of `self`, too.

        Raises:
            DataError: If there is no such file or name.
        """
        path, _, name = where.partition(":")
        file = self.file(self.folder / path)
        node = file.find(name)
        found = file.compiled(node) if "." in name else file.names[name]
        return Loaded(found, path, node.lineno, file.sha256)

    def load_part(self, where: str, first: str, until: str, arguments: str, result: str) -> Loaded:
        """Return statements of a long function as a function of what they read.

        Args:
            where: The function, as in `load`.
            first: The name that the first statement assigns.
            until: The name that the first statement after the part assigns.
            arguments: The names that the part reads from before, with commas.
            result: The name whose value is returned.
        """
        path, _, name = where.partition(":")
        file = self.file(self.folder / path)
        body = file.find(name).body
        start = next(at for at, one in enumerate(body) if first in _assigned(one))
        end = next(at for at, one in enumerate(body) if at > start and until in _assigned(one))
        made = ast.parse(f"def part({arguments}):\n    return {result}").body[0]
        assert isinstance(made, ast.FunctionDef)
        made.body[:0] = body[start:end]
        return Loaded(file.compiled(made), path, body[start].lineno, file.sha256)

    def file(self, path: Path) -> _File:
        """Return a file of the package, read once."""
        if path not in self.files:
            if not path.is_file():
                raise DataError(f"{path}: no such file; is {self.folder} the right version?")
            self.files[path] = _File(self, path)
        return self.files[path]

    def imported(self, module: str, name: str | None) -> Any:
        """Return what `import module` or `from module import name` gives."""
        if (module, name) not in self.known:
            self.known[module, name] = self._imported(module, name)
        return self.known[module, name]

    def _imported(self, module: str, name: str | None) -> Any:
        path = self._of_module(module)
        inner = self._of_module(f"{module}.{name}") if name else path
        if inner is not None:
            return _Module(self.file(inner))
        if path is not None and name is not None:
            return self.file(path).names[name]
        try:
            outside = import_module(module)
            return getattr(outside, name) if name else outside
        except (ImportError, AttributeError):
            return Stub(f"{module}.{name}" if name else module)

    def _of_module(self, module: str) -> Path | None:
        below = Path(*module.split("."))
        roots = (self.folder, self.folder / "src", *self.beside)
        parts = (below.with_suffix(".py"), below / "__init__.py")
        tried = [root / part for root in roots for part in parts]
        return next((path for path in tried if path.is_file()), None)


@dataclass(eq=False)
class _File:
    package: Package
    path: Path

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_bytes())

    @cached_property
    def sha256(self) -> str:
        return sha256(self.path.read_bytes()).hexdigest()

    @cached_property
    def names(self) -> _Names:
        return _Names(self)

    @cached_property
    def defined(self) -> dict[str, ast.stmt]:
        """Name → the statement at the top of the file that defines it, the last one."""
        return {name: one for one in _statements(self.tree.body) for name in _assigned(one)}

    def find(self, name: str) -> Any:
        """Return the statement that defines a function, a class, or a method of a class."""
        outer, _, inner = name.partition(".")
        node = self.defined.get(outer)
        if inner and isinstance(node, ast.ClassDef):
            node = next((one for one in node.body if inner in _assigned(one)), None)
        if node is None:
            raise DataError(f"{self.path} defines no {name}; is it the right version?")
        return node

    def compiled(self, node: ast.stmt) -> Any:
        """Return what a statement defines, in the names of this file."""
        name = next(iter(_assigned(node)))
        inside: dict[str, Any] = {}
        self.execute(node, inside)
        return inside[name]

    def execute(self, node: ast.stmt, into: dict[str, Any]) -> None:
        module = _Cleaned().visit(ast.Module([node], type_ignores=[]))
        for name in _read_at_once(module.body[0]):
            self.names.get_or_skip(name)
        if isinstance(node, ast.ClassDef):
            node.bases = [one for one in node.bases if not self._is_stub(one)]
        code = compile(ast.fix_missing_locations(module), str(self.path), "exec",
                       flags=annotations.compiler_flag, dont_inherit=True)  # fmt: skip
        exec(code, self.names, into)

    def _is_stub(self, node: ast.expr) -> bool:
        code = compile(ast.Expression(node), str(self.path), "eval")
        return isinstance(eval(code, self.names), Stub)

    def imported(self, module: str, name: str | None) -> Any:
        """Return what `from module import name` gives in this file; dots begin at its folder."""
        inner = module.lstrip(".")
        if level := len(module) - len(inner):
            parts = self.path.relative_to(self.package.folder).parts[:-level]
            inner = ".".join([*parts, *filter(None, [inner])])
        return self.package.imported(inner, name)


class _Names(dict[str, Any]):
    """The globals of a file, which are defined when they are first read."""

    def __init__(self, file: _File) -> None:
        # Dataclasses ask for the module that defines them.
        super().__init__({"__name__": __name__, IMPORTED: file.imported})
        self.file = file

    def __missing__(self, name: str) -> Any:
        node = self.file.defined.get(name)
        if node is None:
            raise KeyError(name)  # Python then looks among its builtins
        if isinstance(node, ast.Import):  # `import a.b` binds a, `import a.b as c` binds a.b
            alias = next(one for one in node.names if name in (one.asname, one.name.split(".")[0]))
            self[name] = self.file.imported(alias.name if alias.asname else name, None)
        else:
            self.file.execute(node, self)
        return self[name]

    def get_or_skip(self, name: str) -> None:
        if name in self.file.defined:
            self[name]


class _Module:
    """A module of the package, as other modules import it."""

    def __init__(self, file: _File) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        try:
            return self._file.names[name]
        except KeyError:
            raise AttributeError(f"{self._file.path} defines no {name}") from None


class _Cleaned(ast.NodeTransformer):
    """Drop decorators that register, and bases of classes that are not needed to call a method."""

    def visit_FunctionDef(self, node: Any) -> Any:
        node.returns = None
        node.decorator_list = [
            one for one in node.decorator_list if ast.unparse(one).startswith(KEPT)
        ]
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        """Look up what a function imports where files of the package are, or as a stub."""
        module = "." * node.level + (node.module or "")
        lines = (
            f"{one.asname or one.name} = {IMPORTED}({module!r}, {one.name!r})" for one in node.names
        )
        return ast.parse("\n".join(lines)).body

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements at the top of a file, also those under `if` and `try`."""
    for one in body:
        if isinstance(one, ast.If | ast.Try | ast.With):
            handlers = getattr(one, "handlers", [])
            inner = [part for handler in handlers for part in handler.body]
            yield from _statements([*inner, *getattr(one, "orelse", []), *one.body])
        else:
            yield one


def _assigned(node: ast.stmt) -> set[str]:
    """Return the names that a statement binds, also in branches inside it."""
    if isinstance(node, Function | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {one.asname or one.name.split(".")[0] for one in node.names}
    return {
        one.id
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }


def _read_at_once(node: ast.stmt) -> set[str]:
    """Return the names that are read when a statement runs, not when its functions are called."""
    later = {
        id(inner)
        for one in ast.walk(node)
        if isinstance(one, Function)
        for part in one.body
        for inner in ast.walk(part)
    }
    names = (one for one in ast.walk(node) if isinstance(one, ast.Name) and id(one) not in later)
    return {one.id for one in names if isinstance(one.ctx, ast.Load)} - _assigned(node)
