// Generated from packages/contracts/src by `npm run generate`. Do not edit.

/** The hash of the runtime code, with 32 zero bytes at each of `immutables`: see `hashCode`. */
export const PUBLISHED_CODE = {
  account: {
    hash: '0xa73b28ea76cd286a8a2e076a6d1b55af57d8f8a5b8d9916c4a351b9ea5df566e',
    immutables: [343, 726],
  },
  escrow: {
    hash: '0xc773eada4177851dfbc6984dd6fbceeac50e07b5ea4ec36aec39374c90b4a591',
    immutables: [1918, 2382, 2560, 2952, 4676, 5430, 6582, 7398, 7875, 8169, 8313, 9102, 10358, 11971, 12006, 12041, 12642, 12680, 15207, 16373, 16407, 16442, 16556, 16594, 18589],
  },
} as const
