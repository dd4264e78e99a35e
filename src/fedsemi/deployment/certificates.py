"""Certificates and keys for a federation: enough for a trial on one machine.

For sites of different owners let each owner make the site's key and hand over only the
public half; docs/deployment.md shows how.
"""

from __future__ import annotations

import datetime
import ipaddress
import json
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from fedsemi.data.site import read_id, read_site
from fedsemi.errors import CannotCreate, ConfigError
from fedsemi.storage import make_folder, write_whole

CA = "ca.crt"
SERVER = "server.crt"
SERVER_KEY = "server.key"
SITE_KEY = "site.key"
ENROLLED = "enrolled"
PEERS = "peers"

_Key = ec.EllipticCurvePrivateKey


def make_certificates(
    coordinator: Path, sites: Sequence[Path], hosts: Sequence[str], days: int = 30
) -> None:
    """Make a CA, the coordinator's certificate, and a key for every site.

    The CA's own key is forgotten: nobody can sign anything with it afterwards. A key
    that a site made itself stays enrolled, or its owner would be locked out.
    """
    ca_key = _new_key()
    ca = _certificate("fedsemi trial CA", ca_key, ca_key, None, hosts=(), days=days)
    key = _new_key()
    certificate = _certificate(hosts[0], key, ca_key, ca, hosts, days)
    keys = make_folder(make_folder(coordinator, private=True) / "keys", private=True)
    write_whole(keys / CA, _pem(ca))
    write_whole(keys / SERVER, _pem(certificate))
    _write_private(keys / SERVER_KEY, key, serialization.PrivateFormat.PKCS8)
    for site in sites:
        site_keys = make_folder(make_folder(site, private=True) / "keys", private=True)
        write_whole(site_keys / CA, _pem(ca))
        enrolled = make_folder(coordinator / ENROLLED) / f"{site.name}.pub"
        own = (site_keys / SITE_KEY).with_suffix(".pub")
        if enrolled.exists() and not _same(enrolled, own):
            continue
        write_whole(enrolled, make_site_key(site_keys / SITE_KEY))
        _bind_counts(enrolled.with_suffix(".json"), site)
    _introduce(coordinator / ENROLLED, sites)


def _introduce(enrolled: Path, sites: Sequence[Path]) -> None:
    """Let the sites of a trial know each other's keys, as owners would hand them over.

    Masked sums are made with those alone.
    """
    for site in sites:
        peers = make_folder(site / PEERS, private=True)
        for key in enrolled.glob("*.pub"):
            write_whole(peers / key.name, key.read_bytes())


def _bind_counts(path: Path, site: Path) -> None:
    """Let a packed site's folder say what it has, so that no claim is believed."""
    if read_id(site) is None:
        path.unlink(missing_ok=True)  # counts are bound to a key, and it is a new one
        return
    info = read_site(site).client.info
    counts = {"num_labeled": info.num_labeled, "num_unlabeled": info.num_unlabeled}
    write_whole(path, json.dumps(counts).encode())


def _same(enrolled: Path, own: Path) -> bool:
    return own.exists() and own.read_bytes() == enrolled.read_bytes()


def make_site_key(path: Path) -> bytes:
    """Make the private key of a site; return the public half in OpenSSH form."""
    key = _new_key()
    _write_private(path, key, serialization.PrivateFormat.OpenSSH)
    public = key.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    )
    write_whole(path.with_suffix(".pub"), public)
    return public


def new_site_key(site: Path) -> Path:
    """Make the key of a site at the site; return where the public half lies.

    Raises:
        CannotCreate: There is one; another would lock the site out.
    """
    path = make_folder(site / "keys", private=True) / SITE_KEY
    if path.exists():
        raise CannotCreate(
            f"'{path}' exists, and another key would not be let in; move it away "
            "to make a new one, and have that enrolled",
            code="FS5025",
        )
    make_site_key(path)
    return path.with_suffix(".pub")


def read_site_key(path: Path) -> _Key:
    """Read the private key of a site."""
    try:
        key = serialization.load_ssh_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _no_key(path, str(error)) from None
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise _no_key(path, "it is not of the kind ecdsa")
    return key


def _no_key(path: Path, why: str) -> ConfigError:
    return ConfigError(
        f"'{path}' holds no key that this federation takes ({why}); make one at the "
        "site with `fedsemi key FOLDER`",
        code="FS5026",
    )


def _new_key() -> _Key:
    return ec.generate_private_key(ec.SECP384R1())


def _certificate(
    name: str,
    key: _Key,
    ca_key: _Key,
    ca: x509.Certificate | None,
    hosts: Sequence[str],
    days: int,
) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if ca is None else ca.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca is None, None), critical=True)
        .add_extension(
            x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
        )
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()),
            critical=False,
        )
    )
    if ca is None:
        usage = x509.KeyUsage(
            digital_signature=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            key_cert_sign=True,
            crl_sign=True,
            encipher_only=False,
            decipher_only=False,
        )
        builder = builder.add_extension(usage, critical=True)
    if hosts:
        names = x509.SubjectAlternativeName([_alternative(host) for host in hosts])
        builder = builder.add_extension(names, critical=False)
    return builder.sign(ca_key, hashes.SHA384())


def _alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _write_private(path: Path, key: _Key, form: serialization.PrivateFormat) -> None:
    plain = serialization.NoEncryption()
    content = key.private_bytes(serialization.Encoding.PEM, form, plain)
    write_whole(path, content, private=True)
