"""A wallet that holds only 10 USDC on alpha swaps it for USDC on beta, over plain HTTP.

Run it with a running network: pip install eth-account && python3 examples/first_swap.py [local.json]
"""

import json
import os
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from eth_account import Account
from eth_account.messages import encode_defunct

home = os.environ.get("GEOSWAP_HOME", ".geoswap")
with open(sys.argv[1] if len(sys.argv) > 1 else f"{home}/local.json") as file:
    local = json.load(file)
alpha, beta = local["chains"][:2]


def usdc(chain):
    return next(token["address"] for token in chain["tokens"] if token["symbol"] == "USDC")


def send(url, body=None, headers={}):
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(url, data, headers)) as reply:
        return json.load(reply)


def call(path, body=None):
    headers = {"x-api-key": local["apiKey"], "content-type": "application/json"}
    try:
        return send(local["apiUrl"] + path, body, headers)
    except HTTPError as error:
        answer = json.load(error)
        raise SystemExit(f"{path}: {answer['code']}: {answer['message']}")


# A new wallet: 10 USDC on alpha, no gas coin anywhere.
wallet = Account.create()
chain_id, amount = alpha["chainId"], "10000000"
gift = {"chainId": chain_id, "address": wallet.address, "token": usdc(alpha), "amount": amount}
send(local["faucetUrl"], gift)

# Its first swap on a chain includes a signed EIP-7702 authorization; later ones need none.
delegation = call(f"/swap/delegation?chainId={chain_id}&walletAddress={wallet.address}")
fields = {
    "chainId": chain_id,
    "address": delegation["delegationTarget"],
    "nonce": delegation["accountNonce"],
}
signed = wallet.sign_authorization(fields)
authorization = {
    **fields,
    "yParity": signed.y_parity,
    "r": f"0x{signed.r:064x}",
    "s": f"0x{signed.s:064x}",
}

request = {
    "originChain": chain_id,
    "destinationChain": beta["chainId"],
    "inputToken": usdc(alpha),
    "outputToken": usdc(beta),
    "amount": amount,
    "walletAddress": wallet.address,
}
quote = call("/swap/quote", request)
build = call(
    "/swap/build-geo-op",
    {"geoQuoteToken": quote["geoQuoteToken"], "authorization": authorization},
)

# This example signs the hash that the service built. With real money, compute it from build["operation"]
# and compare wallet, tokens, amounts, recipient and contracts first.
signature = wallet.sign_message(encode_defunct(hexstr=build["geoOpHash"])).signature
submission = {"geoOpToken": build["geoOpToken"], "signature": "0x" + bytes(signature).hex()}
swap_id = call("/swap/submit", submission)["swapId"]

# Each read is held until the swap has ended, for 15 seconds at most.
swap = call(f"/swap/status/{swap_id}")
while swap["status"] == "pending":
    swap = call(f"/swap/status/{swap_id}")
print(json.dumps(swap, indent=2))
