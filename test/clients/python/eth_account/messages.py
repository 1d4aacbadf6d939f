from types import SimpleNamespace


def encode_defunct(*, hexstr):
    return SimpleNamespace(raw=hexstr)
