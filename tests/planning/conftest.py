"""What plans choose from, where it may be little."""

import pytest


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A few offers of 2023, so that searches are short; where they fit is in the shipped list."""
    file = tmp_path_factory.mktemp("shop") / "few.csv"
    rows = ["intel-x520-10g,120", "connectx-4-100g,300", "connectx-5-100g,700", "intel-s4500,350", "lsi-9300-8i,250"]
    file.write_text("part,price,date,spread\n" + "".join(f"{r} USD,2023-07-01,40 %\n" for r in rows))
    return str(file)
