import Type from 'typebox'

// Field types of the configuration. Editors show their descriptions while the file is written.

export const strict = { additionalProperties: false }

export const text = (description: string) => Type.String({ description })
export const name = (description: string) => Type.String({ pattern: '^[a-z0-9-]+$', description })
export const address = (description: string) => Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description })
export const solanaAddress = (description: string) =>
  Type.String({ pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$', description })
export const digits = (description: string) => Type.String({ pattern: '^[0-9]+$', description })
/** A decimal number of whole coins or tokens, as a string: 0.25. */
export const decimal = (description: string) =>
  Type.String({ pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?$', description })
export const wsUrl = (description: string) => Type.String({ pattern: '^wss?://', description })
export const url = (description: string) => Type.String({ pattern: '^https?://', description })
/** At most the longest timer delay, in milliseconds. */
export const count = (description: string) => range(1, 2 ** 31 - 1, description)
export const chainId = (description: string) => range(1, Number.MAX_SAFE_INTEGER, description)
export const flag = (description: string) => Type.Boolean({ description })
export const range = (minimum: number, maximum: number, description: string) =>
  Type.Integer({ minimum, maximum, description })
