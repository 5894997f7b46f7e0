"""Every coefficient has a unit, a reason and says on how many rows it was fitted."""

from dtnsim.physics.tcp import coefficients as c


def test_the_list_is_whole_and_honest():
    assert len(c.ALL) == len({k.name for k in c.ALL}) >= 15
    for k in c.ALL:
        assert k.unit
        assert len(k.reason) > 20
        assert k.value > 0
        assert 0 <= k.fitted_rows <= 167  # public.csv has 167 rows
    # the laws themselves hang on few rows: no constant a row
    laws = [k for k in c.ALL if not k.name.startswith(("spread_", "link_"))]  # those widen intervals only
    assert sum(k.fitted_rows for k in laws) < 60
