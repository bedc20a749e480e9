"""The end of a certificate's validity, in both forms of a date."""

from datetime import UTC, datetime

import pytest
import trustme

from barnabas.net.certificate_dates import certificate_end, own_certificate_end
from barnabas.net.tls_context import TlsSettings


@pytest.fixture(scope="module")
def ca():
    return trustme.CA()


def pem(ca, end):
    issued = ca.issue_cert("localhost", not_after=end)
    return issued.private_key_and_cert_chain_pem.bytes().decode()


@pytest.mark.parametrize(
    "end", [datetime(2020, 2, 29, 12, 30, 1, tzinfo=UTC), datetime(2063, 4, 5, tzinfo=UTC)]
)
def test_the_end_of_the_validity(ca, end):
    """Dates from 2050 on are written with four digits of the year."""
    assert certificate_end(pem(ca, end)) == end


def test_the_certificate_of_settings(ca, tmp_path):
    end = datetime(2030, 1, 1, tzinfo=UTC)
    text = pem(ca, end)
    file = tmp_path / "broker.pem"
    file.write_text(text)
    assert own_certificate_end(TlsSettings(chain_text=text)) == end
    assert own_certificate_end(TlsSettings(chain_file=str(file))) == end


@pytest.mark.parametrize("text", ["", "no certificate"])
def test_a_text_without_a_certificate_has_no_end(text):
    assert own_certificate_end(TlsSettings(chain_text=text)) is None
    assert own_certificate_end(TlsSettings(chain_file="/nowhere.pem")) is None
