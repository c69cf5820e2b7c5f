"""Each symptom, produced on purpose, is found; a healthy host gives none."""

import base64
import hashlib
import json
import os
from importlib import metadata

import pytest

from sglang_contracts.doctor import Host, Status, checks, diagnose, kernels
from sglang_contracts.plugin.reading.settings import Settings

FILE_SYSTEM = kernels.file_system
PLATFORM = "sglang.srt.platforms"
CAPABILITIES = {
    "kernels": {"prefill": ["acme_ops:prefill"], "decode": ["acme_ops:decode"]},
    "service": {"kernel-metric": "fake:batches_total"},
}
LOG = """\
[t] compiling kernel prefill_128 ...
[t] compiling kernel prefill_256 ...
[t] The server is fired up and ready to roll!
[t] backend=acme kernel=acme_ops.prefill mode=EXTEND requests=a
[t] backend=acme kernel=acme_ops.decode mode=DECODE requests=a
[t] Decode batch, #running-req: 3, #token: 90, token usage: 0.40, gen throughput: 1, #queue-req: 0
""".splitlines()


class Site:
    """A folder of installed distributions that is on the module path."""

    def __init__(self, root):
        self.root = root

    def install(self, name, version="1.0", entry_points="", files=None, **metadata):
        folder = self.root / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir(parents=True)
        lines = [f"Name: {name}", f"Version: {version}"]
        for key, values in metadata.items():
            lines += [f"{key.replace('_', '-')}: {value}" for value in values]
        (folder / "METADATA").write_text("\n".join(["Metadata-Version: 2.1", *lines, ""]))
        if entry_points:
            (folder / "entry_points.txt").write_text(entry_points)
        record = []
        for path, text in (files or {}).items():
            place = self.root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
            record.append(f"{path},sha256={digest.decode()},{len(text)}")
        (folder / "RECORD").write_text("\n".join(record))


@pytest.fixture
def site(tmp_path, monkeypatch):
    """An empty site: what this environment has installed is not seen."""
    root = tmp_path / "site"
    root.mkdir()
    found = metadata.MetadataPathFinder
    monkeypatch.setattr(
        metadata,
        "distributions",
        lambda **query: found.find_distributions(
            metadata.DistributionFinder.Context(path=[str(root)], **query)
        ),
    )

    def one(name):
        try:
            return next(iter(metadata.distributions(name=name)))
        except StopIteration:
            raise metadata.PackageNotFoundError(name) from None

    monkeypatch.setattr(metadata, "distribution", one)
    monkeypatch.setattr(metadata, "version", lambda name: one(name).version)
    monkeypatch.setattr(
        metadata,
        "entry_points",
        lambda group: [
            each
            for dist in metadata.distributions()
            for each in dist.entry_points
            if each.group == group
        ],
    )
    return Site(root)


@pytest.fixture
def plugin(site):
    """A plugin whose platform activates, SGLang, and what the plugin requires."""
    source = 'def activate():\n    return "acme.platform:Platform"\n'
    site.install(
        "acme",
        entry_points=f"[{PLATFORM}]\nacme = acme_here:activate\n"
        "[sglang.srt.plugins]\nacme = acme_here:register\n",
        files={"acme_here.py": source},
        Requires_Python=[">=3.10"],
        Requires_Dist=["sglang>=0.5.12,<0.6", "acme-sdk==2.1", "extra-one; extra == 'x'"],
    )
    site.install("sglang", "0.5.16", files={"sglang/__init__.py": "", "sglang/srt.py": "A = 1\n"})
    site.install("acme-sdk", "2.1")
    return site


@pytest.fixture
def host(plugin, tmp_path):
    """A healthy host."""
    cache = tmp_path / "kernels"
    cache.mkdir(mode=0o700)
    (cache / "prefill_128.bin").write_bytes(b"1")
    topology = tmp_path / "topology.json"
    near = [["X", "PIX", "SYS", "SYS"], ["PIX", "X", "SYS", "SYS"]]
    topology.write_text(json.dumps([*near, ["SYS", "SYS", "X", "PIX"], ["SYS", "SYS", "PIX", "X"]]))
    settings = Settings(
        supported=">=0.5.12",
        platform="acme",
        plugins=("acme",),
        capabilities=CAPABILITIES,
        combination={"sglang": "0.5.16", "acme-sdk": "==2.1", "python": ">=3.10"},
        doctor={"kernel-cache-variable": "ACME_CACHE", "topology-variable": "ACME_TOPOLOGY"},
    )
    environment = {
        **{name: os.environ[name] for name in ("PATH",) if name in os.environ},
        "PYTHONPATH": str(plugin.root),
        "ACME_CACHE": str(cache),
        "ACME_TOPOLOGY": str(topology),
    }
    return Host("acme", settings, environment, list(LOG))


def found(host):
    """What was found, with its evidence."""
    return {
        check.id: " | ".join(diagnosis.evidence)
        for check, diagnosis in diagnose(host)
        if diagnosis.status is Status.FOUND
    }


def told(host, id):
    """How one check came out."""
    return next(d for check, d in diagnose(host) if check.id == id)


@pytest.fixture(autouse=True)
def _local_disk(monkeypatch):
    monkeypatch.setattr(kernels, "file_system", lambda folder: "ext4")


def test_a_healthy_host_gives_no_finding(host):
    assert found(host) == {}
    unknown = {c.id for c, d in diagnose(host) if d.status is Status.UNKNOWN}
    assert unknown == {"answers.are-not-mixed-up"}  # no server was named


def test_each_check_says_what_is_seen_and_what_mends_it():
    assert len(checks()) == len({each.id for each in checks()}) == 13
    assert all(each.symptom and each.title and each.mend for each in checks())


def test_no_platform_is_installed(site):
    assert "no distribution has an entry point" in found(Host())["platform.one-is-chosen"]


def test_two_platforms_at_once(host, plugin):
    plugin.install("other", entry_points=f"[{PLATFORM}]\nother = other_here:activate\n")
    said = found(host)["platform.one-is-chosen"]
    assert "two platforms at once" in said
    assert "other = other_here:activate" in said
    host.environment["SGLANG_PLATFORM"] = "acme"
    assert "platform.one-is-chosen" not in found(host)


def test_a_variable_that_names_no_platform(host):
    host.environment["SGLANG_PLATFORM"] = "acne"
    assert "SGLANG_PLATFORM=acne names none" in found(host)["platform.one-is-chosen"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def activate():\n    return None\n", "declined"),
        ("def activate():\n    raise OSError('no device /dev/acme0')\n", "no device /dev/acme0"),
        ("import acme_driver_that_is_not_there\n", "No module named 'acme_driver"),
        ("def activate():\n    import os\n    os._exit(3)\n", "ended with 3"),
    ],
)
def test_a_platform_that_does_not_activate(host, plugin, source, said):
    (plugin.root / "acme_here.py").write_text(source)
    assert said in found(host)["platform.activates"]


def test_plugins_that_a_variable_leaves_out(host):
    host.environment["SGLANG_PLUGINS"] = "one,two"
    assert "leaves out acme" in found(host)["platform.plugins-are-loaded"]


def test_a_requirement_that_is_not_met(host, plugin):
    for folder in plugin.root.glob("acme_sdk-*"):
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-sdk\nVersion: 1.9\n")
    said = found(host)
    assert said["versions.requirements"] == "acme-sdk 1.9, required ==2.1"
    assert "acme-sdk 1.9, locked ==2.1" in said["versions.combination"]


def test_a_release_that_the_plugin_does_not_support(host):
    host.settings = Settings(supported="<0.5.13", platform="acme")
    assert found(host)["versions.supported"] == "SGLang 0.5.16, supported <0.5.13"


def test_a_locked_distribution_that_is_not_here_cannot_be_told(host):
    host.settings = Settings(platform="acme", combination={"acme-driver": "550.1"})
    assert told(host, "versions.combination").status is Status.UNKNOWN


@pytest.mark.parametrize("fault", ["gone", "empty", "others"])
def test_a_folder_of_kernels_that_is_of_no_use(host, fault, tmp_path):
    cache = tmp_path / "kernels"
    said = {"gone": "does not exist", "empty": "is empty", "others": "written by others"}[fault]
    if fault == "others":
        cache.chmod(0o777)
    else:
        (cache / "prefill_128.bin").unlink()
        if fault == "gone":
            cache.rmdir()
    assert said in found(host)["kernels.cache-folder"]


def test_a_folder_of_kernels_on_a_slow_disk(host, monkeypatch):
    monkeypatch.setattr(kernels, "file_system", lambda folder: "nfs4")
    assert "is on nfs4" in found(host)["kernels.cache-folder"]


def test_the_kind_of_disk_is_that_of_the_innermost_mount(tmp_path):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/a / ext4 rw 0 0\nserver:/k {tmp_path} nfs4 rw 0 0\n")
    assert FILE_SYSTEM(tmp_path / "x", mounts) == "nfs4"
    assert FILE_SYSTEM(tmp_path.parent, mounts) == "ext4"
    assert FILE_SYSTEM(tmp_path, tmp_path / "none") == ""


def test_a_log_full_of_compilations(host):
    host.log += [f"[t] Compiling kernel decode_{n}" for n in range(9)]
    assert "9 compilations after the start" in found(host)["kernels.cache-is-effective"]


def test_a_log_whose_compilations_the_plugin_describes(host):
    host.settings = Settings(platform="acme", doctor={"compiles": "xpu-jit"})
    host.log += ["xpu-jit: decode"] * 5
    assert "5 compilations" in found(host)["kernels.cache-is-effective"]


def test_a_fall_back_kernel_in_the_log(host):
    host.log.append("backend=acme kernel=torch.sdpa mode=EXTEND requests=b")
    said = found(host)["kernels.are-the-declared-ones"]
    assert said == "EXTEND ran on torch.sdpa; declared: acme_ops.prefill"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("KV cache pool is full. Retract requests. #retracted_reqs: 1", "requests were retracted"),
        ("Decode batch, token usage: 0.99, #queue-req: 7", "full while requests waited"),
        ("expanding the KV pool to 4096 blocks", "memory grew"),
    ],
)
def test_a_pool_that_is_too_small(host, line, said):
    host.log.append(line)
    assert said in found(host)["memory.pool-suffices"]


def test_a_ring_that_crosses_numa_more_often_than_it_must(host, tmp_path):
    far = [["X", "SYS", "PIX", "SYS"], ["SYS", "X", "SYS", "PIX"]]
    matrix = [*far, ["PIX", "SYS", "X", "SYS"], ["SYS", "PIX", "SYS", "X"]]
    (tmp_path / "topology.json").write_text(json.dumps(matrix))
    said = found(host)["topology.does-not-cross-numa"]
    assert said == "4 ranks on 2 nodes, 4 far links in the ring of ranks, where 2 would do: " + (
        "0-1, 1-2, 2-3, 3-0"
    )


@pytest.mark.parametrize("text", ["{", "[]", '[["X"], ["X", "X"]]', "3"])
def test_a_topology_file_that_is_none(host, tmp_path, text):
    (tmp_path / "topology.json").write_text(text)
    assert "is no topology" in found(host)["topology.does-not-cross-numa"]


def test_a_topology_file_that_is_gone(host, tmp_path):
    (tmp_path / "topology.json").unlink()
    assert "there is no such file" in found(host)["topology.does-not-cross-numa"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda root: (root / "sglang/srt.py").write_text("A = 2\n"), "srt.py: is not what"),
        (lambda root: (root / "sglang/srt.py").unlink(), "srt.py: is gone"),
        (lambda root: (root / "sglang/own.py").write_text(""), "own.py: the wheel has no such"),
    ],
)
def test_files_of_sglang_that_somebody_has_edited(host, plugin, change, said):
    change(plugin.root)
    assert said in found(host)["sglang.is-unpatched"]


def test_a_check_that_raises_ends_no_other(host, tmp_path):
    host.settings = Settings(platform="acme", doctor={"compiles": "("})
    assert told(host, "kernels.cache-is-effective").status is Status.UNKNOWN
    assert told(host, "sglang.is-unpatched").status is Status.OK
