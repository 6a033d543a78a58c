"""Builds the Python package with nothing but CMake and the standard library (PEP 517, PEP 660).

The C++ build is kept in build-python-*, one folder for each Python, so that installing again is quick.
Settings: --config-setting jobs=N (else the variable JOBS, else all cores), --config-setting
cmake=-DOPTION=VALUE. Run as a program it compiles the module and shows how far it is.
"""

import base64
import gzip
import hashlib
import io
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "src" / "ricochet"
NAME = "ricochet"
SOURCES = ["CMakeLists.txt", "CITATION.cff", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE",
           "Makefile", "README.md", "pyproject.toml", "apps", "bench", "docs", "examples", "python",
           "scenes", "src", "tests", "tools"]
LEFT_OUT = {"__pycache__", ".ipynb_checkpoints"}
WHEN = (2020, 1, 1, 0, 0, 0)  # of files in archives: the same sources make the same archive


def project():
    """What pyproject.toml says of the project: the few keys that are used here."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")

    def word(key):
        return re.search(rf'^{key}\s*=\s*"(.*)"$', text, re.MULTILINE).group(1)
    optional = text[text.index("[project.optional-dependencies]"):]
    extras = re.findall(r'^(\w+)\s*=\s*\["(\w+)"\]$', optional, re.MULTILINE)
    classifiers = re.findall(r'^  "(.* :: .*)",$', text, re.MULTILINE)
    return {"version": word("version"), "description": word("description"),
            "requires": word("requires-python"), "extras": extras, "classifiers": classifiers}


def metadata():
    about = project()
    lines = ["Metadata-Version: 2.1", f"Name: {NAME}", f"Version: {about['version']}",
             f"Summary: {about['description']}", f"Requires-Python: {about['requires']}",
             "License: MIT"]
    lines += [f"Classifier: {one}" for one in about["classifiers"]]
    for extra, package in about["extras"]:
        lines += [f"Provides-Extra: {extra}", f"Requires-Dist: {package}; extra == '{extra}'"]
    lines += ["Description-Content-Type: text/markdown", ""]
    return "\n".join(lines) + "\n" + (ROOT / "README.md").read_text(encoding="utf-8")


def tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = re.sub(r"[^A-Za-z0-9]", "_", sysconfig.get_platform())
    return f"{python}-{python}-{platform}"


def extension():
    return "_engine" + sysconfig.get_config_var("EXT_SUFFIX")


def build_folder():
    soabi = sysconfig.get_config_var("SOABI")
    which = zlib.crc32(sys.base_prefix.encode())  # there may be two of one version
    folder = ROOT / f"build-python-{soabi}-{which:08x}"
    return pathlib.Path(os.environ.get("RICOCHET_BUILD", folder))


def options(settings):
    found = (settings or {}).get("cmake", [])
    return [found] if isinstance(found, str) else list(found)


def call(*command):
    print("+", *command, flush=True)
    result = subprocess.run(command, check=False)
    if result.returncode == 0:
        return
    raise SystemExit(
        f"error: {command[0]} failed with exit status {result.returncode}\n"
        "remedy: the build needs cmake, ninja, g++, pybind11 and the libraries of ricochet; on Debian "
        "`make python` installs them")


def build_extension(settings):
    """Compiles the module for this Python; returns its file."""
    folder = build_folder()
    jobs = (settings or {}).get("jobs") or os.environ.get("JOBS") or str(os.cpu_count() or 1)
    call("cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
         "-DRICOCHET_PYTHON=ON", f"-DPython_EXECUTABLE={sys.executable}",
         f"-DRICOCHET_PYTHON_SUFFIX={sysconfig.get_config_var('EXT_SUFFIX')}", *options(settings))
    call("cmake", "--build", str(folder), "-j", jobs, "--target", "ricochet-python")
    return folder / "python" / "ricochet" / extension()


def package_files():
    for path in sorted(PACKAGE.rglob("*")):
        inside = path.relative_to(PACKAGE.parent)
        if path.is_file() and path.suffix in {".py", ".pyi", ".typed"} and \
                not LEFT_OUT & set(inside.parts):
            yield inside.as_posix(), path.read_bytes()
    yield f"{NAME}/py.typed", b""


class Wheel:
    """A zip file with a record of what is in it."""

    def __init__(self, folder, tags):
        version = project()["version"]
        self.name = f"{NAME}-{version}-{tags}.whl"
        self.info = f"{NAME}-{version}.dist-info"
        self._zip = zipfile.ZipFile(os.path.join(folder, self.name), "w", zipfile.ZIP_DEFLATED)
        self._record = []
        self.add(f"{self.info}/METADATA", metadata().encode())
        self.add(f"{self.info}/WHEEL", (
            f"Wheel-Version: 1.0\nGenerator: ricochet\nRoot-Is-Purelib: false\nTag: {tags}\n"
        ).encode())
        self.add(f"{self.info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes())

    def add(self, name, data, mode=0o644):
        entry = zipfile.ZipInfo(name, WHEN)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = mode << 16
        self._zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(data)}")

    def close(self):
        record = f"{self.info}/RECORD"
        self._zip.writestr(zipfile.ZipInfo(record, WHEN),
                           "\n".join([*self._record, f"{record},,"]) + "\n")
        self._zip.close()
        return self.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    module = build_extension(config_settings)
    wheel = Wheel(wheel_directory, tag())
    for name, data in dict(package_files()).items():
        wheel.add(name, data)
    wheel.add(f"{NAME}/{module.name}", module.read_bytes(), 0o755)
    return wheel.close()


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The package in place: a .pth file that names its folder, and one line that adds the folder of
    the compiled module to the package's path."""
    module = build_extension(config_settings)
    wheel = Wheel(wheel_directory, tag())
    wheel.add("_ricochet_editable.py", (
        '"""Finds the compiled module of an editable install."""\n'
        "import importlib.machinery, importlib.util, sys\n\n\n"
        "class Finder:\n"
        "    @staticmethod\n"
        "    def find_spec(name, path=None, target=None):\n"
        f"        if name != '{NAME}._engine':\n"
        "            return None\n"
        f"        file = {str(module)!r}\n"
        "        loader = importlib.machinery.ExtensionFileLoader(name, file)\n"
        "        return importlib.util.spec_from_file_location(name, file, loader=loader)\n\n\n"
        "sys.meta_path.insert(0, Finder)\n").encode())
    wheel.add("_ricochet_editable.pth",
              f"{PACKAGE.parent}\nimport _ricochet_editable\n".encode())
    return wheel.close()


def sdist_files():
    for top in SOURCES:
        path = ROOT / top
        found = [path] if path.is_file() else sorted(path.rglob("*"))
        for file in found:
            inside = file.relative_to(ROOT)
            if file.is_file() and not LEFT_OUT & set(inside.parts):
                yield inside.as_posix(), file


def build_sdist(sdist_directory, config_settings=None):
    stem = f"{NAME}-{project()['version']}"
    name = f"{stem}.tar.gz"
    with open(os.path.join(sdist_directory, name), "wb") as raw, \
            gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        def add(inside, data, mode):
            entry = tarfile.TarInfo(f"{stem}/{inside}")
            entry.size = len(data)
            entry.mode = mode
            archive.addfile(entry, io.BytesIO(data))
        add("PKG-INFO", metadata().encode(), 0o644)
        for inside, file in sdist_files():
            add(inside, file.read_bytes(), 0o755 if os.access(file, os.X_OK) else 0o644)
    return name


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel


if __name__ == "__main__":
    build_extension(None)
