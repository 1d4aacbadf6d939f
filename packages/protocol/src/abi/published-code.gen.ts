// Generated from packages/contracts/src by `npm run generate`. Do not edit.

/** The hash of the runtime code, with 32 zero bytes at each of `immutables`: see `hashCode`. */
export const PUBLISHED_CODE = {
  account: {
    hash: '0xa73b28ea76cd286a8a2e076a6d1b55af57d8f8a5b8d9916c4a351b9ea5df566e',
    immutables: [343, 726],
  },
  escrow: {
    hash: '0x0fa4aa2ea8b3cfedf1562987f0e9b8b62e34b8b680699fe4065dbca6c6828805',
    immutables: [1776, 2240, 2418, 3390, 4884, 5638, 6790, 7606, 7969, 8269, 8413, 9205, 10722, 12230, 12267, 12302, 12959, 12997, 15844, 17012, 17046, 17081, 17195, 17233, 18574],
  },
} as const
