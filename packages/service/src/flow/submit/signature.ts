/** A wallet's signature: 65 bytes with v 27/28 or 0/1, or the 64 bytes of EIP-2098. */
export type ParsedSignature = { r: string; s: string; yParity: 0 | 1 }

// secp256k1: half of the group's order. A higher s is a second form of the same signature (EIP-2).
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
const PARITY_BIT = 1n << 255n

/** Undefined if the text is not a low-s signature. */
export function parseSignature(text: string): ParsedSignature | undefined {
  if (!/^0x([0-9a-fA-F]{128}|[0-9a-fA-F]{130})$/.test(text)) return undefined
  const r = `0x${text.slice(2, 66)}`
  const second = BigInt(`0x${text.slice(66, 130)}`)
  if (text.length === 130) {
    const yParity = (second & PARITY_BIT) === 0n ? 0 : 1
    return lowS(r, second & (PARITY_BIT - 1n), yParity)
  }
  const yParity = parityOf(Number.parseInt(text.slice(130), 16))
  return yParity === undefined ? undefined : lowS(r, second, yParity)
}

function parityOf(v: number): 0 | 1 | undefined {
  if (v === 0 || v === 27) return 0
  if (v === 1 || v === 28) return 1
  return undefined
}

function lowS(r: string, s: bigint, yParity: 0 | 1): ParsedSignature | undefined {
  if (s === 0n || s > HALF_ORDER || BigInt(r) === 0n) return undefined
  return { r, s: `0x${s.toString(16).padStart(64, '0')}`, yParity }
}

/** The canonical form in which a signature is stored. */
export function toCanonical({ r, s, yParity }: ParsedSignature): string {
  return `${r.toLowerCase()}${s.slice(2)}${yParity === 0 ? '1b' : '1c'}`
}
