"""Three swaps of 10 USDC by wallets without a gas coin: by a delegation, by a signature for the token, and from Solana.

Run it with a running network: python3 examples/python/three_ways.py [local.json]
"""

import json
import sys
from urllib.request import Request, urlopen

from geoswap_client import Client
from geoswap_wallets import EvmWallet, SolanaWallet, hash_typed_data

with open(sys.argv[1] if len(sys.argv) > 1 else ".geoswap/local.json") as file:
    local = json.load(file)
client = Client(local["apiUrl"], local["apiKey"])
chains = {chain["name"]: chain for chain in local["chains"]}
usdc = {name: next(t["address"] for t in chain["tokens"] if t["symbol"] == "USDC") for name, chain in chains.items()}


def quote(wallet, origin, destination, recipient):
    chain_id = chains[origin]["chainId"]
    gift = {"chainId": chain_id, "address": wallet.address, "token": usdc[origin], "amount": "10000000"}
    urlopen(Request(local["faucetUrl"], json.dumps(gift).encode())).close()
    route = {"originChain": chain_id, "destinationChain": chains[destination]["chainId"]}
    tokens = {"inputToken": usdc[origin], "outputToken": usdc[destination], "amount": "10000000"}
    return client.quote({**route, **tokens, "walletAddress": wallet.address, "recipient": recipient})["geoQuoteToken"]


def check(build, wallet):
    """The op is the one of the reply. This trusts the service: with real money check the terms, the typed data, the
    delegate and the bytes for Solana against your request, as the SDK does."""
    message = build["operation"]["message"]
    assert hash_typed_data(build["operation"]) == build["geoOpHash"]
    assert message["wallet"].lower() == wallet.address and message["inputAmount"] == "10000000"


def end(submitted):
    swap = client.status(submitted["swapId"])
    while swap["status"] == "pending":
        swap = client.status(swap["swapId"])
    return swap


evm, solana = EvmWallet(), SolanaWallet()
chain_id = chains["alpha"]["chainId"]
delegation = client.delegation(chainId=chain_id, walletAddress=evm.address)
authorization = evm.sign_authorization(chain_id, delegation["delegationTarget"], delegation["accountNonce"])
build = client.build_geo_op({"geoQuoteToken": quote(evm, "alpha", "beta", evm.address), "authorization": authorization})
check(build, evm)
first = end(client.submit({"geoOpToken": build["geoOpToken"], "signature": evm.sign_hash(build["geoOpHash"])}))

token = EvmWallet()
build = client.build_geo_op({"geoQuoteToken": quote(token, "alpha", "beta", evm.address), "method": "authorization"})
check(build, token)
second = end(client.submit({"geoOpToken": build["geoOpToken"], "signature": token.sign_typed_data(build["typedData"])}))

build = client.build_solana_tx({"geoQuoteToken": quote(solana, "solana", "alpha", evm.address)})
signed = solana.sign_transaction(build["unsignedTransaction"])
third = end(client.submit_solana({"geoOpToken": build["geoOpToken"], "signedTransaction": signed}))
print(json.dumps([first, second, third], indent=2))
