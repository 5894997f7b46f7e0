"""What to ask those for whose hosts are not yours: settings, and parts of which they know the price."""

from collections.abc import Iterator
from typing import Final

from dtnsim.planning import catalog, offers
from dtnsim.planning.actions import Scope, free, settings
from dtnsim.planning.money import exchange
from dtnsim.planning.option import Setting

_WORTH: Final = 0.1  #: gain for which one asks others to buy something


@free("far")
def of_others(scope: Scope) -> Iterator[Setting]:
    """Settings of their hosts."""
    foreign = [n for n in scope.given.hosts if n not in scope.hosts]
    tuned = settings(scope.given, foreign, scope.target_Bps, ("tuning",)) if foreign else []
    yield from (s for s in tuned if s.overrides[0].startswith("hosts."))


@free("far")
def parts_of_others(scope: Scope) -> Iterator[Setting]:
    """Parts that fit there, of each place the cheapest, the dearest and one between."""
    from dtnsim.planning import fitting  # it knows all kinds of change

    foreign = [n for n in scope.given.hosts if n not in scope.hosts]
    listed = offers.world(catalog.read(None), scope.given.folder, shipped=True)
    offered = fitting.options(fitting.Shop(scope.given, listed, exchange([])), foreign)
    for place, options in offered.choices.items():
        by_price = sorted(options, key=lambda o: o.price)
        host = place.split(".")[1]
        for option in dict.fromkeys(by_price[n] for n in (0, len(by_price) // 2, -1)):
            line = (f"# ask those of {host} for {option.what}",)
            yield Setting(f"{host}: {place.partition(f'.{host}.')[2]}", option.overrides, line, _WORTH)
