// Generated from packages/contracts/src by `npm run generate`. Do not edit.

/** The hash of the runtime code, with 32 zero bytes at each of `immutables`: see `hashCode`. */
export const PUBLISHED_CODE = {
  account: {
    hash: '0xb0b077bc8cf1ab4e613d7286a007a0e9f92c431805abec8eb1373d20adb3c87f',
    immutables: [343, 726],
  },
  escrow: {
    hash: '0xf40267f028808d699694d8b1ad0dde297e4761baf6bb8f6d4cd083f9004c2820',
    immutables: [1072, 1294, 1637, 2644, 2678, 2713, 3270, 3308, 5122, 6213, 6324, 8129, 8555, 9036, 9977, 10011, 10046, 10160, 10198],
  },
} as const
