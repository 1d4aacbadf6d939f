"""Signs for geoswap with the standard library alone: EIP-191, EIP-712 and EIP-7702 by an EVM key, and Solana's Ed25519.

Written to be read and to run anywhere. It does not hide its timing: with real money sign by a library or a device, such
as eth-account or solders. The signatures are the same.
"""

import base64
import hashlib
import hmac
import secrets

# --- Keccak-256 -------------------------------------------------------------------------------------------------------

_ROTATIONS = [
    [0, 36, 3, 41, 18],
    [1, 44, 10, 45, 2],
    [62, 6, 43, 15, 61],
    [28, 55, 25, 21, 56],
    [27, 20, 39, 8, 14],
]
_LANE = (1 << 64) - 1


def _rotate(value, bits):
    return ((value << bits) | (value >> (64 - bits))) & _LANE if bits else value


def _round_constants():
    state = 1
    for _ in range(24):
        constant = 0
        for position in range(7):
            if state & 1:
                constant |= 1 << ((1 << position) - 1)
            state = (state << 1) ^ (0x171 if state & 0x80 else 0)
        yield constant


_ROUNDS = list(_round_constants())


def _permute(a):
    for constant in _ROUNDS:
        c = [a[x][0] ^ a[x][1] ^ a[x][2] ^ a[x][3] ^ a[x][4] for x in range(5)]
        d = [c[x - 1] ^ _rotate(c[(x + 1) % 5], 1) for x in range(5)]
        a = [[a[x][y] ^ d[x] for y in range(5)] for x in range(5)]
        b = [[0] * 5 for _ in range(5)]
        for x in range(5):
            for y in range(5):
                b[y][(2 * x + 3 * y) % 5] = _rotate(a[x][y], _ROTATIONS[x][y])
        a = [[b[x][y] ^ (~b[(x + 1) % 5][y] & b[(x + 2) % 5][y]) for y in range(5)] for x in range(5)]
        a[0][0] ^= constant
    return a


def keccak(data: bytes) -> bytes:
    rate = 136
    padded = bytearray(data + b"\x01" + b"\x00" * (rate - 1 - len(data) % rate))
    padded[-1] |= 0x80
    a = [[0] * 5 for _ in range(5)]
    for start in range(0, len(padded), rate):
        for lane in range(rate // 8):
            word = padded[start + 8 * lane : start + 8 * lane + 8]
            a[lane % 5][lane // 5] ^= int.from_bytes(word, "little")
        a = _permute(a)
    return b"".join(a[lane % 5][lane // 5].to_bytes(8, "little") for lane in range(4))


# --- EVM --------------------------------------------------------------------------------------------------------------

_P = 2**256 - 2**32 - 977
_N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
_G = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)


def _add(one, other):
    if one is None or other is None:
        return one or other
    (x1, y1), (x2, y2) = one, other
    if x1 == x2 and (y1 + y2) % _P == 0:
        return None
    slope = 3 * x1 * x1 * pow(2 * y1, -1, _P) if one == other else (y2 - y1) * pow(x2 - x1, -1, _P)
    x = (slope * slope - x1 - x2) % _P
    return x, (slope * (x1 - x) - y1) % _P


def _times(factor, point):
    found = None
    while factor:
        if factor & 1:
            found = _add(found, point)
        point = _add(point, point)
        factor >>= 1
    return found


def _nonces(secret: bytes, digest: bytes):
    """The deterministic nonces of RFC 6979."""
    value, key = b"\x01" * 32, b"\x00" * 32
    seed = secret + (int.from_bytes(digest, "big") % _N).to_bytes(32, "big")
    for mark in (b"\x00", b"\x01"):
        key = hmac.digest(key, value + mark + seed, "sha256")
        value = hmac.digest(key, value, "sha256")
    while True:
        value = hmac.digest(key, value, "sha256")
        yield int.from_bytes(value, "big")
        key = hmac.digest(key, value + b"\x00", "sha256")
        value = hmac.digest(key, value, "sha256")


def _sign(secret: bytes, digest: bytes):
    for nonce in _nonces(secret, digest):
        if not 0 < nonce < _N:
            continue
        x, y = _times(nonce, _G)
        r = x % _N
        s = pow(nonce, -1, _N) * (int.from_bytes(digest, "big") + r * int.from_bytes(secret, "big")) % _N
        if r and s:
            parity = (y & 1) ^ (x >= _N)
            return (r, _N - s, parity ^ 1) if 2 * s > _N else (r, s, parity)


def _rlp(value) -> bytes:
    if isinstance(value, list):
        return _rlp_with(b"".join(map(_rlp, value)), 0xC0)
    data = value if isinstance(value, bytes) else value.to_bytes((value.bit_length() + 7) // 8, "big")
    return data if len(data) == 1 and data[0] < 0x80 else _rlp_with(data, 0x80)


def _rlp_with(data: bytes, offset: int) -> bytes:
    """Up to 55 bytes, more than anything here has."""
    return bytes([offset + len(data)]) + data


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("0x"))


def _type_of(types, name) -> str:
    found, waiting = [], [name]
    while waiting:
        each = waiting.pop()
        if each in types and each not in found:
            found.append(each)
            waiting += [field["type"].split("[")[0] for field in types[each]]
    ordered = [name, *sorted(set(found) - {name})]
    fields = lambda each: ",".join(f"{field['type']} {field['name']}" for field in types[each])
    return "".join(f"{each}({fields(each)})" for each in ordered)


def _encode(types, kind, value) -> bytes:
    if kind in types:
        return _hash_struct(types, kind, value)
    if kind == "string":
        return keccak(value.encode())
    if kind == "bytes":
        return keccak(_bytes(value))
    if kind.startswith("bytes"):
        return _bytes(value).ljust(32, b"\x00")
    if kind == "address":
        return _bytes(value).rjust(32, b"\x00")
    return int(value).to_bytes(32, "big")


def _hash_struct(types, name, message) -> bytes:
    fields = [_encode(types, field["type"], message[field["name"]]) for field in types[name]]
    return keccak(keccak(_type_of(types, name).encode()) + b"".join(fields))


_DOMAIN = {
    "name": "string",
    "version": "string",
    "chainId": "uint256",
    "verifyingContract": "address",
    "salt": "bytes32",
}


def hash_typed_data(typed_data) -> str:
    """The digest of EIP-712. Of an op it is the service's geoOpHash."""
    domain = typed_data["domain"]
    own = [{"name": name, "type": kind} for name, kind in _DOMAIN.items() if name in domain]
    types = {"EIP712Domain": own, **typed_data["types"]}
    struct = _hash_struct(types, typed_data["primaryType"], typed_data["message"])
    return "0x" + keccak(b"\x19\x01" + _hash_struct(types, "EIP712Domain", domain) + struct).hex()


class EvmWallet:
    def __init__(self, secret: bytes | None = None):
        self._secret = secret or (secrets.randbelow(_N - 1) + 1).to_bytes(32, "big")
        x, y = _times(int.from_bytes(self._secret, "big"), _G)
        self.address = "0x" + keccak(x.to_bytes(32, "big") + y.to_bytes(32, "big"))[12:].hex()

    def _signature(self, digest: bytes) -> str:
        r, s, parity = _sign(self._secret, digest)
        return f"0x{r:064x}{s:064x}{27 + parity:02x}"

    def sign_hash(self, digest: str) -> str:
        """personal_sign of the raw 32 bytes, EIP-191."""
        return self._signature(keccak(b"\x19Ethereum Signed Message:\n32" + _bytes(digest)))

    def sign_typed_data(self, typed_data) -> str:
        return self._signature(_bytes(hash_typed_data(typed_data)))

    def sign_authorization(self, chainId: int, address: str, nonce: int) -> dict:
        """The authorization of EIP-7702, as a build takes it."""
        r, s, parity = _sign(self._secret, keccak(b"\x05" + _rlp([chainId, _bytes(address), nonce])))
        fields = {"chainId": chainId, "address": address, "nonce": nonce}
        return {**fields, "yParity": parity, "r": f"0x{r:064x}", "s": f"0x{s:064x}"}


# --- Solana -----------------------------------------------------------------------------------------------------------

_Q = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _Q) % _Q
_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def base58(data: bytes) -> str:
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = _ALPHABET[digit] + text
    return "1" * (len(data) - len(data.lstrip(b"\x00"))) + text


def _edwards_add(one, other):
    """In extended coordinates, RFC 8032."""
    a = (one[1] - one[0]) * (other[1] - other[0]) % _Q
    b = (one[1] + one[0]) * (other[1] + other[0]) % _Q
    c, d = 2 * one[3] * other[3] * _D % _Q, 2 * one[2] * other[2] % _Q
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _Q, g * h % _Q, f * g % _Q, e * h % _Q


def _base_point():
    y = 4 * pow(5, -1, _Q) % _Q
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _Q) % _Q
    x = pow(square, (_Q + 3) // 8, _Q)
    if (x * x - square) % _Q:
        x = x * pow(2, (_Q - 1) // 4, _Q) % _Q
    x = _Q - x if x & 1 else x
    return x, y, 1, x * y % _Q


_BASE = _base_point()


def _edwards_times(factor) -> bytes:
    found, point = (0, 1, 1, 0), _BASE
    while factor:
        if factor & 1:
            found = _edwards_add(found, point)
        point = _edwards_add(point, point)
        factor >>= 1
    inverse = pow(found[2], -1, _Q)
    x, y = found[0] * inverse % _Q, found[1] * inverse % _Q
    return (y | ((x & 1) << 255)).to_bytes(32, "little")


def _short(data: bytes, start: int):
    """A compact-u16 and the position behind it."""
    value = shift = 0
    while True:
        byte = data[start]
        value, shift, start = value | (byte & 0x7F) << shift, shift + 7, start + 1
        if byte < 0x80:
            return value, start


class SolanaWallet:
    def __init__(self, secret: bytes | None = None):
        digest = hashlib.sha512(secret or secrets.token_bytes(32)).digest()
        clamped = int.from_bytes(digest[:32], "little") & ((1 << 254) - 8) | (1 << 254)
        self._factor, self._prefix = clamped, digest[32:]
        self.public_key = _edwards_times(clamped)
        self.address = base58(self.public_key)

    def sign(self, message: bytes) -> bytes:
        number = lambda *parts: int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little") % _L
        nonce = number(self._prefix, message)
        point = _edwards_times(nonce)
        answer = (nonce + number(point, self.public_key, message) * self._factor) % _L
        return point + answer.to_bytes(32, "little")

    def sign_transaction(self, transaction: str) -> str:
        """Adds the signature of this wallet to a version 0 transaction in base64."""
        wire = bytearray(base64.b64decode(transaction))
        count, first = _short(wire, 0)
        message = bytes(wire[first + 64 * count :])
        _, keys = _short(message, 4)
        signers = [message[keys + 32 * at : keys + 32 * at + 32] for at in range(count)]
        at = first + 64 * signers.index(self.public_key)
        wire[at : at + 64] = self.sign(message)
        return base64.b64encode(bytes(wire)).decode()
