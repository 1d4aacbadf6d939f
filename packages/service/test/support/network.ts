/** A configuration as an operator would write it. Every value is on its own line or unique. */
export const NETWORK_TEXT = `{
  "$schema": "../docs/config.schema.json",
  "network": "test",
  "relayers": [
    "0x1000000000000000000000000000000000000001",
    "0x1000000000000000000000000000000000000002"
  ],
  "authorizationRelayers": ["0x1100000000000000000000000000000000000001"],
  "deliverers": [
    "0x2000000000000000000000000000000000000001"
  ],
  "attesters": { "members": ["0x3000000000000000000000000000000000000001"], "threshold": 1 },
  "treasury": "0x4000000000000000000000000000000000000001",
  "chains": [
    {
      "chainId": 8453,
      "name": "base",
      "family": "evm",
      "rpcUrls": ["https://one.base.example", "https://two.base.example"],
      "attesterRpcUrls": ["https://three.base.example"],
      "contracts": {
        "account": "0x5000000000000000000000000000000000000001",
        "escrow": "0x5000000000000000000000000000000000000002",
        "vault": "0x5000000000000000000000000000000000000003"
      },
      "native": { "symbol": "ETH", "asset": "ETH" },
      "tokens": [
        { "symbol": "USDC", "address": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "asset": "USDC" },
        { "symbol": "WETH", "address": "0x4200000000000000000000000000000000000006", "asset": "ETH" }
      ],
      "finality": {
        "accept": [{ "belowUsd": 100, "depth": 1 }, { "belowUsd": 1000, "depth": 2 }, { "depth": 4 }],
        "settle": 3,
        "reorgWindowSeconds": 20,
        "hardSeconds": 2400,
        "hard": 450
      },
      "blockMs": 2000,
      "maxHeadAgeMs": 20000,
      "exposureCapUsd": 25000,
      "l1FeeOracle": "0x420000000000000000000000000000000000000F"
    },
    {
      "chainId": 9001,
      "name": "solana",
      "family": "solana",
      "rpcUrls": ["https://one.solana.example"],
      "attesterRpcUrls": ["https://two.solana.example"],
      "genesisHash": "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d",
      "program": "7ZgX6RKtGf9pPZ3FkLkAtVgRkUFQCcMdBbBPtPYtKN5w",
      "vault": "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin",
      "attester": "J1S9H3QjnRtBbbuD4HjPV6RpRhwuk4zKbxsnCHuTgh9w",
      "feePayers": {
        "input": "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T",
        "delivery": "8opHzTAnfzRpPEx21XtnrVTX28YQuCpAjcn1PczScKh7"
      },
      "native": { "symbol": "SOL", "asset": "SOL" },
      "tokens": [
        { "symbol": "USDC", "address": "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "asset": "USDC" }
      ],
      "finality": { "accept": [{ "depth": 1 }], "settle": 1, "reorgWindowSeconds": 30, "hard": 32 },
      "blockMs": 400,
      "priorityPrice": { "floor": "1000", "cap": "1000000" }
    }
  ],
  "assets": [
    {
      "name": "ETH",
      "sources": [
        {
          "kind": "chainlink", "chainId": 8453, "maxAgeSeconds": 1500,
          "address": "0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70"
        }
      ],
      "maxDeviationBps": 200
    },
    {
      "name": "USDC",
      "usdStable": true,
      "sources": [
        {
          "kind": "chainlink", "chainId": 8453, "maxAgeSeconds": 90000,
          "address": "0x7e860098F58bBFC8648a4311b374B1D669a2bc6B"
        }
      ],
      "minSources": 1
    },
    {
      "name": "SOL",
      "sources": [
        { "kind": "pyth", "feedId": "0x${'ef'.repeat(32)}", "maxAgeSeconds": 60 }
      ]
    }
  ],
  "pyth": { "url": "https://hermes.example" },
  "venues": [
    {
      "kind": "inventory",
      "pairs": [{ "assets": ["ETH", "USDC"], "spreadBps": 5 }],
      "limits": [{ "chainId": 8453, "asset": "SOL", "maxUsd": 5000 }]
    },
    {
      "kind": "uniswap-v3",
      "chainId": 8453,
      "quoter": "0x6000000000000000000000000000000000000001",
      "adapter": "0x6000000000000000000000000000000000000002",
      "pools": [
        {
          "sell": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
          "buy": "0x4200000000000000000000000000000000000006",
          "fee": 500
        }
      ]
    }
  ],
  "feeCentiBps": 1250,
  "discount": {
    "asset": "USDC",
    "tiers": [
      { "name": "bronze", "holding": "1000", "percent": 10 },
      { "name": "silver", "holding": "10000", "percent": 25 }
    ]
  },
  "leaseMs": 6000,
  "deadlines": {
    "lockInclusionSeconds": 60,
    "fillSeconds": 600,
    "cutOffSeconds": 60,
    "attemptLifeSeconds": 90,
    "claimInclusionSeconds": 300
  }
}
`
