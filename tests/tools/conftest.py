"""Jobs, tools by their options, and a path whose machines are so fast that only the tool limits it."""

from collections.abc import Callable
from typing import Any

import pytest

from dtnsim.description.spec import resolve
from dtnsim.ground import yamlio
from dtnsim.ground.quantity import Scalar
from dtnsim.ground.records import Prediction
from dtnsim.steady.prediction import predict
from dtnsim.tools.plan import Job, Tool

MakeJob = Callable[..., Job]
MakeTool = Callable[..., Tool]

_HOST = """
    cpu: {sockets: 4, cores: 64, clock: 9 GHz}
    memory: {channels: 64, rate: 10000 MT/s, size: 1 TiB}
    nics: {nic: NIC}
    volumes:
      /data: {filesystem: {kind: xfs}, array: {kind: unknown, read: 1e9 GB/s, write: 1e9 GB/s, access: 0 s}}
      /nfs: {filesystem: {kind: nfs, op_time: 0 s, acdirmin: 1 d}, server: "b:/data"}
    tcp: {rmem_max: 2 GiB, wmem_max: 2 GiB}
"""


@pytest.fixture(scope="session")
def job() -> MakeJob:
    """A job; what is not given is one 100-GB file from disk to disk over 53 ms."""

    def make(**changes: Any) -> Job:
        given: dict[str, Any] = {
            "name": "test", "files": 1, "payload_B": 100e9, "largest_B": 100e9, "directories": 0, "rtt_s": 0.053,
            "source": "volume", "destination": "volume", "file_memory_B": (128e9, 128e9), "cores": 8,
        }  # fmt: skip
        return Job(**{**given, **changes})

    return make


@pytest.fixture(scope="session")
def tool() -> MakeTool:
    """A tool from its options as a YAML file gives them: every value a text."""

    def make(name: str, /, **options: object) -> Tool:
        texts = {k: Scalar(v) if isinstance(v, str) else v for k, v in options.items()}
        return Tool.build({"kind": name, **texts})

    return make


@pytest.fixture(scope="session")
def run() -> Callable[..., Prediction]:
    """The nominal prediction of a tool between two machines that never limit it."""

    def go(
        tool: str,
        *,
        rtt: str = "53 ms",
        data: str = "{files: 1, size: 1 PB}",
        start: str = "a:/data",
        to: str = "b:/data",
        nic: str = "{rate: 400 Gb/s, mtu: 9000 B}",
    ) -> Prediction:
        text = (
            f"name: t\nhosts:\n  a:{_HOST}  b:{_HOST}".replace("NIC", nic)
            + f"wan: {{rtt: {rtt}, bandwidth: 400 Gb/s, mtu: 9000 B}}\n"
            f'transfers:\n- {{from: "{start}", to: "{to}", tool: {tool}, dataset: {data}}}\n'
        )
        return predict(resolve(yamlio.loads(text, "t.yaml")), samples=0)

    return go
