/** The product in words and addresses. */
export const product = {
  name: 'geoswap',
  version: '0.1.0',
} as const
