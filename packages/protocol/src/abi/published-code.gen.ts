// Generated from packages/contracts/src by `npm run generate`. Do not edit.

/** The hash of the runtime code, with 32 zero bytes at each of `immutables`: see `hashCode`. */
export const PUBLISHED_CODE = {
  account: {
    hash: '0x831c6d67d95873672b2b0b1675f86724c59f819eee8c5e9165dd9e416b110c13',
    immutables: [358, 741],
  },
  escrow: {
    hash: '0x481ef3b6a7e9e8f397dbaa2118b9e10b7f347d87d1195f932eb8da1455c75935',
    immutables: [1787, 2267, 3295, 5075, 5829, 7730, 8104, 8900, 9044, 9836, 11353, 12923, 12960, 12995, 13652, 13690, 16537, 17345, 17551, 18127, 18161, 18196, 18310, 18348, 19729],
  },
} as const
