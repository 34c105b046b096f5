"""Pages of the documentation, run as a reader would run them: block by block, in one namespace.

    python pages.py PAGE

It imports nothing that a page does not.
"""

import contextlib
import doctest
import io
import re
import sys
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ELLIPSIS = doctest.ELLIPSIS
OPTIONS = ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int  # of its first line in the page


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of ``page`` in order.

    >>> blocks("```python" + chr(10) + "1 + 1" + chr(10) + "```")
    [Block(language='python', text='1 + 1\\n', line=2)]
    """
    return [
        Block(match[1], match[2], page.count("\n", 0, match.start(2)) + 1)
        for match in FENCE.finditer(page)
    ]


def run(block: Block, path: Path, namespace: dict[str, object]) -> str:
    """Run a block and return what it prints; line numbers in a traceback are the page's."""
    if block.text.startswith(">>>"):
        test = doctest.DocTestParser().get_doctest(
            block.text, namespace, path.name, str(path), block.line - 1
        )
        report = io.StringIO()
        doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.write, clear_globs=False)
        assert report.getvalue() == "", report.getvalue()
        namespace.update(test.globs)
        return ""
    code = compile("\n" * (block.line - 1) + block.text, str(path), "exec")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, namespace)
    return printed.getvalue()


def check_page(path: Path) -> None:
    """Run the blocks of a page, and compare what they print with what it shows."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    printed = None
    for block in blocks(path.read_text()):
        if block.language == "python":
            printed = run(block, path, namespace)
        elif block.language == "output":
            assert printed is not None, f"{path.name}:{block.line}: output of no python block"
            problem = f"{path.name}:{block.line} shows\n{block.text}\nbut it prints\n{printed}"
            assert doctest.OutputChecker().check_output(block.text, printed, ELLIPSIS), problem
            printed = None


if __name__ == "__main__":
    check_page(Path(sys.argv[1]))
