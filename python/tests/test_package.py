"""The package itself: stubs, examples, notebooks, archives, a Python without numpy."""

import ast
import doctest
import importlib.util
import inspect
import json
import os
import pathlib
import pkgutil
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import ricochet

SOURCE = pathlib.Path(os.environ.get("RICOCHET_SOURCE", pathlib.Path(__file__).parents[2]))
NOTEBOOKS = sorted((SOURCE / "python" / "notebooks").glob("*.ipynb"))


def load_tests(loader, tests, pattern):
    """Examples of docstrings are tests."""
    for module in pkgutil.iter_modules(ricochet.__path__, "ricochet."):
        if not module.name.endswith("_engine"):
            tests.addTests(doctest.DocTestSuite(module.name, optionflags=doctest.ELLIPSIS))
    tests.addTests(doctest.DocTestSuite("ricochet"))
    return tests


class Stubs(unittest.TestCase):
    """The stubs say what the module has: every public name, every parameter."""

    def setUp(self):
        text = (SOURCE / "python" / "src" / "ricochet" / "__init__.pyi").read_text()
        self.stubs = {node.name: node for node in ast.parse(text).body
                      if isinstance(node, (ast.ClassDef, ast.FunctionDef))}

    def parameters(self, node):
        given = node.args
        found = []
        positional = given.posonlyargs + given.args
        required = len(positional) - len(given.defaults)
        for k, one in enumerate(positional):
            kind = "POSITIONAL_ONLY" if k < len(given.posonlyargs) else "POSITIONAL_OR_KEYWORD"
            found.append((one.arg, kind, k >= required))
        for one, default in zip(given.kwonlyargs, given.kw_defaults):
            found.append((one.arg, "KEYWORD_ONLY", default is not None))
        if given.kwarg:
            found.append((given.kwarg.arg, "VAR_KEYWORD", False))
        return found

    def runtime(self, function):
        return [(p.name, p.kind.name, p.default is not p.empty)
                for p in inspect.signature(function).parameters.values()]

    def test_every_public_name(self):
        self.assertEqual(sorted(n for n in self.stubs if not n.startswith("_")),
                         sorted(ricochet.__all__))

    def test_every_function(self):
        for name, node in self.stubs.items():
            if isinstance(node, ast.FunctionDef):
                self.assertEqual(self.parameters(node), self.runtime(getattr(ricochet, name)), name)

    def members(self, node):
        """Of a stub class and those it derives from."""
        found = {}
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id in self.stubs:
                found.update(self.members(self.stubs[base.id]))
        found.update({one.name: one for one in node.body if isinstance(one, ast.FunctionDef)})
        return found

    def test_every_member(self):
        for name in ricochet.__all__:
            kind = getattr(ricochet, name)
            if not inspect.isclass(kind):
                continue
            stub = self.members(self.stubs[name])
            there = {m for base in kind.__mro__ if base.__module__.startswith("ricochet")
                     for m, value in vars(base).items()
                     if not m.startswith("_") and (callable(value) or isinstance(
                         value, (property, classmethod)))}
            self.assertEqual({m for m in stub if not m.startswith("_")}, there, name)
            for member, node in stub.items():
                value = inspect.getattr_static(kind, member)
                is_property = isinstance(value, property)
                says = any(isinstance(d, ast.Name) and d.id == "property"
                           for d in node.decorator_list)
                self.assertEqual(is_property, says, f"{name}.{member}")
                if is_property or isinstance(value, classmethod):
                    continue
                self.assertEqual(self.parameters(node), self.runtime(value), f"{name}.{member}")

    def test_every_member_says_what_it_is(self):
        for name in ricochet.__all__:
            item = getattr(ricochet, name)
            self.assertTrue(item.__doc__, name)
            if inspect.isclass(item):
                for member, value in vars(item).items():
                    if not member.startswith("_") and (callable(value)
                                                       or isinstance(value, property)):
                        self.assertTrue(value.__doc__, f"{name}.{member}")


class Guide(unittest.TestCase):
    def test_its_python_runs(self):
        text = (SOURCE / "docs" / "guide" / "python.md").read_text()
        blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        self.assertGreater(len(blocks), 4)
        scope = {}
        for block in blocks:
            if ">>>" in block:
                test = doctest.DocTestParser().get_doctest(block, scope, "python.md", None, 0)
                runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
                runner.run(test, clear_globs=False)
                self.assertEqual(runner.failures, 0)
                scope.update(test.globs)
            else:
                exec(compile(block, "python.md", "exec"), scope)  # pylint: disable=exec-used


class Notebooks(unittest.TestCase):
    def test_store_no_outputs(self):
        self.assertEqual(len(NOTEBOOKS), 5)
        for file in NOTEBOOKS:
            book = json.loads(file.read_text())
            self.assertLess(file.stat().st_size, 20000, file.name)
            for cell in book["cells"]:
                self.assertFalse(cell.get("outputs"), file.name)
                self.assertIsNone(cell.get("execution_count"), file.name)

    def test_execute(self):
        for module in ("nbconvert", "ipykernel", "matplotlib"):
            if importlib.util.find_spec(module) is None:
                self.skipTest(f"{module} is not there: apt-get install jupyter-nbconvert "
                              "python3-ipykernel python3-matplotlib")
        for file in NOTEBOOKS:
            with self.subTest(file.name), tempfile.TemporaryDirectory() as folder:
                # A kernel of this very Python, whatever others are installed.
                kernel = pathlib.Path(folder) / "share" / "jupyter" / "kernels" / "ricochet"
                kernel.mkdir(parents=True)
                (kernel / "kernel.json").write_text(json.dumps({
                    "argv": [sys.executable, "-m", "ipykernel_launcher", "-f",
                             "{connection_file}"],
                    "display_name": "ricochet", "language": "python"}))
                done = subprocess.run(
                    [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute",
                     "--ExecutePreprocessor.kernel_name=ricochet", "--output-dir", folder,
                     str(file)],
                    capture_output=True, text=True, check=False,
                    env={**os.environ, "JUPYTER_PATH": str(kernel.parents[1]),
                         "IPYTHONDIR": folder})
                self.assertEqual(done.returncode, 0, done.stderr[-2000:])
                book = json.loads((pathlib.Path(folder) / file.name).read_text())
                shown = [out for cell in book["cells"] for out in cell.get("outputs", [])]
                self.assertTrue(any("image/png" in out.get("data", {}) for out in shown),
                                "a notebook shows a picture")


class WithoutNumpy(unittest.TestCase):
    CODE = """
import sys
try:
    import numpy
    sys.exit(99)
except ImportError:
    pass
import ricochet
run = ricochet.builtin("essai-04").run()
assert run.status == "ok" and run.certificate.ok and len(run) == len(run.rows())
assert run.rows()[0][:3] == [0.0, 0.0, -40.0]
assert "<svg" in run.svg and "status" in str(run) and run._repr_html_()
run.to_csv(sys.argv[1])
assert ricochet.builtin("essai-04").inspect(0.1).status == "solved"
for ask in (lambda: run.q, lambda: run["wall"].gap,
            lambda: ricochet.System(["x"], mass=[1], force=lambda t, q, u: [0.0]),
            lambda: ricochet.ContactProblem([[1, 0], [0, 1]], [-1, 0], [0.5])):
    try:
        ask()
    except ImportError as error:
        assert "pip install numpy" in str(error), error
        assert "python3-numpy" in str(error), error
    else:
        sys.exit("no ImportError")
print("fine")
"""

    def check(self, *python):
        with tempfile.TemporaryDirectory() as folder:
            env = {"PYTHONPATH": str(pathlib.Path(ricochet.__file__).parents[1]), "PATH": "/usr/bin"}
            done = subprocess.run([*python, "-c", self.CODE, folder + "/rows.csv"], text=True,
                                  capture_output=True, check=False, env=env)
        if done.returncode == 99:
            self.skipTest(f"{python[0]} has numpy")
        self.assertEqual(done.stdout.strip(), "fine", done.stderr)

    def test_this_python_without_its_packages(self):
        self.check(sys.executable, "-S")

    def test_another_python(self):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        mine = os.path.realpath(sys.base_prefix)
        asked = os.environ.get("RICOCHET_OTHER_PYTHON", "")
        for name in [asked, *pathlib.Path.home().glob(f".pyenv/versions/{version}*/bin/python3"),
                     f"/usr/local/bin/python{version}", f"/usr/bin/python{version}"]:
            if not name or not os.access(name, os.X_OK):
                continue
            told = subprocess.run([str(name), "-c", "import sys; print(sys.base_prefix)"],
                                  capture_output=True, text=True, check=False).stdout.strip()
            if os.path.realpath(told) != mine:
                return self.check(str(name))
        return self.skipTest(f"no other Python {version} is there (RICOCHET_OTHER_PYTHON names one)")


class Archives(unittest.TestCase):
    def setUp(self):
        sys.path.insert(0, str(SOURCE / "tools"))
        import build_backend
        self.backend = build_backend

    def tearDown(self):
        sys.path.remove(str(SOURCE / "tools"))

    def test_the_source_archive_has_what_a_build_needs(self):
        import tarfile
        with tempfile.TemporaryDirectory() as folder:
            name = self.backend.build_sdist(folder)
            with tarfile.open(os.path.join(folder, name)) as archive:
                files = {one.split("/", 1)[1] for one in archive.getnames()}
            again = self.backend.build_sdist(folder)
            self.assertEqual(again, name)
        for needed in ("PKG-INFO", "pyproject.toml", "CMakeLists.txt", "tools/build_backend.py",
                       "python/CMakeLists.txt", "python/bindings/module.cpp",
                       "python/src/ricochet/__init__.py", "src/ricochet/scene/scene.cpp",
                       "scenes/essai-04.toml", "LICENSE"):
            self.assertIn(needed, files)
        self.assertFalse([one for one in files if "__pycache__" in one or one.startswith("build")])

    def test_the_version_is_one(self):
        said = self.backend.project()["version"]
        self.assertEqual(said, ricochet.__version__)
        self.assertIn(f"VERSION {said}", (SOURCE / "CMakeLists.txt").read_text())

    def install(self, kind, module):
        """A wheel of the module that is built already, unpacked as pip does."""
        self.backend.build_extension = lambda settings: module
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        name = getattr(self.backend, kind)(folder)
        site = os.path.join(folder, "site")
        with zipfile.ZipFile(os.path.join(folder, name)) as wheel:
            wheel.extractall(site)
            record = wheel.read(next(n for n in wheel.namelist() if n.endswith("RECORD"))).decode()
            self.assertEqual({line.split(",")[0] for line in record.splitlines()},
                             set(wheel.namelist()))
        code = ("import site, sys; site.addsitedir(sys.argv[1]); import ricochet; "
                "run = ricochet.builtin('essai-04').run(); print(ricochet.__file__, run.status)")
        done = subprocess.run([sys.executable, "-c", code, site], capture_output=True, text=True,
                              check=False, cwd=folder, env={"PATH": os.environ["PATH"]})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split(), site

    def test_a_wheel_installs(self):
        import ricochet._engine as engine
        (file, status), site = self.install("build_wheel", pathlib.Path(engine.__file__))
        self.assertEqual(status, "ok")
        self.assertTrue(file.startswith(site))

    def test_an_editable_install_uses_the_sources(self):
        import ricochet._engine as engine
        (file, status), _ = self.install("build_editable", pathlib.Path(engine.__file__))
        self.assertEqual(status, "ok")
        self.assertEqual(pathlib.Path(file).parents[1], SOURCE / "python" / "src")


if __name__ == "__main__":
    unittest.main()
