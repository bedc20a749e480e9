"""Prints figures about the shape of the source tree: sizes, imports, cycles, comments.

The figures support a review: they show where modules are fragments, which imports are hidden
inside functions or behind TYPE_CHECKING, and whether packages form cycles. This script judges
nothing; `check_sizes.py` enforces the limits. Generated code is left out.
"""

import ast
import io
import statistics
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path("src")
GENERATED = SOURCE / "barnabas/wire/messages"
SMALL_MODULE_LINES = 60


@dataclass
class Module:
    """One source file and the imports found in it, by how they are written."""

    name: str
    path: Path
    text: str
    tree: ast.Module
    imports: set[str] = field(default_factory=set)
    """Project modules imported at module level."""
    function_imports: set[str] = field(default_factory=set)
    type_checking_imports: set[str] = field(default_factory=set)
    function_import_count: int = 0

    @property
    def lines(self) -> int:
        return self.text.count("\n")

    @property
    def all_imports(self) -> set[str]:
        return self.imports | self.function_imports | self.type_checking_imports


def main() -> int:
    modules = load_modules()
    for label, value in figures(modules):
        print(f"{label:58} {value}")
    if "--names" in sys.argv[1:]:
        print_repeated_class_names(modules)
    if "--cycles" in sys.argv[1:]:
        for cycle in cycles({m.name: m.all_imports for m in modules.values()}):
            print(f"cycle of {len(cycle)}: {' '.join(sorted(cycle))}")
    return 0


def load_modules() -> dict[str, Module]:
    """Reads every hand-written module below src, with its imports resolved to module names."""
    paths = [path for path in sorted(SOURCE.rglob("*.py")) if GENERATED not in path.parents]
    names = {module_name(path) for path in SOURCE.rglob("*.py")}
    modules = {}
    for path in paths:
        text = path.read_text(encoding="utf-8")
        module = Module(module_name(path), path, text, ast.parse(text))
        collect_imports(module, names)
        modules[module.name] = module
    return modules


def module_name(path: Path) -> str:
    parts = list(path.relative_to(SOURCE).with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


def collect_imports(module: Module, names: set[str]) -> None:
    """Sorts the imports of a module by their place: module level, TYPE_CHECKING, function."""

    def visit(node: ast.AST, target: set[str], in_function: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import | ast.ImportFrom):
                target.update(imported_modules(child, module, names))
                module.function_import_count += in_function
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                visit(child, module.function_imports, True)
            elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                visit(child, module.type_checking_imports, in_function)
            else:
                visit(child, target, in_function)

    visit(module.tree, module.imports, False)
    for found in (module.imports, module.function_imports, module.type_checking_imports):
        found.discard(module.name)


def imported_modules(
    node: ast.Import | ast.ImportFrom, module: Module, names: set[str]
) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in names)
        return
    base = node.module or ""
    if node.level:
        is_package = module.path.name == "__init__.py"
        package = module.name if is_package else module.name.rpartition(".")[0]
        base = f"{package}.{base}" if base else package
    for alias in node.names:
        if f"{base}.{alias.name}" in names:
            yield f"{base}.{alias.name}"
        elif base in names:
            yield base


def importers(modules: dict[str, Module]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for module in modules.values():
        for imported in module.all_imports:
            found[imported].add(module.name)
    return found


def cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Strongly connected components with more than one module (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in graph[node] & graph.keys():
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            start = stack.index(node)
            found.append(set(stack[start:]))
            del stack[start:]

    sys.setrecursionlimit(10_000)
    for node in graph:
        if node not in index:
            visit(node)
    return sorted((cycle for cycle in found if len(cycle) > 1), key=len, reverse=True)


def figures(modules: dict[str, Module]) -> Iterator[tuple[str, object]]:
    sizes = sorted(module.lines for module in modules.values() if module.text.strip())
    imported_by = importers(modules)
    hidden = cycles({module.name: module.all_imports for module in modules.values()})
    total = sum(sizes)
    yield "modules", len(modules)
    yield "lines", total
    yield "median lines", statistics.median(sizes)
    yield "90th percentile of lines", sizes[int(len(sizes) * 0.9)]
    yield "modules under 100 lines", sum(size < 100 for size in sizes)
    yield (
        f"modules under {SMALL_MODULE_LINES} lines with one importer",
        sum(1 for module in small_modules(modules, imported_by)),
    )
    yield "modules with one importer", sum(len(imported_by[name]) == 1 for name in modules)
    yield "function-level imports", sum(m.function_import_count for m in modules.values())
    yield (
        "files with imports behind TYPE_CHECKING",
        sum(bool(module.type_checking_imports) for module in modules.values()),
    )
    yield "import cycles, all imports counted", len(hidden)
    yield "modules in the largest cycle", len(hidden[0]) if hidden else 0
    comments = sum(comment_lines(module.text) for module in modules.values())
    docstrings = sum(docstring_lines(module.tree) for module in modules.values())
    yield "comment lines", f"{comments} ({comments / total:.1%})"
    yield "docstring lines", f"{docstrings} ({docstrings / total:.1%})"
    yield "uses of Any", sum(name_uses(module.tree, "Any") for module in modules.values())
    yield "type: ignore", sum(module.text.count("# type: ignore") for module in modules.values())
    yield "class names defined more than once", len(repeated_class_names(modules))


def small_modules(modules: dict[str, Module], imported_by: dict[str, set[str]]) -> Iterator[Module]:
    """Modules that are probably a fragment of their only importer."""
    for module in modules.values():
        is_package = module.path.name == "__init__.py"
        one_importer = len(imported_by[module.name]) == 1
        if not is_package and module.lines < SMALL_MODULE_LINES and one_importer:
            yield module


def comment_lines(text: str) -> int:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type == tokenize.COMMENT for token in tokens)


def docstring_lines(tree: ast.Module) -> int:
    """Lines of docstrings, those below attributes included."""
    return sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def name_uses(tree: ast.Module, name: str) -> int:
    return sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree))


def repeated_class_names(modules: dict[str, Module]) -> dict[str, list[str]]:
    places: dict[str, list[str]] = defaultdict(list)
    for module in modules.values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(module.name)
    return {name: found for name, found in places.items() if len(found) > 1}


def print_repeated_class_names(modules: dict[str, Module]) -> None:
    repeated = repeated_class_names(modules)
    counts = Counter({name: len(found) for name, found in repeated.items()})
    for name, count in counts.most_common():
        print(f"{name} x{count}: {' '.join(repeated[name])}")


if __name__ == "__main__":
    sys.exit(main())
