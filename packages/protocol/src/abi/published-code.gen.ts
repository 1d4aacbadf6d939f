// Generated from packages/contracts/src by `npm run generate`. Do not edit.

/** The hash of the runtime code, with 32 zero bytes at each of `immutables`: see `hashCode`. */
export const PUBLISHED_CODE = {
  account: {
    hash: '0x831c6d67d95873672b2b0b1675f86724c59f819eee8c5e9165dd9e416b110c13',
    immutables: [358, 741],
  },
  escrow: {
    hash: '0x7b49f10f3f3b23cff2c25506036133ed49486282d19d1f244d6400e7d3c34a29',
    immutables: [1776, 2256, 3284, 5064, 5818, 7719, 8093, 8393, 8537, 9329, 10846, 12354, 12391, 12426, 13083, 13121, 15968, 16838, 17044, 17620, 17654, 17689, 17803, 17841, 19222],
  },
} as const
