import pytest

from olm_content.kube_types.quantity import canonical


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("0.5", "500m"),
        ("500m", "500m"),
        ("1000m", "1"),
        ("1000", "1k"),
        ("1024Mi", "1Gi"),
        ("1536Mi", "1536Mi"),
        ("0.5Gi", "512Mi"),
        ("0.5Ki", "512"),
        ("1.5", "1500m"),
        ("0", "0"),
        ("0Mi", "0"),
        ("1e3", "1e3"),
        ("12e400", "120e399"),
        ("0.0000000001", "1n"),
        ("-0.5", "-500m"),
        ("100Gi", "100Gi"),
        ("1E3", "1E3"),
        ("+1", "+1"),
        ("5.", "5."),
        ("007Ki", "007Ki"),
        ("+8Ki", "8Ki"),
        ("+1000", "1k"),
        ("Gi", "0"),
        ("1e1000", "10e999"),
        ("16Ei", "9223372036854775807"),
    ],
)
def test_a_quantity_has_one_spelling(text: str, wanted: str) -> None:
    assert canonical(text) == wanted


@pytest.mark.parametrize("text", ["", "1K", "1mi", "x", "1 Gi", "1e", "1.2.3", "9" * 200, "1e9999"])
def test_other_text_is_no_quantity(text: str) -> None:
    with pytest.raises(ValueError, match="quantit"):
        canonical(text)
