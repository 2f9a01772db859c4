"""Whether a server speaks TLS, and with which certificate: asked where a call was not answered.

Knows sockets and TLS; must not know calls.
"""

from __future__ import annotations

import contextlib
import socket
import ssl

from wiretrial.errors import EngineFailed, WiretrialError

LIMIT_S = 5.0
_WITH_TLS, _WITHOUT = "grpcs://", "grpc://"


def refused(host: str, port: int, is_secure: bool) -> WiretrialError | None:
    """Why no call was answered, as far as a connection tells; None: it does not tell."""
    try:
        with _connected(host, port) as plain:
            try:
                with _context().wrap_socket(plain):
                    pass
            except ssl.SSLError as error:
                speaks = "SSLV3_ALERT" in str(error) or "TLSV1_ALERT" in str(error)
            except OSError:
                speaks = False
            else:
                speaks = True
    except OSError as error:
        return EngineFailed(f"no connection to {host}:{port}: {error.strerror or error}")
    if is_secure and not speaks:
        return EngineFailed(f"{host}:{port} speaks no TLS", f"write {_WITHOUT}")
    if not is_secure and speaks:
        return EngineFailed(f"{host}:{port} speaks TLS", f"write {_WITH_TLS}")
    if not is_secure:
        return None
    return EngineFailed(
        f"the certificate of {host}:{port} is not trusted", "name its authority with --cacert FILE"
    )


def certificate(host: str, port: int) -> tuple[bytes, str | None]:
    """The certificate that a server shows, as PEM, and a name that it is for.

    Where any certificate is right, this one is: it is trusted for as long as it is asked.
    """
    from cryptography import x509

    try:
        with (
            _connected(host, port) as plain,
            _context().wrap_socket(plain, server_hostname=host) as spoken,
        ):
            shown = spoken.getpeercert(binary_form=True)
    except ssl.SSLError as error:
        raise EngineFailed(
            f"{host}:{port} speaks no TLS: {error.reason}", f"write {_WITHOUT}"
        ) from error
    except OSError as error:
        raise EngineFailed(f"no connection to {host}:{port}: {error.strerror or error}") from error
    assert shown is not None, "a server has a certificate"
    names: list[str] = []
    with contextlib.suppress(x509.ExtensionNotFound):
        found = x509.load_der_x509_certificate(shown).extensions.get_extension_for_class(
            x509.SubjectAlternativeName
        )
        names += found.value.get_values_for_type(x509.DNSName)
        names += map(str, found.value.get_values_for_type(x509.IPAddress))
    return ssl.DER_cert_to_PEM_cert(shown).encode(), next(iter(names), None)


def _connected(host: str, port: int) -> socket.socket:
    return socket.create_connection((host, port), timeout=LIMIT_S)


def _context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    # Servers of gRPC refuse a client that does not name it.
    context.set_alpn_protocols(["h2"])
    return context
