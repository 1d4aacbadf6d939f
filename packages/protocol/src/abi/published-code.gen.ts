// Generated from packages/contracts/src by `npm run generate`. Do not edit.

/** The hash of the runtime code, with 32 zero bytes at each of `immutables`: see `hashCode`. */
export const PUBLISHED_CODE = {
  account: {
    hash: '0xa73b28ea76cd286a8a2e076a6d1b55af57d8f8a5b8d9916c4a351b9ea5df566e',
    immutables: [343, 726],
  },
  escrow: {
    hash: '0xd66f6b6804e71e3496e5e906d0e88d3075d6c9a45d14b4f3a5417dd52899cb31',
    immutables: [1860, 2324, 2502, 3766, 4683, 6380, 7196, 7669, 7963, 8107, 8896, 9741, 11288, 11323, 11358, 11975, 12013, 14664, 15141, 15851, 15885, 15920, 16034, 16072, 18010],
  },
} as const
