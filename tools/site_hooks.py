"""What mkdocs needs to make a site of docs/: mathematics between dollars, and links that leave the folder.

Mathematics is taken out before Markdown sees its backslashes and put into elements that KaTeX, which is
copied from Debian's libjs-katex, renders in the browser. A link to a file outside docs/ becomes one to a
copy of it in the site; one to a file that does not exist ends the build."""

import html
import pathlib
import re
import shutil

KATEX = pathlib.Path("/usr/share/javascript/katex")
ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.M | re.S)
MATH = re.compile(r"\$\$(.+?)\$\$|(?<![\w$])\$((?:[^$\n]|\n(?!\n))+?)\$(?![\w$])", re.S)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]+)\)")

STYLE = """.math-display { overflow-x: auto; margin: 1em 0; }
.rst-content img { max-width: 100%; background: #fff; }
.wy-nav-content { max-width: 60em; }
@media (max-width: 768px) {
  .katex-display > .katex > .katex-html > .tag { position: static; display: inline-block; margin-left: 2em; }
}
.rst-content table { display: block; overflow-x: auto; border: none; margin: 0 0 1.5em; }
.rst-content table th, .rst-content table td { padding: 0.35em 0.8em; vertical-align: top; }
.rst-content table th { text-align: left; }
.rst-content table code { white-space: normal; overflow-wrap: anywhere; max-width: 26em; }
.rst-content pre { overflow-x: auto; }
.wy-table-responsive table td, .wy-table-responsive table th { white-space: normal; }
"""
SCRIPT = """document.addEventListener('DOMContentLoaded', function () {
  document.querySelectorAll('.math').forEach(function (e) {
    katex.render(e.textContent, e, { displayMode: e.classList.contains('math-display'), throwOnError: true });
  });
});
"""
_copied = set()


def _math(match):
    display = match.group(1) is not None
    text = html.escape((match.group(1) or match.group(2)).strip())
    text = " ".join(text.split("\n"))
    text = re.sub(r"[\\_*`\[\]|]", lambda special: f"&#{ord(special.group())};", text)  # Markdown's own
    kind, tag = ("math math-display", "div") if display else ("math", "span")
    return f'<{tag} class="{kind}">{text}</{tag}>'


def _link(page):
    folder = (ROOT / "docs" / page.file.src_path).parent

    def replace(match):
        bang, text, target = match.groups()
        path, _, anchor = target.partition("#")
        if "://" in target or not path:
            return match.group(0)
        resolved = (folder / path).resolve()
        if not resolved.exists():
            raise SystemExit(f"docs/{page.file.src_path}: {target} does not exist")
        inside = resolved.relative_to(ROOT).parts[0] == "docs" and resolved.suffix in (".md", ".svg", ".png")
        if bang or (inside and resolved.is_file()):
            return match.group(0)
        if resolved.is_dir():
            resolved = resolved / "README.md"
            if not resolved.exists():
                return text
        place = resolved.relative_to(ROOT)
        _copied.add(place)
        up = "../" * (len(pathlib.PurePosixPath(page.file.src_path).parts) - 1)
        return f'<a href="{up}repository/{place.as_posix()}.txt">{text}</a>'

    return replace


def on_page_markdown(markdown, page, **_):
    parts = FENCE.split(markdown)
    for i in range(0, len(parts), 2):  # what is no code
        parts[i] = MATH.sub(_math, parts[i])
    return LINK.sub(_link(page), "".join(parts))


def on_post_build(config, **_):
    site = pathlib.Path(config["site_dir"])
    assets = site / "assets"
    (assets / "fonts").mkdir(parents=True, exist_ok=True)
    for name in ("katex.min.css", "katex.min.js"):
        shutil.copyfile(KATEX / name, assets / name)
    for font in (KATEX / "fonts").iterdir():
        shutil.copyfile(font, assets / "fonts" / font.name)
    (assets / "site.css").write_text(STYLE)
    (assets / "math.js").write_text(SCRIPT)
    for place in _copied:  # as text, so that a browser shows it
        copy = site / "repository" / (place.as_posix() + ".txt")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / place, copy)
