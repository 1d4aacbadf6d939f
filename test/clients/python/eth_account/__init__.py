"""Stands in for the library eth-account where it is not installed: its calls, signed by viem."""

import json
import subprocess
from types import SimpleNamespace

IMPORT = "import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';"
READ = "const [key, given] = process.argv.slice(1); const account = privateKeyToAccount(key);"


def _run(code, *args):
    program = f"{IMPORT} {code}"
    command = ["node", "--input-type=module", "-e", program, *args]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


class _LocalAccount:
    def __init__(self, key):
        self._key = key
        self.address = _run(f"{READ} console.log(JSON.stringify(account.address))", key)

    def sign_authorization(self, authorization):
        code = f"{READ} console.log(JSON.stringify(await account.signAuthorization(JSON.parse(given)),"
        code += " (_, value) => (typeof value === 'bigint' ? Number(value) : value)))"
        signed = _run(code, self._key, json.dumps(authorization))
        return SimpleNamespace(y_parity=signed["yParity"], r=int(signed["r"], 16), s=int(signed["s"], 16))

    def sign_message(self, message):
        code = f"{READ} console.log(JSON.stringify(await account.signMessage({{ message: {{ raw: given }} }})))"
        signature = _run(code, self._key, message.raw)
        return SimpleNamespace(signature=bytes.fromhex(signature[2:]))


class Account:
    @staticmethod
    def create():
        return _LocalAccount(_run("console.log(JSON.stringify(generatePrivateKey()))"))
