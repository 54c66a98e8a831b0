"""What the API server warns of."""

import pytest

from olm_runtime.kube.transport import warning_text


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ('299 - "v1beta1 is deprecated"', "v1beta1 is deprecated"),
        (r'299 - "say \"v1\""', 'say "v1"'),
        (r'299 - "a \\ b" "Thu, 01 Jan 1970 00:00:00 GMT"', r"a \ b"),
        ("no warning of this form", "no warning of this form"),
    ],
)
def test_text_of_a_warning(header: str, text: str) -> None:
    assert warning_text(header) == text
