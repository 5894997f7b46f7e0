"""The library as records: every kind and part with every number; the reference hosts with year, price and rates."""

import json
from typing import Any

import pytest

from dtnsim.components.base import find_kind, kinds
from dtnsim.description import catalogue, listing
from dtnsim.description.host import Host, build_host
from dtnsim.description.hosts import named
from dtnsim.ground import library
from dtnsim.ground.units import EXAMPLES
from dtnsim.steady.prediction import predict
from tests.each import tables
from tests.strategies import load

#: host -> (rate of its port [Gb/s], its fastest volume)
HOSTS = tables("description/tables")["catalogue hosts"]
#: part of its port that a host fills from memory: 400 Gb/s are more than 32 streams of one GridFTP server take
FILLS = {"example-dtn-400g": 0.35}


def built(name: str) -> Host:
    return build_host(name, named(name))


@pytest.fixture(scope="module")
def rates() -> dict[str, float]:
    """From memory to memory between two of each, all in one path."""
    hosts: dict[str, Any] = {}
    transfers: dict[str, Any] = {}
    for name in HOSTS:
        hosts |= {f"{name}-a": name, f"{name}-b": name}
        transfers[name] = {
            "from": f"{name}-a:/dev/zero", "to": f"{name}-b:/dev/null", "tool": {"name": "gridftp", "p": 8, "cc": 4},
            "dataset": {"files": 64, "size": "10 GB"},
        }  # fmt: skip
    links = {
        n: {"between": [f"{n}-a", f"{n}-b"], "rtt": "1 ms", "bandwidth": f"{port} Gb/s", "mtu": "9000 B"}
        for n, (port, _) in HOSTS.items()
    }
    answer = predict(load({"name": "reference", "hosts": hosts, "links": links, "transfers": transfers}), samples=0)
    return {t.name: t.throughput_Bps.p50 * 8e-9 for t in answer.transfers}


@pytest.mark.parametrize("name", HOSTS)
def test_a_reference_host_has_year_price_and_what_it_is_named_for(name: str) -> None:
    host = built(name)
    assert host.facts.year is not None
    assert host.price.date
    assert host.price.source
    assert host.price.spread.value >= (0.35 if host.price.source.startswith("assumed") else 0.15) - 0.1
    ports = [n.rate.value * n.links for n in host.nics.values()]
    assert max(ports) * 8e-9 >= HOSTS[name][0]
    assert HOSTS[name][1] in host.volumes


@pytest.mark.parametrize("name", HOSTS)
def test_it_fills_its_port_from_memory(name: str, rates: dict[str, float]) -> None:
    assert FILLS.get(name, 0.75) * HOSTS[name][0] <= rates[name] <= HOSTS[name][0]


@pytest.mark.parametrize(("name", "published"), [("esnet-dtn-2014", 9.9), ("esnet-dtn-2014-40g", 39.5)])
def test_esnets_reference_of_2014_does_what_its_page_says(name: str, published: float) -> None:
    """From memory to memory, one stream: 9.9 Gb/s on a port of 10 GbE, 39.5 Gb/s TCP on one of 40."""
    port = HOSTS[name][0]
    transfer = {"from": "a:/dev/zero", "to": "b:/dev/null", "tool": {"name": "iperf3", "P": 4}}
    wan = {"rtt": "0.1 ms", "bandwidth": f"{port} Gb/s", "mtu": "9000 B"}
    answer = predict(load({"name": "t", "hosts": {"a": name, "b": name}, "wan": wan, "transfer": transfer}), samples=0)
    assert answer.transfers[0].throughput_Bps.p50 * 8e-9 == pytest.approx(published, rel=0.03)


def test_listing_hosts_says_year_and_price() -> None:
    items = {i["name"]: i for i in listing.listing("hosts")["items"]}
    assert items["esnet-dtn-2023"]["year"] == 2023
    assert items["esnet-dtn-2023"]["price"] == "25000 USD +- 20% (2022-12)"
    assert items["esnet-dtn-2014-40g"]["year"] == 2014, "it is like another"
    assert items["nersc-edison"]["price"] is None
    priced = [i for i in items.values() if i["price"]]
    assert len(priced) >= 14


def test_every_kind_is_listed_with_its_parts() -> None:
    listed = catalogue.overview()["kinds"]
    assert [k["kind"] for k in listed] == sorted(kinds())
    assert all(k["summary"] and k["family"] for k in listed)
    parts = {f"{k['kind']}/{p}" for k in listed for p in k["parts"]}
    assert parts == set(library.names("parts"))


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_parameters_say_unit_default_spread_and_source(kind: str) -> None:
    rows = catalogue.parameters(kind)
    fields = find_kind(kind).model_fields
    assert len({r["parameter"] for r in rows}) == len(rows)
    for row in rows:
        assert row["unit"] == "" or row["unit"] in EXAMPLES
        if row["spread"] is not None:
            assert row["source"], row
    required = {r["parameter"] for r in rows if not r["optional"]}
    assert required == {f.alias or n for n, f in fields.items() if f.is_required()}


def test_a_part_shows_its_numbers_and_the_defaults_it_leaves_alone() -> None:
    document = catalogue.part("samsung-970-evo")
    rows = {r["parameter"]: r for r in document["parameters"]}
    assert document["kind"] == "ssd"
    assert rows["burst"]["value"] == 22e9
    assert rows["burst"]["spread"] == 0.2
    assert "techpowerup" in rows["read"]["source"]
    json.dumps(document, allow_nan=False)


@pytest.mark.parametrize("room", sorted(listing.ROOMS))
def test_a_list_says_in_a_line_what_each_thing_is(room: str) -> None:
    items = listing.listing(room)["items"]
    assert all(item["what"] and "\n" not in item["what"] for item in items)
