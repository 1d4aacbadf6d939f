// Generated from packages/contracts/src by `npm run generate`. Do not edit.

/** The hash of the runtime code, with 32 zero bytes at each of `immutables`: see `hashCode`. */
export const PUBLISHED_CODE = {
  account: {
    hash: '0xa73b28ea76cd286a8a2e076a6d1b55af57d8f8a5b8d9916c4a351b9ea5df566e',
    immutables: [343, 726],
  },
  escrow: {
    hash: '0x31a6d5e120bb721bad0eb8824357a6aeeb5719b8c4cf8edf3e39ee419950ccb1',
    immutables: [1918, 2382, 2560, 2952, 3880, 4794, 6491, 7307, 7809, 8103, 8247, 9036, 10292, 11919, 11954, 11989, 12590, 12628, 15155, 16289, 16323, 16358, 16472, 16510, 18448],
  },
} as const
